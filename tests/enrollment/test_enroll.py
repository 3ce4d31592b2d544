"""The verbs on both databases: stored once, as a whole or not at all, and moved as payers answer."""

import asyncio
import json
from datetime import timedelta

import pytest

from clearlane.accounts.model import Site
from clearlane.claims import samples
from clearlane.claims.fields import ClaimKind
from clearlane.enrollment.lifecycle import Event
from clearlane.kernel import limits
from clearlane.payers.directory import Payers
from clearlane.payers.model import Payer
from clearlane.pipeline.enrollment.enroll import Desk, Enrolled, Invalid, TooMany, enroll
from clearlane.pipeline.intake import submit as claims_verb
from clearlane.pipeline.operator.enrollment_admin import browse, move, recall
from clearlane.store.database import Actor, OutcomeUnknown, Refused, StoreFault, Unavailable
from clearlane.store.vault import Vault
from tests.databases import START, make_site
from tests.enrollment.invented import FAIL, MEND, a_document, an_enrollment, by_hand

VENDOR, OPERATOR = Actor("vendor", "ACME"), Actor("operator", "a test")
ASKS = Payer("Medical", "Harbor Health Plan", "HHP20", "HHP20", claim_enrollment_required=True, has_route=True)  # fmt: skip
ASKS_TOO = Payer("Dental", "Summit Dental", "SMD05", "SMD05", claim_enrollment_required=True, has_route=True)  # fmt: skip
ASKS_NOT = Payer("Medical", "Meadow Mutual", "MDW10", "MDW10", has_route=True)
PAYERS = Payers([ASKS, ASKS_TOO, ASKS_NOT], sandbox=True)


class House:
    """A database with a vault, and what the tests ask of them."""

    def __init__(self, database, vault):
        self.database, self.vault = database, vault

    async def site(self) -> Site:
        scope = await make_site(self.database)
        return Site(
            scope.site, scope.vendor, "A-1", "CLIENT-1", "Larkspur Dental", baa_accepted=True
        )

    async def enroll(self, site, document, *, database=None, **limits):
        desk = Desk(database=database or self.database, vault=self.vault, **limits)
        return await enroll(desk, document, site=site, actor=VENDOR, now=START)

    async def browse(self, site):
        return await browse(
            self.database,
            self.vault,
            lambda row: row.scope == site.scope,
            action="enrollment.list",
            actor=OPERATOR,
        )

    async def move(self, id, event, *payers, reason=""):
        return await move(
            self.database,
            self.vault,
            id,
            event,
            payers or (ASKS,),
            reason=reason,
            now=START + timedelta(days=1),
            actor=OPERATOR,
        )


@pytest.fixture
async def house(place, database, clock):
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    return House(database, vault)


async def test_a_request_is_answered_one_by_one_and_kept(house):
    site = await house.site()
    sent = [an_enrollment(), an_enrollment()]
    told = await house.enroll(site, a_document(*sent))
    assert isinstance(told, Enrolled)
    assert told.client_id == "CLIENT-1"
    assert [each.enrollment.RequestId for each in told.answers] == [e["RequestId"] for e in sent]
    assert not any(each.existed for each in told.answers)
    kept = await house.browse(site)
    assert {each.enrollment.Npi for each in kept} == {each["Npi"] for each in sent}
    assert {each.row.id for each in kept} == {each.id for each in told.answers}


async def test_the_same_provider_again_already_exists(house):
    site, sent = await house.site(), an_enrollment()
    (first,) = (await house.enroll(site, a_document(sent))).answers
    other = sent | {"RequestId": "another", "City": "Elsewhere"}
    for again in (sent, other):
        (told,) = (await house.enroll(site, a_document(again))).answers
        assert (told.existed, told.id) == (True, first.id)
    (kept,) = await house.browse(site)
    assert kept.enrollment.City == sent["City"]


