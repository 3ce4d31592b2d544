"""Erase a site whose data were exported: delete its rows, destroy its keys, and certify what went and what stays.

Refused while anything is under a legal hold, on its way to a payer, or newer than the export. Small transactions, so that
other clients wait for nothing; interrupted, it is run again. What speaks of several clients stays for its retention period.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from clearlane.accounts.model import Site, SiteState
from clearlane.kernel.clock import moment_text, to_micros
from clearlane.kernel.retention_kinds import RetentionKind
from clearlane.pipeline.operator.export_site import signed_text, verify_export
from clearlane.pipeline.retention.cutoffs import load_table
from clearlane.pipeline.work_context import WorkContext
from clearlane.proofs.signing import public_key_of
from clearlane.store.audit import audit
from clearlane.store.database.database import Actor, OperationRefused, Tx
from clearlane.store.installation.nodes import bump_revision
from clearlane.store.retention import (
    legal_holds,
    old_claims,
    old_data_keys,
    old_payer_files,
    site_erasure,
)
from clearlane.store.vault.key_rotation import REVISION as KEYS_REVISION

FORMAT = "clearlane certificate of erasure 1"
CLAIMS_AT_ONCE, ROWS_AT_ONCE = 50, 500
HOW_DESTROYED = (
    "Rows were deleted, and every data key of the site was destroyed: a copy of what was sealed with them "
    "can be read only where a copy of the keys is too."
)
ABOUT_BACKUPS = (
    "Backups written before the erasure hold the data with its keys until they are deleted; the day is what the "
    "operator stated."
)


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """What an erasure would do."""

    site: Site
    manifest: Mapping[str, Any]
    open_claims: int
    """Claims about which payers may still say something: it would match none any more."""


async def plan_erasure(context: WorkContext, site: Site, export: Path) -> ErasurePlan:
    """Return what would be erased; refuse what must not be."""
    manifest = verify_export(export, public_key_of(context.vault.proof_seed))
    if manifest["vendor_site_id"] != site.vendor_site_id:
        raise OperationRefused(f"{export} is the export of site {manifest['vendor_site_id']}.")
    if site.state is not SiteState.SUSPENDED:
        raise OperationRefused(
            f"Site {site.vendor_site_id} may still submit: suspend it first, export it, then erase it."
        )
    own = (site.vendor_id, site.id)
    async with context.database.read(site_erasure.SCOPE) as tx:
        holds = await legal_holds.list_of_site(tx, site.id)
        on_their_way = await site_erasure.count_on_their_way(tx, *own)
        open_claims = await site_erasure.count_open(tx, *own)
        changed = await site_erasure.last_change(tx, *own)
    if holds:
        held = ", ".join(f"{one.id} ({one.matter})" for one in holds)
        raise OperationRefused(f"Legal holds are in force: {held}. Nothing was erased.")
    if on_their_way:
        raise OperationRefused(
            f"{on_their_way} claims wait to be sent, or are in files that are not delivered. Cancel or deliver them first."
        )
    if changed > to_micros(datetime.fromisoformat(manifest["as_of"])):
        raise OperationRefused(
            f"A claim of the site has changed since the export of {manifest['as_of']}: export it again."
        )
    return ErasurePlan(site, manifest, open_claims)


async def erase_site(
    context: WorkContext,
    plan: ErasurePlan,
    *,
    backups_until: datetime | None,
    actor: Actor,
    progress: Callable[[int], None] = lambda done: None,
) -> str:
    """Erase a site; return the certificate, signed, as JSON."""
    site, began = plan.site, context.clock.now()
    shared_files = await _clear_own_files(context, site, actor)
    counts = await _erase_rows(context, site, actor, progress)
    keys = await _destroy_keys(context, plan, sum(counts.values()), actor)
    kept = await _kept(context, site, shared_files, began)
    head = await audit.read_head(context.database)
    return signed_text(
        context,
        {
            "format": FORMAT,
            "vendor_site_id": site.vendor_site_id,
            "client_id": site.client_id,
            "name": site.name,
            "began_at": moment_text(began),
            "finished_at": moment_text(context.clock.now()),
            "by": actor.name,
            "export": {"as_of": plan.manifest["as_of"], "files": plan.manifest["files"]},
            "destroyed": {"rows": counts, "data_keys": keys, "how": HOW_DESTROYED},
            "kept": kept,
            "backups": {
                "hold_it_until": _day(backups_until) if backups_until else None,
                "note": ABOUT_BACKUPS,
            },
            "audit": {"row": head.seq, "hash": head.hash.hex()},
        },
    )


async def _erase_rows(
    context: WorkContext, site: Site, actor: Actor, progress: Callable[[int], None]
) -> dict[str, int]:
    """Delete the site's rows page by page; return how many of each table."""
    own = (site.vendor_id, site.id)
    counts = {"claims": await _erase_claims(context, site, actor, progress)}
    counts["payment_shares"] = await _repeat(
        context, actor, lambda tx: site_erasure.delete_own_payments(tx, *own, ROWS_AT_ONCE)
    )
    for table in site_erasure.SITE_TABLES:
        deleted = await _repeat(
            context,
            actor,
            partial(
                site_erasure.delete_rows,
                table=table,
                vendor_id=site.vendor_id,
                site_id=site.id,
                limit=ROWS_AT_ONCE,
            ),
        )
        if deleted:
            counts[table] = deleted
            progress(sum(counts.values()))
    return counts


