"""Nodes learn of changes through the database, and commands wait until they have."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import bindparam, update

from clearlane.kernel.clock import SystemClock
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, SystemScope
from clearlane.store.database.sql import Statement, database_now
from clearlane.store.installation.nodes import (
    NodeRegistration,
    bump_revision,
    live_nodes,
    wait_until_loaded,
)
from tests.manual_clock import ManualClock
from tests.patience import PATIENCE_SECONDS

OPERATOR = Actor("operator", "nora")
ALL = SystemScope("a test")
SILENCE = Statement(
    update(schema.nodes)
    .where(schema.nodes.c.id == bindparam("id"))
    .values(seen_at=database_now() - 4 * 60 * 1_000_000)
)


def node(database, place, id="n1"):
    return NodeRegistration(database, id=id, role="serve", heartbeat_seconds=60, keys=place.keys())


async def bumped(database, name):
    return await database.write(ALL, lambda tx: bump_revision(tx, name), actor=OPERATOR)


async def names(database):
    async with database.read(ALL) as tx:
        return [found.id for found in await live_nodes(tx)]


async def test_a_revision_counts_up_by_one_in_the_transaction_that_bumps_it(database):
    assert [await bumped(database, "payers") for _ in range(3)] == [1, 2, 3]
    assert await bumped(database, "accounts") == 1


async def test_a_bump_that_is_rolled_back_moves_nothing(database):
    async def failing(tx):
        await bump_revision(tx, "payers")
        raise LookupError

    with pytest.raises(LookupError):
        await database.write(ALL, failing, actor=OPERATOR)
    assert await bumped(database, "payers") == 1


async def test_a_node_reloads_changed_snapshots_only(database, place):
    loads = []

    async def load_accounts():
        loads.append("accounts")

    async def load_payers():
        loads.append("payers")

    one = node(database, place)
    await one.watch("accounts", load_accounts)
    await one.watch("payers", load_payers)
    assert loads == ["accounts", "payers"]
    assert await one.reload_changed() == []
    await bumped(database, "payers")
    assert await one.reload_changed() == ["payers"]
    assert await one.reload_changed() == []
    assert loads == ["accounts", "payers", "payers"]


async def test_a_command_waits_until_every_live_node_has_loaded_its_change(database, place):
    async def load():
        pass

    one, two = node(database, place), node(database, place, "n2")
    for each in (one, two):
        await each.watch("accounts", load)
        await each.heartbeat()
    revision = await bumped(database, "accounts")
    await one.reload_changed()
    assert await wait_until_loaded(database, "accounts", revision, 0.05) == ["n2"]
    waiting = asyncio.create_task(
        wait_until_loaded(database, "accounts", revision, PATIENCE_SECONDS)
    )
    await asyncio.sleep(0.02)
    assert not waiting.done()
    await two.reload_changed()
    assert await waiting == []


async def test_a_node_that_does_not_load_the_snapshot_is_not_waited_for(database, place):
    await node(database, place).heartbeat()
    assert await wait_until_loaded(database, "accounts", 7, 0) == []


async def test_a_silent_node_is_not_waited_for_until_its_next_heartbeat(database, place):
    async def load():
        pass

    one = node(database, place)
    await one.watch("accounts", load)
    await one.heartbeat()
    assert await names(database) == ["n1"]
    await database.write(ALL, lambda tx: tx.run(SILENCE, id="n1"), actor=OPERATOR)
    assert await names(database) == []
    assert await wait_until_loaded(database, "accounts", 9, 0) == []
    await one.heartbeat()
    assert await names(database) == ["n1"]


async def test_the_clock_of_a_node_is_compared_with_the_databases(database, place):
    for id, hours in (("right", 0), ("ahead", 2), ("behind", -3)):
        clock = ManualClock(SystemClock().now() + timedelta(hours=hours))
        registered = NodeRegistration(
            database, id=id, role="serve", heartbeat_seconds=60, keys=place.keys(), clock=clock
        )
        await registered.heartbeat()
    async with database.read(ALL) as tx:
        found = {each.id: each.clock_warning for each in await live_nodes(tx)}
    assert not found["right"]
    assert "ahead of the database's" in found["ahead"]
    assert "behind the database's" in found["behind"]


async def test_a_node_that_stops_deletes_its_row(database, place):
    one = node(database, place)
    await one.heartbeat()
    await one.deregister()
    assert await names(database) == []


async def test_a_change_during_the_first_load_is_loaded_again(database, place):
    loads = []

    async def load():
        loads.append(1)
        if len(loads) == 1:
            await bumped(database, "accounts")

    one = node(database, place)
    await one.watch("accounts", load)
    assert await one.reload_changed() == ["accounts"]
