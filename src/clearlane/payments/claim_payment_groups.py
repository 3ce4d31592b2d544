"""The groups in which the claims of a payment are shown: paid, denied, taken back and corrected.

    group_of(type="reversal", label="taken_back")        # ClaimPaymentGroup.CORRECTED
    pair_corrections(claim_payments)                       # a reversal beside its correction, with the net

What matches no claim is a group of its own and never comes here. Knows claim payments; knows no page and no database.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payments.payment import ClaimPayment, ClaimPaymentType


class ClaimPaymentGroup(StrEnum):
    """One group of the claim payments of a payment, as an address names it."""

    DENIED = "denied"
    CORRECTED = "corrected"
    PAID = "paid"


GROUP_TITLES = {
    ClaimPaymentGroup.DENIED: "Denied",
    ClaimPaymentGroup.CORRECTED: "Taken back and corrected",
    ClaimPaymentGroup.PAID: "Paid",
}
"""In the order of a page: what needs action comes first."""

DENIED_LABELS = frozenset({ClaimLabel.DENIED, ClaimLabel.PARTLY_DENIED})


def group_of(*, type: str, label: str) -> ClaimPaymentGroup:
    """Return the group of a claim payment. What takes back or follows a reversal is judged by its type alone."""
    if type != ClaimPaymentType.ORIGINAL or label == ClaimLabel.TAKEN_BACK:
        return ClaimPaymentGroup.CORRECTED
    return ClaimPaymentGroup.DENIED if label in DENIED_LABELS else ClaimPaymentGroup.PAID


class CorrectedClaim(NamedTuple):
    """What one payment takes back and decides again about one claim."""

    claim_payments: tuple[ClaimPayment, ...]

    @property
    def net(self) -> int:
        """What the payment changes for the claim: minus takes money away."""
        return sum(one.paid for one in self.claim_payments)


def pair_corrections(claim_payments: Iterable[ClaimPayment]) -> Sequence[CorrectedClaim]:
    """Return the claim payments claim by claim, in the order of the first one of each claim."""
    by_claim: dict[str, list[ClaimPayment]] = {}
    for one in claim_payments:
        by_claim.setdefault(one.claim_number, []).append(one)
    return [CorrectedClaim(tuple(several)) for several in by_claim.values()]
