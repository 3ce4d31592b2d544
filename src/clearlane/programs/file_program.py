"""The program that processes one large file of a site beside the service, which starts it (``file_process``).

    python -m clearlane.programs.file_program < order

It opens the installation as a command does, with the settings of the service, and is no node: it has no engine, no
heartbeat and no port. The order comes in one line; when the pipe is closed the service is gone, and so is this process.
No argument, environment variable or log line holds a value of a file.
"""

import asyncio
import gc
import os
import sys
import threading
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import BinaryIO

import msgspec

from clearlane.api.operations import logs
from clearlane.kernel.log import get_logger
from clearlane.pipeline.intake.files.file_process import NOT_OPENED, FileOrder, FileResultLine
from clearlane.pipeline.intake.files.file_work import process_one
from clearlane.pipeline.intake.files.page_process import PageProcesses
from clearlane.pipeline.intake.prepare_claims import IntakeBatcher
from clearlane.settings import Settings, from_json
from clearlane.wiring import OperationRefused, open_installation

log = get_logger()

NICENESS = 10
"""Calls go first if there is more to do than there are processors."""
PIPE_BYTES = 4_096
GARBAGE_THRESHOLDS = (20_000, 5, 100)
"""As in a service, nearly all objects are freed by their reference counts."""


def main(source: BinaryIO, out: BinaryIO) -> int:
    """Process the file that an order names, and return the exit status."""
    order = msgspec.json.decode(source.readline(), type=FileOrder)
    threading.Thread(target=_end_with_service, args=(source,), daemon=True).start()
    os.setpgid(0, 0)  # a signal to the group of the service does not end it half way
    settings = from_json(bytes(order.settings))
    writer = logs.configure(settings.log_level, settings.log_format)
    logs.name_node(order.node)
    try:
        result = asyncio.run(_process(settings, order))
    except Exception as fault:  # noqa: BLE001  (logged by type and place: its text may hold a value)
        log.error("file process failed", **logs.fault_fields(fault))  # noqa: TRY400
        return os.EX_SOFTWARE
    finally:
        writer.flush()
    if result is None:
        return NOT_OPENED
    out.write(msgspec.json.encode(result))
    out.flush()
    return 0


def _end_with_service(source: BinaryIO) -> None:
    """End the process when the service is gone. Other work repeats what it was doing."""
    # Not by the buffer of the source: its lock would be held when the process ends by itself.
    with suppress(OSError):
        while os.read(source.fileno(), PIPE_BYTES):
            pass
    os._exit(os.EX_TEMPFAIL)


async def _process(settings: Settings, order: FileOrder) -> FileResultLine | None:
    """Return what became of the file; None if the installation cannot be opened, and then no file was touched."""
    async with AsyncExitStack() as closing:
        try:
            installation = await closing.enter_async_context(
                open_installation(settings, role="helper", node=order.node)
            )
        except OperationRefused:
            return None
        # Not the thread that writes, which has begun: while it has the lock of a database file, calls wait for it.
        os.nice(NICENESS)
        gc.freeze()
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        # No one calls this process: nothing here has to make way.
        pages = PageProcesses(bytes(order.settings), order.node)
        closing.push_async_callback(pages.close)
        context = replace(
            installation.work_context,
            intake=IntakeBatcher(has_callers=False),
            page_processes=pages,
        )
        return FileResultLine(await process_one(context, order.file_id, order.holder))


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
