"""What happens to claims and payments is recorded as events, in the same transaction.

Also tests `pipeline/payment_events`, `pipeline/notify/feed`, `pipeline/notify/purge_events`,
`pipeline/follow_up/overdue_claims` and `claims/read/changed_fields`.
"""

import json
import tracemalloc
from dataclasses import replace
from datetime import timedelta

import pytest

from clearlane.claims.lifecycle import ClaimState
from clearlane.claims.responses.facts import FactKind
from clearlane.events.event import NewEvent
from clearlane.events.types import TYPES
from clearlane.kernel.clock import to_micros
from clearlane.payments.claim_payment_label import STATUS_LABELS
from clearlane.pipeline.claim_events import LABEL_TYPES, REFUSED_BY, STATE_TYPES
from clearlane.pipeline.claim_label import BY_CLOSING
from clearlane.pipeline.follow_up.overdue_claims import act_on_overdue
from clearlane.pipeline.notify.feed import FeedReader, read_feed
from clearlane.pipeline.notify.purge_events import purge_old_events
from clearlane.pipeline.operator import payment_admin
from clearlane.pipeline.outbound import deliver
from clearlane.store.database.database import Actor
from clearlane.store.events import events
from tests.cases import by_profile
from tests.claims.answers import nine, paid, patient, payment, status, ta1
from tests.pipeline.flowing import EVERYONE, PAYER, Flow, accounts, controls
from tests.pipeline.test_post import inquired

pytestmark = pytest.mark.one_database

PERSON = Actor("operator", "nora")


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def feed(flow, site=None, types=TYPES):
    site = site or flow.site
    reader = FeedReader(site.vendor_id, {site.id: site.vendor_site_id})
    page = await read_feed(flow.context, reader, types=types, after=0, limit=1_000)
    return page.events


async def described(flow, site=None):
    """The types of the events of one site, without those of documents, with some of their data."""
    shown = ("state", "previous_state", "by", "label")
    return [
        (one["type"], *(one["data"][name] for name in shown if name in one["data"]))
        for one in await feed(flow, site)
        if one["type"] != "document.created"
    ]


async def of_operators(flow):
    async with flow.database.read(EVERYONE) as tx:
        found = await events.list_all(tx, TYPES, after=0, limit=1_000)
    return [one.type for one in found if one.vendor_id is None]


def test_every_state_and_outcome_has_a_type():
    assert STATE_TYPES.keys() == set(ClaimState)
    assert LABEL_TYPES.keys() >= {*STATUS_LABELS.values(), *BY_CLOSING.values()}
    assert {*STATE_TYPES.values(), *LABEL_TYPES.values()} <= TYPES.keys()
    assert REFUSED_BY.keys() < set(FactKind)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("answers", "after"),
    [
        (("277CA",), ("claim.acknowledged", "acknowledged", "received")),
        # The 999 says that the payer has the file: it is what reports the claim as sent.
        (("999", "277CA"), ("claim.acknowledged", "acknowledged", "sent")),
        (("835",), ("claim.paid", "complete", "received", "paid")),
    ],
)
async def test_a_claim_that_is_answered_before_its_delivery_is_recorded_is_reported_once_as_sent(
    flow, monkeypatch, answers, after
):
    """As after a crash between the two: the service that comes back may read the answers first."""
    record = deliver.record_delivery

    async def record_late(context, batch_id, *, actor, began):
        box = flow.connections.open_mailbox(flow.connections.route("Medical", PAYER))
        [content] = box.sent.values()
        [account] = accounts(content)
        said = {
            "999": lambda: nine(controls(content), ("AK2*837*0001*005010X222A1", "IK5*A")),
            "277CA": lambda: status(patient(account, "A2:20*20261102*WQ*100")),
            "835": lambda: payment(paid(account, "1", "100", "80", "CAS*CO*45*20")),
        }
        for one in answers:
            await flow.arrive(said[one]())
        await record(context, batch_id, actor=actor, began=began)

    monkeypatch.setattr(deliver, "record_delivery", record_late)
    await flow.sent()
    found = [one for one in await described(flow) if one[0] != "payment.received"]
    assert [one[0] for one in found] == ["claim.received", "claim.sent", after[0]]
    assert found[-1] == after


