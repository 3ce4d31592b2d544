"""A void that was carried out, and claims that were voided or replaced, through mailbox and store on both databases.

Also tests `pipeline/claim_succession`, `claims/succession` and `store/claims/reinstatement`.
"""

from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from types import SimpleNamespace

import pytest
from sqlalchemy import select

from clearlane.claims.forms.x12_loops import check_claim
from clearlane.events.types import TYPES
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.hold_claims import CANCEL, change_unsent_claim
from clearlane.pipeline.intake.judge_file_claims import FileClaim, SeenClaims, judge_file_claims
from clearlane.pipeline.intake.store_file_claims import store_file_claims
from clearlane.pipeline.intake.submit_correction import submit_correction
from clearlane.pipeline.notify.feed import FeedReader, read_feed
from clearlane.pipeline.operator import payment_admin
from clearlane.pipeline.query import payments
from clearlane.pipeline.query.claim_list import find_claim, load_claim_rows
from clearlane.pipeline.query.claim_summary import refresh_summary
from clearlane.pipeline.query.history.load_history import load_claim_history
from clearlane.pipeline.query.payment_list import list_payments
from clearlane.store.claims.claim_query import ClaimListKey, by_label, list_claims
from clearlane.store.claims.reinstatement import took_no_effect
from clearlane.store.database.database import Actor
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement
from clearlane.store.payments.payment_query import PaymentQuery
from tests.cases import by_profile
from tests.claims.answers import nine, paid, patient, payment, status
from tests.claims.file_claims import claims_in
from tests.databases import START
from tests.pipeline.flowing import ACTOR, EVERYONE, Flow, accounts, controls
from tests.pipeline.test_judge_file_claims import FILE

pytestmark = pytest.mark.one_database

PERSON = Actor("operator", "somebody")
COLUMNS = Statement(
    select(claims.c.claim_number, claims.c.state, claims.c.label, claims.c.paid_cents),
    system=True,
)  # fmt: skip
OFF, BACK = "CAS*CO*45*20", "CAS*CO*45*-20"


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


class Pair:
    """A claim that was sent, and the void or replacement of it; the payer's files about both."""

    def __init__(self, flow, number):
        self.flow, self.number, self.files = flow, number, 0
        self.own = {"Svc_VendorClaimId": f"V{number}", "F26_PatientAcctNumber": f"ACC{number}"}

    async def open(self, frequency, *, paid_before=True):
        [self.first], content = await self.flow.sent(**self.own)
        [self.account] = accounts(content)
        await self.arrive(
            status(patient(self.account, "A2:20*20261102*WQ*100", extra=["REF*1K*P1"]))
        )
        if paid_before:
            await self.arrive(self.remit(self.account, "1", "100", "80", OFF, day="20261114"))
        own = {
            "F22_MedicaidResubmissionCode": frequency,
            "F19_ClaimSupplementalInfoNoteText": "NEW",
        }
        self.flow.clock.advance(timedelta(minutes=1))
        [self.second], content = await self.flow.sent(**self.own | own)
        [self.name] = accounts(content)
        self.flow.clock.advance(timedelta(minutes=1))
        return self

    def remit(self, account, code, charged, amount, *rest, day="20261120", **more):
        one = paid(account, code, charged, amount, *rest, **more)
        return payment(one, amount=amount, reference=f"E{self.number}{code}{amount}", day=day)

    @property
    def reversal(self):
        return self.remit(self.account, "22", "-100", "-80", BACK)

    async def arrive(self, *files):
        for file in files:
            self.files += 1
            name = f"f{self.number}-{self.files}-"
            assert await self.flow.arrive(file, name=name) == ["applied"]

    async def both(self):
        """State, label and cents of the first claim, and of the second."""
        async with self.flow.database.read(EVERYONE) as tx:
            rows = {row[0]: tuple(row[1:]) for row in await tx.rows(COLUMNS)}
        stated = await self.flow.statuses()
        for id in (self.first, self.second):
            assert (stated[id].state, stated[id].payer_cents) == (rows[id][0], rows[id][2])
        return rows[self.first], rows[self.second]


