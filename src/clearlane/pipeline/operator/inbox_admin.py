"""Operate on files of the inbox: show, read, replay, discard. Access to contents is audited.

For operators. Knows the inbox and the posting of files.
"""

import asyncio
from dataclasses import dataclass, field

import msgspec

from clearlane.claims.responses.facts import UnmatchedFact
from clearlane.claims.responses.identify import identify
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.inbound.check_addresses import check_addresses
from clearlane.pipeline.inbound.post import post_file, route_of_file
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, OperationRefused, Tx, write_audit
from clearlane.store.delivery import inbox
from clearlane.store.delivery.file_query import FileQuery, find_inbox_files
from clearlane.store.delivery.inbox import InboxFile, InboxResult, ParkedStatement
from clearlane.store.delivery.routes import remember_senders

DISCARDED_TEXT = "Discarded by an operator."


@dataclass(frozen=True, slots=True)
class InboxFileDetails:
    """A file with its parked statements, opened if that was asked for."""

    file: InboxFile
    parked: list[ParkedStatement]
    statements: list[UnmatchedFact] = field(repr=False)


async def load_file(
    context: WorkContext, id: int, *, with_statements: bool, actor: Actor
) -> InboxFileDetails:
    """Load a file with its parked statements. Opening the statements is audited."""
    vault = context.vault

    async def job(tx: Tx) -> InboxFileDetails:
        file = await _require_file(tx, id)
        parked = await inbox.list_parked_statements(tx, id)
        if not with_statements:
            return InboxFileDetails(file, parked, [])
        await vault.load_keys_of(tx, [row.payload for row in parked])
        tx.audit("inbox.statements.read", ids=[str(id)], count=len(parked))
        opened = [
            _UNMATCHED.decode(vault.open(inbox.OWNER, inbox.PARKED_TABLE, id, row.payload))
            for row in parked
        ]
        return InboxFileDetails(file, parked, opened)

    return await context.database.write(inbox.SCOPE, job, actor=actor)


async def read_content(context: WorkContext, id: int, *, actor: Actor) -> bytes:
    """Return the content of a file as received. The access is audited."""

    async def job(tx: Tx) -> bytes:
        file = await _require_file(tx, id)
        tx.audit("inbox.read", ids=[str(id)], detail=f"{file.type} {file.payer_id}")
        return await inbox.read_content(tx, context.vault, file)

    return await context.database.write(inbox.SCOPE, job, actor=actor)


async def replay(context: WorkContext, id: int, *, actor: Actor) -> InboxFile:
    """Post a file again, whatever its state; what was recorded before counts once."""

    async def job(tx: Tx) -> None:
        file = await _require_file(tx, id)
        tx.audit("inbox.replay", ids=[str(id)], detail=f"{file.type} {file.payer_id}")
        await inbox.record_result(
            tx, id, InboxResult(state=inbox.STORED), to_micros(context.clock.now())
        )

    await context.database.write(inbox.SCOPE, job, actor=actor)
    await post_file(context, id)
    async with context.database.read(inbox.SCOPE) as tx:
        return await _require_file(tx, id)


async def accept(
    context: WorkContext, id: int, *, remember: bool, actor: Actor
) -> tuple[InboxFile, int | None]:
    """Post a file of a sender that its route does not know; return it, and the revision that nodes must load.

    With ``remember`` the route knows the sender from now on, and other files that wait because of it are posted too.
    """
    async with context.database.read(inbox.SCOPE) as tx:
        file = await _require_file(tx, id)
        waiting = await find_inbox_files(
            tx, FileQuery(where={"state": inbox.UNKNOWN_SENDER}, limit=limits.FILES_WAITING_MAX)
        )
    if file.state == inbox.TEST_FILE:
        raise OperationRefused(f"File {id} is a test file: clearlane inbox accept {id} --test-file")
    if file.state != inbox.UNKNOWN_SENDER:
        raise OperationRefused(f"File {id} is {file.state}: there is no sender to accept.")
    route = route_of_file(context, file)
    if route is None:
        raise OperationRefused(f"Route {file.route_id} of file {id} is gone: use it again first.")
    content = await read_content(context, id, actor=actor)
    found = await asyncio.to_thread(identify, content)
    senders = check_addresses(found.addresses, route).senders
    revision = None
    if remember:
        change = await remember_senders(context.database, file.route_id, senders, actor=actor)
        revision = change.revision

    await write_audit(
        context.database,
        inbox.SCOPE,
        "inbox.accept",
        ids=[str(id)],
        detail=f"{file.type} {file.payer_id}",
        actor=actor,
    )
    same_route = [one.id for one in waiting if remember and one.route_id == file.route_id]
    for each in sorted({id, *same_route}):
        await post_file(context, each, accepted=senders)
    async with context.database.read(inbox.SCOPE) as tx:
        return await _require_file(tx, id), revision


async def accept_test_file(context: WorkContext, id: int, *, actor: Actor) -> InboxFile:
    """Post a file that is marked as a test, as an operator asked. It stays marked; the decision is audited."""

    async def job(tx: Tx) -> None:
        file = await inbox.lock(tx, id) or await _require_file(tx, id)
        if file.state != inbox.TEST_FILE:
            raise OperationRefused(f"File {id} is {file.state}: no test file waits under this id.")
        now = to_micros(context.clock.now())
        await inbox.accept_test(tx, id, now)
        # From here on it is posted even if this process ends.
        await inbox.record_result(tx, id, InboxResult(state=inbox.STORED), now)
        tx.audit("inbox.accept_test_file", ids=[str(id)], detail=f"{file.type} {file.payer_id}")

    await context.database.write(inbox.SCOPE, job, actor=actor)
    await post_file(context, id)
    async with context.database.read(inbox.SCOPE) as tx:
        return await _require_file(tx, id)


async def discard(context: WorkContext, id: int, *, actor: Actor) -> InboxFile:
    """Discard a file for good. It is kept, and what was recorded of it stays."""

    async def job(tx: Tx) -> InboxFile:
        await inbox.lock(tx, id)  # a concurrent posting ends before or after this
        file = await _require_file(tx, id)
        if file.state == inbox.APPLIED:
            raise OperationRefused(f"File {id} was applied: there is nothing to discard.")
        result = InboxResult(
            state=inbox.DISCARDED,
            kinds=file.kinds,
            reason=f"{DISCARDED_TEXT} {file.reason}".strip(),
            applied=file.applied,
        )
        if file.state != inbox.DISCARDED:
            await inbox.record_result(tx, id, result, to_micros(context.clock.now()))
            tx.audit("inbox.discard", ids=[str(id)], detail=f"{file.type} {file.payer_id}")
        return await _require_file(tx, id)

    return await context.database.write(inbox.SCOPE, job, actor=actor)


async def _require_file(tx: Tx, id: int) -> InboxFile:
    file = await inbox.find(tx, id)
    if file is None:
        raise OperationRefused(f"There is no file {id}. `clearlane inbox list` shows them.")
    return file


_UNMATCHED = msgspec.json.Decoder(UnmatchedFact)
