"""A database that was set back: nothing goes out twice, and no control number is used again.

Also tests `engine/database_age`.
"""

import asyncio
import contextlib
import secrets
import shutil
import sqlite3
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import select

from clearlane.api.http.server import listen
from clearlane.api.operations.operations_server import serve_operations
from clearlane.claims.batch_lifecycle import BatchState
from clearlane.engine.engine_storage import engine_database_url, upgrade_engine_tables
from clearlane.kernel.clock import SystemClock
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.routes import Route, RouteKind, RouteSecrets
from clearlane.pipeline.operator.batch_admin import export_undelivered
from clearlane.settings import Settings
from clearlane.store.audit.anchor import AnchorVerdict
from clearlane.store.audit.set_back import check_database_age, confirm_anchor, describe_set_back
from clearlane.store.database.database import Actor, OperationRefused
from clearlane.store.database.schema import audit
from clearlane.store.database.sql import Statement
from clearlane.store.delivery import batches
from clearlane.store.delivery.routes import add_route
from clearlane.wiring import open_installation
from tests.api.local_server import TWO_VENDORS
from tests.databases import MADE, _on_server, _with_database
from tests.patience import until
from tests.pipeline.outbound import MEADOW, control_of, numbers_in, outbound

NORA = Actor("operator", "nora")
ACTIONS = Statement(select(audit.c.action).order_by(audit.c.seq))


async def older_copy(place):
    """Copy the closed database, as a file copy or a snapshot does; return a function that puts the copy back."""
    if place.kind == "postgresql":
        name, mark = urlsplit(place.url).path[1:], secrets.token_hex(4)
        server = _with_database(place.url, "postgres")
        # The connection that empties the database after each test is open.
        await _on_server(
            server,
            f"SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE datname = '{name}'",
        )
        await _on_server(server, f"CREATE DATABASE {name}_{mark} TEMPLATE {name}")
        MADE.append(f"{name}_{mark}")
        return lambda: replace(place, url=_with_database(place.url, f"{name}_{mark}"))
    kept = place.data / "copy.db"
    with (
        contextlib.closing(sqlite3.connect(place.sqlite_file)) as source,
        contextlib.closing(sqlite3.connect(kept)) as copy,
    ):
        source.backup(copy)

    def put_back():
        for suffix in ("-wal", "-shm"):
            place.sqlite_file.with_name(place.sqlite_file.name + suffix).unlink(missing_ok=True)
        shutil.copy(kept, place.sqlite_file)
        return place

    return put_back


def settings_of(place, **more):
    given = {
        "mode": "production",
        "data": place.data,
        "database_url": place.url,
        "heartbeat_seconds": 1,
    }
    return Settings(**given | more)


async def prepare(place, claims, site=None):
    """Accepted claims that wait, and a route to a folder; return the site and the folder."""
    out_dir, in_dir = place.data / "out", place.data / "in"
    async with outbound(place, SystemClock(), node="prepare", site=site) as out:
        ids = await out.submit(claims)
        if site is None:
            for folder in (out_dir, in_dir):
                folder.mkdir()
            options = {
                "sender_id": "CLEARLANE",
                "receiver_id": MEADOW,
                "outbox": str(out_dir),
                "inbox": str(in_dir),
            }
            route = Route(
                payer_id=MEADOW,
                type="Medical",
                kind=RouteKind.FOLDER,
                options=options | {"window_seconds": 0},
            )
            await add_route(
                out.context.database,
                out.context.vault,
                route,
                RouteSecrets(),
                now=out.clock.now(),
                actor=NORA,
            )
        return out.site, out_dir, ids


async def only_doubts(database):
    async with database.read(batches.SCOPE) as tx:
        found = await batches.list_undelivered(tx)
    return {batch.state for batch in found} == {BatchState.IN_DOUBT}


@contextlib.asynccontextmanager
async def node(place, **more):
    if not (place.data / "master.key").exists():
        place.keys().wrapping_key()
    await asyncio.to_thread(upgrade_engine_tables, engine_database_url(place.data, place.url))
    async with open_installation(settings_of(place, **more), role="worker") as installation:
        yield installation


async def ask_readyz(database):
    """What `/readyz` of a node on this database answers over HTTP."""
    parts = SimpleNamespace(
        database=database, accounts=TWO_VENDORS, payers=PayerDirectory([], sandbox=False)
    )
    listener = listen("127.0.0.1", 0, "test")
    async with serve_operations(parts, listener), httpx.AsyncClient() as operator:
        answer = await operator.get(f"http://127.0.0.1:{listener.getsockname()[1]}/readyz")
        return answer.status_code, answer.json()


