"""The table of claims in a PDF file: headings, and the rows of one claim payment with its lines and reasons.

The amounts of a row add up: charge = paid + patient + adjusted. Each reason is in words under its line, with
its amount in the column that it belongs to. Knows rows; knows no page.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clearlane.kernel.claim_label import CONCERNS, LABEL_WORDS, LabelConcern
from clearlane.payments import wording
from clearlane.payments.payment import (
    ClaimPayment,
    LineAdjustment,
    LineRemark,
    PaidLine,
)
from clearlane.pdf.page_parts import BOLD, HEADING, PLAIN, SMALL, WARNING
from clearlane.pdf.pages import (
    WHOLE,
    WIDTH,
    Align,
    Color,
    Column,
    Pages,
    Row,
    Style,
    row,
    space,
)

CONCERN_COLORS = {
    LabelConcern.ACT: Color.RED,
    LabelConcern.WAIT: Color.BLUE,
    LabelConcern.GOOD: Color.GREEN,
    LabelConcern.DONE: Color.QUIET,
}

_AMOUNT = 57.0
DATE = Column(0, 58)
PROCEDURE = Column(58, 82)
UNITS = Column(140, 34, Align.RIGHT)
CHARGE, ALLOWED, PAID, PATIENT, ADJUSTED = (
    Column(174 + at * _AMOUNT, _AMOUNT, Align.RIGHT) for at in range(5)
)
AMOUNTS = (CHARGE, ALLOWED, PAID, PATIENT, ADJUSTED)
LABEL = Column(464, WIDTH - 464)
PATIENT_NAME = Column(0, 174)
REASON = Column(58, 287)
"""Reasons in words: from the procedure to where the amounts that they explain begin."""

HEADINGS: tuple[tuple[Column, str], ...] = (
    (DATE, "Service date"),
    (PROCEDURE, "Procedure"),
    (UNITS, "Units"),
    (CHARGE, "Charge"),
    (ALLOWED, "Allowed"),
    (PAID, "Paid"),
    (PATIENT, "Patient"),
    (ADJUSTED, "Adjusted"),
    (LABEL, "Label"),
)


class Amounts(NamedTuple):
    """The amounts of a row, in the order of their columns. Charge = paid + patient + adjusted."""

    charge: int = 0
    allowed: int = 0
    paid: int = 0
    patient: int = 0
    adjusted: int = 0

    def plus(self, other: "Amounts") -> "Amounts":
        """Return the sums, column by column."""
        return Amounts(*map(sum, zip(self, other, strict=True)))


def headings() -> Row:
    """Return the headings of the table."""
    return row(((column, text, HEADING) for column, text in HEADINGS), after=2)


def amount_headings() -> Row:
    """Return the headings of the amounts alone."""
    return row(amount_heading_cells(), after=2)


def amount_heading_cells() -> list[tuple[Column, str, Style]]:
    """Return the cells of those headings."""
    return [(column, text, HEADING) for column, text in HEADINGS if column in AMOUNTS]


def add_claim(pages: Pages, claim_payment: ClaimPayment, above: Sequence[Row] = ()) -> None:
    """Add one claim payment to the table, with rows that stay above it.

    On each further page that it needs, the patient's name is repeated.
    """
    before = pages.repeated
    top = [_claim_row(claim_payment), *_claim_details(claim_payment)]
    lines = [list(_line_rows(line)) for line in claim_payment.lines]
    lines = lines or [[]]
    pages.add([*above, *top, *lines[0]])
    pages.repeated = (*before, _continued_row(claim_payment))
    for rows in lines[1:]:
        pages.add(rows)
    pages.add([*_closing_rows(claim_payment), space(5)])
    pages.repeated = before


def amount_cells(amounts: Amounts, style: Style) -> list[tuple[Column, str, Style]]:
    """Return the cells of the amounts of a row."""
    return [
        (column, wording.money(value), style)
        for column, value in zip(AMOUNTS, amounts, strict=True)
    ]


def amounts_of(claim_payment: ClaimPayment) -> Amounts:
    """Return the amounts of a claim payment."""
    return Amounts(
        claim_payment.charge,
        claim_payment.allowed,
        claim_payment.paid,
        claim_payment.patient,
        wording.claim_payment_other_part(claim_payment),
    )


def _claim_row(claim_payment: ClaimPayment) -> Row:
    color = CONCERN_COLORS[CONCERNS[claim_payment.label]]
    return row(
        [
            (PATIENT_NAME, wording.patient_name(claim_payment), BOLD),
            *amount_cells(amounts_of(claim_payment), BOLD),
            (LABEL, wording.claim_payment_words(claim_payment), BOLD._replace(color=color)),
        ],
        ground=Color.GROUND,
        rule=Color.RULE,
        before=2,
        after=2,
    )


def _continued_row(claim_payment: ClaimPayment) -> Row:
    text = f"{wording.patient_name(claim_payment)} (continued)"
    return row([(WHOLE, text, BOLD)], ground=Color.GROUND, rule=Color.RULE, before=2, after=2)


def _claim_details(claim_payment: ClaimPayment) -> Iterator[Row]:
    numbers = wording.claim_payment_numbers(claim_payment)
    if numbers:
        yield row([(WHOLE, " · ".join(numbers), SMALL)], before=1, after=1)
    for text in wording.claim_payment_warnings(claim_payment):
        yield row([(WHOLE, text, WARNING)])
    for text in wording.claim_payment_notes(claim_payment):
        yield row([(WHOLE, text, SMALL)])


def _line_rows(line: PaidLine) -> Iterator[Row]:
    color = CONCERN_COLORS[CONCERNS[line.label]]
    other = wording.other_part(line.adjustments)
    amounts = Amounts(line.charge, line.allowed, line.paid, line.patient, other)
    yield row(
        [
            (DATE, wording.day(line.service_date), PLAIN),
            (PROCEDURE, wording.procedure_words(line), PLAIN),
            (UNITS, wording.units_words(line), PLAIN),
            *amount_cells(amounts, PLAIN),
            (LABEL, LABEL_WORDS[line.label], PLAIN._replace(color=color)),
        ],
        before=1,
    )
    yield from _reason_rows(line.adjustments, line.remarks)
    if not line.balanced:
        yield row([(REASON, "This line does not balance.", WARNING)])


def _closing_rows(claim_payment: ClaimPayment) -> list[Row]:
    rows = list(_reason_rows(claim_payment.adjustments, claim_payment.remarks))
    if rows and claim_payment.lines:
        rows.insert(0, row([(REASON, "Of the claim as a whole:", SMALL)], before=1))
    return rows


def _reason_rows(
    adjustments: Sequence[LineAdjustment], remarks: Sequence[LineRemark]
) -> Iterator[Row]:
    for one in adjustments:
        column = PATIENT if one.group == wording.PATIENT_GROUP else ADJUSTED
        yield row(
            [
                (REASON, wording.adjustment_words(one), SMALL),
                (column, wording.money(one.amount), SMALL),
            ]
        )
    for remark in remarks:
        yield row([(REASON, wording.remark_words(remark), SMALL)])
