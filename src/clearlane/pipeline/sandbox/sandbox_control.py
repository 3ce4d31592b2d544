"""Advance a sandbox's clock and change its payers, and finish everything that is due then.

    control = SandboxControl(context, simulator, shared_clock)
    await control.advance(timedelta(days=14), actor)    # returns when everything due has been posted

Scheduled work would do the same later; here it is done at once, so that a test can advance and then look. Knows the
sandbox by protocols alone.
"""

import asyncio
from datetime import datetime, timedelta
from typing import Protocol

from clearlane.connect.loopback_connections import LoopbackConnections, ledger_name
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.payers.model import PAYER_TYPES, Payer
from clearlane.pipeline.filing.checkpoints import make_checkpoints
from clearlane.pipeline.follow_up.awaited_enrollments import release_enrolled
from clearlane.pipeline.follow_up.overdue_claims import act_on_overdue, find_next_step
from clearlane.pipeline.follow_up.watch_filing_limits import watch_filing_limits
from clearlane.pipeline.inbound import post, receive
from clearlane.pipeline.inbound.sender_responses import has_due_responses, write_due_responses
from clearlane.pipeline.inquiry import inquiry_schedule
from clearlane.pipeline.intake.files.daily_summary import write_due_summaries
from clearlane.pipeline.intake.files.file_inquiries import answer_inquiry_files
from clearlane.pipeline.outbound import dispatch
from clearlane.pipeline.sandbox.enrollment_answers import answer_enrollments, has_due_answers
from clearlane.pipeline.secondary.draft_work import work_on_drafts
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor

SANDBOX_ADVANCE_SECONDS_MAX = 300

DAY, HOUR, NOTHING = timedelta(days=1), timedelta(hours=1), timedelta(0)
UP = "up"
"""The mode of a payer that takes files."""


class DueWorkNotFinished(Exception):
    """Due work was not finished within the time allowed."""


class SandboxClockState(Protocol):
    """The state of the sandbox's clock."""

    @property
    def advanced(self) -> timedelta: ...
    @property
    def day_seconds(self) -> float: ...
    @property
    def frozen(self) -> bool: ...


class SandboxClock(Clock, Protocol):
    """The sandbox's clock."""

    @property
    def state(self) -> SandboxClockState: ...
    def check_advance(self, by: timedelta) -> None: ...


class Simulator(Protocol):
    """The sandbox. A ValueError explains in a sentence what is not possible."""

    @property
    def clock(self) -> SandboxClock: ...
    async def advance(self, by: timedelta, actor: Actor) -> None: ...
    async def freeze(self, actor: Actor) -> None: ...
    async def unfreeze(self, actor: Actor) -> None: ...
    async def set_pace(self, day_seconds: float, actor: Actor) -> None: ...
    async def time_to_next_response(self) -> timedelta | None: ...
    def scenarios(self) -> list[tuple[str, str, str]]: ...
    async def mode(self, ledger: str) -> str: ...
    async def set_mode(self, ledger: str, mode: str) -> None: ...


class SharedClock(Protocol):
    """The clock that all nodes share."""

    async def wait_until_loaded(self) -> list[str]:
        """Wait until every living node has loaded it; return the ids of those that have not in time."""
        ...


