"""Read what a site did with its part of a payment from the stored rows of both.

Knows no page and no command.
"""

from datetime import date

from clearlane.payments.deposit import Deposit, deposit_state
from clearlane.store.payments.payments import PaymentRow, PaymentShare


def share_deposit(row: PaymentRow, share: PaymentShare) -> Deposit:
    """Return what a site did with its part of a payment."""
    is_whole = (share.claims, share.adjustment_cents) == (row.claims, row.adjustment_cents)
    whole = row.amount_cents if is_whole else None
    expected = share.paid_cents + share.adjustment_cents if whole is None else whole
    amount, day = share.deposited_cents, share.deposited_day
    return Deposit(
        state=deposit_state(expected, amount, is_settled=share.settled_at is not None),
        expected=expected,
        day=date.fromisoformat(day) if day else None,
        amount=amount,
    )
