"""Files of one payment: the 835 as received, a table for spreadsheets, and a PDF like a remittance advice. Audited."""

from collections.abc import AsyncIterator

from starlette.responses import Response

from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.console.frame.pdf_response import pdf_response
from clearlane.console.frame.rendering import download
from clearlane.console.payments.payment_page import sheet_viewer
from clearlane.kernel.clock import to_micros
from clearlane.payments.payment import ClaimPayment
from clearlane.payments.payment_csv import payment_csv_by_page
from clearlane.pdf.frames import PaymentFileHeading
from clearlane.pipeline.query import payments
from clearlane.pipeline.query.payment_pages import GroupPage, PaymentSheet, load_payment_sheet
from clearlane.store.database.database import write_audit
from clearlane.store.payments.payments import SCOPE

pages = PageRows(roles=EVERYBODY)

CLAIMS_PER_FILE_MAX = 20_000
"""A larger payment is exported by the operator's command, which writes while it reads."""

Pages = AsyncIterator[list[ClaimPayment]]


@pages.page("/payments/{id}/835")
async def download_x12(request: PageRequest) -> Response:
    """Return the 835 as received, if every claim in it is the user's to see."""
    sheet = await _load(request)
    if not sheet.is_whole:
        sentence = "This 835 also pays claims of others. CSV and PDF have your part."
        return request.message(409, "Not possible", sentence)
    id = sheet.payment.payment_id
    content = await payments.read_x12(
        request.context.database, request.context.vault, id, actor=request.actor
    )
    if content is None:
        raise NoSuchPage("There is no such payment among yours.")
    return download(content, f"{id}.835", "application/edi-x12")


@pages.page("/payments/{id}/csv")
async def download_csv(request: PageRequest) -> Response:
    """Return a row for each service line and provider adjustment."""
    sheet = await _load(request)
    if refused := _too_large(request, sheet):
        return refused
    await _record(request, sheet, "csv")
    pieces = payment_csv_by_page(sheet.payment, sheet.adjustments, _pages(request, sheet))
    # The mark at the start tells spreadsheets that it is UTF-8.
    content = b"\xef\xbb\xbf" + "".join([piece async for piece in pieces]).encode()
    return download(content, f"{sheet.payment.payment_id}.csv", "text/csv; charset=utf-8")


@pages.page("/payments/{id}/pdf")
async def download_pdf(request: PageRequest) -> Response:
    """Return the payment as a PDF file."""
    sheet = await _load(request)
    if refused := _too_large(request, sheet):
        return refused
    await _record(request, sheet, "pdf")
    heading = PaymentFileHeading(payment=sheet.payment, adjustments=sheet.adjustments)
    return await pdf_response(request, heading, _pages(request, sheet), sheet.payment.payment_id)


async def _load(request: PageRequest) -> PaymentSheet:
    sheet = await load_payment_sheet(
        request.context.database,
        request.context.vault,
        sheet_viewer(request),
        request.parts["id"],
        GroupPage(),
        actor=request.actor,
        at=to_micros(request.context.clock.now()),
    )
    if sheet is None:
        raise NoSuchPage("There is no such payment among yours.")
    return sheet


def _too_large(request: PageRequest, sheet: PaymentSheet) -> Response | None:
    if sheet.shown_claims <= CLAIMS_PER_FILE_MAX:
        return None
    sentence = (
        f"The payment has more than {CLAIMS_PER_FILE_MAX:,} claims. "
        f"Ask the operator for: clearlane payment export {sheet.payment.payment_id} --csv"
    )
    return request.message(409, "Too large for a page", sentence)


async def _record(request: PageRequest, sheet: PaymentSheet, kind: str) -> None:
    await write_audit(
        request.context.database,
        SCOPE,
        "payment.exported",
        ids=[sheet.payment.payment_id],
        detail=kind,
        actor=request.actor,
    )


async def _pages(request: PageRequest, sheet: PaymentSheet) -> Pages:
    database, vault = request.context.database, request.context.vault
    shown = sheet.payment.duplicate_of or sheet.payment.payment_id
    scopes = sheet_viewer(request).scopes
    if scopes is None:
        async for page in payments.claim_payment_pages(database, vault, shown):
            yield page
        return
    for scope in scopes:
        async for page in payments.own_claim_payment_pages(database, vault, scope, shown):
            yield page
