"""Fetch files from payers' mailboxes and store them, raw, before anything else is done with them.

A file is stored sealed, and only then dropped at the payer; after a crash in between it is fetched again, and the
same file counts once. Routes are polled side by side, each for a limited time, so that one that is slow or broken
delays no other. One node polls a route at a time, under a lease that ends soon after the node does. Knows no format.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

import structlog

from clearlane.connect.connections import PayerRoute
from clearlane.connect.port import Denied, IncomingFile, Mailbox, Unreachable
from clearlane.engine import fault_injection
from clearlane.engine.workflows import WorkSteps
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.inbound import post
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import inbox
from clearlane.store.database import StoreFault, Tx
from clearlane.store.inbox import InboxOutcome, NewInboxFile

log = structlog.get_logger()

NAME, QUEUE = "collect", "collect"
EVERY = "*/2 * * * * *"
TOO_SLOW = "The payer did not answer in time."
TOO_LARGE = f"The file is larger than {limits.TRANSFER_BYTES_MAX} bytes; it was left where it is."


async def receive_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Fetch files from the payers whose time has come, and start the posting of stored files.

    Not recorded as steps, because all of it may be repeated. While it waits for a slow route, the next tick polls the
    others.
    """
    await receive_files(context, context.clock.now())
    # One piece of durable work per file and period: what failed is tried again in the next period.
    period = to_micros(context.clock.now()) // (limits.POST_RETRY_SECONDS * 1_000_000)
    for id in await post.waiting_files(context):
        await steps.start(post.NAME, id, key=f"{post.NAME}-{id}-{period}")


async def receive_files(
    context: WorkContext, now: datetime, *, every_route: bool = False
) -> list[int]:
    """Poll the routes that are due, or every route; return the ids of new files."""
    if every_route:
        found: list[int] = []
        routes = context.payer_access.connections().all_mailbox_routes()
        for at in range(0, len(routes), limits.COLLECT_ROUTES_AT_ONCE):
            found += await _visit_mailboxes(
                context, routes[at : at + limits.COLLECT_ROUTES_AT_ONCE], now
            )
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
        if (poll := polls.get(poll_key(route))) is None or poll.next_at <= at
    ]
    due = due[: limits.COLLECT_ROUTES_AT_ONCE]
    until = _lease_end(now)

    async def take(tx: Tx) -> list[PayerRoute]:
        return [route for route in due if await inbox.begin_poll(tx, poll_key(route), at, until)]

    return await context.database.write(inbox.SCOPE, take, actor=context.actor) if due else []


async def _visit_mailboxes(
    context: WorkContext, routes: Sequence[PayerRoute], now: datetime
) -> list[int]:
    async with asyncio.TaskGroup() as tasks:
        visits = [tasks.create_task(_MailboxVisit(context, route).run(now)) for route in routes]
    return [id for visit in visits for id in visit.result()]


class _MailboxVisit:
    """One visit to one mailbox."""

    def __init__(self, context: WorkContext, route: PayerRoute) -> None:
        self._context = context
        self._route = route
        self._new: list[int] = []
        self._fault = ""

    async def run(self, now: datetime) -> list[int]:
        """Fetch what waits, and record when to poll again. No fault reaches the other routes."""
        ended = asyncio.Event()
        renewing = asyncio.create_task(self._renew_lease(ended))
        try:
            async with asyncio.timeout(limits.COLLECT_SECONDS_MAX):
                await self._fetch_all()
        except (Unreachable, Denied) as fault:
            self._fault = str(fault)
        except TimeoutError:
            self._fault = TOO_SLOW
        except Exception as fault:  # noqa: BLE001  (one route's fault must not reach the others)
            self._fault = f"Looking into the mailbox failed ({type(fault).__name__})."
        finally:
            ended.set()  # a write that has begun cannot be cancelled
            await renewing
        route = self._route
        next_at = to_micros(now + timedelta(seconds=route.poll_seconds))
        changed = await self._context.database.write(
            inbox.SCOPE,
            lambda tx: inbox.end_poll(tx, poll_key(route), next_at, self._fault),
            actor=self._context.actor,
        )
        if changed:  # a payer that stays away is logged once
            write = log.warning if self._fault else log.info
            text = "route not polled" if self._fault else "route polled again"
            write(text, payer=route.payer_id, type=route.type, kind=route.kind)
        return self._new

    async def _fetch_all(self) -> None:
        mailbox = self._context.payer_access.connections().open_mailbox(self._route)
        try:
            for incoming in (await mailbox.waiting())[: limits.COLLECT_FILES_MAX]:
                try:
                    await self._fetch(mailbox, incoming)
                except Denied as fault:  # the next file may be allowed
                    if await _is_there(mailbox, incoming.name):
                        self._fault = str(fault)
        finally:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(limits.MAILBOX_CLOSE_SECONDS_MAX):
                    await mailbox.close()

    async def _renew_lease(self, ended: asyncio.Event) -> None:
        """Extend the lease now and then: short leases free the routes of a node that died soon."""
        context, route = self._context, self._route
        while not await _set_within(ended, limits.COLLECT_LEASE_RENEWAL_SECONDS):
            until = _lease_end(context.clock.now())
            with contextlib.suppress(StoreFault):  # the next renewal may succeed
                await context.database.write(
                    inbox.SCOPE,
                    partial(inbox.extend_poll, key=poll_key(route), until=until),
                    actor=context.actor,
                )

    async def _fetch(self, mailbox: Mailbox, incoming: IncomingFile) -> None:
        if incoming.size > limits.TRANSFER_BYTES_MAX:
            # Recorded once, by name and size, and left for a person.
            await self._store(incoming.name, b"", f"{incoming.name}:{incoming.size}".encode())
            return
        content = await mailbox.take(incoming.name)
        fault_injection.crash_point("fetched")
        await self._store(incoming.name, content)
        fault_injection.crash_point("stored")
        await mailbox.drop(incoming.name)
        fault_injection.crash_point("dropped")

    async def _store(self, name: str, content: bytes, identity: bytes | None = None) -> None:
        """Store a file. ``identity`` stands for content that was not fetched: the file goes to quarantine at once."""
        context, route, vault = self._context, self._route, self._context.vault
        await vault.ensure_key(inbox.OWNER)
        known_by = content if identity is None else identity
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
                name=name[: limits.FILE_NAME_CHARACTERS_MAX],
                digest=digest,
                bytes=len(content),
                received_at=now,
                content=vault.seal(inbox.OWNER, inbox.TABLE, place, content),
            )

        new = await asyncio.to_thread(seal)

        async def store(tx: Tx) -> tuple[int, bool]:
            id, is_new = await inbox.add(tx, new)
            if is_new:
                tx.audit("inbox.stored", ids=[str(id)], detail=f"{route.type} {route.payer_id}")
                if identity is not None:
                    end = InboxOutcome(state=inbox.QUARANTINED, reason=TOO_LARGE)
                    await inbox.record_outcome(tx, id, end, now)
            return id, is_new

        id, is_new = await context.database.write(inbox.SCOPE, store, actor=context.actor)
        if is_new and identity is None:
            self._new.append(id)


def poll_key(route: PayerRoute) -> tuple[str, str, int]:
    """Return the key of a route among the polls."""
    return route.type, route.payer_id, route.route_id


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def _is_there(mailbox: Mailbox, name: str) -> bool:
    """Return whether a file still waits. One that does not was fetched by another node, which is no fault."""
    return any(one.name == name for one in await mailbox.waiting())


def _lease_end(now: datetime) -> int:
    return to_micros(now + timedelta(seconds=limits.COLLECT_LEASE_SECONDS))
