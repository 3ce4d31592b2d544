"""What a site did with its part of a payment: deposited, how much and when; or settled although it does not balance.

A record of the site about its own part, beside the payment's state, which is the payer's matter. Knows payments and no
database.
"""

from collections.abc import Sequence
from datetime import date
from enum import StrEnum

from clearlane.payments.model import PaymentStruct

REFERENCE_CHARACTERS_MAX = 60
BECAUSE_CHARACTERS_MAX = 500


class DepositState(StrEnum):
    """Where a part of a payment is."""

    OPEN = "open"
    """Neither deposited nor settled."""
    DEPOSITED = "deposited"
    """The amount that the payer stated."""
    DIFFERS = "differs"
    """Another amount was deposited, and no one settled that."""
    SETTLED = "settled"
    """A person said why nothing is left to do."""


class DepositNote(PaymentStruct, frozen=True):
    """What a person wrote about a part of a payment."""

    reference: str = ""
    """Of the deposit, as the bank has it."""
    because: str = ""
    """Why it is settled."""


class Deposit(PaymentStruct, frozen=True):
    """What became of a part of a payment, or of several parts together. Amounts are cents."""

    state: DepositState = DepositState.OPEN
    expected: int = 0
    """The amount of the part, as the payer stated it."""
    day: date | None = None
    """When it was deposited, of several parts the last day."""
    amount: int | None = None
    """What was deposited; None if nothing was."""

    @property
    def difference(self) -> int | None:
        """What was deposited less what the payer stated; None if nothing was deposited."""
        return None if self.amount is None else self.amount - self.expected


def deposit_state(expected: int, amount: int | None, *, is_settled: bool) -> DepositState:
    """Return where a part of a payment is."""
    if is_settled:
        return DepositState.SETTLED
    if amount is None:
        return DepositState.OPEN
    return DepositState.DEPOSITED if amount == expected else DepositState.DIFFERS


def add_deposits(parts: Sequence[Deposit]) -> Deposit:
    """Return what became of several parts together: open while one of them is."""
    if len(parts) == 1:
        return parts[0]
    amounts = [one.amount for one in parts if one.amount is not None]
    states = {one.state for one in parts}
    order = (DepositState.OPEN, DepositState.DIFFERS, DepositState.DEPOSITED, DepositState.SETTLED)
    return Deposit(
        state=next((one for one in order if one in states), DepositState.OPEN),
        expected=sum(one.expected for one in parts),
        day=max((one.day for one in parts if one.day), default=None),
        amount=sum(amounts) if amounts else None,
    )
