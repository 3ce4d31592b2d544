"""Signals that a snapshot may have changed, so that nodes need not ask the database all the time.

A signal may come too often and may be lost. So a waiting caller looks for itself, and looks now and then without a signal.
"""

import asyncio
from pathlib import Path
from typing import Protocol

FILE_LOOK_SECONDS = 0.25


class ChangeSignal(Protocol):
    """Tells a node that another process, or it itself, may have changed a snapshot."""

    async def wait(self, seconds: float) -> None:
        """Return when something may have changed, and after a time in any case. Raises nothing."""

    async def close(self) -> None:
        """Give up the connection, if there is one."""


class FileSignal:
    """The signal of an SQLite database: its file, or the log beside it, is another than before.

    Asking the file system four times a second costs a hundredth of what a query costs.
    """

    def __init__(self, file: Path) -> None:
        self._files = (file.with_name(file.name + "-wal"), file)
        self._seen = self._state()

    async def wait(self, seconds: float) -> None:
        end = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < end:
            await asyncio.sleep(FILE_LOOK_SECONDS)
            state = self._state()
            if state != self._seen:
                self._seen = state
                return

    async def close(self) -> None:
        """Do nothing: a file needs no connection."""

    def _state(self) -> list[tuple[int, int] | None]:
        return [_size_and_time(file) for file in self._files]


def _size_and_time(file: Path) -> tuple[int, int] | None:
    try:
        facts = file.stat()
    except OSError:
        return None
    return facts.st_size, facts.st_mtime_ns
