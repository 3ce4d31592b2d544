"""A PDF file as the answer to a request."""

import tempfile
from collections.abc import AsyncIterator

from starlette.responses import Response

from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.rendering import download
from clearlane.payments.payment import ClaimPayment
from clearlane.pdf.frames import FileHeading
from clearlane.pipeline.query.pdf_process import PdfRefused, make_pdf


async def pdf_response(
    request: PageRequest, heading: FileHeading, pages: AsyncIterator[list[ClaimPayment]], name: str
) -> Response:
    """Return claim payments as a PDF file of this name, or a page that says why there is none."""
    with tempfile.TemporaryFile() as file:
        try:
            await make_pdf(heading, pages, file, at=request.context.clock.now())
        except PdfRefused as why:
            return request.message(409, "No PDF", str(why))
        file.seek(0)
        return download(file.read(), f"{name}.pdf", "application/pdf")
