"""The verbs on both databases: stored once, as a whole or not at all, and moved as payers answer.

Also tests `pipeline/operator/enrollment_admin`, `pipeline/enrollment/enrollment_lookup` and `store/enrollments`.
"""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from clearlane.accounts.model import Site
from clearlane.claims.forms import V3_DENTAL, V3_MEDICAL, samples
from clearlane.enrollment.lifecycle import EnrollmentEvent
from clearlane.kernel import limits
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.pipeline.enrollment.enroll import (
    EnrollmentReceipt,
    InvalidEnrollmentRequest,
    TooManyEnrollments,
    enroll,
)
from clearlane.pipeline.intake import submit
from clearlane.pipeline.operator.enrollment_admin import (
    EnrolledWith,
    apply_event,
    list_enrollments,
    load_enrollment,
)
from clearlane.store.database.database import (
    Actor,
    CommitOutcomeUnknown,
    DatabaseUnavailable,
    OperationRefused,
    StoreFault,
)
from clearlane.store.vault.vault import Vault
from tests.contexts import work_context
from tests.databases import START, make_site
from tests.enrollment.invented import FAIL, MEND, a_document, an_enrollment, by_hand

pytestmark = pytest.mark.one_database

VENDOR, OPERATOR = Actor("vendor", "ACME"), Actor("operator", "a test")
ASKS = Payer("Medical", "Harbor Health Plan", "HHP20", "HHP20", claim_enrollment_required=True, has_route=True)  # fmt: skip
ASKS_TOO = Payer("Dental", "Summit Dental", "SMD05", "SMD05", claim_enrollment_required=True, has_route=True)  # fmt: skip
ASKS_NOT = Payer("Medical", "Meadow Mutual", "MDW10", "MDW10", has_route=True)
PAYERS = PayerDirectory([ASKS, ASKS_TOO, ASKS_NOT], sandbox=True)


class EnrollmentSetup:
    """A database with a vault, and what the tests ask of them."""

    def __init__(self, database, vault):
        self.database, self.vault = database, vault

    async def site(self) -> Site:
        scope = await make_site(self.database)
        return Site(
            scope.site, scope.vendor, "A-1", "CLIENT-1", "Larkspur Dental", baa_accepted=True
        )

    async def enroll(self, site, document, *, database=None, **limits):
        context = work_context(database or self.database, self.vault, **limits)
        return await enroll(context, document, site=site, actor=VENDOR, now=START)

    async def browse(self, site):
        return await list_enrollments(
            self.database,
            self.vault,
            lambda row: row.scope == site.scope,
            action="enrollment.list",
            actor=OPERATOR,
        )

    async def move(self, id, event, *payers, reason="", live_from=None):
        return await apply_event(
            self.database,
            self.vault,
            id,
            event,
            [EnrolledWith(payer) for payer in payers or (ASKS,)],
            reason=reason,
            now=START + timedelta(days=1),
            actor=OPERATOR,
            sites=[],
            live_from=live_from or START.date(),
        )


@pytest.fixture
async def setup(place, database, clock):
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    return EnrollmentSetup(database, vault)


@pytest.mark.both_databases
async def test_a_request_is_answered_one_by_one_and_kept(setup):
    site = await setup.site()
    sent = [an_enrollment(), an_enrollment()]
    outcome = await setup.enroll(site, a_document(*sent))
    assert isinstance(outcome, EnrollmentReceipt)
    assert outcome.client_id == "CLIENT-1"
    assert [each.enrollment.RequestId for each in outcome.results] == [e["RequestId"] for e in sent]
    assert not any(each.existed for each in outcome.results)
    stored = await setup.browse(site)
    assert {each.enrollment.Npi for each in stored} == {each["Npi"] for each in sent}
    assert {each.row.id for each in stored} == {each.id for each in outcome.results}


