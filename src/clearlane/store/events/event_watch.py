"""Wait for new events: at once for those of this process, and by polling for those of others."""

import asyncio

from clearlane.store.database.database import Database, StoreFault
from clearlane.store.events import events

EVENT_POLL_SECONDS = 1.0


class EventWatch:
    """Wakes those who wait for events of any node. Costs nothing while no one waits."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._changed = asyncio.Event()
        self._waiting = 0
        self._polling: asyncio.Task[None] | None = None
        self._last = 0
        """The last event that was seen by polling; never what a caller says."""
        database.watch_events(self.wake)

    async def wait(self, beyond: int, seconds: float) -> bool:
        """Wait until there may be an event after this number; return False when the time is over."""
        if self._last > beyond:
            return True
        self._waiting += 1
        if self._polling is None:
            self._polling = asyncio.create_task(self._poll())
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1
        return True

    async def close(self) -> None:
        """Stop, and wake everyone who waits."""
        self._changed.set()
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.gather(self._polling, return_exceptions=True)

    def wake(self) -> None:
        """Wake those who wait now, and let those who come later wait for the next event."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def _poll(self) -> None:
        try:
            while self._waiting:
                await asyncio.sleep(EVENT_POLL_SECONDS)
                try:
                    async with self._database.read(events.EVERYONE) as tx:
                        last = await events.last_event(tx)
                except StoreFault:
                    continue
                if last > self._last:
                    self._last = last
                    self.wake()
        finally:
            self._polling = None
