"""One claim's explanation of benefits as a PDF file: what was decided, what the patient owes, and every reason.

Every decision stands in it, also those that were taken back or replaced; the sum is over those in force. Knows no
database.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import BinaryIO, NamedTuple

from clearlane.payments import wording
from clearlane.payments.payment import ClaimOccurrence, Payment
from clearlane.payments.pdf import claim_table
from clearlane.payments.pdf.claim_table import Amounts
from clearlane.payments.pdf.page_parts import (
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
from clearlane.payments.pdf.pages import WHOLE, Colour, Column, Pages, Row, row, space
from clearlane.payments.wording import EquationTerm

TITLE = "Explanation of benefits"
NOT_A_BILL = "This is not a bill."

_PAID_ON, _PAYMENT = Column(0, 58), Column(58, 116)
_DECISION = claim_table.OUTCOME


class ClaimDecision(NamedTuple):
    """One decision on a claim, and the payment that it came with."""

    payment: Payment
    occurrence: ClaimOccurrence


def write_claim_pdf(decisions: Sequence[ClaimDecision], out: BinaryIO) -> int:
    """Write one claim's decisions, oldest first, as a PDF file, and return the number of pages."""
    if not decisions:
        raise ValueError("an explanation of benefits needs a decision")
    pages = Pages(out, title=TITLE, running=_running(decisions[-1]))
    pages.add(list(_heading_rows(decisions)))
    pages.add(_decision_rows(decisions))
    pages.add(_patient_rows(decisions))
    pages.add([section_row("Every decision, line by line"), claim_table.headings()])
    pages.repeated = (claim_table.headings(),)
    for one in decisions:
        claim_table.add_claim(pages, one.occurrence, [_payment_row(one.payment)])
    pages.save()
    return pages.count


def in_force(decisions: Sequence[ClaimDecision]) -> Amounts:
    """Return the amounts of a claim: the sums over the decisions in force. The charge is the latest, never a sum."""
    counted = [one.occurrence for one in decisions if one.occurrence.in_force]
    sums = Amounts()
    for occurrence in counted:
        sums = sums.plus(claim_table.amounts_of(occurrence))
    return sums._replace(charge=counted[-1].charge if counted else 0)


def _heading_rows(decisions: Sequence[ClaimDecision]) -> Iterator[Row]:
    payment, latest = decisions[-1]
    name = wording.patient_name(latest)
    owes = f"Patient owes {wording.money(in_force(decisions).patient)}"
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


def _running(latest: ClaimDecision) -> str:
    """Return what stands at the top of every further page; it names no patient."""
    number = latest.occurrence.claim_number or latest.occurrence.payer_control_number
    return f"{TITLE}: {', '.join(filter(None, (latest.payment.payer_name, f'claim {number}')))}"


def _decision_rows(decisions: Sequence[ClaimDecision]) -> list[Row]:
    taken_back = not any(one.occurrence.in_force for one in decisions)
    notices = ["The payment was taken back, and no other has come yet."] if taken_back else []
    rows = [
        *notice_rows(notices),
        section_row("What was decided"),
        row(
            [
                (_PAID_ON, "Paid on", HEADING),
                (_PAYMENT, "Check or transfer", HEADING),
                *claim_table.amount_heading_cells(),
                (_DECISION, "Decision", HEADING),
            ],
            after=2,
        ),
    ]
    rows += map(_decision_row, decisions)
    total = [(Column(0, 174), "In force", BOLD)]
    cells = claim_table.amount_cells(in_force(decisions), BOLD)
    return [*rows, row([*total, *cells], rule=Colour.RULE, before=1), space(4)]


def _decision_row(decision: ClaimDecision) -> Row:
    payment, occurrence = decision
    counts = occurrence.in_force
    colour = claim_table.CONCERN_COLOURS[wording.OUTCOME_CONCERNS[occurrence.outcome]]
    style = PLAIN if counts else PLAIN._replace(colour=Colour.QUIET)
    label = wording.outcome_label(occurrence)
    return row(
        [
            (_PAID_ON, wording.day(payment.effective_date), style),
            (_PAYMENT, payment.trace_number, style),
            *claim_table.amount_cells(claim_table.amounts_of(occurrence), style),
            (_DECISION, label, style._replace(colour=colour) if counts else style),
        ],
        rule=Colour.RULE,
        before=1,
        after=1,
    )


def _patient_rows(decisions: Sequence[ClaimDecision]) -> list[Row]:
    counted = [one.occurrence for one in decisions if one.occurrence.in_force]
    sums: dict[str, int] = {}
    for term in chain.from_iterable(map(wording.patient_parts, counted)):
        sums[term.label] = sums.get(term.label, 0) + term.amount
    return [
        section_row("What the patient owes"),
        *term_rows(EquationTerm(*one) for one in sums.items()),
        space(2),
        term_row("Owed to the provider", wording.money(in_force(decisions).patient)),
        space(4),
    ]


def _payment_row(payment: Payment) -> Row:
    number = f"Check or transfer {payment.trace_number}" if payment.trace_number else "No number"
    named = (number, wording.day(payment.effective_date), payment.payer_name)
    return row([(WHOLE, ", ".join(filter(None, named)), BOLD)], before=2, after=2)
