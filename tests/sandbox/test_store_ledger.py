"""The ledger and the clock of a sandbox as rows, on both databases and over two nodes.

Also tests `sandbox/payer_ledger`, `sandbox/simulator` and `store/installation/sandbox`.
"""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select

from clearlane.sandbox.clock import CALENDAR_DAY, decode_state
from clearlane.sandbox.simulator import Simulator
from clearlane.store.database.database import Actor, DatabaseUnavailable
from clearlane.store.database.schema import sandbox_agenda, sandbox_ledger
from clearlane.store.database.sql import Statement
from clearlane.store.installation.nodes import NodeRegistration
from clearlane.store.installation.sandbox import (
    NODE,
    REVISION,
    SCOPE,
    PayerLocks,
    StoredClock,
    StoredLedger,
)
from clearlane.store.vault.vault import Vault
from tests.connect.memory import MemoryLedger
from tests.databases import START
from tests.manual_clock import ManualClock

SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
WHO = Actor("vendor", "a test")


@pytest.fixture
async def vault(place, database, clock) -> Vault:
    found = Vault(database, place.keys(), clock)
    await found.load()
    return found


@pytest.fixture(params=["stored", "in memory"])
async def ledger(request, database, vault):
    return StoredLedger(database, vault) if request.param == "stored" else MemoryLedger()


@pytest.fixture
async def stored(database, vault) -> StoredLedger:
    return StoredLedger(database, vault)


async def test_what_is_written_is_found_under_its_key_and_payer_only(ledger):
    await ledger.put("Medical/TST01", {"a": b"one", "b": b""})
    assert await ledger.get("Medical/TST01", "a") == b"one"
    assert await ledger.get("Medical/TST01", "b") == b""
    assert await ledger.get("Dental/TST01", "a") is None
    assert await ledger.get("Medical/TST01", "c") is None


async def test_writing_replaces_and_nothing_deletes(ledger):
    await ledger.put("P", {"a": b"one", "b": b"two"})
    await ledger.put("P", {"a": b"three", "b": None, "never there": None})
    assert await ledger.get("P", "a") == b"three"
    assert await ledger.get("P", "b") is None


async def test_what_is_due_comes_earliest_first_and_no_more_than_asked_for(ledger):
    for key, seconds in (("z", 1), ("a", 3), ("m", 2), ("late", 9)):
        await ledger.plan("P", key, START + seconds * SECOND, key.encode())
    await ledger.plan("Q", "other", START, b"other")
    at_three = START + 3 * SECOND
    assert await ledger.due("P", at_three, 10) == [("z", b"z"), ("m", b"m"), ("a", b"a")]
    assert await ledger.due("P", at_three, 2) == [("z", b"z"), ("m", b"m")]
    assert await ledger.due("P", START, 10) == []


async def test_planning_the_same_key_again_replaces(ledger):
    await ledger.plan("P", "a", START, b"one")
    await ledger.plan("P", "a", START + DAY, b"two")
    assert await ledger.due("P", START, 10) == []
    assert await ledger.due("P", START + DAY, 10) == [("a", b"two")]


async def test_an_entry_of_the_agenda_is_read_written_over_and_deleted_by_its_key(ledger):
    await ledger.plan("P", "a", START, b"one")
    await ledger.plan("P", "b", START, b"two")
    assert await ledger.get("P", "a") == b"one"
    await ledger.put("P", {"a": None, "b": b"plain"})
    assert await ledger.due("P", START, 10) == []
    assert await ledger.get("P", "a") is None
    assert await ledger.get("P", "b") == b"plain"
    await ledger.plan("P", "b", START, b"again")
    assert await ledger.get("P", "b") == b"again"
    await ledger.put("P", {"b": None})
    assert await ledger.get("P", "b") is None


async def test_the_next_moment_is_found_over_all_payers(stored):
    assert await stored.next_due(START) is None
    await stored.plan("P", "a", START, b"")
    await stored.plan("Q", "b", START + 2 * SECOND, b"")
    await stored.plan("P", "c", START + SECOND, b"")
    assert await stored.next_due(START) == START + SECOND
    assert await stored.next_due(START + SECOND) == START + 2 * SECOND
    assert await stored.next_due(START + 2 * SECOND) is None


async def test_nothing_stands_in_the_tables_in_clear(database, stored):
    await stored.put("P", {"a": b"ROSA ARDEN " * 9})
    await stored.plan("P", "b", START, b"ROSA ARDEN " * 9)
    async with database.read(SCOPE) as tx:
        for table in (sandbox_ledger, sandbox_agenda):
            ((value,),) = await tx.rows(Statement(select(table.c.value)))
            assert b"ARDEN" not in bytes(value)


