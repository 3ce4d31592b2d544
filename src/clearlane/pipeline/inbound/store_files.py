"""Store files of payers sealed, as received: several in one transaction, in their order.

    stored = await store_files(context, route, [FetchedFile("answer.835", content)])    # durable when it returns

The same bytes of the same payer are one file, whatever its name. A file that is larger than any that is taken is recorded
without its content, for a person.
"""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from clearlane.claims.responses.identify import is_unfinished
from clearlane.connect.connections import PayerRoute
from clearlane.connect.file_names import INCOMING_NAME_CHARACTERS_MAX
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.kernel.redacted_repr import shows
from clearlane.kernel.traces import now_nanos
from clearlane.pipeline.claim_traces import trace_received
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Tx, require_row
from clearlane.store.delivery import inbox, seen_files
from clearlane.store.delivery.inbox import InboxResult, NewInboxFile
from clearlane.store.delivery.seen_files import SeenFile, StoredFile

GREW = "The file was not finished when it was stored. File {id} has all of it."
TOO_LARGE = f"The file is larger than {limits.TRANSFER_BYTES_MAX} bytes; it was left where it is."


@shows("name")
class FetchedFile(NamedTuple):
    """A file that was read in a mailbox or brought."""

    name: str
    content: bytes
    seen: SeenFile | None = None
    """How it was seen in its mailbox, if its payer may still be writing it there."""
    unfinished: bool = False
    """Whether an interchange in it has no end."""
    excess_bytes: int = 0
    """Its size, if it is larger than any that is taken; its content is left out."""


class ReceivedFile(NamedTuple):
    """A stored file."""

    id: int
    is_new: bool
    """False if the same file was stored before."""


async def store_files(
    context: WorkContext, route: PayerRoute, files: Sequence[FetchedFile]
) -> list[ReceivedFile]:
    """Store files in one transaction, and with each as what it was seen in its mailbox."""
    context.database.require_space()
    began = now_nanos()
    sealed = await _seal(context, route, files)

    async def job(tx: Tx) -> list[ReceivedFile]:
        received = [
            await _add(context, tx, route, *each) for each in zip(files, sealed, strict=True)
        ]
        await seen_files.record_stored(
            tx,
            poll_key(route),
            [
                StoredFile(file.seen, stored.id, file.unfinished or bool(file.excess_bytes))
                for file, stored in zip(files, received, strict=True)
                if file.seen is not None
            ],
        )
        return received

    received = await context.database.write(inbox.SCOPE, job, actor=context.actor)
    trace_received(context, [one.id for one in received if one.is_new], began=began)
    return received


def poll_key(route: PayerRoute) -> tuple[str, str, int]:
    """Return the key of a route among the polls."""
    return route.type, route.payer_id, route.route_id


async def _add(
    context: WorkContext, tx: Tx, route: PayerRoute, file: FetchedFile, new: NewInboxFile
) -> ReceivedFile:
    id, is_new = await inbox.add(tx, new)
    if not is_new:
        return ReceivedFile(id, is_new)
    tx.audit("inbox.stored", ids=[str(id)], detail=f"{route.type} {route.payer_id}")
    if file.excess_bytes:
        result = InboxResult(state=inbox.QUARANTINED, reason=TOO_LARGE)
        await inbox.record_result(tx, id, result, new.received_at)
    elif file.seen is not None and file.seen.earlier_inbox_id is not None:
        await _supersede(context, tx, file.seen.earlier_inbox_id, id, file.content)
    return ReceivedFile(id, is_new)


async def _supersede(
    context: WorkContext, tx: Tx, earlier_id: int, id: int, content: bytes
) -> None:
    """Discard the unfinished beginning of a file that is stored as a whole now. What is finished was posted, and stays."""
    earlier = require_row(await inbox.lock(tx, earlier_id), "an inbox file")
    if earlier.state not in {inbox.STORED, inbox.QUARANTINED}:
        return
    begun = await inbox.read_content(tx, context.vault, earlier)
    if content.startswith(begun) and is_unfinished(begun):
        result = InboxResult(state=inbox.DISCARDED, kinds=earlier.kinds, reason=GREW.format(id=id))
        await inbox.record_result(tx, earlier_id, result, to_micros(context.clock.now()))
        tx.audit("inbox.superseded", ids=[str(earlier_id)], detail=f"by {id}")


async def _seal(
    context: WorkContext, route: PayerRoute, files: Sequence[FetchedFile]
) -> list[NewInboxFile]:
    """Return files as they are stored. One that is too large is known by its name and size when it comes again."""
    vault = context.vault
    await vault.ensure_key(inbox.OWNER)
    now = to_micros(context.clock.now())
    # The payer id as claims have it, however the route spells it.
    payer = context.payer_access.payers().find(route.payer_id, route.type)
    payer_id = payer.payer_id if payer else route.payer_id

    def seal(file: FetchedFile) -> NewInboxFile:
        known_by = (
            f"{file.name}:{file.excess_bytes}".encode() if file.excess_bytes else file.content
        )
        digest = vault.fingerprint(inbox.OWNER, inbox.TABLE, known_by).hex()
        place = inbox.row_key(route.type, payer_id, digest)
        return NewInboxFile(
            payer_id=payer_id,
            type=route.type,
            route_id=route.route_id,
            name=_shown_name(file.name),
            digest=digest,
            bytes=len(file.content),
            received_at=now,
            content=vault.seal(inbox.OWNER, inbox.TABLE, place, file.content),
        )

    return await asyncio.to_thread(lambda: [seal(file) for file in files])


def _shown_name(name: str) -> str:
    """Return a name that may be printed: its sender may have called it anything."""
    short = name[:INCOMING_NAME_CHARACTERS_MAX]
    return "".join(sign if sign.isprintable() else "?" for sign in short)
