"""Correct a stored claim: take its content, change fields, and submit it in the claim's place.

    outcome = await submit_correction(context, site, "C193...", {"F24...": ...}, actor=actor, now=now)

``claims.resubmission`` decides how it goes out: as a new claim, as a replacement or as a void. A claim that no batch has
taken is canceled in the same transaction. If two corrections meet, one wins, and the other is a
:class:`CorrectionConflict`. For vendors and for people of the console; knows no HTTP.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.finding import ClaimFinding, shape_finding
from clearlane.claims.forms import FORMS, AnyForm, form_of
from clearlane.claims.kinds import X12
from clearlane.claims.lifecycle import ClaimState
from clearlane.claims.read.changed_content import path_faults, with_paths
from clearlane.claims.resubmission import ORIGINAL, REPLACEMENT, VOID
from clearlane.claims.x12_claim import X12Claim, decode_x12_claim
from clearlane.pipeline.intake.claim_x12 import write_claim_837
from clearlane.pipeline.intake.correct_claims import preview_correction
from clearlane.pipeline.intake.correct_file_claim import patch_faults, prepare_file_correction
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.hold_claims import IS_SHADOW
from clearlane.pipeline.intake.judge import judge_document
from clearlane.pipeline.intake.prepare_claims import PreparedClaim
from clearlane.pipeline.intake.read import ReadDocument, TooManyClaims, read_document
from clearlane.pipeline.intake.store import ClaimResult, store_correction
from clearlane.pipeline.load_claim import open_claim_content, open_header
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claims
from clearlane.store.claims.claims import StoredClaim
from clearlane.store.database.database import Actor, Job, JobExtension, Tx, unextended

WAYS = {"1": "new", "6": "corrected", "7": "replacement", "8": "void"}
FREQUENCIES = {"new": "1", "replacement": "7", "void": "8"}
"""The ways that a person can choose, with their frequency (CLM05-3)."""
IS_A_VOID = (
    "The claim is a void: it only asks the payer to cancel an earlier claim, so there is nothing in it to correct. "
    "Cancel it before it is sent; to bill the service again afterward, send a new claim."
)
# The payer has these and has not decided: what comes after them is a replacement.
ON_ITS_WAY = frozenset({ClaimState.SENT, ClaimState.ACKNOWLEDGED, ClaimState.PENDING})


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionResult:
    """How a correction goes out, or why it does not."""

    predecessor: str
    claim_number: str
    """The number of the claim that was stored; empty for a dry run and for one that is not accepted."""
    accepted: bool
    sent_as: str
    """``new``, ``replacement`` or ``void``."""
    reason: str
    findings: tuple[ClaimFinding, ...] = field(default=(), repr=False)
    payer_number: str = field(default="", repr=False)
    """The payer's number of the claim that it replaces or voids; empty for a new claim."""
    x12: bytes = field(default=b"", repr=False)
    """What would be sent, for a dry run."""


async def submit_correction(
    context: WorkContext,
    site: Site,
    claim_number: str,
    fields: Mapping[str, object],
    *,
    actor: Actor,
    now: datetime,
    way: str = "",
    unchanged: bool = False,
    content: X12Claim | None = None,
    prior_payer_claim: str = "",
    overruled: Collection[str] = (),
    dry_run: bool = False,
    extend: JobExtension[CorrectionResult] = unextended,
) -> CorrectionResult | None:
    """Correct a claim with these fields, by the paths that findings name; None if the site has no claim of this number.

    A value of None removes a field. ``way`` is how a person decided that it goes, one of ``FREQUENCIES``; without it
    that is decided here. ``unchanged`` sends the claim again as it is, without fields. ``content`` is a claim in
    X12 that takes the place of the whole one, which is in X12 too; ``prior_payer_claim`` is then the claim of the payer before, if another one
    has taken its place. ``overruled`` are the rules that a person sends it in spite of (``send_anyway``). ``extend`` adds to the transaction that stores the correction.
    Raises a :class:`CorrectionConflict` if the claim cannot be corrected now.
    """
    row = await _load(context, site, claim_number, actor)
    if row is None:
        return None
    changes = _ContentChange(fields, FREQUENCIES.get(way, ""), unchanged=unchanged, content=content)
    _require_correctable(context, site, row, changes)
    faults = _name_faults(context, site, row, changes)
    await context.vault.ensure_key(site.scope)
    if faults:
        others = await _shape_faults(context, site, row, _without(changes, faults), now)
        return _refused(claim_number, (*faults, *others))
    prepared = await _prepare(context, site, row, changes, now, overruled)
    if not isinstance(prepared, PreparedClaim):
        return _refused(claim_number, prepared)
    own = prepared.row
    before = prior_payer_claim or own.prior_payer_claim or row.prior_payer_claim
    prepared = prepared._replace(
        chosen_frequency=changes.frequency,
        row=msgspec.structs.replace(own, corrects=claim_number, prior_payer_claim=before),
    )
    preview = await preview_correction(
        context.database, context.vault, site, prepared, claim_number
    )
    outcome = _outcome(context, claim_number, preview, now)
    if dry_run or not outcome.accepted:
        return outcome

    return await store_correction(
        context,
        site,
        prepared,
        corrects=claim_number,
        seen_state=row.state,
        actor=actor,
        now=now,
        extend=_completed(outcome, extend),
    )


