"""A void that was carried out, and claims that were voided or replaced, through mailbox and store on both databases.

Also tests `pipeline/claim_succession` and `claims/succession`.
"""

from datetime import timedelta
from itertools import permutations

import pytest
from sqlalchemy import select

from clearlane.events.types import TYPES
from clearlane.pipeline.notify.feed import FeedReader, read_feed
from clearlane.pipeline.operator import payment_admin
from clearlane.pipeline.query import payments
from clearlane.pipeline.query.claim_history import load_claim_history
from clearlane.pipeline.query.claim_list import load_claim_rows
from clearlane.pipeline.query.claim_summary import refresh_summary
from clearlane.pipeline.query.payments import PaymentSearch
from clearlane.store.database.database import Actor
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement
from tests.cases import full_or_quick
from tests.claims.answers import paid, patient, payment, status
from tests.pipeline.flowing import ACTOR, EVERYONE, Flow, accounts

PERSON = Actor("operator", "somebody")
COLUMNS = Statement(
    select(claims.c.claim_number, claims.c.state, claims.c.label, claims.c.outcome, claims.c.paid_cents),
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
            assert await self.flow.arrive(file, name=name) == ["Applied"]

    async def both(self):
        """State, label, outcome and cents of the first claim, and of the second."""
        async with self.flow.database.read(EVERYONE) as tx:
            rows = {row[0]: tuple(row[1:]) for row in await tx.rows(COLUMNS)}
        stated = await self.flow.statuses()
        for id in (self.first, self.second):
            assert (stated[id].state, stated[id].payer_cents) == (rows[id][0], rows[id][3])
        return rows[self.first], rows[self.second]


VOIDED = ("Complete", "voided", "voided", 0)
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
            found[one["claim_number"]].append((one["type"], one["data"].get("outcome")))
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
        assert ("claim.reversed", "taken back") in first, name
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
    for found in await payments.list_payments(flow.database, flow.vault, PaymentSearch()):
        pages = payments.claim_payment_pages(flow.database, flow.vault, found.payment_id)
        for shown in [each async for page in pages for each in page]:
            if shown.claim_number in {one.second for one in pairs}:
                assert (shown.outcome, shown.denied) == ("voided", 0)
                assert not any(each.denial for each in shown.adjustments)


@pytest.mark.safe_default(4)
@pytest.mark.parametrize(
    ("frequency", "amount", "closed", "decided"),
    [
        ("8", "0", VOIDED, VOIDED),
        ("7", "60", ("Complete", "replaced", "replaced", 0), ("Complete", "paid", "paid", 6000)),
    ],
    ids=["void", "replacement"],
)
async def test_a_claim_is_complete_once_its_successor_is_decided_in_every_order_of_arrival(
    flow, frequency, amount, closed, decided
):
    for number, order in enumerate([*permutations(range(4))][:: full_or_quick(1, 5)]):
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
    assert (await one.both())[0][:2] == ("Acknowledged", "accepted")
    await one.arrive(one.remit(one.name, "1", "100", "80", OFF))
    replaced = ("Complete", "replaced", "replaced", 0)
    assert await one.both() == (replaced, ("Complete", "paid", "paid", 8000))
    [first, second] = await events_of(flow, one.first, one.second)
    assert first[-1] == ("claim.corrected", "replaced")
    assert second[-1] == ("claim.paid", "paid")
    # What is learnt of the replacement later leaves the first claim closed.
    await one.arrive(one.remit(one.name, "22", "-100", "-80", BACK, day="20261125"))
    assert await one.both() == (replaced, ("Pending", "taken back", "taken back", 0))


async def test_a_void_that_came_to_nothing_is_open_again(flow):
    one = await Pair(flow, 1).open("8")
    await one.arrive(one.reversal)
    assert await one.both() == (VOIDED, VOIDED)
    # The payer pays the first claim again after all, so the void was not carried out.
    await one.arrive(one.remit(one.account, "1", "100", "70", "CAS*CO*45*30", day="20261125"))
    assert await one.both() == (("Complete", "paid", "paid", 7000), ("Sent", "sent", None, 0))
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
        ("Pending", "taken back", "taken back", 0),
        ("Acknowledged", "accepted", None, 0),
    )
    assert await one.both() == (back, accepted)
    await one.arrive(one.remit(one.name, "4", "100", "0", "CAS*OA*96*100", payer_number="P2"))
    assert await one.both() == (VOIDED, VOIDED)


async def test_an_assignment_that_is_undone_opens_the_claim_before_it_again(flow):
    one = await Pair(flow, 1).open("8")
    remit = one.remit("SMUDGED", "4", "100", "0", "CAS*OA*96*100", payer_number="P9")
    await flow.arrive(one.reversal.replace(one.account.encode(), b"BLURRED"), remit, name="unknown")
    found = await payments.list_payments(flow.database, flow.vault, PaymentSearch(unmatched=True))
    by_amount = {each.amount: each.payment_id for each in found}
    for amount, id in ((-8000, one.first), (0, one.second)):
        await payment_admin.assign(flow.context, by_amount[amount], 1, id, actor=PERSON)
    assert await one.both() == (VOIDED, VOIDED)
    for amount in (0, -8000):
        await payment_admin.undo_assignment(flow.context, by_amount[amount], 1, actor=PERSON)
    assert await one.both() == (("Complete", "paid", "paid", 8000), ("Sent", "sent", None, 0))
