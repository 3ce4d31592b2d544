"""Writes of one kind that wait at the same time: stored as one, answered and audited one by one."""

import asyncio

import pytest
from sqlalchemy import func, select

from clearlane.store import claims, schema
from clearlane.store.claims import NOT_ACCEPTED, RECEIVED, NewClaim
from clearlane.store.database import Actor, Conflict, System, Together
from clearlane.store.sql import Statement
from tests.databases import ADD_VENDOR, make_site

ALL = System("a test")
COUNT = Statement(select(func.count()).select_from(schema.vendors))
AUDITED = Statement(
    select(schema.audit.c.request_id, schema.audit.c.ids).order_by(schema.audit.c.seq)
)


class Adding:
    """Adds vendors, and remembers how many came together."""

    def __init__(self):
        self.sizes = []

    async def __call__(self, txs, keys):
        self.sizes.append(len(keys))
        found = []
        for key in keys:
            row = await txs[0].row(
                ADD_VENDOR, vendor_key=key, name="Fernhill Family Practice", state="active",
                proxy_login=0, rate_per_minute=None, created_at=1,
            )  # fmt: skip
            found.append(row[0])
        for tx, key in zip(txs, keys, strict=True):
            tx.audit("vendor.added", ids=[key])
        return found


async def write_all(database, run, keys):
    return await asyncio.gather(
        *(
            database.write(ALL, Together(run, key), actor=Actor("operator", "nora", f"for-{key}"))
            for key in keys
        ),
        return_exceptions=True,
    )


async def read(database, statement):
    async with database.read(ALL) as tx:
        return await tx.rows(statement)


async def test_jobs_alike_run_once_and_each_has_its_result_and_audit_row(database):
    adding, keys = Adding(), [f"key-{n}" for n in range(100)]
    ids = await write_all(database, adding, keys)
    assert len(set(ids)) == 100
    assert len(adding.sizes) < 100
    assert sum(adding.sizes) == 100
    assert await read(database, COUNT) == [(100,)]
    assert {row[0]: row[1] for row in await read(database, AUDITED)} == {
        f"for-{key}": f'["{key}"]' for key in keys
    }


async def test_a_fault_of_one_meets_its_own_caller_only(database):
    keys = [*(f"key-{n}" for n in range(20)), "key-7"]
    told = await write_all(database, Adding(), keys)
    faults = [one for one in told if isinstance(one, Exception)]
    assert [type(fault) for fault in faults] == [Conflict]
    assert await read(database, COUNT) == [(20,)]
    assert len(await read(database, AUDITED)) == 20


async def test_documents_that_wait_together_settle_one_id_once(database):
    scope = await make_site(database)

    async def save(txs, documents):
        ends = iter(await claims.settle(txs[0], [row for rows in documents for row in rows]))
        return [[next(ends) for _ in rows] for rows in documents]

    documents = [[a_claim(n, "one id", content=f"{n % 2}")] for n in range(30)]
    documents += [[a_claim(100 + n, f"id {n}", state=NOT_ACCEPTED)] for n in range(2)]
    ends = await asyncio.gather(
        *(
            database.write(scope, Together(save, rows), actor=Actor("vendor", "a"))
            for rows in documents
        )
    )
    told = [end for (end,) in ends]
    assert len({end.request_id for end in told[:30]}) == 1
    assert [end.earlier for end in told].count(False) == 3
    assert [end.same for end in told[:30]].count(True) == 15


@pytest.mark.parametrize("name", ["_LIVING", "_REFERENCES", "_DROP_REFERENCES"])
async def test_what_a_submission_looks_up_is_found_by_an_index(database, name):
    if database.dialect != "sqlite":
        pytest.skip("PostgreSQL plans by the number of rows")
    compiled = getattr(claims, name).on("sqlite")
    connection = await database._readers.get()
    try:
        rows = await connection.execute_fetchall(
            f"EXPLAIN QUERY PLAN {compiled.text}", ["[]" for _ in compiled.order]
        )
    finally:
        database._readers.put_nowait(connection)
    plan = next(row[3] for row in rows if "claim" in row[3])
    assert plan.startswith("SEARCH")
    assert name != "_LIVING" or "uq_claims_living" in plan


def a_claim(number, vendor_claim, *, content="same", state=RECEIVED):
    return NewClaim(
        request_id=f"C{number:018}",
        kind="medical",
        state=state,
        payer_id="TST01",
        vendor_claim=vendor_claim,
        content=content,
        reference="account",
        total_cents=100,
        created_at=1,
        created_day="2026-01-05",
        payload=b"sealed",
    )