VOIDED = ("complete", "voided", 0)
ANSWERS = {
    "a decision that looks like a denial": lambda one: [
        one.remit(one.name, "4", "100", "0", "CAS*OA*96*100", payer_number="P2"), one.reversal,
    ],
    "a decision that pays nothing": lambda one: [
        one.remit(one.name, "1", "100", "0", "CAS*CO*45*100", payer_number="P2"), one.reversal,
    ],
    "the reversal alone": lambda one: [one.reversal],
    "the reversal under the void's number": lambda one: [
        one.remit(one.name, "22", "-100", "-80", BACK)
    ],
    "both in one file": lambda one: [
        payment(
            paid(one.account, "22", "-100", "-80", BACK),
            paid(one.name, "1", "100", "0", "CAS*OA*96*100", payer_number="P2"),
            amount="-80", reference=f"BOTH{one.number}", day="20261120",
        )
    ],
}  # fmt: skip


async def events_of(flow, *numbers):
    reader = FeedReader(flow.site.vendor_id, {flow.site.id: flow.site.vendor_site_id})
    page = await read_feed(flow.context, reader, types=TYPES, after=0, limit=1_000)
    found = {number: [] for number in numbers}
    for one in page.events:
        if one["claim_number"] in found and one["type"] != "document.created":
            found[one["claim_number"]].append((one["type"], one["data"].get("label")))
    return [found[number] for number in numbers]


@pytest.mark.safe_default(4)
async def test_however_a_payer_carries_a_void_out_nothing_asks_a_person(flow):
    pairs = []
    for number, answer in enumerate(ANSWERS.values()):
        one = await Pair(flow, number).open("8")
        await one.arrive(*answer(one))
        pairs.append(one)
    for name, one in zip(ANSWERS, pairs, strict=True):
        assert await one.both() == (VOIDED, VOIDED), name
        first, second = await events_of(flow, one.first, one.second)
        assert ("claim.voided", "voided") == first[-1] == second[-1], name
        assert ("claim.reversed", "taken_back") in first, name
        assert "claim.denied" not in [type for type, _ in second], name
        history = await load_claim_history(flow.database, flow.vault, one.second, actor=ACTOR)
        advice = {each.todo for entry in history.entries for each in entry.explanations}
        assert all(todo.startswith("Nothing") for todo in advice), name
        assert history.findings == ()
        rows = await load_claim_rows(
            flow.context, flow.site, [one.first, one.second], actor=ACTOR, action="test"
        )
        assert [row.reason.text for row in rows] == [
            "The payer canceled it, as asked",
            "The payer canceled the earlier claim, as asked",
        ]
    # Home counts no denial and no decision, and the payments of the voids are no denials either.
    summary = await refresh_summary(flow.context, flow.site)
    assert summary.labels["voided"].count == len(pairs)
    assert (summary.month.denied, summary.month.decided, summary.month.paid) == (0, 0, 0)
    for found in await list_payments(flow.database, flow.vault, PaymentQuery()):
        pages = payments.claim_payment_pages(flow.database, flow.vault, found.payment.payment_id)
        for shown in [each async for page in pages for each in page]:
            if shown.claim_number in {one.second for one in pairs}:
                assert (shown.label, shown.denied) == ("voided", 0)
                assert not any(each.denial for each in shown.adjustments)


@pytest.mark.both_databases
@pytest.mark.safe_default(4)
@pytest.mark.parametrize(
    ("frequency", "amount", "closed", "decided"),
    [
        ("8", "0", VOIDED, VOIDED),
        ("7", "60", ("complete", "replaced", 0), ("complete", "paid", 6000)),
    ],
    ids=["void", "replacement"],
)
async def test_a_claim_is_complete_once_its_successor_is_decided_in_every_order_of_arrival(
    flow, frequency, amount, closed, decided
):
    for number, order in enumerate(
        [*permutations(range(4))][:: by_profile(thorough=1, usual=6, quick=8)]
    ):
        one = await Pair(flow, number).open(frequency)
        adjusted = str(100 - int(amount))
        files = [
            one.reversal,
            one.remit(one.name, "1", "100", amount, f"CAS*CO*45*{adjusted}", payer_number="P2"),
            status(patient(one.name, "A2:20*20261115*WQ*100")),
            # A status of the first claim that comes when everything is decided changes nothing.
            status(patient(one.account, "P2:20*20261116*WQ*100")),
        ]
        for at in order:
            await one.arrive(files[at])
        assert await one.both() == (closed, decided), order
        row = (await flow.statuses())[one.first]
        assert (row.payment_status, row.total_cents) == ("22", 10000)


