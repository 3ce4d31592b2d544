"""The payer directory.

An import is one transaction: the rows, the audit entry and the revision that running nodes watch.
``payers.merge`` decides what it changes.
"""

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace as with_values
from sqlalchemy import bindparam, delete, select

from clearlane.events.event import NewEvent
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.merge import PayerChanges, merge
from clearlane.payers.model import Payer
from clearlane.payers.samples import LIVE_PAYERS, TEST_PAYERS
from clearlane.store.database.database import Actor, Database, Row, SystemScope, Tx, write_audit
from clearlane.store.database.schema import payers, revisions
from clearlane.store.database.sql import Statement, insert_into
from clearlane.store.delivery.routes import PAYERS_WITH_FILE_ROUTES
from clearlane.store.installation.nodes import bump_revision

REVISION = "payers"
PAYERS_PER_EVENT_MAX = 200
SCOPE = SystemScope("the payer directory belongs to the installation")

IncomingPayers = Sequence[tuple[int, Payer]]
"""Payers with their lines in the file they come from."""

# The order of the fields of a Payer, which is built from a row as it comes.
_COLUMNS = Payer.__struct_fields__
_ALL = Statement(select(*(payers.c[name] for name in _COLUMNS)))
_ONE = Statement(
    select(*(payers.c[name] for name in _COLUMNS)).where(
        payers.c.payer_id == bindparam("payer_id"), payers.c.type == bindparam("type")
    )
)
_ADD = Statement(insert_into(payers, *_COLUMNS))
_ADD_MISSING = Statement(insert_into(payers, *_COLUMNS).on_conflict_do_nothing())
_DROP = Statement(
    delete(payers).where(
        payers.c.payer_id == bindparam("payer_id"), payers.c.type == bindparam("type")
    )
)
_TEST = Statement(select(*(payers.c[name] for name in _COLUMNS)).where(payers.c.is_test == 1))
_REVISION = Statement(select(revisions.c.revision).where(revisions.c.name == REVISION))
# Read first by every change, so that two nodes change the directory one after the other.
_LOCK = Statement(
    select(revisions.c.revision).where(revisions.c.name == REVISION).with_for_update()
)


async def load_payers(database: Database, sandbox: bool) -> PayerDirectory:  # noqa: FBT001
    """Load the directory as one snapshot. On a sandbox every payer has a route: the loopback."""
    async with database.read(SCOPE) as tx:
        rows = await tx.rows(_ALL)
        routed = (
            None
            if sandbox
            else {(t, id.casefold()) for t, id in await tx.rows(PAYERS_WITH_FILE_ROUTES)}
        )
    # 20,000 payers take a tenth of a second to sort and encode, too long for a serving loop.
    return await asyncio.to_thread(_directory, rows, routed)


def _directory(rows: Iterable[Row], routed: set[tuple[str, str]] | None) -> PayerDirectory:
    """Build the snapshot; ``routed`` names the payers with a route, None means all of them."""
    payers = (_payer(row) for row in rows)
    return PayerDirectory(
        (with_values(p, has_route=routed is None or p.key in routed) for p in payers),
        sandbox=routed is None,
    )


async def find_payer(tx: Tx, payer_id: str, type: str) -> Payer | None:
    """Return a payer by its PayerId, for what has no snapshot of the directory at hand."""
    row = await tx.row(_ONE, payer_id=payer_id, type=type)
    return None if row is None else _payer(row)


