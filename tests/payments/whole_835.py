"""Every claim payment of an 835 with all that it says, and each payment with its totals, as both readings give them."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from clearlane.payments import read_835
from clearlane.payments.payment import ClaimPayment, Payment, ProviderAdjustment
from clearlane.payments.read_payment import Corrections, claim_payment_of_view
from clearlane.x12.views.original import SeparatorRestorer
from clearlane.x12.views.remittance import CLAIM


class PaymentRecord(NamedTuple):
    """A payment and its provider adjustments."""

    payment: Payment
    adjustments: tuple[ProviderAdjustment, ...]


def read_one_payment(content: bytes) -> tuple[PaymentRecord, list[ClaimPayment]]:
    """Return the payment of a file of one, and its claim payments."""
    *parts, record = read_payments(content)
    assert isinstance(record, PaymentRecord)
    return record, [part for part in parts if isinstance(part, ClaimPayment)]


def read_payments(content: bytes) -> Iterator[ClaimPayment | PaymentRecord]:
    """Yield the claim payments of every 835 in a file, and each payment at the end of its set."""
    claims: list[ClaimPayment] = []
    for part in read_835.read(content):
        if isinstance(part, read_835.PaymentStart):
            payment, claims, corrections = part.payment, [], Corrections()
        elif isinstance(part, read_835.ClaimPaymentLoop):
            delimiters = part.unit.set.group.interchange.delimiters
            view = SeparatorRestorer(delimiters).restore(CLAIM(part.unit.loop))
            claims.append(corrections.mark(claim_payment_of_view(view, number=len(claims) + 1)))
            yield claims[-1]
        else:
            totals = {
                "claims": part.claims, "claims_paid": sum(one.paid for one in claims), "balanced": part.balanced,
                "adjustments_total": sum(one.amount for one in part.adjustments), "difference": part.balance,
                "unbalanced_claims": sum(not one.balanced for one in claims),
            }  # fmt: skip
            yield PaymentRecord(replace(payment, **totals), part.adjustments)