@pytest.mark.both_databases
async def test_the_same_provider_again_already_exists(setup):
    site, sent = await setup.site(), an_enrollment()
    (first,) = (await setup.enroll(site, a_document(sent))).results
    other = sent | {"RequestId": "another", "City": "Elsewhere"}
    for again in (sent, other):
        (outcome,) = (await setup.enroll(site, a_document(again))).results
        assert (outcome.existed, outcome.id) == (True, first.id)
    (stored,) = await setup.browse(site)
    assert stored.enrollment.City == sent["City"]


@pytest.mark.both_databases
async def test_another_tin_npi_site_or_vendor_is_another_provider(setup):
    site, sent = await setup.site(), an_enrollment()
    await setup.enroll(site, a_document(sent))
    for other in ({"Tin": "111222333"}, {"Npi": "1679576722"}):
        (outcome,) = (await setup.enroll(site, a_document(sent | other))).results
        assert not outcome.existed
    (outcome,) = (await setup.enroll(await setup.site(), a_document(sent))).results
    assert not outcome.existed


@pytest.mark.both_databases
async def test_the_same_provider_twice_in_one_request_exists_the_second_time(setup):
    site, sent = await setup.site(), an_enrollment()
    outcome = await setup.enroll(site, a_document(sent, sent | {"RequestId": "second"}))
    assert [each.existed for each in outcome.results] == [False, True]
    assert len(await setup.browse(site)) == 1


@pytest.mark.both_databases
async def test_ten_calls_at_once_enroll_a_provider_once(setup):
    site, sent, also = await setup.site(), an_enrollment(), an_enrollment()
    requests = [
        a_document(*order)
        for number in range(5)
        for one, two in [(sent | {"RequestId": f"a{number}"}, also | {"RequestId": f"b{number}"})]
        for order in ((one, two), (two, one))
    ]
    outcomes = await asyncio.gather(*(setup.enroll(site, request) for request in requests))
    new = [each for outcome in outcomes for each in outcome.results if not each.existed]
    assert {each.enrollment.Npi for each in new} == {sent["Npi"], also["Npi"]}
    assert len(new) == 2
    assert len(await setup.browse(site)) == 2


@pytest.mark.both_databases
async def test_ten_calls_at_once_on_two_nodes(place, setup, clock):
    """The index decides, not this process."""
    site, sent = await setup.site(), an_enrollment()
    second = await place.open(clock)
    try:
        outcomes = await asyncio.gather(
            *(
                setup.enroll(site, a_document(sent), database=database)
                for database in [setup.database, second] * 5
            )
        )
    finally:
        await second.close()
    assert sum(not outcome.results[0].existed for outcome in outcomes) == 1
    assert len({outcome.results[0].id for outcome in outcomes}) == 1


async def test_every_fault_of_a_request_is_reported_and_nothing_is_submitted(setup):
    site, good = await setup.site(), an_enrollment()
    bad = an_enrollment(
        Npi="1", Tin="2", Address1="PO Box 4" + "x" * 60, RequestId=good["RequestId"]
    )
    outcome = await setup.enroll(site, a_document(good, bad, Version=2))
    assert isinstance(outcome, InvalidEnrollmentRequest)
    assert [finding.location for finding in outcome.findings] == [
        "Version",
        "Enrollments[1].Npi",
        "Enrollments[1].Tin",
        "Enrollments[1].Address1",
        "Enrollments[1].Address1",
        "Enrollments[1].RequestId",
    ]
    assert await setup.browse(site) == []
    (outcome,) = (await setup.enroll(site, a_document(good))).results
    assert not outcome.existed


async def test_a_request_may_hold_so_many_and_no_more(setup):
    site = await setup.site()
    document = a_document(an_enrollment(), an_enrollment(), an_enrollment())
    assert await setup.enroll(site, document, enrollments_max=2) == TooManyEnrollments(2)
    assert len((await setup.enroll(site, document, enrollments_max=3)).results) == 3


async def test_of_thousands_of_findings_the_first_are_reported(setup):
    site = await setup.site()
    outcome = await setup.enroll(site, a_document(*[{}] * 1_000))
    assert len(outcome.findings) == limits.SHAPE_FINDINGS_MAX + 1
    assert "more findings" in outcome.findings[-1].message


