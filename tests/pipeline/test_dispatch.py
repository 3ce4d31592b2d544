"""From accepted claims to files at payers: batches, control numbers, names, and the status of claims."""

import asyncio
import hashlib
from datetime import UTC, datetime

import pytest
from sqlalchemy import select, update

from clearlane.claims.batch_lifecycle import BatchState
from clearlane.claims.forms import V3_DENTAL
from clearlane.claims.responses.facts import Fact, FactKind
from clearlane.kernel import limits
from clearlane.kernel.limits import CONTROL_NUMBER_MAX
from clearlane.pipeline.outbound import deliver, dispatch
from clearlane.pipeline.outbound.dispatch import ROUTE_BATCHES_WAITING_MAX
from clearlane.pipeline.record_facts import ClaimFact, ensure_keys, record_facts
from clearlane.store.database.database import Actor
from clearlane.store.database.schema import audit, control_numbers
from clearlane.store.database.sql import Statement
from clearlane.store.delivery import batches as store
from clearlane.store.delivery.control_numbers import next_control_number
from clearlane.x12.checker.check import check
from clearlane.x12.reader.reader import parse
from tests.manual_clock import ManualClock
from tests.pipeline.outbound import HARBOR, MEADOW, control_of, numbers_in, outbound

pytestmark = pytest.mark.one_database

AUDIT = Statement(select(audit.c.action, audit.c.count).order_by(audit.c.seq))
LAST_NUMBER = Statement(update(control_numbers).values(number=CONTROL_NUMBER_MAX))


@pytest.fixture
async def out(place, clock):
    async with outbound(place, clock) as made:
        yield made


@pytest.mark.both_databases
async def test_claims_wait_for_their_window_and_go_out_as_one_file(out):
    payer = out.connections.add(window_seconds=60)
    ids = await out.submit(3)
    assert await out.create_batches() == []
    assert not await out.has_due_work()
    out.pass_time(seconds=60)
    assert await out.has_due_work()
    [id] = await out.create_batches()
    batch = await out.batch(id)
    content = await out.content(batch)
    assert (batch.state, batch.claims, batch.bytes) == (BatchState.READY, 3, len(content))
    assert batch.digest == hashlib.sha256(content).hexdigest()
    assert sorted(numbers_in(content)) == sorted(ids)
    assert set((await out.states()).values()) == {("received", 1, 0)}
    assert await out.deliver() == 1
    assert payer.sent == {batch.name: content}
    assert (await out.batch(id)).state == BatchState.DELIVERED
    assert set((await out.states()).values()) == {("sent", 1, 0)}
    assert not await out.has_due_work()
    async with out.context.database.read(store.SCOPE) as tx:
        audited = [row for row in await tx.rows(AUDIT) if row[0].startswith("batch")]
    assert audited == [("batch.created", 3), ("batch.sending", 3), ("batch.delivered", 3)]


async def test_files_are_sent_in_the_send_windows_of_their_route_alone(out):
    payer = out.connections.add(
        window_seconds=60, claims_max=2, send_windows="daily 14:00-15:00", time_zone="UTC"
    )
    now = out.clock.now()
    out.pass_time(
        seconds=(now.replace(hour=13, minute=58, second=0) - now).total_seconds() % 86_400
    )
    await out.submit(1)
    assert await out.go(seconds=60) == 0  # 13:59
    assert await out.batches() == []  # a small file goes on gathering
    await out.submit(2)
    [full] = await out.create_batches()
    assert await out.deliver() == 0
    assert not await out.has_due_work()
    assert await deliver.attempt_delivery(out.context, full, "work") == deliver.SKIPPED
    assert not payer.sent
    out.pass_time(seconds=60)  # 14:00
    assert await out.has_due_work()
    assert await out.go() == 2
    assert len(payer.claims) == 3
    await out.submit(1)
    assert await out.go(minutes=59) == 1  # 14:59
    await out.submit(1)
    assert await out.go(minutes=2) == 0  # 15:01
    assert await out.go(hours=23) == 1


async def test_a_file_has_the_name_that_its_route_wants(out):
    payer = out.connections.add(file_name="{receiver}.{type}.{date}.{control}.txt")
    await out.submit(1)
    await out.go(hours=1)
    assert list(payer.sent) == [f"{MEADOW}.837P.{out.clock.now():%Y%m%d}.000000001.txt"]


