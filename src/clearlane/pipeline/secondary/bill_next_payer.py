"""Bill the next payer: check a secondary claim as every claim is checked, and send it, or show what would be sent.

    result = await bill_next_payer(context, site, "C193...", answers, actor=actor, now=now, dry_run=True)

It is sent once: of two who send it, or answer its questions, at the same time, one gets a :class:`CorrectionConflict`.
If the payer before changes its decision afterward, a person corrects what was sent (``correct_next_claim``) or refunds it,
and says so (:func:`settle_correction`).
"""

from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.awaiting import NOTHING_AWAITED
from clearlane.claims.finding import ClaimFinding, shape_finding
from clearlane.claims.forms.x12_loops import check_claim
from clearlane.claims.write.next_payer import NextInsurance
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.intake.claim_x12 import write_claim_837
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.judge_file_claims import FileClaim, SeenClaims, judge_file_claims
from clearlane.pipeline.intake.prepare_claims import PreparedClaim
from clearlane.pipeline.intake.store_file_claims import store_file_claims
from clearlane.pipeline.secondary.make_drafts import save_draft, write_draft
from clearlane.pipeline.secondary.next_claim import SecondaryDraft, build_claim, load_next_claim
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, JobExtension, Tx, require_row, unextended
from clearlane.store.payments import secondary_drafts
from clearlane.store.payments.secondary_drafts import DraftState

