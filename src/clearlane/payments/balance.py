"""Whether remittances add up: each claim, and the payment over all its claims.

A payment is a payer's promise that its parts make the whole; where they do not, a person should look before the
money is booked. Nothing is refused for it: payers' files out of balance are met, and the claim's own figures
stand as they are. Knows amounts; knows no file.
"""

from collections.abc import Iterator

from clearlane.payments.model import Adjustment, Closing, Payment, Remit


class Tally:
    """Adds up the claims of one payment, one at a time."""

    __slots__ = ("_claims", "_faulty", "_paid", "_unbalanced")

    def __init__(self) -> None:
        self._claims = self._paid = self._unbalanced = self._faulty = 0

    def add(self, remit: Remit) -> None:
        """Count a claim in."""
        self._claims += 1
        self._paid += remit.paid
        self._faulty += bool(remit.faults)
        self._unbalanced += bool(remit.balance and not remit.faults)

    def closing(self, payment: Payment, adjustments: tuple[Adjustment, ...] = ()) -> Closing:
        """The end of the payment."""
        return Closing(
            payment=payment,
            claims=self._claims,
            paid=self._paid,
            adjustments=adjustments,
            unbalanced=self._unbalanced,
            faulty=self._faulty,
        )


def doubts(closing: Closing) -> Iterator[str]:
    """What a person should look at, each as a sentence; nothing where all is in order."""
    if closing.balance is None:
        yield "The amount of the payment (BPR02) cannot be read."
    elif closing.balance:
        yield (
            f"The payment is {money(closing.balance)} off: it should be what the claims were paid"
            " less the adjustments of the payment as a whole."
        )
    if closing.unbalanced:
        yield (
            f"{counted(closing.unbalanced, 'claim')} out of balance: the charge should be what was"
            " paid and adjusted."
        )
    if closing.faulty:
        yield f"{counted(closing.faulty, 'claim')} with amounts or codes that cannot be read."


def money(cents: int) -> str:
    """An amount as people write it."""
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100:,}.{abs(cents) % 100:02}"


def counted(number: int, noun: str) -> str:
    """One claim, two claims."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