@pytest.mark.both_databases
async def test_the_way_of_a_claim_is_reported_in_order_with_a_sequence(flow):
    [id], content = await flow.sent(Svc_VendorClaimId="A-17")
    [account] = accounts(content)
    await flow.arrive(nine(controls(content), ("AK2*837*0001*005010X222A1", "IK5*A")))
    await flow.arrive(status(patient(account, "A2:20*20261102*WQ*100")))
    await flow.arrive(inquired(account, "P1:20*20261105**100"))
    await flow.arrive(inquired(account, "R4:20*20261106**100"))
    await flow.arrive(payment(paid(account, "1", "100", "80", "CAS*CO*45*20")))
    found = await feed(flow)
    assert [one["type"] for one in found] == [
        "claim.received", "claim.sent", "claim.acknowledged", "document.created", "claim.pending",
        "document.created", "claim.information_requested", "document.created", "claim.paid",
        "document.created", "payment.received",
    ]  # fmt: skip
    assert [one["data"].get("sequence") for one in found] == [*range(1, 11), None]
    assert {one["claim_number"] for one in found[:-1]} == {id}
    assert {one["vendor_claim_id"] for one in found[:-1]} == {"A-17"}
    assert {one["site"] for one in found} == {flow.site.vendor_site_id}
    assert [one["actor"] for one in found] == ["vendor", "system", *["payer"] * 9]
    last = found[8]["data"]
    assert (last["state"], last["previous_state"], last["label"]) == (
        "complete",
        "pending",
        "paid",
    )
    assert last["payment_id"] == found[-1]["data"]["payment_id"]
    assert last["document_id"] == found[9]["data"]["document_id"]


async def test_an_event_holds_nothing_of_a_patient(flow):
    _, content = await flow.sent()
    [account] = accounts(content)
    await flow.arrive(payment(paid(account, "1", "100", "80", "CAS*CO*45*20")))
    text = json.dumps(await feed(flow))
    for word in ("ARDEN", "Rosa", "100.00", "80.00", "99213"):
        assert word.lower() not in text.lower()


@pytest.mark.both_databases
async def test_an_operator_may_leave_the_vendors_claim_id_out(flow):
    await flow.submit()
    flow.context = replace(flow.context, events_name_claims=False)
    [one] = await feed(flow)
    assert one["vendor_claim_id"] is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda account, content: ta1(controls(content)), ("claim.rejected", "rejected", "sent", "ta1")),
        (
            lambda account, content: nine(controls(content), ("AK2*837*0001*005010X222A1", "IK5*R*5"), verdict="R"),
            ("claim.rejected", "rejected", "sent", "999"),
        ),
        (
            lambda account, content: status(patient(account, "A7:500:85*20261102*U*100")),
            ("claim.rejected", "rejected", "sent", "277ca"),
        ),
        (
            lambda account, content: payment(paid(account, "1", "100", "0", "CAS*CO*50*100"), amount="0"),
            ("claim.denied", "complete", "sent", "denied"),
        ),
        (
            lambda account, content: payment(paid(account, "1", "100", "0", "CAS*PR*1*100"), amount="0"),
            ("claim.patient_owes", "complete", "sent", "patient_owes"),
        ),
        (
            lambda account, content: payment(paid(account, "23", "100", "0", "CAS*OA*23*100"), amount="0"),
            ("claim.forwarded", "complete", "sent", "forwarded"),
        ),
    ],
)  # fmt: skip
async def test_each_answer_of_a_payer_is_reported(flow, answer, expected):
    _, content = await flow.sent()
    [account] = accounts(content)
    assert await flow.arrive(answer(account, content)) == ["applied"]
    assert (await described(flow))[2] == expected


