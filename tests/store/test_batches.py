"""Batches in the database: members, lookup, leases, and what is in doubt after a restore.

Also tests `store/claims/claim_queue` and `store/delivery/control_numbers`.
"""

import asyncio
import contextlib
import sqlite3
from dataclasses import replace

import pytest

from clearlane.claims.batch_lifecycle import (
    NEXT,
    BatchEvent,
    BatchEventNotAllowed,
    BatchState,
)
from clearlane.store.claims import claim_queue
from clearlane.store.claims.claim_queue import PayerQueue, list_payer_queues, list_queued_claims
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, ConstraintViolation, MissingRow
from clearlane.store.database.sql import scoped_insert
from clearlane.store.delivery import batches, route_traffic
from clearlane.store.delivery.batches import BatchFile, ClaimAlreadyBatched
from clearlane.store.delivery.control_numbers import (
    CONTROL_NUMBERS_SKIPPED,
    last_control_number,
    next_control_number,
)
from clearlane.store.delivery.file_query import FileQuery, find_batches
from clearlane.store.delivery.route_health import (
    RouteHealth,
    all_route_health,
    lock_route_health,
    set_route_health,
)
from clearlane.store.installation.backup import Restore, write_backup
from clearlane.store.vault.vault import Vault
from tests.databases import make_site
from tests.store.test_database import a_claim

OPERATOR = Actor("operator", "nora")
DESTINATION = ("Medical", "MM001")
ADD = scoped_insert(schema.claims, *a_claim(""), "queued")


def a_file(control, content=b"sealed"):
    return BatchFile(
        route_id=1, control=control, name=f"CL-837P-{control:09}.x12", digest="0" * 64, bytes=6,
        content=content,
    )  # fmt: skip


async def add_claims(database, *ids, **own):
    """Add claims that wait for a batch."""
    scope = await make_site(database)
    rows = [a_claim(id) | {"payer_id": "MM001", "queued": 1} | own for id in ids]
    await database.write(scope, lambda tx: tx.many(ADD, rows), actor=OPERATOR)
    return scope


async def write(database, job):
    return await database.write(batches.SCOPE, job, actor=OPERATOR)


async def read(database, ask):
    async with database.read(batches.SCOPE) as tx:
        return await ask(tx)


async def find(database, id):
    return await read(database, lambda tx: batches.find(tx, id))


async def apply(database, id, event, **values):
    batch = await find(database, id)
    await write(database, lambda tx: batches.apply_event(tx, batch, event, **values))


async def begin(database, id, holder, lease_until):
    batch = await find(database, id)
    await write(
        database,
        lambda tx: batches.begin_attempt(tx, batch, holder=holder, lease_until=lease_until),
    )


def creating(control, *ids, **own):
    return lambda tx: batches.create(
        tx, a_file(control), destination=DESTINATION, kind="medical", members=ids, now=7, **own
    )


async def queued_claims(database, **how):
    found = await read(
        database,
        lambda tx: list_queued_claims(tx, "MM001", "medical", after="", limit=99, **how),
    )
    return [one.claim_number for one in found]


async def test_control_numbers_count_up_and_can_skip(database):
    assert await read(database, last_control_number) == 0
    assert [await write(database, next_control_number) for _ in range(3)] == [1, 2, 3]
    assert await write(database, lambda tx: next_control_number(tx, skip=10)) == 14
    assert await read(database, last_control_number) == 14


async def test_a_control_number_is_never_used_twice(database):
    await add_claims(database, "r1", "r2")
    await write(database, creating(1, "r1"))
    with pytest.raises(ConstraintViolation, match=r"batches.control"):
        await write(database, creating(1, "r2"))
    assert await queued_claims(database) == ["r2"]


