"""What stands where on the pages of PDF files, as a list that a run writes: ``recorded_pages.txt``.

Each text has its place, the size and the font in which it is written, and its color; each ground and each rule its
place and color. Write it again when the look of a file changes, and read the difference::

    .venv/bin/python -m tests.payments.pdf.recorded_pages
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdf
from msgspec.structs import replace

from clearlane.payments.pdf.benefits_pdf import write_benefits_pdf
from clearlane.payments.pdf.claim_pdf import PaymentOfClaim, write_claim_pdf
from clearlane.payments.pdf.frames import BenefitsFileHeading, BenefitsOfService
from clearlane.payments.pdf.payment_pdf import write_payment_pdf
from tests.payments.invented import ADJUSTMENTS, CLAIM_PAYMENTS, HOSTILE, PAYMENT, many
from tests.payments.pdf import test_benefits_pdf, test_claim_pdf
from tests.payments.recorded_payments import REMITTANCES
from tests.payments.whole_835 import read_payments
from tests.recorded_list import RecordedList

COLORS = {b"rg": "fill", b"RG": "stroke"}
SHAPES = {b"re": "ground", b"m": "rule from", b"l": "rule to", b"w": "width of rules"}


def _payment() -> Iterator[str]:
    out = io.BytesIO()
    write_payment_pdf(PAYMENT, ADJUSTMENTS, CLAIM_PAYMENTS, out)
    yield from placed(out)


def _all_that_can_be_said() -> Iterator[str]:
    *claims, record = read_payments(REMITTANCES["all that can be said"])
    out = io.BytesIO()
    write_payment_pdf(record.payment, record.adjustments, claims, out)
    yield from placed(out)


def _long_payment() -> Iterator[str]:
    out = io.BytesIO()
    long = replace(PAYMENT, payer_name=HOSTILE, payee_name="X" * 200, received_at=None)
    write_payment_pdf(long, (), many(12), out)
    yield from placed(out)


def _claim() -> Iterator[str]:
    out = io.BytesIO()
    write_claim_pdf(test_claim_pdf.CLAIM_PAYMENTS, out)
    yield from placed(out)


def _stay() -> Iterator[str]:
    *claims, record = read_payments(REMITTANCES["all that can be said"])
    out = io.BytesIO()
    write_claim_pdf([PaymentOfClaim(record.payment, one) for one in claims[:3]], out)
    yield from placed(out)


def _benefits() -> Iterator[str]:
    one = test_benefits_pdf.PATIENT
    columns = ("Network", "Place", "Copay", "Coinsurance", "Deductible", "Limit", "Left")
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
        found: list[str] = []

        def draw(operator: bytes, operands: Any, *_: object, into: list[str] = found) -> None:
            if operator in COLORS or operator in SHAPES:
                name = COLORS.get(operator) or SHAPES[operator]
                into.append(f"  {name} {_numbers(operands)}")

        def write(
            text: str, _: object, at: Any, font: Any, size: float, into: list[str] = found
        ) -> None:
            if text.strip():
                face = str(font["/BaseFont"]).rpartition("+")[2] if font else ""
                into.append(f"  {_numbers(at[4:])} {face} {size:g}: {text.strip()}")

        page.extract_text(visitor_operand_before=draw, visitor_text=write)
        yield from found


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
    },
)

if __name__ == "__main__":
    RECORDED.write()
