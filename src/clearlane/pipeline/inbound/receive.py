"""Store the files of payers, raw, before anything else is done with them; fetch them from mailboxes.

    received = await receive(context, route, "answer.835", content)    # durable; the same file counts once

A fetched file is stored sealed, and only then dropped at the payer; after a crash in between it is fetched again, and the
same file counts once. If a payer may still be writing its files, ``file_visits`` decides when one is taken and when it is
dropped; what each visit saw is stored, so that any node can make the next one. Routes are polled side by side, each for a
limited time, so that one that is slow or broken delays no other. One node polls a route at a time, under a lease that ends
soon after the node does. Of formats it knows only whether an interchange has its end.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple, TypeAlias

import structlog

from clearlane.claims.responses.identify import is_unfinished
from clearlane.connect.connections import PayerRoute
from clearlane.connect.file_names import INCOMING_NAME_CHARACTERS_MAX
from clearlane.connect.port import Denied, FileChanged, IncomingFile, Mailbox, Unreachable
from clearlane.engine import fault_injection
from clearlane.engine.workflows import WorkSteps
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.inbound import post
from clearlane.pipeline.inbound.file_visits import VisitAct, is_quiet, next_act, unchanged
from clearlane.pipeline.inbound.match_payments import match_waiting
from clearlane.pipeline.outbound.dispatch import record_poll
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import StoreFault, Tx, require_row
from clearlane.store.delivery import inbox, seen_files
from clearlane.store.delivery.inbox import InboxResult, NewInboxFile
from clearlane.store.delivery.seen_files import SeenFile

log = structlog.get_logger()

# How long one visit to a mailbox may last, how long a silent node keeps its lease on it and how often a live one
# renews it, how many routes are visited side by side, how many files are taken, and how often posting is retried.
COLLECT_SECONDS_MAX = 300
COLLECT_LEASE_SECONDS = 20
COLLECT_LEASE_RENEWAL_SECONDS = 5
COLLECT_ROUTES_AT_ONCE = 32
COLLECT_FILES_MAX = 500
POST_RETRY_SECONDS = 600

NAME = "collect"
EVERY_SECONDS = 2
TOO_SLOW = "The payer did not answer in time."
GREW = "The file was not finished when it was stored. File {id} has all of it."
TOO_LARGE = f"The file is larger than {limits.TRANSFER_BYTES_MAX} bytes; it was left where it is."


class IncomingFileTooLarge(Exception):
    """A file is larger than any that is taken."""


class ReceivedFile(NamedTuple):
    """A stored file."""

    id: int
    is_new: bool
    """False if the same file was stored before."""


async def receive_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Fetch files from the payers whose time has come, and start the posting of stored files.

    Not recorded as steps, because all of it may be repeated. While it waits for a slow route, the next tick polls the
    others.
    """
    await receive_files(context, context.clock.now())
    await match_waiting(context)
    # One piece of durable work per file and period: what failed is tried again in the next period.
    period = to_micros(context.clock.now()) // (POST_RETRY_SECONDS * 1_000_000)
    for id in await post.waiting_files(context):
        await steps.start(post.NAME, id, key=f"{post.NAME}-{id}-{period}")


async def receive(
    context: WorkContext, route: PayerRoute, name: str, content: bytes
) -> ReceivedFile:
    """Store a file of a payer as received, sealed; posting follows by itself.

    When this returns the file is durable, so its bringer may drop it. The same bytes of the same payer are one file,
    whatever its name. Raises :class:`IncomingFileTooLarge`, and then nothing is stored.
    """
    return await _store(context, route, name, content)


async def _store(
    context: WorkContext,
    route: PayerRoute,
    name: str,
    content: bytes,
    *,
    seen: SeenFile | None = None,
    unfinished: bool = False,
) -> ReceivedFile:
    """Store a file, and with it as what it was ``seen`` in its mailbox."""
    if len(content) > limits.TRANSFER_BYTES_MAX:
        raise IncomingFileTooLarge
    context.database.require_space()
    new = await _seal(context, route, name, content, known_by=content)

    async def job(tx: Tx) -> ReceivedFile:
        id, is_new = await _add(tx, route, new)
        if seen is not None:
            await seen_files.record_stored(
                tx, poll_key(route), seen, inbox_id=id, unfinished=unfinished
            )
            if is_new and seen.earlier_inbox_id is not None:
                await _supersede(context, tx, seen.earlier_inbox_id, id, content)
        return ReceivedFile(id, is_new)

    return await context.database.write(inbox.SCOPE, job, actor=context.actor)


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