async def preview_import(
    database: Database, incoming: IncomingPayers, *, drop_others: bool
) -> PayerChanges:
    """Return what an import would change now."""
    async with database.read(SCOPE) as tx:
        rows = await tx.rows(_ALL)
    return merge(map(_payer, rows), incoming, drop_others=drop_others)


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of an import. With findings nothing was changed."""

    changes: PayerChanges
    revision: int | None
    """The revision that running nodes must load; None when nothing changed."""


async def import_payers(
    database: Database,
    incoming: IncomingPayers,
    *,
    drop_others: bool,
    actor: Actor,
) -> ImportResult:
    """Merge the payers of a file into the directory, all or none."""

    async def job(tx: Tx) -> ImportResult:
        await tx.row(_LOCK)
        before = map(_payer, await tx.rows(_ALL))
        changes = merge(before, incoming, drop_others=drop_others)
        if not changes:
            return ImportResult(changes, None)
        gone = (*changes.removed, *(old for old, _ in changes.changed))
        await tx.many(_DROP, [{"payer_id": p.payer_id, "type": p.type} for p in gone])
        come = (*changes.added, *(new for _, new in changes.changed))
        await tx.many(_ADD, [_values(p) for p in come])
        tx.audit("payer.import", ids=changes.ids, detail=_summary(changes))
        tx.add_events(_events(changes))
        return ImportResult(changes, await bump_revision(tx, REVISION))

    return await database.write(SCOPE, job, actor=actor)


async def record_export(database: Database, count: int, *, actor: Actor) -> None:
    """Record in the audit trail that the directory was exported."""

    await write_audit(database, SCOPE, "payer.export", count=count, actor=actor)


async def ensure_sandbox_payers(database: Database) -> None:
    """Add the payers of a new sandbox.

    Test payers are kept as this version has them. The live samples are added once, before anything
    else was imported: what an operator drops or changes later stays so.
    """

    async def missing(tx: Tx) -> list[Payer]:
        revision = await tx.row(_REVISION)
        existing = {(p.type, p.payer_id): p for p in map(_payer, await tx.rows(_TEST))}
        stale = [p for p in TEST_PAYERS if existing.get((p.type, p.payer_id)) != p]
        untouched = revision is None or not revision[0]
        return [*stale, *(LIVE_PAYERS if untouched else ())]

    async def job(tx: Tx) -> None:
        await tx.row(_LOCK)
        wanted = await missing(tx)
        if not wanted:
            return
        stale = [{"payer_id": p.payer_id, "type": p.type} for p in wanted if p.is_test]
        await tx.many(_DROP, stale)
        await tx.many(_ADD_MISSING, [_values(p) for p in wanted])
        tx.audit("payer.import", ids=[p.payer_id for p in wanted], detail="sandbox")
        await bump_revision(tx, REVISION)

    # Every command of a sandbox comes by here, so a start that needs nothing writes nothing.
    async with database.read(SCOPE) as tx:
        needed = await missing(tx)
    if needed:
        await database.write(SCOPE, job, actor=Actor("node", "sandbox"))


def _payer(row: Row) -> Payer:
    (
        type, name, svc_payer_id, payer_id, national_payer_id, era_availability,
        offers_eligibility, claim_enrollment_required, is_test, active, aliases, has_route,
        accepts_claims, replacements, billing_zip_required, program, edits, member_id_pattern,
        filing_days, corrected_filing_days, secondary_filing_days, appeal_filing_days, attachments,
        institutional_payer_id,
        inquiry_enrollments,
    ) = row  # fmt: skip
    return Payer(
        type, name, svc_payer_id, payer_id, national_payer_id, era_availability,
        bool(offers_eligibility), bool(claim_enrollment_required), bool(is_test), bool(active),
        _words(aliases), bool(has_route), bool(accepts_claims), replacements,
        bool(billing_zip_required), program, _words(edits), member_id_pattern,
        filing_days, corrected_filing_days, secondary_filing_days, appeal_filing_days, _words(attachments),
        institutional_payer_id,
        _words(inquiry_enrollments),
    )  # fmt: skip


def _words(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def _values(payer: Payer) -> dict[str, object]:
    return {name: _column(getattr(payer, name)) for name in _COLUMNS}


def _column(value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value


def _events(changes: PayerChanges) -> list[NewEvent]:
    """Return the events of an import, each with a limited number of payers of one type."""
    found: list[NewEvent] = []
    for event, some in (
        ("payer.added", changes.added),
        ("payer.changed", [new for _, new in changes.changed]),
        ("payer.removed", changes.removed),
    ):
        for type in dict.fromkeys(payer.type for payer in some):
            ids = [payer.payer_id for payer in some if payer.type == type]
            found += [
                NewEvent(
                    event,
                    data={"payer_type": type, "payer_ids": ids[at : at + PAYERS_PER_EVENT_MAX]},
                )
                for at in range(0, len(ids), PAYERS_PER_EVENT_MAX)
            ]
    return found


def _summary(changes: PayerChanges) -> str:
    counts = {
        "added": len(changes.added),
        "changed": len(changes.changed),
        "removed": len(changes.removed),
    }
    return ", ".join(f"{name} {count}" for name, count in counts.items())
