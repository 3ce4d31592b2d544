"""Batches in the database: numbers, what is taken together, what is found, and what a restore may not trust."""

import asyncio
import contextlib
import sqlite3
from dataclasses import replace

import pytest

from clearlane.kernel import limits
from clearlane.store import batches as store
from clearlane.store import schema
from clearlane.store.backup import Restore, write_backup
from clearlane.store.batches import DELIVERED, FIXED, IN_DOUBT, SENDING, Pile, Taken, Written
from clearlane.store.database import Actor, Conflict
from clearlane.store.route_health import Lane, all_lanes, lock_lane, set_lane
from clearlane.store.sql import Statement, insertion
from clearlane.store.vault import Vault
from tests.databases import make_site
from tests.store.test_database import a_claim

OPERATOR = Actor("operator", "nora")
LANE = ("Medical", "MM001")
ADD = Statement(insertion(schema.claims, *a_claim(""), "waits"))


def written(control, content=b"sealed"):
    return Written(
        route_id=1, control=control, name=f"CL-837P-{control:09}.x12", digest="0" * 64, bytes=6,
        content=content,
    )  # fmt: skip


async def add_claims(database, *ids, **own):
    """Claims that wait."""
    scope = await make_site(database)
    rows = [a_claim(id) | {"payer_id": "MM001", "waits": 1} | own for id in ids]
    await database.write(scope, lambda tx: tx.many(ADD, rows), actor=OPERATOR)
    return scope


async def write(database, job):
    return await database.write(store.SCOPE, job, actor=OPERATOR)


async def read(database, ask):
    async with database.read(store.SCOPE) as tx:
        return await ask(tx)


def fixing(control, *ids, **own):
    return lambda tx: store.fix(tx, written(control), lane=LANE, members=ids, now=7, **own)


async def waiting(database, **how):
    found = await read(
        database, lambda tx: store.waiting(tx, "MM001", "medical", after="", most=99, **how)
    )
    return [one.request_id for one in found]


async def test_numbers_count_up_and_can_jump(database):
    assert await read(database, store.given_control) == 0
    assert [await write(database, store.next_control) for _ in range(3)] == [1, 2, 3]
    assert await write(database, lambda tx: store.next_control(tx, skip=10)) == 14
    assert await read(database, store.given_control) == 14


async def test_a_number_of_a_batch_is_never_used_twice(database):
    await add_claims(database, "r1", "r2")
    await write(database, fixing(1, "r1"))
    with pytest.raises(Conflict, match=r"batches.control"):
        await write(database, fixing(1, "r2"))
    assert await waiting(database) == ["r2"]


async def test_piles_tell_how_many_wait_for_whom_and_since_when(database):
    await add_claims(database, "r1", "r2", created_at=5)
    await add_claims(database, "r3", created_at=4, payer_id="HH001", kind="dental")
    await add_claims(database, "r4", waits=0)
    assert await read(database, store.piles) == [
        Pile("HH001", "dental", 1, 4),
        Pile("MM001", "medical", 2, 5),
    ]


async def test_pages_go_on_where_the_last_one_ended(database):
    await add_claims(database, "r1", "r2", "r3")
    pages = [
        await read(
            database,
            lambda tx: store.waiting(tx, "MM001", "medical", after=after, most=2),
        )
        for after in ("", "r2", "r3")
    ]
    assert [[one.request_id for one in page] for page in pages] == [["r1", "r2"], ["r3"], []]


async def test_a_batch_takes_its_claims_with_it_whole_or_not_at_all(database):
    scope = await add_claims(database, "r1", "r2", "r3")
    id = await write(database, fixing(1, "r1", "r2"))
    with pytest.raises(Taken):
        await write(database, fixing(2, "r2", "r3"))
    assert await waiting(database) == ["r3"]
    members = await read(database, lambda tx: store.members(tx, id))
    assert [(one.request_id, one.vendor_id, one.attempt) for one in members] == [
        ("r1", scope.vendor, 1),
        ("r2", scope.vendor, 1),
    ]
    [batch] = await read(database, store.undelivered)
    assert (batch.id, batch.state, batch.claims, batch.lane) == (id, FIXED, 2, LANE)
    assert await read(database, lambda tx: store.by_control(tx, 1)) == batch
    assert await read(database, lambda tx: store.by_control(tx, 2)) is None


