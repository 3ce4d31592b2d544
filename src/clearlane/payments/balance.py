"""Balance checks of a payment and of its claim payments.

An 835 must balance (X12 guide 005010X221A1, section 1.10.2.1). Payers send files that do not, so an imbalance is a
warning for the person who posts the money, never a reason to refuse. Knows amounts; knows no file.
"""

from collections.abc import Iterator

from clearlane.payments.model import ClaimPaymentFact, PaymentHeading
from clearlane.payments.payment import PaymentSummary, ProviderAdjustment


class PaymentTotals:
    """Running totals over the claim payments of one payment."""

    __slots__ = ("_claims", "_paid", "_unbalanced", "_unknown_paid", "_unreadable")

    def __init__(self) -> None:
        self._claims = self._paid = self._unbalanced = self._unreadable = 0
        self._unknown_paid = False

    def add(self, claim_payment: ClaimPaymentFact) -> None:
        """Add one claim payment to the totals."""
        self._claims += 1
        self._paid += claim_payment.paid
        if claim_payment.unreadable:
            self._unreadable += 1
            self._unknown_paid |= "CLP04" in claim_payment.unreadable
        elif not claim_payment.balanced:
            self._unbalanced += 1

    def summary(
        self,
        payment: PaymentHeading,
        adjustments: tuple[ProviderAdjustment, ...] = (),
        *,
        readable: bool = True,
    ) -> PaymentSummary:
        """Return the summary of the payment whose claim payments were added.

        ``readable`` is false if an amount of a provider adjustment is not.
        """
        total = sum(one.amount for one in adjustments)
        difference = None if payment.amount is None else payment.amount - self._paid - total
        return PaymentSummary(
            balanced=is_balanced(difference, readable=readable and not self._unknown_paid),
            payment=payment,
            claims=self._claims,
            paid=self._paid,
            adjustments=adjustments,
            unbalanced_claims=self._unbalanced,
            unreadable_claims=self._unreadable,
        )


def is_balanced(difference: int | None, *, readable: bool) -> bool:
    """Return whether a payment balances: nothing is left, and every amount of the equation can be read."""
    return readable and difference == 0


def balance_warnings(summary: PaymentSummary) -> Iterator[str]:
    """Yield a sentence for each thing that a person should check before posting the payment."""
    if summary.balance is None:
        yield "The amount of the payment (BPR02) cannot be read."
    elif summary.balance:
        yield (
            f"The payment is {format_money(summary.balance)} off: it should be what the claims were paid"
            " less the adjustments of the payment as a whole."
        )
    if summary.unbalanced_claims:
        yield (
            f"{format_count(summary.unbalanced_claims, 'claim')} out of balance: the charge should be what was"
            " paid and adjusted."
        )
    if summary.unreadable_claims:
        yield f"{format_count(summary.unreadable_claims, 'claim')} with amounts or codes that cannot be read."


def format_money(cents: int) -> str:
    """Return an amount in dollars, such as ``-$1,234.50``."""
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100:,}.{abs(cents) % 100:02}"


def format_count(number: int, noun: str) -> str:
    """Return a count with its noun, such as ``2 claims``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
