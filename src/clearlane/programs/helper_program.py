"""What a program does that helps a process of the same installation (``pipeline/helper_process``): answer its orders.

    def main(source, out):
        return run_helper(source, out, answer_order, prepare)

It opens the installation as a command does, with the settings that come in the first line, and is no node: it has no engine,
no heartbeat and no port. When the pipe is closed there is no more to do, or the other process is gone, and so is this one.
No argument, environment variable or log line holds a value of a claim.
"""

import asyncio
import fcntl
import gc
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import BinaryIO, TypeAlias

import msgspec
import uvloop

from clearlane.api.http.memory_release import limit_arenas
from clearlane.api.operations import logs
from clearlane.kernel.log import get_logger
from clearlane.kernel.tasks import cancel_all
from clearlane.pipeline.helper_process import FRAME, READY, HelperOpening
from clearlane.pipeline.work_context import WorkContext
from clearlane.settings import from_json
from clearlane.wiring import OperationRefused, open_installation

log = get_logger()

GARBAGE_THRESHOLDS = (10_000, 5, 1_000)
"""As in a service, nearly all objects are freed by their reference counts."""
READ_BYTES_MAX = 16 * 1024 * 1024
ORDERS_AT_ONCE = 1_000
"""Several orders share transactions."""
PIPE_BYTES = 1024 * 1024
"""What waits in a pipe while the other side computes: some orders, or their answers."""

AnswerOrder: TypeAlias = Callable[[WorkContext, bytes], Awaitable[bytes]]
"""Carries out an order and returns the answer. Raises nothing."""


def run_helper(
    source: BinaryIO,
    out: BinaryIO,
    answer: AnswerOrder,
    prepare: Callable[[WorkContext], WorkContext],
    *,
    at_once: int = ORDERS_AT_ONCE,
) -> int:
    """Answer orders until the pipe is closed, and return the exit status.

    ``prepare`` changes the context for them; ``at_once`` is how many are answered at the same time.
    """
    limit_arenas()  # before the first thread starts
    opening = msgspec.json.decode(source.readline(), type=HelperOpening)
    # A signal to all processes of the service does not end it half way: it ends with the pipe, after its orders.
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
            context = prepare(installation.work_context)
            await _answer_all(context, source, out, answer, asyncio.Semaphore(at_once))

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run())
    except (OperationRefused, BrokenPipeError):
        return os.EX_UNAVAILABLE
    except Exception as fault:  # noqa: BLE001  (logged by type and place: its text may hold a value)
        log.error("helper process failed", **logs.fault_fields(fault))  # noqa: TRY400
        return os.EX_SOFTWARE
    finally:
        writer.flush()
    return 0


async def _answer_all(
    context: WorkContext,
    source: BinaryIO,
    out: BinaryIO,
    answer: AnswerOrder,
    turns: asyncio.Semaphore,
) -> None:
    """Answer every order that comes, as many at once as there are turns."""
    for end in (source, out):
        # An error means that it is no pipe, or that the user may not have a larger one; not every system can do it.
        with suppress(OSError, AttributeError):
            fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    reader = asyncio.StreamReader(limit=READ_BYTES_MAX)
    loop = asyncio.get_running_loop()
    reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    running: set[asyncio.Task[None]] = set()

    async def answer_one(number: int, order: bytes) -> None:
        async with turns:
            _write(out, number, await answer(context, order))

    _write(out, READY, b"")
    with suppress(asyncio.IncompleteReadError):
        while True:
            number, size = FRAME.unpack(await reader.readexactly(FRAME.size))
            content = await reader.readexactly(size)
            task = asyncio.create_task(answer_one(number, content))
            running.add(task)
            task.add_done_callback(running.discard)
    reading.close()
    await cancel_all(running)


def _write(out: BinaryIO, number: int, content: bytes) -> None:
    # The other process always reads, so this never waits for long.
    out.write(FRAME.pack(number, len(content)) + content)
    out.flush()
