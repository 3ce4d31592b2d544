"""Nodes of two versions on one PostgreSQL: replaced one after the other under load, nothing is lost and nothing comes twice.

The versions are copies of this program, each with the migrations of its release; and if programs of an earlier release may go
on with the schema of this tree, the last of those releases and this program.
"""

import asyncio
import contextlib
import re
import shutil
import subprocess
import sys
import threading
from itertools import count
from pathlib import Path

import pytest

import clearlane
from bench.held_nodes import read
from bench.node_kills import LOST_OR_TWICE
from clearlane.store.database.schema import HEAD
from clearlane.store.database.schema_revision import is_supported
from tests.api.service_process import ServiceProcess
from tests.api.test_claims import a_document, post, results
from tests.patience import wait_until
from tests.store.made_up_releases import FIRST, SECOND, release_first, release_second
from tests.store.test_released_databases import VERSIONS

SECONDS_PER_DAY = 0.1
PAUSE_SECONDS = 0.2
CLAIMS = 3
DOCUMENTS_BETWEEN = 5
"""Answered at least before the next step of the upgrade."""


ROOT = Path(__file__).resolve().parents[2]
CORE = "clearlane/store/database/schema/core.py"
HEAD_LINE = re.compile(r'(?m)^HEAD = "(.+)"$')


def revision_of(core: str) -> str:
    """Return the revision of the schema that a program expects."""
    found = HEAD_LINE.search(core)
    assert found
    return found[1]


def released_before() -> list[str]:
    """Return the last release with an earlier schema, if its programs may go on with the schema of this tree."""
    for version in reversed(VERSIONS):
        command = ["git", "show", f"v{version}:src/{CORE}"]
        shown = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        if (revision := revision_of(shown.stdout)) != HEAD:
            return [version] if is_supported(HEAD, head=revision) else []
    return []


