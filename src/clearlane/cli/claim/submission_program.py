"""The program that submits documents of claims beside the service, which starts it (``submission_process``).

    python -m clearlane.cli.claim.submission_program < documents

It opens the installation as a command does, with the settings of the service, and is no node: it has no engine, no
heartbeat and no port. When the pipe is closed, no document is left or the service is gone, and so is this process.
No argument, environment variable or log line holds a value of a claim.
"""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO

import msgspec
import uvloop

from clearlane.api.http.memory_release import limit_arenas
from clearlane.api.operations import logs
from clearlane.kernel.log import get_logger
from clearlane.kernel.tasks import cancel_all
from clearlane.pipeline.intake.submission_process import FRAME, READY, SubmissionOpening
from clearlane.pipeline.intake.submit import answer_order
from clearlane.pipeline.recent_claims import RecentClaims
from clearlane.pipeline.work_context import WorkContext
from clearlane.settings import from_json
from clearlane.wiring import OperationRefused, open_installation

log = get_logger()

GARBAGE_THRESHOLDS = (10_000, 5, 1_000)
"""As in a service, nearly all objects are freed by their reference counts."""
READ_BYTES_MAX = 16 * 1024 * 1024


def main(source: BinaryIO, out: BinaryIO) -> int:
    """Submit documents until the pipe is closed, and return the exit status."""
    limit_arenas()  # before the first thread starts
    opening = msgspec.json.decode(source.readline(), type=SubmissionOpening)
    # A signal to all processes of the service does not end it half way: it ends with the pipe, after its documents.
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    settings = from_json(bytes(opening.settings))
    writer = logs.configure(settings.log_level, settings.log_format)
    logs.name_node(opening.node)

    async def run() -> None:
        async with open_installation(settings, role="helper", node=opening.node) as installation:
            gc.collect()
            gc.freeze()
            gc.set_threshold(*GARBAGE_THRESHOLDS)
            # Batches are written by nodes: nothing here takes a claim that was kept for them.
            context = replace(installation.work_context, recent_claims=RecentClaims(claims_max=0))
            await _submit_all(context, source, out)

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run())
    except (OperationRefused, BrokenPipeError):
        return os.EX_UNAVAILABLE
    except Exception as fault:  # noqa: BLE001  (logged by type and place: its text may hold a value)
        log.error("submission process failed", **logs.fault_fields(fault))  # noqa: TRY400
        return os.EX_SOFTWARE
    finally:
        writer.flush()
    return 0


async def _submit_all(context: WorkContext, source: BinaryIO, out: BinaryIO) -> None:
    """Submit every document that comes, several at once: they share transactions."""
    reader = asyncio.StreamReader(limit=READ_BYTES_MAX)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    running: set[asyncio.Task[None]] = set()

    async def answer(number: int, content: Awaitable[bytes]) -> None:
        _write(out, number, await content)

    _write(out, READY, b"")
    with suppress(asyncio.IncompleteReadError):
        while True:
            number, size = FRAME.unpack(await reader.readexactly(FRAME.size))
            content = await reader.readexactly(size)
            task = asyncio.create_task(answer(number, answer_order(context, content)))
            running.add(task)
            task.add_done_callback(running.discard)
    await cancel_all(running)


def _write(out: BinaryIO, number: int, content: bytes) -> None:
    # The service always reads, so this never waits for long.
    out.write(FRAME.pack(number, len(content)) + content)
    out.flush()


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