@pytest.mark.safe_default(4)
async def test_a_claim_that_was_never_decided_is_complete_once_its_replacement_is(flow):
    one = await Pair(flow, 1).open("7", paid_before=False)
    assert (await one.both())[0][:2] == ("acknowledged", "accepted")
    await one.arrive(one.remit(one.name, "1", "100", "80", OFF))
    replaced = ("complete", "replaced", 0)
    assert await one.both() == (replaced, ("complete", "paid", 8000))
    [first, second] = await events_of(flow, one.first, one.second)
    assert first[-1] == ("claim.corrected", "replaced")
    assert second[-1] == ("claim.paid", "paid")
    # What is learned of the replacement later leaves the first claim closed.
    await one.arrive(one.remit(one.name, "22", "-100", "-80", BACK, day="20261125"))
    assert await one.both() == (replaced, ("pending", "taken_back", 0))


async def test_a_void_that_came_to_nothing_is_open_again(flow):
    one = await Pair(flow, 1).open("8")
    await one.arrive(one.reversal)
    assert await one.both() == (VOIDED, VOIDED)
    # The payer pays the first claim again after all, so the void was not carried out.
    await one.arrive(one.remit(one.account, "1", "100", "70", "CAS*CO*45*30", day="20261125"))
    assert await one.both() == (("complete", "paid", 7000), ("sent", "sent", 0))
    # A decision that a person had matched wrongly is taken back with what followed from it.
    other = await Pair(flow, 2).open("8")
    await other.arrive(other.remit(other.name, "4", "100", "0", "CAS*OA*96*100"), other.reversal)
    assert await other.both() == (VOIDED, VOIDED)


async def test_what_was_taken_back_before_the_void_left_is_no_answer_to_it(flow):
    one = Pair(flow, 1)
    [one.first], content = await flow.sent(**one.own)
    [one.account] = accounts(content)
    await one.arrive(one.remit(one.account, "1", "100", "80", OFF, day="20261114"), one.reversal)
    flow.clock.advance(timedelta(minutes=1))
    [one.second], content = await flow.sent(**one.own, F22_MedicaidResubmissionCode="8")
    [one.name] = accounts(content)
    await one.arrive(status(patient(one.name, "A2:20*20261121*WQ*100")))
    back, accepted = (
        ("pending", "taken_back", 0),
        ("acknowledged", "accepted", 0),
    )
    assert await one.both() == (back, accepted)
    await one.arrive(one.remit(one.name, "4", "100", "0", "CAS*OA*96*100", payer_number="P2"))
    assert await one.both() == (VOIDED, VOIDED)


async def test_an_assignment_that_is_undone_opens_the_claim_before_it_again(flow):
    one = await Pair(flow, 1).open("8")
    remit = one.remit("SMUDGED", "4", "100", "0", "CAS*OA*96*100", payer_number="P9")
    await flow.arrive(one.reversal.replace(one.account.encode(), b"BLURRED"), remit, name="unknown")
    found = await list_payments(flow.database, flow.vault, PaymentQuery(where={"unmatched": True}))
    by_amount = {each.amount: each.payment.payment_id for each in found}
    for amount, id in ((-8000, one.first), (0, one.second)):
        await payment_admin.assign(flow.context, by_amount[amount], 1, id, actor=PERSON)
    assert await one.both() == (VOIDED, VOIDED)
    for amount in (0, -8000):
        await payment_admin.undo_assignment(flow.context, by_amount[amount], 1, actor=PERSON)
    assert await one.both() == (("complete", "paid", 8000), ("sent", "sent", 0))


