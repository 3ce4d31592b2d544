"""A payment as a PDF file: the heading of a remittance advice, the equation, provider adjustments and claims.

Claims are in the payer's order, so that the file can be laid beside the payer's own. Takes them one by one: a
payment may have more than memory should hold. Knows no database.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

from clearlane.kernel.claim_label import LABEL_WORDS, ClaimLabel
from clearlane.payments import wording
from clearlane.payments.balance import format_count
from clearlane.payments.payment import ClaimPayment, Payment, ProviderAdjustment
from clearlane.pdf import claim_table
from clearlane.pdf.page_parts import (
    BOLD,
    HEADING,
    PLAIN,
    fact_rows,
    notice_rows,
    section_row,
    term_row,
    term_rows,
    title_rows,
)
from clearlane.pdf.pages import WIDTH, Align, Color, Column, Pages, Row, Style, row, space

TITLE = "Remittance advice"

_REASON, _REFERENCE, _CONCERNS, _YEAR_END, _EFFECT = (
    Column(0, 170),
    Column(170, 120),
    Column(290, 94),
    Column(384, 78),
    Column(462, WIDTH - 462, Align.RIGHT),
)
_LABEL, _COUNT = Column(0, 100), Column(100, 74, Align.RIGHT)


def write_payment_pdf(
    payment: Payment,
    adjustments: Sequence[ProviderAdjustment],
    claim_payments: Iterable[ClaimPayment],
    out: BinaryIO,
) -> int:
    """Write a payment with its claims as a PDF file, and return the number of pages."""
    pages = Pages(out, title=TITLE, running=_running(payment))
    pages.add(list(_heading_rows(payment)))
    pages.add(_equation_rows(payment, adjustments))
    if adjustments:
        _add_adjustments(pages, adjustments)
    totals = _LabelTotals()
    pages.add([section_row("Claims"), claim_table.headings()])
    pages.repeated = (claim_table.headings(),)
    for claim_payment in claim_payments:
        totals.add(claim_payment)
        claim_table.add_claim(pages, claim_payment)
    pages.repeated = ()
    pages.add(list(_total_rows(totals)))
    pages.save()
    return pages.count


def _heading_rows(payment: Payment) -> Iterator[Row]:
    """Yield the heading: who pays, whom, how much, when, and by which number."""
    method = wording.METHOD_WORDS.get(payment.method, payment.method)
    effective = wording.day(payment.effective_date)
    beside = ", ".join(filter(None, (method, effective)))
    payer = payment.payer_name or "Payer not named"
    yield from title_rows(TITLE, wording.amount_words(payment), payer, beside)
    yield from fact_rows(
        (
            ("Paid to", payment.payee_name),
            ("Trace number", payment.trace_number),
            ("NPI", payment.payee_npi),
            ("Method", method),
            ("Tax ID", payment.payee_tax_id),
            ("Effective", effective),
            ("Account", f"ends in {payment.account_last4}" if payment.account_last4 else ""),
            ("Produced", wording.day(payment.production_date)),
            ("Payer's tax ID", payment.payer_tax_id),
            ("Payment ID", payment.payment_id),
            ("Payer ID", payment.payer_id),
            ("Received", wording.day(payment.received_at and payment.received_at.date())),
        )
    )
    yield space(6)


def _running(payment: Payment) -> str:
    """Return the heading of every further page; it names no patient."""
    number = f"payment {payment.trace_number}" if payment.trace_number else ""
    named = (payment.payer_name, number, wording.day(payment.effective_date))
    return f"{TITLE}: {', '.join(filter(None, named))}"


def _equation_rows(payment: Payment, adjustments: Sequence[ProviderAdjustment]) -> list[Row]:
    rows = [
        *notice_rows(wording.notices(payment)),
        section_row("How the amount comes about"),
        *term_rows(wording.equation(payment, adjustments)),
        space(2),
        term_row("Amount of the payment", wording.amount_words(payment)),
    ]
    if payment.amount is not None and payment.your_amount != payment.amount:
        rows.append(term_row("Your part of it", wording.money(payment.your_amount)))
    return [*rows, space(4)]


def _add_adjustments(pages: Pages, adjustments: Sequence[ProviderAdjustment]) -> None:
    names = (
        (_REASON, "Reason"),
        (_REFERENCE, "Reference"),
        (_CONCERNS, "Claim"),
        (_YEAR_END, "Fiscal year end"),
        (_EFFECT, "Effect"),
    )
    head = row([(column, text, HEADING) for column, text in names], after=2)
    first = [section_row("Provider adjustments"), head]
    for one in adjustments:
        cells = (
            (_REASON, wording.reason_words(one), PLAIN),
            (_REFERENCE, one.reference, PLAIN),
            (_CONCERNS, one.claim_number, PLAIN),
            (_YEAR_END, wording.day(one.fiscal_year_end), PLAIN),
            (_EFFECT, wording.money(one.amount), PLAIN),
        )
        pages.add([*first, row(cells, rule=Color.RULE, before=1, after=1)])
        first = []
        pages.repeated = (head,)
    pages.repeated = ()
    pages.add([space(4)])


TOTALED_LABELS = (
    ClaimLabel.PAID, ClaimLabel.PARTLY_DENIED, ClaimLabel.DENIED, ClaimLabel.PATIENT_OWES, ClaimLabel.NOTHING_DUE,
    ClaimLabel.FORWARDED, ClaimLabel.PREDETERMINED, ClaimLabel.TAKEN_BACK, ClaimLabel.VOIDED,
)  # fmt: skip
"""The labels of claim payments, in the order of the totals."""


class _LabelTotals:
    """Sums over the claims of a payment, by label."""

    def __init__(self) -> None:
        self.claims: Counter[ClaimLabel] = Counter()
        self.amounts: dict[ClaimLabel, claim_table.Amounts] = {}

    def add(self, claim_payment: ClaimPayment) -> None:
        """Add one claim payment."""
        self.claims[claim_payment.label] += 1
        before = self.amounts.get(claim_payment.label, claim_table.Amounts())
        self.amounts[claim_payment.label] = before.plus(claim_table.amounts_of(claim_payment))


def _total_rows(totals: _LabelTotals) -> Iterator[Row]:
    yield section_row("Totals")
    yield claim_table.amount_headings()
    whole = claim_table.Amounts()
    for label in TOTALED_LABELS:
        if count := totals.claims[label]:
            whole = whole.plus(totals.amounts[label])
            yield _total_row(LABEL_WORDS[label], count, totals.amounts[label], PLAIN)
    yield _total_row("All", totals.claims.total(), whole, BOLD)


def _total_row(label: str, count: int, sums: claim_table.Amounts, style: Style) -> Row:
    named = [(_LABEL, label, style), (_COUNT, format_count(count, "claim"), style)]
    return row([*named, *claim_table.amount_cells(sums, style)], rule=Color.RULE)
