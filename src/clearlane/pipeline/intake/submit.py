"""Submit a document of claims: read, judge and store it, and only then accept it.

Reading and judging happen a few claims at a time, so that a document of thousands delays no other call. A large one
is read twice, so that it never is in memory as a whole: once to refuse it, once to judge it. Storing is one transaction with its events and its audit row. Knows no HTTP.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeVar

from clearlane.accounts.model import Site
from clearlane.claims.finding import LEFT_OUT, ClaimFinding, count_findings
from clearlane.claims.forms import AnyForm
from clearlane.claims.resubmission import REFUSALS, TAKES_THE_ID, ResubmissionDecision
from clearlane.claims.rules import RULES, apply_rule
from clearlane.engine import fault_injection
from clearlane.kernel.finding import Severity
from clearlane.pipeline.claim_events import submission_events
from clearlane.pipeline.enrollment.billing_zip_lookup import (
    GivenZip,
)
from clearlane.pipeline.intake.correct_claims import SuccessorCorrections, successor_events
from clearlane.pipeline.intake.correction_guard import require_successor, take_predecessor
from clearlane.pipeline.intake.prepare_claims import PreparedClaim, refuse_row
from clearlane.pipeline.intake.prepare_document import (
    MalformedDocument,
    ReadDocument,
    TooManyClaims,
    prepare_document,
    read_document,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import billing_zips
from clearlane.store.claims.new_claims import ClaimInsertResult, NewClaim, is_accepted
from clearlane.store.claims.save_claims import save
from clearlane.store.database.database import (
    Actor,
    CombinedJob,
    CommitOutcomeUnknown,
    DatabaseUnavailable,
    Job,
    Tx,
)
from clearlane.store.database.group_commit import LockContention

CLAIMS_ANSWERED_AT_ONCE = 500
ERRORS_PER_DOCUMENT_MAX = 10_000
WARNINGS_NOTED_MAX = 5


ID_IS_FREE, REPLACEMENT_IS_ASKED_FOR = "C107", "C112"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The result for one claim."""

    vendor_claim_id: str
    accepted: bool
    claim_number: str
    findings: tuple[ClaimFinding, ...] = field(default=(), repr=False)
    note: str = ""
    """What was done with a claim under a known id, and why; empty for a claim under a new one."""


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


SubmissionOutcome = MalformedDocument | TooManyClaims | SubmissionReceipt | SubmissionNotStored


async def submit(
    context: WorkContext,
    document: bytes,
    form: AnyForm,
    *,
    site: Site,
    actor: Actor,
    now: datetime,
) -> SubmissionOutcome:
    """Read, judge and store a document. Returns a receipt only after the durable commit."""
    write_seconds_max = context.limits.write_seconds_max
    read = await read_document(context, document, form, site=site)
    if not isinstance(read, ReadDocument):
        return read
    reasons: dict[str, str] = {}
    try:
        context.database.require_space()
        if not context.vault.has_current_key(site.scope):
            async with asyncio.timeout(write_seconds_max):
                await context.vault.ensure_key(site.scope)
        listing = _FindingListing()
        prepared = await prepare_document(context, read, site=site, now=now, shorten=listing.limit)
        rows = _DocumentRows(context, site, prepared, reasons)
        stored = await _store(rows, CombinedJob(_save, rows), actor)
    except CommitOutcomeUnknown:  # it may be stored, so it must not be reported as not stored
        raise
    except (TimeoutError, DatabaseUnavailable, LockContention):
        return SubmissionNotStored()
    results = tuple(await _results(prepared, stored, reasons))
    return SubmissionReceipt(results, read.ignored, listing.warnings())


async def store_correction(
    context: WorkContext,
    site: Site,
    prepared: PreparedClaim,
    *,
    corrects: str,
    seen_state: str,
    actor: Actor,
    now: datetime,
    extend: Callable[[Job[ClaimResult]], Job[T]],
) -> T:
    """Store a claim that corrects another, and only that: else it raises a ``CorrectionConflict``.

    ``seen_state`` is the state of that other one when the claim was prepared. ``extend`` adds to the transaction and
    decides what is returned.
    """
    reasons: dict[str, str] = {}
    correction = _Correction(corrects, seen_state, now)
    rows = _DocumentRows(context, site, deque([prepared]), reasons, correction)

    async def job(tx: Tx) -> ClaimResult:
        ((stored,),) = await _save([tx], [rows])
        return _result(prepared, stored, reasons)

    return await _store(rows, extend(job), actor)


