"""Real-time responses of a simulated payer in its mode: up, down, slow or garbage.

Knows modes and delays; ``eligibility`` and ``claim_status`` decide the content.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Protocol

from clearlane.connect.port import Presence, Unreachable
from clearlane.kernel.limits import SANDBOX_SLOW_SECONDS
from clearlane.sandbox.payer import UNREACHABLE, WEB_PAGE, Mode
from clearlane.sandbox.read_270 import functional_group

SLOW = timedelta(seconds=SANDBOX_SLOW_SECONDS)


class WaitableClock(Protocol):
    """A clock that can be waited for."""

    async def wait_until(self, moment: datetime) -> None: ...


class RespondingPayer(Protocol):
    """A real-time payer without modes."""

    async def answer(self, payload: bytes, now: datetime) -> bytes: ...


class RealtimePayer:
    """A real-time payer that behaves according to its mode."""

    def __init__(
        self, payer: RespondingPayer, mode: Callable[[], Awaitable[str]], clock: WaitableClock
    ) -> None:
        self._payer = payer
        self._mode = mode
        self._clock = clock
        self._mode_lookup: asyncio.Future[str] | None = None

    async def answer(self, payload: bytes, now: datetime) -> bytes:
        """Return the interchange that answers this one, or what the mode gives instead."""
        mode = await self._current()
        if mode == Mode.DOWN:
            raise Unreachable(UNREACHABLE, Presence.ABSENT)
        if mode == Mode.GARBAGE:
            return WEB_PAGE
        if mode == Mode.SLOW:
            await self._clock.wait_until(now + SLOW)
        return await self._payer.answer(payload, now)

    async def _current(self) -> str:
        """Return the mode. Concurrent inquiries share one lookup, and so keep their order."""
        if self._mode_lookup is None or self._mode_lookup.done():
            self._mode_lookup = asyncio.ensure_future(self._mode())
        return await asyncio.shield(self._mode_lookup)


class InquiryPayer:
    """A real-time payer that answers each transaction by a payer of its own, by GS01."""

    def __init__(self, payers: Mapping[str, RespondingPayer], default: RespondingPayer) -> None:
        self._payers = payers
        self._default = default

    async def answer(self, payload: bytes, now: datetime) -> bytes:
        """Return the interchange that answers this one."""
        payer = self._payers.get(functional_group(payload), self._default)
        return await payer.answer(payload, now)