async def test_payer_queues_count_waiting_claims_and_know_the_oldest(database):
    await add_claims(database, "r1", "r2", created_at=5)
    await add_claims(database, "r3", created_at=4, payer_id="HH001", kind="dental")
    await add_claims(database, "r4", queued=0)
    assert await read(database, list_payer_queues) == [
        PayerQueue("HH001", "dental", 1, 4),
        PayerQueue("MM001", "medical", 2, 5),
    ]


async def test_pages_of_queued_claims_continue_where_the_last_one_ended(database):
    await add_claims(database, "r1", "r2", "r3")
    pages = [
        await read(
            database,
            lambda tx: list_queued_claims(tx, "MM001", "medical", after=after, limit=2),
        )
        for after in ("", "r2", "r3")
    ]
    assert [[one.claim_number for one in page] for page in pages] == [["r1", "r2"], ["r3"], []]


async def test_a_batch_takes_all_of_its_claims_or_is_not_stored(database):
    scope = await add_claims(database, "r1", "r2", "r3")
    id = await write(database, creating(1, "r1", "r2"))
    with pytest.raises(ClaimAlreadyBatched):
        await write(database, creating(2, "r2", "r3"))
    assert await queued_claims(database) == ["r3"]
    members = await read(database, lambda tx: batches.list_members(tx, id))
    assert [(one.claim_number, one.vendor_id, one.attempt) for one in members] == [
        ("r1", scope.vendor, 1),
        ("r2", scope.vendor, 1),
    ]
    [batch] = await read(database, batches.list_undelivered)
    assert (batch.id, batch.state, batch.claims, batch.destination) == (
        id,
        BatchState.READY,
        2,
        DESTINATION,
    )
    assert await read(database, lambda tx: batches.find_by_control(tx, 1)) == batch
    assert await read(database, lambda tx: batches.find_by_control(tx, 2)) is None


async def test_of_concurrent_batches_of_the_same_claims_one_is_stored(database):
    ids = [f"r{n:02}" for n in range(20)]
    await add_claims(database, *ids)
    done = await asyncio.gather(
        *(write(database, creating(n, *ids)) for n in range(1, 9)), return_exceptions=True
    )
    assert [isinstance(one, ClaimAlreadyBatched) for one in done].count(False) == 1
    assert len(await read(database, batches.list_undelivered)) == 1


async def test_delivered_batches_are_listed_only_among_all(database):
    await add_claims(database, "r1", "r2")
    first = await write(database, creating(1, "r1"))
    second = await write(database, creating(2, "r2"))
    await apply(database, first, BatchEvent.DELIVERED, delivered_at=9)
    assert [one.id for one in await read(database, batches.list_undelivered)] == [second]
    newest = await read(database, lambda tx: find_batches(tx, FileQuery(limit=5)))
    assert [(one.id, one.delivered_at) for one in newest] == [(second, None), (first, 9)]


async def test_batches_are_listed_by_filters_and_page_by_page(database):
    await add_claims(database, "r1", "r2")
    first = await write(database, creating(1, "r1"))
    second = await write(database, creating(2, "r2"))
    await apply(database, first, BatchEvent.DELIVERED, delivered_at=9)
    type, payer = DESTINATION

    async def found(**query):
        rows = await read(database, lambda tx: find_batches(tx, FileQuery(limit=5, **query)))
        return [one.id for one in rows]

    assert await found(where={"payer": payer, "type": type}) == [second, first]
    assert await found(where={"payer": "OTHER"}) == []
    assert await found(where={"state": BatchState.DELIVERED, "payer": None}) == [first]
    assert await found(
        where={"state": [BatchState.DELIVERED, BatchState.READY]}, before=second
    ) == [first]