# A store that fails.


class Cut:
    """The way to a database, cut before the request or before the answer."""

    def __init__(self, database, fault, *, after):
        self._database, self._fault, self._after = database, fault, after
        self.require_space = database.require_space

    async def write(self, scope, job, *, actor):
        if self._after:
            await self._database.write(scope, job, actor=actor)
        raise self._fault


@pytest.mark.parametrize(
    ("fault", "after"),
    [
        (DatabaseUnavailable("away"), False),
        (CommitOutcomeUnknown("lost"), False),
        (CommitOutcomeUnknown("lost"), True),
    ],
    ids=["away", "lost before", "lost after"],
)
async def test_a_request_that_failed_may_be_sent_again(setup, fault, after):
    site, sent = await setup.site(), [an_enrollment(), an_enrollment()]
    with pytest.raises(DatabaseUnavailable):
        await setup.enroll(
            site, a_document(*sent), database=Cut(setup.database, fault, after=after)
        )
    assert len(await setup.browse(site)) == (2 if after else 0)
    outcome = await setup.enroll(site, a_document(*sent))
    assert [each.existed for each in outcome.results] == [after, after]
    assert len(await setup.browse(site)) == 2


@pytest.mark.both_databases
async def test_a_fault_in_the_middle_leaves_nothing_half_done(setup, place):
    site, sent = await setup.site(), [an_enrollment(), an_enrollment()]
    await by_hand(FAIL, place.url, place.sqlite_file)
    with pytest.raises(StoreFault):
        await setup.enroll(site, a_document(*sent))
    assert await setup.browse(site) == []
    await by_hand(MEND, place.url, place.sqlite_file)
    outcome = await setup.enroll(site, a_document(*sent))
    assert [each.existed for each in outcome.results] == [False, False]


# Their life.


@pytest.mark.both_databases
async def test_an_enrollment_is_moved_by_payer(setup):
    site = await setup.site()
    (outcome,) = (await setup.enroll(site, a_document())).results
    await setup.move(outcome.id, EnrollmentEvent.START, ASKS, ASKS_TOO)
    await setup.move(outcome.id, EnrollmentEvent.APPROVE, ASKS)
    (moved,) = await setup.move(
        outcome.id, EnrollmentEvent.REFUSE, ASKS_TOO, reason="The TIN is not on file."
    )
    assert (moved.before, moved.after) == ("in work", "refused")
    opened, events = await load_enrollment(setup.database, setup.vault, outcome.id, actor=OPERATOR)
    assert [(s.payer, s.state) for s in opened.row.payer_states] == [
        (("Dental", "smd05"), "refused"),
        (("Medical", "hhp20"), "approved"),
    ]
    assert opened.reasons == ("The TIN is not on file.", "")
    assert [event.event for event in events] == ["submitted", "start", "start", "approve", "refuse"]


async def test_the_same_again_changes_nothing(setup):
    site = await setup.site()
    (outcome,) = (await setup.enroll(site, a_document())).results
    assert len(await setup.move(outcome.id, EnrollmentEvent.APPROVE)) == 1
    assert await setup.move(outcome.id, EnrollmentEvent.APPROVE) == []
    # Its first day may still be changed.
    day = START.date() + timedelta(days=20)
    (moved,) = await setup.move(outcome.id, EnrollmentEvent.APPROVE, live_from=day)
    assert (moved.before, moved.after, moved.live_from) == ("approved", "approved", day)
    assert await setup.move(outcome.id, EnrollmentEvent.APPROVE, live_from=day) == []


async def test_what_cannot_happen_is_refused_with_all_that_came_with_it(setup):
    site = await setup.site()
    (outcome,) = (await setup.enroll(site, a_document())).results
    await setup.move(outcome.id, EnrollmentEvent.APPROVE, ASKS)
    with pytest.raises(OperationRefused, match="is approved with HHP20"):
        await setup.move(outcome.id, EnrollmentEvent.START, ASKS_TOO, ASKS)
    (stored,) = await setup.browse(site)
    assert [with_payer.state for with_payer in stored.row.payer_states] == ["approved"]


