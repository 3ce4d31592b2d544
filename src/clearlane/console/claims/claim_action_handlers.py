"""Actions on one claim beside its correction: hold, release, cancel before sending, and its PDF."""

from starlette.responses import Response

from clearlane.console.claims.claim_page import open_claim
from clearlane.console.frame.act_question import UNDONE_BESIDE, ActQuestion, AskFirst
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import BILLERS, EVERYBODY, PageRows
from clearlane.console.frame.pdf_response import pdf_response
from clearlane.payments.pdf.frames import ClaimFileHeading
from clearlane.pipeline.intake.hold_claims import (
    CANCEL,
    HOLD,
    RELEASE,
    UnsentVerb,
    change_unsent_claim,
)
from clearlane.pipeline.query.claim_summary import refresh_summary
from clearlane.pipeline.query.payments import load_claim_payments, one_page

pages = PageRows(roles=BILLERS)


@pages.act("/claims/{number}/hold", UNDONE_BESIDE)
async def hold(request: PageRequest) -> Response:
    """Keep the claim back until it is released."""
    return await _run(request, HOLD, "held")


@pages.act(
    "/claims/{number}/release",
    AskFirst(
        back="/claims/{number}",
        question=ActQuestion(
            title="Release {subject}?",
            sentence="The claim goes to its payer with the next file. Claims that a payer has cannot be taken back, only "
            "corrected or canceled there.",
            button="Release it",
        ),
    ),
    menu="/claims",
)
async def release(request: PageRequest) -> Response:
    """Let a held claim be sent."""
    return await _run(request, RELEASE, "released")


@pages.act(
    "/claims/{number}/cancel",
    AskFirst(
        back="/claims/{number}",
        question=ActQuestion(
            title="Cancel {subject} before it is sent?",
            sentence="The claim is never sent, and this cannot be undone. To bill these services, send a new claim.",
            button="Cancel the claim",
            no="Keep the claim",
        ),
    ),
    menu="/claims",
)
async def cancel(request: PageRequest) -> Response:
    """Take the claim back before it is sent."""
    return await _run(request, CANCEL, "canceled")


async def _run(request: PageRequest, verb: UnsentVerb, done: str) -> Response:
    opened = await open_claim(request)
    context = request.context.work_context
    result = await change_unsent_claim(
        context,
        opened.site,
        opened.number,
        verb,
        actor=request.actor,
        now=request.context.clock.now(),
    )
    if result.refusal:
        return request.message(409, "Nothing was done", result.refusal)
    await refresh_summary(context, opened.site)
    return request.redirect(f"/claims/{opened.number}", done=done)


@pages.page("/claims/{number}/pdf", roles=EVERYBODY)
async def download_pdf(request: PageRequest) -> Response:
    """Return the claim's explanation of benefits as PDF."""
    opened = await open_claim(request, action="console.claim_pdf")
    claim_payments = await load_claim_payments(
        request.context.database, request.context.vault, opened.number, actor=request.actor
    )
    if not claim_payments:
        return request.message(409, "No PDF", "No payment has decided on this claim yet.")
    heading = ClaimFileHeading(payments=tuple(payment for payment, _ in claim_payments))
    return await pdf_response(request, heading, one_page(claim_payments), opened.number)
