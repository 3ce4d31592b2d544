"""Group commit: combined jobs are stored together and audited one by one; a canceled write is withdrawn or waited for."""

import asyncio
from collections import Counter

import pytest
from sqlalchemy import func, select

from clearlane.claims.resubmission import ResubmissionDecision, ResubmissionTimes
from clearlane.kernel.clock import EPOCH
from clearlane.store.claims import account_numbers, claim_ids
from clearlane.store.claims.claims import NOT_ACCEPTED, RECEIVED
from clearlane.store.claims.new_claims import NewClaim
from clearlane.store.claims.save_claims import save as save_claims
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, CombinedJob, ConstraintViolation, SystemScope
from clearlane.store.database.group_commit import (
    CommitOutcomeUnknown,
    DatabaseUnavailable,
    DiskFull,
    PendingWrite,
    WriteQueue,
    WriteResult,
    submit,
    write_fault,
)
from clearlane.store.database.sql import Statement
from tests.databases import ADD_VENDOR, make_site

ALL = SystemScope("a test")
COUNT = Statement(select(func.count()).select_from(schema.vendors))
AUDITED = Statement(
    select(schema.audit.c.request_id, schema.audit.c.ids).order_by(schema.audit.c.seq)
)


class Adding:
    """Adds vendors, and counts how many were combined."""

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
            database.write(
                ALL, CombinedJob(run, key), actor=Actor("operator", "nora", f"for-{key}")
            )
            for key in keys
        ),
        return_exceptions=True,
    )


async def read(database, statement):
    async with database.read(ALL) as tx:
        return await tx.rows(statement)


async def test_combined_jobs_run_once_and_each_has_its_result_and_audit_row(database):
    adding, keys = Adding(), [f"key-{n}" for n in range(100)]
    ids = await write_all(database, adding, keys)
    assert len(set(ids)) == 100
    assert len(adding.sizes) < 100
    assert sum(adding.sizes) == 100
    assert await read(database, COUNT) == [(100,)]
    assert {row[0]: row[1] for row in await read(database, AUDITED)} == {
        f"for-{key}": f'["{key}"]' for key in keys
    }


async def test_a_fault_of_one_job_reaches_its_own_caller_only(database):
    keys = [*(f"key-{n}" for n in range(20)), "key-7"]
    results = await write_all(database, Adding(), keys)
    faults = [one for one in results if isinstance(one, Exception)]
    assert [type(fault) for fault in faults] == [ConstraintViolation]
    assert await read(database, COUNT) == [(20,)]
    assert len(await read(database, AUDITED)) == 20


async def test_of_submissions_in_one_group_one_claim_gets_a_vendor_claim_id(database):
    scope = await make_site(database)

    async def save(txs, documents):
        ends = iter(await save_claims(txs[0], [row for rows in documents for row in rows], None))
        return [[next(ends) for _ in rows] for rows in documents]

    documents = [[a_claim(n, "one id", content=f"{n % 2}")] for n in range(30)]
    documents += [[a_claim(100 + n, f"id {n}", state=NOT_ACCEPTED)] for n in range(2)]
    ends = await asyncio.gather(
        *(
            database.write(scope, CombinedJob(save, rows), actor=Actor("vendor", "a"))
            for rows in documents
        )
    )
    results = [end for (end,) in ends]
    assert len({end.earlier_id or end.claim_number for end in results[:30]}) == 1
    decisions = Counter(end.decision for end in results)
    assert decisions[None] == 3
    assert decisions[ResubmissionDecision.REPEATED_REQUEST] == 14
    assert decisions[ResubmissionDecision.ID_IN_USE] == 15


class CountedTx:
    """A transaction that counts its statements."""

    def __init__(self, tx):
        self._tx = tx
        self.statements = 0

    def __getattr__(self, name):
        self.statements += 1
        return getattr(self._tx, name)