def _completed(
    outcome: CorrectionResult, extend: JobExtension[CorrectionResult]
) -> Callable[[Job[ClaimResult]], Job[CorrectionResult]]:
    """Return what makes of the job that stores a correction the one that returns its result."""

    def complete(job: Job[ClaimResult]) -> Job[CorrectionResult]:
        async def run(tx: Tx) -> CorrectionResult:
            return _stored(outcome, await job(tx))

        return extend(run)

    return complete


def _stored(outcome: CorrectionResult, result: ClaimResult) -> CorrectionResult:
    """Return the outcome of a correction with the number of its claim."""
    if not result.accepted:
        raise CorrectionConflict(" ".join(one.message for one in result.findings))
    return replace(outcome, claim_number=result.claim_number, reason=result.note, x12=b"")


@dataclass(frozen=True, slots=True)
class _ContentChange:
    """What differs from the claim that is corrected."""

    fields: Mapping[str, object] = field(repr=False)
    frequency: str
    """What a person decided on; empty if it is to be decided."""
    unchanged: bool
    content: X12Claim | None = None


async def _load(
    context: WorkContext, site: Site, claim_number: str, actor: Actor
) -> StoredClaim | None:
    async def find(tx: Tx) -> StoredClaim | None:
        found = await claims.find(tx, claim_number)
        if found is not None:
            await context.vault.load_keys_of(tx, [found.payload, found.header])
            tx.audit("claim.read", ids=[claim_number], detail="to correct it")
        return found

    return await context.database.write(site.scope, find, actor=actor)


def _require_correctable(
    context: WorkContext, site: Site, row: StoredClaim, changes: "_ContentChange"
) -> None:
    """Refuse to correct a shadow claim, which is never sent, and a void, unless it was not taken in: no payer decides on one."""
    if row.state in claims.SHADOWS:
        raise CorrectionConflict(IS_SHADOW)
    if changes.unchanged or row.state in {ClaimState.REJECTED, claims.NOT_ACCEPTED}:
        return
    header = open_header(context.vault, site.scope, row.claim_number, row.header)
    if header.frequency == VOID:
        raise CorrectionConflict(IS_A_VOID)


def _name_faults(
    context: WorkContext, site: Site, row: StoredClaim, changes: _ContentChange
) -> tuple[ClaimFinding, ...]:
    fields = changes.fields
    if row.form == X12:
        faults = [*patch_faults(_open_file_claim(context, site, row), fields)]
    else:
        content = _stored_content(context, site, row)
        faults = [*path_faults(FORMS[row.form], content, fields)]
    is_whole = changes.unchanged or changes.content is not None
    if not fields and not is_whole and changes.frequency != VOID:
        faults.append(shape_finding("fields", "Name at least one field that changes."))
    return tuple(faults)


def _without(changes: _ContentChange, faults: Sequence[ClaimFinding]) -> _ContentChange:
    """Return the changes whose paths have no faults."""
    wrong = {fault.location for fault in faults}
    usable = {path: value for path, value in changes.fields.items() if path not in wrong}
    return replace(changes, fields=usable)


async def _shape_faults(
    context: WorkContext, site: Site, row: StoredClaim, changes: _ContentChange, now: datetime
) -> tuple[ClaimFinding, ...]:
    """Return which values cannot be read. What rules find is left out: a path with a fault may be what they want."""
    if row.form == X12 or not changes.fields:
        return ()
    prepared = await _prepare(context, site, row, changes, now, ())
    return () if isinstance(prepared, PreparedClaim) else prepared


def _open_file_claim(context: WorkContext, site: Site, row: StoredClaim) -> X12Claim:
    opened = context.vault.open(site.scope, claims.TABLE, row.claim_number, row.payload)
    return decode_x12_claim(bytes(open_claim_content(opened).claim))


