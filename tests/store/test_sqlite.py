"""SQLite only: durable settings, private files, one writer beside other processes.

Also tests `store/database/sqlite_connection` and `store/database/sqlite_writer`.
"""

import asyncio
import math
import os
import sqlite3
import stat
import sys
import threading

import pytest
from sqlalchemy import func, select

from clearlane.store.audit import audit
from clearlane.store.audit.anchor import Anchor
from clearlane.store.database import migrate, schema
from clearlane.store.database.database import (
    Actor,
    DatabaseUnavailable,
    OperationRefused,
    SystemScope,
)
from clearlane.store.database.sql import Statement
from clearlane.store.database.sqlite_connection import REQUIRED, connect, require_durable
from clearlane.store.database.sqlite_writer import run_synchronously
from clearlane.store.vault.vault import Vault
from tests.databases import ADD_VENDOR
from tests.patience import PATIENCE_SECONDS

ALL = SystemScope("a test")
OPERATOR = Actor("operator", "nora")
COUNT = Statement(select(func.count()).select_from(schema.vendors))
DURABLE = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


@pytest.fixture
async def place(new_place):
    return await new_place("sqlite")


def vendor(key):
    async def job(tx):
        row = await tx.row(
            ADD_VENDOR, vendor_key=key, name="x", state="active", proxy_login=0,
            rate_per_minute=None, created_at=1,
        )  # fmt: skip
        return row[0]

    return job


@pytest.mark.parametrize(
    ("name", "value"), [("journal_mode", "delete"), ("synchronous", 1), ("foreign_keys", 0)]
)
def test_a_setting_that_is_not_durable_is_refused_by_name(name, value):
    require_durable(DURABLE)
    with pytest.raises(OperationRefused, match=f"{name} is {value}"):
        require_durable(DURABLE | {name: value})


def test_every_required_setting_holds_on_a_new_connection(place):
    with connect(place.sqlite_file) as connection:
        for name, wanted, _ in REQUIRED:
            assert connection.execute(f"PRAGMA {name}").fetchone()[0] == wanted
    connection.close()


def test_a_database_that_cannot_be_durable_is_refused():
    with pytest.raises(OperationRefused, match="journal_mode is memory"):
        connect(":memory:")


async def test_a_file_that_is_no_database_is_refused_with_a_sentence(place):
    place.sqlite_file.write_bytes(b"not a database at all" * 100)
    with pytest.raises(OperationRefused, match="cannot be used as a database"):
        await place.open()


async def test_the_database_and_its_side_files_are_for_the_owner_alone(new_place):
    place = await new_place("sqlite", upgraded=False)
    old = os.umask(0)
    try:
        await migrate.upgrade(url="", sqlite_file=place.sqlite_file)
        database = await place.open()
        await database.write(ALL, vendor("a"), actor=OPERATOR)
        files = list(place.data.iterdir())
        assert {"clearlane.db", "clearlane.db-wal", "clearlane.db-shm", "master.key"} <= {
            file.name for file in files
        }
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        await database.close()
    finally:
        os.umask(old)


async def test_a_command_can_write_beside_a_busy_writer(place):
    database = await place.open()
    stop = False

    async def load(number):
        count = 0
        while not stop:
            await database.write(ALL, vendor(f"{number}-{count}"), actor=OPERATOR)
            count += 1

    loads = [asyncio.create_task(load(number)) for number in range(8)]
    await asyncio.sleep(0.1)
    other = await place.open()
    for number in range(5):
        await other.write(ALL, vendor(f"command-{number}"), actor=OPERATOR)
    assert not any(load.done() for load in loads)
    stop = True
    await asyncio.gather(*loads)
    await other.close()
    await database.close()


