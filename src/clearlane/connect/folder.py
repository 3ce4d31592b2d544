"""A mailbox of two directories of this machine: outbox and inbox.

A file gets its final name when it is whole and on the disk. Links are never followed, and only
plain files are read. Each call runs in a thread, so that a slow disk blocks nothing else.
"""

import asyncio
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from clearlane.connect.connection_check import ConnectionCheck, describe_waiting, run_checks
from clearlane.connect.file_names import (
    escape_incoming_name,
    is_incoming_name,
    is_odd_name,
    require_incoming_name,
    require_outgoing_name,
)
from clearlane.connect.port import (
    BeforeArrival,
    Denied,
    FileChanged,
    IncomingFile,
    Presence,
    Unreachable,
    no_mark,
)
from clearlane.kernel import limits
from clearlane.payers.name_patterns import INCOMING_DEFAULT, PARTIAL_SUFFIX, matches_incoming

T = TypeVar("T")

# Errors that an operator must fix; any other may pass by itself.
PERMANENT_ERRORS = frozenset({
    errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EROFS, errno.ELOOP,
})  # fmt: skip
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


NANOS = 1_000_000_000


class FolderMailbox:
    """A mailbox of two directories."""

    files_are_whole = False
    files_at_once = 8

    def __init__(
        self,
        *,
        outbox: Path,
        inbox: Path,
        uploads_stay: bool = False,
        inbox_names: str = INCOMING_DEFAULT,
        bytes_max: int = limits.TRANSFER_BYTES_MAX,
        seconds: float = limits.SILENCE_SECONDS_MAX,
    ) -> None:
        self._outbox = outbox
        self._inbox = inbox
        self._uploads_stay = uploads_stay
        self._inbox_names = inbox_names
        self._bytes_max = bytes_max
        self._seconds = seconds
        self.passed_over = 0
        self._taken: dict[str, int] = {}

    async def put(self, name: str, content: bytes, before_arrival: BeforeArrival = no_mark) -> None:
        final = self._outbox / require_outgoing_name(name)
        if len(content) > self._bytes_max:
            raise Denied(f"The file is larger than {self._bytes_max} bytes.")
        partial = final.with_name(final.name + PARTIAL_SUFFIX)
        if await self._run(lambda: _is_there_already(final, content)):
            return
        await self._run(lambda: _write_partial(partial, content))
        await before_arrival()
        await self._run(lambda: _rename(partial, final))

    async def look(self, name: str) -> Presence:
        final = self._outbox / require_outgoing_name(name)
        partial = final.with_name(final.name + PARTIAL_SUFFIX)

        def seen() -> Presence:
            if os.path.lexists(final):
                return Presence.THERE
            # A file that the payer has collected is missing just like one that never came.
            missed = self._uploads_stay or os.path.lexists(partial)
            self._outbox.stat()  # raises if the directory itself is gone: that proves nothing
            return Presence.ABSENT if missed else Presence.UNKNOWN

        return await self._run(seen)

    async def waiting(self) -> list[IncomingFile]:
        found, self.passed_over = await self._run(lambda: _listing(self._inbox, self._inbox_names))
        return found

    async def take(self, name: str) -> bytes:
        file = self._inbox / require_incoming_name(name)
        content = await self._run(lambda: _read_whole(file, self._bytes_max))
        self._taken[name] = len(content)
        return content

    async def drop(self, name: str, seen: IncomingFile | None = None) -> None:
        file = self._inbox / require_incoming_name(name)
        size = self._taken.pop(name, None)
        await self._run(lambda: _remove(file, size, seen))

    async def close(self) -> None:
        """Do nothing: directories need no connection."""

    async def check(self) -> list[ConnectionCheck]:
        """Test both directories; nothing is written."""

        async def outbox() -> str:
            return await self._may(self._outbox, os.W_OK | os.X_OK, "written to")

        async def inbox() -> str:
            may = await self._may(self._inbox, os.R_OK | os.W_OK | os.X_OK, "read and emptied")
            files = len(await self.waiting())
            return f"{may}: {describe_waiting(files, self.passed_over)}"

        return await run_checks([("outbox", outbox), ("inbox", inbox)])

    async def _may(self, place: Path, rights: int, purpose: str) -> str:
        if not await self._run(lambda: place.is_dir() and os.access(place, rights)):
            raise Denied(f"{place} is not a directory, or cannot be {purpose}.")
        return f"{place} can be {purpose}"

    async def _run(self, job: Callable[[], T]) -> T:
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.to_thread(job)
        except TimeoutError:
            raise Unreachable(
                f"The directory did not answer in {self._seconds:g} seconds."
            ) from None
        except OSError as fault:
            raise _file_fault(fault) from None