async def receive_files(
    context: WorkContext, now: datetime, *, every_route: bool = False
) -> list[int]:
    """Poll the routes that are due, or every route; return the ids of new files."""
    if every_route:
        found: list[int] = []
        routes = context.payer_access.connections().all_mailbox_routes()
        for at in range(0, len(routes), COLLECT_ROUTES_AT_ONCE):
            found += await _visit_mailboxes(context, routes[at : at + COLLECT_ROUTES_AT_ONCE], now)
        return found
    return await _visit_mailboxes(context, await _lease_due_routes(context, now), now)


async def _lease_due_routes(context: WorkContext, now: datetime) -> list[PayerRoute]:
    """Lease the routes that are due to this node, and return those that no other node polls."""
    routes = context.payer_access.connections().all_mailbox_routes()
    if not routes:
        return []
    at = to_micros(now)
    async with context.database.read(inbox.SCOPE) as tx:
        polls = await inbox.all_polls(tx)
    due = [
        route
        for route in routes
        if (poll := polls.get(poll_key(route))) is None
        or not at < poll.next_at <= _latest_poll(route, at)
    ]
    due = due[:COLLECT_ROUTES_AT_ONCE]
    until = _lease_end(now)

    async def take(tx: Tx) -> list[PayerRoute]:
        return [
            route
            for route in due
            if await inbox.begin_poll(
                tx, poll_key(route), at, until, latest=_latest_poll(route, at)
            )
        ]

    return await context.database.write(inbox.SCOPE, take, actor=context.actor) if due else []


