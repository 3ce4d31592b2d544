"""Several nodes on one PostgreSQL: how much each further node adds, and one that is killed under load.

    python -m bench nodes
    BENCH_KILLS=300 BENCH_NODES=4 python -m bench.nodes

Each node is held to the same small share of a core (a cgroup, v2 or v1, which takes root), so that one machine can be measured as
several. PostgreSQL and the callers run outside of that. A ratio says what one node of several carries against one alone. It is
only as good as the machine: if the nodes of a run were held back less than SATURATED of the time, something else was full, and
the line says so instead of a ratio.
"""

import asyncio
import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import asyncpg
import httpx

from bench.eligibility import SUBMIT as ELIGIBILITY
from bench.eligibility import client_of, request
from bench.harness import Measure, bench
from bench.submit import CLEARLANE, MARK, PATH, a_document, postgresql, submitted

SHARE = float(os.environ.get("BENCH_SHARE", "0.1"))
"""Of a core, for each node."""
COUNTS = tuple(int(each) for each in os.environ.get("BENCH_COUNTS", "1 2 4").split())
WARM_SECONDS, SECONDS = 4.0, 12.0
PER_DOCUMENT = 50
PER_CALL = 5
LOOP_CLAIMS = 300
"""Claims for each node."""
LOOP_SECONDS_MAX = 400
SECONDS_PER_DAY = 0.1
"""A payer's two weeks pass in a second and a half."""
SATURATED = 0.6
"""The share of its periods in which a node that is busy is held back."""
PERIOD_MICROS = 10_000
WORK_ELSEWHERE_SECONDS_MAX = 15
KILLS = int(os.environ.get("BENCH_KILLS", "4"))
KILL_NODES = int(os.environ.get("BENCH_NODES", "2"))
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
def running(count: int, *, answering: bool) -> Iterator[Nodes]:
    """Start some nodes on a database of their own."""
    with outside(), tempfile.TemporaryDirectory() as folder, postgresql() as url:
        shares = [CpuShare(str(number), SHARE) for number in range(count)]
        nodes = [
            Node(Path(folder) / f"node{number}", url, share) for number, share in enumerate(shares)
        ]
        started: list[Node] = []
        try:
            for node in nodes:
                if started:  # all have the master key of the first
                    node.folder.mkdir(mode=0o700)
                    shutil.copy2(nodes[0].folder / "master.key", node.folder / "master.key")
                node.start()
                started.append(node)
            if answering:
                with client_of(nodes[0].facts) as client:
                    pace = {"SecondsPerDay": SECONDS_PER_DAY}
                    client.post("/sandbox/clock", json=pace).raise_for_status()
            else:
                command = ["sandbox", "payer", "--down", "TST01", "--data", str(nodes[0].folder)]
                environment = os.environ | {"CLEARLANE_DATABASE_URL": url}
                subprocess.run(
                    [*CLEARLANE, *command], check=True, stdout=subprocess.DEVNULL, env=environment
                )
            yield Nodes(url, nodes)
        finally:
            for node in started:
                if node.process.poll() is None:
                    node.stop()
            for share in shares:
                share.remove()


def node_document(number: int, phase: str) -> bytes:
    """A document whose claim ids no other node's caller gives."""
    return a_document(PER_DOCUMENT).replace(MARK, MARK + f"{phase}{number}".encode())


def accept(nodes: Nodes, phase: str, seconds: float) -> float:
    """Claims a second that all nodes accept together, each from a caller of its own."""
    with ThreadPoolExecutor(len(nodes.all)) as pool:
        calls = [
            pool.submit(submitted, facts, node_document(number, phase), 4, seconds)
            for number, facts in enumerate(nodes.facts)
        ]
        return sum(call.result() for call in calls)


def ask(nodes: Nodes, seconds: float) -> float:
    """Eligibility answers a second of all nodes together."""

    def caller(facts: dict) -> int:
        count, until = 0, time.perf_counter() + seconds
        with client_of(facts) as client:
            while time.perf_counter() < until:
                client.post(ELIGIBILITY, json=request("1000")).raise_for_status()
                count += 1
        return count

    with ThreadPoolExecutor(3 * len(nodes.all)) as pool:
        calls = [pool.submit(caller, facts) for facts in nodes.facts for _ in range(3)]
        return sum(call.result() for call in calls) / seconds