async def test_a_known_id_on_its_way_costs_no_statement_more_than_a_new_one(database):
    """Two for the account numbers, two for the ids, and the insertion or one look at the claims that have the ids."""
    scope = await make_site(database)

    async def count(tx, *rows):
        counted = CountedTx(tx)
        ends = await save_claims(counted, rows, None)
        return [end.decision and end.decision.value for end in ends], counted.statements

    async def job(tx):
        assert await count(tx, a_claim(1, "one"), a_claim(2, "two")) == ([None, None], 5)
        assert await count(tx, a_claim(3, "one")) == (["repeated-request"], 5)
        assert await count(tx, a_claim(4, "one", content="other")) == (["id-in-use"], 5)

    await database.write(scope, job, actor=Actor("vendor", "a"))


@pytest.mark.parametrize(
    "statement", [claim_ids._UNDER_IDS, account_numbers._FIND, account_numbers._RELEASE]
)
async def test_what_a_submission_looks_up_is_found_by_an_index(database, statement):
    if database.dialect != "sqlite":
        pytest.skip("PostgreSQL plans by the number of rows")
    compiled = statement.compiled_for("sqlite")
    connection = await database._readers.get()
    try:
        rows = await connection.execute_fetchall(
            f"EXPLAIN QUERY PLAN {compiled.text}", ["[]" for _ in compiled.parameter_order]
        )
    finally:
        database._readers.put_nowait(connection)
    plan = next(row[3] for row in rows if "claim" in row[3])
    assert plan.startswith("SEARCH")
    assert "claim_ids" not in plan or "PRIMARY KEY" in plan


def a_claim(number, vendor_claim, *, content="same", state=RECEIVED):
    return NewClaim(
        claim_number=f"C{number:018}",
        kind="medical",
        form="v3_medical",
        state=state,
        payer_id="TST01",
        vendor_claim_hash=vendor_claim,
        content_hash=content,
        frequency="1",
        times=ResubmissionTimes(repeated_since=EPOCH, silent_since=EPOCH),
        reference="account",
        total_cents=100,
        created_at=1,
        created_day="2026-01-05",
        payload=b"sealed",
        header=b"sealed",
    )


async def nothing(tx):
    return None


def a_write() -> PendingWrite:
    loop = asyncio.get_running_loop()
    return PendingWrite(
        SystemScope("test"), Actor("node", "test"), nothing, loop, loop.create_future()
    )


async def submitted():
    """Return a queue, a write in it, and the task that waits for the write."""
    queue, write = WriteQueue(), a_write()
    task = asyncio.create_task(submit(queue, write))
    await asyncio.sleep(0)
    return queue, write, task


async def test_a_write_that_still_waits_is_withdrawn():
    queue, _, task = await submitted()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert queue.take() == []


async def test_a_write_that_a_group_has_taken_is_waited_for():
    queue, write, task = await submitted()
    assert queue.take() == [write]
    task.cancel()
    await asyncio.sleep(0)
    write.future.set_result("stored")
    assert await task == "stored"


async def test_a_write_stored_as_its_caller_is_canceled_returns_its_result():
    queue, write, task = await submitted()
    queue.take()
    write.future.set_result("stored")
    task.cancel()
    assert await task == "stored"


async def test_a_write_stored_just_after_its_caller_was_canceled_returns_its_result():
    queue, write, task = await submitted()
    queue.take()
    task.cancel()
    WriteResult(write, "stored").resolve()
    assert await task == "stored"


async def test_a_fault_just_after_its_caller_was_canceled_is_raised():
    queue, write, task = await submitted()
    queue.take()
    task.cancel()
    WriteResult(write, fault=ConstraintViolation("claims")).resolve()
    with pytest.raises(ConstraintViolation):
        await task


@pytest.mark.parametrize(
    ("faults", "earlier", "expected"),
    [
        ((None,), "", ""),
        ((None,), "the disk is full", ""),
        ((DiskFull("the disk is full"),), "", "the disk is full"),
        ((None, DatabaseUnavailable("no answer")), "", "no answer"),
        ((CommitOutcomeUnknown("lost"),), "", "lost"),
        # Faults of a job say nothing about the database.
        ((ConstraintViolation("c"),), "", ""),
        ((ConstraintViolation("c"),), "the disk is full", "the disk is full"),
    ],
)
def test_a_database_cannot_be_written_from_a_failed_write_until_one_succeeds(
    faults, earlier, expected
):
    outcomes = [WriteResult(None, fault=fault) for fault in faults]
    assert write_fault(outcomes, earlier) == expected