async def test_writes_wait_for_another_processs_transaction(place):
    database = await place.open()
    other = sqlite3.connect(place.sqlite_file, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.create_task(database.write(ALL, vendor("a"), actor=OPERATOR))
    given_up = asyncio.create_task(database.write(ALL, vendor("b"), actor=OPERATOR))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    given_up.cancel()  # while the lock is waited for, a write can be taken back
    with pytest.raises(asyncio.CancelledError):
        await given_up
    threading.Timer(0.05, lambda: other.execute("ROLLBACK")).start()
    assert await waiting == 1
    async with database.read(ALL) as tx:
        assert await tx.row(COUNT) == (1,)
    await database.close()
    other.close()


async def test_a_writer_knows_when_other_processes_write(place):
    database, other = await place.open(), await place.open()
    await database.write(ALL, vendor("own"), actor=OPERATOR)
    assert database.waits.seconds_alone == math.inf
    for number in range(5):
        await other.write(ALL, vendor(f"other-{number}"), actor=OPERATOR)
        await database.write(ALL, vendor(f"own-{number}"), actor=OPERATOR)
    assert database.waits.seconds_alone < math.inf
    await other.close()
    await database.close()


async def test_a_full_disk_fails_every_write_of_the_group_and_the_writer_goes_on(place):
    database = await place.open()
    await database.write(ALL, vendor("first"), actor=OPERATOR)

    async def fill(tx):
        # A page limit is the nearest thing to a full disk that a test can have.
        connection = tx._connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        await vendor("x" * 2_000_000)(tx)

    results = await asyncio.gather(
        database.write(ALL, vendor("beside"), actor=OPERATOR),
        database.write(ALL, fill, actor=OPERATOR),
        return_exceptions=True,
    )
    assert any(isinstance(each, DatabaseUnavailable) for each in results)

    async def heal(tx):
        tx._connection.execute("PRAGMA max_page_count = 1073741823")

    await database.write(ALL, heal, actor=OPERATOR)
    await database.write(ALL, vendor("after"), actor=OPERATOR)
    await database.close()


def test_a_coroutine_that_ignores_the_foreign_await_still_ends():
    async def stubborn():
        for _ in range(3):
            try:
                await asyncio.sleep(0)
            except Exception:
                continue
        return "done"

    assert run_synchronously(stubborn()) == "done"


WRITER = """
import asyncio, sys
from pathlib import Path
from clearlane.store.database.database import Actor, SystemScope
from tests.databases import ADD_VENDOR, Place

async def main():
    database = await Place("sqlite", "", Path(sys.argv[1])).open()
    async def one(number):
        count = 0
        while True:
            key = f"{number}-{count}"
            async def job(tx):
                await tx.run(ADD_VENDOR, vendor_key=key, name="x", state="active", proxy_login=0,
                             rate_per_minute=None, created_at=1)
                tx.audit("vendor.added", ids=[key])
            await database.write(SystemScope("a test"), job, actor=Actor("operator", "x"))
            sys.stdout.write(key + "\\n")
            sys.stdout.flush()
            count += 1
    await asyncio.gather(*(one(number) for number in range(8)))

asyncio.run(main())
"""


async def test_every_acknowledged_write_is_there_after_a_kill(place):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(place.data), stdout=asyncio.subprocess.PIPE
    )
    acknowledged = [(await process.stdout.readline()).decode().strip() for _ in range(200)]
    process.kill()
    acknowledged += (await process.communicate())[0].decode().split("\n")[:-1]
    assert len(acknowledged) >= 200
    database = await place.open()
    async with database.read(ALL) as tx:
        stored = {row[0] for row in await tx.rows(Statement(select(schema.vendors.c.vendor_key)))}
    assert set(acknowledged) <= stored

    vault = Vault(database, place.keys(), None)
    vault._month = lambda: "2024-03"
    await vault.load()
    anchor = Anchor(place.data / "audit.anchor", vault.audit_key)
    verified = await audit.verify(database, vault, anchor)
    assert (verified.fault, verified.rows) == ("", len(stored))
    await database.close()


async def test_readers_canceled_at_any_moment_return_their_connection(place):
    database = await place.open()

    async def reading():
        async with database.read(ALL) as tx:
            await tx.row(COUNT)

    for steps in range(40):
        task = asyncio.create_task(reading())
        for _ in range(steps % 20):
            await asyncio.sleep(0)
        await asyncio.to_thread(lambda: None)
        task.cancel()
        await asyncio.wait([task])
    async with asyncio.timeout(PATIENCE_SECONDS), database.read(ALL) as tx:
        assert await tx.row(COUNT) == (0,)
    await database.close()
