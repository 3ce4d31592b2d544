"""What a payment is called on pages: its label, its name, and how its money came.

Knows payments; knows no page.
"""

from clearlane.console.frame import page_text
from clearlane.kernel.claim_label import LabelConcern
from clearlane.payments.deposit import Deposit, DepositState
from clearlane.payments.payment import Payment
from clearlane.payments.payment_label import NO_MONEY_METHOD, PaymentLabel, label_payment

METHOD_NOUNS = {
    "ACH": "transfer",
    "BOP": "payment",
    "CHK": "check",
    "FWT": "wire",
    NO_MONEY_METHOD: "notice",
}
"""BPR04 as one word."""


CONCERNS = {
    PaymentLabel.DUPLICATE: LabelConcern.DONE,
    PaymentLabel.DOES_NOT_BALANCE: LabelConcern.ACT,
    PaymentLabel.TO_MATCH: LabelConcern.LATE,
    PaymentLabel.NUMBER_USED_TWICE: LabelConcern.LATE,
    PaymentLabel.CLAIMS_OUT_OF_BALANCE: LabelConcern.LATE,
    PaymentLabel.NOTICE_WITHOUT_MONEY: LabelConcern.DONE,
    PaymentLabel.BALANCED: LabelConcern.GOOD,
}


def payment_label(payment: Payment) -> tuple[LabelConcern, str]:
    """Return the label of a payment as pages show it: who must act, and the words."""
    if payment.deposit.state is DepositState.SETTLED:
        return LabelConcern.DONE, "Settled"
    label = label_payment(payment)
    claims = page_text.count(payment.unbalanced_claims, "claim")
    counts = {
        PaymentLabel.TO_MATCH: f"{payment.unmatched:,} to match",
        PaymentLabel.CLAIMS_OUT_OF_BALANCE: f"{claims} out of balance",
    }
    return CONCERNS[label], counts.get(label, label.replace("_", " ").capitalize())


def method_noun(payment: Payment) -> str:
    """Return how the money came, as one word: transfer, check, wire, notice."""
    return METHOD_NOUNS.get(payment.method, "payment")


def payment_title(payment: Payment, payer: str) -> str:
    """Return what a payment is called: ``Harbor Health, transfer 9981, Dec 1, 2026``."""
    noun = f"{method_noun(payment)} {payment.trace_number}".strip()
    paid = payment.effective_date or payment.production_date
    return ", ".join(filter(None, (payer, noun, page_text.day(paid) if paid else "")))


def deposit_words(deposit: Deposit) -> str:
    """Return what became of a part of a payment: ``Dec 3, 2026, 5.00 less than stated``; empty while it is open."""
    settled = "settled" if deposit.state is DepositState.SETTLED else ""
    return ", ".join(filter(None, (*deposit_parts(deposit), settled)))


def deposit_parts(deposit: Deposit) -> tuple[str, str]:
    """Return the day of a deposit and what it differs by; both empty if nothing was deposited."""
    if deposit.day is None:
        return "", ""
    difference = deposit.difference or 0
    than = "more" if difference > 0 else "less"
    differs = f"{page_text.money(abs(difference))} {than} than stated" if difference else ""
    return page_text.day(deposit.day), differs
