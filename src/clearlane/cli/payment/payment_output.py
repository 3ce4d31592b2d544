"""Output of `clearlane payment show`: a payment as a person reads it, in 80 columns.

Values of a payment in, lines of text out, one claim at a time. Everything is wrapped and nothing is cut; control
characters of a payer's texts become blanks.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from clearlane.cli.command.output import printable
from clearlane.payments import wording
from clearlane.payments.payment import (
    ClaimPayment,
    LineAdjustment,
    LineRemark,
    PaidLine,
    Payment,
    ProviderAdjustment,
)
from clearlane.payments.payment_label import label_payment

WIDTH = 80
INDENT = "  "
AMOUNT_WIDTH = 11
"""The width of a column: up to 999,999.99 and a blank."""
WIDE_AMOUNT_WIDTH = 15
"""The width of a larger amount. A row that has one gets a line of its own for its amounts."""
LABEL_WIDTH = WIDTH - 5 * AMOUNT_WIDTH
UNBROKEN_BLANK = "\xa0"
TERM_WIDTH = 44
AMOUNT_HEADINGS = ("Charge", "Allowed", "Paid", "Patient", "Adjusted")


def payment_lines(
    payment: Payment,
    adjustments: Sequence[ProviderAdjustment],
    claim_payments: Iterable[ClaimPayment],
) -> Iterator[str]:
    """Yield a whole payment: heading, equation, provider adjustments, claims."""
    yield from heading_lines(payment)
    yield from _equation_lines(payment, adjustments)
    if adjustments:
        yield from ("", "Provider adjustments")
        for adjustment in adjustments:
            yield from _adjustment_lines(adjustment)
    yield from ("", "Claims" if payment.claims else "No claims")
    for claim_payment in claim_payments:
        yield ""
        yield from claim_payment_lines(claim_payment)


def heading_lines(payment: Payment) -> Iterator[str]:
    """Yield who paid whom, how much, when, under which number, and what a person must know about it."""
    method = wording.METHOD_WORDS.get(payment.method, payment.method)
    amount = wording.amount_words(payment)
    yield from _wrapped(f"{payment.payer_name or 'Payer not named'}: {amount}", "")
    received = payment.received_at and payment.received_at.date()
    facts = (
        ("Payment ID", payment.payment_id),
        ("Label", label_payment(payment)),
        ("State", payment.state.value),
        ("Trace number", payment.trace_number),
        ("Method", method),
        ("Effective", wording.day(payment.effective_date)),
        ("Produced", wording.day(payment.production_date)),
        ("Received", wording.day(received)),
        ("Payer ID", payment.payer_id),
        ("Payer's tax ID", payment.payer_tax_id),
        ("Paid to", payment.payee_name),
        ("NPI", payment.payee_npi),
        ("Tax ID", payment.payee_tax_id),
        ("Account", f"ends in {payment.account_last4}" if payment.account_last4 else ""),
    )
    width = max(len(label) for label, _ in facts) + 2
    for label, value in facts:
        if value:
            yield from _wrapped(value, INDENT + label.ljust(width))
    if notices := wording.notices(payment):
        yield ""
        for text in notices:
            yield from _wrapped(text, "! ")


def claim_payment_lines(claim_payment: ClaimPayment) -> Iterator[str]:
    """Yield one claim payment: whose, what became of it, its lines, and every reason in words."""
    label = f"{wording.patient_name(claim_payment)}: {wording.claim_payment_words(claim_payment)}"
    yield from _wrapped(label, f"{claim_payment.number}. ")
    if numbers := wording.claim_payment_numbers(claim_payment):
        # A number and its name stay on one line: an unbreakable blank is between them.
        kept = (printable(one).replace(" ", UNBROKEN_BLANK) for one in numbers)
        for text in _wrapped(", ".join(kept), INDENT, clean=False):
            yield text.replace(UNBROKEN_BLANK, " ")
    for text in wording.claim_payment_warnings(claim_payment):
        yield from _wrapped(text, f"{INDENT}! ")
    for text in wording.claim_payment_notes(claim_payment):
        yield from _wrapped(text, INDENT)
    yield from _amount_lines("", AMOUNT_HEADINGS)
    for line in claim_payment.lines:
        yield from _line_lines(line)
    yield from _reason_lines(claim_payment.adjustments, claim_payment.remarks)
    yield from _money_lines(
        "Claim",
        claim_payment.charge,
        claim_payment.allowed,
        claim_payment.paid,
        claim_payment.patient,
        wording.claim_payment_other_part(claim_payment),
    )


def _equation_lines(payment: Payment, adjustments: Sequence[ProviderAdjustment]) -> Iterator[str]:
    yield ""
    for term in wording.equation(payment, adjustments):
        yield from _term_lines(term.label, wording.money(term.amount))
    yield f"{INDENT}{'-' * (TERM_WIDTH + WIDE_AMOUNT_WIDTH)}"
    yield from _term_lines("Amount of the payment", wording.amount_words(payment))
    if payment.amount is not None and payment.your_amount != payment.amount:
        yield from _term_lines("Your part of it", wording.money(payment.your_amount))


def _term_lines(label: str, amount: str) -> Iterator[str]:
    *above, last = textwrap.wrap(printable(label), TERM_WIDTH) or [""]
    yield from (f"{INDENT}{text}" for text in above)
    yield f"{INDENT}{last.ljust(TERM_WIDTH)}{amount.rjust(WIDE_AMOUNT_WIDTH)}"


def _adjustment_lines(adjustment: ProviderAdjustment) -> Iterator[str]:
    parts = (
        wording.reason_words(adjustment),
        f"reference {adjustment.reference}" if adjustment.reference else "",
        f"claim {adjustment.claim_number}" if adjustment.claim_number else "",
        f"fiscal year to {wording.day(adjustment.fiscal_year_end)}"
        if adjustment.fiscal_year_end
        else "",
    )
    amount = wording.money(adjustment.amount).rjust(AMOUNT_WIDTH)
    yield from _wrapped(", ".join(filter(None, parts)), f"{amount}  ")


def _line_lines(line: PaidLine) -> Iterator[str]:
    units = wording.units_words(line)
    label = f"{wording.day(line.service_date)} {wording.procedure_words(line)}".strip()
    yield from _money_lines(
        f"{label}, {units} units" if units not in {"", "1"} else label,
        line.charge,
        line.allowed,
        line.paid,
        line.patient,
        wording.other_part(line.adjustments),
    )
    if not line.balanced:
        yield from _wrapped("This line does not balance.", f"{INDENT * 2}! ")
    yield from _reason_lines(line.adjustments, line.remarks)


def _reason_lines(
    adjustments: Sequence[LineAdjustment], remarks: Sequence[LineRemark]
) -> Iterator[str]:
    for one in adjustments:
        amount = wording.money(one.amount).rjust(AMOUNT_WIDTH)
        yield from _wrapped(wording.adjustment_words(one), f"{amount}  ")
    for remark in remarks:
        yield from _wrapped(wording.remark_words(remark), " " * (AMOUNT_WIDTH + 2))


def _money_lines(label: str, *amounts: int) -> Iterator[str]:
    yield from _amount_lines(label, [wording.money(one) for one in amounts])


def _amount_lines(label: str, amounts: Sequence[str]) -> Iterator[str]:
    """Yield a label and amounts in their columns; if either is too long, the label goes above."""
    is_wide = any(len(one) >= AMOUNT_WIDTH for one in amounts)
    width = WIDE_AMOUNT_WIDTH if is_wide else AMOUNT_WIDTH
    figures = "".join(one.rjust(width) for one in amounts)
    label = f"{INDENT}{printable(label)}"
    if is_wide or len(label) > LABEL_WIDTH:
        yield from _wrapped(label.strip(), INDENT)
        yield figures.rjust(WIDTH)
    else:
        yield label.ljust(LABEL_WIDTH) + figures


def _wrapped(text: str, before: str, *, clean: bool = True) -> list[str]:
    """Return a text in lines that fit, with a prefix on the first, and blanks before the others."""
    return textwrap.wrap(
        printable(text) if clean else text,
        WIDTH,
        initial_indent=before,
        subsequent_indent=" " * len(before),
        break_on_hyphens=False,
    ) or [before.rstrip()]