async def readings(flow, number):
    """A claim as V3, v1 and the console's list and totals read it: state, label, and whether it is listed and counted."""
    stated = (await flow.statuses())[number]
    accounts = SimpleNamespace(sites=[flow.site])
    context = replace(flow.context, accounts=lambda: accounts)
    found = await find_claim(context, number, flow.site.scope)
    [row] = await load_claim_rows(flow.context, flow.site, [number], actor=ACTOR, action="test")
    assert stated.state == found.stored.state
    assert found.label == row.label
    async with flow.database.read(flow.site.scope) as tx:
        listed = await list_claims(tx, by_label([row.label], limit=1_000), ClaimListKey)
    is_listed = number in {key.claim_number for key in listed}
    assert is_listed != row.is_replaced
    summary = await refresh_summary(flow.context, flow.site)
    assert summary.labels[row.label].count == len(listed) if listed else is_listed is False
    return found.stored.state, found.label, is_listed


async def correct(flow, number, note, way=""):
    return await submit_correction(
        flow.context, flow.site, number, {NOTE: note}, way=way, actor=ACTOR, now=flow.clock.now()
    )


async def history_of(flow, number):
    return await load_claim_history(flow.database, flow.vault, number, actor=ACTOR)


NOTE = "F19_ClaimSupplementalInfoNoteText"
PAID, OFF_THE_LIST = ("complete", "paid", True), ("complete", "paid", False)


@pytest.mark.both_databases
@pytest.mark.safe_default(1)
@pytest.mark.parametrize("frequency", ["7", "8"])
async def test_a_paid_claim_is_listed_and_counted_again_once_its_successor_was_rejected(
    flow, frequency
):
    one = await Pair(flow, 1).open(frequency)
    assert await readings(flow, one.first) == OFF_THE_LIST
    await one.arrive(status(patient(one.name, "A7:500:85*20261121*U*100")))
    assert await readings(flow, one.first) == PAID
    assert await readings(flow, one.second) == ("rejected", "rejected", True)
    history = await history_of(flow, one.first)
    which = "void" if frequency == "8" else "correction"
    said = f"Its {which} {one.second} was rejected; the claim stands."
    assert (history.ineffective_successor.sentence, history.successor) == (said, "")
    assert history.related == ()
    with pytest.raises(CorrectionConflict, match=f"{one.second} .*rejected. Correct that one"):
        await correct(flow, one.first, "ANOTHER")
    # The correction of the rejected claim takes the place of both.
    done = await correct(flow, one.second, "AGAIN")
    assert done.sent_as == ("void" if frequency == "8" else "replacement")
    assert await readings(flow, one.first) == OFF_THE_LIST
    assert await readings(flow, one.second) == ("rejected", "rejected", False)
    assert (await history_of(flow, one.first)).successor == done.claim_number
    # The decision on it passes through the rejected claim, in any order.
    [name] = accounts(await flow.send())
    flow.clock.advance(timedelta(minutes=1))
    amount = "0" if frequency == "8" else "60"
    files = [
        one.reversal,
        one.remit(name, "1", "100", amount, f"CAS*CO*45*{100 - int(amount)}", payer_number="P2"),
    ]
    await one.arrive(*(files if frequency == "8" else files[::-1]))
    closed = "voided" if frequency == "8" else "replaced"
    assert await readings(flow, one.first) == ("complete", closed, False)
    said = " ".join(s for e in (await history_of(flow, one.first)).entries for s in e.sentences)
    assert ("A corrected remittance usually follows" in said) == (frequency == "7")


