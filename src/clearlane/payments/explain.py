"""Sentences that describe a payment and a claim payment.

Only the money is described here; the claim fields that an adjustment concerns are named by ``claims.provenance``.
Knows amounts and code lists; knows no claim that was sent.
"""

from clearlane.payments.balance import format_money
from clearlane.payments.model import ClaimPaymentFact, PaymentHeading
from clearlane.x12 import codes

METHODS = {
    "CHK": "by check",
    "ACH": "by bank transfer (ACH)",
    "FWT": "by wire transfer",
    "BOP": "by a method that the bank chooses",
}
NO_MONEY = "NON"
"""The method of an advice that moves no money (BPR04)."""


def describe_payment(payment: PaymentHeading) -> str:
    """Return a sentence about a payment, whose amount is never that of one of its claims."""
    if payment.amount is None:
        return f"{payment.payer_name or 'The payer'} sent a remittance whose amount cannot be read."
    payer, number = payment.payer_name or "The payer", payment.trace_number
    if payment.method == NO_MONEY:
        parts = [f"{payer} sent {f'notice {number}' if number else 'a notice'} without money"]
    else:
        method = METHODS.get(payment.method, f"by {payment.method}" if payment.method else "")
        parts = [f"{payer} paid {format_money(payment.amount)}", method]
        parts += [f"number {number}"] if number else []
    parts += [f"effective {payment.effective_date}"] if payment.effective_date else []
    return " ".join(filter(None, parts)) + ", for all claims in it."


def describe_claim_payment(claim_payment: ClaimPaymentFact, *, is_voided: bool = False) -> str:
    """Return a sentence or two about a claim payment. Nothing follows the reversal of a voided claim."""
    words = codes.load("claim_payment_statuses").get(claim_payment.status_code, "Decided")
    if claim_payment.is_reversal:
        taken_back = (
            f"An earlier payment was taken back: {format_money(-claim_payment.paid)} of {format_money(-claim_payment.charged)}"
            " charged."
        )
        return taken_back if is_voided else f"{taken_back} A corrected remittance usually follows."
    sentence = (
        f"{words}: of {format_money(claim_payment.charged)} charged the payer paid {format_money(claim_payment.paid)}, the patient"
        f" owes {format_money(claim_payment.patient)}, and {format_money(claim_payment.adjusted)} was adjusted otherwise."
    )
    if claim_payment.balance:
        sentence += f" The payer's figures leave {format_money(claim_payment.balance)} unexplained: ask the payer."
    return sentence