@pytest.mark.both_databases
async def test_two_operators_at_once_move_an_enrollment_once(setup):
    site = await setup.site()
    (outcome,) = (await setup.enroll(site, a_document())).results
    moves = await asyncio.gather(
        *(setup.move(outcome.id, EnrollmentEvent.APPROVE) for _ in range(4))
    )
    assert sorted(map(len, moves)) == [0, 0, 0, 1]


async def test_an_unknown_id_is_reported(setup):
    for work in (
        setup.move("E0", EnrollmentEvent.APPROVE),
        load_enrollment(setup.database, setup.vault, "E0", actor=OPERATOR),
    ):
        with pytest.raises(OperationRefused, match="no enrollment E0"):
            await work


# What an approval is good for.


async def send(setup, site, kind=V3_MEDICAL, *, claims=1, whole=False, **changes):
    """Submit a claim; the rules of its findings, or the whole findings."""
    day = START.date() - timedelta(days=30)
    document = samples.document(kind, day=day, full=True)
    (claim,) = document["Claims"]
    document["Claims"] = [
        {**claim, "Svc_VendorClaimId": f"V{at}", **changes} for at in range(claims)
    ]
    context = work_context(setup.database, setup.vault, payers=PAYERS, sandbox=True)
    outcome = await submit.submit(
        context,
        json.dumps(document, default=str).encode(),
        kind,
        site=site,
        actor=VENDOR,
        now=START,
    )
    if whole:
        return [each.findings for each in outcome.results]
    return [{finding.rule for finding in each.findings} for each in outcome.results]


MEDICAL = {"Svc_PayerId": "hhp20", "F33A_BillingProviderNpi": "1679576722"}
TAX = {"F25_FederalTaxIdEin": "12-3456789", "F25_FederalTaxIdSsn": None}
SAME = {"Npi": "1679576722", "Tin": "123456789"}


async def test_an_approval_satisfies_the_rule_about_enrollment(setup):
    site = await setup.site()
    assert await send(setup, site, **MEDICAL, **TAX) == [{"C106"}]
    (outcome,) = (await setup.enroll(site, a_document(an_enrollment(**SAME)))).results
    assert await send(setup, site, **MEDICAL, **TAX) == [{"C106"}]
    await setup.move(outcome.id, EnrollmentEvent.START)
    assert await send(setup, site, **MEDICAL, **TAX) == [{"C106"}]
    await setup.move(outcome.id, EnrollmentEvent.APPROVE)
    assert await send(setup, site, **MEDICAL, **TAX) == [set()]
    await setup.move(outcome.id, EnrollmentEvent.REFUSE)
    assert await send(setup, site, **MEDICAL, **TAX) == [{"C106"}]


@pytest.mark.safe_default(6)
async def test_the_finding_says_how_far_the_enrollment_is_and_since_which_day_of_the_site(setup):
    """At START it is the next day at the site; what the payer answers is recorded a day later."""
    site = replace(await setup.site(), time_zone="Pacific/Kiritimati")
    sent, answered = START.date() + timedelta(days=1), START.date() + timedelta(days=2)
    assert (await enrollment_message(setup, site)).endswith(
        "is not enrolled; send an enrollment first."
    )
    (outcome,) = (await setup.enroll(site, a_document(an_enrollment(**SAME)))).results
    pending = f"enrollment has been pending since {sent}; send the claim again after the payer has approved it."
    assert (await enrollment_message(setup, site)).endswith(pending)
    await setup.move(outcome.id, EnrollmentEvent.START)
    assert (await enrollment_message(setup, site)).endswith(pending)
    await setup.move(outcome.id, EnrollmentEvent.REFUSE)
    refused = f"the payer refused the billing provider's enrollment on {answered}; ask the operator"
    assert refused in await enrollment_message(setup, site)
    await setup.move(outcome.id, EnrollmentEvent.START)
    assert f"pending since {answered};" in await enrollment_message(setup, site)
    day = START.date() + timedelta(days=9)
    await setup.move(outcome.id, EnrollmentEvent.APPROVE, live_from=day)
    later = f"enrollment counts from {day} on; send the claim again then."
    assert (await enrollment_message(setup, site)).endswith(later)
    await setup.move(outcome.id, EnrollmentEvent.APPROVE)
    assert await enrollment_message(setup, site) == ""
    await setup.move(outcome.id, EnrollmentEvent.REFUSE)
    assert (
        f"the payer ended the billing provider's enrollment on {answered};"
        in await enrollment_message(setup, site)
    )


