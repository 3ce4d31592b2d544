"""Deliver the events of one webhook endpoint: in order per claim, many claims at a time.

    await EndpointDelivery(node, one).run()

Up to 16 messages are on their way at a time, never two of one claim. A claim whose delivery failed holds up only itself:
its later events wait until that one arrived. Deliveries are recorded in groups; what was sent and not yet recorded when a
node dies is sent again. A ping has a place of its own, ahead of any backlog.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import msgspec

from clearlane.accounts.model import VendorState
from clearlane.connect.webhook_http import WebhookAnswer, WebhookSender
from clearlane.engine.fault_injection import crash_point
from clearlane.events.event import NewEvent, format_event_id
from clearlane.events.retries import retry_seconds
from clearlane.events.signature import signed_headers
from clearlane.kernel.clock import Clock, to_micros
from clearlane.kernel.ids import VendorId, VendorScope
from clearlane.kernel.log import get_logger
from clearlane.kernel.tasks import cancel_all
from clearlane.kernel.traces import now_nanos
from clearlane.pipeline.claim_traces import trace_webhooks
from clearlane.pipeline.notify.feed import PING, Envelope, FeedReader, read_feed, read_pings
from clearlane.pipeline.notify.webhook_endpoints import (
    WebhookEndpoint,
    open_endpoint,
    vendor_scope,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Tx
from clearlane.store.events import webhooks
from clearlane.store.events.webhooks import DeliveryRow, EndpointInNeed, NewDelivery

log = get_logger()

WEBHOOK_AT_ONCE = 16
"""Messages that are on their way to one endpoint, each of another claim; a ping beside them."""
WEBHOOK_EVENTS_AT_ONCE = 200
WEBHOOK_LOADED_AT_ONCE = 256
WEBHOOK_LOADED_MIN = 64
"""More are loaded when fewer are left."""
WEBHOOK_RECORDED_AT_ONCE = 32
WEBHOOK_RECORD_SECONDS = 0.25
"""How long an answer waits for others at most before it is recorded."""
WEBHOOK_WAITING_MAX = 10_000
"""Deliveries that may wait for one endpoint before its cursor stays where it is."""
LEASE = timedelta(seconds=20)
LEASE_RENEWED_SECONDS = 5.0
WAIT_SECONDS = 1.0
CHANCE_PARTS = 1_000
NO_EVENT = "The event is no longer kept."


def random_chance() -> float:
    """Return a number from 0 to 1."""
    return secrets.randbelow(CHANCE_PARTS) / CHANCE_PARTS


@dataclass(slots=True)
class WebhookCounts:
    """What this node delivered since its start, for the metrics."""

    delivered: int = 0
    failed: int = 0
    disabled: int = 0


@dataclass(frozen=True, slots=True)
class WebhookNode:
    """What a node delivers with."""

    context: WorkContext
    sender: WebhookSender
    wall: Clock
    chance: Callable[[], float]
    counts: WebhookCounts

    def reader(self, vendor_id: VendorId, sites: Collection[int] = ()) -> FeedReader | None:
        """Return the reader of a vendor's events; None while the vendor is disabled."""
        accounts = self.context.accounts()
        vendor = next((one for one in accounts.vendors if one.id == vendor_id), None)
        if vendor is None or vendor.state is not VendorState.ACTIVE:
            return None
        own = {
            site.id: site.vendor_site_id
            for site in accounts.sites_of(vendor)
            if site.baa_accepted and (not sites or site.id in sites)
        }
        return FeedReader(vendor_id, own, of_vendor=True)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A delivery that is loaded, with its message."""

    row: DeliveryRow
    message: Envelope | None

    @property
    def key(self) -> str:
        """What is delivered in order: a claim, or else the event alone."""
        return self.row.claim_number or f"#{self.row.event_id}"


@dataclass(slots=True, eq=False)
class EndpointDelivery:
    """Delivers to one endpoint while this node has its lease and anything is due."""

    node: WebhookNode
    one: EndpointInNeed
    _loaded: dict[str, deque[_Prepared]] = field(default_factory=dict)
    """By claim, in order."""
    _sending: dict[str, "asyncio.Task[WebhookAnswer]"] = field(default_factory=dict)
    _prepared: dict[str, _Prepared] = field(default_factory=dict)
    """What is being sent, by claim."""
    _answers: list[tuple[DeliveryRow, WebhookAnswer]] = field(default_factory=list)
    """Not yet recorded."""
    _renewed: float = float("-inf")
    _pings_seen: int = 0
    _began: dict[int, int] = field(default_factory=dict)
    """When the attempts that are not yet recorded began, by event, for their traces."""

    @property
    def scope(self) -> VendorScope:
        """The rows of the endpoint's vendor."""
        return vendor_scope(VendorId(self.one.vendor_id))

    async def run(self) -> None:
        """Deliver until nothing is due, then give the lease back."""
        try:
            while await self._has_lease() and await self._round():
                pass
        finally:
            await cancel_all([*self._sending.values()])
        await self._release()

    # ---- the lease -----------------------------------------------------------------------------

    async def _has_lease(self) -> bool:
        """Renew the lease now and then; return False if another node has it."""
        now = asyncio.get_running_loop().time()
        if now - self._renewed < LEASE_RENEWED_SECONDS:
            return True
        self._renewed = now
        context, wall = self.node.context, self.node.wall.now()
        at, until = to_micros(wall), to_micros(wall + LEASE)
        return await context.database.write(
            webhooks.SCOPE,
            lambda tx: webhooks.take_lease(
                tx, self.one.endpoint_id, context.node, now=at, until=until
            ),
            actor=context.actor,
        )

    async def _release(self) -> None:
        context = self.node.context
        await context.database.write(
            webhooks.SCOPE,
            lambda tx: webhooks.release_lease(tx, self.one.endpoint_id, context.node),
            actor=context.actor,
        )

    # ---- a round -------------------------------------------------------------------------------

    async def _round(self) -> bool:
        """Note what is to be delivered, load some and send it; return whether there may be more."""
        context = self.node.context
        async with context.database.read(self.scope) as tx:
            row = await webhooks.find(tx, self.one.endpoint_id)
            if row is None or row.state != webhooks.ACTIVE:
                return False
            await context.vault.load_keys_of(tx, [row.payload])
            waiting = await webhooks.count_waiting(tx, self.one.endpoint_id)
        endpoint = open_endpoint(context.vault, self.scope, row)
        reader = self.node.reader(VendorId(self.one.vendor_id), endpoint.sites)
        if reader is None:
            return False
        await self._note_pings(reader, endpoint)
        more = waiting < WEBHOOK_WAITING_MAX and await self._note(reader, endpoint)
        more |= await self._load(reader, endpoint)
        if not self._loaded and not self._sending:
            return more
        return await self._send_some(endpoint, more=more)

    async def _note_pings(self, reader: FeedReader, endpoint: WebhookEndpoint) -> None:
        """Write down the pings of the endpoint ahead of its cursor: a backlog does not delay them."""
        row = endpoint.row
        after = max(row.after_event, self._pings_seen)
        pings = [
            one
            for one in await read_pings(self.node.context, reader, after)
            if _is_for(one.data, row.endpoint_id)
        ]
        if not pings:
            return
        new = [NewDelivery(one.id, PING) for one in pings]
        now = to_micros(self.node.wall.now())
        await self.node.context.database.write(
            self.scope,
            lambda tx: webhooks.note_deliveries(tx, row.endpoint_id, new, due_at=now),
            actor=self.node.context.actor,
        )
        self._pings_seen = pings[-1].id

    async def _note(self, reader: FeedReader, endpoint: WebhookEndpoint) -> bool:
        """Write down the next events that the endpoint wants; return whether there were any."""
        row, context = endpoint.row, self.node.context
        page = await read_feed(
            context,
            reader,
            types=endpoint.wanted_types(),
            after=row.after_event,
            limit=WEBHOOK_EVENTS_AT_ONCE,
            with_claim_ids=False,
        )
        if page.cursor == row.after_event:
            return False
        wanted = [
            NewDelivery(number, str(one["type"]), str(one["claim_number"] or ""))
            for number, one in zip(page.numbers, page.events, strict=True)
            if one["type"] != PING or _is_for(one["data"], row.endpoint_id)
        ]
        now = to_micros(self.node.wall.now())

        async def job(tx: Tx) -> None:
            found = await webhooks.lock(tx, row.endpoint_id)
            if found is None or found.after_event != row.after_event:
                return  # it was set back, or another node was faster
            for again in (True, False):
                some = [one for one in wanted if (one.event_id <= found.replay_through) is again]
                if some:
                    await webhooks.add_deliveries(
                        tx, row.endpoint_id, some, due_at=now, again=again
                    )
            await webhooks.save(tx, found._replace(after_event=page.cursor))

        await context.database.write(self.scope, job, actor=context.actor)
        crash_point("webhooks noted")
        return True

    async def _load(self, reader: FeedReader, endpoint: WebhookEndpoint) -> bool:
        """Load deliveries that are due, if few are left, and every ping; return whether there may be more."""
        held = [one.row.event_id for rows in self._loaded.values() for one in rows]
        known = {*held, *(one.row.event_id for one in self._prepared.values())}
        limit = WEBHOOK_LOADED_AT_ONCE if len(held) < WEBHOOK_LOADED_MIN else 0
        now = to_micros(self.node.wall.now())
        async with self.node.context.database.read(self.scope) as tx:
            due = await webhooks.list_due_of_type(tx, endpoint.row.endpoint_id, PING, now)
            if limit:
                # What is loaded or being sent still waits in the database.
                due += await webhooks.list_due(
                    tx, endpoint.row.endpoint_id, now, limit + len(known)
                )
        new = {row.event_id: row for row in due if row.event_id not in known}
        messages = await self._messages(reader, [*new.values()])
        for event_id in sorted(new):
            one = _Prepared(new[event_id], messages.get(event_id))
            self._loaded.setdefault(one.key, deque()).append(one)
        return not limit or len(new) >= limit

    async def _messages(
        self, reader: FeedReader, due: Sequence[DeliveryRow]
    ) -> Mapping[int, Envelope]:
        """Return the events of deliveries as they are sent. Neighbors are read in one page."""
        found: dict[int, Envelope] = {}
        wanted = sorted(row.event_id for row in due)
        types = {row.type for row in due}
        while wanted:
            page = await read_feed(
                self.node.context, reader, types=types, after=wanted[0] - 1, limit=len(wanted)
            )
            found |= zip(page.numbers, page.events, strict=True)
            last = page.numbers[-1] if page.numbers and not page.is_end else wanted[-1]
            wanted = [event_id for event_id in wanted if event_id > last]
        return found

    # ---- sending -------------------------------------------------------------------------------

    async def _send_some(self, endpoint: WebhookEndpoint, *, more: bool) -> bool:
        """Send what is loaded and record it; return whether to go on. If there is more, return when little is left."""
        loop = asyncio.get_running_loop()
        recorded = began = loop.time()
        while True:
            self._start(endpoint)
            if self._sending:
                await asyncio.wait(
                    self._sending.values(),
                    timeout=WEBHOOK_RECORD_SECONDS,
                    return_when=asyncio.FIRST_COMPLETED,
                )
            self._gather()
            now, left = loop.time(), sum(map(len, self._loaded.values()))
            is_over = (
                not (left or self._sending)
                or (more and left < WEBHOOK_LOADED_MIN)
                or now - began > WAIT_SECONDS
            )
            is_group = len(self._answers) >= WEBHOOK_RECORDED_AT_ONCE
            if self._answers and (is_over or is_group or now - recorded > WEBHOOK_RECORD_SECONDS):
                if not await self._record(endpoint):
                    return False
                recorded = loop.time()
            if is_over:
                return True

    def _start(self, endpoint: WebhookEndpoint) -> None:
        """Send the first of each claim, as many as there are places; pings have one of their own."""
        pings = sum(one.row.type == PING for one in self._prepared.values())
        places = {True: 1 - pings, False: WEBHOOK_AT_ONCE - len(self._prepared) + pings}
        for key in [key for key in self._loaded if key not in self._sending]:
            rows = self._loaded[key]
            is_ping = rows[0].row.type == PING
            if places[is_ping] < 1:
                continue
            places[is_ping] -= 1
            one = self._prepared[key] = rows.popleft()
            if not rows:
                del self._loaded[key]
            self._began[one.row.event_id] = now_nanos()
            self._sending[key] = asyncio.create_task(self._send(endpoint, one))

    def _gather(self) -> None:
        """Take the answers that have come. After a failure the rest of the claim is left for later."""
        for key in [key for key, task in self._sending.items() if task.done()]:
            answer, one = self._sending.pop(key).result(), self._prepared.pop(key)
            self._answers.append((one.row, answer))
            if not answer.is_success and answer.fault != NO_EVENT:
                self._loaded.pop(key, None)

    async def _send(self, endpoint: WebhookEndpoint, one: _Prepared) -> WebhookAnswer:
        if one.message is None:
            return WebhookAnswer(fault=NO_EVENT)
        now = self.node.wall.now()
        body = msgspec.json.encode(one.message)
        headers = signed_headers(
            endpoint.valid_secrets(to_micros(now)),
            message_id=format_event_id(one.row.event_id),
            timestamp=int(now.timestamp()),
            body=body,
        )
        return await self.node.sender.post(endpoint.content.url, headers, body)

    # ---- recording -----------------------------------------------------------------------------

    async def _record(self, endpoint: WebhookEndpoint) -> bool:
        """Record the answers; return False if the endpoint is disabled, after the last attempt of a delivery failed."""
        crash_point("webhooks sent")
        answers, self._answers = self._answers, []
        context, now = self.node.context, to_micros(self.node.wall.now())
        await context.vault.ensure_key(self.scope)
        rows = [self._attempted(row, answer, now) for row, answer in answers]
        given_up = [row for row in rows if row.state == webhooks.FAILED and row.fault != NO_EVENT]
        failures = [row for row in rows if row.state != webhooks.DELIVERED]
        endpoint_id = endpoint.row.endpoint_id

        async def job(tx: Tx) -> bool:
            found = await webhooks.lock(tx, endpoint_id)
            if found is None:
                return False
            first = await webhooks.first_waiting(tx, endpoint_id) if given_up else None
            await webhooks.save_attempts(tx, rows)
            await webhooks.hold_up(tx, [row for row in rows if row.state == webhooks.WAITING])
            arrived = [row for row in rows if row.state == webhooks.DELIVERED and row.attempts > 1]
            await webhooks.let_go(tx, arrived, now)
            if given_up:
                await webhooks.give_up(tx, endpoint_id)
                found = found._replace(
                    state=webhooks.DISABLED, disabled_at=now, failed_event=first,
                    fault=given_up[0].fault,
                )  # fmt: skip
                data = {"endpoint_id": endpoint_id}
                vendor_id = VendorId(self.one.vendor_id)
                tx.add_events([NewEvent("webhook.disabled", vendor_id=vendor_id, data=data)])
                tx.audit("webhook.disabled", ids=[endpoint_id], detail=given_up[0].fault)
            elif failures:
                since = found.failing_since or now
                found = found._replace(failing_since=since, fault=failures[0].fault)
            else:
                found = found._replace(failing_since=None, fault="")
            await webhooks.save(tx, found)
            return not given_up

        goes_on = await context.database.write(self.scope, job, actor=context.actor)
        crash_point("webhooks recorded")
        delivered = [
            (row.event_id, row.claim_number)
            for row in rows
            if row.state == webhooks.DELIVERED and row.claim_number
        ]
        await trace_webhooks(context, endpoint_id, delivered, self._began)
        for row in rows:
            self._began.pop(row.event_id, None)
        self._count(rows, failures, given_up)
        return goes_on

    def _count(
        self,
        rows: Sequence[DeliveryRow],
        failures: Sequence[DeliveryRow],
        given_up: Sequence[DeliveryRow],
    ) -> None:
        counts = self.node.counts
        counts.delivered += len(rows) - len(failures)
        counts.failed += len(failures)
        if given_up:
            counts.disabled += 1
            log.warning("webhook disabled", endpoint=self.one.endpoint_id)

    def _attempted(self, row: DeliveryRow, answer: WebhookAnswer, now: int) -> DeliveryRow:
        attempts = row.attempts + 1
        fault = answer.fault or ("" if answer.is_success else f"It answered {answer.status}.")
        key = webhooks.answer_key(row.endpoint_id, row.event_id)
        sealed = (
            self.node.context.vault.seal(self.scope, webhooks.ANSWERS, key, answer.body)
            if answer.body
            else None
        )
        tried = row._replace(
            attempts=attempts, attempted_at=now, status=answer.status, fault=fault, answer=sealed
        )
        if answer.is_success:
            return tried._replace(state=webhooks.DELIVERED, due_at=None)
        pause = None if fault == NO_EVENT else retry_seconds(attempts, self.node.chance())
        if pause is None:
            return tried._replace(state=webhooks.FAILED, due_at=None)
        return tried._replace(due_at=now + int(pause * 1_000_000))


def _is_for(data: object, endpoint_id: str) -> bool:
    """Return whether a ping is for an endpoint: it names one."""
    return isinstance(data, dict) and data.get("endpoint_id") == endpoint_id
