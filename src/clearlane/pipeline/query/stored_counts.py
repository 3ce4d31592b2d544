"""Keep a count over all clients as one row, with its moment and how long it took.

Knows no count.
"""

import time
from typing import TYPE_CHECKING

import msgspec

from clearlane.store.database.sql import SystemScope
from clearlane.store.installation import stored_counts
from clearlane.store.installation.stored_counts import StoredCounts

if TYPE_CHECKING:  # `status` loads counts without everything that a node works with
    from clearlane.pipeline.work_context import WorkContext

SCOPE = SystemScope("counts are made over all clients")


async def keep_counts(
    context: "WorkContext",
    counts: object,
    name: str = stored_counts.NAME,
    *,
    now: int,
    began: float,
) -> None:
    """Replace the counts of a name with those of now, whose counting began at a moment of the monotonic clock."""
    took = int((time.monotonic() - began) * 1_000_000)
    new = StoredCounts(now, took, msgspec.json.encode(counts))
    await context.database.write(
        SCOPE, lambda tx: stored_counts.put_counts(tx, new, name), actor=context.actor
    )
