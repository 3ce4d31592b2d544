"""Match a payer's response to the claim it is about.

A response names a claim by CLM01 as it was sent (CLP01, TRN02), perhaps by our claim number (``REF*D9``), and
its service lines by their control numbers (``REF*6R``), which hold our claim number unless the vendor gave them.
The caller looks the candidates up, for the payer that responds:

    possible_claim_numbers(response)              # the claim numbers to look up
    choose_claim(response, candidates)            # the claim, or why there is none

A wrong match would show one vendor's payment to another, so every identifier in the response must agree. If
two claims fit, neither is matched. Knows identifiers; knows no database.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

import msgspec

from clearlane.kernel.redacted_repr import shows


class ClaimReference(Protocol):
    """The identifiers by which a response names a claim."""

    @property
    def account_number(self) -> str: ...
    @property
    def claim_number(self) -> str: ...
    @property
    def line_controls(self) -> tuple[str, ...]: ...
    @property
    def payer_control_number(self) -> str: ...


@shows("claim_number")
class ClaimCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that was sent to the payer."""

    claim_number: str
    """Our claim number (``REF*D9`` as it was sent)."""
    account_number: str
    """CLM01 as it was sent."""
    line_controls: frozenset[str] = frozenset()
    """``REF*6R`` of its service lines as they were sent."""


class NoMatch(msgspec.Struct, frozen=True):
    """The reason why a response matches no claim."""

    reason: str


UNKNOWN = NoMatch("No claim with these numbers was sent to this payer.")
CONTRADICTORY = NoMatch(
    "The claim number and the line numbers of the response name different claims."
)
AMBIGUOUS = NoMatch("Several claims fit the numbers of the response.")


def possible_claim_numbers(reference: ClaimReference) -> list[str]:
    """Return the claim numbers that the response may mean, the most reliable first."""
    found = dict.fromkeys(filter(None, (reference.claim_number, reference.account_number)))
    for control in reference.line_controls:
        if number := claim_number_in(control):
            found.setdefault(number)
    return list(found)


def claim_number_in(control: str) -> str:
    """Return the claim number in a line control number that we made; empty for a vendor's own."""
    number, dash, line = control.rpartition("-")
    return number if dash and line.rstrip("X").isdigit() else ""


def choose_claim(
    reference: ClaimReference, candidates: Iterable[ClaimCandidate]
) -> ClaimCandidate | NoMatch:
    """Return the one candidate that every identifier of the response agrees with."""
    known = list({candidate.claim_number: candidate for candidate in candidates}.values())
    possible = [candidate for candidate in known if any(_agreements(reference, candidate))]
    if not possible:
        return UNKNOWN
    # Among candidates that nothing contradicts, the one with the most agreeing identifiers wins.
    consistent = [candidate for candidate in possible if all(_agreements(reference, candidate))]
    if not consistent:
        return CONTRADICTORY
    if len(consistent) == 1:
        return consistent[0]
    most = max(_agreement_count(reference, candidate) for candidate in consistent)
    best = [candidate for candidate in consistent if _agreement_count(reference, candidate) == most]
    return best[0] if len(best) == 1 else AMBIGUOUS


def _agreements(reference: ClaimReference, candidate: ClaimCandidate) -> Iterator[bool]:
    """Yield for each identifier in the response whether it agrees with a candidate."""
    if reference.claim_number:
        yield reference.claim_number == candidate.claim_number
    if reference.account_number:
        yield reference.account_number in {candidate.account_number, candidate.claim_number}
    # A payer may bundle service lines into one of its own, so one known line is enough.
    if reference.line_controls and candidate.line_controls:
        yield not candidate.line_controls.isdisjoint(reference.line_controls)


def _agreement_count(reference: ClaimReference, candidate: ClaimCandidate) -> int:
    return sum(_agreements(reference, candidate))
