"""Nodes of one installation on one PostgreSQL, each held to the same small share of a core.

A share is a cgroup (v2 or v1, which takes root), so that one machine can be measured as several. PostgreSQL and the callers run
outside of that.
"""

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg

from bench.eligibility import client_of
from bench.submit import CLEARLANE, postgresql

SHARE = float(os.environ.get("BENCH_SHARE", "0.1"))
"""Of a core, for each node."""
SECONDS_PER_DAY = 0.1
"""A payer's two weeks pass in a second and a half."""
PERIOD_MICROS = 10_000
EVERYTHING = (
    "SELECT set_config('clearlane.vendors', '*', false), set_config('clearlane.sites', '*', false)"
)


NUMBERS = itertools.count()


class CpuShare:
    """A group of processes that get a share of a core and no more, if one is given, and get it before others on the machine."""

    V1, V2 = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")

    def __init__(self, name: str, share: float = 0.0) -> None:
        self.is_v2 = (self.V2 / "cgroup.controllers").exists()
        above = self.V2 if self.is_v2 else self.V1
        self.folder = above / f"clearlane-bench-{os.getpid()}-{next(NUMBERS)}-{name}"
        self.folder.mkdir()
        self._set(*(("cpu.weight", 10_000) if self.is_v2 else ("cpu.shares", 100_000)))
        quota = int(share * PERIOD_MICROS)
        if not share:
            return
        if self.is_v2:
            self._set("cpu.max", f"{quota} {PERIOD_MICROS}")
        else:
            self._set("cpu.cfs_period_us", PERIOD_MICROS)
            self._set("cpu.cfs_quota_us", quota)

    def _set(self, name: str, value: object) -> None:
        (self.folder / name).write_text(str(value))

    def add(self, pid: int) -> None:
        """Take a process; what it starts later belongs to the group too."""
        self._set("cgroup.procs", pid)

    def periods(self) -> tuple[int, int]:
        """Return how many periods the group ran in, and in how many it was held back."""
        rows = dict(row.split() for row in (self.folder / "cpu.stat").read_text().splitlines())
        return int(rows["nr_periods"]), int(rows["nr_throttled"])

    def remove(self) -> None:
        """Remove the group once its processes have ended."""
        for _ in range(50):
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.1)


def read(url: str, statement: str) -> list[Any]:
    """Read rows of all clients."""

    async def rows() -> list[Any]:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(EVERYTHING)
            found: list[Any] = await connection.fetch(statement)
            return found
        finally:
            await connection.close()

    return asyncio.run(rows())


@dataclass
class Node:
    """One `clearlane serve`, its share and its address."""

    folder: Path
    url: str
    share: CpuShare
    process: subprocess.Popen = field(init=False)
    facts: dict = field(init=False)
    name: str = ""
    """As it registered itself: the engine's work names it."""

    def start(self) -> None:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("CLEARLANE_")
        } | {
            "CLEARLANE_LOG_LEVEL": "warning",
            "CLEARLANE_DATABASE_URL": self.url,
            # A node of a part of one core has no use for a second process.
            "CLEARLANE_SUBMISSION_PROCESS": "off",
        }
        self.process = subprocess.Popen(
            [*CLEARLANE, "serve", "--data", str(self.folder), "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        for line in self.process.stdout or ():
            if line.startswith("clearlane ready"):
                break
        self.facts = json.loads((self.folder / "sandbox.json").read_text())
        [(self.name,)] = read(self.url, "SELECT id FROM nodes ORDER BY started_at DESC LIMIT 1")

    def hold(self) -> None:
        """Hold the node and its helper processes to its share from now on."""
        pids, known = [self.process.pid], set()
        while pids:
            pid = pids.pop()
            known.add(pid)
            self.share.add(pid)
            for task in Path(f"/proc/{pid}/task").iterdir():
                pids += {int(each) for each in (task / "children").read_text().split()} - known

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


@dataclass
class Nodes:
    """An installation of several nodes, and its database."""

    url: str
    all: list[Node]

    @property
    def facts(self) -> list[dict]:
        """The address of each node with the credentials of the first."""
        first = self.all[0].facts
        own = ("base_url", "ca_file")
        return [first | {name: node.facts[name] for name in own} for node in self.all]

    def held_back(self, before: list[tuple[int, int]]) -> float:
        """Return the share of periods in which nodes were held back since: near 1 if they were what was full."""
        now = [node.share.periods() for node in self.all]
        periods = sum(one[0] - was[0] for one, was in zip(now, before, strict=True))
        return sum(one[1] - was[1] for one, was in zip(now, before, strict=True)) / max(1, periods)

    def hold(self) -> None:
        """Hold each node to its share: it has started and is warm."""
        for node in self.all:
            node.hold()

    def periods(self) -> list[tuple[int, int]]:
        return [node.share.periods() for node in self.all]

    def rows(self, statement: str) -> list[Any]:
        """Read with the rights of the server's owner."""
        return read(self.url, statement)

    def value(self, statement: str) -> Any:
        return self.rows(statement)[0][0]


@contextlib.contextmanager
def outside() -> Iterator[None]:
    """Run this process, and what it starts, without a limit and before others on the machine."""
    group = CpuShare("outside")
    rows = [row.split(":") for row in Path("/proc/self/cgroup").read_text().splitlines()]
    names = [path for _, kinds, path in rows if group.is_v2 or "cpu" in kinds.split(",")]
    home = group.folder.parent / names[-1 if group.is_v2 else 0].lstrip("/")
    group.add(os.getpid())
    try:
        yield
    finally:
        (home / "cgroup.procs").write_text(str(os.getpid()))
        group.remove()


@contextlib.contextmanager
def started(count: int) -> Iterator[Nodes]:
    """Start some nodes on a database of their own."""
    with outside(), tempfile.TemporaryDirectory() as folder, postgresql() as url:
        shares = [CpuShare(str(number), SHARE) for number in range(count)]
        nodes = [
            Node(Path(folder) / f"node{number}", url, share) for number, share in enumerate(shares)
        ]
        ready: list[Node] = []
        try:
            for node in nodes:
                if ready:  # all have the master key of the first
                    node.folder.mkdir(mode=0o700)
                    shutil.copy2(nodes[0].folder / "master.key", node.folder / "master.key")
                node.start()
                ready.append(node)
            yield Nodes(url, nodes)
        finally:
            for node in ready:
                if node.process.poll() is None:
                    node.stop()
            for share in shares:
                share.remove()


@contextlib.contextmanager
def running(count: int, *, answering: bool) -> Iterator[Nodes]:
    """Start some nodes, with payers for which a day is short or with payers that are down."""
    with started(count) as nodes:
        if answering:
            with client_of(nodes.facts[0]) as client:
                pace = {"SecondsPerDay": SECONDS_PER_DAY}
                client.post("/sandbox/clock", json=pace).raise_for_status()
        else:
            folder = str(nodes.all[0].folder)
            command = ["sandbox", "payer", "--down", "TST01", "--data", folder]
            environment = os.environ | {"CLEARLANE_DATABASE_URL": nodes.url}
            subprocess.run(
                [*CLEARLANE, *command], check=True, stdout=subprocess.DEVNULL, env=environment
            )
        yield nodes
