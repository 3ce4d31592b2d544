"""Recognize a database that was set back, and keep what may have been sent from going out again.

An older copy of the database (a file copy, a snapshot of a volume, a restore by other tools than ours) does not know
what was sent after it was made. The anchor proves that it is older. Runs before a node works, and beside none.
"""

import asyncio
import contextlib
from dataclasses import dataclass

from clearlane.kernel.clock import Clock, to_micros
from clearlane.store.audit.anchor import (
    READ_HEAD_ONLY,
    Anchor,
    AnchorFault,
    AnchorNote,
    AnchorVerdict,
    DatabaseSetBack,
    compare,
    is_recorded,
    missing_sentence,
    note_for,
    save_head,
    save_note,
    set_back_sentence,
)
from clearlane.store.audit.audit import read_head
from clearlane.store.audit.audit_chain import READ_HEAD, ChainHead
from clearlane.store.database.database import (
    Actor,
    Database,
    OperationRefused,
    SystemScope,
    Tx,
    require_row,
    write_audit,
)
from clearlane.store.database.schema import ANCHORED_ACTION, RESTORE_ACTIONS
from clearlane.store.delivery import batches

SCOPE = SystemScope("what was sent since an older copy was made concerns every client")
DATABASE_RESTORED = RESTORE_ACTIONS[1]
BY_OPERATOR = "an operator says that the database was restored"
ADVICE = (
    "Put the anchor back where it was. If it is lost, say so with `clearlane batch after-restore`: what waits to be sent "
    "is then in doubt, and none of it is sent before a person decides."
)


@dataclass(frozen=True, slots=True)
class SetBack:
    """A database that was set back, and what became in doubt by that."""

    sentence: str
    batches: int
    claims: int


async def check_database_age(database: Database) -> AnchorVerdict:
    """Return what the anchor proves. Raises :class:`AnchorFault` if it cannot be read."""
    async with database.read(SCOPE) as tx:
        verdict, _ = await compare(tx, _anchor_of(database), shared=_is_shared(database))
    return verdict


async def is_set_back(database: Database) -> bool:
    """Return whether the database is known to be older than its anchor; one that cannot be read proves nothing."""
    try:
        return await check_database_age(database) is AnchorVerdict.SET_BACK
    except (AnchorFault, OSError):
        return False


async def require_not_set_back(database: Database) -> None:
    """Refuse to make files from a database that is older than its anchor."""
    if await is_set_back(database):
        raise OperationRefused(
            "The database is older than its anchor: what waits in it may have been sent. Start the service, or run "
            "`clearlane batch after-restore`, before anything is sent."
        )


async def confirm_anchor(
    database: Database, *, clock: Clock, actor: Actor, may_start_over: bool
) -> SetBack | None:
    """Compare anchor and chain before a node works; return what was done if the database was set back.

    What was unsent is then in doubt, control numbers are skipped, and the anchor follows the present chain. An anchor
    that is missing or cannot be read is refused, unless ``may_start_over`` (a sandbox).
    """
    try:
        return await _confirm(database, clock, actor, may_start_over=may_start_over)
    except OSError as fault:
        place = fault.filename or _anchor_of(database).file
        raise OperationRefused(
            f"The anchor {place} cannot be read or written: {fault.strerror}. Without it there is no telling whether the "
            "database is older than it was."
        ) from None


async def _confirm(
    database: Database, clock: Clock, actor: Actor, *, may_start_over: bool
) -> SetBack | None:
    anchor, found = _anchor_of(database), None
    try:
        verdict = await check_database_age(database)
        if verdict is AnchorVerdict.MISSING:
            raise AnchorFault(missing_sentence(anchor))
    except AnchorFault as fault:
        if not may_start_over:
            raise OperationRefused(f"{fault} {ADVICE}") from None
        verdict = AnchorVerdict.RESTORED
    if verdict is AnchorVerdict.SET_BACK:
        found = await _mark_set_back(database, anchor, actor)
    lost = verdict in {AnchorVerdict.SET_BACK, AnchorVerdict.RESTORED}
    await save_head(database, anchor, to_micros(clock.now()), over=lost)
    await _record_anchor(database, anchor, actor)
    return found


