"""What stands where on the pages of PDF files, as a list that a run writes: ``recorded_pages.txt``.

Each text has its place, the size and the font in which it is written, and its color; each ground and each rule its
place and color. The reader of the file puts a text together when the next one begins, so the place and the color that stand
before a text are of the next. Write it again when the look of a file changes, and read the difference::

    .venv/bin/python -m tests.pdf.recorded_pages
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdf
from msgspec.structs import replace

from clearlane.pdf.benefits_pdf import write_benefits_pdf
from clearlane.pdf.claim_pdf import PaymentOfClaim, write_claim_pdf
from clearlane.pdf.frames import BenefitsFileHeading, BenefitsOfService
from clearlane.pdf.pages import PAGE_ROWS_HEIGHT, WHOLE, Pages, Style, row, space
from clearlane.pdf.payment_pdf import write_payment_pdf
from tests.payments.invented import (
    ADJUSTMENTS,
    CLAIM_PAYMENTS,
    HOSTILE,
    PAYMENT,
    claim_payment,
    line,
    many,
)
from tests.payments.recorded_payments import REMITTANCES
from tests.payments.whole_835 import read_one_payment
from tests.pdf import test_benefits_pdf, test_claim_pdf
from tests.recorded_list import RecordedList

SHAPES = {
    b"rg": "color",
    b"RG": "color of rules",
    b"re": "ground",
    b"m": "rule from",
    b"l": "rule to",
    b"w": "width of rules",
}
COMPLETE = frozenset({b"re", b"l"})


def _payment() -> Iterator[str]:
    out = io.BytesIO()
    yield f"{write_payment_pdf(PAYMENT, ADJUSTMENTS, CLAIM_PAYMENTS, out)} pages"
    yield from placed(out)


def _all_that_can_be_said() -> Iterator[str]:
    record, claims = read_one_payment(REMITTANCES["all that can be said"])
    out = io.BytesIO()
    write_payment_pdf(record.payment, record.adjustments, claims, out)
    yield from placed(out)


def _long_payment() -> Iterator[str]:
    out = io.BytesIO()
    long = replace(
        PAYMENT, payer_name=HOSTILE, payee_name="X" * 200, received_at=None, trace_number=""
    )
    lines = [line(at, "99213", 1_000, 1_000) for at in range(1, 67)]
    write_payment_pdf(long, (), [*many(3), claim_payment(4, "ARDEN", "ROSA", *lines)], out)
    yield from placed(out)


def _claim() -> Iterator[str]:
    out = io.BytesIO()
    write_claim_pdf(test_claim_pdf.OF_ONE_CLAIM, out)
    yield from placed(out)


def _stay() -> Iterator[str]:
    record, claims = read_one_payment(REMITTANCES["all that can be said"])
    out = io.BytesIO()
    others = [replace(record.payment, payer_name=f"PAYER {at}") for at in range(3)]
    write_claim_pdf(list(map(PaymentOfClaim, others, claims)), out)
    yield from placed(out)


def _rows_higher_than_a_page() -> Iterator[str]:
    out = io.BytesIO()
    pages = Pages(out, title="Rows", running="Rows")
    pages.repeated = (row([(WHOLE, "Head", Style())]),)
    for count in (64, 3, 71, 66):
        pages.add([row([(WHOLE, f"{at} of {count}", Style())]) for at in range(count)])
    for text in ("before", "after"):
        pages.add([space(PAGE_ROWS_HEIGHT)])
        pages.add([row([(WHOLE, text, Style())])])
    pages.save()
    yield from placed(out)
    nothing = io.BytesIO()
    Pages(nothing, title="Nothing", running="Nothing").save()
    yield from placed(nothing)


def _benefits() -> Iterator[str]:
    one = test_benefits_pdf.PATIENT
    columns = (
        "Network",
        "Place",
        "Copay",
        "Coinsurance, in percent",
        "Deductible",
        "Limit",
        "Left",
    )
    groups = tuple(
        BenefitsOfService(service=f"Service {at}", rows=((*"ABCDEF", "7.00"), (*"UVWXYZ", "")))
        for at in range(12)
    )
    heading = BenefitsFileHeading(
        number="41",
        asked="question 41",
        notices=("Payer B did not answer.",),
        patients=(one, replace(one, patient="QUILL, TESSA", columns=columns, groups=groups)),
    )
    out = io.BytesIO()
    write_benefits_pdf(heading, out)
    yield from placed(out)


def placed(out: io.BytesIO) -> Iterator[str]:
    """Yield what is written and drawn on each page, in the order of the file."""
    for number, page in enumerate(pypdf.PdfReader(out).pages, 1):
        yield f"page {number}"
        marks = _Marks()
        page.extract_text(visitor_operand_before=marks.draw, visitor_text=marks.write)
        yield from marks.lines


class _Marks:
    """What a reader of a page comes by: a line for each text and each shape, with what was set for it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._set: list[str] = []

    def draw(self, operator: bytes, operands: Any, *_: object) -> None:
        """Note a color, a place or a shape."""
        if operator in SHAPES:
            self._set.append(f"{SHAPES[operator]} {_numbers(operands)}")
        elif operator == b"Tm":  # the reader puts texts of one line together
            self._set.append(f"at {_numbers(operands[4:])}")
        if operator in COMPLETE:
            self._end("")

    def write(self, text: str, _: object, __: object, font: Any, size: float) -> None:
        """Note a text."""
        if text.strip():
            face = str(font["/BaseFont"]).rpartition("+")[2] if font else ""
            self._end(f" {face.removeprefix('BitstreamVeraSans-')} {size:g}: {text.strip()}")

    def _end(self, text: str) -> None:
        self.lines.append(f"  {', '.join(self._set)}{text}")
        self._set = []


def _numbers(values: Any) -> str:
    return " ".join(f"{float(one):.2f}".rstrip("0").rstrip(".") for one in values)


RECORDED = RecordedList(
    Path(__file__).with_suffix(".txt"),
    {
        "a payment": _payment,
        "a payment of which all is said": _all_that_can_be_said,
        "a payment of several pages": _long_payment,
        "a claim": _claim,
        "a stay": _stay,
        "benefits": _benefits,
        "rows higher than a page": _rows_higher_than_a_page,
    },
)

if __name__ == "__main__":
    RECORDED.write()
