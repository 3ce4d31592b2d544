"""Recompute the status of claims from all their facts, and write it with its events.

For ``record_facts``, in its transaction and with the claims locked. Knows the lifecycle and claim statuses; no file, payer
or mailbox.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple

import msgspec

from clearlane.claims import lifecycle
from clearlane.claims.claim_status import (
    ClaimStatus,
    encode_claim_status,
    update_claim_status,
)
from clearlane.claims.lifecycle import ClaimState, Closing, LifecycleStatus
from clearlane.claims.responses.facts import Fact
from clearlane.claims.resubmission import REFUSED_OR_CANCELED
from clearlane.kernel.clock import to_local, to_micros
from clearlane.payments.model import ClaimPaymentFact
from clearlane.pipeline.claim_events import ClaimChange, RecordedFact, change_events, in_runs
from clearlane.pipeline.claim_label import label_claim
from clearlane.pipeline.claim_succession import find_closings, follow_successors, open_status
from clearlane.pipeline.stored_facts import AnyFact, KnownFacts
from clearlane.store.claims import (
    account_numbers,
    claim_lookup,
    claim_search,
    claim_updates,
    reinstatement,
)
from clearlane.store.claims.claim_query import STATUS_COLUMN
from clearlane.store.claims.claim_updates import ClaimStateUpdate, LockedClaim
from clearlane.store.database.database import Tx
from clearlane.store.vault.vault import Vault

KNOWN_TO_THE_PAYER = frozenset({ClaimState.ACKNOWLEDGED, ClaimState.PENDING, ClaimState.COMPLETE})


async def update_statuses(
    tx: Tx,
    vault: Vault,
    changed: Mapping[LockedClaim, Sequence[RecordedFact] | None],
    known: KnownFacts,
    now: datetime,
    *,
    only_news: bool = False,
) -> list[str]:
    """Recompute and write the status of claims, with events and references. A fact was withdrawn if there is None.

    ``only_news`` leaves alone the claims whose status stays as it is. Returns the numbers of those that were written.
    """
    await vault.load_keys_of(tx, [one.status for one in changed if one.status])
    at = to_micros(now)
    days = {zone: to_local(now, zone).date() for zone in {one.time_zone for one in changed}}
    statuses = {claim: open_status(vault, claim) for claim in changed}
    closings = await find_closings(tx, vault, statuses, known)
    recomputed = [
        _recompute(
            claim,
            statuses[claim],
            known[claim.claim_number].values(),
            new,
            days[claim.time_zone],
            closings.get(claim.claim_number),
        )
        for claim, new in changed.items()
    ]
    if only_news:
        recomputed = [one for one in recomputed if one.is_news]
    events = [
        change_events(ClaimChange(one.claim, one.before, one.after, one.new), at)
        for one in recomputed
    ]
    tx.add_events(in_runs(events))
    await claim_updates.update_claims(
        tx,
        [
            _state_update(vault, one, len(each), at)
            for one, each in zip(recomputed, events, strict=True)
        ],
    )
    rejected = [
        one.claim
        for one in recomputed
        if one.status.state is ClaimState.REJECTED and one.before.state is not ClaimState.REJECTED
    ]
    if rejected:
        await account_numbers.release_refused(tx, rejected)
    await _reinstate_and_supersede(tx, recomputed)
    await _keep_former_payer_numbers(tx, vault, recomputed)
    return [one.claim.claim_number for one in recomputed]


async def _reinstate_and_supersede(tx: Tx, recomputed: Sequence["_RecomputedClaim"]) -> None:
    """Reinstate claims whose successor was rejected, and supersede them again if it is not rejected any more.

    No statement for claims without predecessor and successor. All of them were locked before (``related_claims``).
    """
    moved = [one for one in recomputed if one.before.state is not one.status.state]
    after = [one for one in moved if one.claim.predecessor_id]
    # What took over from a claim that is rejected now stays in the place of the claim before both.
    rejected = [
        one.claim
        for one in after
        if one.status.state is ClaimState.REJECTED and not one.claim.is_superseded
    ]
    restored = [one.claim for one in after if one.before.state is ClaimState.REJECTED]
    completed = [
        one.claim
        for one in moved
        if one.claim.is_superseded and one.status.state is ClaimState.COMPLETE
    ]
    if rejected:
        await reinstatement.reinstate_before_rejected(tx, rejected)
    if restored:
        await reinstatement.supersede_before(tx, restored)
    if completed:
        last = await follow_successors(tx, completed)
        without = [number for number, one in last.items() if one.state in REFUSED_OR_CANCELED]
        if without:
            await reinstatement.reinstate(tx, sorted(without))


class _RecomputedClaim(NamedTuple):
    """A claim whose status was recomputed from all its facts."""

    claim: LockedClaim
    known_facts: Collection[AnyFact]
    before: ClaimStatus
    after: ClaimStatus
    status: LifecycleStatus
    new: Sequence[RecordedFact] | None
    """None if a fact was withdrawn."""

    @property
    def is_news(self) -> bool:
        """Whether its status differs from the stored one."""
        return msgspec.structs.replace(self.after, updated_day=self.before.updated_day) != (
            self.before
        )

    @property
    def former_payer_numbers(self) -> set[str]:
        """The numbers that the payer has given it, without the one that counts."""
        numbers = {_payer_number(one.fact) for one in self.new or ()}
        numbers.add(self.before.payer_control_number)
        return numbers - {"", self.status.payer_control_number}


def _recompute(
    claim: LockedClaim,
    before: ClaimStatus,
    known_facts: Collection[AnyFact],
    new: Sequence[RecordedFact] | None,
    day: date,
    closing: Closing | None,
) -> _RecomputedClaim:
    status = lifecycle.fold(known_facts, total=claim.total_cents, closing=closing)
    after = update_claim_status(before, status, day)
    return _RecomputedClaim(claim, known_facts, before, after, status, new)


def _state_update(
    vault: Vault, one: _RecomputedClaim, event_count: int, at: int
) -> ClaimStateUpdate:
    claim, status = one.claim, one.status
    label = label_claim(status, _counting_payment(one.known_facts))
    content = encode_claim_status(one.after)
    return ClaimStateUpdate(
        claim.claim_number,
        status.state.value,
        _waits_for_batch(claim, one.before, status, one.known_facts),
        status.payer,
        status.patient,
        at,
        vault.seal(claim.vendor_id, STATUS_COLUMN, claim.claim_number, content),
        claim_search.payer_number_key(vault, status.payer_control_number),
        claim.event_sequence + event_count,
        label.value,
    )


async def _keep_former_payer_numbers(
    tx: Tx, vault: Vault, recomputed: Sequence[_RecomputedClaim]
) -> None:
    """Let claims be found by the payer's numbers that no longer count; the one that does is in the claim's row."""
    rows = [
        (claim.payer_id, claim_lookup.payer_number_reference(vault, claim.payer_id, number), claim)
        for one in recomputed
        for number in one.former_payer_numbers
        if (claim := one.claim)
    ]
    if rows:
        owners = {claim.claim_number: (claim.vendor_id, claim.site_id) for *_, claim in rows}
        await claim_lookup.add_references(
            tx, owners, [(payer, reference, claim.claim_number) for payer, reference, claim in rows]
        )


def _payer_number(fact: AnyFact) -> str:
    if isinstance(fact, ClaimPaymentFact):
        return fact.payer_control_number
    return fact.claim.payer_control_number if fact.claim else ""


def _counting_payment(known_facts: Iterable[AnyFact]) -> ClaimPaymentFact | None:
    """Return the claim payment that counts, the last reversal if none does; None before any."""
    payments = [fact for fact in known_facts if isinstance(fact, ClaimPaymentFact)]
    if len(payments) < 2:  # nearly always; thousands are folded at a time
        return payments[0] if payments else None
    in_force = [
        role.remittance
        for role in lifecycle.remittance_roles(payments)
        if role.in_force and isinstance(role.remittance, ClaimPaymentFact)
    ]
    return (in_force or payments)[-1]


def _waits_for_batch(
    claim: LockedClaim, before: ClaimStatus, status: LifecycleStatus, known_facts: Iterable[AnyFact]
) -> int:
    """Return 1 if the claim waits to be put into a batch, else 0."""
    if status.send_again:
        again = max(
            (
                one.attempt
                for one in known_facts
                if isinstance(one, Fact) and one.kind in lifecycle.SENT_AGAIN_KINDS
            ),
            default=0,
        )
        # It may already be in a new batch that is not delivered yet.
        return 1 if again >= claim.sendings else claim.queued
    rejected = status.state is ClaimState.REJECTED and before.state is not ClaimState.REJECTED
    return 0 if rejected or status.state in KNOWN_TO_THE_PAYER else claim.queued
