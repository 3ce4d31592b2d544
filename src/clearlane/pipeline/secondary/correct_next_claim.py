"""Correct the claim that was sent to the next payer, after the payer before changed its decision.

    result = await correct_next_claim(context, site, "C193...", actor=actor, now=now, dry_run=True)

The claim is made again with the decision in force and goes out as every correction does: in place of one that no batch
has taken, as a replacement of one that the next payer has, and as a new one otherwise. The draft is settled by it, in the
same transaction.
"""

from datetime import datetime

from clearlane.accounts.model import Site
from clearlane.claims.awaiting import NOTHING_AWAITED
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.submit_correction import CorrectionResult, submit_correction
from clearlane.pipeline.secondary.bill_next_payer import (
    CHANGED,
    NOT_TO_CORRECT,
    BillingResult,
    load_next_correction,
    question_findings,
)
from clearlane.pipeline.secondary.next_claim import SecondaryDraft, build_claim
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, Job, JobExtension, Tx, unextended
from clearlane.store.payments import secondary_drafts
from clearlane.store.payments.secondary_drafts import DraftRow, DraftState


async def correct_next_claim(
    context: WorkContext,
    site: Site,
    claim_number: str,
    *,
    actor: Actor,
    now: datetime,
    dry_run: bool = False,
    version: int | None = None,
    extend: JobExtension[BillingResult] = unextended,
) -> BillingResult | None:
    """Send the claim for the next payer again with the decision in force; None if the site has no claim of this number.

    ``claim_number`` is that of the claim before, and ``version`` that of the draft which a person saw, as for
    ``bill_next_payer``. ``extend`` adds to the transaction that stores
    the correction. Raises a :class:`CorrectionConflict` if nothing is to be corrected, or not now.
    """
    found = await load_next_correction(context, site, claim_number, actor=actor, now=now)
    if found is None:
        return None
    seen = found.row
    if seen is None or found.state is not DraftState.TO_CORRECT:
        raise CorrectionConflict(NOT_TO_CORRECT)
    if version is not None and version != found.version:
        raise CorrectionConflict(CHANGED)
    if found.questions:
        return BillingResult(next_claim=found, findings=question_findings(found))
    outcome = await submit_correction(
        context,
        site,
        found.secondary_claim,
        {},
        actor=actor,
        now=now,
        content=build_claim(found),
        prior_payer_claim=claim_number,
        dry_run=dry_run,
        extend=_settling(found, seen, to_micros(now), extend),
    )
    return None if outcome is None else _result(found, outcome)


def _settling(
    found: SecondaryDraft, seen: DraftRow, at: int, extend: JobExtension[BillingResult]
) -> JobExtension[CorrectionResult]:
    """Return what settles the draft in the transaction that stores the correction."""

    def complete(job: Job[CorrectionResult]) -> Job[CorrectionResult]:
        async def run(tx: Tx) -> CorrectionResult:
            outcome = await job(tx)

            async def settle(tx: Tx) -> BillingResult:
                settled = seen._replace(
                    state=DraftState.SENT.value,
                    claim_payment_id=found.paid.claim_payment_id if found.paid else "",
                    patient_cents=found.paid.patient if found.paid else 0,
                    changed_at=at,
                )
                if not await secondary_drafts.save_draft(tx, settled, seen):
                    raise CorrectionConflict(CHANGED)
                await secondary_drafts.set_awaited(tx, found.claim_number, NOTHING_AWAITED)
                tx.audit(
                    "claim.secondary_settled",
                    ids=[found.claim_number],
                    detail=f"corrected by {outcome.claim_number}",
                )
                return _result(found, outcome)

            await extend(settle)(tx)
            return outcome

        return run

    return complete


def _result(found: SecondaryDraft, outcome: CorrectionResult) -> BillingResult:
    return BillingResult(
        next_claim=found,
        claim_number=outcome.claim_number,
        accepted=outcome.accepted,
        findings=outcome.findings,
        x12=outcome.x12,
        sent_as=outcome.sent_as,
    )
