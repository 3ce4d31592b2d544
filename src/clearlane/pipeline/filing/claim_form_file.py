"""Make the file of a claim on paper: its texts placed for the pre-printed form, or a plain sheet box by box.

    printed = fill_claim_form(loaded, now)
    content = await make_form_file(printed, SheetType.PREPRINTED, at=now)

The place of each text is decided in ``claims.printing``; this turns it into what the process for PDF files reads.
"""

from dataclasses import dataclass, field
from datetime import datetime

from clearlane.claims.forms import form_of
from clearlane.claims.printing.fill_form import FilledForm, StatedBox, fill_form
from clearlane.claims.printing.form_notation import comma_name
from clearlane.claims.printing.sheet_type import SheetType
from clearlane.pdf.frames import (
    FileHeading,
    FormFileHeading,
    FormText,
    SheetBox,
    SheetFileHeading,
)
from clearlane.pipeline.load_claim import LoadedClaim
from clearlane.pipeline.query.pdf_process import make_pdf_content

FORM_MEDIA_TYPE = "application/pdf"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOnForm:
    """A claim placed on the form of its kind."""

    claim_number: str
    patient: str = field(repr=False)
    filled: FilledForm

    def file_name(self, sheet: SheetType) -> str:
        """Return the name under which its file is saved."""
        return f"{self.claim_number}-{sheet.value}.pdf"


def fill_claim_form(loaded: LoadedClaim, now: datetime) -> ClaimOnForm:
    """Place a stored claim on the form of its kind."""
    view = form_of(loaded.claim).view(loaded.claim)
    person = view.patient if view.patient.last_name else view.subscriber
    return ClaimOnForm(
        claim_number=loaded.row.claim_number,
        patient=comma_name(person),
        filled=fill_form(view, made_on=now.date()),
    )


async def make_form_file(claim: ClaimOnForm, sheet: SheetType, *, at: datetime) -> bytes:
    """Return the file of a claim as PDF. Raises ``PdfRefused``."""
    heading: FileHeading = (
        _form_heading(claim) if sheet is SheetType.PREPRINTED else _sheet_heading(claim)
    )
    return await make_pdf_content(heading, at=at)


def _form_heading(claim: ClaimOnForm) -> FormFileHeading:
    return FormFileHeading(
        form=claim.filled.form.name,
        pages=tuple(
            tuple(FormText(one.x, one.y, one.text) for one in page.texts)
            for page in claim.filled.pages
        ),
    )


def _sheet_heading(claim: ClaimOnForm) -> SheetFileHeading:
    filled = claim.filled
    return SheetFileHeading(
        form=filled.form.name,
        patient=claim.patient,
        claim_number=claim.claim_number,
        notices=tuple(f"On the pre-printed form: {one}" for one in filled.left_out_sentences),
        boxes=tuple(map(_sheet_box, filled.boxes)),
        lines=tuple(tuple(map(_sheet_box, line)) for line in filled.lines),
    )


def _sheet_box(box: StatedBox) -> SheetBox:
    return SheetBox(box.number, box.words, box.texts)
