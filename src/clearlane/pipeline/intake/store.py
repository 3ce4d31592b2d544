"""Store judged claims, with their events, their billing ZIP codes and the audit row: one transaction.

Documents that wait at the same time share it; each has its own audit row. What a claim is to an earlier one under its id
is decided inside (``correct_claims``), because only the transaction knows which claims are current.
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
from clearlane.claims.finding import ClaimFinding
from clearlane.claims.kinds import X12
from clearlane.claims.resubmission import REFUSALS, TAKES_THE_ID, ResubmissionDecision
from clearlane.claims.rules import apply_rule
from clearlane.engine import fault_injection
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.claim_events import submission_events
from clearlane.pipeline.enrollment.billing_zip_lookup import (
    GivenZip,
)
from clearlane.pipeline.intake.correct_claims import SuccessorCorrections, successor_events
from clearlane.pipeline.intake.correction_guard import require_successor, take_predecessor
from clearlane.pipeline.intake.hold_claims import hold_for_enrollment
from clearlane.pipeline.intake.prepare_claims import PreparedClaim, refuse_row
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import billing_zips
from clearlane.store.claims.new_claims import ClaimInsertResult, NewClaim, is_accepted
from clearlane.store.claims.save_claims import save
from clearlane.store.database.database import (
    Actor,
    CombinedJob,
    Job,
    Tx,
)
from clearlane.store.files import due_responses, file_sets

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


async def store_document(
    context: WorkContext, site: Site, prepared: deque[PreparedClaim], *, actor: Actor
) -> tuple[list[ClaimInsertResult], Mapping[str, str]]:
    """Store a judged document; return the result of each claim, and why claims go out as they do, by claim number."""
    reasons: dict[str, str] = {}
    rows = _DocumentRows(context, site, prepared, reasons)
    stored = await _store(rows, CombinedJob(_save, rows), actor)
    for one, each in zip(prepared, stored, strict=True):
        row = one.row
        # The claims of a large document are left to their rows, so that they do not fill the memory.
        if each.claim_number == row.claim_number and is_accepted(row, each) and not one.is_emptied:
            context.recent_claims.keep(row.claim_number, row.payload, one.judgement.claim)
    return stored, reasons


async def store_document_alone(
    context: WorkContext,
    site: Site,
    prepared: deque[PreparedClaim],
    *,
    actor: Actor,
    extend: Callable[[Job[list[ClaimResult]]], Job[T]],
) -> T:
    """Store a judged document in a transaction of its own, to which ``extend`` adds; it decides what is returned."""
    reasons: dict[str, str] = {}
    rows = _DocumentRows(context, site, prepared, reasons)

    async def job(tx: Tx) -> list[ClaimResult]:
        (stored,) = await _save([tx], [rows])
        return [claim_result(one, end, reasons) for one, end in zip(prepared, stored, strict=True)]

    return await _store(rows, extend(job), actor)


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
        return claim_result(prepared, stored, reasons)

    return await _store(rows, extend(job), actor)


def claim_result(
    prepared: PreparedClaim, stored: ClaimInsertResult, reasons: Mapping[str, str]
) -> ClaimResult:
    """Return the result of a claim.

    A claim that was sent before has its earlier claim number; one that may not have a used id is refused.
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
        for path, message in apply_rule(rule, prepared.judgement.claim, facts)
    )


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


async def _store(rows: "_DocumentRows", job: Job[T], actor: Actor) -> T:
    """Run the job that stores a prepared document; return after the durable commit."""
    context, site = rows.context, rows.site
    async with asyncio.timeout(context.limits.write_seconds_max):
        stored = await context.database.write(site.scope, job, actor=actor)
    context.intake.recorded_zips.mark(site.scope, _given_zips(rows.prepared))
    fault_injection.crash_point("accepted")
    return stored


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
    """Filled by the transaction: why claims go out as they do, by claim number."""
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
            if document.prepared[0].row.form == X12:
                await _keep_place_in_file(txs[0], document.correction, own[0])
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
        await _hold_for_enrollment(tx, document, own)
        accepted = sum(is_accepted(row, each) for row, each in zip(new, own, strict=True))
        answer = f"{accepted} Accepted, {len(own) - accepted} NotAccepted"
        tx.audit("claims.submit", ids=[each.claim_number for each in own], detail=answer)
    return stored


async def _hold_for_enrollment(
    tx: Tx, document: _DocumentRows, stored: Sequence[ClaimInsertResult]
) -> None:
    """Hold the new claims that wait for an enrollment. No statement if none does."""
    waiting = [
        each.claim_number
        for one, each in zip(document.prepared, stored, strict=True)
        if one.row.awaits_enrollment
        and is_accepted(one.row, each)
        and each.claim_number == one.row.claim_number
    ]
    if waiting:
        at = document.prepared[0].row.created_at
        await hold_for_enrollment(tx, document.context, document.site, waiting, at)


async def _take_predecessor(tx: Tx, document: _DocumentRows) -> str:
    """Make way for a correction; return the state of the claim that it corrects."""
    if document.correction is None:
        return ""
    return await take_predecessor(tx, document.context, document.site, *document.correction)


async def _keep_place_in_file(tx: Tx, correction: _Correction, stored: ClaimInsertResult) -> None:
    """Give the correction of a claim of a file its place in the file, so that answers go back to the sender."""
    corrected, number = correction.claim_number, stored.claim_number
    place = (await file_sets.find_claims(tx, [corrected])).get(corrected)
    if place is not None:
        await file_sets.add_claims(tx, [place._replace(claim_number=number)])
        await due_responses.add_correction(tx, place.set_id, number, to_micros(correction.now))


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
