"""Check that the engine works, by a workflow whose steps only write marks into a file.

A mark is a line in a file of the data directory: the number of the step, and the node that ran it. The file is named by
the id of the check.
"""

import asyncio
import os
from pathlib import Path

from clearlane.engine.workflow_client import WorkflowClient
from clearlane.engine.workflows import NodeContext, WorkSteps
from clearlane.kernel.faults import WorkFailed
from clearlane.kernel.ids import random_text

NAME, QUEUE = "self-check", "work"
STEPS = 3


async def run_self_check(
    context: NodeContext, steps: WorkSteps, id: str, count: int, pause_milliseconds: int
) -> list[str]:
    """Run steps with a pause in each; return the nodes that ran them, in order."""
    return [
        await steps.run(f"step-{number}", _MarkingStep(context, id, number, pause_milliseconds))
        for number in range(1, count + 1)
    ]


async def check_engine(client: WorkflowClient, data: Path, *, seconds: float) -> list[str]:
    """Enqueue a self-check and wait for it; return the nodes that ran its steps."""
    id = random_text(16)
    work = await client.enqueue(NAME, (id, STEPS, 0), queue=QUEUE, key=f"{NAME}-{id}")
    nodes = await client.result(work, seconds=seconds)
    delete_marks(data, id)
    if not isinstance(nodes, list) or len(nodes) != STEPS:
        raise WorkFailed("self-check-steps")
    return sorted({str(node) for node in nodes})


def delete_marks(data: Path, id: str) -> None:
    """Delete the marks of a self-check."""
    _file(data, id).unlink(missing_ok=True)


class _MarkingStep:
    """One step: writes a mark, pauses, writes a mark. Killed in the pause, it has only the first."""

    def __init__(self, context: NodeContext, id: str, number: int, pause_milliseconds: int) -> None:
        self._context, self._id, self._number = context, id, number
        self._pause_seconds = pause_milliseconds / 1000

    async def __call__(self) -> str:
        self._write_mark("begun")
        await asyncio.sleep(self._pause_seconds)
        self._write_mark("ended")
        return self._context.node

    def _write_mark(self, event: str) -> None:
        file = _file(self._context.data, self._id)
        file.parent.mkdir(mode=0o700, exist_ok=True)
        # One write to a file opened for appending: marks of two nodes are never mixed.
        mark = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(mark, f"{self._number} {event} {self._context.node}\n".encode())
        finally:
            os.close(mark)


def _file(data: Path, id: str) -> Path:
    if not id.replace("-", "").isalnum():
        raise WorkFailed("self-check-id")
    return data / "self-check" / id
