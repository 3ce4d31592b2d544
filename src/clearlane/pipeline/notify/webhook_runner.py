"""Deliver events to webhook endpoints: at least once, each endpoint on its own.

    runner = WebhookRunner(context, sender, wall)
    runner.start()

An endpoint has a cursor over the events of its vendor. Moving it and writing down what is to be delivered is one
transaction, so that a node that dies loses nothing; what was sent and not yet recorded is sent again. One node at a
time has an endpoint, by a lease that it renews before each round. The order of deliveries is not promised.
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import msgspec
import structlog

from clearlane.accounts.model import VendorState
from clearlane.connect.webhook_http import WebhookAnswer, WebhookSender
from clearlane.engine.fault_injection import crash_point
from clearlane.events.event import NewEvent, format_event_id
from clearlane.events.retries import retry_seconds
from clearlane.events.signature import signed_headers
from clearlane.kernel.clock import Clock, to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.ids import VendorId
from clearlane.kernel.tasks import cancel_all
from clearlane.pipeline.notify.feed import Envelope, FeedReader, read_feed
from clearlane.pipeline.notify.webhook_endpoints import (
    PING,
    WebhookEndpoint,
    open_endpoint,
    vendor_scope,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import StoreFault, Tx
from clearlane.store.events import events, webhooks
from clearlane.store.events.webhooks import DeliveryRow, EndpointInNeed

log = structlog.get_logger()

WEBHOOK_AT_ONCE = 8
"""Messages that one endpoint gets at a time."""
WEBHOOK_EVENTS_AT_ONCE = 200
WEBHOOK_WAITING_MAX = 10_000
"""Deliveries that may wait for one endpoint before its cursor stays where it is."""
WEBHOOK_POLL_SECONDS = 1.0
WEBHOOK_IDLE_SECONDS = 5.0
"""How long a node without endpoints waits before it looks for some."""
LEASE = timedelta(seconds=20)
"""Longer than one round of messages may take."""
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


@dataclass(slots=True, eq=False)
class WebhookRunner:
    """Delivers the webhooks of all vendors from one node."""

    context: WorkContext
    sender: WebhookSender
    wall: Clock
    chance: Callable[[], float] = random_chance
    counts: WebhookCounts = field(default_factory=WebhookCounts)
    _active: dict[str, "asyncio.Task[None]"] = field(default_factory=dict)
    _loop: "asyncio.Task[None] | None" = None
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    def start(self) -> None:
        """Look for work until :meth:`stop`."""
        self._loop = asyncio.create_task(self._run())

    def wake(self) -> None:
        """Look for work now: an endpoint was added or changed."""
        self._wake.set()

    async def stop(self) -> None:
        """Stop; what was not recorded is sent again by the next node."""
        tasks = [*self._active.values(), *([self._loop] if self._loop else [])]
        await cancel_all(tasks)
        await self.sender.close()

    async def deliver_due(self) -> None:
        """Deliver everything that is due now, and return when it was tried."""
        while True:
            await self._start_due()
            if not self._active:
                return
            await asyncio.wait(list(self._active.values()))

    # ---- looking for work ----------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            head, any_endpoint = 0, False
            try:
                head, any_endpoint = await self._start_due()
            except Exception as fault:  # noqa: BLE001  (the next look may succeed)
                log.warning("webhooks not looked for", fault=fault_code(fault))
            await self._wait(head, any_endpoint=any_endpoint)

    async def _wait(self, head: int, *, any_endpoint: bool) -> None:
        watch = self.context.event_watch
        if any_endpoint and watch is not None:
            await watch.wait(head, WEBHOOK_POLL_SECONDS)
            return
        try:
            async with asyncio.timeout(WEBHOOK_IDLE_SECONDS):
                await self._wake.wait()
        except TimeoutError:
            return
        self._wake.clear()

    async def _start_due(self) -> tuple[int, bool]:
        """Start a task for every endpoint that has work; return the last event, and whether there is any endpoint."""
        now = to_micros(self.wall.now())
        async with self.context.database.read(webhooks.SCOPE) as tx:
            head = await events.last_event(tx)
            found = await webhooks.endpoints_in_need(tx, now)
        for one in found:
            is_due = one.next_due is not None and one.next_due <= now
            has_work = is_due or one.after_event < head
            if has_work and one.endpoint_id not in self._active and self._is_served(one):
                task = asyncio.create_task(self._serve(one))
                self._active[one.endpoint_id] = task
        return head, bool(found) or bool(self._active)

    def _is_served(self, one: EndpointInNeed) -> bool:
        return self._reader(VendorId(one.vendor_id), ()) is not None

    async def _serve(self, one: EndpointInNeed) -> None:
        """Deliver to one endpoint until nothing is due."""
        holder = self.context.node
        try:
            while await self._renew(one.endpoint_id, holder):
                if not await self._round(VendorId(one.vendor_id), one.endpoint_id):
                    break
            await self._release(one.endpoint_id, holder)
        except StoreFault as fault:
            log.warning("webhook not delivered", endpoint=one.endpoint_id, fault=fault_code(fault))
        except Exception as fault:  # noqa: BLE001  (one endpoint must not stop the others)
            log.warning(
                "webhook task failed",
                endpoint=one.endpoint_id,
                fault=fault_code(fault),
                places=fault_frames(fault),
            )
        finally:
            self._active.pop(one.endpoint_id, None)

    async def _renew(self, endpoint_id: str, holder: str) -> bool:
        now = self.wall.now()
        at, until = to_micros(now), to_micros(now + LEASE)
        return await self.context.database.write(
            webhooks.SCOPE,
            lambda tx: webhooks.take_lease(tx, endpoint_id, holder, now=at, until=until),
            actor=self.context.actor,
        )

    async def _release(self, endpoint_id: str, holder: str) -> None:
        await self.context.database.write(
            webhooks.SCOPE,
            lambda tx: webhooks.release_lease(tx, endpoint_id, holder),
            actor=self.context.actor,
        )

    # ---- one endpoint --------------------------------------------------------------------------

    async def _round(self, vendor_id: VendorId, endpoint_id: str) -> bool:
        """Write down what is to be delivered, and deliver a few; return whether there may be more."""
        context, scope = self.context, vendor_scope(vendor_id)
        async with context.database.read(scope) as tx:
            row = await webhooks.find(tx, endpoint_id)
            if row is None or row.state != webhooks.ACTIVE:
                return False
            await context.vault.load_keys_of(tx, [row.payload])
            waiting = await webhooks.count_waiting(tx, endpoint_id)
        endpoint = open_endpoint(context.vault, scope, row)
        reader = self._reader(vendor_id, endpoint.sites)
        if reader is None:
            return False
        more = False
        if waiting < WEBHOOK_WAITING_MAX:
            more = await self._collect(reader, endpoint)
        sent = await self._send_due(reader, endpoint)
        return more or sent

    def _reader(self, vendor_id: VendorId, sites: Sequence[int]) -> FeedReader | None:
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

    async def _collect(self, reader: FeedReader, endpoint: WebhookEndpoint) -> bool:
        """Write down the next events that the endpoint wants; return whether there were any."""
        row = endpoint.row
        page = await read_feed(
            self.context,
            reader,
            types=endpoint.wanted_types(),
            after=row.after_event,
            limit=WEBHOOK_EVENTS_AT_ONCE,
            with_claim_ids=False,
        )
        if page.cursor == row.after_event:
            return False
        wanted = [
            (number, str(one["type"]))
            for number, one in zip(page.numbers, page.events, strict=True)
            if _is_for(one, row.endpoint_id)
        ]
        now = to_micros(self.wall.now())

        async def job(tx: Tx) -> None:
            found = await webhooks.lock(tx, row.endpoint_id)
            if found is None or found.after_event != row.after_event:
                return  # it was set back, or another node was faster
            for again in (True, False):
                some = [one for one in wanted if (one[0] <= found.replay_through) is again]
                if some:
                    await webhooks.add_deliveries(
                        tx, row.endpoint_id, some, due_at=now, again=again
                    )
            await webhooks.save(tx, found._replace(after_event=page.cursor))

        scope = vendor_scope(reader.vendor_id)
        await self.context.database.write(scope, job, actor=self.context.actor)
        crash_point("webhooks noted")
        return True

    async def _send_due(self, reader: FeedReader, endpoint: WebhookEndpoint) -> bool:
        scope, endpoint_id = vendor_scope(reader.vendor_id), endpoint.row.endpoint_id
        now = to_micros(self.wall.now())
        async with self.context.database.read(scope) as tx:
            due = await webhooks.list_due(tx, endpoint_id, now, WEBHOOK_AT_ONCE)
        if not due:
            return False
        messages = await self._messages(reader, endpoint, due)
        answers = await asyncio.gather(
            *(self._send(endpoint, one, messages.get(one.event_id)) for one in due)
        )
        crash_point("webhooks sent")
        await self._record(reader.vendor_id, endpoint, list(zip(due, answers, strict=True)))
        crash_point("webhooks recorded")
        return True

    async def _messages(
        self, reader: FeedReader, endpoint: WebhookEndpoint, due: Sequence[DeliveryRow]
    ) -> Mapping[int, Envelope]:
        """Return the events of deliveries as they are sent."""
        found: dict[int, Envelope] = {}
        for one in sorted(due, key=lambda row: row.event_id):
            page = await read_feed(
                self.context, reader, types={one.type}, after=one.event_id - 1, limit=1
            )
            if page.numbers == [one.event_id]:
                found[one.event_id] = page.events[0]
        return found

    async def _send(
        self, endpoint: WebhookEndpoint, row: DeliveryRow, message: Envelope | None
    ) -> WebhookAnswer:
        if message is None:
            return WebhookAnswer(fault=NO_EVENT)
        now = self.wall.now()
        body = msgspec.json.encode(message)
        headers = signed_headers(
            endpoint.valid_secrets(to_micros(now)),
            message_id=format_event_id(row.event_id),
            timestamp=int(now.timestamp()),
            body=body,
        )
        return await self.sender.post(endpoint.content.url, headers, body)

    # ---- recording -----------------------------------------------------------------------------

    async def _record(
        self,
        vendor_id: VendorId,
        endpoint: WebhookEndpoint,
        answers: Sequence[tuple[DeliveryRow, WebhookAnswer]],
    ) -> None:
        """Record what became of a round; disable the endpoint after the last attempt of a delivery failed."""
        scope, now = vendor_scope(vendor_id), to_micros(self.wall.now())
        await self.context.vault.ensure_key(scope)
        rows = [self._attempted(vendor_id, row, answer, now) for row, answer in answers]
        given_up = [row for row in rows if row.state == webhooks.FAILED and row.fault != NO_EVENT]
        failures = [row for row in rows if row.state != webhooks.DELIVERED]
        endpoint_id = endpoint.row.endpoint_id

        async def job(tx: Tx) -> None:
            found = await webhooks.lock(tx, endpoint_id)
            if found is None:
                return
            first = await webhooks.first_waiting(tx, endpoint_id)
            await webhooks.save_attempts(tx, rows)
            if given_up:
                await webhooks.give_up(tx, endpoint_id)
                found = found._replace(
                    state=webhooks.DISABLED, disabled_at=now, failed_event=first,
                    fault=given_up[0].fault,
                )  # fmt: skip
                data = {"endpoint_id": endpoint_id}
                tx.add_events([NewEvent("webhook.disabled", vendor_id=vendor_id, data=data)])
                tx.audit("webhook.disabled", ids=[endpoint_id], detail=given_up[0].fault)
            elif not failures:
                found = found._replace(failing_since=None, fault="")
            else:
                since = found.failing_since or now
                found = found._replace(failing_since=since, fault=failures[0].fault)
            await webhooks.save(tx, found)

        await self.context.database.write(scope, job, actor=self.context.actor)
        self.counts.delivered += len(rows) - len(failures)
        self.counts.failed += len(failures)
        if given_up:
            self.counts.disabled += 1
            log.warning("webhook disabled", endpoint=endpoint_id)

    def _attempted(
        self, vendor_id: VendorId, row: DeliveryRow, answer: WebhookAnswer, now: int
    ) -> DeliveryRow:
        attempts = row.attempts + 1
        fault = answer.fault or ("" if answer.is_success else f"It answered {answer.status}.")
        key = webhooks.answer_key(row.endpoint_id, row.event_id)
        sealed = (
            self.context.vault.seal(vendor_scope(vendor_id), webhooks.ANSWERS, key, answer.body)
            if answer.body
            else None
        )
        tried = row._replace(
            attempts=attempts, attempted_at=now, status=answer.status, fault=fault, answer=sealed
        )
        if answer.is_success:
            return tried._replace(state=webhooks.DELIVERED, due_at=None)
        pause = None if fault == NO_EVENT else retry_seconds(attempts, self.chance())
        if pause is None:
            return tried._replace(state=webhooks.FAILED, due_at=None)
        return tried._replace(due_at=now + int(pause * 1_000_000))


def _is_for(one: Envelope, endpoint_id: str) -> bool:
    """Return whether an event is for an endpoint: a ping is for the one that it names."""
    data = one["data"]
    return one["type"] != PING or (
        isinstance(data, dict) and data.get("endpoint_id") == endpoint_id
    )
