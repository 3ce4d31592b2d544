"""A reserve of disk space beside a SQLite database, so that a full disk stops claims and not reads.

Every read of patient data writes an audit row, so on a full disk nothing could be read. The reserve is a file; when the
disk is full it is deleted, and small writes go on in its space. It is made again when there is enough space.
Knows no database.
"""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

RESERVE_BYTES = 16 * 1024 * 1024
RESERVE_RETRY_SECONDS = 5.0
RESERVE_NAME = "disk.reserve"


class DiskReserve:
    """The reserve of one data directory. Used by the writer thread; its state is read by others."""

    def __init__(self, directory: Path, seconds: Callable[[], float] = time.monotonic) -> None:
        self._file = directory / RESERVE_NAME
        self._seconds = seconds
        self._tried_at = 0.0
        self._is_kept = False
        self.is_used = False
        """Whether the disk was full and only the space of the reserve is left."""
        self.warning = ""
        """Why there is no reserve, if there should be one."""

    def keep(self) -> None:
        """Make the reserve, and keep it from now on."""
        self._is_kept = True
        self._make()

    def use(self) -> bool:
        """Free the space of the reserve; return False if there is none to free."""
        if not self._is_kept or self.is_used:
            return False
        self.is_used = True
        self._tried_at = self._seconds()
        try:
            self._file.unlink()
        except OSError:
            return False
        return True

    def regain(self) -> None:
        """Make the reserve again if there is space for it and as much besides; tried every few seconds."""
        if not self._is_kept or not (self.is_used or self.warning):
            return
        now = self._seconds()
        if now - self._tried_at < RESERVE_RETRY_SECONDS:
            return
        self._tried_at = now
        if self._free_bytes() >= 2 * RESERVE_BYTES:
            self._make()

    def _make(self) -> None:
        self.warning = self._missing_space()
        if not self.warning:
            self.is_used = False

    def _missing_space(self) -> str:
        """Make the file; return why that is not possible."""
        try:
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as fault:
            return f"there is no reserve of disk space: {os.strerror(fault.errno or 0)}"
        try:
            os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
        except OSError as fault:
            with contextlib.suppress(OSError):
                self._file.unlink()
            return f"there is no reserve of disk space: {os.strerror(fault.errno or 0)}"
        finally:
            os.close(descriptor)
        return ""

    def _free_bytes(self) -> int:
        try:
            found = os.statvfs(self._file.parent)
        except OSError:
            return 0
        return found.f_bavail * found.f_frsize
