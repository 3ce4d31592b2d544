"""Hand documents of claims to a process beside the service, so that accepting claims uses a second processor.

    processes = SubmissionProcesses(settings, node)
    with processes.share(len(document)) as process:
        answer = await process.ask(order) if process else ...

One interpreter runs on one processor, and nearly all that it takes to accept a claim is work of the interpreter. A
service that receives documents faster than it reads them starts this process, which is the same program: it opens the
installation by the settings of the service, reads, judges and stores whole documents, and answers what became of each.
A node whose documents come one after the other never starts it; after a time without documents it ends.

The process has snapshots of its own. When the service loads one again, the process finishes what it has and ends, and
another one is started for later documents: no document is judged by an older snapshot than that of the service.

Knows when a process is wanted; knows no settings and no claim.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from clearlane.kernel.processors import count_processors
from clearlane.pipeline.helper_process import HelperOpening, HelperProcess

MODULE = "clearlane.programs.submission_program"
DOCUMENT_BYTES_MIN = 16 * 1024
"""A smaller document is read here: to hand it over would cost a good part of reading it."""
DOCUMENT_BYTES_MAX = 8 * 1024 * 1024
START_BYTES, START_SECONDS = 512 * 1024, 2.0
"""The process is started when so much of documents came within this time while others were being read."""
IDLE_SECONDS_MAX = 60.0
PROCESSORS_MIN = 2


class SubmissionProcesses:
    """Decides which documents of a node go to its process, and whether it has one."""

    def __init__(
        self,
        settings: bytes,
        node: str,
        *,
        start_bytes: int = START_BYTES,
        processors_min: int = PROCESSORS_MIN,
    ) -> None:
        """``settings`` are those of the service, in JSON."""
        self._opening = msgspec.json.encode(HelperOpening(msgspec.Raw(settings), node))
        self._start_bytes = start_bytes
        self._processors_min = processors_min
        self._process: HelperProcess | None = None
        self._retired: set[HelperProcess] = set()
        self._own_bytes = 0
        self._crowded_bytes = 0
        self._crowded_since = 0.0
        self._idle: asyncio.TimerHandle | None = None
        self._is_closed = False

    @property
    def process(self) -> HelperProcess | None:
        """The process that takes documents now, if there is one."""
        if self._process is not None and self._process.has_ended:
            self._process = None
        return self._process

    @contextmanager
    def share(self, size: int) -> Iterator[HelperProcess | None]:
        """Give the process that a document of this size goes to; None if the service reads it itself."""
        process = self._place(size)
        if process is None:
            self._own_bytes += size
        else:
            process.bytes += size
        try:
            yield process
        finally:
            if process is None:
                self._own_bytes -= size
            else:
                process.bytes -= size

    def retire(self) -> None:
        """End the process once it has finished its documents: a snapshot of the service has changed."""
        process, self._process = self.process, None
        if process is not None:
            self._retired = {one for one in self._retired if not one.has_ended} | {process}
            process.retire()

    async def close(self) -> None:
        """End every process, and start no other one."""
        self._is_closed = True
        if self._idle is not None:
            self._idle.cancel()
        self.retire()
        for process in self._retired:
            await process.close()

    def _place(self, size: int) -> HelperProcess | None:
        if not DOCUMENT_BYTES_MIN <= size <= DOCUMENT_BYTES_MAX or not self._own_bytes:
            return None
        process = self.process
        if process is None:
            self._start_if_crowded(size)
            return None
        if not process.is_ready or process.bytes > self._own_bytes:
            return None
        self._end_when_idle()
        return process

    def _start_if_crowded(self, size: int) -> None:
        """Start the process if much came while other documents were being read."""
        now = time.monotonic()
        if now - self._crowded_since > START_SECONDS:
            self._crowded_since, self._crowded_bytes = now, 0
        self._crowded_bytes += size
        if self._crowded_bytes < self._start_bytes or self._is_closed:
            return
        self._crowded_bytes = 0
        if count_processors() >= self._processors_min:
            self._process = HelperProcess(MODULE)
            self._process.start(self._opening)
            self._end_when_idle()

    def _end_when_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS_MAX, self.retire)
