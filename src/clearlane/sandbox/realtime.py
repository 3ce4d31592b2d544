"""A payer's real-time desk in the mode that the payer is made to be in.

Knows modes and waiting; what is answered is decided elsewhere.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Protocol

from clearlane.connect.port import Presence, Unreachable
from clearlane.kernel.limits import SANDBOX_SLOW_SECONDS
from clearlane.sandbox.payer import PAGE, UNREACHABLE, Mode

SLOW = timedelta(seconds=SANDBOX_SLOW_SECONDS)


class Waiting(Protocol):
    """A clock that can be waited for."""

    async def wait_until(self, moment: datetime) -> None: ...


class Answering(Protocol):
    """A payer that is always up."""

    async def answer(self, payload: bytes, now: datetime) -> bytes: ...


class RealtimeDesk:
    """Answers questions as the payer would in its mode."""

    def __init__(
        self, payer: Answering, mode: Callable[[], Awaitable[str]], clock: Waiting
    ) -> None:
        self._payer = payer
        self._mode = mode
        self._clock = clock
        self._look: asyncio.Future[str] | None = None

    async def answer(self, payload: bytes, now: datetime) -> bytes:
        """The interchange that answers this one, or what a payer in trouble gives instead."""
        mode = await self._current()
        if mode == Mode.DOWN:
            raise Unreachable(UNREACHABLE, Presence.ABSENT)
        if mode == Mode.GARBAGE:
            return PAGE
        if mode == Mode.SLOW:
            await self._clock.wait_until(now + SLOW)
        return await self._payer.answer(payload, now)

    async def _current(self) -> str:
        """The mode. Questions that come side by side share one look, and so keep their order."""
        if self._look is None or self._look.done():
            self._look = asyncio.ensure_future(self._mode())
        return await asyncio.shield(self._look)