async def _store(rows: "_DocumentRows", job: Job[T], actor: Actor) -> T:
    """Run the job that stores a prepared document; return after the durable commit."""
    context, site = rows.context, rows.site
    async with asyncio.timeout(context.limits.write_seconds_max):
        stored = await context.database.write(site.scope, job, actor=actor)
    context.intake.recorded_zips.mark(site.scope, _given_zips(rows.prepared))
    fault_injection.crash_point("accepted")
    return stored


class _FindingListing:
    """Limits the findings that the answer to a document lists; the claims are stored with their own."""

    def __init__(self) -> None:
        self._left = ERRORS_PER_DOCUMENT_MAX
        self._warnings: list[ClaimFinding] = []
        self._warnings_count = 0

    def warnings(self) -> tuple[str, ...]:
        """Return the first warnings, in the words of the rules, which quote no value; and how many more there are."""
        noted = [f"{one.location} (warning): {RULES[one.rule].sentence}" for one in self._warnings]
        if more := self._warnings_count - len(noted):
            count = "1 more warning is" if more == 1 else f"{more} more warnings are"
            noted.append(f"{count} in the findings of the claims.")
        return tuple(noted)

    def limit(self, prepared: PreparedClaim) -> PreparedClaim:
        """Return a claim with the errors that are listed, and one that says how many more there are."""
        judgement = prepared.judgement
        if judgement.findings and judgement.accepted:
            warnings = [f for f in judgement.findings if f.severity is Severity.WARNING]
            self._warnings_count += count_findings(warnings)
            shown = [f for f in warnings if f.rule != LEFT_OUT]
            self._warnings += shown[: WARNINGS_NOTED_MAX - len(self._warnings)]
        errors = tuple(f for f in judgement.findings if f.severity is Severity.ERROR)
        listed = errors[: self._left]
        self._left -= len(listed)
        if len(listed) < len(errors):
            more = count_findings(errors[len(listed) :])
            listed = (*listed, _not_listed(prepared.at, more, is_all=not listed))
        return prepared._replace(judgement=judgement._replace(findings=listed))


def _not_listed(at: str, count: int, *, is_all: bool) -> ClaimFinding:
    errors = "1 error" if count == 1 else f"{count} errors"
    begin = f"This claim has {errors}." if is_all else f"And {errors} more in this claim."
    return ClaimFinding(
        rule=LEFT_OUT,
        location=at,
        message=f"{begin} An answer lists {ERRORS_PER_DOCUMENT_MAX} errors at most: send the claim in a smaller "
        "document to see its errors.",
        count=count,
    )


async def _results(
    prepared: deque[PreparedClaim],
    stored: Sequence[ClaimInsertResult],
    reasons: Mapping[str, str],
) -> list[ClaimResult]:
    results: list[ClaimResult] = []
    for end in stored:
        if results and not len(results) % CLAIMS_ANSWERED_AT_ONCE:
            await asyncio.sleep(0)
        results.append(_result(prepared.popleft(), end, reasons))
    return results


class _Correction(NamedTuple):
    """The claim that a document corrects, the state that it was seen in, and when."""

    claim_number: str
    seen_state: str
    now: datetime


class _DocumentRows(NamedTuple):
    """A prepared document, to be stored."""

    context: WorkContext
    site: Site
    prepared: deque[PreparedClaim]
    reasons: dict[str, str]
    """Filled by the transaction: why claims go out as they do, by request id."""
    correction: _Correction | None = None


async def _save(
    txs: Sequence[Tx], documents: Sequence[_DocumentRows]
) -> list[list[ClaimInsertResult]]:
    """Store documents that wait at the same time in one transaction; each has its own audit row."""
    corrections = SuccessorCorrections(
        documents[0].context.vault,
        {
            one.row.claim_number: (document.site, one)
            for document in documents
            for one in document.prepared
        },
    )
    states = [await _take_predecessor(txs[0], document) for document in documents]
    rows = [one.row for document in documents for one in document.prepared]
    refuse = partial(_refuse_row, documents)
    ends = iter(await save(txs[0], rows, corrections, refuse))
    stored = [list(islice(ends, len(document.prepared))) for document in documents]
    for document, state, own in zip(documents, states, stored, strict=True):
        if document.correction is not None:
            require_successor(document.correction.claim_number, state, own[0])
    for document in documents:
        document.reasons.clear()  # of an attempt that was rolled back
        document.reasons.update(corrections.reasons)
    for tx, own, document in zip(txs, stored, documents, strict=True):
        new = [one.row for one in document.prepared]
        await billing_zips.record(
            tx,
            document.context.intake.recorded_zips.new_rows(
                document.context.vault, document.site.scope, _given_zips(document.prepared)
            ),
        )
        await _add_events(tx, document, own, corrections.prior_payer_claims)
        accepted = sum(is_accepted(row, each) for row, each in zip(new, own, strict=True))
        answer = f"{accepted} Accepted, {len(own) - accepted} NotAccepted"
        tx.audit("claims.submit", ids=[each.claim_number for each in own], detail=answer)
    return stored


