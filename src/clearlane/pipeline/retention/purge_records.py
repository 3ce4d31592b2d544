"""Remove claims, payments, payers' files, proofs and audit rows whose retention period is over, and say beforehand what would go.

The engine runs the tick once a day. Each transaction removes a few rows and has an audit row, so that no other write waits
for long. What is under a legal hold stays. Kinds that are kept for a shorter time have ticks of their own.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter

from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.clock import from_micros
from clearlane.kernel.retention_kinds import RetentionKind
from clearlane.pipeline.retention.cut_audit_trail import count_old_rows, cut_audit_trail
from clearlane.pipeline.retention.cutoffs import Cutoff, RetentionTable, list_cutoffs, load_table
from clearlane.pipeline.retention.purge_runs import Purge, record_purge
from clearlane.pipeline.work_context import WorkContext, pause_after
from clearlane.store import inquiries
from clearlane.store.claims import not_accepted_claims
from clearlane.store.database.database import SystemScope, Tx
from clearlane.store.events import events
from clearlane.store.files import old_files
from clearlane.store.retention import old_claims, old_data_keys, old_payer_files

NAME, EVERY = Purge.RECORDS.value, "0 53 2 * * *"
CLAIMS_AT_ONCE = 50
"""Claims looked at in one transaction. Each has some dozen rows."""
ROWS_AT_ONCE = 100
REPORT = SystemScope("a report over all vendors, for an operator")

Page = Callable[[Tx], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class PurgeLine:
    """What would be removed of one kind of data."""

    kind: RetentionKind
    vendor_id: int
    """0 for rows that belong to no vendor alone."""
    days: int
    before: datetime
    counts: Mapping[str, int]
    """Rows that would go now, by what they are."""


async def purge_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Remove records that are older than their retention period."""
    await record_purge(context, Purge.RECORDS, purge_records(context, context.clock.now()))


async def purge_records(context: WorkContext, now: datetime) -> dict[str, int]:
    """Remove old records, a few at a time; return how many of each went."""
    removed = {"claims": 0, "batches": 0, "payments": 0, "files of payers": 0, "checkpoints": 0}
    for cutoff in await list_cutoffs(
        context.database, context.limits.kept_days, RetentionKind.CLAIMS, now
    ):
        removed["claims"] += await _purge_claims(context, cutoff)
        await context.purge(old_claims.SCOPE, _sets_page(cutoff))
    [remitted] = await list_cutoffs(
        context.database, context.limits.kept_days, RetentionKind.REMITTANCES, now
    )
    [proven] = await list_cutoffs(
        context.database, context.limits.kept_days, RetentionKind.PROOFS, now
    )
    removed["batches"] = await context.purge(old_claims.SCOPE, _batches_page(remitted.before))
    removed["payments"] = await context.purge(
        old_payer_files.SCOPE, _payments_page(remitted.before)
    )
    removed["files of payers"] = await context.purge(
        old_payer_files.SCOPE, _contents_page(remitted.before)
    )
    removed["checkpoints"] = await context.purge(
        old_payer_files.SCOPE, _checkpoints_page(proven.before)
    )
    async with context.database.read(REPORT) as tx:
        days = (await load_table(tx, context.limits.kept_days)).days(RetentionKind.AUDIT)
    removed["rows of the audit trail"] = await cut_audit_trail(context, days)
    removed["data keys"] = await destroy_unused_keys(context, now)
    return removed


async def destroy_unused_keys(context: WorkContext, now: datetime) -> int:
    """Destroy the data keys of past months with which nothing is sealed any more; return how many there were."""
    month = f"{now:%Y-%m}"
    destroyed = 0
    after: tuple[str, int] | None = ("", 0)
    while after is not None:
        async with context.database.read(old_data_keys.SCOPE) as tx:
            page = await old_data_keys.list_past(tx, month, after=after, limit=ROWS_AT_ONCE)
        after = (page[-1].month, page[-1].id) if len(page) == ROWS_AT_ONCE else None
        for key in page:

            async def job(tx: Tx, key: old_data_keys.PastKey = key) -> int:
                if await old_data_keys.is_in_use(tx, key):
                    return 0
                await old_data_keys.destroy(tx, key)
                tx.audit("keys.destroyed", ids=[str(key.id)], detail=f"{key.retention} {key.month}")
                return 1

            async with context.database.read(old_data_keys.SCOPE) as tx:
                in_use = await old_data_keys.is_in_use(tx, key)
            if not in_use:
                destroyed += await context.database.write(
                    old_data_keys.SCOPE, job, actor=context.actor
                )
    return destroyed


async def report_purge(context: WorkContext, now: datetime) -> list[PurgeLine]:
    """Return what a purge at a moment would remove, of each kind and vendor; change nothing."""
    async with context.database.read(REPORT) as tx:
        table = await load_table(tx, context.limits.kept_days)
    found = []
    for kind in RetentionKind:
        for cutoff in table.cutoffs(kind, now):
            counts = await _COUNTS[kind](context, cutoff)
            found.append(_line(table, kind, cutoff, counts))
    return found


