"""A claim placed for its pre-printed form: each text at its place and nothing else, ten characters and six lines an inch.

Print it at 100 percent. The font is Courier, one of those that every reader of PDF files has: at 12 points a character
is a tenth of an inch wide. Texts in, pages out. Knows no claim and no form.
"""

from typing import BinaryIO

from reportlab.lib.pagesizes import letter
from reportlab.pdfgen.canvas import Canvas

from clearlane.pdf import file_limits
from clearlane.pdf.frames import FormFileHeading
from clearlane.pdf.pages import TooManyPages

FONT, FONT_SIZE = "Courier", 12


def write_form_pdf(heading: FormFileHeading, out: BinaryIO) -> int:
    """Write a claim for its pre-printed form, and return the number of pages."""
    if len(heading.pages) > file_limits.PAGES_MAX:
        raise TooManyPages
    canvas = Canvas(
        out,
        pagesize=letter,
        pageCompression=1,
        lang="en-US",
        initialFontName=FONT,  # type: ignore[arg-type]  # the types of the library have a number
    )
    canvas.setTitle(f"Claim for {heading.form}")
    canvas.setAuthor("Clearlane")
    canvas.setCreator("Clearlane")
    # A viewer that scales a page to its paper would move every text.
    canvas.setViewerPreference("PrintScaling", "None")
    for page in heading.pages:
        canvas.setFont(FONT, FONT_SIZE)
        for x, y, text in ((one.x, one.y, one.text) for one in page):
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()
    return len(heading.pages)