class Program:
    """A version of the program in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.versions = folder / "clearlane/store/database/migrations/versions"

    @property
    def core(self) -> Path:
        return self.folder / CORE

    @property
    def schema(self) -> str:
        """The revision that it expects."""
        return revision_of(self.core.read_text())

    def has_schema(self, revision: str) -> None:
        """Make it expect a revision of the schema."""
        text = HEAD_LINE.sub(f'HEAD = "{revision}"', self.core.read_text())
        self.core.write_text(text)

    def take_release(self, version: str) -> None:
        """Unpack the program of a released version."""
        archive = self.folder.with_suffix(".tar")
        words = ["--output", archive, f"v{version}:src", "clearlane"]
        subprocess.run(["git", "archive", *words], cwd=ROOT, check=True)
        shutil.unpack_archive(archive, self.folder, filter="data")

    def node(self, place, name: str) -> ServiceProcess:
        """Return a node of this version with a data directory of its own."""
        data, first = place.data / name, place.data / "one" / "master.key"
        if first.exists():
            data.mkdir(mode=0o700)
            shutil.copy2(first, data / "master.key")
        return ServiceProcess(data, place.url, fresh=True, PYTHONPATH=str(self.folder))

    def upgrade(self, place) -> None:
        """Run `clearlane db upgrade` of this version."""
        environment = {"CLEARLANE_DATABASE_URL": place.url, "PYTHONPATH": str(self.folder)}
        command = [sys.executable, "-m", "clearlane", "db", "upgrade", "--data", str(place.data / "one")]  # fmt: skip
        done = subprocess.run(
            command, env=environment, cwd=place.data, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


MADE_UP = "made up"


@pytest.fixture(params=[MADE_UP, *released_before()])
async def programs(request, tmp_path, new_place):
    """Return the program of an earlier release and that of a later one."""
    first, second = Program(tmp_path / "first"), Program(tmp_path / "second")
    source = Path(clearlane.__file__).parent
    if request.param != MADE_UP:
        first.take_release(request.param)
        shutil.copytree(source, second.folder / "clearlane")
        return first, second
    # With what is compiled already: each node would compile the whole program.
    kept = shutil.ignore_patterns("v0*")
    shutil.copytree(source, first.folder / "clearlane", ignore=kept)
    await release_first(first.versions, await new_place("postgresql", upgraded=False))
    first.has_schema(FIRST)
    shutil.copytree(first.folder, second.folder)
    release_second(second.versions)
    second.has_schema(SECOND)
    return first, second


class Caller(threading.Thread):
    """A vendor behind a balancer: each document goes to the next of the nodes that take calls."""

    def __init__(self, first: ServiceProcess) -> None:
        super().__init__()
        facts = first.sandbox
        self.auth = facts["vendor_key"], facts["vendor_password"]
        self.site = {"vendorSiteId": facts["vendor_site_id"]}
        self.accepted, self.faults = 0, []
        self._nodes, self._turn, self._ends = [first], threading.Lock(), threading.Event()

    def run(self) -> None:
        try:
            for number in count():
                with self._turn:
                    node = self._nodes[number % len(self._nodes)]
                    with node.client(self.auth, params=self.site) as client:
                        found = results(post(client, a_document(claims=CLAIMS)))
                assert [one["Status"] for one in found] == ["Accepted"] * CLAIMS, found
                self.accepted += CLAIMS
                if self._ends.wait(PAUSE_SECONDS):
                    return
        except Exception as fault:  # shown by the thread of the test
            self.faults.append(fault)

    def goes_on(self) -> None:
        """Wait until more documents were accepted."""
        wanted = self.accepted + CLAIMS * DOCUMENTS_BETWEEN
        wait_until(lambda: self.faults or self.accepted >= wanted)
        assert self.faults == []

    def put_in(self, node: ServiceProcess) -> None:
        with self._turn:
            self._nodes.append(node)

    def take_out(self, node: ServiceProcess) -> None:
        """Send the node nothing more, as a balancer does before it is stopped."""
        with self._turn:
            self._nodes.remove(node)

    def end(self) -> None:
        self._ends.set()
        self.join()


def replace_nodes(place, first: Program, second: Program) -> int:
    """Replace two nodes under load; return how many claims were accepted."""
    with contextlib.ExitStack() as running:

        def start(program: Program, name: str) -> ServiceProcess:
            node = program.node(place, name).start()
            running.callback(lambda: node.process.poll() is None and node.stop())
            return node

        old = [start(first, "one"), start(first, "two")]
        caller = Caller(old[0])
        with old[0].client(caller.auth, params=caller.site) as client:
            pace = {"SecondsPerDay": SECONDS_PER_DAY}
            client.post("/sandbox/clock", json=pace).raise_for_status()
        caller.put_in(old[1])
        caller.start()
        running.callback(caller.end)
        caller.goes_on()
        second.upgrade(place)
        caller.goes_on()  # nodes of the first version, with the schema of the second
        for node, name in zip(old, ("three", "four"), strict=True):
            caller.put_in(start(second, name))
            caller.goes_on()
            caller.take_out(node)
            assert node.stop() == 0
            caller.goes_on()
        caller.end()
        unpaid = "SELECT count(*) FROM claims WHERE state <> 'complete'"
        wait_until(lambda: read(place.url, unpaid)[0][0] == 0)
    return caller.accepted


@pytest.mark.slow
async def test_nodes_are_replaced_under_load_and_nothing_is_lost_or_twice(programs, new_place):
    place = await new_place("postgresql", upgraded=False)
    accepted = await asyncio.to_thread(replace_nodes, place, *programs)
    schema = programs[1].schema

    def rows(statement):
        return asyncio.to_thread(read, place.url, statement)

    assert await rows("SELECT version_num FROM alembic_version") == [(schema,)]
    assert await rows("SELECT count(*) FROM claims") == [(accepted,)]
    for name, statement in LOST_OR_TWICE.items():
        assert await rows(statement) == [], name
