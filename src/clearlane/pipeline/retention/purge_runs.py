"""Record what each purge did last, or why it failed, so that operators see whether data go when their period is over.

    removed = await record_purge(context, Purge.RECORDS, purge_records(context, now))

One row for each purge, kept beside the counts of the installation. Knows no data that is purged. Times are of the machine: a
sandbox's clock may be years ahead.
"""

import time
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from clearlane.kernel.clock import SystemClock, from_micros, to_micros
from clearlane.kernel.faults import fault_code
from clearlane.store.database.database import StoreFault, Tx
from clearlane.store.database.sql import SystemScope
from clearlane.store.installation import stored_counts
from clearlane.store.installation.stored_counts import StoredCounts

if TYPE_CHECKING:  # `status` loads the runs without everything that a node works with
    from clearlane.pipeline.work_context import WorkContext

LATE_AFTER = timedelta(hours=48)
"""Every purge runs each night, or more often."""
SCOPE = SystemScope("purges are the installation's own work")


class Purge(StrEnum):
    """The purges, by the names of their schedules, in the order of a night."""

    RECORDS = "purge-records"
    ELIGIBILITY = "forget-eligibility"
    NOT_ACCEPTED = "forget-not-accepted"
    EVENTS = "forget-events"
    FILES = "forget-files"


PURGE_WORDS: Mapping[Purge, str] = {
    Purge.RECORDS: "claims, payments, files of payers, proofs, the audit trail and data keys",
    Purge.ELIGIBILITY: "questions to payers, and their answers",
    Purge.NOT_ACCEPTED: "claims that were not accepted, and claims of shadow files",
    Purge.EVENTS: "events, and answers that are given again",
    Purge.FILES: "files that sites send and fetch",
}
"""What each purge removes."""


class PurgeState(StrEnum):
    """Whether a purge does its work."""

    DONE = "done"
    FAILED = "failed"
    LATE = "late"
    """No run has ended for long."""
    EXPECTED = "expected"
    """None has run yet, and none should have."""


class PurgeRun(msgspec.Struct, frozen=True):
    """The last run of a purge that ended well, and a later one that failed."""

    ended_at: int | None = None
    """When the last run ended well; None if none has."""
    removed: dict[str, int] = {}
    """What that run removed, with how many of it."""
    failed_at: int | None = None
    """When the last run failed; None if it did not."""
    fault: str = ""
    """Why it failed, as one word."""

    def state(self, *, since: datetime | None, now: datetime) -> PurgeState:
        """Return the state at a moment, of an installation in use since another; without that nothing is late."""
        if self.failed_at is not None:
            return PurgeState.FAILED
        last = since if self.ended_at is None else from_micros(self.ended_at)
        if since is not None and last is not None and now - last >= LATE_AFTER:
            return PurgeState.LATE
        return PurgeState.EXPECTED if self.ended_at is None else PurgeState.DONE


async def record_purge(
    context: "WorkContext", purge: Purge, work: Awaitable[Mapping[str, int]]
) -> Mapping[str, int]:
    """Wait for a purge, record what it removed or why it failed, and return what it removed."""
    began = time.monotonic()
    try:
        removed = await work
    except Exception as fault:
        with suppress(StoreFault):  # the fault is raised, recorded or not
            await _keep(context, purge, began, fault=fault_code(fault))
        raise
    await _keep(context, purge, began, removed=removed)
    return removed


async def load_purge_runs(tx: Tx) -> dict[Purge, PurgeRun]:
    """Return the runs of each purge; one that never ran is missing."""
    found = await stored_counts.find_counts_of(tx, [one.value for one in Purge])
    return {Purge(name): _DECODER.decode(kept.content) for name, kept in found.items()}


async def _keep(
    context: "WorkContext",
    purge: Purge,
    began: float,
    *,
    removed: Mapping[str, int] | None = None,
    fault: str = "",
) -> None:
    now = to_micros(SystemClock().now())
    took = int((time.monotonic() - began) * 1_000_000)

    async def job(tx: Tx) -> None:
        if removed is not None:
            run = PurgeRun(ended_at=now, removed=dict(removed))
        else:
            last = (await load_purge_runs(tx)).get(purge, PurgeRun())
            run = msgspec.structs.replace(last, failed_at=now, fault=fault)
        kept = StoredCounts(now, took, msgspec.json.encode(run))
        await stored_counts.put_counts(tx, kept, purge.value)

    await context.database.write(SCOPE, job, actor=context.actor)


_DECODER = msgspec.json.Decoder(PurgeRun)
