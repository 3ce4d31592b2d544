"""A process beside the one that starts it, which answers what it is handed over: documents to be submitted, pages to be judged.

    process = HelperProcess("clearlane.programs.submission_program")
    process.start(opening)
    answer = await process.ask(order) if process.is_ready else ...

It is the same program in the role of a helper: it opens the installation by the settings of the one that starts it, gets
orders through a pipe, and ends with that pipe. ``programs/helper_program`` is its other side. One that opens nothing, as that
which reads files of payers, has no opening and a bare environment.

Knows how a process is started and asked; knows no settings and no claim.
"""

import asyncio
import os
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from clearlane.kernel.log import get_logger

log = get_logger()

FRAME = struct.Struct(">QI")
"""What comes before each message of the pipes: its number, and its length."""
READY = 0
"""The number of the message by which the process says that it takes orders."""
_NEEDED = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR")
"""What a program needs to run at all: where programs and their libraries are, and where files for a while go."""


def bare_environment() -> dict[str, str]:
    """Return the environment of a process that opens nothing: that of the service may hold secrets."""
    return {name: os.environ[name] for name in _NEEDED if name in os.environ}


class HelperOpening(msgspec.Struct, frozen=True):
    """The first line of the process's standard input: the settings of the installation, and the node."""

    settings: msgspec.Raw
    node: str


class HelperProcessDied(Exception):
    """The process ended while it had an order: what became of it is not known."""


class HelperProcess:
    """One process that takes orders."""

    def __init__(self, module: str, environment: Mapping[str, str] | None = None) -> None:
        """``module`` is the program that it runs; without an ``environment`` it has that of the one that starts it."""
        self._module = module
        self._environment = environment
        self.is_ready = False
        """Whether it has said that it takes orders."""
        self.has_ended = False
        self.bytes = 0
        """The size of what it has now, if the caller keeps count."""
        self._process: asyncio.subprocess.Process | None = None
        self._answers: dict[int, asyncio.Future[bytes]] = {}
        self._last = READY
        self._is_retired = False
        self._running: asyncio.Task[None] | None = None

    def start(self, opening: bytes = b"") -> None:
        """Start the process, with the first line that it reads, if it reads one."""
        self._running = asyncio.create_task(self._run(opening))

    @property
    def orders(self) -> int:
        """How many orders it has now."""
        return len(self._answers)

    @property
    def takes_orders(self) -> bool:
        """Whether it is ready, and is not to end."""
        return self.is_ready and not self._is_retired and not self.has_ended

    async def ask(self, order: bytes) -> bytes:
        """Hand over an order, and return the answer. :class:`HelperProcessDied` if there will be none."""
        # If the caller goes, the process may still carry out the order: its answer is read in any case.
        return await self.send(order)

    def send(self, order: bytes) -> asyncio.Future[bytes]:
        """Hand over an order, and return its answer to come. Who does not want it any more cancels it."""
        process = self._process
        if process is None or process.stdin is None or self.has_ended:
            raise HelperProcessDied
        self._last += 1
        number = self._last
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        answer.add_done_callback(lambda _: self._finish(number))
        process.stdin.write(FRAME.pack(number, len(order)))
        process.stdin.write(order)
        return answer

    def _finish(self, number: int) -> None:
        self._answers.pop(number, None)
        if self._is_retired and not self._answers:
            self._end()

    def retire(self) -> None:
        """End the process as soon as it has no order."""
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
        if not self.is_ready:  # it has had no order
            process.kill()
        elif process.stdin is not None:  # it ends with the pipe, as it does when its parent is gone
            process.stdin.close()

    async def _run(self, opening: bytes) -> None:
        """Start the process and resolve its answers, until it ends."""
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-m",
                self._module,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=self._environment,
            )
        except OSError as fault:
            log.warning(
                "helper process not started", module=self._module, fault=type(fault).__name__
            )
            self.has_ended = True
            return
        try:
            if process.stdin is not None and process.stdout is not None:
                if opening:
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
                log.error("helper process died", module=self._module, status=status)

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
                answer.set_exception(HelperProcessDied())
        self._answers.clear()