@pytest.mark.safe_default(16)
async def test_a_claim_that_was_not_accepted_is_reported_as_such_until_one_takes_its_place(flow):
    wrong = {"F28_TotalCharge": "1.00", "Svc_VendorClaimId": "B-1"}
    good, bad = await flow.post(each=[{}, wrong])
    assert (good.accepted, bad.accepted) == (True, False)
    assert await described(flow) == [
        ("claim.received", "received"),
        ("claim.not_accepted", "not_accepted"),
    ]
    assert [one["vendor_claim_id"] for one in await feed(flow)] == ["V1-0", "B-1"]
    [in_use] = await flow.post(Svc_VendorClaimId="V1-0", F07_InsuredAddress1="17 Larkspur Lane")
    assert not in_use.accepted
    [right] = await flow.submit(Svc_VendorClaimId="B-1")
    *_, refused, received, corrected = await feed(flow)
    assert (refused["type"], refused["claim_number"]) == ("claim.not_accepted", in_use.claim_number)
    assert (received["type"], received["claim_number"]) == ("claim.received", right)
    assert (corrected["type"], corrected["claim_number"]) == ("claim.corrected", bad.claim_number)
    assert corrected["data"]["successor"] == right
    assert corrected["data"]["changed_fields"] == ["F28_TotalCharge"]
    assert [one["data"]["sequence"] for one in (received, corrected)] == [1, 2]


@pytest.mark.both_databases
async def test_a_repeated_document_is_reported_once(flow):
    await flow.submit(Svc_VendorClaimId="A-17")
    await flow.submit(Svc_VendorClaimId="A-17")
    assert await described(flow) == [("claim.received", "received")]


async def test_a_successor_is_reported_with_the_names_of_the_changed_fields(flow):
    [id], content = await flow.sent(Svc_VendorClaimId="A-17")
    [account] = accounts(content)
    await flow.arrive(status(patient(account, "A7:500:85*20261102*U*100")))
    [after] = await flow.submit(Svc_VendorClaimId="A-17", F07_InsuredAddress1="17 Larkspur Lane")
    corrected = (await feed(flow))[-1]
    assert (corrected["type"], corrected["claim_number"]) == ("claim.corrected", id)
    assert corrected["data"]["successor"] == after
    assert corrected["data"]["changed_fields"] == ["F07_InsuredAddress1"]
    assert corrected["data"]["sequence"] == 5
    assert "Larkspur" not in json.dumps(corrected)


async def test_a_reversal_and_its_correction_are_both_reported(flow):
    _, content = await flow.sent()
    [account] = accounts(content)
    await flow.arrive(payment(paid(account, "1", "100", "80", "CAS*CO*45*20"), reference="T1"))
    await flow.arrive(
        payment(
            paid(account, "22", "-100", "-80", "CAS*CO*45*-20"),
            paid(account, "1", "100", "90", "CAS*CO*45*10"),
            amount="10", reference="T2",
        )
    )  # fmt: skip
    types = [one[0] for one in await described(flow)]
    assert types[2:] == [
        "claim.paid", "payment.received", "claim.reversed", "claim.paid", "payment.received",
    ]  # fmt: skip


async def test_a_payment_is_reported_to_the_sites_that_share_it_and_what_matches_nothing_to_operators(
    flow,
):
    other = await flow.new_site()
    _, content = await flow.sent()
    [account] = accounts(content)
    remit = payment(
        paid(account, "1", "100", "80", "CAS*CO*45*20"),
        paid("NOBODY", "1", "100", "80", "CAS*CO*45*20"),
        amount="160",
    )
    assert await flow.arrive(remit) == ["parked"]
    assert [one[0] for one in await described(flow)][-1] == "payment.received"
    assert await described(flow, other) == []
    assert await of_operators(flow) == ["payment.unmatched"]
    [id] = await flow.submit(site=other)
    await flow.send()
    payment_id = (await feed(flow))[-1]["data"]["payment_id"]
    await payment_admin.assign(flow.context, payment_id, 2, id, actor=PERSON)
    await payment_admin.undo_assignment(flow.context, payment_id, 2, actor=PERSON)
    found = await feed(flow, other)
    assert [(one["type"], one["actor"]) for one in found] == [
        ("claim.received", "vendor"), ("claim.sent", "system"), ("claim.paid", "person"),
        ("document.created", "person"), ("payment.matched", "person"), ("claim.reversed", "person"),
    ]  # fmt: skip
    assert {one["claim_number"] for one in found} == {id}
    assert [one["data"]["sequence"] for one in found] == [1, 2, 3, 4, 5, 6]
    matched = found[4]
    assert matched["vendor_claim_id"] == found[0]["vendor_claim_id"]
    assert matched["data"] == {
        "sequence": 5, "payment_id": payment_id, "url": f"/clearlane/v1/claims/{id}",
    }  # fmt: skip


