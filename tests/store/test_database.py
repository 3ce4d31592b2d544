"""The contract of reads and writes, on both databases."""

import asyncio
import traceback

import pytest
from sqlalchemy import bindparam, func, select, update

from clearlane.kernel.ids import Scope
from clearlane.store.database import schema
from clearlane.store.database.database import (
    Actor,
    ConstraintViolation,
    DatabaseUnavailable,
    ForeignAwait,
    StoreFault,
    SystemScope,
)
from clearlane.store.database.group_commit import StatementFault
from clearlane.store.database.postgresql import POSTGRESQL_WRITERS
from clearlane.store.database.sql import Statement, among, scoped_insert, scoped_select
from tests.databases import ADD_VENDOR, make_site
from tests.patience import until

OPERATOR = Actor("operator", "nora", "req-1")
ALL = SystemScope("a test")
COUNT = Statement(select(func.count()).select_from(schema.vendors))
AUDITED = Statement(select(schema.audit).order_by(schema.audit.c.seq))
RENAME = Statement(
    update(schema.vendors)
    .where(schema.vendors.c.vendor_key == bindparam("key"))
    .values(name=bindparam("name"))
)
NAMES = Statement(select(schema.vendors.c.vendor_key, schema.vendors.c.name).order_by("vendor_key"))


def adding(key, name="Fernhill Family Practice"):
    async def job(tx):
        found = await tx.row(
            ADD_VENDOR, vendor_key=key, name=name, state="active", proxy_login=0,
            rate_per_minute=None, created_at=1,
        )  # fmt: skip
        tx.audit("vendor.added", ids=[key])
        return found[0]

    return job


async def count(database):
    async with database.read(ALL) as tx:
        return (await tx.row(COUNT))[0]


async def audited(database):
    async with database.read(ALL) as tx:
        return await tx.rows(AUDITED)


async def test_many_concurrent_writes_are_all_stored_and_audited_in_one_chain(database):
    ids = await asyncio.gather(
        *(database.write(ALL, adding(f"key-{n}"), actor=OPERATOR) for n in range(300))
    )
    assert len(set(ids)) == 300
    assert await count(database) == 300
    assert [row[0] for row in await audited(database)] == list(range(1, 301))


async def test_a_failing_job_is_undone_alone_and_raises_for_its_caller(database):
    async def failing(tx):
        await adding("lost")(tx)
        raise LookupError("the job's own fault")

    jobs = [adding("a"), failing, adding("b"), adding("a"), adding("c")]
    results = await asyncio.gather(
        *(database.write(ALL, job, actor=OPERATOR) for job in jobs), return_exceptions=True
    )
    assert isinstance(results[1], LookupError)
    assert isinstance(results[3], ConstraintViolation)
    assert "vendor_key" in results[3].constraint
    assert await count(database) == 3
    assert len(await audited(database)) == 3


async def test_what_was_written_is_there_after_reopening(place):
    first = await place.open()
    await first.write(ALL, adding("kept"), actor=OPERATOR)
    await first.close()
    second = await place.open()
    assert await count(second) == 1
    await second.close()


async def test_run_returns_the_number_of_rows_affected(database):
    await database.write(ALL, adding("a"), actor=OPERATOR)

    async def job(tx):
        one = await tx.run(RENAME, key="a", name="Larkspur Dental")
        none = await tx.run(RENAME, key="b", name="Larkspur Dental")
        returning = await tx.run(
            ADD_VENDOR, vendor_key="c", name="x", state="active", proxy_login=0,
            rate_per_minute=None, created_at=1,
        )  # fmt: skip
        return one, none, returning

    assert await database.write(ALL, job, actor=OPERATOR) == (1, 0, 1)


async def test_rows_come_back_as_plain_tuples_and_one_row_or_none(database):
    await database.write(ALL, adding("a"), actor=OPERATOR)
    found = Statement(
        select(schema.vendors.c.vendor_key, schema.vendors.c.rate_per_minute).where(
            among(schema.vendors.c.vendor_key, "keys")
        )
    )
    async with database.read(ALL) as tx:
        rows = await tx.rows(found, keys=["a", "b"])
        assert rows == [("a", None)]
        assert type(rows[0]) is tuple
        assert await tx.row(found, keys=["a"]) == ("a", None)
        assert await tx.row(found, keys=["b"]) is None
        assert await tx.rows(found, keys=[]) == []


async def test_many_stores_every_row_of_the_scope(database):
    scope, stranger = await make_site(database), await make_site(database)
    rows = [{"claim_number": f"r{n}", "at": n, "event": "received"} for n in range(20)]
    seen = scoped_select(select(schema.claim_events.c.at), schema.claim_events)

    async def job(tx):
        await tx.many(CLAIM, [a_claim(row["claim_number"]) for row in rows])
        await tx.many(EVENT, rows)
        await tx.many(EVENT, [])

    await database.write(scope, job, actor=OPERATOR)
    async with database.read(scope) as tx:
        assert len(await tx.rows(seen)) == 20
    async with database.read(stranger) as tx:
        assert await tx.rows(seen) == []


async def test_a_row_cannot_name_a_vendor_and_another_vendors_site(database):
    own, foreign = await make_site(database), await make_site(database)
    mixed = Scope(own.vendor, foreign.site)
    with pytest.raises(ConstraintViolation):
        await database.write(
            mixed, lambda tx: tx.run(CLAIM, **a_claim("r1")), actor=Actor("vendor", "x")
        )


