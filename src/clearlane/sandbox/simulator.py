"""The sandbox as a whole: one time for all nodes, and the payers at the ends of its lines.

    world = World(wall, ledger, keeper)
    await world.load(who)                        # again whenever another node may have changed the time
    await world.advance(timedelta(days=14), who)

How time runs is kept by a keeper that makes one change after the other, so that no node's change undoes another's.
Knows no database: what it asks of one stands in its protocols. ``who`` is whatever the keeper puts on record.
"""

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from clearlane.connect.port import Ledger
from clearlane.kernel.clock import Clock
from clearlane.sandbox.clock import (
    NOTHING,
    SandboxClock,
    Sleepers,
    counted_as,
    decoded,
    first_state,
)

if TYPE_CHECKING:
    from clearlane.sandbox.payer import SandboxPayer
    from clearlane.sandbox.realtime import RealtimeDesk

Who_contra = TypeVar("Who_contra", contravariant=True)
Change = Callable[[bytes | None], bytes]


class Keeper(Protocol[Who_contra]):
    """Where the state of the clock is kept."""

    async def load(self) -> bytes | None:
        """The state, or None before there is one."""
        ...

    async def change(self, change: Change, words: str, who: Who_contra) -> bytes:
        """Replace the state by what is made of it; no other change comes in between."""
        ...


class Agenda(Ledger, Protocol):
    """A ledger that knows whom it is kept for, and when something happens next."""

    async def meet(self, payer: str) -> None:
        """Count a payer among those that something happens with."""
        ...

    async def next_due(self, after: datetime) -> datetime | None:
        """The earliest moment after this one on any payer's agenda."""
        ...


class World(Generic[Who_contra]):
    """Time and payers of one sandbox, seen from one node."""

    def __init__(self, wall: Clock, ledger: Agenda, keeper: Keeper[Who_contra]) -> None:
        self.clock = SandboxClock(wall)
        self.sleepers = Sleepers(self.clock)
        self._wall = wall
        self._ledger = ledger
        self._keeper = keeper
        # A state that was read before a change must not be set after it.
        self._turn = asyncio.Lock()

    async def load(self, who: Who_contra) -> None:
        """Take over the time as it is kept; the first to look starts it."""
        async with self._turn:
            kept = await self._keeper.load()
            if kept is None:
                first = first_state(self._wall.now()).encoded()
                kept = await self._keeper.change(lambda before: before or first, "start", who)
            self.clock.state = decoded(kept)

    async def advance(self, by: timedelta, who: Who_contra) -> None:
        """Let time pass at once, for dates and for payers."""
        await self._change(lambda clock: clock.advance(by), f"advance {by}", who)

    async def freeze(self, who: Who_contra) -> None:
        """Stop the payers' calendar."""
        await self._change(lambda clock: clock.freeze(), "freeze", who)

    async def thaw(self, who: Who_contra) -> None:
        """Let the payers' calendar run."""
        await self._change(lambda clock: clock.thaw(), "unfreeze", who)

    async def set_pace(self, day_seconds: float, who: Who_contra) -> None:
        """Say how many seconds a day of the payers' calendar lasts."""
        words = f"pace {day_seconds:g} seconds"
        await self._change(lambda clock: clock.set_pace(day_seconds), words, who)

    async def until_next(self) -> timedelta | None:
        """How far the clock must be advanced for the next answer that is not yet due; None: there is none."""
        calendar = self.clock.calendar()
        due = await self._ledger.next_due(calendar)
        return None if due is None else max(counted_as(due - calendar), NOTHING)

    def payer(
        self, books: str, *, id: str = "", name: str = "", ids: Iterable[str] = ()
    ) -> "SandboxPayer":
        """A payer whose ledger has this name. It remembers nothing else, so each caller may have its own."""
        from clearlane.sandbox.model import Profile
        from clearlane.sandbox.payer import SandboxPayer

        profile = Profile(id=id, name=name, ids=frozenset(ids), books=books)
        return SandboxPayer(profile, self._ledger, calendar=self.clock.calendar)

    def answering(self, books: str, *, id: str, name: str, dental: bool) -> "RealtimeDesk":
        """A payer that answers questions while one waits. It remembers whose turn it is: keep it."""
        from clearlane.sandbox.eligibility import EligibilityPayer
        from clearlane.sandbox.model import Profile
        from clearlane.sandbox.realtime import RealtimeDesk

        profile = Profile(id=id, name=name, books=books, dental=dental)
        payer = EligibilityPayer(profile, self.sleepers)
        return RealtimeDesk(payer, lambda: self.mode(books), self.sleepers)

    async def mode(self, books: str) -> str:
        """What a payer is made to do."""
        return (await self.payer(books).mode()).value

    async def set_mode(self, books: str, mode: str) -> None:
        """Make a payer do something else, on every node. ValueError where there is no such mode."""
        from clearlane.sandbox.payer import Mode

        wanted = Mode(mode)
        await self._ledger.meet(books)
        await self.payer(books).set_mode(wanted)

    async def _change(
        self, make: Callable[[SandboxClock], object], words: str, who: Who_contra
    ) -> None:
        def change(before: bytes | None) -> bytes:
            changed = SandboxClock(self._wall, None if before is None else decoded(before))
            make(changed)
            return changed.state.encoded()

        async with self._turn:
            self.clock.state = decoded(await self._keeper.change(change, words, who))
