"""A claim on paper: what the pre-printed form does not show of it, and the two files to print."""

from starlette.responses import Response

from clearlane.claims.printing.sheet_type import SheetType
from clearlane.console.claims.claim_page import OpenedClaim, open_claim
from clearlane.console.claims.claims_page import payer_name
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.console.frame.rendering import download
from clearlane.pipeline.filing.claim_form_file import (
    FORM_MEDIA_TYPE,
    ClaimOnForm,
    fill_claim_form,
    make_form_file,
)
from clearlane.pipeline.query.pdf_process import PdfRefused

pages = PageRows(roles=EVERYBODY, menu="/claims")


@pages.page("/claims/{number}/print")
async def show_print(request: PageRequest) -> Response:
    """Show how to print a claim, and what does not fit its form."""
    opened = await open_claim(request, action="console.claim_form")
    printed = _on_form(request, opened)
    return request.render(
        "print.html",
        title=f"Print {opened.number}",
        claim_url=f"/claims/{opened.number}",
        row=opened.row,
        payer=payer_name(request, opened.row.payer_id, opened.row.kind),
        form=printed.filled.form.name,
        count=len(printed.filled.pages),
        left_out=printed.filled.left_out_sentences,
    )


@pages.page("/claims/{number}/form/{sheet}")
async def download_form(request: PageRequest) -> Response:
    """Return a claim on paper as PDF."""
    sheet = request.parts["sheet"]
    if sheet not in set(SheetType):
        raise NoSuchPage("A claim is printed on the pre-printed form or as a plain sheet.")
    printed = _on_form(request, await open_claim(request, action="console.claim_form"))
    try:
        content = await make_form_file(
            printed, SheetType(sheet), at=request.context.work_context.clock.now()
        )
    except PdfRefused as refused:
        return request.message(409, "No PDF", str(refused))
    return download(content, printed.file_name(SheetType(sheet)), FORM_MEDIA_TYPE)


def _on_form(request: PageRequest, opened: OpenedClaim) -> ClaimOnForm:
    return fill_claim_form(opened.history.loaded, request.context.work_context.clock.now())
