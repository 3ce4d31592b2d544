"""Two directories of this machine: one for the payer's files, one with ours.

A file gets its name when it is whole and on the disk. Links are never followed and nothing but
plain files is read. Each call runs in a thread, so that a slow disk holds nobody else.
"""

import asyncio
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from clearlane.connect.connection_test import Check, run_steps
from clearlane.connect.file_names import PART, is_theirs, require_ours, require_theirs
from clearlane.connect.port import Denied, Incoming, Presence, Unreachable
from clearlane.kernel import limits

T = TypeVar("T")

# What a person must look at; anything else may pass by itself.
LASTING = frozenset({
    errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EROFS, errno.ELOOP,
})  # fmt: skip
READ_PLAINLY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FolderMailbox:
    """A mailbox of two directories."""

    def __init__(
        self,
        *,
        outbox: Path,
        inbox: Path,
        uploads_stay: bool = False,
        bytes_max: int = limits.TRANSFER_BYTES_MAX,
        seconds: float = limits.SILENCE_SECONDS_MAX,
    ) -> None:
        self._outbox = outbox
        self._inbox = inbox
        self._uploads_stay = uploads_stay
        self._bytes_max = bytes_max
        self._seconds = seconds
        self._taken: dict[str, int] = {}

    async def put(self, name: str, content: bytes) -> None:
        final = self._outbox / require_ours(name)
        if len(content) > self._bytes_max:
            raise Denied(f"The file is larger than {self._bytes_max} bytes.")
        await self._run(lambda: _write_whole(final, content))

    async def look(self, name: str) -> Presence:
        final = self._outbox / require_ours(name)
        begun = final.with_name(final.name + PART)

        def seen() -> Presence:
            if os.path.lexists(final):
                return Presence.THERE
            # A file that the payer has collected is missing just like one that never came.
            missed = self._uploads_stay or os.path.lexists(begun)
            self._outbox.stat()  # a directory that is gone tells nothing
            return Presence.ABSENT if missed else Presence.UNKNOWN

        return await self._run(seen)

    async def waiting(self) -> list[Incoming]:
        return await self._run(lambda: _listing(self._inbox))

    async def take(self, name: str) -> bytes:
        file = self._inbox / require_theirs(name)
        content = await self._run(lambda: _read_whole(file, self._bytes_max))
        self._taken[name] = len(content)
        return content

    async def drop(self, name: str) -> None:
        file = self._inbox / require_theirs(name)
        size = self._taken.pop(name, None)
        await self._run(lambda: _remove(file, size))

    async def close(self) -> None:
        """There is nothing to let go of."""

    async def check(self) -> list[Check]:
        """Try both directories; nothing is written."""

        async def outbox() -> str:
            return await self._may(self._outbox, os.W_OK | os.X_OK, "written to")

        async def inbox() -> str:
            may = await self._may(self._inbox, os.R_OK | os.W_OK | os.X_OK, "read and emptied")
            return f"{may}: {len(await self.waiting())} files for us"

        return await run_steps([("outbox", outbox), ("inbox", inbox)])

    async def _may(self, place: Path, rights: int, words: str) -> str:
        if not await self._run(lambda: place.is_dir() and os.access(place, rights)):
            raise Denied(f"{place} is no directory, or cannot be {words}.")
        return f"{place} can be {words}"

    async def _run(self, job: Callable[[], T]) -> T:
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.to_thread(job)
        except TimeoutError:
            raise Unreachable(
                f"The directory did not answer in {self._seconds:g} seconds."
            ) from None
        except OSError as fault:
            raise _told(fault) from None


def _told(fault: OSError, arrival: Presence = Presence.UNKNOWN) -> Unreachable | Denied:
    words = f"A directory or file cannot be used: {os.strerror(fault.errno or 0)}."
    return Denied(words) if fault.errno in LASTING else Unreachable(words, arrival)


def _write_whole(final: Path, content: bytes) -> None:
    """Write under a passing name, make sure of it, and give it its name."""
    if os.path.lexists(final):
        if final.lstat().st_size != len(content) or _read_whole(final, len(content)) != content:
            raise Denied("Another file of this name is there.")
        return
    begun = final.with_name(final.name + PART)
    try:
        _write_begun(begun, content)
    except OSError as fault:  # it has no name yet, so nobody takes it for a file
        raise _told(fault, Presence.ABSENT) from None
    begun.rename(final)
    _sync_directory(final.parent)


def _write_begun(begun: Path, content: bytes) -> None:
    begun.unlink(missing_ok=True)  # of an earlier try
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(begun, flags, 0o640)
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


def _listing(inbox: Path) -> list[Incoming]:
    """The oldest files first, at most so many as one look can handle."""
    found = []
    with os.scandir(inbox) as entries:
        for entry in entries:
            if is_theirs(entry.name) and entry.is_file(follow_symlinks=False):
                try:
                    facts = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                found.append((facts.st_mtime_ns, entry.name, facts.st_size))
    return [Incoming(name, size) for _, name, size in sorted(found)[: limits.FILES_WAITING_MAX]]


def _read_whole(file: Path, bytes_max: int) -> bytes:
    handle = os.open(file, READ_PLAINLY)
    with os.fdopen(handle, "rb") as source:
        before = os.fstat(handle)
        if not stat.S_ISREG(before.st_mode):
            raise Denied("What has this name is no plain file.")
        if before.st_size > bytes_max:
            raise Denied(f"The file is larger than {bytes_max} bytes.")
        content = source.read(bytes_max + 1)
        if len(content) != before.st_size or os.fstat(handle).st_size != before.st_size:
            raise Unreachable("The file is still being written.")
    return content


def _remove(file: Path, size: int | None) -> None:
    """Remove a file that we have; one that has grown since is not the one we have."""
    try:
        facts = file.lstat()
    except FileNotFoundError:
        return
    if size is not None and facts.st_size != size:
        raise Unreachable("The file has changed since it was read.")
    file.unlink(missing_ok=True)
    _sync_directory(file.parent)
