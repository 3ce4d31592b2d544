"""Several nodes on one PostgreSQL: how much each further node adds.

    python -m bench nodes

Each node is held to the same small share of a core (``held_nodes``). A ratio says what one node of several carries against one
alone. It is only as good as the machine: if the nodes of a run were held back less than SATURATED of the time, something else was
full, and the line says so instead of a ratio.
"""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import NamedTuple, Self

import asyncpg

from bench.eligibility import SUBMIT as ELIGIBILITY
from bench.eligibility import client_of, request, v1_client_of
from bench.harness import Measure, bench
from bench.held_nodes import SECONDS_PER_DAY, Nodes, running
from bench.submit import MARK, PATH, a_document, submitted
from bench.webhooks import Receiver

COUNTS = tuple(int(each) for each in os.environ.get("BENCH_COUNTS", "1 2 4").split())
WARM_SECONDS, SECONDS = 4.0, 12.0
PER_DOCUMENT = 50
PAID_CLAIMS = 600
WARM_CLAIMS = 300
"""Claims for each node."""
EVENT_CLAIMS, ENDPOINTS = 200, 4
"""Claims of all nodes together, and webhook endpoints for each node; each endpoint gets the events of all."""
QUIET_SECONDS = 3
PAYERS = ("TST01", "CPR77", "HHP20", "BLU31", "TWL61", "MDW10")
"""Files of one payer are posted one after the other, on one node at a time: one payer alone keeps one node busy."""
WORK_SECONDS_MAX = 400
SLOW_SECONDS_PER_DAY = 86_400
"""Payers answer nothing while claims are sent."""
SATURATED = 0.6
"""The share of its periods in which a node that is busy is held back."""
SENT, PAID = "sent", "complete"


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


def send(nodes: Nodes, phase: str, claims: int) -> None:
    """Have each node accept some claims, for payers in turns."""

    def send_to(number: int, facts: dict) -> None:
        document = node_document(number, phase)
        with client_of(facts) as client:
            for at, start in enumerate(range(0, claims, PER_DOCUMENT)):
                payer = PAYERS[(number + at) % len(PAYERS)]
                head, *parts = document.replace(b"TST01", payer.encode()).split(MARK)
                ids = (f"{start + at:08}".encode() for at in range(PER_DOCUMENT))
                body = head + b"".join(id + part for id, part in zip(ids, parts, strict=True))
                client.post(
                    PATH, content=body, headers={"Content-Type": "application/json"}
                ).raise_for_status()

    with ThreadPoolExecutor(len(nodes.all)) as pool:
        list(pool.map(send_to, range(len(nodes.all)), nodes.facts))


def wait_for(nodes: Nodes, *states: str) -> None:
    """Wait until all claims are in one of some states."""
    others = f"SELECT count(*) FROM claims WHERE state NOT IN ({', '.join(map(repr, states))})"
    until = time.perf_counter() + WORK_SECONDS_MAX
    while nodes.value(others):
        assert time.perf_counter() < until, nodes.rows(
            "SELECT state, count(*) FROM claims GROUP BY state"
        )
        time.sleep(0.5)


def pay(nodes: Nodes, phase: str, claims: int) -> float:
    """Claims a second from acceptance by each node to the posted 835, whichever node does what."""
    began = time.perf_counter()
    send(nodes, phase, claims)
    wait_for(nodes, PAID)
    return claims * len(nodes.all) / (time.perf_counter() - began)


def set_pace(nodes: Nodes, seconds_per_day: float) -> None:
    """Say how long a day of the simulated payers lasts."""
    with client_of(nodes.facts[0]) as client:
        client.post("/sandbox/clock", json={"SecondsPerDay": seconds_per_day}).raise_for_status()


def send_unanswered(nodes: Nodes) -> None:
    """Have all claims sent before a payer answers."""
    pay(nodes, "w", WARM_CLAIMS)
    set_pace(nodes, SLOW_SECONDS_PER_DAY)
    send(nodes, "m", PAID_CLAIMS)
    wait_for(nodes, PAID, SENT)


def post(nodes: Nodes) -> float:
    """Claims a second from the first answer of the payers to the posted 835."""
    began = time.perf_counter()
    set_pace(nodes, SECONDS_PER_DAY)
    wait_for(nodes, PAID)
    return PAID_CLAIMS * len(nodes.all) / (time.perf_counter() - began)


class Receivers:
    """Receivers of webhooks in a thread of this process, one for each endpoint."""

    def __init__(self) -> None:
        self.began = datetime.now(UTC).isoformat()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._receivers: list[Receiver] = []

    def add(self) -> str:
        """Add a receiver; return its address."""
        self._receivers.append(Receiver())
        started = asyncio.run_coroutine_threadsafe(self._receivers[-1].serve(), self._loop)
        return started.result()[1]

    @property
    def count(self) -> int:
        return sum(each.count for each in self._receivers)

    def wait_for(self, count: int) -> None:
        """Wait until a number of messages have come."""
        until = time.perf_counter() + WORK_SECONDS_MAX
        while self.count < count:
            assert time.perf_counter() < until, f"{self.count} of {count} messages came"
            time.sleep(0.05)

    def wait_for_rest(self) -> None:
        """Wait until messages come, and then until no more do."""
        self.wait_for(1)
        before = 0
        while self.count > before:
            before = self.count
            time.sleep(QUIET_SECONDS)