@pytest.mark.slow
async def test_an_older_copy_of_the_database_sends_nothing_twice(place):
    site, folder, _ = await prepare(place, 5)
    put_back = await older_copy(place)  # before anything was sent, and before the first start
    async with node(place):
        await until(lambda: [*folder.glob("*.x12")])
    [sent] = folder.glob("*.x12")
    first = control_of(sent.read_bytes())
    place = put_back()
    async with node(place) as installation:
        assert installation.set_back.claims == 5
        assert "older than it was" in installation.set_back.sentence
        _, _, more = await prepare(place, 2, site)
        await until(lambda: len([*folder.glob("*.x12")]) == 2)
        await until(lambda: only_doubts(installation.database))
    [again] = set(folder.glob("*.x12")) - {sent}
    assert sorted(numbers_in(again.read_bytes())) == more  # none of the five, and all that is new
    assert control_of(again.read_bytes()) > first + 1_000_000
    async with node(place) as installation:  # known from here on
        assert installation.set_back is None


async def test_a_node_whose_database_is_set_back_below_it_sends_nothing_and_is_not_ready(place):
    async with outbound(place, SystemClock()) as out:
        await confirm_anchor(
            out.context.database, clock=SystemClock(), actor=NORA, may_start_over=False
        )
    put_back = await older_copy(place)
    site, _, _ = await prepare(place, 1)
    # The anchor of the node is ahead of the copy.
    async with outbound(place, SystemClock(), site=site) as out:
        await confirm_anchor(
            out.context.database, clock=SystemClock(), actor=NORA, may_start_over=False
        )
    place = put_back()
    async with outbound(place, SystemClock()) as out:
        payer = out.connections.add(window_seconds=0)
        await out.submit(1)
        assert await check_database_age(out.context.database) is AnchorVerdict.SET_BACK
        assert "does not hold it" in await describe_set_back(out.context.database)
        assert await out.go() == 0
        assert not payer.sent
        status, answer = await ask_readyz(out.context.database)
        assert (status, list(answer["parts"])) == (503, ["database"])
        assert "Stop every node and start one" in answer["parts"]["database"]
        with pytest.raises(OperationRefused, match="may have been sent"):
            [each async for each in export_undelivered(out.context, actor=NORA)]


async def test_of_two_nodes_that_start_together_one_records_the_restore(new_place):
    """Each has its own anchor; the second finds the restore recorded and marks nothing anew."""
    place = await new_place("postgresql")
    names = ("one", "two")

    async def start(at, name):
        database = await at.open(SystemClock(), anchor=f"anchor-{name}")
        try:
            return await confirm_anchor(
                database, clock=SystemClock(), actor=NORA, may_start_over=False
            )
        finally:
            await database.close()

    assert [await start(place, name) for name in names] == [None, None]
    put_back = await older_copy(place)
    await prepare(place, 1)
    assert [await start(place, name) for name in names] == [None, None]
    place = put_back()
    found = await asyncio.gather(*(start(place, name) for name in names))
    assert sum(each is not None for each in found) == 1
    assert [await start(place, name) for name in (*names, "three")] == [None] * 3
    database = await place.open(SystemClock(), anchor="anchor-one")
    async with database.read(batches.SCOPE) as tx:
        actions = [row[0] for row in await tx.rows(ACTIONS)]
    assert actions.count("database.restored") == 1
    await database.close()


async def test_a_new_node_starts_and_one_that_has_anchored_needs_its_anchor(place, tmp_path):
    copy = tmp_path / "elsewhere" / "node.anchor"
    copy.parent.mkdir()
    async with node(place, anchor_copy=str(copy)):
        pass
    anchor = place.data / "audit.anchor"
    assert anchor.read_bytes() == copy.read_bytes()
    anchor.unlink()
    async with node(place, anchor_copy=str(copy)):  # the second place has it
        assert anchor.exists()
    for file in (anchor, copy):
        file.unlink()
    copy.mkdir()  # a second place that cannot be read is no proof either
    with pytest.raises(OperationRefused, match="cannot be read or written"):
        async with node(place, anchor_copy=str(copy)):
            pass
    with pytest.raises(OperationRefused, match="is missing, and the audit chain records"):
        async with node(place):
            pass
    other = tmp_path / "new node"
    if place.kind == "postgresql":  # an empty data directory is a new node
        other.mkdir()
        shutil.copy(place.data / "master.key", other)
        async with node(replace(place, data=other)):
            assert (other / "audit.anchor").exists()


async def test_a_snapshot_of_the_whole_machine_is_recognized_by_the_second_place(
    new_place, tmp_path
):
    place = await new_place("sqlite")
    copy = tmp_path / "node.anchor"
    async with node(place, anchor_copy=str(copy)):
        pass
    put_back = await older_copy(place)
    anchor = (place.data / "audit.anchor").read_bytes()
    await prepare(place, 1)
    async with node(place, anchor_copy=str(copy)):
        pass
    put_back()
    (place.data / "audit.anchor").write_bytes(anchor)
    async with node(place, anchor_copy=str(copy)) as installation:
        assert installation.set_back is not None


async def test_a_sandbox_begins_anew_without_its_anchor(new_place):
    place = await new_place("sqlite")
    async with node(place, mode="sandbox"):
        pass
    (place.data / "audit.anchor").unlink()
    async with node(place, mode="sandbox") as installation:
        assert installation.set_back is None
        assert (place.data / "audit.anchor").exists()
