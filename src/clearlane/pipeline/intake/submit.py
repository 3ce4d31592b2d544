"""Submit a document of claims: read, judge and store it, and only then accept it. The path of a claim begins here.

Knows no HTTP.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from clearlane.accounts.model import Site
from clearlane.claims.forms import FORMS, AnyForm
from clearlane.kernel.clock import to_micros
from clearlane.kernel.finding import Severity
from clearlane.kernel.log import get_logger
from clearlane.kernel.traces import now_nanos
from clearlane.pipeline.claim_traces import trace_call
from clearlane.pipeline.helper_process import HelperProcess, HelperProcessDied
from clearlane.pipeline.intake.judge import FindingListing, judge_document
from clearlane.pipeline.intake.prepare_claims import PreparedClaim
from clearlane.pipeline.intake.read import ReadDocument, read_document
from clearlane.pipeline.intake.store import (
    ClaimResult,
    claim_result,
    store_document,
    store_document_alone,
)
from clearlane.pipeline.intake.submission_order import (
    FAILED,
    NOT_TAKEN,
    UNKNOWN,
    decode_answer,
    decode_order,
    encode_order,
    encode_refusal,
    encode_result,
)
from clearlane.pipeline.intake.submission_result import (
    SubmissionNotStored,
    SubmissionReceipt,
    SubmissionResult,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims.new_claims import ClaimInsertResult
from clearlane.store.database.database import (
    Actor,
    CommitOutcomeUnknown,
    Job,
)
from clearlane.store.database.group_commit import TEMPORARY_FAULTS

log = get_logger()

CLAIMS_ANSWERED_AT_ONCE = 500


class SubmissionFailed(Exception):
    """A document that the submission process could not submit, for a reason that it did not expect."""


Extension = Callable[[Job[list[ClaimResult]]], Job[list[ClaimResult]]]
"""Adds to the transaction that stores a document, such as the answer to the call."""


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

    While other documents are being read, one of those that come may go to the submission process of this node, which
    does the very same.
    """
    began = now_nanos()
    result = await _submit(context, document, form, site, actor, now, listed, extend)
    if isinstance(result, SubmissionReceipt):
        numbers = [one.claim_number for one in result.results]
        trace_call(context, site.scope, to_micros(now), numbers, began=began)
    return result


async def _submit(
    context: WorkContext,
    document: bytes,
    form: AnyForm,
    site: Site,
    actor: Actor,
    now: datetime,
    listed: tuple[Severity, ...],
    extend: Extension | None,
) -> SubmissionResult:
    """Submit a document in this process or in the one beside it."""
    processes = context.submission_processes
    if processes is None or extend is not None:
        return await _submit_here(context, document, form, site, actor, now, listed, extend)
    with processes.share(len(document)) as process:
        if process is not None:
            order = encode_order(document, form, site, actor, now, listed)
            found = decode_answer(await _ask(process, order))
            if not isinstance(found, str):
                return _submitted_beside(context, found)
            if found != NOT_TAKEN:
                raise _fault(found)
        return await _submit_here(context, document, form, site, actor, now, listed, None)


async def _submit_here(
    context: WorkContext,
    document: bytes,
    form: AnyForm,
    site: Site,
    actor: Actor,
    now: datetime,
    listed: tuple[Severity, ...],
    extend: Extension | None,
) -> SubmissionResult:
    """Read, judge and store a document in this process."""
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


# --- the submission process -------------------------------------------------------------------------------------------


def _fault(why: str) -> Exception:
    """Return what is raised for a document that the submission process has no result for."""
    if why == UNKNOWN:
        return CommitOutcomeUnknown("it is not known whether a document was stored")
    return SubmissionFailed("the submission process could not submit a document; its log says why")


async def answer_order(context: WorkContext, content: bytes) -> bytes:
    """Submit a document that the service handed to this process, and return the answer. Raises nothing."""
    order = decode_order(content)
    site = next((one for one in context.accounts().sites if one.id == order.site_id), None)
    if site is None or site.vendor_id != order.vendor_id:
        return encode_refusal(NOT_TAKEN)
    try:
        result = await _submit_here(
            context,
            order.document,
            FORMS[order.form],
            site,
            order.actor,
            order.now,
            order.listed,
            None,
        )
    except CommitOutcomeUnknown:
        return encode_refusal(UNKNOWN)
    except Exception as fault:  # noqa: BLE001  (logged by type: its text may hold a value)
        log.error("document not submitted", fault=type(fault).__name__)  # noqa: TRY400
        return encode_refusal(FAILED)
    return encode_result(result)


async def _ask(process: HelperProcess, order: bytes) -> bytes:
    try:
        return await process.ask(order)
    except HelperProcessDied:
        return encode_refusal(UNKNOWN)


def _submitted_beside(context: WorkContext, result: SubmissionResult) -> SubmissionResult:
    """Let this node know of the claims that its submission process has stored."""
    if isinstance(result, SubmissionReceipt):
        context.intake.priority.record_claims(len(result.results))
        if context.event_watch is not None:
            context.event_watch.wake()
    return result