def pay(nodes: Nodes, phase: str, claims: int) -> float:
    """Claims a second from acceptance by each node to the posted 835, whichever node does what."""

    def send(number: int, facts: dict) -> None:
        head, *parts = node_document(number, phase).split(MARK)
        with client_of(facts) as client:
            for start in range(0, claims, PER_DOCUMENT):
                ids = (f"{start + at:08}".encode() for at in range(PER_DOCUMENT))
                body = head + b"".join(id + part for id, part in zip(ids, parts, strict=True))
                client.post(
                    PATH, content=body, headers={"Content-Type": "application/json"}
                ).raise_for_status()

    unpaid = "SELECT count(*) FROM claims WHERE state <> 'complete'"
    began = time.perf_counter()
    with ThreadPoolExecutor(len(nodes.all)) as pool:
        list(pool.map(send, range(len(nodes.all)), nodes.facts))
    while nodes.value(unpaid):
        assert time.perf_counter() - began < LOOP_SECONDS_MAX, nodes.rows(
            "SELECT state, count(*) FROM claims GROUP BY state"
        )
        time.sleep(0.5)
    return claims * len(nodes.all) / (time.perf_counter() - began)


class Waits:
    """What the sessions of the server waited for, looked at twenty times a second."""

    def __init__(self, url: str) -> None:
        self._url, self._stop = url, threading.Event()
        self.seen: dict[str, int] = {}
        self._thread = threading.Thread(target=lambda: asyncio.run(self._look()))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    async def _look(self) -> None:
        connection = await asyncpg.connect(self._url)
        while not self._stop.wait(0.05):
            for kind, event in await connection.fetch(
                "SELECT coalesce(wait_event_type, 'CPU'), coalesce(wait_event, 'running') FROM pg_stat_activity "
                "WHERE state = 'active' AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            ):
                name = f"{kind}:{event}"
                self.seen[name] = self.seen.get(name, 0) + 1
        await connection.close()

    def __str__(self) -> str:
        most = sorted(self.seen.items(), key=lambda item: -item[1])[:4]
        total = sum(self.seen.values()) or 1
        return ", ".join(f"{name} {100 * count // total} %" for name, count in most)


def by_count(name: str, unit: str, *, answering: bool, work: str) -> Iterator[Measure]:
    """Measure one kind of work with each number of nodes."""
    alone = 0.0
    for count in COUNTS:
        with running(count, answering=answering) as nodes:
            warm, measure = WORKS[work]
            warm(nodes)
            nodes.hold()
            before = nodes.periods()
            with Waits(nodes.url) as waits:
                rate = measure(nodes)
            held = nodes.held_back(before)
        alone = alone or rate
        print(
            f"{name} {count} nodes: {rate:.1f} {unit}, held back {held:.0%}, server: {waits}",
            file=sys.stderr,
            flush=True,
        )
        full = held >= SATURATED
        yield Measure(
            f"{name}.{count}",
            rate,
            unit,
            rate / count / alone if full else 1.0,
            "one-node" if full else f"none: nodes held back only {held:.0%}",
        )


WORKS = {
    "accept": (
        lambda nodes: accept(nodes, "w", WARM_SECONDS),
        lambda nodes: accept(nodes, "m", SECONDS),
    ),
    "ask": (lambda nodes: ask(nodes, WARM_SECONDS), lambda nodes: ask(nodes, SECONDS)),
    "pay": (
        lambda nodes: pay(nodes, "w", PER_DOCUMENT),
        lambda nodes: pay(nodes, "m", LOOP_CLAIMS),
    ),
}
"""What warms the nodes, and what is measured."""


@bench("nodes.acceptance")
def acceptance() -> Iterator[Measure]:
    """Claims a second that 1, 2 and 4 nodes accept, and what one of several does against one alone."""
    return by_count("nodes.acceptance", "claims/s", answering=False, work="accept")


@bench("nodes.eligibility")
def eligibility() -> Iterator[Measure]:
    """Eligibility answers a second of 1, 2 and 4 nodes."""
    return by_count("nodes.eligibility", "answers/s", answering=True, work="ask")


@bench("nodes.loop")
def loop() -> Iterator[Measure]:
    """Claims a second of 1, 2 and 4 nodes, from acceptance to the posted 835."""
    return by_count("nodes.loop", "claims/s", answering=True, work="pay")


class Caller(threading.Thread):
    """A vendor that submits small documents to one node, and counts what was accepted and which calls failed."""

    def __init__(self, number: int, facts: dict, pause: float) -> None:
        super().__init__()
        self._head, *self._parts = (
            a_document(PER_CALL).replace(MARK, MARK + f"k{number}".encode()).split(MARK)
        )
        self._facts, self._pause, self._ends = facts, pause, threading.Event()
        self._salt = random.randrange(10**6)
        self.accepted = self.failed = 0

    def run(self) -> None:
        with client_of(self._facts) as client:
            for number in range(10**6):
                if self._ends.wait(self._pause):
                    return
                ids = (f"{self._salt}-{number}-{at}".encode() for at in range(len(self._parts)))
                body = self._head + b"".join(
                    id + part for id, part in zip(ids, self._parts, strict=True)
                )
                try:
                    answer = client.post(
                        PATH, content=body, headers={"Content-Type": "application/json"}
                    )
                except httpx.TransportError:
                    self.failed += 1
                    continue
                if answer.status_code != 200:
                    self.failed += 1
                    continue
                self.accepted += len(self._parts)

    def end(self) -> None:
        self._ends.set()
        self.join()


def pending(nodes: Nodes, node: Node) -> int:
    """How much durable work a node has begun and not ended."""
    found: int = nodes.value(
        "SELECT count(*) FROM dbos.workflow_status "
        f"WHERE executor_id = '{node.name}' AND status = 'PENDING'"
    )
    return found


@dataclass(frozen=True, slots=True)
class Kill:
    """What one kill did."""

    seconds: float
    """How long the work of the node waited."""
    accepted: int
    cut_off: int
    """Calls to the node itself that got no answer."""
    failed: int
    """Calls to other nodes."""


def kill_once(nodes: Nodes, victim: Node) -> Kill:
    """Kill a node that has work, and start it again."""
    callers = [Caller(number, facts, 0.3) for number, facts in enumerate(nodes.facts)]
    for caller in callers:
        caller.start()
    until = time.perf_counter() + 20
    while not pending(nodes, victim) and time.perf_counter() < until:
        time.sleep(0.02)
    victim.process.kill()
    victim.process.wait()
    began = time.perf_counter()
    while pending(nodes, victim):
        assert time.perf_counter() - began < 60, "the work of a killed node was not taken over"
        time.sleep(0.1)
    waited = time.perf_counter() - began
    for caller in callers:
        caller.end()
    victim.start()
    own = callers[nodes.all.index(victim)].failed
    return Kill(
        waited, sum(one.accepted for one in callers), own, sum(one.failed for one in callers) - own
    )


# What must be true once everything has been paid: each finds rows that should not be.
LOST_OR_TWICE = {
    "claims that were never sent, or twice": "SELECT claim_number FROM claims WHERE sendings <> 1",
    "claims in two files": "SELECT claim_number FROM batch_claims GROUP BY 1 HAVING count(*) > 1",
    "payments whose claims do not add up": (
        "SELECT payment_id FROM payments LEFT JOIN claim_payments USING (payment_id) WHERE duplicate_of IS NULL "
        "GROUP BY 1, claims_paid_cents HAVING coalesce(sum(paid_cents), 0) <> claims_paid_cents"
    ),
    "claims whose payments do not add up": (
        "SELECT claim_number FROM claims LEFT JOIN claim_payments USING (claim_number) "
        "GROUP BY claim_number, claims.paid_cents "
        "HAVING coalesce(sum(claim_payments.paid_cents) FILTER (WHERE in_force = 1), 0) <> claims.paid_cents"
    ),
    "claims whose events are not one of each number": (
        "WITH numbered AS (SELECT pair->>0 AS claim_number, (pair->>1)::int AS sequence FROM events, "
        "jsonb_array_elements(nullif(claims, '')::jsonb) AS pair) "
        "SELECT claim_number FROM claims LEFT JOIN numbered USING (claim_number) GROUP BY claim_number, event_sequence "
        "HAVING count(sequence) <> event_sequence OR count(DISTINCT sequence) <> event_sequence"
    ),
}


def kill_often(count: int, kills: int) -> Iterator[Measure]:
    """Kill nodes one after the other under load, then see that nothing is lost, nothing is there twice, and money adds up."""
    done: list[Kill] = []
    with running(count, answering=True) as nodes:
        for number in range(kills):
            done.append(kill_once(nodes, nodes.all[number % count]))
            print(f"kill {number + 1}: {done[-1]}", file=sys.stderr, flush=True)
        until = time.perf_counter() + LOOP_SECONDS_MAX
        while nodes.value("SELECT count(*) FROM claims WHERE state <> 'complete'"):
            assert time.perf_counter() < until, nodes.rows(
                "SELECT state, count(*) FROM claims GROUP BY state"
            )
            time.sleep(1)
        faults = {name: len(nodes.rows(sql)) for name, sql in LOST_OR_TWICE.items()}
        claims = nodes.value("SELECT count(*) FROM claims")
    accepted, unsure = (sum(one.accepted for one in done), sum(one.cut_off for one in done))
    print(f"{claims} claims, {accepted} of answered calls, {faults}", file=sys.stderr)
    assert not any(faults.values()), faults
    assert accepted <= claims <= accepted + PER_CALL * unsure, (accepted, claims, unsure)
    failed = sum(one.failed for one in done)
    assert not failed, f"{failed} calls to nodes that were not killed failed"
    worst = max(one.seconds for one in done)
    yield Measure(
        f"nodes.killed.{count}",
        worst,
        "s",
        WORK_ELSEWHERE_SECONDS_MAX / worst,
        f"{WORK_ELSEWHERE_SECONDS_MAX}-seconds",
    )


@bench("nodes.killed")
def killed() -> Iterator[Measure]:
    """Seconds until the work of a killed node is done elsewhere: the worst of some kills."""
    return kill_often(KILL_NODES, KILLS)


if __name__ == "__main__":
    for measure in kill_often(KILL_NODES, KILLS):
        print(measure, flush=True)