async def test_another_tin_npi_site_or_vendor_is_another_provider(house):
    site, sent = await house.site(), an_enrollment()
    await house.enroll(site, a_document(sent))
    for other in ({"Tin": "111222333"}, {"Npi": "1679576722"}):
        (told,) = (await house.enroll(site, a_document(sent | other))).answers
        assert not told.existed
    (told,) = (await house.enroll(await house.site(), a_document(sent))).answers
    assert not told.existed


async def test_the_same_provider_twice_in_one_request_exists_the_second_time(house):
    site, sent = await house.site(), an_enrollment()
    told = await house.enroll(site, a_document(sent, sent | {"RequestId": "second"}))
    assert [each.existed for each in told.answers] == [False, True]
    assert len(await house.browse(site)) == 1


async def test_ten_calls_at_once_enroll_a_provider_once(house):
    site, sent, also = await house.site(), an_enrollment(), an_enrollment()
    requests = [
        a_document(*order)
        for number in range(5)
        for one, two in [(sent | {"RequestId": f"a{number}"}, also | {"RequestId": f"b{number}"})]
        for order in ((one, two), (two, one))
    ]
    told = await asyncio.gather(*(house.enroll(site, request) for request in requests))
    new = [each for outcome in told for each in outcome.answers if not each.existed]
    assert {each.enrollment.Npi for each in new} == {sent["Npi"], also["Npi"]}
    assert len(new) == 2
    assert len(await house.browse(site)) == 2


async def test_ten_calls_at_once_on_two_nodes(place, house, clock):
    """The index decides, not this process."""
    site, sent = await house.site(), an_enrollment()
    second = await place.open(clock)
    try:
        told = await asyncio.gather(
            *(
                house.enroll(site, a_document(sent), database=database)
                for database in [house.database, second] * 5
            )
        )
    finally:
        await second.close()
    assert sum(not outcome.answers[0].existed for outcome in told) == 1
    assert len({outcome.answers[0].id for outcome in told}) == 1


async def test_every_fault_of_a_request_is_told_and_nothing_is_submitted(house):
    site, good = await house.site(), an_enrollment()
    bad = an_enrollment(
        Npi="1", Tin="2", Address1="PO Box 4" + "x" * 60, RequestId=good["RequestId"]
    )
    told = await house.enroll(site, a_document(good, bad, Version=2))
    assert isinstance(told, Invalid)
    assert [finding.location for finding in told.findings] == [
        "Version",
        "Enrollments[1].Npi",
        "Enrollments[1].Tin",
        "Enrollments[1].Address1",
        "Enrollments[1].Address1",
        "Enrollments[1].RequestId",
    ]
    assert await house.browse(site) == []
    (told,) = (await house.enroll(site, a_document(good))).answers
    assert not told.existed


async def test_a_request_may_hold_so_many_and_no_more(house):
    site = await house.site()
    document = a_document(an_enrollment(), an_enrollment(), an_enrollment())
    assert await house.enroll(site, document, enrollments_max=2) == TooMany(2)
    assert len((await house.enroll(site, document, enrollments_max=3)).answers) == 3


async def test_of_thousands_of_faults_the_first_are_told(house):
    site = await house.site()
    told = await house.enroll(site, a_document(*[{}] * 1_000))
    assert len(told.findings) == limits.SHAPE_FINDINGS_MAX + 1
    assert "more faults" in told.findings[-1].message


# A store that fails.


class Cut:
    """The way to a database, cut before the request or before the answer."""

    def __init__(self, database, fault, *, after):
        self._database, self._fault, self._after = database, fault, after

    async def write(self, scope, job, *, actor):
        if self._after:
            await self._database.write(scope, job, actor=actor)
        raise self._fault