async def test_of_many_who_take_the_same_claims_one_gets_them(database):
    ids = [f"r{n:02}" for n in range(20)]
    await add_claims(database, *ids)
    done = await asyncio.gather(
        *(write(database, fixing(n, *ids)) for n in range(1, 9)), return_exceptions=True
    )
    assert [isinstance(one, Taken) for one in done].count(False) == 1
    assert len(await read(database, store.undelivered)) == 1


async def test_what_is_delivered_is_found_only_among_all(database):
    await add_claims(database, "r1", "r2")
    first = await write(database, fixing(1, "r1"))
    second = await write(database, fixing(2, "r2"))
    await write(
        database, lambda tx: store.move(tx, first, DELIVERED, next_at=1, attempts=1, delivered_at=9)
    )
    assert [one.id for one in await read(database, store.undelivered)] == [second]
    newest = await read(database, lambda tx: store.newest(tx, 5))
    assert [(one.id, one.delivered_at) for one in newest] == [(second, None), (first, 9)]


async def test_a_lane_is_made_when_it_is_first_held(database):
    assert await read(database, all_lanes) == {}
    lane = await write(database, lambda tx: lock_lane(tx, LANE))
    assert lane == Lane("MM001", "Medical")
    told = replace(lane, failures=2, open_until=5, fault="Away.", route_id=3, since=4)
    await write(database, lambda tx: set_lane(tx, told))
    assert await read(database, all_lanes) == {LANE: told}


async def test_the_content_is_sealed_for_the_file_it_is(place, database, clock):
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    await vault.ready(store.OWNER)
    await add_claims(database, "r1")
    sealed = vault.seal(store.OWNER, store.TABLE, written(1).name, b"ISA*ROSA")
    id = await write(
        database,
        lambda tx: store.fix(tx, written(1, sealed), lane=LANE, members=["r1"], now=7),
    )
    batch = await read(database, lambda tx: store.find(tx, id))
    assert await read(database, lambda tx: store.content(tx, vault, batch)) == b"ISA*ROSA"
    assert b"ROSA" not in sealed


@pytest.mark.parametrize(
    "statement", [store._PILES, store._PAGE, store._HELD_PILES, store._UNDELIVERED]
)
async def test_looking_for_work_reads_only_what_waits(new_place, statement):
    """A tick looks every other second, however much is stored."""
    place = await new_place("sqlite")
    compiled = statement.on("sqlite")
    with contextlib.closing(sqlite3.connect(place.sqlite_file)) as raw:
        explained = f"EXPLAIN QUERY PLAN {compiled.text}"
        plan = [row[3] for row in raw.execute(explained, [0] * len(compiled.order))]
    assert any("ix_claims_waiting" in step or "ix_batches_open" in step for step in plan)
    assert not any(step in {"SCAN claims", "SCAN batches"} for step in plan)


async def test_a_restore_trusts_nothing_that_was_to_go_out(new_place, clock):
    place = await new_place("sqlite")
    database = await place.open(clock)
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    await add_claims(database, "r1", "r2", "r3", "r4")
    for control, id in enumerate(("r1", "r2", "r3"), 1):
        await write(database, store.next_control)
        await write(database, fixing(control, id))
    await write(database, lambda tx: store.move(tx, 1, DELIVERED, next_at=1, attempts=1))
    await write(
        database, lambda tx: store.move(tx, 2, SENDING, next_at=1, attempts=1, holder="node")
    )
    archive = place.data / "a.backup"
    await write_backup(
        database, vault, file=place.sqlite_file, target=archive, clock=clock, actor=OPERATOR
    )
    for _ in range(40):  # numbers given since
        await write(database, store.next_control)
    done = await Restore(
        archive=archive, file=place.sqlite_file, anchor=place.data / "audit.anchor",
        keys=place.keys(), clock=clock, actor=OPERATOR,
    ).run()  # fmt: skip
    assert done.doubtful == (2, 1)
    newest = await read(database, lambda tx: store.newest(tx, 9))
    assert [(one.id, one.state, one.holder) for one in newest] == [
        (3, IN_DOUBT, ""),
        (2, IN_DOUBT, ""),
        (1, DELIVERED, ""),
    ]
    assert await waiting(database) == []
    assert await waiting(database, held=True) == ["r4"]
    assert await write(database, store.next_control) > 43 + limits.CONTROL_NUMBERS_SKIPPED
    await write(database, fixing(99, "r4", held=True))
    [*_, held] = await read(database, store.undelivered)
    assert (held.state, held.fault) == (IN_DOUBT, store.RESTORED)
    await database.close()


async def test_a_restore_of_a_quiet_installation_leaves_nothing_in_doubt(database):
    assert await write(database, store.distrust) == (0, 0)
