"""Signals of changed snapshots, between processes.

Also tests `store/database/postgresql_signal`.
"""

import asyncio
import time
from functools import partial

import pytest

from clearlane.store.database.change_signal import FileSignal
from clearlane.store.database.database import Actor, SystemScope
from clearlane.store.database.postgresql_connection import connect
from clearlane.store.database.postgresql_signal import ChannelSignal
from clearlane.store.database.schema import REVISIONS_CHANNEL
from clearlane.store.installation.nodes import bump_revision
from tests.patience import PATIENCE_SECONDS, until

NORA = Actor("operator", "nora")
SCOPE = SystemScope("a test")


async def signaled(signal, change):
    """Change something while a task waits; return whether the signal came before the time was over."""
    waiting = asyncio.create_task(signal.wait(PATIENCE_SECONDS))
    await asyncio.sleep(0.1)
    began = time.monotonic()
    await change()
    await waiting
    return time.monotonic() - began < PATIENCE_SECONDS / 2


@pytest.mark.slow
async def test_a_change_of_a_revision_is_signaled_to_other_processes(place, clock):
    ours, theirs = await place.open(clock), await place.open(clock, anchor="other")
    signal = ours.change_signal()

    async def change():
        await theirs.write(SCOPE, lambda tx: bump_revision(tx, "payers"), actor=NORA)

    try:
        await signal.wait(1)  # on PostgreSQL it connects first, and says so
        for _ in range(2):
            assert await signaled(signal, change)
    finally:
        await signal.close()
        await theirs.close()
        await ours.close()


async def test_without_a_change_the_time_passes(tmp_path):
    signal = FileSignal(tmp_path / "clearlane.db")
    began = time.monotonic()
    await signal.wait(0.6)
    assert time.monotonic() - began >= 0.5
    await signal.close()


@pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)
async def test_a_lost_connection_is_made_again(place, database):
    signal = ChannelSignal(partial(connect, place.url))
    await signal.wait(PATIENCE_SECONDS)
    first = signal._connection
    server = await place.raw()

    async def drop():
        await server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE query ILIKE 'LISTEN%{REVISIONS_CHANNEL}%' AND datname = current_database()"
        )

    async def change():
        await database.write(SCOPE, lambda tx: bump_revision(tx, "payers"), actor=NORA)

    assert await signaled(signal, drop)
    await until(first.is_closed)
    await signal.wait(PATIENCE_SECONDS)  # connects
    assert signal._connection is not first
    assert await signaled(signal, change)
    await signal.close()
    await server.close()


async def test_without_a_server_the_time_passes():
    signal = ChannelSignal(partial(connect, "postgresql://nobody@127.0.0.1:1/none"))
    began = time.monotonic()
    for _ in range(2):
        await signal.wait(0.05)
    # No busy loop of attempts. Timers of an event loop may be a little early.
    assert time.monotonic() - began >= 0.09
    assert signal._connection is None
    await signal.close()
