"""The file channel: claims a second of an 837, what the node needs for it, and how much longer others wait beside it.

A site sends files over https to a service of its own process, and asks how far they are, while another vendor calls.
"""

import contextlib
import itertools
import json
import multiprocessing
import os
import re
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter

from bench.beside import (
    IDLE_CALLS,
    Caller,
    call_times,
    memory,
    memory_with_children,
    p99,
    reset_peak,
)
from bench.harness import Measure, bench
from bench.submit import CLEARLANE, MARK, a_claim, a_document, serving, submitted
from clearlane.claims.forms import V3_MEDICAL
from clearlane.claims.read import decode
from clearlane.claims.rules import RuleInputs, repair_and_check
from clearlane.claims.write.write_837 import (
    Envelope,
    OutgoingClaim,
    TradingPartner,
    write_claims,
)

CLAIMS = int(os.environ.get("BENCH_FILE_CLAIMS", "25000"))
PAYER = "TST01"
SETTLED_SECONDS = 2
LOOK_SECONDS = 0.25
FILES = "/clearlane/v1/files"
OTHER = "OTHER"
_BODY = re.compile(rb"HL\*(\d+)\*1\*22\*0~.*?(?=HL\*|SE\*)", re.DOTALL)
_ACCOUNT = re.compile(rb"CLM\*[^*]+\*")
_NUMBERS = itertools.count(1)


@bench("files.claims")
def file_claims() -> Iterator[Measure]:
    """Claims a second from the call until all are released, against documents of 50 over https on the same service."""
    with serving() as facts:
        submitted(facts, a_document(50), 2, 1)
        _send(facts, a_file(500))
        as_json = submitted(facts, a_document(50), 4)
        time.sleep(SETTLED_SECONDS)
        taken, *_ = _send(facts, a_file(CLAIMS))
    as_file = CLAIMS / taken
    yield Measure("files.claims", as_file, "claims/s", as_file / as_json, "v3.submit50")


@bench("files.others_p99")
def others_beside_a_file() -> Iterator[Measure]:
    """p99 of another vendor's small calls beside a file of 25,000 claims against the idle one; memory; progress."""
    day = datetime.now(UTC).date().isoformat()
    kinds = (
        ("payers/get_list_of_test", "&type=medical"),
        ("claims/status/get_by_date", f"&startDate={day}&endDate={day}"),
    )
    with serving() as facts:
        _send(facts, a_file(500))
        caller = Caller(facts | _other_vendor(facts))
        call_times(caller, lambda count: count < IDLE_CALLS // 4, kinds)
        idle = p99(call_times(caller, lambda count: count < IDLE_CALLS, kinds))
        before = memory(facts["pid"])
        reset_peak(facts["pid"])
        receiver, sender = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=_send_beside, args=(facts, sender)
        )
        process.start()
        sender.close()
        receiver.recv()
        times = call_times(caller, lambda _: not receiver.poll(), kinds)
        taken, seen, peak = receiver.recv()
        process.join()
    name, beside = "files.others_p99", p99(times)
    yield Measure(name, beside, "ms", beside / idle, "idle-p99")
    yield Measure(
        "files.others_longest", max(times) * 1_000, "ms", max(times) * 1_000 / idle, "idle-p99"
    )
    yield Measure("files.claims_beside_others", CLAIMS / taken, "claims/s")
    yield Measure("files.memory", peak, "MB", peak / before, "idle")
    yield Measure("files.progress", seen, "figures")


def _other_vendor(facts: dict) -> dict:
    """Add a vendor with a site; its credentials."""

    def run(*arguments: str) -> str:
        command = [*CLEARLANE, *arguments, "--data", facts["data"]]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    made = json.loads(run("vendor", "add", OTHER, "--json"))
    run("site", "add", OTHER, "--id", f"{OTHER}-1", "--baa-accepted")
    return {
        "vendor_key": OTHER,
        "vendor_password": made["password"],
        "vendor_site_id": f"{OTHER}-1",
    }


def a_file(count: int) -> bytes:
    """Return an 837 with claims as practices send them, each with an account number of its own."""
    claim = a_claim() | {"Svc_PayerId": PAYER}
    document = {"DocumentType": "MedicalClaim", "Claims": [claim]}
    content = json.dumps(document, default=str).encode().replace(MARK, b"BENCH")
    _, reads = decode.read_document(content, V3_MEDICAL)
    (read,) = reads
    us = TradingPartner(name="LARKSPUR", id="LARKSPUR", phone="2065550100")
    payer = TradingPartner(name="TEST", id=PAYER)
    moment, control = datetime.now(UTC), next(_NUMBERS)
    envelope = Envelope(sender="LARKSPUR", receiver="CLEARLANE", control=control, moment=moment)
    assert read.claim is not None, read.findings
    judged = repair_and_check(read.claim, RuleInputs(today=moment.date()), at="")
    outgoing = OutgoingClaim(claim=judged.claim, number="BENCH", payer_id=PAYER, payer_name="TEST")
    one = b"".join(write_claims([outgoing], envelope, us, payer))
    body = _BODY.search(one)
    assert body is not None, one
    salt = f"{perf_counter():.6f}"[-9:].replace(".", "")
    bodies = [
        _ACCOUNT.sub(f"CLM*B{salt}{at:05}*".encode(), body[0], count=1).replace(
            b"HL*2*", f"HL*{at}*".encode(), 1
        )
        for at in range(2, count + 2)
    ]
    text = one[: body.start()] + b"".join(bodies) + one[body.end() :]
    set_start = text.index(b"ST*837*")
    segments = text[set_start : text.index(b"SE*")].count(b"~") + 1
    return re.sub(rb"SE\*\d+\*", f"SE*{segments}*".encode(), text, count=1)


def _send_beside(facts: dict, pipe: Connection) -> None:
    content = a_file(CLAIMS)
    pipe.send(len(content))
    pipe.send(_send(facts, content))


def _send(facts: dict, content: bytes) -> tuple[float, int, float]:
    """Send a file; the seconds until its claims are released, how many figures of progress were seen before, and the memory of
    the service and the process of the file in MiB."""
    import httpx

    auth = (facts["vendor_key"], facts["vendor_password"])
    figures, peak = set(), 0.0
    with httpx.Client(
        base_url=facts["base_url"], verify=facts["ca_file"], auth=auth, timeout=120
    ) as client:
        began = perf_counter()
        answer = client.post(
            FILES, content=content, params={"site": facts["vendor_site_id"], "name": "claims.837"}
        )
        answer.raise_for_status()
        file_id = answer.json()["id"]
        while True:
            file = client.get(f"{FILES}/{file_id}").raise_for_status().json()
            if file["state"] != "received" and not _staged(facts["data"]):
                break
            figures.add(file["claims_judged"])
            peak = max(peak, memory_with_children(facts["pid"]))
            time.sleep(LOOK_SECONDS)
    assert file["state"] == "accepted", file
    assert file["accepted"] == file["claims"], file
    return perf_counter() - began, len(figures - {None, 0}), peak


def _staged(data: str) -> int:
    """How many claims are not released."""
    with contextlib.closing(sqlite3.connect(Path(data) / "clearlane.db")) as connection:
        return connection.execute("SELECT count(*) FROM staged_claims").fetchone()[0]
