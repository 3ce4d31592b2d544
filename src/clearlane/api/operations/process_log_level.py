"""The log level of this process: its setting, unless an operator set another one for all nodes while they run."""

import asyncio

from clearlane.api.operations import logs
from clearlane.store.database.database import Database
from clearlane.store.installation.log_level import load_log_level


class ProcessLogLevel:
    """Follows the level that is stored, and goes back to the setting when its time is over."""

    def __init__(self, database: Database, setting: str) -> None:
        self._database = database
        self._setting = setting
        self._end: asyncio.TimerHandle | None = None

    async def load(self) -> None:
        """Write from here on what is stored; the setting if nothing is."""
        stored = await load_log_level(self._database)
        self.close()
        self._change(stored.level if stored else self._setting)
        if stored and stored.seconds_left is not None:
            loop = asyncio.get_running_loop()
            self._end = loop.call_later(stored.seconds_left, self._change, self._setting)

    def close(self) -> None:
        """Forget when the time is over."""
        if self._end is not None:
            self._end.cancel()
            self._end = None

    def _change(self, level: str) -> None:
        if level != logs.level_written():
            logs.change_level(level)
