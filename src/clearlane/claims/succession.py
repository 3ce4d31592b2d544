"""Decide what closes a claim besides its own facts: the payer's decision on a void or replacement of it.

    close_predecessor(successor)                    # the closing of the claim that it voids or replaces
    close_void(own, taken_back=day)                 # the closing of a void itself

A payer answers a void with a decision on the void that pays nothing, whatever reason it writes; or by taking the payment
of the earlier claim back; or with both, in any order. Pure: is given statuses and remittances, reads none.
"""

from collections.abc import Sequence
from datetime import date

from clearlane.claims.claim_status import ClaimStatus
from clearlane.claims.codes import REOPENING, REPLACEMENT
from clearlane.claims.lifecycle import ClaimClosing, Closing, remittance_roles
from clearlane.claims.responses.facts import RemittanceFact


def close_predecessor(successor: ClaimStatus) -> Closing | None:
    """Return what the status of a claim's successor closes it with; None while the successor is not decided."""
    day = successor.decided_day or successor.state_changed_day
    if not successor.is_decided:
        return None
    if successor.is_void:
        voided = successor.closing is ClaimClosing.VOIDED
        return Closing(ClaimClosing.VOIDED, day) if voided else None
    is_new = successor.frequency not in {REPLACEMENT, REOPENING}
    return Closing(ClaimClosing.REPLACED, day, only_taken_back=is_new)


def close_void(own: Sequence[RemittanceFact], *, taken_back: date | None) -> Closing | None:
    """Return what closes a void: its own remittances, or the day on which what it voids was taken back because of it."""
    if own:
        return Closing(ClaimClosing.VOIDED, max(one.day for one in own))
    return None if taken_back is None else Closing(ClaimClosing.VOIDED, taken_back)


def reversals_in_effect(remittances: Sequence[RemittanceFact]) -> list[RemittanceFact]:
    """Return the reversals of a claim that has no payment in force; none while it has one."""
    if any(role.in_force for role in remittance_roles(remittances)):
        return []
    return [one for one in remittances if one.is_reversal]