@pytest.mark.both_databases
@pytest.mark.safe_default(1)
@pytest.mark.parametrize("frequency", ["7", "8"])
async def test_a_claim_is_listed_and_counted_again_once_its_successor_was_canceled(flow, frequency):
    one = Pair(flow, 1)
    [one.first], content = await flow.sent(**one.own)
    [one.account] = accounts(content)
    await one.arrive(one.remit(one.account, "1", "100", "80", OFF, day="20261114"))

    async def succeed(note):
        own = {"F22_MedicaidResubmissionCode": frequency, NOTE: note}
        flow.clock.advance(timedelta(minutes=1))
        [number] = await flow.submit(**one.own | own)
        assert await readings(flow, one.first) == OFF_THE_LIST
        return number

    async def cancel(number):
        done = await change_unsent_claim(
            flow.context, flow.site, number, CANCEL, actor=ACTOR, now=flow.clock.now()
        )
        assert done == (number, "canceled", "")
        assert await readings(flow, one.first) == PAID
        assert await readings(flow, number) == ("canceled", "canceled", True)

    first = await succeed("FIRST")
    if frequency == "8":
        with pytest.raises(
            CorrectionConflict, match=r"void .* cannot be corrected. Cancel it first"
        ):
            await correct(flow, one.first, "ANOTHER")
    await cancel(first)
    which = "void" if frequency == "8" else "correction"
    history = await history_of(flow, one.first)
    said = f"Its {which} {first} was canceled; the claim stands."
    assert history.ineffective_successor.sentence == said
    # A second one under the same id takes over from the canceled one, and is canceled in turn.
    second = await succeed("SECOND")
    assert await readings(flow, first) == ("canceled", "canceled", False)
    await cancel(second)
    assert await readings(flow, first) == ("canceled", "canceled", True)
    # A person may also correct the paid claim itself.
    done = await correct(flow, one.first, "THIRD")
    assert done.sent_as == "replacement"
    assert await readings(flow, one.first) == OFF_THE_LIST
    history = await history_of(flow, one.first)
    assert (history.successor, history.ineffective_successor) == (done.claim_number, None)
    assert (await history_of(flow, done.claim_number)).predecessor == one.first


@pytest.mark.both_databases
@pytest.mark.safe_default(1)
async def test_another_visit_after_a_canceled_void_leaves_the_paid_claim_listed(flow):
    one = await Pair(flow, 1).open("8")
    await one.arrive(status(patient(one.name, "A7:500:85*20261121*U*100")))
    day = (START.date() - timedelta(days=20)).isoformat()
    line = {"F24A_DateOfServiceFrom": day, "F24A_DateOfServiceTo": day}
    [visit] = await flow.submit(**one.own, line=line)
    assert await readings(flow, one.first) == PAID
    assert await readings(flow, visit) == ("received", "received", True)


@pytest.mark.safe_default(1)
async def test_a_rejected_claim_does_not_ask_again_beside_its_rejected_correction(flow):
    one = Pair(flow, 1)
    [one.first], content = await flow.sent(**one.own)
    await one.arrive(status(patient(*accounts(content), "A7:500:85*20261102*U*100")))
    [second], content = await flow.sent(**one.own)
    await one.arrive(status(patient(*accounts(content), "A7:500:85*20261103*U*100")))
    assert await readings(flow, one.first) == ("rejected", "rejected", False)
    assert await readings(flow, second) == ("rejected", "rejected", True)


@pytest.mark.both_databases
@pytest.mark.safe_default(1)
async def test_a_claim_that_is_paid_after_its_replacement_was_rejected_is_listed(flow):
    one = await Pair(flow, 1).open("7", paid_before=False)
    await one.arrive(status(patient(one.name, "A7:500:85*20261121*U*100")))
    assert await readings(flow, one.first) == ("acknowledged", "accepted", True)
    await one.arrive(one.remit(one.account, "1", "100", "80", OFF))
    assert await readings(flow, one.first) == PAID
    # The payer takes the replacement in after all.
    await one.arrive(one.remit(one.name, "1", "100", "60", "CAS*CO*45*40", payer_number="P2"))
    assert (await readings(flow, one.first))[2] is False


@pytest.mark.parametrize(
    ("after", "state", "is_left"),
    [
        *(("canceled", one, True) for one in ("received", "sent", "rejected", "complete")),
        *(("rejected", one, True) for one in ("sent", "acknowledged", "pending", "complete")),
        *(("rejected", one, False) for one in ("received", "held", "rejected", "canceled", "not_accepted")),
        *((one, "sent", False) for one in ("received", "sent", "acknowledged", "pending", "complete")),
    ],
)  # fmt: skip
def test_what_never_entered_the_payers_system_left_what_is_there_as_it_was(after, state, is_left):
    assert took_no_effect(after, state) is is_left


async def awaited(flow, number):
    [row] = await load_claim_rows(flow.context, flow.site, [number], actor=ACTOR, action="console.claims")  # fmt: skip
    filing = row.filing.as_json() if row.filing else None
    return row.awaiting.what if row.awaiting else None, filing


REJECTIONS = {
    "999": lambda one, content: nine(controls(content), ("AK2*837*0001*005010X222A1", "IK5*R*5"), verdict="R"),
    "277CA": lambda one, content: acknowledged(one, "A7:500:85*20261121*U*100"),
}  # fmt: skip


