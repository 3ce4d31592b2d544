"""An act that a claim asks for and that is done outside the console: how, with what to enclose, and that it is done.

Appeals, records, bills for patients and claims for other payers do not go through the console. The page says what to
do and has the documents for it; being done takes the claim off the worklist, with a note.
"""

from starlette.responses import Response

from clearlane.console.claims.advice_buttons import ACT_TITLES, OUTSIDE
from clearlane.console.claims.claim_advice import ClaimAdvice, claim_advice
from clearlane.console.claims.claim_page import OpenedClaim, open_claim
from clearlane.console.claims.claims_page import payer_name
from clearlane.console.frame.act_question import REVIEWED
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import BILLERS, PageRows
from clearlane.kernel.limits import REASON_CHARACTERS_MAX
from clearlane.pipeline.operator import claim_work
from clearlane.pipeline.query.claim_summary import refresh_summary

pages = PageRows(roles=BILLERS, menu="/claims")

NOTHING_OUTSIDE = "Nothing needs to be done outside the console for this claim now."


@pages.page("/claims/{number}/outside")
async def show_outside(request: PageRequest) -> Response:
    """Show how the act is done, and what to enclose."""
    opened = await open_claim(request)
    return _render(request, opened, claim_advice(opened.row, opened.history))


@pages.act("/claims/{number}/outside", REVIEWED, kept={"do": "look"})
async def finish_outside(request: PageRequest) -> Response:
    """Record that the act was done: a note on the claim, which leaves the worklist until the payer answers again."""
    opened = await open_claim(request)
    advice = claim_advice(opened.row, opened.history)
    text = request.form.get("text").strip()[:REASON_CHARACTERS_MAX]
    if advice.act not in OUTSIDE or request.form.get("do") == "look" or not text:
        fault = "" if text or request.form.get("do") == "look" else "Say what was done."
        return _render(request, opened, advice, text=text, fault=fault)
    context, note = request.context.work_context, f"{ACT_TITLES[advice.act]}: {text}"
    await claim_work.add_note(context, opened.site, opened.number, note, actor=request.actor)
    await claim_work.finish_claims(context, opened.site, [opened.number], note, actor=request.actor)
    await refresh_summary(context, opened.site)
    return request.redirect(f"/claims/{opened.number}", done="outside", show="notes")


def _render(
    request: PageRequest,
    opened: OpenedClaim,
    advice: ClaimAdvice,
    *,
    text: str = "",
    fault: str = "",
) -> Response:
    if advice.act not in OUTSIDE:
        return request.message(409, "Nothing to do here", NOTHING_OUTSIDE)
    row, history = opened.row, opened.history
    return request.render(
        "outside.html",
        f"{ACT_TITLES[advice.act]}: {row.patient or opened.number}",
        act=ACT_TITLES[advice.act],
        advice=advice,
        steps=OUTSIDE[advice.act],
        row=row,
        tag=opened.tag,
        payer=payer_name(request, row.payer_id, row.kind),
        payer_number=history.status.payer_control_number if history.status else "",
        has_payment=bool(history.payments),
        text=text,
        fault=fault,
        claim_url=f"/claims/{opened.number}",
    )