def _line(
    table: RetentionTable, kind: RetentionKind, cutoff: Cutoff, counts: Mapping[str, int]
) -> PurgeLine:
    days = table.days(kind, cutoff.vendor_id)
    return PurgeLine(kind, cutoff.vendor_id, days, from_micros(cutoff.before), counts)


async def _purge_claims(context: WorkContext, cutoff: Cutoff) -> int:
    """Remove a vendor's old claims, page by page; what is held is passed over."""
    removed, after, began = 0, (0, ""), perf_counter()
    while True:

        async def job(tx: Tx, after: tuple[int, str] = after) -> old_claims.OldClaims:
            page = await old_claims.find_old(
                tx, cutoff.vendor_id, cutoff.before, after=after, limit=CLAIMS_AT_ONCE
            )
            if page.numbers:
                await old_claims.remove(tx, page.numbers)
                tx.audit(
                    "claims.purged",
                    ids=page.numbers,
                    count=len(page.numbers),
                    detail=_since(cutoff.before),
                )
            return page

        page = await context.database.write(old_claims.SCOPE, job, actor=context.actor)
        removed += len(page.numbers)
        if page.after is None:
            return removed
        after = page.after
        began = await pause_after(began)


def _since(before: int) -> str:
    return f"without a change since {from_micros(before):%Y-%m-%d}"


def _sets_page(cutoff: Cutoff) -> Page:
    return lambda tx: old_claims.purge_sets(tx, cutoff.vendor_id, cutoff.before, ROWS_AT_ONCE)


def _batches_page(before: int) -> Page:
    async def page(tx: Tx) -> int:
        count = await old_claims.purge_batches(tx, before, ROWS_AT_ONCE)
        if count:
            tx.audit("batches.purged", count=count)
        return count

    return page


def _payments_page(before: int) -> Page:
    async def page(tx: Tx) -> int:
        ids = await old_payer_files.purge_payments(tx, before, ROWS_AT_ONCE)
        if ids:
            tx.audit("payments.purged", ids=ids, count=len(ids))
        return len(ids)

    return page


def _contents_page(before: int) -> Page:
    async def page(tx: Tx) -> int:
        ids = await old_payer_files.purge_contents(tx, before, ROWS_AT_ONCE)
        if ids:
            tx.audit("inbox.purged", ids=[str(id) for id in ids], count=len(ids))
        return len(ids)

    return page


def _checkpoints_page(before: int) -> Page:
    async def page(tx: Tx) -> int:
        numbers = await old_payer_files.purge_checkpoints(tx, before, ROWS_AT_ONCE)
        if numbers:
            tx.audit("proof.purged", ids=[str(one) for one in numbers], count=len(numbers))
        return len(numbers)

    return page


async def _count_claims(context: WorkContext, cutoff: Cutoff) -> dict[str, int]:
    """Count old claims as a purge finds them: page by page, in short reads."""
    count, after = 0, (0, "")
    while True:
        async with context.database.read(REPORT) as tx:
            page = await old_claims.find_old(
                tx, cutoff.vendor_id, cutoff.before, after=after, limit=CLAIMS_AT_ONCE * 10
            )
        count += len(page.numbers)
        if page.after is None:
            return {"claims": count}
        after = page.after


async def _count_remittances(context: WorkContext, cutoff: Cutoff) -> dict[str, int]:
    async with context.database.read(REPORT) as tx:
        return {
            "files of claims": await old_claims.count_old_batches(tx, cutoff.before),
            "payments": await old_payer_files.count_old(tx, cutoff.before, "payments"),
            "files of payers": await old_payer_files.count_old(tx, cutoff.before, "contents"),
        }


async def _count_proofs(context: WorkContext, cutoff: Cutoff) -> dict[str, int]:
    async with context.database.read(REPORT) as tx:
        found = await old_payer_files.count_old(tx, cutoff.before, "checkpoints")
    return {"checkpoints": found}


async def _count_audit_rows(context: WorkContext, cutoff: Cutoff) -> dict[str, int]:
    return {"rows of the audit trail": await count_old_rows(context, cutoff.before)}


def _counting(
    name: str, count: Callable[[Tx, int, int], Awaitable[int]]
) -> Callable[[WorkContext, Cutoff], Awaitable[dict[str, int]]]:
    """Return a function that counts the old rows of a vendor."""

    async def counted(context: WorkContext, cutoff: Cutoff) -> dict[str, int]:
        async with context.database.read(REPORT) as tx:
            return {name: await count(tx, cutoff.vendor_id, cutoff.before)}

    return counted


_COUNTS: Mapping[RetentionKind, Callable[[WorkContext, Cutoff], Awaitable[Mapping[str, int]]]] = {
    RetentionKind.CLAIMS: _count_claims,
    RetentionKind.REMITTANCES: _count_remittances,
    RetentionKind.PROOFS: _count_proofs,
    RetentionKind.ELIGIBILITY: _counting("requests", inquiries.count_old),
    RetentionKind.EVENTS: _counting("rows of events", events.count_before),
    RetentionKind.FILES: _counting("files", old_files.count_old),
    RetentionKind.NOT_ACCEPTED: _counting("claims", not_accepted_claims.count_old),
    RetentionKind.AUDIT: _count_audit_rows,
}
