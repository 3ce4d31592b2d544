"""Let a sandbox's time pass, and see to it that everything that is due then has been done.

    steering = Steering(desk, world, time)
    await steering.advance(timedelta(days=14), who)      # returns when everything due has been posted

Ticks do the same work without being asked; here it is done at once, so that a test can say "advance, then look".
Knows the sandbox by what it asks of it, and nothing of how it is made.
"""

import asyncio
from datetime import datetime, timedelta
from typing import Protocol

from clearlane.connect.loopback_routes import LoopbackLines, ledger_name
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.payers.model import PAYER_TYPES, Payer
from clearlane.pipeline.eligibility import inquiry_schedule
from clearlane.pipeline.inbound import post, receive
from clearlane.pipeline.outbound import dispatch
from clearlane.pipeline.work_context import Desk
from clearlane.store.database import Actor

DAY, HOUR, NOTHING = timedelta(days=1), timedelta(hours=1), timedelta(0)
UP = "up"
"""The mode of a payer that takes files."""


class NotSettled(Exception):
    """Something due is not done within the time we wait."""


class Running(Protocol):
    """How the sandbox's time runs."""

    @property
    def advanced(self) -> timedelta: ...
    @property
    def day_seconds(self) -> float: ...
    @property
    def frozen(self) -> bool: ...


class Time(Clock, Protocol):
    """The sandbox's clock."""

    @property
    def state(self) -> Running: ...
    def require(self, by: timedelta) -> None: ...


class World(Protocol):
    """The sandbox. A ValueError says in words what cannot be done."""

    @property
    def clock(self) -> Time: ...
    async def advance(self, by: timedelta, who: Actor) -> None: ...
    async def freeze(self, who: Actor) -> None: ...
    async def thaw(self, who: Actor) -> None: ...
    async def set_pace(self, day_seconds: float, who: Actor) -> None: ...
    async def until_next(self) -> timedelta | None: ...
    async def mode(self, books: str) -> str: ...
    async def set_mode(self, books: str, mode: str) -> None: ...


class Shared(Protocol):
    """Where the nodes share their time."""

    async def reached(self) -> list[str]:
        """Wait until every living node runs on it; the ids of those that do not in time."""
        ...


class Steering:
    """What callers of a sandbox may do to its time and its payers."""

    def __init__(self, desk: Desk, world: World, shared: Shared) -> None:
        self.world = world
        self._desk = desk
        self._shared = shared
        self._turn = asyncio.Lock()

    async def set_clock(
        self, *, frozen: bool | None, day_seconds: float | None, who: Actor
    ) -> None:
        """Freeze or let run, and set the pace; None leaves as it is."""
        if day_seconds is not None:
            await self.world.set_pace(day_seconds, who)
        if frozen is not None:
            await (self.world.freeze(who) if frozen else self.world.thaw(who))
        await self._shared.reached()

    async def advance(self, by: timedelta, who: Actor) -> None:
        """Let time pass, and return when everything that is due then has been posted.

        It passes from one answer to the next and by a day at most, so that what follows from an answer
        happens on its day.
        """
        async with self._turn:
            self.world.clock.require(by)
            await self.settle()
            left = by
            while left > NOTHING:
                step = await self._step(left)
                await self.world.advance(step, who)
                left -= step
                await self.settle()
            await self._shared.reached()

    async def modes(self) -> list[tuple[Payer, str]]:
        """The test payers and all that were met, each with what it is made to do."""
        payers = self._desk.outside.payers()
        met = {(line.type, line.payer_id) for line in self._desk.outside.lines().all()}
        return [
            (payer, await self.world.mode(ledger_name(payer.type, payer.payer_id)))
            for payer in payers.all
            if payer.is_test or (payer.type, payer.payer_id) in met
        ]

    def named(self, payer_id: str) -> list[Payer]:
        """The payers of that id: two, where one takes both types of claims."""
        payers = self._desk.outside.payers()
        return [payer for type in PAYER_TYPES if (payer := payers.find(payer_id, type))]

    async def set_mode(self, payer_id: str, mode: str) -> None:
        """Make a payer do something else, for both types of claims where it takes both.

        What waited for one that is up again goes out at once, and not after its pause.
        """
        for payer in self.named(payer_id):
            await self.world.set_mode(ledger_name(payer.type, payer.payer_id), mode)
            if mode == UP:
                await dispatch.wake(
                    self._desk, (payer.type, payer.payer_id), self._desk.clock.now()
                )

    async def settle(self) -> None:
        """Do what is due until nothing is."""
        try:
            async with asyncio.timeout(limits.SANDBOX_SETTLE_SECONDS_MAX):
                while True:
                    if await _work(self._desk):
                        continue
                    if not await self._busy(self._desk.clock.now()):
                        return
                    # A tick or another node is at it.
                    await asyncio.sleep(limits.REVISION_LOOK_SECONDS)
        except TimeoutError:
            raise NotSettled from None

    async def _step(self, left: timedelta) -> timedelta:
        ahead = await self.world.until_next()
        if ahead is None and not await self._busy(self._desk.clock.now() + left):
            return left
        # Answers of one hour are told together: they keep their order, and a busy day has few steps.
        return min(left, DAY, max(ahead or DAY, HOUR))

    async def _busy(self, now: datetime) -> bool:
        lines = self._desk.outside.lines()
        if isinstance(lines, LoopbackLines) and await lines.busy(now):
            return True
        if await inquiry_schedule.busy(self._desk, now):
            return True
        return await dispatch.busy(self._desk, now) or await post.busy(self._desk, now)


async def _work(desk: Desk) -> bool:
    """Everything that can be done now, in the order of a claim's way; whether there was anything.

    No window is waited for: what is accepted goes out before time passes.
    """
    gathered = await dispatch.gather(desk, desk.clock.now(), everything=True)
    delivered = await dispatch.deliver_due(desk, desk.clock.now())
    collected = await receive.collect_due(desk, desk.clock.now(), every_line=True)
    posted = await post.post_due(desk, desk.clock.now())
    return bool(gathered or delivered or collected or posted)
