"""A steady load for a long time: ``python -m bench.soak --minutes 30 --nodes 2``, or ``make soak MINUTES=30 NODES=2``.

Every second a document of claims is submitted, the status list of the day is read and a patient's eligibility is asked
for; every minute the sandbox's clock is advanced by a day, so that acknowledgements and 835s arrive. Several nodes share a
PostgreSQL and are called in turns. Every ten seconds one line tells memory, descriptors, WAL and latency. The run fails
when a figure of a node grows after warm-up by the rule of ``bench.growth``, or when a call fails.
"""

import argparse
import resource
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date, timedelta
from itertools import chain, count, cycle
from pathlib import Path
from statistics import median, quantiles

import httpx

from bench.eligibility import SUBMIT as ELIGIBILITY
from bench.eligibility import client_of, request
from bench.growth import SAMPLES_MIN, GrowthLimit, has_grown, part_medians
from bench.held_nodes import started
from bench.submit import MARK, PATH, a_document, postgresql, serving

CLAIMS_PER_DOCUMENT = 10
BEAT_SECONDS = 1.0
YARDSTICK_STEPS = 100_000
MINUTES_MIN = 2
SAMPLE_SECONDS = 10
ADVANCE_SECONDS = 60
STATUS = "/api/v3/claims/status/get_by_date"
CLOCK, ADVANCE = "/sandbox/clock", "/sandbox/advance"
# Members that a sandbox's payer answers at once.
MEMBER_FIRST, MEMBERS = 1_000, 5
PAGE_BYTES = resource.getpagesize()
MIB = 1024 * 1024

LIMITS = (
    GrowthLimit("memory", "MB", 0.10, 24),
    GrowthLimit("descriptors", "open", 0.10, 8),
    GrowthLimit("wal", "MB", 0.50, 16),
    GrowthLimit("latency", "ms", 0.50, 10),
)
"""What may not grow. Latency is the median of all calls but those that advance the clock, divided by how much slower
the machine was than at its best, since others may use it too."""


def yardstick() -> float:
    """Return how many milliseconds a fixed piece of work takes now, for the speed of the machine."""
    began = time.perf_counter()
    sum(range(YARDSTICK_STEPS))
    return 1_000 * (time.perf_counter() - began)


class Load:
    """The vendor: its calls, and how long each took since the last sample."""

    def __init__(self, clients: Sequence[httpx.Client]) -> None:
        self._clients = cycle(clients)
        self._client = clients[0]
        self._document = a_document(CLAIMS_PER_DOCUMENT)
        self._numbers = count()
        self.claims = self.failed = 0
        self.milliseconds: dict[str, list[float]] = defaultdict(list)
        self.yardsticks: list[float] = []

    def beat(self) -> None:
        """Make the calls of one second, to the next node."""
        self._client = next(self._clients)
        self.yardsticks.append(yardstick())
        parts = self._document.split(MARK)
        document = (
            b"".join(part + f"S{next(self._numbers)}".encode() for part in parts[:-1]) + parts[-1]
        )
        self._call("submit", lambda: self._client.post(PATH, content=document))
        self.claims += CLAIMS_PER_DOCUMENT
        day = self._client.get(CLOCK).json()["Now"][:10]
        days = {"startDate": day, "endDate": day}
        self._call("status", lambda: self._client.post(STATUS, params=days))
        body = request(f"{MEMBER_FIRST + self.claims % MEMBERS}")
        self._call("eligibility", lambda: self._client.post(ELIGIBILITY, json=body))

    def advance(self) -> None:
        """Let a day pass at the payers; returns when everything due has been posted."""
        self._call("advance", lambda: self._client.post(ADVANCE, json={"By": "1d"}))

    def states(self) -> dict[str, int]:
        """Return how many claims of the last month are in each state."""
        last = date.fromisoformat(self._client.get(CLOCK).json()["Now"][:10])
        days = {"startDate": str(last - timedelta(days=30)), "endDate": str(last)}
        rows = self._client.post(STATUS, params=days).json()
        return dict(Counter(str(row["CurrentState"]) for row in rows))

    def _call(self, name: str, call: Callable[[], httpx.Response]) -> None:
        began = time.perf_counter()
        try:
            answer = call()
        except httpx.HTTPError as fault:
            self.failed += 1
            print(f"SOAK {name} failed: {type(fault).__name__}", flush=True)
            return
        self.milliseconds[name].append(1_000 * (time.perf_counter() - began))
        if answer.status_code != httpx.codes.OK:
            self.failed += 1
            print(f"SOAK {name} was answered {answer.status_code}", flush=True)