async def _prepare(
    context: WorkContext,
    site: Site,
    row: StoredClaim,
    changes: _ContentChange,
    now: datetime,
    overruled: Collection[str],
) -> PreparedClaim | tuple[ClaimFinding, ...]:
    """Read and judge the claim with its changed fields; return what is wrong with their shape if it cannot be read."""
    if row.form == X12:
        claim = _open_file_claim(context, site, row)
        return await prepare_file_correction(
            context,
            site,
            claim,
            changes.fields,
            content=changes.content,
            numbers=_changed_numbers(claim, row, changes),
            corrects=row.claim_number,
            now=now,
            overruled=overruled,
        )
    form = FORMS[row.form]
    document = {
        "DocumentType": form.document_type,
        "Claims": [_changed_content(context, site, row, changes)],
    }
    content = msgspec.json.encode(document)
    read = await read_document(context, content, form, site=site)
    if isinstance(read, TooManyClaims):
        raise CorrectionConflict(f"A document may have {read.claims_max} claims at most.")
    if not isinstance(read, ReadDocument):
        return read.findings
    found = await judge_document(
        context, read, site=site, now=now, shorten=lambda one: one, overruled=overruled
    )
    return found[0]


def _changed_content(
    context: WorkContext, site: Site, row: StoredClaim, changes: _ContentChange
) -> dict[str, object]:
    """Return the claim as V3 takes it, with the changed fields.

    How it goes out is decided again, so what the claim said of itself as a correction is left out. Except that a
    rejected void stays one, and that a claim says what it said if it is sent again unchanged or was never accepted:
    then its vendor stated it, and no decision was made yet.
    """
    content = _stored_content(context, site, row)
    if changes.unchanged:
        return content
    form = FORMS[row.form]
    if row.state == claims.NOT_ACCEPTED:
        content |= _frequency_fields(form, content, changes.frequency) if changes.frequency else {}
        return _without_empty(with_paths(form, content, changes.fields))
    before = form.view_table.reader("frequency")(content)
    content.pop(form.locate("original_reference"), None)
    goes_as = REPLACEMENT if row.state in ON_ITS_WAY else ""
    frequency = changes.frequency or (VOID if before == VOID else goes_as)
    content |= _frequency_fields(form, content, frequency)
    return _without_empty(with_paths(form, content, changes.fields))


def _stored_content(context: WorkContext, site: Site, row: StoredClaim) -> dict[str, Any]:
    """Return a stored claim as JSON with V3's names."""
    opened = context.vault.open(site.scope, claims.TABLE, row.claim_number, row.payload)
    content: dict[str, Any] = msgspec.json.decode(open_claim_content(opened).claim)
    return content


def _without_empty(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if value is not None}


def _frequency_fields(
    form: AnyForm, content: Mapping[str, object], frequency: str
) -> Mapping[str, object]:
    """Return the fields that state a frequency; an original claim leaves out its field, if it has one of its own."""
    table = form.view_table
    if "frequency" not in table.written:
        return {form.locate("frequency"): None if frequency == ORIGINAL else frequency or None}
    # The type of bill states it: one that is no correction, such as that of an interim bill, stays.
    is_correction = table.reader("frequency")(content) in {REPLACEMENT, VOID}
    stated = frequency or (ORIGINAL if is_correction else "")
    return table.written["frequency"](stated, content) if stated else {}


def _changed_numbers(
    claim: X12Claim, row: StoredClaim, changes: _ContentChange
) -> dict[str, str | None]:
    """Return what changes in a claim of a file as a correction, as ``_changed_content`` decides it for the others."""
    if changes.unchanged:
        return {}
    if row.state == claims.NOT_ACCEPTED:
        return {"frequency": changes.frequency} if changes.frequency else {}
    was_void = form_of(claim).frequency(claim) == VOID
    goes_as = REPLACEMENT if row.state in ON_ITS_WAY else ORIGINAL
    frequency = changes.frequency or (VOID if was_void else goes_as)
    return {"frequency": frequency, "original_reference": None}


def _refused(claim_number: str, findings: Sequence[ClaimFinding]) -> CorrectionResult:
    return CorrectionResult(
        predecessor=claim_number,
        claim_number="",
        accepted=False,
        sent_as="",
        reason="",
        findings=tuple(findings),
    )


def _outcome(
    context: WorkContext, claim_number: str, prepared: PreparedClaim, now: datetime
) -> CorrectionResult:
    claim, accepted = prepared.judgement.claim, prepared.judgement.accepted
    x12 = b""
    if accepted:
        x12 = write_claim_837(
            context,
            claim,
            number=prepared.row.claim_number,
            payer_id=prepared.row.payer_id,
            account_as_number=bool(prepared.row.reference),
            now=now,
        )
    return CorrectionResult(
        predecessor=claim_number,
        claim_number="",
        accepted=accepted,
        sent_as=WAYS.get(prepared.judgement.header.frequency, ""),
        reason=prepared.facts.correction,
        findings=prepared.judgement.findings,
        payer_number=prepared.judgement.header.original_reference,
        x12=x12,
    )