async def test_a_full_file_does_not_wait_for_the_window(out):
    out.connections.add(claims_max=2, window_seconds=3_600)
    await out.submit(5)
    assert await out.has_due_work()
    assert len(await out.create_batches()) == 2
    assert [batch.claims for batch in await out.batches()] == [2, 2]
    assert not await out.create_batches()
    out.pass_time(hours=1)
    await out.create_batches()
    assert [batch.claims for batch in await out.batches()] == [2, 2, 1]


async def test_payers_and_types_get_files_of_their_own_with_their_own_addresses(out):
    mailboxes = [
        out.connections.add(MEADOW, usage="T", group_sender="larkspur"),
        out.connections.add(HARBOR, sender_qualifier="30", receiver_qualifier="33"),
        out.connections.add("SD001", "Dental"),
    ]
    await out.submit(2, MEADOW)
    await out.submit(1, HARBOR)
    await out.submit(1, "SD001", V3_DENTAL)
    assert await out.go(minutes=1) == 3
    seen = []
    for mailbox in mailboxes:
        [(name, content)] = mailbox.sent.items()
        [interchange] = parse(content).interchanges
        isa, gs = interchange.header, interchange.groups[0].header
        seen.append((name.split("-")[1], isa[5], isa[7], isa[8].strip(), isa[15], gs[2], gs[8]))
        assert check(content).errors == 0
    assert seen == [
        ("837P", "ZZ", "ZZ", MEADOW, "T", "LARKSPUR", "005010X222A1"),
        ("837P", "30", "33", HARBOR, "P", "CLEARLANE", "005010X222A1"),
        ("837D", "ZZ", "ZZ", "SD001", "P", "CLEARLANE", "005010X224A2"),
    ]
    assert len({name for mailbox in mailboxes for name in mailbox.sent}) == 3
    kinds = {(batch.payer_id, batch.kind) for batch in await out.batches()}
    assert kinds == {(MEADOW, "medical"), (HARBOR, "medical"), ("SD001", "dental")}


async def test_a_payer_without_a_route_keeps_its_claims_waiting(out):
    out.connections.add(HARBOR)
    await out.submit(1, MEADOW)
    await out.submit(1, HARBOR)
    assert await out.go(hours=1) == 1
    assert sorted((await out.states()).values()) == [("received", 0, 1), ("sent", 1, 0)]


@pytest.mark.both_databases
async def test_two_nodes_that_batch_at_once_never_take_a_claim_twice(place, clock):
    async with outbound(place, clock) as first:
        first.connections.add(claims_max=5)
        site, connections = first.site, first.connections
        ids = await first.submit(40)
        first.pass_time(minutes=1)
        async with outbound(
            place, clock, node="other", connections=connections, site=site
        ) as second:
            for _ in range(4):
                await asyncio.gather(
                    first.create_batches(), second.create_batches(), first.create_batches()
                )
        batches = await first.batches()
        contents = [await first.content(batch) for batch in batches]
    inside = [number for content in contents for number in numbers_in(content)]
    assert sorted(inside) == sorted(ids)
    assert len({batch.control for batch in batches}) == len(batches)
    assert [control_of(content) for content in contents] == [batch.control for batch in batches]


@pytest.mark.both_databases
async def test_numbers_given_at_once_are_all_different(out):
    async def take():
        return await out.context.database.write(
            store.SCOPE, next_control_number, actor=Actor("node", "test")
        )

    given = await asyncio.gather(*(take() for _ in range(50)))
    assert sorted(given) == list(range(1, 51))


@pytest.mark.both_databases
async def test_when_the_numbers_are_used_up_claims_wait_and_nothing_breaks(out):
    out.connections.add()
    await out.submit(1)
    assert await out.go(minutes=1) == 1
    await out.context.database.write(
        store.SCOPE, lambda tx: tx.run(LAST_NUMBER), actor=Actor("operator", "test")
    )
    await out.submit(1)
    assert await out.go(minutes=1) == 0
    assert sorted((await out.states()).values()) == [("received", 0, 1), ("sent", 1, 0)]


@pytest.mark.both_databases
async def test_a_claim_that_is_to_be_sent_again_goes_out_in_a_new_file(out):
    payer = out.connections.add()
    ids = await out.submit(2)
    await out.go(minutes=1)
    claim_facts = [
        ClaimFact(
            ids[0], out.site.vendor_id, out.site.id, Fact(kind=kind, at=out.clock.now(), attempt=1)
        )
        for kind in (FactKind.SEND_AGAIN,)
    ]
    await ensure_keys(out.context.vault, claim_facts)
    await out.context.database.write(
        store.SCOPE,
        lambda tx: record_facts(
            tx, out.context.vault, claim_facts, out.clock.now(), out.context.answer_days
        ),
        actor=Actor("node", "test"),
    )
    assert await out.go(minutes=1) == 1
    assert payer.claims == [*ids, ids[0]]
    assert (await out.states())[ids[0]] == ("sent", 2, 0)
    async with out.context.database.read(store.SCOPE) as tx:
        [again] = await store.list_members(tx, (await out.batches())[-1].id)
    assert (again.claim_number, again.attempt) == (ids[0], 2)


