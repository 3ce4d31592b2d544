"""How a correction goes to the payer, in words, and the reasons that a person gives for what they decided.

Knows ways by their names in ``pipeline.intake.submit_correction``; decides none.
"""

from clearlane.accounts.model import Site
from clearlane.claims import resubmission
from clearlane.console.claims.claim_page import OpenedClaim
from clearlane.console.frame.page_request import PageRequest
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.limits import REASON_CHARACTERS_MAX
from clearlane.pipeline.intake.billed_change import BilledChange
from clearlane.pipeline.intake.submit_correction import CorrectionResult
from clearlane.pipeline.operator import claim_work, draft_corrections

WAY_TITLES = {
    "new": "As a new claim",
    "replacement": "As a replacement (frequency 7)",
    "void": "As a cancellation (frequency 8)",
}
"""The ways that a person can choose."""
NOT_SENT = "New claim: the first one was not sent yet and is canceled."
NOT_ACCEPTED = "New claim: the first one was not accepted and was never sent."
NOT_TAKEN_IN = "New claim: the payer never took the first one in."
NOT_PROCESSED = "New claim: the payer could not process the first one."
NO_REPLACEMENTS = (
    "This payer takes no replacements: new claim; if part was paid, ask the payer for a reopening."
)
NUMBERED = {
    "replacement": "Replacement of payer claim {number} (frequency 7).",
    "void": "Cancellation of payer claim {number} (frequency 8).",
    "corrected": "Corrected claim (frequency 6).",
}


def explain_way(opened: OpenedClaim, result: CorrectionResult) -> str:
    """Return how a correction goes, in one sentence."""
    if result.sent_as in NUMBERED:
        return NUMBERED[result.sent_as].format(number=result.payer_number)
    if opened.row.label in {ClaimLabel.RECEIVED, ClaimLabel.HELD}:
        return NOT_SENT
    if opened.row.label is ClaimLabel.NOT_ACCEPTED:
        return f"New claim. {result.reason}" if result.reason else NOT_ACCEPTED
    if resubmission.NOT_PROCESSED in result.reason:
        return NOT_PROCESSED
    if resubmission.TAKES_NO_REPLACEMENTS in result.reason:
        return NO_REPLACEMENTS
    status = opened.history.status
    is_known = bool(status and status.payer_control_number)
    return f"New claim. {result.reason}".strip() if is_known else NOT_TAKEN_IN


def read_billed(request: PageRequest, names: list[str]) -> BilledChange:
    """Return why what was billed changes, and on whose authority, as the form has it."""
    return BilledChange(
        names=names,
        reason=request.form.get("reason").strip()[:REASON_CHARACTERS_MAX],
        authority=request.form.get("authority").strip()[:REASON_CHARACTERS_MAX],
    )


async def record_way(
    request: PageRequest, site: Site, claim_number: str, way: str, reason: str
) -> None:
    """Audit how a person decided that a claim goes out; the reason is a sealed note of the claim."""
    context = request.context.work_context
    await draft_corrections.record_chosen_way(context, site, claim_number, way, actor=request.actor)
    if reason:
        await claim_work.add_note(
            context, site, claim_number, f"Why it was sent this way: {reason}", actor=request.actor
        )
