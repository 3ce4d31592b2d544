"""One claim's explanation of benefits as a PDF file: what was decided, what the patient owes, and every reason.

It has every claim payment, also those that were taken back or replaced; the sum is over those in force. Knows no
database.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import BinaryIO, NamedTuple

from clearlane.kernel.claim_label import CONCERNS
from clearlane.payments import wording
from clearlane.payments.payment import ClaimPayment, Payment
from clearlane.payments.wording import EquationTerm
from clearlane.pdf import claim_table
from clearlane.pdf.claim_table import Amounts
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
from clearlane.pdf.pages import WHOLE, Color, Column, Pages, Row, row, space

TITLE = "Explanation of benefits"
NOT_A_BILL = "This is not a bill."

_PAID_ON, _PAYMENT = Column(0, 58), Column(58, 116)
_LABEL = claim_table.LABEL


class PaymentOfClaim(NamedTuple):
    """One claim payment of a claim, and the payment that it came with."""

    payment: Payment
    claim_payment: ClaimPayment


def write_claim_pdf(claim_payments: Sequence[PaymentOfClaim], out: BinaryIO) -> int:
    """Write the claim payments of one claim, oldest first, as a PDF file, and return the number of pages."""
    if not claim_payments:
        raise ValueError("an explanation of benefits needs a claim payment")
    pages = Pages(out, title=TITLE, running=_running(claim_payments[-1]))
    pages.add(list(_heading_rows(claim_payments)))
    pages.add(_claim_payment_rows(claim_payments))
    pages.add(_patient_rows(claim_payments))
    pages.add([section_row("Every claim payment, line by line"), claim_table.headings()])
    pages.repeated = (claim_table.headings(),)
    for one in claim_payments:
        claim_table.add_claim(pages, one.claim_payment, [_payment_row(one.payment)])
    pages.save()
    return pages.count


def in_force(claim_payments: Sequence[PaymentOfClaim]) -> Amounts:
    """Return the amounts of a claim: the sums over the claim payments in force. The charge is the latest, never a sum."""
    counted = [one.claim_payment for one in claim_payments if one.claim_payment.in_force]
    sums = Amounts()
    for claim_payment in counted:
        sums = sums.plus(claim_table.amounts_of(claim_payment))
    return sums._replace(charge=counted[-1].charge if counted else 0)


def _heading_rows(claim_payments: Sequence[PaymentOfClaim]) -> Iterator[Row]:
    payment, latest = claim_payments[-1]
    name = wording.patient_name(latest)
    owes = f"Patient owes {wording.money(in_force(claim_payments).patient)}"
    yield from title_rows(TITLE, owes, name, NOT_A_BILL)
    yield from fact_rows(
        (
            ("Member ID", latest.member_id),
            ("Payer", payment.payer_name),
            ("Service", wording.period(latest.service_from, latest.service_to)),
            ("Payer's number", latest.payer_control_number),
            ("Provider", payment.payee_name),
            ("Your claim ID", latest.vendor_claim_id),
            ("NPI", latest.rendering_npi or payment.payee_npi),
            ("Our number", latest.claim_number),
        )
    )
    yield space(6)


def _running(latest: PaymentOfClaim) -> str:
    """Return the heading of every further page; it names no patient."""
    number = latest.claim_payment.claim_number or latest.claim_payment.payer_control_number
    return f"{TITLE}: {', '.join(filter(None, (latest.payment.payer_name, f'claim {number}')))}"


def _claim_payment_rows(claim_payments: Sequence[PaymentOfClaim]) -> list[Row]:
    taken_back = not any(one.claim_payment.in_force for one in claim_payments)
    notices = ["The payment was taken back, and no other has come yet."] if taken_back else []
    rows = [
        *notice_rows(notices),
        section_row("What was decided"),
        row(
            [
                (_PAID_ON, "Paid on", HEADING),
                (_PAYMENT, "Check or transfer", HEADING),
                *claim_table.amount_heading_cells(),
                (_LABEL, "Result", HEADING),
            ],
            after=2,
        ),
    ]
    rows += map(_claim_payment_row, claim_payments)
    total = [(Column(0, 174), "In force", BOLD)]
    cells = claim_table.amount_cells(in_force(claim_payments), BOLD)
    return [*rows, row([*total, *cells], rule=Color.RULE, before=1), space(4)]


def _claim_payment_row(one: PaymentOfClaim) -> Row:
    payment, claim_payment = one
    counts = claim_payment.in_force
    color = claim_table.CONCERN_COLORS[CONCERNS[claim_payment.label]]
    style = PLAIN if counts else PLAIN._replace(color=Color.QUIET)
    label = wording.claim_payment_words(claim_payment)
    return row(
        [
            (_PAID_ON, wording.day(payment.effective_date), style),
            (_PAYMENT, payment.trace_number, style),
            *claim_table.amount_cells(claim_table.amounts_of(claim_payment), style),
            (_LABEL, label, style._replace(color=color) if counts else style),
        ],
        rule=Color.RULE,
        before=1,
        after=1,
    )


def _patient_rows(claim_payments: Sequence[PaymentOfClaim]) -> list[Row]:
    counted = [one.claim_payment for one in claim_payments if one.claim_payment.in_force]
    sums: dict[str, int] = {}
    for term in chain.from_iterable(map(wording.patient_parts, counted)):
        sums[term.label] = sums.get(term.label, 0) + term.amount
    return [
        section_row("What the patient owes"),
        *term_rows(EquationTerm(*one) for one in sums.items()),
        space(2),
        term_row("Owed to the provider", wording.money(in_force(claim_payments).patient)),
        space(4),
    ]


def _payment_row(payment: Payment) -> Row:
    number = f"Check or transfer {payment.trace_number}" if payment.trace_number else "No number"
    named = (number, wording.day(payment.effective_date), payment.payer_name)
    return row([(WHOLE, ", ".join(filter(None, named)), BOLD)], before=2, after=2)