async def test_a_claim_that_cannot_be_opened_holds_no_other(out):
    out.connections.add()
    ids = await out.submit(3)
    broken = Statement(
        update(store.claims)
        .where(store.claims.c.claim_number == ids[1])
        .values(payload=b"torn" * 9),
        system=True,
    )
    await out.context.database.write(
        store.SCOPE, lambda tx: tx.run(broken), actor=Actor("operator", "test")
    )
    assert await out.go(minutes=1) == 1
    states = await out.states()
    assert [states[id] for id in ids] == [("sent", 1, 0), ("received", 0, 1), ("sent", 1, 0)]


@pytest.mark.both_databases
async def test_behind_files_that_cannot_go_out_claims_wait_and_then_fill_larger_files(out):
    payer = out.connections.add(window_seconds=0)
    payer.trouble = ConnectionError("gone")
    for _ in range(ROUTE_BATCHES_WAITING_MAX + 3):
        await out.submit(1)
        await out.create_batches()
    assert len(await out.batches()) == ROUTE_BATCHES_WAITING_MAX
    payer.trouble = None
    await out.deliver()
    await out.create_batches()
    assert (await out.batches())[-1].claims == 3


async def test_a_large_batch_is_written_without_blocking_the_loop(out):
    out.connections.add()
    await out.submit(400)
    out.pass_time(minutes=1)
    iterations = 0

    async def count():
        nonlocal iterations
        while True:
            await asyncio.sleep(0)
            iterations += 1

    beside = asyncio.create_task(count())
    await out.create_batches()
    beside.cancel()
    [batch] = await out.batches()
    assert batch.claims == 400
    assert iterations > 400 / limits.CLAIMS_AT_ONCE


async def test_the_months_key_of_the_installation_is_made_when_it_is_needed(place):
    late = ManualClock(datetime(2024, 3, 31, 23, 59, 30, tzinfo=UTC))
    async with outbound(place, late) as out:
        out.connections.add()
        await out.submit(1)
        assert await out.go(minutes=1) == 1


class Steps:
    """Runs each step once and notes what is started."""

    work = "deliver-1"

    def __init__(self):
        self.started = {}

    async def run(self, name, job, *, attempts=1):
        return await job()

    async def start(self, name, *ids, key=""):
        self.started[key] = (name, *ids)
        return key


async def test_a_tick_batches_what_waited_and_starts_each_delivery_once_a_minute(out):
    out.connections.add(MEADOW)
    out.connections.add(HARBOR)
    await out.submit(1)
    await out.submit(1, HARBOR)
    steps = Steps()
    await dispatch.dispatch_tick(out.context, steps)
    assert steps.started == {}
    out.pass_time(minutes=1)
    for _ in range(3):
        await dispatch.dispatch_tick(out.context, steps)
    ids = [batch.id for batch in await out.batches()]
    assert sorted(steps.started.values()) == [("deliver", id) for id in ids]
    out.pass_time(minutes=1)
    await dispatch.dispatch_tick(out.context, steps)
    assert len(steps.started) == 2 * len(ids) == 4


async def test_a_tick_leaves_claims_waiting_while_callers_go_first(out):
    out.connections.add(window_seconds=0)
    await out.submit(1)
    out.context.intake.priority.record_claims(10_000)
    await dispatch.dispatch_tick(out.context, Steps())
    assert await out.batches() == []
    await dispatch.dispatch_tick(out.context, Steps())
    assert len(await out.batches()) == 1


@pytest.mark.parametrize(("trouble", "outcome"), [(None, "arrived"), (ConnectionError(), "later")])
async def test_a_delivery_that_arrived_starts_the_next_to_its_payer(out, trouble, outcome):
    payer = out.connections.add(window_seconds=0)
    for _ in range(2):
        await out.submit(1)
        await out.create_batches()
    first, second = (batch.id for batch in await out.batches())
    payer.trouble, steps = trouble, Steps()
    assert await dispatch.deliver_batch(out.context, steps, first) == outcome
    expected = [("deliver", second)] if outcome == "arrived" else []
    assert list(steps.started.values()) == expected
