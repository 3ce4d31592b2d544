"""Sorting: what a person does with the files of the inbox. Looking into one is audited.

Knows the inbox and the verb that posts; knows no face.
"""

from dataclasses import dataclass, field

import msgspec

from clearlane.claims.facts import Unmatched
from clearlane.kernel.clock import micros
from clearlane.pipeline.inbound.post import post_file
from clearlane.pipeline.work_context import Desk
from clearlane.store import inbox
from clearlane.store.database import Actor, Refused, Tx
from clearlane.store.inbox import ParkedRow, Settlement, StoredFile

BY_HAND = "Discarded by an operator."


@dataclass(frozen=True, slots=True)
class Looked:
    """A file, its statements that were not applied, and what they say where that was asked for."""

    file: StoredFile
    parked: list[ParkedRow]
    statements: list[Unmatched] = field(repr=False)


async def look(desk: Desk, id: int, *, numbers: bool, actor: Actor) -> Looked:
    """A file and its parked statements; with the numbers in these the look is audited."""
    vault = desk.outside.vault

    async def job(tx: Tx) -> Looked:
        file = await _found(tx, id)
        parked = await inbox.parked_of(tx, id)
        if not numbers:
            return Looked(file, parked, [])
        await vault.fetch(tx, [row.payload for row in parked])
        tx.audit("inbox.statements.read", ids=[str(id)], count=len(parked))
        opened = [
            _UNMATCHED.decode(vault.open(inbox.OWNER, inbox.PARKED_TABLE, id, row.payload))
            for row in parked
        ]
        return Looked(file, parked, opened)

    return await desk.database.write(inbox.SCOPE, job, actor=actor)


async def read(desk: Desk, id: int, *, actor: Actor) -> bytes:
    """The bytes of a file as they came. The look is audited."""

    async def job(tx: Tx) -> bytes:
        file = await _found(tx, id)
        tx.audit("inbox.read", ids=[str(id)], detail=f"{file.type} {file.payer_id}")
        return await inbox.content(tx, desk.outside.vault, file)

    return await desk.database.write(inbox.SCOPE, job, actor=actor)


async def replay(desk: Desk, id: int, *, actor: Actor) -> StoredFile:
    """Post a file again, whatever became of it; what was told before counts once."""

    async def job(tx: Tx) -> None:
        file = await _found(tx, id)
        tx.audit("inbox.replay", ids=[str(id)], detail=f"{file.type} {file.payer_id}")
        await inbox.settle(tx, id, Settlement(state=inbox.STORED), micros(desk.clock.now()))

    await desk.database.write(inbox.SCOPE, job, actor=actor)
    await post_file(desk, id)
    async with desk.database.read(inbox.SCOPE) as tx:
        return await _found(tx, id)


async def discard(desk: Desk, id: int, *, actor: Actor) -> StoredFile:
    """Put a file aside for good; it is kept, and what it told stays told."""

    async def job(tx: Tx) -> StoredFile:
        await inbox.hold(tx, id)  # whoever posts it ends before or after, and not in between
        file = await _found(tx, id)
        if file.state == inbox.APPLIED:
            raise Refused(f"File {id} was applied: there is nothing to discard.")
        end = Settlement(
            state=inbox.DISCARDED,
            kinds=file.kinds,
            reason=f"{BY_HAND} {file.reason}".strip(),
            applied=file.applied,
        )
        if file.state != inbox.DISCARDED:
            await inbox.settle(tx, id, end, micros(desk.clock.now()))
            tx.audit("inbox.discard", ids=[str(id)], detail=f"{file.type} {file.payer_id}")
        return await _found(tx, id)

    return await desk.database.write(inbox.SCOPE, job, actor=actor)


async def _found(tx: Tx, id: int) -> StoredFile:
    file = await inbox.find(tx, id)
    if file is None:
        raise Refused(f"There is no file {id}. `clearlane inbox list` shows them.")
    return file


_UNMATCHED = msgspec.json.Decoder(Unmatched)