SENT_ALREADY = "The next payer was billed already: claim {number}."
CHANGED = (
    "The payer's decision on the claim, or the draft of the next claim, changed in the meantime. "
    "Look at it, and try again."
)
ANSWERED = "Someone else answered questions of this draft first. Look at it, and try again."
NOT_TO_CORRECT = "Nothing is to be corrected: the payer before has not changed its decision."
FORWARDED = (
    "The payer forwarded the claim to {payer} by itself, so that payer has it; billing it again would be a duplicate. "
    "Wait for its answer, or say that it is to be billed in spite of that."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BillingResult:
    """How the next payer is billed, or why it is not."""

    next_claim: SecondaryDraft
    claim_number: str = ""
    """The number of the secondary claim; empty for a dry run and for one that is not accepted."""
    accepted: bool = False
    findings: tuple[ClaimFinding, ...] = field(default=(), repr=False)
    x12: bytes = field(default=b"", repr=False)
    """What would be sent, for a dry run."""
    sent_as: str = ""
    """How a correction goes out: ``new`` or ``replacement``; empty for a claim that is sent the first time."""


async def bill_next_payer(
    context: WorkContext,
    site: Site,
    claim_number: str,
    answers: NextInsurance,
    *,
    actor: Actor,
    now: datetime,
    dry_run: bool = False,
    keeps: bool = False,
    although_forwarded: bool = False,
    version: int | None = None,
    extend: JobExtension[BillingResult] = unextended,
) -> BillingResult | None:
    """Send the claim for the next payer; None if the site has no claim of this number.

    What a person answers is kept with the draft if something is still open, and by a dry run that ``keeps`` it. ``version`` is that of the draft which the
    person saw. ``extend`` adds to the transaction that stores the claim. Raises a :class:`CorrectionConflict` if the next payer has it already, or if something else was stored
    in the meantime.
    """
    found = await load_next_claim(
        context, site, claim_number, actor=actor, now=now, answers=answers
    )
    if found is None:
        return None
    _refuse_conflict(found, version, although_forwarded=dry_run or although_forwarded)
    if found.paid is not None and (keeps if dry_run else found.questions):
        if not await save_draft(context, site, found, actor=actor):
            raise CorrectionConflict(CHANGED)
        if dry_run:
            kept = await load_next_claim(context, site, claim_number, actor=actor, now=now)
            found = require_row(kept, "the claim of a draft")
    if found.questions:
        return BillingResult(next_claim=found, findings=question_findings(found))
    prepared = await _prepare(context, site, found, now)
    judgement = prepared.judgement
    if not judgement.accepted:
        await _refuse_if_sent(context, site, claim_number)
    result = BillingResult(
        next_claim=found, accepted=judgement.accepted, findings=judgement.findings
    )
    if dry_run and judgement.accepted:
        return replace(result, x12=_write(context, prepared, now))
    if dry_run or not judgement.accepted:
        return result
    return await _send(context, site, result, prepared, actor=actor, now=now, extend=extend)


def question_findings(found: SecondaryDraft) -> tuple[ClaimFinding, ...]:
    """Return what must be known before the next payer can be billed, by field."""
    return tuple(shape_finding(one.field, one.sentence) for one in found.questions)


def _refuse_conflict(
    found: SecondaryDraft, version: int | None, *, although_forwarded: bool
) -> None:
    """Raise a :class:`CorrectionConflict` if the next payer has the claim, or someone else answered first."""
    if found.secondary_claim:
        raise CorrectionConflict(SENT_ALREADY.format(number=found.secondary_claim))
    if version is not None and version != found.version:
        raise CorrectionConflict(ANSWERED)
    if found.state is DraftState.FORWARDED and not although_forwarded:
        raise CorrectionConflict(FORWARDED.format(payer=found.forwarded_to))


async def _refuse_if_sent(context: WorkContext, site: Site, claim_number: str) -> None:
    """Raise a :class:`CorrectionConflict` if someone else has sent the claim since it was loaded.

    Our checks see that one by then, and would call this one its duplicate.
    """
    async with context.database.read(site.scope) as tx:
        conflict = await _sent_already(tx, claim_number)
    if conflict is not None:
        raise conflict


async def _prepare(
    context: WorkContext, site: Site, found: SecondaryDraft, now: datetime
) -> PreparedClaim:
    """Return the secondary claim, judged, with its link to the claim before."""
    claim = build_claim(found)
    (prepared,) = await judge_file_claims(
        context, site, [FileClaim(claim, check_claim(claim))], now=now, seen=SeenClaims()
    )
    row = msgspec.structs.replace(prepared.row, prior_payer_claim=found.claim_number)
    return prepared._replace(row=row)


def _write(context: WorkContext, prepared: PreparedClaim, now: datetime) -> bytes:
    return write_claim_837(
        context,
        prepared.judgement.claim,
        number=prepared.row.claim_number,
        payer_id=prepared.row.payer_id,
        account_as_number=bool(prepared.row.reference),
        now=now,
    )


async def _send(
    context: WorkContext,
    site: Site,
    result: BillingResult,
    prepared: PreparedClaim,
    *,
    actor: Actor,
    now: datetime,
    extend: JobExtension[BillingResult],
) -> BillingResult:
    """Store the secondary claim and mark its draft as sent, in one transaction."""
    found, secondary = result.next_claim, prepared.row.claim_number
    await context.vault.ensure_key(site.scope)
    at = to_micros(now)

    async def job(tx: Tx) -> BillingResult:
        if await write_draft(tx, context, site, found, at) is None:
            raise await _conflict(tx, found.claim_number)
        await store_file_claims(tx, context, site, [prepared.row])
        if not await secondary_drafts.mark_sent(tx, found.claim_number, secondary, at):
            raise await _conflict(tx, found.claim_number)
        await secondary_drafts.set_awaited(tx, found.claim_number, NOTHING_AWAITED)
        return replace(result, claim_number=secondary)

    return await context.database.write(site.scope, extend(job), actor=actor)


async def load_next_correction(
    context: WorkContext, site: Site, claim_number: str, *, actor: Actor, now: datetime
) -> SecondaryDraft | None:
    """Return what is known of the claim after a claim of the site, with a draft that has taken over what was sent after the
    claim before; None if there is no such claim.
    """
    found = await load_next_claim(context, site, claim_number, actor=actor, now=now)
    if found is None or found.replaced is None or found.paid is None:
        return found
    await save_draft(context, site, found, actor=actor)
    return await load_next_claim(context, site, claim_number, actor=actor, now=now)


async def settle_correction(
    context: WorkContext,
    site: Site,
    claim_number: str,
    *,
    actor: Actor,
    now: datetime,
    extend: JobExtension[SecondaryDraft] = unextended,
) -> SecondaryDraft | None:
    """Record that what was sent was corrected, or refunded, after the payer before changed its decision.

    None if the site has no claim of this number. Raises a :class:`CorrectionConflict` if nothing is to be corrected.
    """
    found = await load_next_correction(context, site, claim_number, actor=actor, now=now)
    if found is None:
        return None
    if found.row is None or found.state is not DraftState.TO_CORRECT:
        raise CorrectionConflict(NOT_TO_CORRECT)
    seen = found.row
    settled = seen._replace(
        state=DraftState.SENT.value,
        claim_payment_id=found.paid.claim_payment_id if found.paid else "",
        changed_at=to_micros(now),
    )

    async def job(tx: Tx) -> SecondaryDraft:
        if not await secondary_drafts.save_draft(tx, settled, seen):
            raise CorrectionConflict(CHANGED)
        await secondary_drafts.set_awaited(tx, claim_number, NOTHING_AWAITED)
        tx.audit("claim.secondary_settled", ids=[claim_number])
        return replace(found, row=settled, state=DraftState.SENT)

    return await context.database.write(site.scope, extend(job), actor=actor)


async def _conflict(tx: Tx, claim_number: str) -> CorrectionConflict:
    """Return why a draft cannot be sent as it was seen."""
    return await _sent_already(tx, claim_number) or CorrectionConflict(CHANGED)


async def _sent_already(tx: Tx, claim_number: str) -> CorrectionConflict | None:
    """Return which claim was sent to the next payer, as a conflict; None if none was."""
    now = await secondary_drafts.find_draft(tx, claim_number)
    if now is None or not now.secondary_claim:
        return None
    return CorrectionConflict(SENT_ALREADY.format(number=now.secondary_claim))
