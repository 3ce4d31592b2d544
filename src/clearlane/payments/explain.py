"""Remittances in words: what a payment is, what was decided of a claim, what was taken from the whole.

The fields of the claim that an adjustment concerns are told elsewhere; this is about money. Knows amounts and
code lists; knows no claim that was sent.
"""

from collections.abc import Iterator

from clearlane.payments.balance import counted, doubts, money
from clearlane.payments.model import Adjustment, Closing, Payment, Remit
from clearlane.x12 import codes

METHODS = {
    "Check": "by check",
    "Ach": "by bank transfer (ACH)",
    "WireTransfer": "by wire transfer",
    "FinancialInstitutionOption": "by a way the bank chooses",
    "NonPayment": "without money: this is information only",
}


def payment(paid: Payment) -> str:
    """A payment in a sentence."""
    if paid.amount is None:
        return f"{paid.payer or 'The payer'} sent a remittance whose amount cannot be read."
    how = METHODS.get(paid.method, f"by {paid.method}" if paid.method else "")
    parts = [f"{paid.payer or 'The payer'} paid {money(paid.amount)}", how]
    parts += [f"number {paid.reference}"] if paid.reference else []
    parts += [f"effective {paid.effective}"] if paid.effective else []
    return " ".join(filter(None, parts)) + "."


def claim(remit: Remit) -> str:
    """What was decided of a claim, in a sentence or two."""
    words = codes.load("claim_payment_statuses").get(remit.code, "Decided")
    if remit.is_reversal:
        return (
            f"An earlier payment was taken back: {money(-remit.paid)} of {money(-remit.charged)}"
            " charged. A corrected remittance follows as a rule."
        )
    said = (
        f"{words}: of {money(remit.charged)} charged the payer paid {money(remit.paid)}, the patient"
        f" owes {money(remit.patient)}, and {money(remit.adjusted)} was adjusted otherwise."
    )
    if remit.balance:
        said += f" The payer's figures leave {money(remit.balance)} unexplained: ask the payer."
    return said


def provider_adjustment(one: Adjustment) -> str:
    """What was taken from, or added to, a payment as a whole."""
    words = codes.load("provider_adjustments").get(one.reason, f"Reason {one.reason}")
    verb = "added" if one.amount < 0 else "taken"
    away = "to" if one.amount < 0 else "from"
    about = f", reference {one.reference}" if one.reference else ""
    return f"{money(abs(one.amount))} was {verb} {away} the payment: {words}{about}."


def closing(end: Closing) -> Iterator[str]:
    """A whole remittance, sentence by sentence."""
    yield payment(end.payment)
    yield f"It tells of {counted(end.claims, 'claim')} paid {money(end.paid)} together."
    for one in end.adjustments:
        yield provider_adjustment(one)
    yield from doubts(end)