async def test_a_batch_is_due_after_its_pause_and_after_the_lease_of_its_holder(database):
    await add_claims(database, "r1")
    id = await write(database, creating(1, "r1"))

    async def due():
        batch = await find(database, id)
        return batch.due_at, batch.is_being_sent(20), batch.attempts

    await apply(database, id, BatchEvent.RESENT, not_before=10)
    assert await due() == (10, False, 0)
    await begin(database, id, "w", lease_until=25)
    assert await due() == (25, True, 1)
    await begin(database, id, "w", lease_until=20)  # it continues: no second attempt
    assert await due() == (20, False, 1)
    await begin(database, id, "v", lease_until=21)
    assert await due() == (21, True, 2)
    await apply(database, id, BatchEvent.MAY_HAVE_ARRIVED, not_before=40)
    assert await due() == (40, False, 2)
    assert (await find(database, id)).lease_until is None


PATHS = {
    BatchState.READY: [],
    BatchState.SENDING: [BatchEvent.ATTEMPTED],
    BatchState.IN_DOUBT: [BatchEvent.ATTEMPTED, BatchEvent.CANNOT_BE_KNOWN],
    BatchState.DELIVERED: [BatchEvent.ATTEMPTED, BatchEvent.DELIVERED],
}


async def test_a_batch_moves_by_the_table_and_stays_where_the_table_has_no_row(database):
    pairs = [(state, event) for state in BatchState for event in BatchEvent]
    await add_claims(database, *(f"r{number:02}" for number in range(len(pairs))))
    for number, (state, event) in enumerate(pairs):
        id = await write(database, creating(number + 1, f"r{number:02}"))
        for one in PATHS[state]:
            await apply(database, id, one)
        before = await find(database, id)
        assert before.state is state
        if (state, event) in NEXT:
            await apply(database, id, event, fault="Away.")
            after = await find(database, id)
            assert (after.state, after.fault) == (NEXT[state, event], "Away.")
        else:
            with pytest.raises(BatchEventNotAllowed, match=event.name):
                await apply(database, id, event, fault="Away.")
            assert await find(database, id) == before


@pytest.mark.parametrize("state", [state for state in BatchState if state is not BatchState.READY])
async def test_a_file_that_may_have_been_sent_is_not_replaced(new_place, clock, state):
    database = await (await new_place("sqlite")).open(clock)
    await add_claims(database, "r1")
    id = await write(database, creating(1, "r1"))
    for one in PATHS[state]:
        await apply(database, id, one)
    before = await find(database, id)
    with pytest.raises(BatchEventNotAllowed):
        await write(database, lambda tx: batches.replace_file(tx, before, a_file(2)))
    assert await find(database, id) == before
    await database.close()


async def test_a_batch_that_moved_since_it_was_read_does_not_move_again(database):
    await add_claims(database, "r1")
    id = await write(database, creating(1, "r1"))
    read_before = await find(database, id)
    await apply(database, id, BatchEvent.DELIVERED, delivered_at=9)
    with pytest.raises(BatchEventNotAllowed):
        await write(
            database,
            lambda tx: batches.begin_attempt(tx, read_before, holder="w", lease_until=90),
        )
    assert (await find(database, id)).state is BatchState.DELIVERED


async def test_a_retry_leaves_the_lease_of_a_holder_alone(database):
    await add_claims(database, "r1", "r2")
    waits, sent = [await write(database, creating(n, f"r{n}")) for n in (1, 2)]
    await apply(database, waits, BatchEvent.RESENT, not_before=90)
    await begin(database, sent, "w", lease_until=90)
    await write(database, lambda tx: batches.retry_now(tx, DESTINATION, 50))
    found = await read(database, batches.list_undelivered)
    assert [(one.not_before, one.lease_until) for one in found] == [(50, None), (7, 90)]


async def test_route_health_is_created_when_it_is_first_locked(database):
    assert await read(database, all_route_health) == {}
    health = await write(database, lambda tx: lock_route_health(tx, DESTINATION))
    assert health == RouteHealth("MM001", "Medical")
    changed = replace(
        health, failures=2, paused_until=5, fault="Away.", fallback_route_id=3, fallback_since=4
    )
    await write(database, lambda tx: set_route_health(tx, changed))
    assert await read(database, all_route_health) == {DESTINATION: changed}


