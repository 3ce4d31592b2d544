"""Cancel a claim at its payer (a void, frequency 8), or send it again unchanged: for vendors and for people of the console.

    result = await resend_claim(context, row, history, VOID_CLAIM, reason="Billed twice", actor=actor, now=now)

Both go out as corrections do, so that ``submit_correction`` decides how, and one of two that meet wins. What is possible is
in ``resend_rules``. The reason is a sealed note of the new claim, since people write about patients in it; the audit trail
has the note's id. Knows no HTTP and no page.
"""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.intake.billed_change import keep_reason
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.resend_rules import why_not_again, why_not_void
from clearlane.pipeline.intake.submit_correction import CorrectionResult, submit_correction
from clearlane.pipeline.query.claim_list import ClaimRow
from clearlane.pipeline.query.history.claim_history import ClaimHistory
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, Job, JobExtension, Tx, unextended


class ResendVerb(NamedTuple):
    """What one of the verbs sends."""

    way: str
    """How it goes, one of ``submit_correction.FREQUENCIES``; empty if the claim goes as it is."""
    audited: str
    """How the audit trail names the way."""
    why_not: Callable[[PayerDirectory, ClaimRow, ClaimHistory], str]
    """Returns why it is not possible; empty if it is."""


VOID_CLAIM = ResendVerb("void", "void", why_not_void)
RESUBMIT_CLAIM = ResendVerb("", "unchanged", why_not_again)


async def resend_claim(
    context: WorkContext,
    claim: ClaimRow,
    history: ClaimHistory,
    verb: ResendVerb,
    *,
    actor: Actor,
    now: datetime,
    reason: str = "",
    dry_run: bool = False,
    extend: JobExtension[CorrectionResult] = unextended,
) -> CorrectionResult | None:
    """Cancel a claim at its payer, or send it again unchanged; None if the site has no such claim any more.

    ``extend`` adds to the transaction that stores it. Raises a :class:`CorrectionConflict` if it is not possible.
    """
    site = claim.site
    if refusal := verb.why_not(context.payer_access.payers(), claim, history):
        raise CorrectionConflict(refusal)

    def record(job: Job[CorrectionResult]) -> Job[CorrectionResult]:
        async def run(tx: Tx) -> CorrectionResult:
            result = await job(tx)
            number, detail = result.claim_number, verb.audited
            if reason:
                text = f"Why it was sent this way: {reason}"
                note = await keep_reason(tx, context, site, number, text, actor)
                detail += f"; the reason is note {note}"
            tx.audit("claim.way_chosen", ids=[number], detail=detail)
            return result

        return extend(run)

    return await submit_correction(
        context,
        site,
        claim.number,
        {},
        actor=actor,
        now=now,
        way=verb.way,
        unchanged=not verb.way,
        dry_run=dry_run,
        extend=record,
    )
