"""Count all open claims for operators, once for all nodes and askers.

    counts = await load_claim_counts(tx, now)       # one row; None if no node has counted lately
    counts = await count_claims(tx, now)            # reads the index of open claims as a whole

A tick of every node renews what is kept, and a node finds that another has just done it. So a scrape of metrics, `status`
and `doctor` read one row, however many claims are open. Knows no limit beyond which a count needs attention.
"""

import time
from typing import TYPE_CHECKING

import msgspec

from clearlane.kernel.clock import to_micros
from clearlane.pipeline.query.stored_counts import keep_counts
from clearlane.store.database.database import Tx
from clearlane.store.installation import operating_counts, stored_counts
from clearlane.store.installation.operating_counts import DAY, SCOPE, OpenClaims
from clearlane.store.installation.stored_counts import StoredCounts

if TYPE_CHECKING:  # `status` loads the counts without everything that a node works with
    from clearlane.engine.workflows import WorkSteps
    from clearlane.pipeline.work_context import WorkContext

NAME, EVERY_SECONDS = "claim counts", 60
COUNTED_SECONDS = 50
"""Claims that were counted so lately are not counted again."""
KEPT_SECONDS = 300
"""Counts that are older are of no use: no node runs, or the sandbox's clock was moved."""
REST_FACTOR = 50
"""Counting rests for this many times the duration of the last count."""


class ClaimCounts(msgspec.Struct, frozen=True):
    """The claims that are not complete, and those of the last 24 hours."""

    open_claims: tuple[OpenClaims, ...] = ()
    last_day: int = 0
    counted_at: int = 0


async def load_claim_counts(tx: Tx, now: int) -> ClaimCounts | None:
    """Return the counts that a node has kept; None if they are too old."""
    kept = await stored_counts.find_counts(tx)
    if kept is None or not _is_within(kept, now, KEPT_SECONDS, 2 * REST_FACTOR):
        return None
    return _DECODER.decode(kept.content)


async def count_claims(tx: Tx, now: int) -> ClaimCounts:
    """Count the claims now, from an index alone."""
    return ClaimCounts(
        tuple(await operating_counts.count_open_claims(tx, now)),
        await operating_counts.count_claims_since(tx, now - DAY),
        now,
    )


async def count_tick(context: "WorkContext", steps: "WorkSteps") -> None:
    """Renew the kept counts, unless a node has just done it or counting takes long."""
    now = to_micros(context.clock.now())
    async with context.database.read(SCOPE) as tx:
        kept = await stored_counts.find_counts(tx)
        if kept is not None and _is_within(kept, now, COUNTED_SECONDS, REST_FACTOR):
            return
        began = time.monotonic()
        counts = await count_claims(tx, now)
    await keep_counts(context, counts, now=now, began=began)


def _is_within(kept: StoredCounts, now: int, seconds: int, factor: int) -> bool:
    """Return whether counts are at most this many seconds old, or at most this many times as old as counting took."""
    return 0 <= now - kept.counted_at <= max(seconds * 1_000_000, factor * kept.took)


_DECODER = msgspec.json.Decoder(ClaimCounts)