def acknowledged(one, said):
    """A 277CA about the second claim, by our number: the claims of a sender's files share their account number."""
    return status(patient(one.name, said, extra=[f"REF*D9*{one.second}"]))


async def of_file(flow, frequency=b"1"):
    """Store the first claim of a sender's file; its number."""
    data = FILE.replace(b"11:B:1*", b"11:B:%b*" % frequency, 1)
    claim = claims_in(data)[0]
    page = [FileClaim(claim, check_claim(claim))]
    now = flow.clock.now()
    [one] = await judge_file_claims(flow.context, flow.site, page, now=now, seen=SeenClaims())
    assert one.judgement.accepted
    await flow.database.write(
        flow.site.scope,
        lambda tx: store_file_claims(tx, flow.context, flow.site, [one.row]),
        actor=ACTOR,
    )
    return one.row.claim_number


@pytest.mark.both_databases
@pytest.mark.parametrize("which", REJECTIONS)
@pytest.mark.parametrize("way", ["json", "file", "correction"])
async def test_an_open_claim_is_itself_again_once_its_replacement_was_rejected(flow, which, way):
    flow.replace_payer(filing_days=62)
    one = Pair(flow, 1)
    if way == "file":
        one.first, content = await of_file(flow), await flow.send()
    else:
        [one.first], content = await flow.sent(**one.own)
    [one.account] = accounts(content)
    await one.arrive(status(patient(one.account, "A2:20*20261102*WQ*100", extra=["REF*1K*P1"])))
    before = await awaited(flow, one.first)
    assert before[0] == "decision"
    flow.clock.advance(timedelta(minutes=1))
    if way == "file":
        one.second = await of_file(flow, frequency=b"7")
    elif way == "json":
        own = {"F22_MedicaidResubmissionCode": "7", NOTE: "NEW"}
        [one.second] = await flow.submit(**one.own | own)
    else:
        one.second = (await correct(flow, one.first, "NEW", way="replacement")).claim_number
    assert (await readings(flow, one.first))[2] is False
    content = await flow.send()
    [one.name] = accounts(content)
    flow.clock.advance(timedelta(minutes=1))
    await one.arrive(REJECTIONS[which](one, content))
    assert await readings(flow, one.first) == ("acknowledged", "accepted", True)
    assert await awaited(flow, one.first) == before
    history = await history_of(flow, one.first)
    assert history.ineffective_successor.sentence.endswith("was rejected; the claim stands.")
    # The payer takes the replacement in after all: the first claim is replaced again.
    await one.arrive(acknowledged(one, "A2:20*20261122*WQ*100"))
    assert (await readings(flow, one.first))[2] is False


@pytest.mark.both_databases
async def test_of_two_rejected_claims_the_later_one_asks_and_the_first_is_back_if_it_is_taken_in(
    flow,
):
    one = await Pair(flow, 1).open("7", paid_before=False)
    await one.arrive(status(patient(one.name, "A7:500:85*20261121*U*100")))
    assert await readings(flow, one.first) == ("acknowledged", "accepted", True)
    await one.arrive(status(patient(one.account, "A7:500:85*20261122*U*100")))
    assert await readings(flow, one.first) == ("rejected", "rejected", False)
    assert await readings(flow, one.second) == ("rejected", "rejected", True)
    await one.arrive(status(patient(one.account, "A2:20*20261123*WQ*100")))
    assert await readings(flow, one.first) == ("acknowledged", "accepted", True)


@pytest.mark.both_databases
async def test_a_claim_whose_moment_passed_while_another_had_its_place_waits_from_then_on(flow):
    flow.replace_payer(filing_days=62)
    one = await Pair(flow, 1).open("7", paid_before=False)
    flow.clock.advance(timedelta(days=60))
    await one.arrive(status(patient(one.name, "A7:500:85*20261121*U*100")))
    [row] = await load_claim_rows(flow.context, flow.site, [one.first], actor=ACTOR, action="console.claims")  # fmt: skip
    now = flow.clock.now()
    assert (row.awaiting.what, row.awaiting.since) == ("decision", now)
    assert not row.awaiting.overdue