async def test_the_content_is_sealed_for_its_file(place, database, clock):
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    await vault.ensure_key(batches.OWNER)
    await add_claims(database, "r1")
    sealed = vault.seal(batches.OWNER, batches.TABLE, a_file(1).name, b"ISA*ROSA")
    id = await write(
        database,
        lambda tx: batches.create(
            tx, a_file(1, sealed), destination=DESTINATION, kind="medical", members=["r1"], now=7
        ),
    )
    batch = await read(database, lambda tx: batches.find(tx, id))
    assert await read(database, lambda tx: batches.read_content(tx, vault, batch)) == b"ISA*ROSA"
    assert b"ROSA" not in sealed


async def test_the_content_of_a_batch_that_is_not_there_is_a_fault(place, database, clock):
    vault = Vault(database, place.keys(), clock)
    await add_claims(database, "r1")
    batch = await find(database, await write(database, creating(1, "r1")))
    with pytest.raises(MissingRow, match="the content of a batch"):
        await read(database, lambda tx: batches.read_content(tx, vault, replace(batch, id=99)))


@pytest.mark.parametrize(
    "statement",
    [
        claim_queue._QUEUES,
        claim_queue._PAGE,
        claim_queue._QUEUES_IN_DOUBT,
        batches._UNDELIVERED,
        route_traffic._QUEUED,
    ],
)
async def test_looking_for_work_uses_the_partial_indexes(new_place, statement):
    """It runs every other second, or whenever somebody opens Connections, however much is stored."""
    place = await new_place("sqlite")
    compiled = statement.compiled_for("sqlite")
    with contextlib.closing(sqlite3.connect(place.sqlite_file)) as raw:
        explained = f"EXPLAIN QUERY PLAN {compiled.text}"
        plan = [row[3] for row in raw.execute(explained, [0] * len(compiled.parameter_order))]
    assert any("ix_claims_queued" in step or "ix_batches_open" in step for step in plan)
    assert not any(step in {"SCAN claims", "SCAN batches"} for step in plan)


async def test_everything_unsent_is_in_doubt_after_a_restore(new_place, clock):
    place = await new_place("sqlite")
    database = await place.open(clock)
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    await add_claims(database, "r1", "r2", "r3", "r4")
    for control, id in enumerate(("r1", "r2", "r3"), 1):
        await write(database, next_control_number)
        await write(database, creating(control, id))
    await apply(database, 1, BatchEvent.DELIVERED, delivered_at=9)
    await begin(database, 2, "node", lease_until=90)
    archive = place.data / "a.backup"
    await write_backup(
        database, vault, file=place.sqlite_file, target=archive, clock=clock, actor=OPERATOR
    )
    for _ in range(40):  # numbers used since
        await write(database, next_control_number)
    done = await Restore(
        archive=archive, file=place.sqlite_file, anchor=place.data / "audit.anchor",
        keys=place.keys(), clock=clock, actor=OPERATOR,
    ).run()  # fmt: skip
    assert done.in_doubt == (2, 1)
    newest = await read(database, lambda tx: find_batches(tx, FileQuery(limit=9)))
    assert [(one.id, one.state, one.holder, one.lease_until) for one in newest] == [
        (3, BatchState.IN_DOUBT, "", None),
        (2, BatchState.IN_DOUBT, "", None),
        (1, BatchState.DELIVERED, "", None),
    ]
    assert await queued_claims(database) == []
    assert await queued_claims(database, in_doubt=True) == ["r4"]
    assert await write(database, next_control_number) > 43 + CONTROL_NUMBERS_SKIPPED
    await write(database, creating(99, "r4", in_doubt=True))
    [*_, last] = await read(database, batches.list_undelivered)
    assert (last.state, last.fault) == (BatchState.IN_DOUBT, batches.RESTORED)
    await database.close()


async def test_a_restore_of_a_quiet_installation_leaves_nothing_in_doubt(database):
    assert await write(database, batches.mark_in_doubt_after_restore) == (0, 0)
