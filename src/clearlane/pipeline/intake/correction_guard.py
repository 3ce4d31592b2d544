"""Keep two corrections of one claim apart, inside the transaction that stores a correction.

A correction names the claim that it takes over from. A claim that no batch has taken is canceled with it; one that is in a
batch, or that another correction took over, stops it. For ``submit``.
"""

from datetime import datetime

from clearlane.accounts.model import Site
from clearlane.claims.lifecycle import ClaimState
from clearlane.claims.resubmission import ResubmissionDecision
from clearlane.pipeline.intake.hold_claims import cancel_within
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import unsent_claims
from clearlane.store.claims import NOT_ACCEPTED, ClaimInsertResult
from clearlane.store.database import Tx

UNSENT_STATES = frozenset({ClaimState.RECEIVED, ClaimState.HELD})
ON_ITS_WAY = "A batch has taken the claim, and it is on its way to the payer. Correct it once the payer has it."


class CorrectionConflict(Exception):
    """A claim that cannot be corrected now; the text says why, for the caller. Nothing was stored."""


async def take_predecessor(
    tx: Tx, context: WorkContext, site: Site, claim_number: str, now: datetime
) -> str:
    """Cancel the claim that is corrected, where no batch has taken it; return the state that it had."""
    claim = await unsent_claims.find(tx, claim_number)
    if claim is None:
        raise CorrectionConflict("There is no claim of this number.")
    if claim.state not in UNSENT_STATES or await cancel_within(tx, context, site, claim, now):
        return claim.state
    # It changed while we waited for its row: a batch took it, or another correction took over.
    again = await unsent_claims.find(tx, claim_number)
    if again is None or again.state in UNSENT_STATES:
        raise CorrectionConflict(ON_ITS_WAY)
    return again.state


def require_successor(claim_number: str, predecessor_state: str, result: ClaimInsertResult) -> None:
    """Refuse a correction that did not take over from the claim that it names."""
    if result.decision is None and predecessor_state == NOT_ACCEPTED:
        return
    if result.decision is ResubmissionDecision.SUCCESSOR and result.earlier_id in (
        claim_number,
        *_any_if_refused(predecessor_state, result),
    ):
        return
    if result.decision is ResubmissionDecision.REPEATED_REQUEST:
        raise CorrectionConflict(f"Nothing would change: it is the claim {result.request_id}.")
    other = result.earlier_id
    if other == claim_number:
        raise CorrectionConflict(
            f"The claim is {result.earlier_state} and cannot be corrected now."
        )
    raise CorrectionConflict(
        f"The claim {other} has taken over, and it is {result.earlier_state}. Correct that one."
    )


def _any_if_refused(predecessor_state: str, result: ClaimInsertResult) -> tuple[str, ...]:
    """Return the claim that was taken over from, where the corrected one was never accepted and so had no id."""
    return (result.earlier_id,) if predecessor_state == NOT_ACCEPTED else ()