async def enrollment_message(setup, site) -> str:
    """What the finding about the enrollment says of a claim; empty if there is none."""
    (findings,) = await send(setup, site, **MEDICAL, **TAX, whole=True)
    return next((one.message for one in findings if one.rule == "C106"), "")


@pytest.mark.both_databases
async def test_an_approval_is_of_one_provider_one_site_and_one_payer(setup):
    site, other = await setup.site(), await setup.site()
    (outcome,) = (await setup.enroll(site, a_document(an_enrollment(**SAME)))).results
    await setup.move(outcome.id, EnrollmentEvent.APPROVE, ASKS_TOO, ASKS_NOT)
    assert await send(setup, site, **MEDICAL, **TAX) == [{"C106"}]
    await setup.move(outcome.id, EnrollmentEvent.APPROVE, ASKS)
    assert await send(setup, other, **MEDICAL, **TAX) == [{"C106"}]
    assert await send(
        setup, site, **MEDICAL | {"F33A_BillingProviderNpi": "1234567893"}, **TAX
    ) == [{"C106"}]
    assert await send(setup, site, **MEDICAL, **TAX | {"F25_FederalTaxIdEin": "987654321"}) == [
        {"C106"}
    ]
    ssn = {
        "F25_FederalTaxIdEin": None,
        "F25_FederalTaxIdSsn": "123456789",
        "F33B_BillingProviderSsn": None,
    }
    assert await send(setup, site, claims=3, **MEDICAL, **ssn) == [set()] * 3


async def test_a_claim_without_a_billing_npi_is_of_no_enrolled_provider(setup):
    site = await setup.site()
    (outcome,) = (await setup.enroll(site, a_document(an_enrollment(**SAME)))).results
    await setup.move(outcome.id, EnrollmentEvent.APPROVE)
    assert await send(setup, site, **MEDICAL | {"F33A_BillingProviderNpi": None}, **TAX) == [
        {"C106"}
    ]


async def test_dental_claims_too(setup):
    site = await setup.site()
    dental = {"Svc_PayerId": "SMD05", "F48_BillingDentistNPI": SAME["Npi"], "F51_BillingDentistTaxID": SAME["Tin"]}  # fmt: skip
    assert await send(setup, site, V3_DENTAL, **dental) == [{"C106"}]
    (outcome,) = (await setup.enroll(site, a_document(an_enrollment(**SAME)))).results
    await setup.move(outcome.id, EnrollmentEvent.APPROVE, ASKS_TOO)
    assert await send(setup, site, V3_DENTAL, **dental) == [set()]


class Counting:
    """The way to a database that counts who reads."""

    def __init__(self, database):
        self._database, self.reads = database, 0
        self.write, self.require_space = database.write, database.require_space

    def read(self, scope):
        self.reads += 1
        return self._database.read(scope)


async def test_where_no_payer_asks_nothing_is_looked_up(setup):
    site = await setup.site()
    setup.database = counting = Counting(setup.database)
    assert (
        await send(setup, site, claims=3, **MEDICAL | {"Svc_PayerId": "MDW10"}, **TAX)
        == [set()] * 3
    )
    assert counting.reads == 0
    await send(setup, site, claims=3, **MEDICAL, **TAX)
    assert counting.reads == 1