RECEIVERS: dict[str, Receivers] = {}
"""Those of an installation, by its database."""
V1_ENDPOINTS = "/clearlane/v1/webhook_endpoints"


def add_endpoints(nodes: Nodes) -> None:
    """Add webhook endpoints, and have claims accepted whose events all of them get."""
    receivers = RECEIVERS[nodes.url] = Receivers()
    with v1_client_of(nodes.facts[0]) as client:
        for _ in range(ENDPOINTS * len(nodes.all)):
            asked = {"url": receivers.add(), "types": ["claim.*"]}
            client.post(V1_ENDPOINTS, json=asked).raise_for_status()
    send(nodes, "m", EVENT_CLAIMS // len(nodes.all))
    receivers.wait_for_rest()


def deliver(nodes: Nodes) -> float:
    """Messages a second of all nodes together, to endpoints that are sent everything again."""
    receivers = RECEIVERS.pop(nodes.url)
    with v1_client_of(nodes.facts[0]) as client:
        found = client.get(V1_ENDPOINTS).raise_for_status().json()["data"]
    messages, began = receivers.count, time.perf_counter()
    for number, each in enumerate(found):
        with v1_client_of(nodes.facts[number % len(nodes.all)]) as client:
            address = f"{V1_ENDPOINTS}/{each['id']}/replay"
            client.post(address, json={"since_at": receivers.began}).raise_for_status()
    receivers.wait_for(2 * messages)
    return messages / (time.perf_counter() - began)


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


def by_count(kind: str) -> Iterator[Measure]:
    """Measure one kind of work with each number of nodes."""
    name, work, alone = f"nodes.{kind}", WORKS[kind], 0.0
    for count in COUNTS:
        with running(count, answering=work.answering) as nodes:
            work.warm(nodes)
            nodes.hold()
            before = nodes.periods()
            with Waits(nodes.url) as waits:
                rate = work.measure(nodes)
            held = nodes.held_back(before)
        alone = alone or rate
        print(
            f"{name} {count} nodes: {rate:.1f} {work.unit}, held back {held:.0%}, server: {waits}",
            file=sys.stderr,
            flush=True,
        )
        full = held >= SATURATED
        yield Measure(
            f"{name}.{count}",
            rate,
            work.unit,
            rate / count / alone if full else 1.0,
            "one-node" if full else f"none: nodes held back only {held:.0%}",
        )


class Work(NamedTuple):
    """One kind of work: what warms the nodes before they are held to their share, and what is measured."""

    unit: str
    answering: bool
    """Whether payers answer."""
    warm: Callable[[Nodes], object]
    measure: Callable[[Nodes], float]


WORKS = {
    "acceptance": Work(
        "claims/s",
        False,
        lambda nodes: accept(nodes, "w", WARM_SECONDS),
        lambda nodes: accept(nodes, "m", SECONDS),
    ),
    "eligibility": Work(
        "answers/s",
        True,
        lambda nodes: ask(nodes, WARM_SECONDS),
        lambda nodes: ask(nodes, SECONDS),
    ),
    "loop": Work(
        "claims/s",
        True,
        lambda nodes: pay(nodes, "w", WARM_CLAIMS),
        lambda nodes: pay(nodes, "m", PAID_CLAIMS),
    ),
    "posting": Work("claims/s", True, send_unanswered, post),
    "webhooks": Work("messages/s", False, add_endpoints, deliver),
}


@bench("nodes.acceptance")
def acceptance() -> Iterator[Measure]:
    """Claims a second that 1, 2 and 4 nodes accept, and what one of several does against one alone."""
    return by_count("acceptance")


@bench("nodes.eligibility")
def eligibility() -> Iterator[Measure]:
    """Eligibility answers a second of 1, 2 and 4 nodes."""
    return by_count("eligibility")


@bench("nodes.loop")
def loop() -> Iterator[Measure]:
    """Claims a second of 1, 2 and 4 nodes, from acceptance to the posted 835, for six payers."""
    return by_count("loop")


@bench("nodes.posting")
def posting() -> Iterator[Measure]:
    """Claims a second of 1, 2 and 4 nodes, from the payers' first answer to the posted 835, for six payers."""
    return by_count("posting")


@bench("nodes.webhooks")
def webhooks() -> Iterator[Measure]:
    """Webhooks a second of 1, 2 and 4 nodes, to four receivers a node that answer at once."""
    return by_count("webhooks")
