"""Measure durable writes a second from many concurrent callers."""

import asyncio
import secrets
import shutil
import sqlite3
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter

import uvloop

from bench.harness import Measure, bench
from clearlane.kernel.clock import SystemClock, to_micros
from clearlane.kernel.ids import Scope, new_number
from clearlane.store.audit.anchor import ANCHOR_NAME
from clearlane.store.database import migrate
from clearlane.store.database.database import Actor, Database, SystemScope, Tx, open_database
from clearlane.store.database.schema import claims, sites, vendors
from clearlane.store.database.sql import Statement, insert_into, scoped_insert
from clearlane.store.database.sqlite_connection import connect
from clearlane.store.vault.keys import load_master_keys
from clearlane.store.vault.vault import Vault

WRITERS = 32
PAYLOAD_BYTES = 5_000
SECONDS = 2.0
ROUNDS = 3

VENDOR = Statement(
    insert_into(vendors, "vendor_key", "name", "state", "proxy_login", "created_at").returning(
        vendors.c.id
    )
)
SITE = Statement(
    insert_into(
        sites,
        "vendor_id",
        "vendor_site_id",
        "client_id",
        "name",
        "time_zone",
        "state",
        "created_at",
    ).returning(sites.c.id)
)
CLAIM = scoped_insert(
    claims, "claim_number", "kind", "form", "state", "payer_id", "vendor_claim_hash", "content_hash", "header",
    "account_as_number", "total_cents", "created_at", "created_day", "updated_at", "payload",
)  # fmt: skip


@bench("store.commit")
def commit():
    """Sealed rows of 5 KB from 32 callers, against one row a commit on a bare connection."""
    directory = Path(tempfile.mkdtemp(prefix="clearlane-bench-"))
    try:
        return uvloop.run(_measured(directory))
    finally:
        shutil.rmtree(directory)


async def _measured(directory: Path) -> list[Measure]:
    plain, audited, raw = [], [], []
    async with FreshInstallation(directory) as (database, vault, scope):
        for _ in range(ROUNDS):  # interleaved, so that a noisy neighbor affects all three
            raw.append(await asyncio.to_thread(_raw, directory / "raw.db"))
            plain.append(await _grouped(database, vault, scope, audited=False))
            audited.append(await _grouped(database, vault, scope, audited=True))
    baseline = sorted(raw)[ROUNDS // 2]
    return [
        Measure(name, rate, "writes/s", rate / baseline, "raw-sqlite-one-row-commits")
        for name, rates in (("store.commit", plain), ("store.commit.audited", audited))
        for rate in [sorted(rates)[ROUNDS // 2]]
    ]


class FreshInstallation:
    """A fresh installation in a directory, with one vendor and site."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def __aenter__(self) -> tuple[Database, Vault, Scope]:
        clock, file = SystemClock(), self._directory / "clearlane.db"
        keys = load_master_keys(text="", file=self._directory / "master.key", may_create=True)
        await migrate.upgrade(url="", sqlite_file=file)
        self._database = await open_database(
            url="", sqlite_file=file, connections=2, keys=keys,
            anchor=self._directory / ANCHOR_NAME, clock=clock,
        )  # fmt: skip
        scope = await self._database.write(
            SystemScope("a bench"), _site, actor=Actor("node", "bench")
        )
        vault = Vault(self._database, keys, clock)
        await vault.load()
        await vault.ensure_key(scope)
        return self._database, vault, scope

    async def __aexit__(self, *exc) -> None:
        await self._database.close()


async def _site(tx: Tx) -> Scope:
    vendor = await tx.row(
        VENDOR, vendor_key="v", name="Larkspur Dental", state="active", proxy_login=0, created_at=0
    )
    assert vendor is not None
    site = await tx.row(
        SITE, vendor_id=vendor[0], vendor_site_id="s", client_id="c", name="Larkspur Dental",
        time_zone="UTC", state="active", created_at=0,
    )  # fmt: skip
    assert site is not None
    return Scope(vendor[0], site[0])


async def _grouped(database: Database, vault: Vault, scope: Scope, *, audited: bool) -> float:
    """Return the writes a second of all callers together; each waits for its own commit."""
    actor, end = Actor("vendor", "bench", "request"), perf_counter() + SECONDS
    clock = SystemClock()
    payload = secrets.token_bytes(PAYLOAD_BYTES)  # incompressible

    async def caller() -> int:
        done = 0
        while perf_counter() < end:
            now = clock.now()
            id = new_number(now)
            row = _row(id, to_micros(now), vault.seal(scope, "claims", id, payload))
            await database.write(scope, partial(_store, row, audited), actor=actor)
            done += 1
        return done

    start = perf_counter()
    total = sum(await asyncio.gather(*(caller() for _ in range(WRITERS))))
    return total / (perf_counter() - start)


async def _store(row: dict[str, object], audited: bool, tx: Tx) -> None:  # noqa: FBT001
    await tx.run(CLAIM, **row)
    if audited:
        tx.audit("claims.submitted", ids=[str(row["claim_number"])])


def _row(id: str, now: int, payload: bytes) -> dict[str, object]:
    """Return a claim's row, whose number and moments are in the order of time as a real claim's are."""
    return {
        "claim_number": id, "kind": "medical", "form": "v3_medical", "state": "received", "payer_id": "p",
        "header": b"",
        "vendor_claim_hash": secrets.token_hex(16), "content_hash": "c", "account_as_number": 0,
        "total_cents": 0, "created_at": now, "created_day": "2024-03-05", "updated_at": now,
        "payload": payload,
    }  # fmt: skip


def _raw(file: Path) -> float:
    """Return the baseline: the same durable settings, one row of the same size per commit, nothing else."""
    connection: sqlite3.Connection = connect(file)
    connection.execute("CREATE TABLE IF NOT EXISTS claims (id TEXT PRIMARY KEY, payload BLOB)")
    clock = SystemClock()
    payload, done, start = secrets.token_bytes(PAYLOAD_BYTES), 0, perf_counter()
    while perf_counter() - start < SECONDS:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO claims VALUES (?, ?)", (new_number(clock.now()), payload))
        connection.execute("COMMIT")
        done += 1
    connection.close()
    return done / (perf_counter() - start)