async def test_a_read_sees_one_moment_and_changes_nothing(database):
    await database.write(ALL, adding("a"), actor=OPERATOR)
    async with database.read(ALL) as tx:
        before = await tx.rows(NAMES)
        await database.write(ALL, adding("b"), actor=OPERATOR)
        assert await tx.rows(NAMES) == before
        with pytest.raises(StatementFault):
            await tx.run(RENAME, key="a", name="x")
        with pytest.raises(StatementFault):
            await tx.many(RENAME, [])
        with pytest.raises(StatementFault):
            tx.audit("read")
        with pytest.raises(StoreFault):
            await tx.row(
                ADD_VENDOR, vendor_key="z", name="x", state="active", proxy_login=0,
                rate_per_minute=None, created_at=1,
            )  # fmt: skip
    assert await count(database) == 2


async def test_an_audit_row_names_actor_action_owner_and_time(database):
    scope = await make_site(database)

    async def job(tx):
        tx.audit("claims.read", ids=["r1", "r2"], detail="by day")
        tx.audit("claims.exported", count=7)

    await database.write(scope, job, actor=Actor("vendor", "acme", "req-9"))
    first, second = (row[:10] for row in await audited(database))
    micros = 1_709_640_000_000_000
    assert first == (
        1, micros, scope.vendor, scope.site, "vendor:acme", "claims.read", "req-9",
        '["r1", "r2"]', 2, "by day",
    )  # fmt: skip
    assert second[7:9] == ("[]", 7)


async def test_a_write_canceled_while_it_waits_stores_nothing(database):
    entered = []

    async def slow(tx):
        entered.append(tx)
        for _ in range(3_000):
            await tx.rows(NAMES)

    # Every writer is busy, so the last one waits.
    busy = []
    for _ in range(POSTGRESQL_WRITERS if database.dialect == "postgresql" else 1):
        busy.append(asyncio.create_task(database.write(ALL, slow, actor=OPERATOR)))
        await until(lambda: len(entered) == len(busy))
    waiting = asyncio.create_task(database.write(ALL, adding("lost"), actor=OPERATOR))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.gather(*busy)
    assert await count(database) == 0


async def test_a_write_canceled_too_late_returns_its_outcome(database):
    entered = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def slow(tx):
        loop.call_soon_threadsafe(entered.set)
        for _ in range(300):
            await tx.rows(NAMES)
        return await adding("kept")(tx)

    task = asyncio.create_task(database.write(ALL, slow, actor=OPERATOR))
    await entered.wait()
    task.cancel()
    assert isinstance(await task, int)
    assert await count(database) == 1


async def test_a_time_limit_that_comes_too_late_does_not_hide_a_stored_row(database):
    async def slow(tx):
        for _ in range(300):
            await tx.rows(NAMES)
        return await adding("kept")(tx)

    stored, limited = None, False
    try:
        async with asyncio.timeout(0.005):
            stored = await database.write(ALL, slow, actor=OPERATOR)
    except TimeoutError:
        limited = True
    assert limited == (stored is None)
    assert await count(database) == (0 if limited else 1)
    assert not asyncio.current_task().cancelling()


async def test_closing_finishes_waiting_writes_and_refuses_later_ones(place):
    database = await place.open()
    writes = [
        asyncio.create_task(database.write(ALL, adding(f"k{n}"), actor=OPERATOR)) for n in range(20)
    ]
    await asyncio.sleep(0)
    await database.close()
    assert len(await asyncio.gather(*writes)) == 20
    with pytest.raises(DatabaseUnavailable):
        await database.write(ALL, adding("late"), actor=OPERATOR)


async def test_no_exception_of_the_store_holds_a_value(database):
    marker = "MARKER-ROSA-ARDEN"
    await database.write(ALL, adding(marker), actor=OPERATOR)

    async def wrong_type(tx):
        await tx.run(RENAME, key=marker, name={"no": marker})

    async def wrong_state(tx):
        await tx.run(
            ADD_VENDOR, vendor_key="x", name=marker, state=marker, proxy_login=0,
            rate_per_minute=None, created_at=1,
        )  # fmt: skip

    for job in (adding(marker), wrong_type, wrong_state):
        with pytest.raises(StoreFault) as caught:
            await database.write(ALL, job, actor=OPERATOR)
        shown = "".join(traceback.format_exception(caught.value, chain=True))
        lines = [line for line in shown.splitlines() if not line.startswith("  ")]
        assert marker not in "\n".join(lines)
        assert marker not in repr(caught.value.__context__)


async def test_a_job_that_awaits_anything_else_is_refused_on_sqlite(new_place):
    database = await (await new_place("sqlite")).open()

    async def foreign(tx):
        await adding("lost")(tx)
        await asyncio.sleep(0)

    results = await asyncio.gather(
        database.write(ALL, adding("a"), actor=OPERATOR),
        database.write(ALL, foreign, actor=OPERATOR),
        database.write(ALL, adding("b"), actor=OPERATOR),
        return_exceptions=True,
    )
    assert isinstance(results[1], ForeignAwait)
    assert await count(database) == 2
    await database.close()


CLAIM = scoped_insert(
    schema.claims, "claim_number", "kind", "form", "state", "payer_id", "vendor_claim_hash", "content_hash",
    "account_as_number", "total_cents", "created_at", "created_day", "updated_at", "payload",
    "header",
)  # fmt: skip
EVENT = scoped_insert(schema.claim_events, "claim_number", "at", "event")


def a_claim(claim_number):
    return {
        "claim_number": claim_number, "kind": "medical", "form": "v3_medical", "state": "received", "payer_id": "p",
        "vendor_claim_hash": claim_number, "content_hash": "h", "account_as_number": 0, "total_cents": 100,
        "created_at": 1, "created_day": "2024-03-05", "updated_at": 1, "payload": b"sealed", "header": b"sealed",
    }  # fmt: skip
