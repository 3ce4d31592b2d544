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
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple, TypeVar

from clearlane.claims.responses.identify import is_unfinished
from clearlane.connect.connections import PayerRoute
from clearlane.connect.port import Denied, FileChanged, IncomingFile, Mailbox, Unreachable
from clearlane.engine.fault_injection import crash_point
from clearlane.engine.workflows import WorkSteps
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.kernel.log import get_logger
from clearlane.kernel.tasks import run_side_by_side
from clearlane.pipeline.inbound import post
from clearlane.pipeline.inbound.file_visits import VisitAct, is_quiet, next_act, unchanged
from clearlane.pipeline.inbound.match_payments import match_waiting
from clearlane.pipeline.inbound.store_files import (
    FetchedFile,
    ReceivedFile,
    poll_key,
    store_files,
)
from clearlane.pipeline.outbound.dispatch import record_poll
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import StoreFault, Tx
from clearlane.store.delivery import inbox, seen_files
from clearlane.store.delivery.seen_files import SeenFile

log = get_logger()

# How long one visit to a mailbox may last and until when it begins to fetch more, how long a silent node keeps its lease on
# it and how often a live one renews it, how many routes are visited side by side, how many files one visit takes, how many of
# them, and of how many bytes, are stored together, and how often posting is retried.
COLLECT_SECONDS_MAX = 300
COLLECT_BEGIN_SECONDS_MAX = 60
COLLECT_LEASE_SECONDS = 20
COLLECT_LEASE_RENEWAL_SECONDS = 5
COLLECT_ROUTES_AT_ONCE = 32
COLLECT_FILES_MAX = 2_000
STORED_TOGETHER_FILES_MAX = 100
STORED_TOGETHER_BYTES_MAX = 8 * 1024 * 1024
POST_RETRY_SECONDS = 600

NAME = "collect"
EVERY_SECONDS = 2
TOO_SLOW = "The payer did not answer in time."

T = TypeVar("T")


class IncomingFileTooLarge(Exception):
    """A file is larger than any that is taken."""