async def test_the_same_payment_again_is_reported_as_a_duplicate(flow):
    _, content = await flow.sent()
    [account] = accounts(content)
    for control in (1, 2):
        remit = payment(paid(account, "1", "100", "80", "CAS*CO*45*20"), control=control)
        await flow.arrive(remit, name=f"answer{control}")
    assert [one[0] for one in await described(flow)][-2:] == [
        "payment.received",
        "payment.duplicate",
    ]


@pytest.mark.both_databases
async def test_a_claim_without_an_answer_is_reported_once(flow, clock):
    other = await flow.new_site()
    _, content = await flow.sent(3)
    await flow.sent(1, site=other)
    [paid_account, *_] = accounts(content)
    days = flow.context.limits.claim_silence_days
    clock.advance(timedelta(days=days - 1))
    await flow.arrive(payment(paid(paid_account, "1", "100", "80", "CAS*CO*45*20")))
    assert await act_on_overdue(flow.context, clock.now()) == 0
    clock.advance(timedelta(days=5))
    assert await act_on_overdue(flow.context, clock.now()) == 3
    clock.advance(timedelta(days=5))
    assert await act_on_overdue(flow.context, clock.now()) == 3
    assert await act_on_overdue(flow.context, clock.now()) == 0
    silent = [one for one in await feed(flow) if one["type"] == "claim.no_answer"]
    assert [one["data"]["sequence"] for one in silent] == [4, 4]
    overdue = [one["data"] for one in await feed(flow) if one["type"] == "claim.overdue"]
    assert [(one["sequence"], one["awaiting"], one["step"]) for one in overdue] == [
        (3, "999", "look")
    ] * 2
    assert {one["actor"] for one in silent} == {"system"}
    [*_, last] = await feed(flow, other)
    assert last["type"] == "claim.no_answer"


@pytest.mark.both_databases
@pytest.mark.slow
async def test_many_events_are_followed_in_order_with_constant_memory(flow):
    if flow.database.dialect != "sqlite":
        pytest.skip("the pages are the same, and writing them takes longer")
    site, count, at_once = (
        flow.site,
        by_profile(thorough=100_000, usual=30_000, quick=20_000),
        10_000,
    )
    for first in range(0, count, at_once):
        new = [
            NewEvent("claim.received", 1, site.vendor_id, site.id, f"C{first + n}", 1)
            for n in range(at_once)
        ]

        async def job(tx, new=new):
            tx.add_events(new)

        await flow.database.write(EVERYONE, job, actor=PERSON)
    reader = FeedReader(site.vendor_id, {site.id: site.vendor_site_id})
    seen, after, pages, peaks = 0, 0, 0, []
    while True:
        # Tracing makes a page several times slower: ten are traced.
        is_traced, pages = pages % (count // 5_000) == 0, pages + 1
        if is_traced:
            tracemalloc.start()
        page = await read_feed(flow.context, reader, types=TYPES, after=after, limit=500)
        if is_traced:
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        for event in page.events:
            assert event["claim_number"] == f"C{seen}"
            seen += 1
        after = page.cursor
        if page.is_end:
            break
    assert seen == count
    # The first page compiles its statements as well.
    assert max(peaks[2:]) < 1.5 * peaks[1]


@pytest.mark.both_databases
async def test_old_events_are_removed_after_the_days_of_the_setting(flow, clock):
    await flow.submit()
    clock.advance(timedelta(days=89))
    await flow.submit()
    assert await purge_old_events(flow.context, clock.now()) == 0
    clock.advance(timedelta(days=2))
    assert await purge_old_events(flow.context, clock.now()) == 1
    [left] = await feed(flow)
    assert left["data"]["sequence"] == 1
    async with flow.database.read(EVERYONE) as tx:
        assert await events.last_event(tx) < to_micros(clock.now())
