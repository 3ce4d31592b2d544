"""What calls cost with a million claims stored, against a thousand: submission, status, lists, search, and the way to the 835.

    python -m bench growth
    BENCH_CLAIMS=10000000 BENCH_SECONDS=20000 python -m bench growth.postgresql

The claims behind those of the calls are written by a script, over sixty days, on the same site, paid, and never opened. Times are
the least of several, since noise only ever adds. ``console.pages`` measures pages of the console.
"""

import asyncio
import os
import random
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import httpx

from bench.eligibility import client_of, v1_client_of
from bench.harness import Measure, bench
from bench.held_nodes import EVERYTHING, outside
from bench.submit import MARK, PATH, a_claim, a_document, postgresql, serving
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import new_number

FEW = 1_000
MANY = int(os.environ.get("BENCH_CLAIMS", "1000000"))
AT_ONCE = 20_000
DAYS = 60
RUNS = 12
PER_DOCUMENT = 50
LOOPED = 200
SAMPLE = a_claim()
PATIENT = {
    "patient_last_name": SAMPLE["F02_PatientNameLast"],
    "patient_birth_date": SAMPLE["F03_PatientDob"],
}
UNREPORTED = -1
"""When they changed: so early that no report opens them."""
LISTED = 50
LISTS = "/clearlane/v1/claims"
# What a claim of a script is like: columns of each table.
COLUMNS = {
    "claims": (
        "vendor_id", "site_id", "claim_number", "kind", "form", "header", "state", "payer_id", "vendor_claim_hash",
        "content_hash", "account_as_number", "total_cents", "created_at", "created_day", "updated_at", "payload", "label",
        "service_day", "account_key", "patient_key", "name_key", "member_key",
    ),
    "claim_ids": ("vendor_id", "site_id", "vendor_claim_hash", "former", "claim_number"),
    "claim_references": ("payer_id", "reference", "claim_number"),
}  # fmt: skip
Rows = dict[str, list[tuple[object, ...]]]


def written(vendor: int, site: int, first: int, last: int, many: int) -> Iterator[Rows]:
    """Rows of claims that no one opens, so that nothing in them is sealed, in pages."""
    dice = random.Random(first)
    began = datetime.now(UTC) - timedelta(days=DAYS + 1)
    for start in range(first, last, AT_ONCE):
        found: Rows = {table: [] for table in COLUMNS}
        for n in range(start, min(start + AT_ONCE, last)):
            at = began + timedelta(days=DAYS * n / many)
            number, key, micros, day = new_number(at), f"F{n}", to_micros(at), f"{at:%Y-%m-%d}"
            keys = [dice.getrandbits(63) for _ in range(4)]
            found["claims"].append((
                vendor, site, number, "medical", "v3_medical", bytes(200), "complete", "TST01", key, key, 0, 10_000, micros, day,
                UNREPORTED, bytes(900), "paid", day, *keys,
            ))  # fmt: skip
            found["claim_ids"].append((vendor, site, key, "", number))
            found["claim_references"].append(("TST01", key, number))
        yield found


def fill(url: str, data: str, first: int, last: int) -> None:
    """Write claims behind those of the calls, and let the database look at what it has."""
    if url:
        asyncio.run(_fill_postgresql(url, first, last))
        return
    with sqlite3.connect(Path(data) / "clearlane.db", timeout=60) as database:
        vendor, site = database.execute(
            "SELECT vendor_id, id FROM sites ORDER BY id LIMIT 1"
        ).fetchone()
        for rows in written(vendor, site, first, last, MANY):
            for table, columns in COLUMNS.items():
                marks = ", ".join("?" * len(columns))
                database.executemany(
                    f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows[table]
                )
            database.commit()
        database.execute("ANALYZE")
    database.close()


async def _fill_postgresql(url: str, first: int, last: int) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(EVERYTHING)
    vendor, site = await connection.fetchrow("SELECT vendor_id, id FROM sites ORDER BY id LIMIT 1")
    for rows in written(vendor, site, first, last, MANY):
        for table, columns in COLUMNS.items():
            await connection.copy_records_to_table(table, records=rows[table], columns=columns)
    await connection.execute("ANALYZE")
    await connection.close()


