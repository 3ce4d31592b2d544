"""Read what a part of a payment is, and what a site did with it, from the stored rows of both.

Knows no page and no command.
"""

from collections.abc import Sequence
from datetime import date

from clearlane.payments.deposit import Deposit, deposit_state
from clearlane.store.payments.payments import PaymentRow, PaymentShare


def part_cents(row: PaymentRow, shares: Sequence[PaymentShare]) -> int:
    """Return what some sites' parts of a payment are together: its whole amount if all of it is theirs.

    That is not what its claims and adjustments add up to if the payment does not balance.
    """
    claims = sum(one.claims for one in shares)
    adjusted = sum(one.adjustment_cents for one in shares)
    is_whole = bool(shares) and (claims, adjusted) == (row.claims, row.adjustment_cents)
    if is_whole and row.amount_cents is not None:
        return row.amount_cents
    return sum(one.paid_cents for one in shares) + adjusted


def share_deposit(row: PaymentRow, share: PaymentShare) -> Deposit:
    """Return what a site did with its part of a payment."""
    expected = part_cents(row, [share])
    amount, day = share.deposited_cents, share.deposited_day
    return Deposit(
        state=deposit_state(expected, amount, is_settled=share.settled_at is not None),
        expected=expected,
        day=date.fromisoformat(day) if day else None,
        amount=amount,
    )