async def _visit_mailboxes(
    context: WorkContext, routes: Sequence[PayerRoute], now: datetime
) -> list[int]:
    """Visit mailboxes side by side; return the ids of new files, or raise the first fault once all visits have ended."""
    visits = (_MailboxVisit(context, route).run(now) for route in routes)
    found: list[int] = []
    for result in await asyncio.gather(*visits, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
        found += result
    return found


_FileAct: TypeAlias = tuple[IncomingFile, VisitAct, SeenFile | None]
"""What to do with a file, and how it was seen; None if the mailbox's files are whole."""


class _MailboxVisit:
    """One visit to one mailbox."""

    def __init__(self, context: WorkContext, route: PayerRoute) -> None:
        self._context = context
        self._route = route
        own = route.settle_seconds
        self._settle_seconds = context.limits.settle_seconds if own is None else own
        self._new: list[int] = []
        self._fault = ""
        self._passed_over = 0

    async def run(self, now: datetime) -> list[int]:
        """Fetch what waits, and record when to poll again. No fault reaches the other routes."""
        ended = asyncio.Event()
        renewing = asyncio.create_task(self._renew_lease(ended))
        try:
            async with asyncio.timeout(COLLECT_SECONDS_MAX):
                await self._fetch_all()
        except (Unreachable, Denied) as fault:
            self._fault = str(fault)
        except TimeoutError:
            self._fault = TOO_SLOW
        except Exception as fault:  # noqa: BLE001  (one route's fault must not reach the others)
            self._fault = f"Looking into the mailbox failed ({type(fault).__name__})."
        finally:
            ended.set()  # a write that has begun cannot be canceled
            await renewing
        route = self._route
        next_at = to_micros(now + timedelta(seconds=route.poll_seconds))

        async def job(tx: Tx) -> bool:
            await record_poll(
                tx, self._context, route, self._context.clock.now(), worked=not self._fault
            )
            return await inbox.end_poll(
                tx, poll_key(route), next_at, self._fault, passed_over=self._passed_over
            )

        changed = await self._context.database.write(inbox.SCOPE, job, actor=self._context.actor)
        if changed:  # a payer that stays away is logged once
            self._log_change()
        log.debug(
            "mailbox read",
            payer=route.payer_id,
            type=route.type,
            route=route.route_id,
            files=len(self._new),
            reason=self._fault,
        )
        return self._new

    def _log_change(self) -> None:
        route = self._route
        facts = {"payer": route.payer_id, "type": route.type, "kind": route.kind}
        if self._fault:
            log.warning("route not polled", route=route.route_id, reason=self._fault, **facts)
        elif self._passed_over:
            log.warning("files passed over", route=route.route_id, count=self._passed_over, **facts)
        else:
            log.info("route polled again", route=route.route_id, **facts)

    async def _fetch_all(self) -> None:
        mailbox = self._context.payer_access.connections().open_mailbox(self._route)
        try:
            waiting = await mailbox.waiting()
            self._passed_over = mailbox.passed_over
            acts: list[_FileAct] = [(incoming, VisitAct.TAKE, None) for incoming in waiting]
            if not mailbox.files_are_whole:
                acts = await self._decide(waiting)
            for incoming, act, seen in acts[:COLLECT_FILES_MAX]:
                try:
                    if act is VisitAct.DROP:
                        await self._drop(mailbox, incoming, seen)
                    else:
                        await self._fetch(mailbox, incoming, seen)
                except FileChanged:  # the next visit sees it as it is then
                    log.debug("file changes", route=self._route.route_id)
                except Denied as fault:  # the next file may be allowed
                    if not self._fault and await _is_there(mailbox, incoming.name):
                        self._fault = str(fault)
        finally:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(limits.MAILBOX_CLOSE_SECONDS_MAX):
                    await mailbox.close()

    async def _decide(self, waiting: Sequence[IncomingFile]) -> list[_FileAct]:
        """Record how the files are seen now, and return those to take or drop, with how they were seen before."""
        context, key = self._context, poll_key(self._route)
        now = to_micros(context.clock.now())
        async with context.database.read(inbox.SCOPE) as tx:
            before = await seen_files.list_seen(tx, key)
        same = {file.name: unchanged(file, before.get(file.name), now) for file in waiting}
        now_seen = {
            file.name: SeenFile(file.name, file.size, file.modified_nanos, now)
            for file in waiting
            if same[file.name] is None
        }
        gone = before.keys() - same.keys()

        async def record(tx: Tx) -> None:
            await seen_files.record_seen(tx, key, list(now_seen.values()))
            await seen_files.forget(tx, key, list(gone))

        if now_seen or gone:
            await context.database.write(inbox.SCOPE, record, actor=context.actor)
        settle = self._settle_seconds
        acts = [
            (file, next_act(file, same[file.name], now, settle_seconds=settle), file.name)
            for file in waiting
        ]
        found = [
            (file, act, same[name] or _with_earlier(now_seen[name], before.get(name)))
            for file, act, name in acts
            if act is not VisitAct.LEAVE
        ]
        # What is new first: files that a server does not let us remove must not keep others from being taken.
        return sorted(found, key=lambda each: each[1] is VisitAct.DROP)

    async def _drop(self, mailbox: Mailbox, incoming: IncomingFile, seen: SeenFile | None) -> None:
        """Remove a file that an earlier visit stored and that is still as it was then."""
        context, key = self._context, poll_key(self._route)
        if not incoming.modified_nanos:
            # The size alone does not tell whether it was replaced: it is read again, and new content is stored.
            again = await self._fetch(mailbox, incoming, seen)
            if again is None or again.is_new:
                return
        await mailbox.drop(incoming.name, incoming)
        fault_injection.crash_point("dropped")
        await context.database.write(
            inbox.SCOPE,
            lambda tx: seen_files.forget(tx, key, [incoming.name]),
            actor=context.actor,
        )

    async def _renew_lease(self, ended: asyncio.Event) -> None:
        """Extend the lease now and then: short leases free the routes of a node that died soon."""
        context, route = self._context, self._route
        while not await _set_within(ended, COLLECT_LEASE_RENEWAL_SECONDS):
            until = _lease_end(context.clock.now())
            with contextlib.suppress(StoreFault):  # the next renewal may succeed
                await context.database.write(
                    inbox.SCOPE,
                    partial(inbox.extend_poll, key=poll_key(route), until=until),
                    actor=context.actor,
                )

    async def _fetch(
        self, mailbox: Mailbox, incoming: IncomingFile, seen: SeenFile | None
    ) -> ReceivedFile | None:
        """Take and store a file; return what was stored, None if it has no end or cannot be stored.

        It is dropped at once if the payer's files appear whole. ``seen`` is how a file that may still be being written was
        seen; None if it is whole. If it has no end, it is stored only when its writer seems to be done with it: then a
        person must look.
        """
        context, route, name = self._context, self._route, incoming.name
        if incoming.size > limits.TRANSFER_BYTES_MAX:
            await _record_too_large(context, route, name, incoming.size, seen)
            return None
        content = await mailbox.take(name)
        fault_injection.crash_point("fetched")
        unfinished = False
        if seen is not None:
            if len(content) != seen.bytes:
                raise FileChanged
            unfinished = await asyncio.to_thread(is_unfinished, content)
            now, settle = to_micros(context.clock.now()), self._settle_seconds
            if unfinished and not is_quiet(seen, now, settle_seconds=settle):
                return None
        try:
            received = await _store(context, route, name, content, seen=seen, unfinished=unfinished)
        except IncomingFileTooLarge:  # larger than the mailbox said
            await _record_too_large(context, route, name, len(content), seen)
            return None
        if received.is_new:
            self._new.append(received.id)
        fault_injection.crash_point("stored")
        if seen is None:
            await mailbox.drop(name)
            fault_injection.crash_point("dropped")
        return None if unfinished else received


def _with_earlier(seen: SeenFile, before: SeenFile | None) -> SeenFile:
    """Return how a changed file is seen, with the inbox file of what it held before."""
    if before is None:
        return seen
    return seen._replace(earlier_inbox_id=before.inbox_id or before.earlier_inbox_id)


async def _record_too_large(
    context: WorkContext, route: PayerRoute, name: str, size: int, seen: SeenFile | None
) -> None:
    """Record a file that is not fetched, once by its name and size, and leave it for a person."""
    known_by = f"{name}:{size}".encode()
    new = await _seal(context, route, name, b"", known_by)

    async def job(tx: Tx) -> None:
        id, is_new = await _add(tx, route, new)
        if is_new:
            result = InboxResult(state=inbox.QUARANTINED, reason=TOO_LARGE)
            await inbox.record_result(tx, id, result, new.received_at)
        if seen is not None:
            key = poll_key(route)
            await seen_files.record_stored(tx, key, seen, inbox_id=id, unfinished=True)

    await context.database.write(inbox.SCOPE, job, actor=context.actor)


async def _seal(
    context: WorkContext, route: PayerRoute, name: str, content: bytes, known_by: bytes
) -> NewInboxFile:
    """Return a file as it is stored; ``known_by`` are the bytes by which it is known when it comes again."""
    vault = context.vault
    await vault.ensure_key(inbox.OWNER)
    now = to_micros(context.clock.now())
    # The payer id as claims have it, however the route spells it.
    payer = context.payer_access.payers().find(route.payer_id, route.type)
    payer_id = payer.payer_id if payer else route.payer_id

    def seal() -> NewInboxFile:
        digest = vault.fingerprint(inbox.OWNER, inbox.TABLE, known_by).hex()
        place = inbox.row_key(route.type, payer_id, digest)
        return NewInboxFile(
            payer_id=payer_id,
            type=route.type,
            route_id=route.route_id,
            name=_shown_name(name),
            digest=digest,
            bytes=len(content),
            received_at=now,
            content=vault.seal(inbox.OWNER, inbox.TABLE, place, content),
        )

    return await asyncio.to_thread(seal)


async def _add(tx: Tx, route: PayerRoute, new: NewInboxFile) -> tuple[int, bool]:
    id, is_new = await inbox.add(tx, new)
    if is_new:
        tx.audit("inbox.stored", ids=[str(id)], detail=f"{route.type} {route.payer_id}")
    return id, is_new


def _shown_name(name: str) -> str:
    """Return a name that may be printed: its sender may have called it anything."""
    short = name[:INCOMING_NAME_CHARACTERS_MAX]
    return "".join(sign if sign.isprintable() else "?" for sign in short)


def poll_key(route: PayerRoute) -> tuple[str, str, int]:
    """Return the key of a route among the polls."""
    return route.type, route.payer_id, route.route_id


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def _is_there(mailbox: Mailbox, name: str) -> bool:
    """Return whether a file still waits. One that does not was fetched by another node, which is not a fault."""
    return any(one.name == name for one in await mailbox.waiting())


def _latest_poll(route: PayerRoute, at: int) -> int:
    """Return the latest time that a next poll can have been meant for; a later one is of a clock that was ahead."""
    seconds = max(route.poll_seconds, COLLECT_LEASE_SECONDS) + limits.CLOCK_DIFFERENCE_SECONDS_MAX
    return at + 1_000_000 * seconds


def _lease_end(now: datetime) -> int:
    return to_micros(now + timedelta(seconds=COLLECT_LEASE_SECONDS))