def _file_fault(fault: OSError, arrival: Presence = Presence.UNKNOWN) -> Unreachable | Denied:
    message = f"A directory or file cannot be used: {os.strerror(fault.errno or 0)}."
    return Denied(message) if fault.errno in PERMANENT_ERRORS else Unreachable(message, arrival)


def _is_there_already(final: Path, content: bytes) -> bool:
    """Return whether this very file is there; raise Denied for another file of its name."""
    if not os.path.lexists(final):
        return False
    if final.lstat().st_size != len(content) or _read_whole(final, len(content)) != content:
        raise Denied("Another file of this name is there.")
    return True


def _rename(partial: Path, final: Path) -> None:
    partial.rename(final)
    _sync_directory(final.parent)


def _write_partial(partial: Path, content: bytes) -> None:
    """Write under a temporary name, synced to the disk: without its final name the payer does not collect it."""
    try:
        _write_synced(partial, content)
    except OSError as fault:
        raise _file_fault(fault, Presence.ABSENT) from None


def _write_synced(partial: Path, content: bytes) -> None:
    partial.unlink(missing_ok=True)  # of an earlier try
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(partial, flags, 0o640)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _listing(inbox: Path, names: str) -> tuple[list[IncomingFile], int]:
    """Return the oldest files to collect first, at most ``FILES_WAITING_MAX``, and how many have odd names."""
    found, odd = [], 0
    with os.scandir(inbox) as entries:
        for entry in entries:
            if not matches_incoming(names, entry.name):
                continue
            odd += is_odd_name(entry.name) and entry.is_file(follow_symlinks=False)
            if is_incoming_name(entry.name) and entry.is_file(follow_symlinks=False):
                try:
                    facts = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                found.append((facts.st_mtime_ns, escape_incoming_name(entry.name), facts.st_size))
    oldest = sorted(found)[: limits.FILES_WAITING_MAX]
    # Read after the files, so that none of them can be changed later than this and seem old.
    now = _file_system_nanos(inbox) if oldest else 0
    return [
        IncomingFile(name, size, modified, (now - modified) / NANOS)
        for modified, name, size in oldest
    ], odd


def _file_system_nanos(directory: Path) -> int:
    """Return the time of the clock that stamps the files of a directory, or a moment before it.

    On a network drive that is another machine's clock. An unnamed file, which no one else sees, is stamped with it when it
    is made. If the file system has no such files, the directory's own time is used: something happened then, so the clock
    is past it.
    """
    try:
        handle = os.open(directory, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except (OSError, AttributeError):  # AttributeError: a system without unnamed files
        return directory.stat().st_mtime_ns
    try:
        return os.fstat(handle).st_mtime_ns
    finally:
        os.close(handle)


def _read_whole(file: Path, bytes_max: int) -> bytes:
    handle = os.open(file, READ_FLAGS)
    with os.fdopen(handle, "rb") as source:
        before = os.fstat(handle)
        if not stat.S_ISREG(before.st_mode):
            raise Denied("The entry with this name is not a plain file.")
        if before.st_size > bytes_max:
            raise Denied(f"The file is larger than {bytes_max} bytes.")
        content = source.read(bytes_max + 1)
        if len(content) != before.st_size or os.fstat(handle).st_size != before.st_size:
            raise FileChanged("The file is still being written.")
    return content


def _remove(file: Path, size: int | None, seen: IncomingFile | None) -> None:
    """Remove a file that was read; one whose size or time changed since is not the same file."""
    try:
        facts = file.lstat()
    except FileNotFoundError:
        return
    grew = size is not None and facts.st_size != size
    found = (facts.st_size, facts.st_mtime_ns)
    if grew or (seen is not None and found != (seen.size, seen.modified_nanos)):
        raise FileChanged("The file has changed since it was read.")
    file.unlink(missing_ok=True)
    _sync_directory(file.parent)
