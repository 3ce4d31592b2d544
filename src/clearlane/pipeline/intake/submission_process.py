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

Knows how a process is started and asked; knows no settings and no claim.
"""

import asyncio
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import msgspec

from clearlane.kernel.log import get_logger
from clearlane.kernel.processors import count_processors

log = get_logger()

MODULE = "clearlane.cli.claim.submission_program"
DOCUMENT_BYTES_MIN = 16 * 1024
"""A smaller document is read here: to hand it over would cost a good part of reading it."""
DOCUMENT_BYTES_MAX = 8 * 1024 * 1024
START_BYTES, START_SECONDS = 512 * 1024, 2.0
"""The process is started when so much of documents came within this time while others were being read."""
IDLE_SECONDS_MAX = 60.0
PROCESSORS_MIN = 2
FRAME = struct.Struct(">QI")
"""What comes before each message of the pipes: its number, and its length."""
READY = 0
"""The number of the message by which the process says that it takes documents."""


class SubmissionOpening(msgspec.Struct, frozen=True):
    """The first line of the process's standard input: the settings of the service, and its node."""

    settings: msgspec.Raw
    node: str


class SubmissionProcessDied(Exception):
    """The process ended while it had a document: what became of the document is not known."""


class SubmissionProcess:
    """One process that takes documents."""

    def __init__(self) -> None:
        self.is_ready = False
        """Whether it has opened the installation."""
        self.has_ended = False
        self.bytes = 0
        """The size of the documents that it has now."""
        self._process: asyncio.subprocess.Process | None = None
        self._answers: dict[int, asyncio.Future[bytes]] = {}
        self._last = READY
        self._is_retired = False
        self._running: asyncio.Task[None] | None = None

    def start(self, opening: bytes) -> None:
        """Start the process. It is ready when it has opened the installation."""
        self._running = asyncio.create_task(self._run(opening))

    @property
    def is_busy(self) -> bool:
        """Whether it has a document."""
        return bool(self._answers)

    async def ask(self, order: bytes) -> bytes:
        """Hand over a document, and return what became of it. :class:`SubmissionProcessDied` if that is not known."""
        process = self._process
        if process is None or process.stdin is None or self.has_ended:
            raise SubmissionProcessDied
        self._last += 1
        number = self._last
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            process.stdin.write(FRAME.pack(number, len(order)))
            process.stdin.write(order)
            # If the caller goes, the process may still store the document: its answer is read in any case.
            return await answer
        finally:
            if answer.done():
                self._finish(number)
            else:
                answer.add_done_callback(lambda _: self._finish(number))

    def _finish(self, number: int) -> None:
        self._answers.pop(number, None)
        if self._is_retired and not self._answers:
            self._end()

    def retire(self) -> None:
        """End the process as soon as it has no document."""
        self._is_retired = True
        if not self._answers:
            self._end()

    async def close(self) -> None:
        """End the process, and wait for that."""
        self.retire()
        if self._running is not None:
            await self._running

    def _end(self) -> None:
        process = self._process
        if process is None or self.has_ended:
            return
        if not self.is_ready:  # it has had no document
            process.kill()
        elif (
            process.stdin is not None
        ):  # it ends with the pipe, as it does when the service is gone
            process.stdin.close()

    async def _run(self, opening: bytes) -> None:
        """Start the process and resolve its answers, until it ends."""
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-m",
                MODULE,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
        except OSError as fault:
            log.warning("submission process not started", fault=type(fault).__name__)
            self.has_ended = True
            return
        try:
            if process.stdin is not None and process.stdout is not None:
                process.stdin.write(opening + b"\n")
                if self._is_retired:
                    self._end()
                await self._read_answers(process.stdout)
        finally:
            self.has_ended = True
            self._fail_answers()
            if process.stdin is not None:
                process.stdin.close()
            status = await process.wait()
            if not self._is_retired or (status and self.is_ready):
                log.error("submission process died", status=status)

    async def _read_answers(self, out: asyncio.StreamReader) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                number, size = FRAME.unpack(await out.readexactly(FRAME.size))
                content = await out.readexactly(size)
                if number == READY:
                    self.is_ready = True
                    continue
                answer = self._answers.get(number)
                if answer is not None and not answer.done():
                    answer.set_result(content)
                else:  # its caller has gone
                    self._finish(number)

    def _fail_answers(self) -> None:
        for answer in [*self._answers.values()]:
            if not answer.done():
                answer.set_exception(SubmissionProcessDied())
        self._answers.clear()


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
        self._opening = msgspec.json.encode(SubmissionOpening(msgspec.Raw(settings), node))
        self._start_bytes = start_bytes
        self._processors_min = processors_min
        self._process: SubmissionProcess | None = None
        self._retired: set[SubmissionProcess] = set()
        self._own_bytes = 0
        self._crowded_bytes = 0
        self._crowded_since = 0.0
        self._idle: asyncio.TimerHandle | None = None
        self._is_closed = False

    @property
    def process(self) -> SubmissionProcess | None:
        """The process that takes documents now, if there is one."""
        if self._process is not None and self._process.has_ended:
            self._process = None
        return self._process

    @contextmanager
    def share(self, size: int) -> Iterator[SubmissionProcess | None]:
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

    def _place(self, size: int) -> SubmissionProcess | None:
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
            self._process = SubmissionProcess()
            self._process.start(self._opening)
            self._end_when_idle()

    def _end_when_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS_MAX, self.retire)
