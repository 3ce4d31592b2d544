"""What a payer checks on its own, beyond the guide: each a row with a sentence.

Knows claims as the payer read them and the day they arrived.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from clearlane.sandbox.model import Claim, Profile, Refusal

Passes = Callable[[Claim, Profile, date], bool]


@dataclass(frozen=True, slots=True)
class Check:
    """A row: how a failure is told, what must be true, and how that is seen."""

    refusal: Refusal
    sentence: str
    passes: Passes


def _is_ours(claim: Claim, profile: Profile, today: date) -> bool:
    return not profile.ids or claim.payer in profile.ids


def _is_past(claim: Claim, profile: Profile, today: date) -> bool:
    return claim.days is None or claim.days[1] <= today


def _was_born(claim: Claim, profile: Profile, today: date) -> bool:
    first = claim.days[0] if claim.days else today
    return claim.birth is None or claim.birth <= first


def _has_a_member(claim: Claim, profile: Profile, today: date) -> bool:
    return bool(claim.member)


CHECKS = (
    Check(
        Refusal(category="A3", status="116"),
        "The claim names this payer (NM109 of 2010BB).",
        _is_ours,
    ),
    Check(
        Refusal(category="A6", status="164", entity="IL"),
        "The subscriber has a member number.",
        _has_a_member,
    ),
    Check(
        Refusal(category="A7", status="187"),
        "No service is later than the day the claim arrives.",
        _is_past,
    ),
    Check(
        Refusal(category="A7", status="158", entity="QC"),
        "The patient was born when the service was had.",
        _was_born,
    ),
    Check(
        Refusal(category="A7", status="464"),
        "A replacement or void names a claim of the same member that this payer paid and that was not replaced before (`REF*F8`).",
        lambda claim, profile, today: True,  # settled by looking it up: the payer does so
    ),
)
NOT_OURS = CHECKS[-1].refusal


def refusals(claim: Claim, profile: Profile, today: date) -> list[Refusal]:
    """Every check that a claim fails."""
    return [check.refusal for check in CHECKS if not check.passes(claim, profile, today)]
