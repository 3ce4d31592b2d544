"""What a payment is called, in one word: what a person has to do about it.

The API, commands and exports show the value, pages the words. Knows payments alone.
"""

from enum import StrEnum

from clearlane.payments.payment import Payment
from clearlane.payments.wording import HANDLING_WITHOUT_MONEY

NO_MONEY_METHOD = "NON"


class PaymentLabel(StrEnum):
    """The label of a payment."""

    DUPLICATE = "duplicate"
    DOES_NOT_BALANCE = "does_not_balance"
    TO_MATCH = "to_match"
    """It has claims that match none of ours."""
    NUMBER_USED_TWICE = "number_used_twice"
    CLAIMS_OUT_OF_BALANCE = "claims_out_of_balance"
    NOTICE_WITHOUT_MONEY = "notice_without_money"
    BALANCED = "balanced"


def label_payment(payment: Payment) -> PaymentLabel:
    """Return the label of a payment; of several that hold, the first needs a person most."""
    is_notice = payment.handling in HANDLING_WITHOUT_MONEY or payment.method == NO_MONEY_METHOD
    holds = {
        PaymentLabel.DUPLICATE: payment.duplicate_of,
        PaymentLabel.DOES_NOT_BALANCE: not payment.balanced,
        PaymentLabel.TO_MATCH: payment.unmatched,
        PaymentLabel.NUMBER_USED_TWICE: payment.differs_from,
        PaymentLabel.CLAIMS_OUT_OF_BALANCE: payment.unbalanced_claims,
        PaymentLabel.NOTICE_WITHOUT_MONEY: is_notice,
    }
    return next((label for label, held in holds.items() if held), PaymentLabel.BALANCED)