async def _take_predecessor(tx: Tx, document: _DocumentRows) -> str:
    """Make way for a correction; return the state of the claim that it corrects."""
    if document.correction is None:
        return ""
    return await take_predecessor(tx, document.context, document.site, *document.correction)


def _refuse_row(
    documents: Sequence[_DocumentRows], row: NewClaim, result: ClaimInsertResult
) -> NewClaim:
    """Return a claim without errors as it is kept if the claim that has its id does not let it be accepted."""
    document, prepared = next(
        (document, one)
        for document in documents
        for one in document.prepared
        if one.row.claim_number == row.claim_number
    )
    findings = _id_taken_findings(prepared, result)
    return refuse_row(document.context.vault, document.site, row, findings)


async def _add_events(
    tx: Tx,
    document: _DocumentRows,
    stored: Sequence[ClaimInsertResult],
    prior_payer_claims: Mapping[str, str],
) -> None:
    """Add the events of a stored document: its claims, and those that they take over from."""
    site, prepared = document.site, document.prepared
    if not prepared:
        return
    received: list[str] = []
    refused: list[str] = []
    successors: dict[str, PreparedClaim] = {}
    for one, each in zip(prepared, stored, strict=True):
        if not is_accepted(one.row, each):
            refused.append(each.claim_number)
        elif each.decision is None or each.decision in TAKES_THE_ID:
            received.append(each.claim_number)
            if each.decision is ResubmissionDecision.SUCCESSOR:
                successors[each.earlier_id] = one
            successors |= dict.fromkeys(each.not_accepted_before, one)
    at = prepared[0].row.created_at
    secondary = {n: prior for n in received if (prior := prior_payer_claims.get(n))}
    tx.add_events(
        submission_events(
            site.vendor_id,
            site.id,
            at,
            received=received,
            refused=refused,
            secondary=secondary,
        )
    )
    if successors:
        vault = document.context.vault
        tx.add_events(await successor_events(tx, vault, site, successors, at))


def _given_zips(prepared: Iterable[PreparedClaim]) -> Iterator[GivenZip]:
    return (one.given_zip for one in prepared if one.given_zip)


def _result(
    prepared: PreparedClaim, stored: ClaimInsertResult, reasons: Mapping[str, str]
) -> ClaimResult:
    """Return the result of a claim.

    A repeated request returns the earlier request id; a claim that may not have a used id is refused.
    """
    findings = prepared.judgement.findings
    accepted = prepared.judgement.accepted
    if stored.decision in REFUSALS:
        return ClaimResult(
            prepared.vendor_claim_id,
            accepted=False,
            claim_number=prepared.row.claim_number,
            findings=_id_taken_findings(prepared, stored),
        )
    note = _note(prepared, stored, reasons) if accepted else ""
    return ClaimResult(prepared.vendor_claim_id, accepted, stored.claim_number, findings, note)


def _note(prepared: PreparedClaim, stored: ClaimInsertResult, reasons: Mapping[str, str]) -> str:
    """Return what was done with an accepted claim under a known id, and why."""
    if stored.decision is ResubmissionDecision.REPEATED_REQUEST:
        return f"It is the claim {stored.claim_number} again: nothing was sent twice."
    reason = reasons.get(stored.claim_number) or prepared.facts.correction
    if stored.decision is ResubmissionDecision.SUCCESSOR:
        return " ".join(filter(None, (f"It takes over from {stored.earlier_id}.", reason)))
    return reason


def _id_taken_findings(
    prepared: PreparedClaim, stored: ClaimInsertResult
) -> tuple[ClaimFinding, ...]:
    """Return the findings of a used id. Only the index of current claims can decide that, so it comes last."""
    return used_id_findings(prepared, stored.decision, stored.earlier_id, stored.earlier_state)


def used_id_findings(
    prepared: PreparedClaim,
    decision: ResubmissionDecision | None,
    earlier_id: str,
    earlier_state: str,
) -> tuple[ClaimFinding, ...]:
    """Return the findings of a claim that may not have the id of an earlier one; empty if it may."""
    if decision not in REFUSALS:
        return ()
    facts = replace(
        prepared.facts,
        earlier_claim_number=earlier_id,
        earlier_state=earlier_state,
        is_settled_before=decision is ResubmissionDecision.CODE_MISSING,
    )
    return tuple(
        ClaimFinding(rule=rule, location=f"{prepared.at}.{path}", message=message)
        for rule in (ID_IS_FREE, REPLACEMENT_IS_ASKED_FOR)
        for path, message in apply_rule(rule, prepared.judgement.view, facts)
    )