async def _disk(url: str) -> tuple[int, int]:
    """The bytes of the database, and those written to its log so far."""
    connection = await asyncpg.connect(url)
    asked = "SELECT pg_database_size(current_database()), (pg_current_wal_lsn() - '0/0')::bigint"
    size, written = await connection.fetchrow(asked)
    await connection.close()
    return size, written


async def _report(url: str, name: str, size: int, log: int) -> None:
    """Say what the claims of the script take, and how long a vacuum of their tables does."""
    size_now, log_now = await _disk(url)
    connection = await asyncpg.connect(url)
    began = time.perf_counter()
    for table in COLUMNS:
        await connection.execute(f"VACUUM {table}")
    await connection.close()
    print(
        f"{name}: {(size_now - size) / 1e9:.1f} GB, {(size_now - size) / MANY:.0f} bytes a claim, "
        f"{(log_now - log) / MANY:.0f} bytes of WAL a claim; vacuum in {time.perf_counter() - began:.0f} s",
        file=sys.stderr,
    )


def least(work: Callable[[], object], runs: int = RUNS) -> float:
    """The least milliseconds of a call."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times) * 1_000


class Calls:
    """A vendor and its calls."""

    def __init__(self, client: httpx.Client, vendor: httpx.Client) -> None:
        self._client, self._vendor, self._count = client, vendor, 0
        self._head, *self._parts = a_document(PER_DOCUMENT).split(MARK)

    def submit(self) -> None:
        self._count += 1
        body = self._head + b"".join(
            f"{self._count}-{at}".encode() + part for at, part in enumerate(self._parts)
        )
        answer = self._client.post(PATH, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 200, answer.text[:300]
        assert b"NotAccepted" not in answer.content, answer.text[:300]

    def status(self) -> int:
        """Read the status of every claim of today; return how many there are."""
        today = self._client.get("/sandbox/clock").json()["Now"][:10]
        days = {"startDate": today, "endDate": today}
        rows = self._client.post("/api/v3/claims/status/get_by_date", params=days).json()
        return len(rows)

    def listed(self, **query: str) -> int:
        answer = self._vendor.get(LISTS, params={"limit": LISTED, **query})
        assert answer.status_code == 200, answer.text[:300]
        return len(answer.json()["data"])

    def loop(self) -> None:
        """Submit claims, and advance the clock until they are paid."""
        for _ in range(LOOPED // PER_DOCUMENT):
            self.submit()
        self._client.post("/sandbox/advance", json={"By": "14d"}).raise_for_status()

    def times(self) -> dict[str, float]:
        """Milliseconds of each call."""
        return {
            # First: lists show what is newest, and claims of the script cannot be opened.
            "loop.claim": least(self.loop, 2) / LOOPED,
            "submit50": least(self.submit),
            "status.claim": least(self.status) / self.status(),
            "list": least(self.listed),
            "list.label": least(lambda: self.listed(label="received")),
            "search": least(lambda: self.listed(**PATIENT)),
        }


def measured(name: str, url: str = "") -> Iterator[Measure]:
    with (
        serving(url, answering=True) as facts,
        client_of(facts) as client,
        v1_client_of(facts) as vendor,
    ):
        client.post("/sandbox/clock", json={"Frozen": True}).raise_for_status()
        calls = Calls(client, vendor)
        fill(url, facts["data"], 0, FEW)
        calls.times()  # plans, caches
        few = calls.times()
        began, before = time.perf_counter(), asyncio.run(_disk(url)) if url else (0, 0)
        fill(url, facts["data"], FEW, MANY)
        print(f"{name}: filled in {time.perf_counter() - began:.0f} s", file=sys.stderr)
        if url:
            asyncio.run(_report(url, name, *before))
        for key, ms in calls.times().items():
            yield Measure(f"{name}.{key}", ms, "ms", ms / few[key], f"{FEW} claims")


@bench("growth.sqlite")
def on_sqlite() -> Iterator[Measure]:
    """Milliseconds of calls with many claims stored on SQLite; the ratio is to the same with few."""
    with outside():
        yield from measured("growth.sqlite")


@bench("growth.postgresql")
def on_postgresql() -> Iterator[Measure]:
    """The same on PostgreSQL."""
    with outside(), postgresql() as url:
        yield from measured("growth.postgresql", url)
