"""Keep corrections of one claim, and other acts on it, apart, inside the transaction that stores a correction.

A correction names the claim that it takes over from. A claim that no batch has taken is canceled with it. One that is in a
batch, that another correction took over, that was canceled, or that was held or released since it was looked at, stops
it. For ``submit``.
"""

from datetime import datetime

from clearlane.accounts.model import Site
from clearlane.claims.lifecycle import ClaimState
from clearlane.claims.resubmission import ResubmissionDecision
from clearlane.pipeline.intake.hold_claims import (
    IS_SHADOW,
    WAS_CANCELED,
    cancel_within,
    is_unsent,
    load_status,
    succession_sentence,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import unsent_claims
from clearlane.store.claims.claim_updates import ClaimStateRow
from clearlane.store.claims.claims import NOT_ACCEPTED, SHADOWS
from clearlane.store.claims.new_claims import ClaimInsertResult
from clearlane.store.database.database import Tx

UNSENT_STATES = frozenset({ClaimState.RECEIVED, ClaimState.HELD})
ON_ITS_WAY = "A batch has taken the claim, and it is on its way to the payer. Correct it once the payer has it."

KEEPS_ITS_SUBJECT = (
    "The payer has paid the claim or left it to the patient, so a correction keeps its payer, insured and patient. "
    "Send another claim instead."
)

_ANOTHER = ResubmissionDecision.ANOTHER_CLAIM


class CorrectionConflict(Exception):
    """A claim that cannot be corrected now; the text says why, for the caller. Nothing was stored."""


async def take_predecessor(
    tx: Tx, context: WorkContext, site: Site, claim_number: str, seen_state: str, now: datetime
) -> str:
    """Cancel the claim that is corrected, if no batch has taken it; return the state that it had.

    ``seen_state`` is the state that it had when its correction was prepared.
    """
    claim = await unsent_claims.lock(tx, claim_number)
    if claim is None:
        raise CorrectionConflict("There is no claim of this number.")
    if claim.successor_id:
        await _require_no_effect(tx, context, claim)
    if claim.state == ClaimState.CANCELED:
        raise CorrectionConflict(WAS_CANCELED)
    if claim.state in SHADOWS:
        raise CorrectionConflict(IS_SHADOW)
    if claim.state not in UNSENT_STATES:
        return claim.state
    if claim.state != seen_state:
        raise CorrectionConflict(
            f"Someone else changed the claim first: it is {claim.state} now. Correct it again."
        )
    if not await cancel_within(tx, context, site, claim, now):
        raise CorrectionConflict(ON_ITS_WAY)
    return claim.state


async def _require_no_effect(tx: Tx, context: WorkContext, claim: ClaimStateRow) -> None:
    """Refuse to correct a claim that another was sent in the place of, unless that one was canceled."""
    successor = claim.successor_id or ""
    after = await unsent_claims.lock(tx, successor)
    if after is None or (after.state == ClaimState.CANCELED and not claim.is_superseded):
        return
    is_void = after.status is not None and (await load_status(tx, context.vault, after)).is_void
    if not is_void or after.state == ClaimState.REJECTED:
        raise CorrectionConflict(await succession_sentence(tx, successor, "Correct"))
    todo = "Cancel it first" if is_unsent(after) else "To bill the service again, send a new claim"
    raise CorrectionConflict(
        f"The void {successor} has taken over, and it is {after.state}. A void cannot be corrected. {todo}."
    )


def require_successor(claim_number: str, predecessor_state: str, result: ClaimInsertResult) -> None:
    """Refuse a correction that did not take over from the claim that it names."""
    if predecessor_state == NOT_ACCEPTED and result.decision in (None, _ANOTHER):
        return
    if result.decision is ResubmissionDecision.SUCCESSOR and result.earlier_id in (
        claim_number,
        *_any_if_refused(predecessor_state, result),
    ):
        return
    if result.decision is ResubmissionDecision.REPEATED_REQUEST:
        raise CorrectionConflict(f"Nothing would change: it is the claim {result.claim_number}.")
    if result.decision is _ANOTHER:
        raise CorrectionConflict(KEEPS_ITS_SUBJECT)
    other = result.earlier_id
    if result.decision is ResubmissionDecision.CODE_MISSING:
        raise CorrectionConflict(
            f"The payer has paid the claim {other} under the same id, or left it to the patient. To replace it, correct "
            "that one, or choose a replacement. Another service needs a claim id of its own."
        )
    if other == claim_number:
        raise CorrectionConflict(
            f"The claim is {result.earlier_state} and cannot be corrected now."
        )
    raise CorrectionConflict(
        f"The claim {other} has taken over, and it is {result.earlier_state}. Correct that one, "
        "unless it is a void."
    )


def _any_if_refused(predecessor_state: str, result: ClaimInsertResult) -> tuple[str, ...]:
    """Return the claim that was taken over from, if the corrected one was never accepted and so had no id."""
    return (result.earlier_id,) if predecessor_state == NOT_ACCEPTED else ()
