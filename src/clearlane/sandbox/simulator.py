"""The sandbox as a whole: one clock for all nodes, and its simulated payers.

    simulator = Simulator(wall, ledger, clock_store)
    await simulator.load(actor)                  # again whenever another node may have changed the time
    await simulator.advance(timedelta(days=14), actor)

The clock store serializes changes of the clock, so that no node's change undoes another's. Knows no database: its
protocols define what it needs of one. ``actor`` is whatever the clock store records in the audit.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from clearlane.connect.port import Ledger
from clearlane.kernel.clock import Clock
from clearlane.sandbox.clock import (
    ZERO_TIME,
    CountedClock,
    SandboxClock,
    decode_state,
    from_calendar,
    initial_state,
)

if TYPE_CHECKING:
    from clearlane.sandbox.payer import SandboxPayer
    from clearlane.sandbox.realtime import RealtimePayer

Actor_contra = TypeVar("Actor_contra", contravariant=True)
Change = Callable[[bytes | None], bytes]


class ClockStore(Protocol[Actor_contra]):
    """Storage of the clock's state."""

    async def load(self) -> bytes | None:
        """Return the state, or None before there is one."""
        ...

    async def change(self, change: Change, description: str, actor: Actor_contra) -> bytes:
        """Replace the state by ``change`` of it; no other change comes in between."""
        ...

    async def reset(self, state: bytes, actor: Actor_contra) -> dict[str, int]:
        """Empty the sandbox and set the clock's state; return how many rows of each table there were."""
        ...


class SimulatorLedger(Ledger, Protocol):
    """A ledger that knows its payers, and when the next entry is due."""

    async def register_payer(self, payer: str) -> None:
        """Add a payer to those that have entries."""
        ...

    async def next_due(self, after: datetime) -> datetime | None:
        """Return the earliest due time after this one on any payer's agenda."""
        ...


class Simulator(Generic[Actor_contra]):
    """Clock and payers of one sandbox, on one node."""

    def __init__(
        self, wall: Clock, ledger: SimulatorLedger, clock_store: ClockStore[Actor_contra]
    ) -> None:
        self.clock = SandboxClock(wall)
        self.counted_clock = CountedClock(self.clock)
        self._wall = wall
        self._ledger = ledger
        self._clock_store = clock_store
        # Serializes loads and changes: a state read before a change must not be set after it.
        self._lock = asyncio.Lock()

    async def load(self, actor: Actor_contra) -> None:
        """Load the stored clock; start it if there is none."""
        async with self._lock:
            stored = await self._clock_store.load()
            if stored is None:
                first = initial_state(self._wall.now()).encode()
                stored = await self._clock_store.change(
                    lambda before: before or first, "start", actor
                )
            self.clock.state = decode_state(stored)

    async def advance(self, by: timedelta, actor: Actor_contra) -> None:
        """Advance dates and payers."""
        await self._change(lambda clock: clock.advance(by), f"advance {by}", actor)

    async def freeze(self, actor: Actor_contra) -> None:
        """Stop the payers' calendar."""
        await self._change(lambda clock: clock.freeze(), "freeze", actor)

    async def unfreeze(self, actor: Actor_contra) -> None:
        """Restart the payers' calendar."""
        await self._change(lambda clock: clock.unfreeze(), "unfreeze", actor)

    async def set_pace(self, day_seconds: float, actor: Actor_contra) -> None:
        """Set how many seconds a day of the payers' calendar lasts."""
        words = f"pace {day_seconds:g} seconds"
        await self._change(lambda clock: clock.set_pace(day_seconds), words, actor)

    async def reset(self, actor: Actor_contra) -> dict[str, int]:
        """Empty the sandbox and set its clock to real time; return how many rows of each table there were."""
        async with self._lock:
            first = initial_state(self._wall.now())
            counts = await self._clock_store.reset(first.encode(), actor)
            self.clock.state = first
        return counts

    async def time_to_next_response(self) -> timedelta | None:
        """Return how far to advance the clock until the next response is due; None if there is none."""
        calendar = self.clock.calendar()
        due = await self._ledger.next_due(calendar)
        return None if due is None else max(from_calendar(due - calendar), ZERO_TIME)

    def payer(
        self, ledger: str, *, id: str = "", name: str = "", ids: Iterable[str] = ()
    ) -> "SandboxPayer":
        """Return the payer with this ledger. All its state is there, so each caller may have its own object."""
        from clearlane.sandbox.model import Profile
        from clearlane.sandbox.payer import SandboxPayer

        profile = Profile(id=id, name=name, ids=frozenset(ids), ledger=ledger)
        return SandboxPayer(profile, self._ledger, calendar=self.clock.calendar)

    def hop(self, ledger: str, *, id: str, name: str, served: Mapping[str, str]) -> "SandboxPayer":
        """Return an upstream clearinghouse with this ledger, which answers for the payers that it serves."""
        from clearlane.sandbox.model import Profile
        from clearlane.sandbox.payer import SandboxPayer

        profile = Profile(id=id, name=name, ids=frozenset(served), ledger=ledger, served=served)
        return SandboxPayer(profile, self._ledger, calendar=self.clock.calendar)

    def realtime_payer(self, ledger: str, *, id: str, name: str, dental: bool) -> "RealtimePayer":
        """Return the real-time payer with this ledger. It remembers the order of inquiries: keep the object."""
        from clearlane.sandbox import read_276
        from clearlane.sandbox.claim_status import StatusPayer, StatusResponder
        from clearlane.sandbox.eligibility import EligibilityPayer
        from clearlane.sandbox.model import Profile
        from clearlane.sandbox.payer_ledger import PayerLedger
        from clearlane.sandbox.realtime import InquiryPayer, RealtimePayer

        profile = Profile(id=id, name=name, ledger=ledger, dental=dental)
        eligibility = EligibilityPayer(profile, self.counted_clock)
        responder = StatusResponder(profile, PayerLedger(self._ledger, ledger))
        statuses = StatusPayer(responder, self.counted_clock)
        payer = InquiryPayer({read_276.GROUP: statuses}, eligibility)
        return RealtimePayer(payer, lambda: self.mode(ledger), self.counted_clock)

    def scenarios(self) -> list[tuple[str, str, str]]:
        """Return the claim scenarios: the insured's id that selects one, its title, and what is paid."""
        from clearlane.sandbox.scenarios import SCENARIOS

        return [(row.id, row.title, row.figures) for row in SCENARIOS.values()]

    async def mode(self, ledger: str) -> str:
        """Return a payer's mode."""
        return (await self.payer(ledger).mode()).value

    async def set_mode(self, ledger: str, mode: str) -> None:
        """Set a payer's mode, for every node. Raise ValueError if there is no such mode."""
        from clearlane.sandbox.payer import Mode

        wanted = Mode(mode)
        await self._ledger.register_payer(ledger)
        await self.payer(ledger).set_mode(wanted)

    async def _change(
        self, make: Callable[[SandboxClock], object], description: str, actor: Actor_contra
    ) -> None:
        def change(before: bytes | None) -> bytes:
            changed = SandboxClock(self._wall, None if before is None else decode_state(before))
            make(changed)
            return changed.state.encode()

        async with self._lock:
            self.clock.state = decode_state(
                await self._clock_store.change(change, description, actor)
            )