@pytest.mark.parametrize(
    ("fault", "after"),
    [(Unavailable("away"), False), (OutcomeUnknown("lost"), False), (OutcomeUnknown("lost"), True)],
    ids=["away", "lost before", "lost after"],
)
async def test_a_request_that_failed_may_be_sent_again(house, fault, after):
    site, sent = await house.site(), [an_enrollment(), an_enrollment()]
    with pytest.raises(Unavailable):
        await house.enroll(
            site, a_document(*sent), database=Cut(house.database, fault, after=after)
        )
    assert len(await house.browse(site)) == (2 if after else 0)
    told = await house.enroll(site, a_document(*sent))
    assert [each.existed for each in told.answers] == [after, after]
    assert len(await house.browse(site)) == 2


async def test_a_fault_in_the_middle_leaves_nothing_half_done(house, place):
    site, sent = await house.site(), [an_enrollment(), an_enrollment()]
    await by_hand(FAIL, place.url, place.sqlite_file)
    with pytest.raises(StoreFault):
        await house.enroll(site, a_document(*sent))
    assert await house.browse(site) == []
    await by_hand(MEND, place.url, place.sqlite_file)
    told = await house.enroll(site, a_document(*sent))
    assert [each.existed for each in told.answers] == [False, False]


# Their life.


async def test_an_enrollment_is_moved_by_payer(house):
    site = await house.site()
    (told,) = (await house.enroll(site, a_document())).answers
    await house.move(told.id, Event.START, ASKS, ASKS_TOO)
    await house.move(told.id, Event.APPROVE, ASKS)
    (moved,) = await house.move(told.id, Event.REFUSE, ASKS_TOO, reason="The TIN is not on file.")
    assert (moved.before, moved.now) == ("in work", "refused")
    opened, events = await recall(house.database, house.vault, told.id, actor=OPERATOR)
    assert [(s.payer, s.state) for s in opened.row.standings] == [
        (("Dental", "smd05"), "refused"),
        (("Medical", "hhp20"), "approved"),
    ]
    assert opened.reasons == ("The TIN is not on file.", "")
    assert [event.event for event in events] == ["submitted", "start", "start", "approve", "refuse"]


async def test_the_same_again_changes_nothing(house):
    site = await house.site()
    (told,) = (await house.enroll(site, a_document())).answers
    assert len(await house.move(told.id, Event.APPROVE)) == 1
    assert await house.move(told.id, Event.APPROVE) == []


async def test_what_cannot_happen_is_refused_with_all_that_came_with_it(house):
    site = await house.site()
    (told,) = (await house.enroll(site, a_document())).answers
    await house.move(told.id, Event.APPROVE, ASKS)
    with pytest.raises(Refused, match="is approved with HHP20"):
        await house.move(told.id, Event.START, ASKS_TOO, ASKS)
    (kept,) = await house.browse(site)
    assert [standing.state for standing in kept.row.standings] == ["approved"]


async def test_two_operators_at_once_move_an_enrollment_once(house):
    site = await house.site()
    (told,) = (await house.enroll(site, a_document())).answers
    moves = await asyncio.gather(*(house.move(told.id, Event.APPROVE) for _ in range(4)))
    assert sorted(map(len, moves)) == [0, 0, 0, 1]


async def test_an_unknown_id_is_told(house):
    for work in (
        house.move("E0", Event.APPROVE),
        recall(house.database, house.vault, "E0", actor=OPERATOR),
    ):
        with pytest.raises(Refused, match="no enrollment E0"):
            await work


# What an approval is good for.


async def send(house, site, kind=ClaimKind.MEDICAL, *, claims=1, **changes):
    """Submit a claim; its findings by rule."""
    day = START.date() - timedelta(days=30)
    document = samples.document(kind, day=day, full=True)
    (claim,) = document["Claims"]
    document["Claims"] = [
        {**claim, "Svc_VendorClaimId": f"V{at}", **changes} for at in range(claims)
    ]
    desk = claims_verb.Desk(database=house.database, vault=house.vault, payers=PAYERS, sandbox=True)
    outcome = await claims_verb.submit(
        desk, json.dumps(document, default=str).encode(), kind, site=site, actor=VENDOR, now=START
    )
    return [{finding.rule for finding in each.findings} for each in outcome.answers]


