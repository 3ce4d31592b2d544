"""Calls beside one very faulty document: how much longer they take, and what memory the node keeps.

The document is the largest that the limits allow in claims: 5,000 with 50 lines each, every line with several errors.
It is sent from a process of its own, and so are the calls that are measured.
"""

import base64
import contextlib
import http.client
import json
import multiprocessing
import os
import ssl
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

from bench.harness import Measure, bench
from bench.submit import MARK, a_claim, serving

CLAIMS = int(os.environ.get("BENCH_CLAIMS", "5000"))
LINES = 50
IDLE_CALLS = 400
PAUSE_SECONDS = 0.02
SETTLED_SECONDS = 10
LONGEST_SECONDS = 500
FAULTS = {
    "F24A_DateOfServiceFrom": "2199-01-01",
    "F24B_PlaceOfServiceCode": "ZZ",
    "F24D_HcpcsProcedureCode": "??",
    "F24D_Modifiers": "!!",
    "F24E_DiagnosisPointers": ["Z"],
}
MIB = 1024 * 1024


def faulty_document() -> bytes:
    """5,000 claims whose 50 lines have several errors each."""
    claim = a_claim(LINES)
    claim["F24_ClaimLines"] = [FAULTS | {"F24F_Charges": 50}] * LINES
    text = json.dumps(claim, default=str, separators=(",", ":"))
    claims = (text.replace(MARK.decode(), f"B{at}") for at in range(CLAIMS))
    return b'{"DocumentType":"MedicalClaim","Claims":[' + ",".join(claims).encode() + b"]}"


class Caller:
    """A vendor on one connection."""

    def __init__(self, facts: dict) -> None:
        url = urlsplit(facts["base_url"])
        context = ssl.create_default_context(cafile=facts["ca_file"])
        self._connection = http.client.HTTPSConnection(
            url.hostname, url.port, context=context, timeout=LONGEST_SECONDS
        )
        pair = f"{facts['vendor_key']}:{facts['vendor_password']}".encode()
        self._headers = {
            "Authorization": f"Basic {base64.b64encode(pair).decode()}",
            "Content-Type": "application/json",
        }
        self._site = facts["vendor_site_id"]

    def post(self, path: str, body: bytes = b"", query: str = "") -> tuple[int, int]:
        """Status and size of the answer."""
        target = f"/api/v3/{path}?vendorSiteId={self._site}{query}"
        self._connection.request("POST", target, body, self._headers)
        answer = self._connection.getresponse()
        size = 0
        while piece := answer.read(MIB):
            size += len(piece)
        return answer.status, size


def _send(facts: dict, pipe) -> None:
    caller = Caller(facts)
    document = faulty_document()
    pipe.send(len(document))
    began = time.perf_counter()
    status, size = caller.post("claims/submit", document)
    pipe.send((status, size, time.perf_counter() - began))


@contextlib.contextmanager
def sending(facts: dict) -> Iterator[Connection]:
    """Another process that sends the document; what it says comes through the pipe."""
    receiver, sender = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_send, args=(facts, sender))
    process.start()
    sender.close()
    try:
        receiver.recv()
        yield receiver
    finally:
        process.join()


def call_times(caller: Caller, more, kinds: tuple[tuple[str, str], ...]) -> list[float]:
    """Seconds of each call, made one after the other while ``more`` says so."""
    found: list[float] = []
    while more(len(found)):
        path, query = kinds[len(found) % len(kinds)]
        began = time.perf_counter()
        status, _ = caller.post(path, query=query)
        found.append(time.perf_counter() - began)
        assert status == 200, status
        time.sleep(PAUSE_SECONDS)
    return found


def p99(times: list[float]) -> float:
    """The 99th percentile in milliseconds."""
    return sorted(times)[int(len(times) * 0.99)] * 1_000


def memory(pid: int, name: str = "VmRSS") -> float:
    """Memory of a process in MiB: now, or the most since `reset_peak`."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    raise LookupError(name)


def memory_with_children(pid: int) -> float:
    """The most memory that a process has had, and what those that it and its children started have now, in MiB.

    The pages of the program's files, some 23 MiB, are shared, and counted once.
    """
    return memory(pid, "VmHWM") + sum(map(_memory_below, _children(pid)))


def _memory_below(pid: int) -> float:
    """Memory of a process and of those below it; 0 for one that has ended."""
    with contextlib.suppress(OSError, LookupError):
        return memory(pid, "RssAnon") + sum(map(_memory_below, _children(pid)))
    return 0.0


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for one in listed for child in one.read_text().split()]


def reset_peak(pid: int) -> None:
    """Reset VmHWM to what the process has now."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


@bench("beside.faulty_document")
def beside_a_faulty_document() -> Iterator[Measure]:
    """p99 of calls beside the document against the idle one; memory at its highest, and what is kept."""
    day = time.strftime("%Y-%m-%d", time.gmtime())
    kinds = (
        ("payers/get_list_of_test", "&type=medical"),
        ("claims/status/get_by_date", f"&startDate={day}&endDate={day}"),
    )
    with serving() as facts:
        caller = Caller(facts)
        call_times(caller, lambda count: count < IDLE_CALLS // 4, kinds)
        idle = p99(call_times(caller, lambda count: count < IDLE_CALLS, kinds))
        before = memory(facts["pid"])
        reset_peak(facts["pid"])
        with sending(facts) as pipe:
            times = call_times(caller, lambda _: not pipe.poll(), kinds)
            status, size, taken = pipe.recv()
        assert status == 200, status
        peak = memory(facts["pid"], "VmHWM")
        time.sleep(SETTLED_SECONDS)
        kept = memory(facts["pid"]) - before
    beside, longest = p99(times), max(times) * 1_000
    name = "beside.faulty_document"
    yield Measure(name, CLAIMS / taken, "claims/s")
    yield Measure(f"{name}.answer", size / MIB, "MiB")
    yield Measure(f"{name}.p99", beside, "ms", beside / idle, "idle-p99")
    yield Measure(f"{name}.longest", longest, "ms", longest / idle, "idle-p99")
    yield Measure(f"{name}.memory_peak", peak - before, "MiB")
    yield Measure(f"{name}.memory_kept", kept, "MiB")
