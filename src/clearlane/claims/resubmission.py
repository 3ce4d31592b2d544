"""Decide what a vendor's claim id sent again means, and how a correction goes to the payer.

A vendor's claim id identifies the vendor's claim, which may have to be sent more than once. For ``submit``, and for
every other way a correction can be made. Pure: is given the earlier claim and the time, reads neither.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from clearlane.claims.lifecycle import ClaimState

REPLACEMENT, VOID = "7", "8"
ORIGINAL = "1"

# Unchanged and unpaid, a claim within this time is taken for a repeated request, later for a new claim.
REPEATED_REQUEST_HOURS = 24


class ResubmissionDecision(StrEnum):
    """What a claim under a known vendor's claim id is."""

    REPEATED_REQUEST = "repeated-request"
    """The earlier claim again: answered with its request id, nothing is sent."""
    ID_IN_USE = "id-in-use"
    """Another claim while the earlier one is on its way: refused."""
    SUCCESSOR = "successor"
    """A new claim, which takes over the id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResubmissionTimes:
    """The moments that decide how old an earlier claim is. In a sandbox they follow the payers' calendar."""

    repeated_since: datetime
    """Unchanged and unpaid, a claim accepted later than this is taken for a repeated request."""
    silent_since: datetime
    """A payer that said nothing later than this has been silent for too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierClaim:
    """The current claim under a vendor's claim id."""

    state: ClaimState
    accepted_at: datetime
    last_word_at: datetime
    """The last time anything was learnt about it."""
    paid_cents: int

    @property
    def delivered(self) -> bool:
        """Whether a batch with it reached the payer."""
        return self.state is not ClaimState.RECEIVED


def decide_resubmission(
    earlier: EarlierClaim,
    *,
    same_content: bool,
    frequency: str,
    times: ResubmissionTimes,
) -> ResubmissionDecision:
    """Return what a claim is that came under the id of an earlier one."""
    if earlier.state is ClaimState.REJECTED:
        return ResubmissionDecision.SUCCESSOR
    if same_content and _is_repeated(earlier, times):
        return ResubmissionDecision.REPEATED_REQUEST
    if earlier.state is ClaimState.COMPLETE or is_silent(earlier, times):
        return ResubmissionDecision.SUCCESSOR
    if frequency in {REPLACEMENT, VOID} and earlier.delivered and not same_content:
        return ResubmissionDecision.SUCCESSOR
    return ResubmissionDecision.ID_IN_USE


def _is_repeated(earlier: EarlierClaim, times: ResubmissionTimes) -> bool:
    """Return whether the same content is the same request again, rather than a claim to be sent anew."""
    if earlier.state is not ClaimState.COMPLETE:
        return not is_silent(earlier, times)
    if earlier.paid_cents > 0:
        return True
    return earlier.accepted_at > times.repeated_since


def is_silent(earlier: EarlierClaim, times: ResubmissionTimes) -> bool:
    """Return whether the payer has said nothing about a delivered claim for too long."""
    return (
        earlier.delivered
        and earlier.state is not ClaimState.COMPLETE
        and earlier.last_word_at <= times.silent_since
    )