async def anchor_now(database: Database, clock: Clock) -> None:
    """Save the present head before something leaves the installation: an older database is then always recognized.

    Raises :class:`DatabaseSetBack` if the database is older already. An anchor that cannot be written is reported
    by the database itself and stops nothing.
    """
    anchor = _anchor_of(database)
    with contextlib.suppress(OSError):
        try:
            async with database.read(SCOPE) as tx:
                head = require_row(await tx.row(READ_HEAD_ONLY), "the head of the audit chain")
                note = await note_for(
                    tx,
                    anchor,
                    ChainHead(*head),
                    at=to_micros(clock.now()),
                    shared=_is_shared(database),
                )
            await asyncio.to_thread(save_note, anchor, note)
        except DatabaseSetBack:
            raise
        except AnchorFault:
            return


async def record_restore(database: Database, *, clock: Clock, actor: Actor) -> tuple[int, int]:
    """Record that an older database took the place of this one, for an operator; return what is in doubt."""
    marked = await database.write(SCOPE, lambda tx: _mark(tx, BY_OPERATOR), actor=actor)
    await save_head(database, _anchor_of(database), to_micros(clock.now()), over=True)
    return marked


async def _mark_set_back(database: Database, anchor: Anchor, actor: Actor) -> SetBack | None:
    async def job(tx: Tx) -> SetBack | None:
        # The head is locked first: of two nodes that start together, the second sees what the first recorded.
        row = await tx.row(READ_HEAD)
        head = ChainHead(*row) if row else None
        verdict, note = await compare(tx, anchor, shared=_is_shared(database))
        if verdict is not AnchorVerdict.SET_BACK or note is None or head is None:
            return None
        marked = await _mark(tx, _lost_rows(note, head))
        return SetBack(set_back_sentence(note, head), *marked)

    return await database.write(SCOPE, job, actor=actor)


async def _mark(tx: Tx, detail: str) -> tuple[int, int]:
    marked = await batches.mark_in_doubt_after_restore(tx)
    tx.audit(DATABASE_RESTORED, count=sum(marked), detail=detail)
    return marked


def _lost_rows(note: AnchorNote, head: ChainHead) -> str:
    return (
        f"the chain ended at row {head.seq}; the anchor remembered row {note.head.seq}, "
        f"{note.head.hash.hex()[:16]}"
    )


async def _record_anchor(database: Database, anchor: Anchor, actor: Actor) -> None:
    """Record in the chain that this data directory anchors, once: from then on a missing anchor is a fault.

    The anchor is saved before, so that a crash in between leaves an anchor without a record and never the reverse.
    """
    async with database.read(SCOPE) as tx:
        if await is_recorded(tx, anchor):
            return

    await write_audit(database, SCOPE, ANCHORED_ACTION, ids=[anchor.id], actor=actor)


async def describe_set_back(database: Database) -> str:
    """Return what is wrong if the database is older than its anchor; empty if it is not."""
    if database.anchor is None:
        return ""
    try:
        async with database.read(SCOPE) as tx:
            verdict, note = await compare(tx, _anchor_of(database), shared=_is_shared(database))
    except (AnchorFault, OSError):
        return ""
    if verdict is not AnchorVerdict.SET_BACK or note is None:
        return ""
    return set_back_sentence(note, await read_head(database))


def _anchor_of(database: Database) -> Anchor:
    if database.anchor is None:
        raise OperationRefused("The audit of this database is not enabled.")
    return database.anchor


def _is_shared(database: Database) -> bool:
    """Return whether several data directories, each with its anchor, may use the database."""
    return database.dialect == "postgresql"