async def test_another_node_finds_what_was_written_and_who_was_sent_something(
    place, database, vault, stored, clock
):
    await stored.plan("Medical/TST01", "a", START, b"one")
    assert stored.payers == {"Medical/TST01"}
    vault_there = Vault(database, place.keys(), clock)
    await vault_there.load()
    there = StoredLedger(database, vault_there)
    assert there.payers == set()
    await there.load()
    assert there.payers == {"Medical/TST01"}
    assert await there.get("Medical/TST01", "a") == b"one"


# ---- locks ------------------------------------------------------------------------------------


async def beating(database, place, id: str) -> NodeRegistration:
    nodes = NodeRegistration(database, id=id, role="serve", heartbeat_seconds=30, keys=place.keys())
    await nodes.heartbeat()
    return nodes


async def test_one_task_at_a_time_has_the_lock_of_a_payer(database):
    locks, inside, most = PayerLocks(database, "here"), 0, 0

    async def work() -> None:
        nonlocal inside, most
        async with locks.exclusive("P"):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.001)
            inside -= 1

    await asyncio.gather(*(work() for _ in range(8)))
    assert most == 1
    async with locks.exclusive("P"), locks.exclusive("Q"):
        pass


@pytest.mark.parametrize("database_kind", ["postgresql"])
async def test_another_node_waits_for_a_living_one_and_not_for_a_dead_one(
    database, place, monkeypatch
):
    here, there = PayerLocks(database, "here"), PayerLocks(database, "there")
    alive = await beating(database, place, "here")
    monkeypatch.setattr("clearlane.store.installation.sandbox.SANDBOX_LOCK_SECONDS_MAX", 0.1)
    async with here.exclusive("P"):
        with pytest.raises(DatabaseUnavailable, match="another node"):
            async with there.exclusive("P"):
                pass
        async with there.exclusive("Q"):
            pass
        await alive.deregister()
        async with there.exclusive("P"):
            pass
    async with there.exclusive("P"):
        pass


# ---- the clock --------------------------------------------------------------------------------


def simulator(database, vault, wall) -> Simulator[Actor]:
    return Simulator(wall, StoredLedger(database, vault), StoredClock(database))


async def test_the_first_node_starts_the_time_and_all_others_take_it_over(database, vault):
    wall = ManualClock(START)
    first, second = simulator(database, vault, wall), simulator(database, vault, wall)
    await first.load(NODE)
    wall.advance(3 * SECOND)
    await second.load(NODE)
    assert second.clock.state == first.clock.state
    assert second.clock.calendar() - START == 1.5 * CALENDAR_DAY


async def test_changes_of_two_nodes_come_one_after_the_other(database, vault):
    wall = ManualClock(START)
    first, second = simulator(database, vault, wall), simulator(database, vault, wall)
    await first.load(NODE)
    await second.load(NODE)
    await asyncio.gather(*(one.advance(DAY, WHO) for one in (first, second) * 3))
    await first.freeze(WHO)
    await second.set_pace(5, WHO)
    await first.load(NODE)
    assert first.clock.state == second.clock.state
    assert first.clock.now() == START + 6 * DAY
    assert first.clock.state.frozen
    assert first.clock.state.day_seconds == 5
    await second.unfreeze(WHO)
    assert not second.clock.state.frozen


async def test_nodes_that_watch_the_revision_run_on_the_same_time(database, place, vault):
    wall = ManualClock(START)
    here, there = simulator(database, vault, wall), simulator(database, vault, wall)
    nodes = await beating(database, place, "there")
    await nodes.watch(REVISION, lambda: there.load(NODE))
    await nodes.heartbeat()
    await here.load(NODE)
    await here.advance(14 * DAY, WHO)
    shared = StoredClock(database)
    assert await shared.wait_until_loaded(0) == ["there"]
    assert await nodes.reload_changed() == [REVISION]
    assert await shared.wait_until_loaded(0) == []
    assert there.clock.now() == here.clock.now() == START + 14 * DAY


async def test_a_change_that_cannot_be_is_refused_and_nothing_is_kept(database, vault):
    one = simulator(database, vault, ManualClock(START))
    await one.load(NODE)
    with pytest.raises(ValueError, match="only be advanced"):
        await one.advance(-DAY, WHO)
    kept = await StoredClock(database).load()
    assert decode_state(kept).advanced == timedelta(0)
    assert one.clock.now() == START


async def test_the_time_to_the_next_response_can_be_advanced(database, vault):
    one = simulator(database, vault, ManualClock(START))
    await one.load(NODE)
    assert await one.time_to_next_response() is None
    ledger = StoredLedger(database, vault)
    await ledger.plan("P", "a", one.clock.calendar() + 14 * CALENDAR_DAY, b"")
    assert await one.time_to_next_response() == 14 * DAY
    await one.advance(14 * DAY, WHO)
    assert await one.time_to_next_response() is None
