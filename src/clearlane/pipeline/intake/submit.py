"""Submit a document of claims: read, judge and store it, and only then accept it. The path of a claim begins here.

Knows no HTTP.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from clearlane.accounts.model import Site
from clearlane.claims.forms import AnyForm
from clearlane.kernel.finding import Severity
from clearlane.pipeline.intake.judge import FindingListing, judge_document
from clearlane.pipeline.intake.prepare_claims import PreparedClaim
from clearlane.pipeline.intake.read import (
    MalformedDocument,
    ReadDocument,
    TooManyClaims,
    read_document,
)
from clearlane.pipeline.intake.store import (
    ClaimResult,
    claim_result,
    store_document,
    store_document_alone,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims.new_claims import ClaimInsertResult
from clearlane.store.database.database import (
    Actor,
    CommitOutcomeUnknown,
    Job,
)
from clearlane.store.database.group_commit import TEMPORARY_FAULTS

CLAIMS_ANSWERED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class SubmissionReceipt:
    """The results of a stored document, in the order of its claims."""

    results: tuple[ClaimResult, ...]
    ignored: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What accepted claims are warned of, each with its field: the first few, and how many more there are."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the results, each with its claim, and the warnings."""
        notes = (f"Claims[{at}]: {one.note}" for at, one in enumerate(self.results) if one.note)
        return (*notes, *self.warnings)


@dataclass(frozen=True, slots=True)
class SubmissionNotStored:
    """A write that was rolled back or timed out: nothing was stored, sending again is safe."""


Extension = Callable[[Job[list[ClaimResult]]], Job[list[ClaimResult]]]
"""Adds to the transaction that stores a document, such as the answer to the call."""
SubmissionResult = MalformedDocument | TooManyClaims | SubmissionReceipt | SubmissionNotStored


async def submit(
    context: WorkContext,
    document: bytes,
    form: AnyForm,
    *,
    site: Site,
    actor: Actor,
    now: datetime,
    listed: tuple[Severity, ...] = (),
    extend: Extension | None = None,
) -> SubmissionResult:
    """Read, judge and store a document. Returns a receipt only after the durable commit.

    ``listed`` are the severities of the findings that the results have; by default errors alone. ``extend`` adds to the
    transaction, which then is the document's own.
    """
    write_seconds_max = context.limits.write_seconds_max
    read = await read_document(context, document, form, site=site)
    if not isinstance(read, ReadDocument):
        return read
    try:
        context.database.require_space()
        if not context.vault.has_current_key(site.scope):
            async with asyncio.timeout(write_seconds_max):
                await context.vault.ensure_key(site.scope)
        listing = FindingListing(*listed)
        judged = await judge_document(context, read, site=site, now=now, shorten=listing.limit)
        if extend is not None:
            results = await store_document_alone(context, site, judged, actor=actor, extend=extend)
            return SubmissionReceipt(tuple(results), read.ignored, listing.warnings())
        stored, reasons = await store_document(context, site, judged, actor=actor)
    except CommitOutcomeUnknown:  # it may be stored, so it must not be reported as not stored
        raise
    except TEMPORARY_FAULTS:
        return SubmissionNotStored()
    ends = tuple(await _results(judged, stored, reasons))
    return SubmissionReceipt(ends, read.ignored, listing.warnings())


async def _results(
    prepared: deque[PreparedClaim],
    stored: Sequence[ClaimInsertResult],
    reasons: Mapping[str, str],
) -> list[ClaimResult]:
    results: list[ClaimResult] = []
    for end in stored:
        if results and not len(results) % CLAIMS_ANSWERED_AT_ONCE:
            await asyncio.sleep(0)
        results.append(claim_result(prepared.popleft(), end, reasons))
    return results