class NodeSamples:
    """What was sampled of one node so far, by figure."""

    def __init__(self, facts: dict) -> None:
        self._process, self._data = Path(f"/proc/{facts['pid']}"), Path(facts["data"])
        self.figures: dict[str, list[float]] = {limit.name: [] for limit in LIMITS}

    def take(self, latency: float) -> str:
        """Sample everything; return it as a piece of a line."""
        memory = int((self._process / "statm").read_text().split()[1]) * PAGE_BYTES / MIB
        descriptors = len(list((self._process / "fd").iterdir()))
        wal = self.size("*-wal") / MIB
        sampled = {"memory": memory, "descriptors": descriptors, "wal": wal, "latency": latency}
        for name, value in sampled.items():
            self.figures[name].append(value)
        return (
            f"memory={memory:.1f}MB descriptors={descriptors} wal={wal:.1f}MB "
            f"database={self.size('*.db') / MIB:.1f}MB"
        )

    def size(self, pattern: str) -> int:
        """Return how many bytes such files of the node have."""
        return sum(file.stat().st_size for file in self._data.glob(pattern))


class Samples:
    """What was sampled so far, by node."""

    def __init__(self, nodes: Sequence[dict]) -> None:
        self.nodes = [NodeSamples(facts) for facts in nodes]
        self._began = time.monotonic()
        self._best = yardstick()

    def take(self, load: Load) -> None:
        """Sample every node, and print it as one line."""
        calls = {name: times for name, times in load.milliseconds.items() if name != "advance"}
        every = [*chain.from_iterable(calls.values())]
        if not every:
            return
        self._best = min(self._best, *load.yardsticks)
        slowness = median(load.yardsticks) / self._best
        figures = " | ".join(node.take(median(every) / slowness) for node in self.nodes)
        slowest = " ".join(f"{name}={_p95(times):.0f}" for name, times in sorted(calls.items()))
        print(
            f"SOAK seconds={time.monotonic() - self._began:.0f} claims={load.claims} {figures} "
            f"p50={median(every):.1f}ms slowness={slowness:.1f} p95ms: {slowest} "
            f"failed={load.failed}",
            flush=True,
        )
        load.milliseconds.clear()
        load.yardsticks.clear()

    def database_bytes(self) -> int:
        """Return the size of the database of claims and of its log, if it is SQLite."""
        return self.nodes[0].size("clearlane.db*")


@contextmanager
def serving_nodes(count: int, *, on_postgresql: bool) -> Iterator[list[dict]]:
    """Start nodes; yield the address, process and data directory of each."""
    if count > 1:
        with started(count) as nodes:
            own = ({"pid": node.process.pid, "data": node.folder} for node in nodes.all)
            yield [facts | more for facts, more in zip(nodes.facts, own, strict=True)]
    elif on_postgresql:
        with postgresql() as url, serving(url, answering=True) as facts:
            yield [facts]
    else:
        with serving("", answering=True) as facts:
            yield [facts]


def soak(minutes: float, nodes: Sequence[dict]) -> int:
    """Run the load and return the exit status."""
    with ExitStack() as stack:
        load = Load([stack.enter_context(client_of(facts)) for facts in nodes])
        samples = Samples(nodes)
        sample_seconds = min(SAMPLE_SECONDS, 30 * minutes / SAMPLES_MIN)
        began = time.monotonic()
        end, sample_at, advance_at = began + 60 * minutes, began, began + ADVANCE_SECONDS
        while (now := time.monotonic()) < end:
            load.beat()
            if now >= advance_at:
                load.advance()
                advance_at = now + ADVANCE_SECONDS
            if now >= sample_at + sample_seconds:
                samples.take(load)
                sample_at = now
            time.sleep(max(0.0, now + BEAT_SECONDS - time.monotonic()))
        return report(load, samples)


def report(load: Load, samples: Samples) -> int:
    """Print the medians of the run after warm-up and what grew; return the exit status."""
    grown = []
    for number, node in enumerate(samples.nodes, 1):
        for limit in LIMITS:
            figures = node.figures[limit.name]
            parts = " ".join(f"{one:.1f}" for one in part_medians(figures))
            verdict = "GROWS" if has_grown(figures, limit) else "steady"
            grown += [limit.name] if verdict == "GROWS" else []
            print(
                f"SOAK node {number} {limit.name} {verdict}: {parts} {limit.unit}, by thirds after warm-up"
            )
    print(f"SOAK claims by status: {load.states()}")
    if size := samples.database_bytes():
        print(f"SOAK database: {size / load.claims:.0f} bytes a claim, over {load.claims} claims")
    print(f"SOAK {'FAILED' if grown or load.failed else 'passed'}: {load.failed} calls failed")
    return 1 if grown or load.failed else 0


def _p95(times: list[float]) -> float:
    return quantiles(times, n=20)[-1] if len(times) > 1 else times[0]


def main() -> int:
    reader = argparse.ArgumentParser(prog="bench.soak", description=__doc__)
    reader.add_argument("--minutes", type=float, default=30.0)
    reader.add_argument("--nodes", type=int, default=1, help="more than one are on PostgreSQL")
    reader.add_argument("--postgresql", action="store_true", help="on a PostgreSQL of its own")
    options = reader.parse_args()
    if options.minutes < MINUTES_MIN:
        reader.error(f"--minutes {options.minutes:g}: at least {MINUTES_MIN} are needed to tell")
    with serving_nodes(options.nodes, on_postgresql=options.postgresql) as nodes:
        return soak(options.minutes, nodes)


if __name__ == "__main__":
    sys.exit(main())
