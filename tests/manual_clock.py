"""A clock that tests move."""

import asyncio
from datetime import datetime, timedelta


class ManualClock:
    """A clock that moves only when ``advance`` is called."""

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._waiting: set[asyncio.Future[None]] = set()

    def now(self) -> datetime:
        return self._now

    async def wait_until(self, moment: datetime) -> None:
        while moment > self._now:
            moved: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.add(moved)
            try:
                await moved
            finally:
                self._waiting.discard(moved)

    def advance(self, by: timedelta) -> None:
        self._now += by
        for one in self._waiting:
            if not one.done():
                one.set_result(None)