async def receive_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Fetch files from the payers whose time has come, and start the posting of stored files.

    Not recorded as steps, because all of it may be repeated. While it waits for a slow route, the next tick polls the
    others.
    """
    await receive_files(context, context.clock.now())
    await match_waiting(context)
    period = to_micros(context.clock.now()) // (POST_RETRY_SECONDS * 1_000_000)
    await post.start_posting(context, steps, period)


async def receive(
    context: WorkContext, route: PayerRoute, name: str, content: bytes
) -> ReceivedFile:
    """Store a file of a payer as received, sealed; posting follows by itself.

    When this returns the file is durable, so its bringer may drop it. The same bytes of the same payer are one file,
    whatever its name. Raises :class:`IncomingFileTooLarge`, and then nothing is stored.
    """
    if len(content) > limits.TRANSFER_BYTES_MAX:
        raise IncomingFileTooLarge
    [received] = await store_files(context, route, [FetchedFile(name, content)])
    return received


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


class _FileAct(NamedTuple):
    """What to do with a file."""

    incoming: IncomingFile
    act: VisitAct
    seen: SeenFile | None
    """How it was seen; None if the mailbox's files are whole."""


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
        self._done = 0
        """How many files were stored or dropped."""
        self._goes_on = False
        """Whether more files wait that can be fetched or dropped at once."""

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
        pause = 0 if self._goes_on and not self._fault else route.poll_seconds
        next_at = to_micros(now + timedelta(seconds=pause))

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
            acts: list[_FileAct] = [_FileAct(incoming, VisitAct.TAKE, None) for incoming in waiting]
            if not mailbox.files_are_whole:
                acts = await self._decide(waiting)
            clock = asyncio.get_running_loop()
            until, left = clock.time() + COLLECT_BEGIN_SECONDS_MAX, len(acts)
            for group in _groups(acts[:COLLECT_FILES_MAX]):
                if clock.time() > until:
                    break
                if group[0].act is VisitAct.DROP:
                    await self._drop_stored(mailbox, group)
                else:
                    await self._fetch(mailbox, group)
                left -= len(group)
            # If nothing can be fetched or dropped, a further visit is of no use.
            self._goes_on = left > 0 and self._done > 0
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
            _FileAct(file, act, same[name] or _with_earlier(now_seen[name], before.get(name)))
            for file, act, name in acts
            if act is not VisitAct.LEAVE
        ]
        # What is new first: files that a server does not let us remove must not keep others from being taken.
        return sorted(found, key=lambda each: each.act is VisitAct.DROP)

    async def _fetch(self, mailbox: Mailbox, group: Sequence[_FileAct]) -> dict[str, ReceivedFile]:
        """Take files and store them in one transaction, in their order; return those that have an end, by name.

        They are dropped at once if the payer's files appear whole. A file that may still be being written and has no end
        is stored only when its writer seems to be done with it: then a person must look.
        """
        context = self._context
        taken, fault = await self._side_by_side(mailbox, group, lambda one: _take(mailbox, one))
        crash_point("fetched")
        settle, now = self._settle_seconds, to_micros(context.clock.now())
        files = [
            file
            for file in await asyncio.to_thread(lambda: [_look_for_end(one) for _, one in taken])
            if not file.unfinished or is_quiet(file.seen, now, settle_seconds=settle)
        ]
        received = await store_files(context, self._route, files) if files else []
        self._done += len(received)
        self._new += [
            stored.id
            for file, stored in zip(files, received, strict=True)
            if stored.is_new and not file.excess_bytes
        ]
        crash_point("stored")
        if fault is None:
            whole = [act for act, file in taken if act.seen is None and not file.excess_bytes]
            _, fault = await self._side_by_side(
                mailbox, whole, lambda one: mailbox.drop(one.incoming.name)
            )
            crash_point("dropped")
        if fault is not None:
            raise fault
        return {
            file.name: stored
            for file, stored in zip(files, received, strict=True)
            if not (file.unfinished or file.excess_bytes)
        }

    async def _drop_stored(self, mailbox: Mailbox, group: Sequence[_FileAct]) -> None:
        """Remove files that an earlier visit stored and that are still as they were then."""
        context, key = self._context, poll_key(self._route)
        # The size alone does not tell whether a file was replaced: it is read again, and new content is stored.
        doubtful = [one for one in group if not one.incoming.modified_nanos]
        again = await self._fetch(mailbox, doubtful) if doubtful else {}
        same = [
            one
            for one in group
            if one.incoming.modified_nanos
            or ((stored := again.get(one.incoming.name)) and not stored.is_new)
        ]
        dropped, fault = await self._side_by_side(
            mailbox, same, lambda one: mailbox.drop(one.incoming.name, one.incoming)
        )
        crash_point("dropped")
        names = [one.incoming.name for one, _ in dropped]
        if names:
            self._done += len(names)
            await context.database.write(
                inbox.SCOPE, lambda tx: seen_files.forget(tx, key, names), actor=context.actor
            )
        if fault is not None:
            raise fault

    async def _side_by_side(
        self,
        mailbox: Mailbox,
        group: Sequence[_FileAct],
        work: Callable[[_FileAct], Awaitable[T]],
    ) -> tuple[list[tuple[_FileAct, T]], Exception | None]:
        """Do something with each file, several at a time; return the results, and what ended the connection.

        The results are in order, without files that changed or are denied, up to the first that failed with the connection:
        what comes after it would overtake it.
        """
        results: list[tuple[_FileAct, T]] = []
        outcomes = await run_side_by_side(
            [partial(work, one) for one in group],
            mailbox.files_at_once,
            passing=(FileChanged, Denied),
        )
        for one, outcome in zip(group, outcomes, strict=False):
            if isinstance(outcome, FileChanged):  # the next visit sees it as it is then
                log.debug("file changes", route=self._route.route_id)
            elif isinstance(outcome, Denied):  # the next file may be allowed
                if not self._fault and await _is_there(mailbox, one.incoming.name):
                    self._fault = str(outcome)
            elif isinstance(outcome, Exception):
                return results, outcome
            else:
                results.append((one, outcome))
        return results, None

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


def _groups(acts: Sequence[_FileAct]) -> Iterator[list[_FileAct]]:
    """Yield neighbors with the same thing to do, as many as are stored together."""
    group: list[_FileAct] = []
    size = 0
    for one in acts:
        size += one.incoming.size
        is_full = len(group) >= STORED_TOGETHER_FILES_MAX or size > STORED_TOGETHER_BYTES_MAX
        if group and (is_full or group[0].act is not one.act):
            yield group
            group, size = [], one.incoming.size
        group.append(one)
    if group:
        yield group


async def _take(mailbox: Mailbox, one: _FileAct) -> FetchedFile:
    """Read a file, unless it is larger than any that is taken."""
    name, size = one.incoming.name, one.incoming.size
    if size > limits.TRANSFER_BYTES_MAX:
        return FetchedFile(name, b"", one.seen, excess_bytes=size)
    content = await mailbox.take(name)
    size = len(content)
    if one.seen is not None and size != one.seen.bytes:
        raise FileChanged
    if size > limits.TRANSFER_BYTES_MAX:  # larger than the mailbox said
        return FetchedFile(name, b"", one.seen, excess_bytes=size)
    return FetchedFile(name, content, one.seen)


def _look_for_end(file: FetchedFile) -> FetchedFile:
    """Return a file that may still be being written, with whether it has its end."""
    if file.seen is None or file.excess_bytes:
        return file
    return file._replace(unfinished=is_unfinished(file.content))


def _with_earlier(seen: SeenFile, before: SeenFile | None) -> SeenFile:
    """Return how a changed file is seen, with the inbox file of what it held before."""
    if before is None:
        return seen
    return seen._replace(earlier_inbox_id=before.inbox_id or before.earlier_inbox_id)


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
