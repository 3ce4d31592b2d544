"""Deliver events to webhook endpoints: at least once, each endpoint on its own.

    runner = WebhookRunner(context, sender, wall)
    runner.start()

An endpoint has a cursor over the events of its vendor. Moving it and writing down what is to be delivered is one
transaction, so that a node that dies loses nothing; what was sent and not yet recorded is sent again. One node at a
time has an endpoint, by a lease that it renews. The events of one claim are delivered in their order, as
``webhook_delivery`` describes.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from clearlane.connect.webhook_http import WebhookSender
from clearlane.kernel.clock import Clock, to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.ids import VendorId
from clearlane.kernel.log import get_logger
from clearlane.kernel.tasks import cancel_all
from clearlane.pipeline.notify.dead_lease import DirectoryHolder
from clearlane.pipeline.notify.webhook_delivery import (
    EndpointDelivery,
    WebhookCounts,
    WebhookNode,
    random_chance,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import StoreFault
from clearlane.store.events import events, webhooks
from clearlane.store.events.webhooks import EndpointInNeed

log = get_logger()

WEBHOOK_POLL_SECONDS = 1.0
WEBHOOK_IDLE_SECONDS = 5.0
"""How long a node without endpoints waits before it looks for some."""


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
    _holder: DirectoryHolder | None = None

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
        if self._holder is not None:
            self._holder.close()

    async def deliver_due(self) -> None:
        """Deliver everything that is due now, and return when it was tried."""
        while True:
            await self._start_due()
            if not self._active:
                return
            await asyncio.wait(list(self._active.values()))

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
        await self._free_dead_leases()
        now = to_micros(self.wall.now())
        async with self.context.database.read(webhooks.SCOPE) as tx:
            head = await events.last_event(tx)
            found = await webhooks.endpoints_in_need(tx, now)
        node = WebhookNode(self.context, self.sender, self.wall, self.chance, self.counts)
        for one in found:
            is_due = one.next_due is not None and one.next_due <= now
            has_work = is_due or one.after_event < head
            is_new = one.endpoint_id not in self._active
            if has_work and is_new and node.reader(VendorId(one.vendor_id)) is not None:
                task = asyncio.create_task(self._serve(node, one))
                self._active[one.endpoint_id] = task
        return head, bool(found) or bool(self._active)

    async def _free_dead_leases(self) -> None:
        """Once, take back the leases of the process that had this data directory before: it died."""
        if self._holder is not None:
            return
        holder = DirectoryHolder.take(self.context.data)
        if holder.before:
            await self.context.database.write(
                webhooks.SCOPE,
                lambda tx: webhooks.release_leases(tx, holder.before),
                actor=self.context.actor,
            )
        holder.record(self.context.node)
        self._holder = holder

    async def _serve(self, node: WebhookNode, one: EndpointInNeed) -> None:
        """Deliver to one endpoint until nothing is due."""
        try:
            await EndpointDelivery(node, one).run()
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