MEDICAL = {"Svc_PayerId": "hhp20", "F33A_BillingProviderNpi": "1679576722"}
TAX = {"F25_FederalTaxIdEin": "12-3456789", "F25_FederalTaxIdSsn": None}
SAME = {"Npi": "1679576722", "Tin": "123456789"}


async def test_an_approval_satisfies_the_rule_about_enrollment(house):
    site = await house.site()
    assert await send(house, site, **MEDICAL, **TAX) == [{"C106"}]
    (told,) = (await house.enroll(site, a_document(an_enrollment(**SAME)))).answers
    assert await send(house, site, **MEDICAL, **TAX) == [{"C106"}]
    await house.move(told.id, Event.START)
    assert await send(house, site, **MEDICAL, **TAX) == [{"C106"}]
    await house.move(told.id, Event.APPROVE)
    assert await send(house, site, **MEDICAL, **TAX) == [set()]
    await house.move(told.id, Event.REFUSE)
    assert await send(house, site, **MEDICAL, **TAX) == [{"C106"}]


async def test_an_approval_is_of_one_provider_one_site_and_one_payer(house):
    site, other = await house.site(), await house.site()
    (told,) = (await house.enroll(site, a_document(an_enrollment(**SAME)))).answers
    await house.move(told.id, Event.APPROVE, ASKS_TOO, ASKS_NOT)
    assert await send(house, site, **MEDICAL, **TAX) == [{"C106"}]
    await house.move(told.id, Event.APPROVE, ASKS)
    assert await send(house, other, **MEDICAL, **TAX) == [{"C106"}]
    assert await send(
        house, site, **MEDICAL | {"F33A_BillingProviderNpi": "1234567893"}, **TAX
    ) == [{"C106"}]
    assert await send(house, site, **MEDICAL, **TAX | {"F25_FederalTaxIdEin": "987654321"}) == [
        {"C106"}
    ]
    ssn = {
        "F25_FederalTaxIdEin": None,
        "F25_FederalTaxIdSsn": "123456789",
        "F33B_BillingProviderSsn": None,
    }
    assert await send(house, site, claims=3, **MEDICAL, **ssn) == [set()] * 3


async def test_a_claim_without_a_billing_npi_is_of_no_enrolled_provider(house):
    site = await house.site()
    (told,) = (await house.enroll(site, a_document(an_enrollment(**SAME)))).answers
    await house.move(told.id, Event.APPROVE)
    assert await send(house, site, **MEDICAL | {"F33A_BillingProviderNpi": None}, **TAX) == [
        {"C106"}
    ]


async def test_dental_claims_too(house):
    site = await house.site()
    dental = {"Svc_PayerId": "SMD05", "F48_BillingDentistNPI": SAME["Npi"], "F51_BillingDentistTaxID": SAME["Tin"]}  # fmt: skip
    assert await send(house, site, ClaimKind.DENTAL, **dental) == [{"C106"}]
    (told,) = (await house.enroll(site, a_document(an_enrollment(**SAME)))).answers
    await house.move(told.id, Event.APPROVE, ASKS_TOO)
    assert await send(house, site, ClaimKind.DENTAL, **dental) == [set()]


class Counting:
    """The way to a database that counts who reads."""

    def __init__(self, database):
        self._database, self.reads = database, 0
        self.write = database.write

    def read(self, scope):
        self.reads += 1
        return self._database.read(scope)


async def test_where_no_payer_asks_nothing_is_looked_up(house):
    site = await house.site()
    house.database = counting = Counting(house.database)
    assert (
        await send(house, site, claims=3, **MEDICAL | {"Svc_PayerId": "MDW10"}, **TAX)
        == [set()] * 3
    )
    assert counting.reads == 0
    await send(house, site, claims=3, **MEDICAL, **TAX)
    assert counting.reads == 1