async def _destroy_keys(context: WorkContext, plan: ErasurePlan, rows: int, actor: Actor) -> int:
    """Destroy the site's data keys, and audit the erasure; return how many keys."""
    site = plan.site

    async def end(tx: Tx) -> int:
        keys = await old_data_keys.destroy_of_site(tx, site.vendor_id, site.id)
        # A node that has one loaded would seal with it what no one could read after its next start.
        await bump_revision(tx, KEYS_REVISION)
        tx.audit(
            "site.erased",
            ids=[site.vendor_site_id],
            count=rows,
            detail=f"{keys} data keys; export of {plan.manifest['as_of']}",
        )
        return keys

    return await context.database.write(site_erasure.SCOPE, end, actor=actor)


async def _kept(
    context: WorkContext, site: Site, shared_files: int, began: datetime
) -> list[dict[str, Any]]:
    """Return what stays, why, and until when."""
    async with context.database.read(site_erasure.SCOPE) as tx:
        periods = await load_table(tx, context.limits.kept_days)
        shared_payments = await site_erasure.count_shared_payments(tx, site.vendor_id, site.id)

    def until(kind: RetentionKind) -> str:
        return _day(began + timedelta(days=periods.days(kind)))

    return [
        {
            "what": "files of payers that name claims of other sites too, as this run found them",
            "count": shared_files,
            "why": "received as evidence about other clients; kept for the retention period of remittances",
            "until": until(RetentionKind.REMITTANCES),
        },
        {
            "what": "payments that paid claims of other sites too, without what they paid to this site's claims",
            "count": shared_payments,
            "why": "records of payments, kept for the retention period of remittances",
            "until": until(RetentionKind.REMITTANCES),
        },
        {
            "what": "the audit trail: ids, times, actors and actions, no content",
            "why": "HIPAA 45 CFR 164.316(b): documentation is kept for six years at least",
            "until": until(RetentionKind.AUDIT),
        },
        {
            "what": "the log of filings: salted hashes, from which nothing can be read",
            "why": "its checkpoints are a chain",
        },
        {
            "what": "the site's name, ids and time zone, and the accounts of people",
            "why": "they own audit rows",
        },
    ]


async def _clear_own_files(context: WorkContext, site: Site, actor: Actor) -> int:
    """Remove the content of payers' files that are about this site alone; return how many others name it.

    Before its claims go, whose facts say which files these are. The file of a payment goes with the payment.
    """
    shared, after = 0, 0
    while True:
        async with context.database.read(site_erasure.SCOPE) as tx:
            page = await old_payer_files.list_unshared(
                tx, site.vendor_id, site.id, after, ROWS_AT_ONCE
            )
        if not page:
            return shared
        after = page[-1][0]
        shared += sum(not is_own for _, is_own in page)
        own = [id for id, is_own in page if is_own]

        async def job(tx: Tx, own: list[int] = own) -> None:
            if cleared := await old_payer_files.clear_contents(tx, own):
                tx.audit("inbox.erased", ids=[site.vendor_site_id], count=cleared)

        await context.database.write(site_erasure.SCOPE, job, actor=actor)


async def _erase_claims(
    context: WorkContext, site: Site, actor: Actor, progress: Callable[[int], None]
) -> int:
    own, erased = (site.vendor_id, site.id), 0

    async def unlink(tx: Tx) -> None:
        await site_erasure.delete_links(tx, *own)

    async def job(tx: Tx) -> int:
        numbers = await site_erasure.list_claims(tx, *own, CLAIMS_AT_ONCE)
        if numbers:
            await old_claims.remove(tx, numbers)
            await old_claims.remove_empty_batches(tx)
            tx.audit("site.claims_erased", ids=numbers, count=len(numbers))
        return len(numbers)

    await context.database.write(site_erasure.SCOPE, unlink, actor=actor)
    while count := await context.database.write(site_erasure.SCOPE, job, actor=actor):
        erased += count
        progress(erased)
    return erased


async def _repeat(context: WorkContext, actor: Actor, job: Callable[[Tx], Any]) -> int:
    """Repeat a job that deletes some rows until it deletes none; return how many went."""
    total = 0
    while count := await context.database.write(site_erasure.SCOPE, job, actor=actor):
        total += int(count)
    return total


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"
