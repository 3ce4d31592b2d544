"""Read large files of payers in a process beside the service, so that posting them uses a second processor.

    processes = ReadingProcesses()
    async for page in read_file(processes, PAYMENTS, content): ...

A quarter of what it takes to post a claim payment is to read it. For a large file a node starts a process that reads
and does nothing else: it gets the content through its pipe and yields pages of items, a few ahead of those that
are recorded. It has no settings, no key and no database. Until it is ready, and if it dies or cannot read a file, the
file is read where it is posted, from the item at which the process would go on. It is kept for a while, then ends.

Knows how a file is handed over; knows no payer and no claim.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from itertools import count, islice
from typing import TypeVar

from clearlane.kernel.processors import count_processors
from clearlane.kernel.tasks import run_by_size
from clearlane.pipeline.helper_process import (
    HelperProcess,
    HelperProcessDied,
    bare_environment,
)
from clearlane.pipeline.inbound.file_items import ITEMS_AT_ONCE, ItemReading
from clearlane.pipeline.inbound.reading_orders import (
    CANNOT,
    CloseFile,
    FilePiece,
    NextPage,
    OpenFile,
    encode_order,
)

MODULE = "clearlane.programs.reading_program"
START_BYTES = 256 * 1024
"""A file of some 500 claims starts the process."""
FILE_BYTES_MIN = 64 * 1024
"""A smaller file is read here even if there is a process."""
IDLE_SECONDS_MAX = 60.0
PROCESSORS_MIN = 2
PIECE_BYTES = 256 * 1024
PAGES_AHEAD = 2
"""One that waits to be recorded, and one that is being read."""

T = TypeVar("T")


class CannotReadBeside(Exception):
    """The process has no page for a file: it died, or it cannot read the file."""


class ReadingProcesses:
    """Decides which files of payers go to a node's process, and whether it has one."""

    def __init__(
        self, *, start_bytes: int = START_BYTES, processors_min: int = PROCESSORS_MIN
    ) -> None:
        self._start_bytes = start_bytes
        self._file_bytes_min = min(start_bytes, FILE_BYTES_MIN)
        self._processors_min = processors_min
        self._process: HelperProcess | None = None
        self._readings = 0
        """How many files it reads now."""
        self._numbers = count(1)
        self._idle: asyncio.TimerHandle | None = None
        self._is_closed = False

    @property
    def process(self) -> HelperProcess | None:
        """The process, if there is one."""
        if self._process is not None and self._process.has_ended:
            self._process = None
        return self._process

    def find(self, size: int) -> HelperProcess | None:
        """Return the process if it can read a file of this size now. A large file starts it."""
        process = self.process
        if process is None:
            if size >= self._start_bytes and not self._is_closed:
                self._start()
            return None
        return process if process.takes_orders and size >= self._file_bytes_min else None

    async def pages(
        self, process: HelperProcess, reading: ItemReading[T], content: bytes, items_known: int
    ) -> AsyncGenerator[list[T], None]:
        """Yield the pages of a file after its first items, each read ahead by the process."""
        file = next(self._numbers)
        asked: deque[asyncio.Future[bytes]] = deque()
        with self._keep():
            try:
                await _hand_over(process, OpenFile(file, reading.name, items_known), content)
                while True:
                    while len(asked) < PAGES_AHEAD:
                        asked.append(process.send(encode_order(NextPage(file))))
                    encoded = await asked.popleft()
                    if encoded == CANNOT:
                        raise CannotReadBeside
                    page = reading.decode(encoded)
                    if not page:
                        return
                    yield page
            except HelperProcessDied:
                raise CannotReadBeside from None
            finally:
                _forget(asked)
                _close(process, file)

    async def close(self) -> None:
        """End the process, and start no other one."""
        self._is_closed = True
        self._stop_timer()
        if self._process is not None:
            await self._process.close()

    def _start(self) -> None:
        if count_processors() >= self._processors_min:
            self._process = HelperProcess(MODULE, bare_environment())
            self._process.start()
            self._end_when_idle()

    @contextmanager
    def _keep(self) -> Iterator[None]:
        """Keep the process while it reads a file, and for some time afterwards."""
        self._readings += 1
        self._stop_timer()
        try:
            yield
        finally:
            self._readings -= 1
            if not self._readings and not self._is_closed:
                self._end_when_idle()

    def _end_when_idle(self) -> None:
        if self._process is not None:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(IDLE_SECONDS_MAX, self._process.retire)

    def _stop_timer(self) -> None:
        if self._idle is not None:
            self._idle.cancel()


async def read_file(
    processes: ReadingProcesses | None, reading: ItemReading[T], content: bytes
) -> AsyncIterator[list[T]]:
    """Yield pages of a file's items: read beside the service as soon as a process can, otherwise here."""
    known, here = 0, reading.read(content)
    while True:
        process = processes.find(len(content)) if processes else None
        if processes is not None and process is not None:
            try:
                beside = processes.pages(process, reading, content, known)
                async with aclosing(beside):
                    async for page in beside:
                        known += len(page)
                        yield page
            except CannotReadBeside:
                processes, here = None, islice(reading.read(content), known, None)
            else:
                return
        page = await read_page(here, len(content))
        if not page:
            return
        known += len(page)
        yield page


async def read_pages(source: Iterator[T], size: int) -> AsyncIterator[list[T]]:
    """Yield pages of what a reader yields of a file of a size, each read in a thread unless it is small."""
    while page := await read_page(source, size):
        yield page


async def read_page(source: Iterator[T], size: int) -> list[T]:
    """Return the next page of what a reader yields of a file of a size."""
    return await run_by_size(size, lambda: list(islice(source, ITEMS_AT_ONCE)))


async def _hand_over(process: HelperProcess, opening: OpenFile, content: bytes) -> None:
    """Hand over a file, a piece at a time, so that no second copy of it waits for the pipe."""
    await process.ask(encode_order(opening))
    for at in range(0, len(content), PIECE_BYTES):
        piece = content[at : at + PIECE_BYTES]
        await process.ask(encode_order(FilePiece(opening.file, piece)))


def _forget(asked: deque[asyncio.Future[bytes]]) -> None:
    """Forget pages that no one waits for any more, whatever became of them."""
    for one in asked:
        if not one.cancel() and not one.cancelled():
            one.exception()


def _close(process: HelperProcess, file: int) -> None:
    if not process.has_ended:
        process.send(encode_order(CloseFile(file))).cancel()