class SandboxControl:
    """Changes the time and the payers of a sandbox for callers."""

    def __init__(self, context: WorkContext, simulator: Simulator, shared: SharedClock) -> None:
        self.simulator = simulator
        self._context = context
        self._shared_clock = shared
        self._lock = asyncio.Lock()

    async def set_clock(
        self, *, frozen: bool | None, day_seconds: float | None, actor: Actor
    ) -> None:
        """Freeze or unfreeze the clock, and set its pace; None changes nothing."""
        if day_seconds is not None:
            await self.simulator.set_pace(day_seconds, actor)
        if frozen is not None:
            await (self.simulator.freeze(actor) if frozen else self.simulator.unfreeze(actor))
        await self._shared_clock.wait_until_loaded()

    async def advance(self, by: timedelta, actor: Actor) -> None:
        """Advance the clock, and return when everything that is due then has been posted.

        It advances from one response to the next and by a day at most, so that what follows from a response happens on
        its day.
        """
        async with self._lock:
            self.simulator.clock.check_advance(by)
            # Before anything is numbered by the later clock.
            await self._context.database.make_partitions(self._context.clock.now() + by)
            await self.finish_due_work()
            left = by
            while left > NOTHING:
                step = await self._next_step(left)
                await self.simulator.advance(step, actor)
                left -= step
                await self.finish_due_work()
                await watch_filing_limits(self._context, self._context.clock.now())
            await self._shared_clock.wait_until_loaded()

    async def modes(self) -> list[tuple[Payer, str]]:
        """Return the mode of each test payer and of each payer that was sent something."""
        payers = self._context.payer_access.payers()
        contacted = {
            (route.type, route.payer_id)
            for route in self._context.payer_access.connections().all_mailbox_routes()
        }
        return [
            (payer, await self.simulator.mode(ledger_name(payer.type, payer.payer_id)))
            for payer in payers.all
            if payer.is_test or (payer.type, payer.payer_id) in contacted
        ]

    def find_payers(self, payer_id: str) -> list[Payer]:
        """Return the payers of an id: two, if it takes both types of claims."""
        payers = self._context.payer_access.payers()
        return [payer for type in PAYER_TYPES if (payer := payers.find(payer_id, type))]

    async def set_mode(self, payer_id: str, mode: str) -> None:
        """Set the mode of a payer, for both types of claims if it takes both.

        What waited for a payer that is up again is sent at once, and not after its pause.
        """
        for payer in self.find_payers(payer_id):
            await self.simulator.set_mode(ledger_name(payer.type, payer.payer_id), mode)
            if mode == UP:
                await dispatch.retry_payer_now(
                    self._context, (payer.type, payer.payer_id), self._context.clock.now()
                )

    async def finish_due_work(self) -> None:
        """Do due work until none is left."""
        try:
            async with asyncio.timeout(SANDBOX_ADVANCE_SECONDS_MAX):
                while True:
                    if await _do_due_work(self._context):
                        continue
                    if not await self._has_due_work(self._context.clock.now()):
                        return
                    # A scheduled run or another node is doing it.
                    await asyncio.sleep(limits.REVISION_WAIT_POLL_SECONDS)
        except TimeoutError:
            raise DueWorkNotFinished from None

    async def _next_step(self, left: timedelta) -> timedelta:
        ahead = await self.simulator.time_to_next_response()
        now = self._context.clock.now()
        follow_up = await find_next_step(self._context)
        if ahead is None and not await self._has_due_work(now + left):
            # Only what is done about silent claims is left.
            return left if follow_up is None else min(left, max(follow_up - now, HOUR))
        # Responses of one hour are taken together: they keep their order, and a busy day has few steps.
        return min(left, DAY, max(ahead or DAY, HOUR))

    async def _has_due_work(self, now: datetime) -> bool:
        connections = self._context.payer_access.connections()
        if isinstance(connections, LoopbackConnections) and await connections.busy(now):
            return True
        if await inquiry_schedule.has_due_inquiries(self._context, now):
            return True
        if await has_due_answers(self._context):
            return True
        if await has_due_responses(self._context):
            return True
        return await dispatch.has_due_work(self._context, now) or await post.has_waiting_files(
            self._context
        )


async def _do_due_work(context: WorkContext) -> bool:
    """Batch, deliver, receive, post, answer and sign what is possible now; return whether there was anything.

    Batching windows are ignored: what is accepted is sent before time advances.
    """
    batched = await dispatch.create_batches(context, context.clock.now(), everything=True)
    delivered = await dispatch.deliver_due(context, context.clock.now())
    received = await receive.receive_files(context, context.clock.now(), every_route=True)
    posted = await post.post_waiting(context)
    answered = await answer_enrollments(context, context.clock.now())
    enrolled = await release_enrolled(context, context.clock.now())
    responded = await write_due_responses(context)
    signed = await make_checkpoints(context, context.clock.now())
    drafted = await work_on_drafts(context)
    files = await answer_inquiry_files(context) + await write_due_summaries(context)
    if batched or delivered or received or posted or answered or responded or signed or drafted:
        return True
    if files or enrolled:
        return True
    return bool(await act_on_overdue(context, context.clock.now()))
