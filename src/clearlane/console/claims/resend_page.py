"""Send a claim again unchanged, or in spite of a rule, or cancel it at the payer: what goes out is shown.

All are submitted as corrections are, so that one function decides how they go. Knows no field of a claim.
"""

from dataclasses import dataclass
from functools import partial

from starlette.responses import Response

from clearlane.console.claims.claim_actions import why_not_anyway, why_not_resend
from clearlane.console.claims.claim_page import OpenedClaim, open_claim
from clearlane.console.claims.claims_page import payer_name
from clearlane.console.claims.correction_ways import explain_way
from clearlane.console.frame.act_question import REVIEWED
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import BILLERS, PageRows
from clearlane.console.frame.page_text import takes_away
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import REASON_CHARACTERS_MAX
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.resend_claim import (
    RESUBMIT_CLAIM,
    VOID_CLAIM,
    ResendVerb,
    resend_claim,
)
from clearlane.pipeline.intake.send_anyway import send_anyway, stopping_rules
from clearlane.pipeline.intake.submit_correction import CorrectionResult
from clearlane.pipeline.query.claim_summary import refresh_summary

pages = PageRows(roles=BILLERS, menu="/claims")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResendKind:
    """What is sent: the claim as it is, in spite of a rule, or its cancellation."""

    path: str
    """The last part of its address."""
    verb: ResendVerb | None
    """What is sent; None for the claim in spite of a rule."""
    title: str
    warning: str
    button: str
    done: str
    needs_reason: bool

    @property
    def takes_away(self) -> bool:
        """Whether its button is red."""
        return takes_away(self.title)


AGAIN = ResendKind(
    path="again",
    verb=RESUBMIT_CLAIM,
    title="Send again unchanged",
    warning="The payer rejected it as it is, or never answered. Send it again only if something has changed at "
    "the payer, such as an enrollment; otherwise correct it.",
    button="Send to",
    done="sent-again",
    needs_reason=False,
)
AFTER_NOT_ACCEPTED = (
    "Clearlane did not accept it as it is. Send it again only if what was wrong has changed here, such as an enrollment "
    "or a payer's route; otherwise correct it."
)
VOID = ResendKind(
    path="void",
    verb=VOID_CLAIM,
    title="Cancel at the payer",
    warning="The payer takes back what it paid and closes the claim. A cancellation cannot be undone: the services "
    "can then be billed with a new claim.",
    button="Send the cancellation to",
    done="void-sent",
    needs_reason=True,
)


ANYWAY = ResendKind(
    path="anyway",
    verb=None,
    title="Send anyway",
    warning="A rule of Clearlane stopped this claim; the X12 guide would let it pass. Send it if you know that this payer "
    "takes it. Your name and reason are kept with the claim, and what becomes of it is counted for the rule.",
    button="Send anyway to",
    done="sent-anyway",
    needs_reason=True,
)


MISSING_REASONS = {
    VOID.path: "Say why it is canceled.",
    ANYWAY.path: "Say why it is sent although a rule stops it.",
}


def _why_not(request: PageRequest, kind: ResendKind, opened: OpenedClaim) -> str:
    if kind.verb is None:
        return why_not_anyway(opened.row, opened.history)
    return why_not_resend(request, kind.verb, opened.row, opened.history)


async def show(request: PageRequest, kind: ResendKind) -> Response:
    """Show what would be sent again, or canceled."""
    opened = await open_claim(request, action="console.correct")
    if refusal := _why_not(request, kind, opened):
        return request.message(409, f"{kind.title}: not possible", refusal)
    return await _render(request, kind, opened)


async def send(request: PageRequest, kind: ResendKind) -> Response:
    """Send the claim again as it is, or its cancellation."""
    opened = await open_claim(request, action="console.correct")
    if refusal := _why_not(request, kind, opened):
        return request.message(409, f"{kind.title}: not possible", refusal)
    reason = request.form.get("reason").strip()[:REASON_CHARACTERS_MAX]
    if kind.needs_reason and not reason:
        return await _render(request, kind, opened, fault=MISSING_REASONS[kind.path])
    if request.form.get("do") != "send":
        return await _render(request, kind, opened, reason=reason)
    try:
        result = await _submit(request, kind, opened, dry_run=False, reason=reason)
    except CorrectionConflict as conflict:
        return await _render(request, kind, opened, fault=str(conflict), reason=reason)
    if result is None or not result.claim_number:
        return await _render(request, kind, opened, fault="Nothing was sent.", reason=reason)
    await refresh_summary(request.context.work_context, opened.site)
    return request.redirect(
        f"/claims/{result.claim_number}", done=kind.done, was=opened.row.label.value
    )


async def _submit(
    request: PageRequest, kind: ResendKind, opened: OpenedClaim, *, dry_run: bool, reason: str = ""
) -> CorrectionResult | None:
    if kind.verb is None:
        return await send_anyway(
            request.context.work_context,
            opened.site,
            opened.number,
            reason=reason,
            actor=request.actor,
            now=request.context.clock.now(),
            dry_run=dry_run,
        )
    return await resend_claim(
        request.context.work_context,
        opened.row,
        opened.history,
        kind.verb,
        actor=request.actor,
        now=request.context.clock.now(),
        reason=reason,
        dry_run=dry_run,
    )


async def _render(
    request: PageRequest,
    kind: ResendKind,
    opened: OpenedClaim,
    *,
    fault: str = "",
    reason: str = "",
) -> Response:
    try:
        result = await _submit(request, kind, opened, dry_run=True)
    except CorrectionConflict as conflict:
        return request.message(409, f"{kind.title}: not possible", str(conflict))
    errors = [
        one.message for one in (result.findings if result else ()) if one.severity is Severity.ERROR
    ]
    return request.render(
        "resend.html",
        f"{kind.title}: {opened.row.patient or opened.number}",
        kind=kind,
        warning=AFTER_NOT_ACCEPTED
        if kind is AGAIN and opened.row.label is ClaimLabel.NOT_ACCEPTED
        else kind.warning,
        warnings=_warnings(opened, result) if kind is ANYWAY else (),
        row=opened.row,
        tag=opened.tag,
        payer=payer_name(request, opened.row.payer_id, opened.row.kind),
        way=explain_way(opened, result) if result else "",
        x12=result.x12.decode("latin-1").replace("~", "~\n") if result else "",
        errors=errors,
        fault=fault,
        reason=reason,
        claim_url=f"/claims/{opened.number}",
    )


def _warnings(opened: OpenedClaim, result: CorrectionResult | None) -> list[str]:
    """Return the findings that the claim is sent in spite of."""
    stopped = stopping_rules(opened.history.loaded.findings)
    return [
        f"{one.rule}: {one.message}"
        for one in (result.findings if result else ())
        if one.rule in stopped
    ]


for _kind in (AGAIN, VOID, ANYWAY):
    _path = f"/claims/{{number}}/{_kind.path}"
    pages.page(_path)(partial(show, kind=_kind))
    pages.act(_path, REVIEWED, kept={"do": "look"})(partial(send, kind=_kind))
