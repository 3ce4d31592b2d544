"""Nodes that are killed under load, one after the other: nothing lost, nothing twice, and money adds up.

python -m bench nodes.killed
BENCH_KILLS=300 BENCH_NODES=4 python -m bench.node_kills
"""

import os
import random
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx

from bench.eligibility import client_of
from bench.harness import Measure, bench
from bench.held_nodes import Node, Nodes, running
from bench.submit import MARK, PATH, a_document

PER_CALL = 5
WORK_ELSEWHERE_SECONDS_MAX = 15
PAID_SECONDS_MAX = 400
KILLS = int(os.environ.get("BENCH_KILLS", "4"))
KILL_NODES = int(os.environ.get("BENCH_NODES", "2"))


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
        until = time.perf_counter() + PAID_SECONDS_MAX
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
