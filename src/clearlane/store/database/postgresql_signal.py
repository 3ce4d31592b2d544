"""The signal of a PostgreSQL database: LISTEN on a connection of its own; a trigger notifies of every changed revision.

A server behind a pooler that keeps no sessions, or one without LISTEN, sends no signal: then nodes find changes when
they look for themselves.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from clearlane.store.database.group_commit import OperationRefused
from clearlane.store.database.postgresql_connection import DRIVER_ERRORS, DriverConnection
from clearlane.store.database.schema import REVISIONS_CHANNEL

CLOSE_SECONDS_MAX = 10

Connect = Callable[[], Awaitable[DriverConnection]]


class ChannelSignal:
    """Notifications of changed revisions. It connects when first used, and again after the connection was lost."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._changed = asyncio.Event()
        self._connection: DriverConnection | None = None

    async def wait(self, seconds: float) -> None:
        """Return when something may have changed, and after a time in any case."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                if self._connection is None or self._connection.is_closed():
                    if await self._listen():
                        return  # look for what changed while no one listened
                    # Without a connection: the time passes, and the waiting caller looks for itself.
                    self._connection = None
                await self._changed.wait()
        self._changed.clear()

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(*DRIVER_ERRORS):
                await connection.close(timeout=CLOSE_SECONDS_MAX)

    async def _listen(self) -> bool:
        """Connect and listen; return whether that succeeded."""
        try:
            self._connection = await self._connect()
            await self._connection.add_listener(REVISIONS_CHANNEL, self._notify)
        except (OperationRefused, *DRIVER_ERRORS):
            await self.close()
            return False
        self._connection.add_termination_listener(self._notify)
        return True

    def _notify(self, *_: object) -> None:
        self._changed.set()
