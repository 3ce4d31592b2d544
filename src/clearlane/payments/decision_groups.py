"""The groups in which the claims of a payment are shown: paid, denied, taken back and corrected.

    group_of(kind="reversal", outcome="taken back")     # DecisionGroup.CORRECTED
    pair_corrections(occurrences)                       # a reversal beside its correction, with the net

What matches no claim is a group of its own and never comes here. Knows decisions; knows no page and no database.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from clearlane.payments.outcome import Outcome
from clearlane.payments.payment import ClaimOccurrence, OccurrenceKind


class DecisionGroup(StrEnum):
    """One group of the decisions of a payment, as an address names it."""

    DENIED = "denied"
    CORRECTED = "corrected"
    PAID = "paid"


GROUP_TITLES = {
    DecisionGroup.DENIED: "Denied",
    DecisionGroup.CORRECTED: "Taken back and corrected",
    DecisionGroup.PAID: "Paid",
}
"""In the order of a page: what somebody must act on comes first."""

DENIED_OUTCOMES = frozenset({Outcome.DENIED, Outcome.PARTLY_DENIED})


def group_of(*, kind: str, outcome: str) -> DecisionGroup:
    """Return the group of a decision. What takes back or follows a reversal is judged by its kind alone."""
    if kind != OccurrenceKind.ORIGINAL or outcome == Outcome.TAKEN_BACK:
        return DecisionGroup.CORRECTED
    return DecisionGroup.DENIED if outcome in DENIED_OUTCOMES else DecisionGroup.PAID


class CorrectedClaim(NamedTuple):
    """What one payment takes back and decides anew about one claim."""

    occurrences: tuple[ClaimOccurrence, ...]

    @property
    def net(self) -> int:
        """What the payment changes for the claim: minus takes money away."""
        return sum(one.paid for one in self.occurrences)


def pair_corrections(occurrences: Iterable[ClaimOccurrence]) -> Sequence[CorrectedClaim]:
    """Return the decisions claim by claim, in the order in which the first of each claim stands."""
    by_claim: dict[str, list[ClaimOccurrence]] = {}
    for one in occurrences:
        by_claim.setdefault(one.claim_number, []).append(one)
    return [CorrectedClaim(tuple(several)) for several in by_claim.values()]
