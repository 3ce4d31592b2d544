"""Keep partitions of the database ahead of time, with the rights of the node's login. On SQLite there are none."""

import contextlib
from typing import TYPE_CHECKING

from clearlane.store.database.database import OperationRefused

if TYPE_CHECKING:
    from clearlane.engine.workflows import WorkSteps
    from clearlane.pipeline.work_context import WorkContext

NAME, EVERY_SECONDS = "partitions", 3_600


async def partition_tick(context: "WorkContext", steps: "WorkSteps") -> None:
    """Make the partitions that are missing for the next months."""
    # A login that owns no table makes none; the condition says so before the last partition ends.
    with contextlib.suppress(OperationRefused):
        await context.database.make_partitions(context.clock.now())
