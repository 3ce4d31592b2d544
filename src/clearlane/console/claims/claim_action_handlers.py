"""Actions on one claim beside its correction: hold, release, cancel before sending, ask the payer, its PDF and its proof."""

import asyncio
from datetime import timedelta

from starlette.responses import Response

from clearlane.console.claims.claim_page import open_claim
from clearlane.console.frame.act_question import SENDS_NOTHING, UNDONE_BESIDE, ActQuestion, AskFirst
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import BILLERS, EVERYBODY, PageRows
from clearlane.console.frame.pdf_response import pdf_response
from clearlane.console.frame.rendering import download
from clearlane.pdf.frames import ClaimFileHeading
from clearlane.pipeline.filing.claim_proof import NOT_SENT, ProofRefused, load_claim_proof
from clearlane.pipeline.filing.proof_file import MEDIA_TYPES, ProofFormat, make_proof_file
from clearlane.pipeline.inquiry.ask_payer import NotAsked, ask_and_wait
from clearlane.pipeline.intake.hold_claims import (
    CANCEL,
    HOLD,
    RELEASE,
    UnsentVerb,
    change_unsent_claim,
)
from clearlane.pipeline.query.claim_summary import refresh_summary
from clearlane.pipeline.query.payments import load_claim_payments, one_page
from clearlane.pipeline.query.pdf_process import PdfRefused

pages = PageRows(roles=BILLERS)
ASK_WAIT = timedelta(seconds=20)
"""How long a person waits for a payer in real time; the answer is in the history whenever it comes."""
NOT_HERE = "This node does not ask payers. Use the address of a node that serves calls."


@pages.act("/claims/{number}/hold", UNDONE_BESIDE)
async def hold(request: PageRequest) -> Response:
    """Keep the claim back until it is released."""
    return await _run(request, HOLD, "held")


@pages.act("/claims/{number}/ask", SENDS_NOTHING)
async def ask(request: PageRequest) -> Response:
    """Ask the payer about the claim, and show its answer in the history."""
    opened = await open_claim(request)
    context, now = request.context.work_context, request.context.clock.now()
    if context.payer_access.inquiry_runner is None:
        return request.message(503, "Not asked", NOT_HERE)
    asked = await ask_and_wait(
        context,
        opened.number,
        site=opened.site,
        actor=request.actor,
        now=now,
        stopping=asyncio.Event(),
        wait=ASK_WAIT,
    )
    if isinstance(asked, NotAsked):
        return request.message(409, "The payer was not asked", asked.sentence)
    await refresh_summary(context, opened.site)
    done = "asked" if asked.is_open else "answered"
    return request.redirect(f"/claims/{opened.number}", done=done)


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


@pages.page("/claims/{number}/proof", roles=EVERYBODY)
async def download_proof(request: PageRequest) -> Response:
    """Return the proof that the claim was filed as PDF, with the evidence attached."""
    opened = await open_claim(request, action="console.claim_proof")
    context = request.context.work_context
    try:
        proof = await load_claim_proof(
            context, opened.site.scope, opened.number, actor=request.actor
        )
        if proof is None:
            raise ProofRefused(NOT_SENT)
        content = await make_proof_file(context, proof, ProofFormat.PDF)
    except (ProofRefused, PdfRefused) as refused:
        return request.message(409, "No proof yet", str(refused))
    return download(content, f"{opened.number}-proof.pdf", MEDIA_TYPES[ProofFormat.PDF])
