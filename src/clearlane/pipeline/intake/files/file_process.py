"""Process a large file of a site in a process of its own, so that the calls of others do not wait for it.

    processes = FileProcesses(settings, node, bytes_min=limit)
    if processes.take(file.bytes):
        state = await processes.run(file_id, holder)

All calls of a service share one interpreter with what it does in the background; 25,000 claims keep it busy for a minute.
The process is the same program: it opens the installation by the settings of the service, which it gets on its standard
input, takes the lease of the file, and ends with the file. It has no socket of the service, and ends with it. If it dies,
the work on the file is repeated, as after the death of a node.

Knows how a process is started; knows no settings and no claim.
"""

import asyncio
import sys

import msgspec

from clearlane.kernel.faults import WorkFailed
from clearlane.kernel.log import get_logger

log = get_logger()

MODULE = "clearlane.programs.file_program"
LARGE_FILES_AT_ONCE = 2
"""Each has a process, and the memory of one. A further one is processed by the service itself."""
NOT_OPENED = 69
"""The exit status of a process that could not open the installation, and has touched no file."""
DIED = "file-process-died"


class FileOrder(msgspec.Struct, frozen=True):
    """What the process reads from its standard input, in one line: which file, for which work of which node."""

    settings: msgspec.Raw
    node: str
    file_id: str
    holder: str


class FileResultLine(msgspec.Struct, frozen=True):
    """What the process writes at its end: the new state of the file, None if other work has it or did it."""

    state: str | None


class FileProcessNotOpened(Exception):
    """A process did not open the installation: the service must process the file itself."""


class FileProcesses:
    """The processes of large files of one node."""

    def __init__(self, settings: bytes, node: str, *, bytes_min: int) -> None:
        """``settings`` are those of the service, in JSON; files of ``bytes_min`` and more are large."""
        self._settings = settings
        self._node = node
        self._bytes_min = bytes_min
        self.running: set[str] = set()
        """The files that have a process now."""

    def take(self, size: int) -> bool:
        """Return whether a file of this size gets a process now."""
        return size >= self._bytes_min and len(self.running) < LARGE_FILES_AT_ONCE

    async def run(self, file_id: str, holder: str) -> str | None:
        """Process a file; return its new state, None if other work has it. A process that dies is a failure to be repeated."""
        order = FileOrder(msgspec.Raw(self._settings), self._node, file_id, holder)
        self.running.add(file_id)
        try:
            return await _run(msgspec.json.encode(order))
        finally:
            self.running.discard(file_id)


async def _run(order: bytes) -> str | None:
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-m",
            MODULE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
    except OSError as fault:
        log.warning("file process not started", fault=type(fault).__name__)
        raise FileProcessNotOpened from None
    pipe, out = process.stdin, process.stdout
    try:
        if pipe is None or out is None:
            raise FileProcessNotOpened
        # The pipe stays open: the process ends when it is closed, so also when the service is killed.
        pipe.write(order + b"\n")
        result = await out.read()
        status = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        if pipe is not None:
            pipe.close()
    if status == NOT_OPENED:
        log.warning("file process not opened")
        raise FileProcessNotOpened
    if status:
        log.error("file process died", status=status)
        raise WorkFailed(DIED)
    return msgspec.json.decode(result, type=FileResultLine).state
