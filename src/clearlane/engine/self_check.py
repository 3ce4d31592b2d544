"""Work that does nothing but leave a mark after each step, to see whether the engine works.

A mark is a line in a file of the data directory: the step, and the node that did it. The file is
named by the id that the work was given.
"""

import asyncio
import os
from pathlib import Path

from clearlane.engine.workflow_client import Ledger
from clearlane.engine.workflows import NodeContext, Steps
from clearlane.kernel.faults import WorkFailed
from clearlane.kernel.ids import random_text

NAME, QUEUE = "smoke", "work"
STEPS = 3


async def smoke(
    desk: NodeContext, steps: Steps, id: str, count: int, pause_milliseconds: int
) -> list[str]:
    """Take steps with a pause in each; the nodes that took them, in order."""
    return [
        await steps.run(f"step-{number}", _Mark(desk, id, number, pause_milliseconds))
        for number in range(1, count + 1)
    ]


async def check(ledger: Ledger, data: Path, *, seconds: float) -> list[str]:
    """Send smoke work to whoever takes it and wait; the nodes that took part."""
    id = random_text(16)
    work = await ledger.enqueue(NAME, (id, STEPS, 0), queue=QUEUE, key=f"{NAME}-{id}")
    taken_by = await ledger.result(work, seconds=seconds)
    wipe(data, id)
    if not isinstance(taken_by, list) or len(taken_by) != STEPS:
        raise WorkFailed("smoke-steps")
    return sorted({str(node) for node in taken_by})


def marks(data: Path, id: str) -> list[str]:
    """The marks that the smoke work of this id has left, oldest first."""
    file = _file(data, id)
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def wipe(data: Path, id: str) -> None:
    """Remove the marks of this id."""
    _file(data, id).unlink(missing_ok=True)


class _Mark:
    """One step: begin, pause, end. Killed in the pause, it has begun and not ended."""

    def __init__(self, desk: NodeContext, id: str, number: int, pause_milliseconds: int) -> None:
        self._desk, self._id, self._number = desk, id, number
        self._pause_seconds = pause_milliseconds / 1000

    async def __call__(self) -> str:
        self._leave("begun")
        await asyncio.sleep(self._pause_seconds)
        self._leave("ended")
        return self._desk.node

    def _leave(self, what: str) -> None:
        file = _file(self._desk.data, self._id)
        file.parent.mkdir(mode=0o700, exist_ok=True)
        # One write to a file opened for appending: marks of two nodes do not mix.
        mark = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(mark, f"{self._number} {what} {self._desk.node}\n".encode())
        finally:
            os.close(mark)


def _file(data: Path, id: str) -> Path:
    if not id.replace("-", "").isalnum():
        raise WorkFailed("smoke-id")
    return data / "smoke" / id
