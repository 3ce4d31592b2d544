"""Files that are being sent or fetched: what an open handle stands for.

Knows bytes and offsets; ``pipeline.intake.files`` stores them, ``site_files`` decides what a name means.
"""

from collections.abc import Awaitable, Callable
from typing import NoReturn

import asyncssh

from clearlane.kernel.ids import Scope
from clearlane.pipeline.intake.files.upload import Upload
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.files.client_files import ClientFile
from clearlane.store.files.file_parts import read_part

BYTES_USED_UP = "The account's bytes of this day are used up."
WAITING_BYTES_MAX = 4 * 1024 * 1024
"""Bytes that may wait for those before them: clients that send several blocks at once mix their order."""
PARTS_HELD_MAX = 2


class UploadTransfer:
    """A file that is being sent. Blocks may come in any order; they are stored in order."""

    def __init__(
        self,
        upload: Upload,
        name: str,
        begin_again: Callable[[], Awaitable[Upload]],
        *,
        bytes_max: int,
        appends: bool,
    ) -> None:
        self.upload = upload
        self.name = name
        self._bytes_max = bytes_max
        self._appends = appends
        self._begin_again = begin_again
        self._is_resumed = upload.size > 0
        self._fault = ""
        self._waiting: dict[int, bytes] = {}

    @property
    def size(self) -> int:
        """Bytes that came without a gap."""
        return self.upload.size

    async def write(self, offset: int, data: bytes) -> int:
        """Take a block of the file. After one that failed the file is never received as it is."""
        try:
            await self._take(self.size if self._appends else offset, data)
        except asyncssh.SFTPError as fault:
            self._fault = fault.reason
            raise
        except BaseException:
            self._fault = "A block failed."
            raise
        return len(data)

    async def _take(self, at: int, data: bytes) -> None:
        if self._is_resumed and at == 0:
            # scp does not empty a file that it sends again: it begins at the start.
            self.upload = await self._begin_again()
        self._is_resumed = False
        if at + len(data) > self._bytes_max:
            raise asyncssh.SFTPQuotaExceeded(BYTES_USED_UP)
        if at < self.size:
            raise asyncssh.SFTPFailure("What was stored of a file cannot be written again.")
        if at > self.size:
            self._wait(at, data)
            return
        await self.upload.write(data)
        while (found := self._waiting.pop(self.size, None)) is not None:
            await self.upload.write(found)

    def _wait(self, offset: int, data: bytes) -> None:
        if sum(map(len, self._waiting.values())) + len(data) > WAITING_BYTES_MAX:
            raise asyncssh.SFTPFailure("A file must be sent from its beginning to its end.")
        self._waiting[offset] = data

    def refuse_incomplete(self) -> None:
        """Raise if a block failed, or if bytes are missing before others that came."""
        if self._fault:
            raise asyncssh.SFTPFailure(f"The file is not received. {self._fault}")
        if self._waiting:
            raise asyncssh.SFTPFailure("Bytes in the middle of the file are missing. Send them.")

    async def read(self, offset: int, size: int) -> NoReturn:
        """Refuse to read what is being sent."""
        raise asyncssh.SFTPPermissionDenied("Files that are sent cannot be read.")


class DownloadTransfer:
    """A file that is being fetched."""

    def __init__(self, context: WorkContext, scope: Scope, file: ClientFile) -> None:
        self.file = file
        self._context = context
        self._scope = scope
        self._parts: dict[int, bytes] = {}
        self._read_to = 0

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.file.bytes

    @property
    def is_complete(self) -> bool:
        """Whether every byte was read."""
        return self._read_to >= self.size

    async def read(self, offset: int, size: int) -> bytes:
        """Return bytes from an offset on: as many as asked for, unless the file ends."""
        found = bytearray()
        while len(found) < size and offset + len(found) < self.size:
            start, part = await self._part(offset + len(found))
            at = offset + len(found) - start
            found += part[at : at + size - len(found)]
        if offset <= self._read_to:
            self._read_to = max(self._read_to, offset + len(found))
        return bytes(found)

    async def _part(self, at: int) -> tuple[int, bytes]:
        for start, part in self._parts.items():
            if start <= at < start + len(part):
                return start, part
        context = self._context
        async with context.database.read(self._scope) as tx:
            found = await read_part(tx, context.vault, self._scope, self.file.file_id, at)
        if found is None:
            raise asyncssh.SFTPFailure("The file ends before its time.")
        start, part = found
        while len(self._parts) >= PARTS_HELD_MAX:
            self._parts.pop(next(iter(self._parts)))
        self._parts[start] = part
        return start, part

    async def write(self, offset: int, data: bytes) -> NoReturn:
        """Refuse to change a file that is fetched."""
        raise asyncssh.SFTPPermissionDenied("Files to fetch cannot be written.")
