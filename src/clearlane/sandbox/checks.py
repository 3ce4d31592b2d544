"""A payer's own checks of a claim, beyond the guide.

Knows claims as the payer read them and the day they arrived.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from clearlane.sandbox.model import Claim, Profile, Refusal

Passes = Callable[[Claim, Profile, date], bool]


@dataclass(frozen=True, slots=True)
class PayerCheck:
    """A check: the refusal, what must be true, and the test of it."""

    refusal: Refusal
    sentence: str
    passes: Passes


def _names_this_payer(claim: Claim, profile: Profile, today: date) -> bool:
    return not profile.ids or claim.payer in profile.ids


def _is_past(claim: Claim, profile: Profile, today: date) -> bool:
    return claim.days is None or claim.days[1] <= today


def _was_born(claim: Claim, profile: Profile, today: date) -> bool:
    first = claim.days[0] if claim.days else today
    return claim.birth is None or claim.birth <= first


def _has_a_member(claim: Claim, profile: Profile, today: date) -> bool:
    return bool(claim.member)


CHECKS = (
    PayerCheck(
        Refusal(category="A3", status="116"),
        "The claim names this payer (NM109 of 2010BB).",
        _names_this_payer,
    ),
    PayerCheck(
        Refusal(category="A6", status="164", entity="IL"),
        "The subscriber has a member number.",
        _has_a_member,
    ),
    PayerCheck(
        Refusal(category="A7", status="187"),
        "No service is later than the day the claim arrives.",
        _is_past,
    ),
    PayerCheck(
        Refusal(category="A7", status="158", entity="QC"),
        "The patient was born when the service was had.",
        _was_born,
    ),
    PayerCheck(
        Refusal(category="A7", status="464"),
        "A replacement or void names a claim of the same member that this payer paid and that was not replaced before (`REF*F8`).",
        lambda claim, profile, today: True,  # ``receive`` looks up the original
    ),
)
ORIGINAL_NOT_FOUND = CHECKS[-1].refusal


def refusals(claim: Claim, profile: Profile, today: date) -> list[Refusal]:
    """Return the refusals of the checks that a claim fails."""
    return [check.refusal for check in CHECKS if not check.passes(claim, profile, today)]
