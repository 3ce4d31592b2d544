"""What a payment is called on pages: its label, its name, and how its money came.

Knows payments; knows no page.
"""

from typing import NamedTuple

from clearlane.console.frame import page_text
from clearlane.payments.payment import Payment
from clearlane.payments.wording import HANDLING_WITHOUT_MONEY

NO_MONEY_METHOD = "NON"
METHOD_NOUNS = {
    "ACH": "transfer",
    "BOP": "payment",
    "CHK": "check",
    "FWT": "wire",
    NO_MONEY_METHOD: "notice",
}
"""BPR04 as one word."""


class PaymentLabel(NamedTuple):
    """A label: who must act, and the words."""

    kind: str
    """act, late, wait, good or done, as the style sheet names them."""
    text: str


def payment_label(payment: Payment) -> PaymentLabel:
    """Return the label of a payment: what a person has to do about it."""
    if payment.duplicate_of:
        return PaymentLabel("done", "Duplicate")
    if not payment.balanced:
        return PaymentLabel("act", "Does not balance")
    if payment.unmatched:
        return PaymentLabel("late", f"{payment.unmatched:,} to match")
    if payment.differs_from:
        return PaymentLabel("late", "Number used twice")
    if payment.unbalanced_claims:
        claims = page_text.count(payment.unbalanced_claims, "claim")
        return PaymentLabel("late", f"{claims} out of balance")
    if payment.handling in HANDLING_WITHOUT_MONEY or payment.method == NO_MONEY_METHOD:
        return PaymentLabel("done", "Notice without money")
    return PaymentLabel("good", "Balanced")


def method_noun(payment: Payment) -> str:
    """Return how the money came, as one word: transfer, check, wire, notice."""
    return METHOD_NOUNS.get(payment.method, "payment")


def payment_title(payment: Payment, payer: str) -> str:
    """Return what a payment is called: ``Harbor Health, transfer 9981, Dec 1, 2026``."""
    noun = f"{method_noun(payment)} {payment.trace_number}".strip()
    paid = payment.effective_date or payment.production_date
    return ", ".join(filter(None, (payer, noun, page_text.day(paid) if paid else "")))
