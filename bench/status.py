"""The status list: ten thousand rows over https against reading and encoding them, and whether the list slows with the number of claims.

The claims are written into the database as the service would have left them, a thousand to a day.
"""

import asyncio
import sqlite3
import ssl
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import httpx
import msgspec

from bench.api import serving
from bench.harness import Measure, bench
from clearlane.claims.claim_status import ClaimStatus, encode_claim_status
from clearlane.claims.lifecycle import ClaimState, PayerDocumentKind
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import new_number
from clearlane.settings import load
from clearlane.store.claims.claim_query import STATUS_COLUMN
from clearlane.wiring import open_installation

PATH = "/api/v3/claims/status/get_by_date"
A_DAY = 1_000
LISTED = 10_000
SIZES = (1_000, 100_000, 1_000_000)
FIRST = date(2019, 1, 1)
ROUNDS = 7
COLUMNS = (
    "vendor_id", "site_id", "claim_number", "kind", "form", "header", "state", "payer_id", "vendor_claim_hash", "content_hash",
    "account_as_number", "total_cents", "created_at", "created_day", "updated_at", "payload", "status",
)  # fmt: skip


def a_status(number: str, day: date) -> ClaimStatus:
    """A claim that was paid."""
    return ClaimStatus(
        claim_number=number,
        vendor_claim_id=f"V{number}",
        state=ClaimState.COMPLETE,
        state_changed_day=day + timedelta(days=14),
        created_day=day,
        updated_day=day + timedelta(days=14),
        total_cents=15_000,
        payer_cents=10_000,
        patient_cents=2_000,
        adjustment_cents=3_000,
        payment_status="1",
        decided_day=day + timedelta(days=14),
        payer_control_number=f"P{number}",
        document_kind=PayerDocumentKind.PAYMENT,
        document_id=f"{number}{number}",
        payer_name="Meadow Mutual",
        payment_method="CHK",
        payment_reference="1000001",
        payment_effective_day=day + timedelta(days=15),
    )


async def fill(data: Path, before: int, until: int) -> None:
    """Claims number ``before`` to ``until`` of the sandbox's site."""
    async with open_installation(load(overrides={"data": data}), role="command") as installation:
        (site,) = installation.accounts.sites
        await installation.vault.ensure_key(site.scope)
        rows = _rows(installation.vault, site, before, until)
        with sqlite3.connect(data / "clearlane.db") as connection:
            marks = ", ".join("?" * len(COLUMNS))
            sql = f"INSERT INTO claims ({', '.join(COLUMNS)}) VALUES ({marks})"
            connection.executemany(sql, rows)
        connection.close()


def _rows(vault, site, before: int, until: int) -> Iterator[tuple]:
    scope, vendor = site.scope, site.vendor_id
    for at in range(before, until):
        day = FIRST + timedelta(days=at // A_DAY)
        moment = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(seconds=at % A_DAY)
        number = new_number(moment)
        stored = encode_claim_status(a_status(number, day))
        status = vault.seal(scope, STATUS_COLUMN, number, stored)
        yield (
            vendor, site.id, number, "medical", "v3_medical", b"", "complete", "TST01", f"v{at}", f"c{at}", 0, 15_000,
            to_micros(moment), str(day), to_micros(moment), b"x" * 600, status,
        )  # fmt: skip


def asked(facts: dict, days: int, start: date = FIRST) -> tuple[float, list[dict]]:
    """Seconds that a list takes over https, the best of several, and the rows."""
    context = ssl.create_default_context(cafile=facts["ca_file"])
    query = {
        "vendorSiteId": facts["vendor_site_id"],
        "startDate": str(start),
        "endDate": str(start + timedelta(days=days - 1)),
    }
    auth = (facts["vendor_key"], facts["vendor_password"])
    with httpx.Client(base_url=facts["base_url"], verify=context, auth=auth, timeout=60) as client:
        taken = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            answer = client.post(PATH, params=query)
            taken.append(time.perf_counter() - began)
            answer.raise_for_status()
    return min(taken), answer.json()


def baseline(rows: list[dict], folder: Path) -> float:
    """Seconds to read the same rows from a plain table and to encode them."""
    names = list(rows[0])
    connection = sqlite3.connect(folder / "plain.db")
    connection.execute(f"CREATE TABLE plain ({', '.join(names)})")
    connection.execute("CREATE INDEX by_day ON plain (VendorId, VendorSiteId, CreateDate)")
    marks = ", ".join("?" * len(names))
    connection.executemany(
        f"INSERT INTO plain VALUES ({marks})", [tuple(row.values()) for row in rows]
    )
    connection.commit()
    sql = (
        "SELECT * FROM plain WHERE VendorId = ? AND VendorSiteId = ? AND CreateDate BETWEEN ? AND ?"
        " ORDER BY CreateDate, ClaimNumber"
    )
    first, last = rows[0], rows[-1]
    wanted = (first["VendorId"], first["VendorSiteId"], first["CreateDate"], last["CreateDate"])
    taken = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        found = connection.execute(sql, wanted).fetchall()
        body = msgspec.json.encode([dict(zip(names, row, strict=True)) for row in found])
        taken.append(time.perf_counter() - began)
    assert len(msgspec.json.decode(body)) == len(rows)
    connection.close()
    return min(taken)


@bench("v3.status10k")
def ten_thousand() -> Measure:
    """Ten thousand rows over https; the ratio is how many times the baseline it takes."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with serving(data):
            pass
        asyncio.run(fill(data, 0, LISTED))
        with serving(data) as facts:
            seconds, rows = asked(facts, LISTED // A_DAY)
        assert len(rows) == LISTED
        least = baseline(rows, Path(folder))
    return Measure("v3.status10k", seconds * 1_000, "ms", seconds / least, "raw-read+encode")


@bench("v3.status.growth")
def growth() -> Iterator[Measure]:
    """Microseconds a row for one day's claims, while more and more are stored; each against the first."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with serving(data):
            pass
        stored, first = 0, 0.0
        for size in SIZES:
            asyncio.run(fill(data, stored, size))
            stored = size
            with serving(data) as facts:
                middle = FIRST + timedelta(days=size // A_DAY // 2)
                seconds, rows = asked(facts, 1, middle)
            assert len(rows) == A_DAY
            cost = seconds / A_DAY * 1e6
            first = first or cost
            yield Measure(
                f"v3.status.growth.{size}", cost, "us/row", cost / first, f"{SIZES[0]}-claims"
            )
