"""Recompute the status of claims from all their facts, and write it with its events.

For ``record_facts``, in its transaction and with the claims locked. Knows the lifecycle and claim statuses; no file, payer
or mailbox.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime

from clearlane.claims import lifecycle
from clearlane.claims.answer_times import AnswerFigures, coming_answer
from clearlane.claims.awaiting import (
    NOTHING_AWAITED,
    Awaited,
    AwaitedState,
    awaited_thing,
    is_of_draft,
)
from clearlane.claims.claim_status import (
    ClaimStatus,
    encode_claim_status,
    update_claim_status,
)
from clearlane.claims.lifecycle import REFUSED_OR_CANCELED, WITH_THE_PAYER, ClaimState
from clearlane.claims.responses.facts import Fact, FactKind
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import to_local, to_micros
from clearlane.payments.claim_payment_label import FORWARDED_STATUSES
from clearlane.payments.model import ClaimPaymentFact
from clearlane.pipeline.answer_days import AnswerDays
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
from clearlane.store.claims.answer_delays import load_figures
from clearlane.store.claims.claim_query import STATUS_COLUMN
from clearlane.store.claims.claim_updates import ClaimStateRow, ClaimStateUpdate
from clearlane.store.database.database import Tx
from clearlane.store.payments import secondary_drafts
from clearlane.store.vault.vault import Vault

KNOWN_TO_THE_PAYER = frozenset({ClaimState.ACKNOWLEDGED, ClaimState.PENDING, ClaimState.COMPLETE})


async def update_statuses(
    tx: Tx,
    vault: Vault,
    changed: Mapping[ClaimStateRow, Sequence[RecordedFact] | None],
    known: KnownFacts,
    now: datetime,
    answer_days: AnswerDays,
    *,
    only_news: bool = False,
    waits_again: bool = False,
) -> list[str]:
    """Recompute and write the status of claims, with events and references. A fact was withdrawn if there is None.

    ``only_news`` leaves alone the claims whose status stays as it is; ``waits_again`` lets those wait from now on. Returns
    the numbers of those that were written.
    """
    await vault.load_keys_of(tx, [one.status for one in changed if one.status])
    at = to_micros(now)
    changes = await _fold_facts(tx, vault, changed, known, now)
    if only_news:
        changes = [one for one in changes if one.changes_status]
    figures = await load_figures(tx, {one.claim.payer_id for one in changes})
    due_times = _DueTimes(now, answer_days, figures)
    events = [change_events(one, at) for one in changes]
    tx.add_events(in_runs(events))
    await claim_updates.update_claims(
        tx,
        [
            _state_update(
                vault,
                one,
                known[one.claim.claim_number].values(),
                len(each),
                due_times,
                waits_again=waits_again,
            )
            for one, each in zip(changes, events, strict=True)
        ],
    )
    rejected = [
        one.claim
        for one in changes
        if one.after.state is ClaimState.REJECTED and one.before.state is not ClaimState.REJECTED
    ]
    if rejected:
        await account_numbers.release_refused(tx, rejected)
    await _reinstate_and_supersede(tx, changes, at)
    await _keep_former_payer_numbers(tx, vault, changes)
    await _note_next_payers(tx, changes, at)
    return [one.claim.claim_number for one in changes]


async def _fold_facts(
    tx: Tx,
    vault: Vault,
    changed: Mapping[ClaimStateRow, Sequence[RecordedFact] | None],
    known: KnownFacts,
    now: datetime,
) -> list[ClaimChange]:
    """Return the status of each claim before and after, which all of its facts decide together."""
    days = {zone: to_local(now, zone).date() for zone in {one.time_zone for one in changed}}
    statuses = {claim: open_status(vault, claim) for claim in changed}
    closings = await find_closings(tx, vault, statuses, known)
    return [
        ClaimChange(
            claim,
            statuses[claim],
            update_claim_status(
                statuses[claim],
                lifecycle.fold(
                    known[claim.claim_number].values(),
                    total=claim.total_cents,
                    closing=closings.get(claim.claim_number),
                ),
                days[claim.time_zone],
            ),
            new,
        )
        for claim, new in changed.items()
    ]


async def _reinstate_and_supersede(tx: Tx, changes: Sequence[ClaimChange], at: int) -> None:
    """Reinstate claims whose successor was rejected, and supersede them again if it is not rejected any more.

    So does a claim that is with its payer again after both were rejected; if both are, the successor asks for the correction.
    No statement for claims without predecessor and successor. All of them were locked before (``related_claims``).
    """
    moved = [one for one in changes if one.before.state is not one.after.state]
    after = [one for one in moved if one.claim.predecessor_id]
    # What took over from a claim that is rejected now stays in the place of the claim before both.
    rejected = [
        one.claim
        for one in after
        if one.after.state is ClaimState.REJECTED and not one.claim.is_superseded
    ]
    restored = [one.claim for one in after if one.before.state is ClaimState.REJECTED]
    before = [one for one in moved if one.claim.successor_id]
    taken_in = [
        one.claim for one in before if one.claim.is_superseded and one.after.state in WITH_THE_PAYER
    ]
    refused = [
        one.claim
        for one in before
        if not one.claim.is_superseded and one.after.state is ClaimState.REJECTED
    ]
    if rejected:
        await reinstatement.reinstate_before_rejected(tx, rejected, at)
    if restored:
        await reinstatement.supersede_before(tx, restored)
    if taken_in:
        last = await follow_successors(tx, taken_in)
        without = [number for number, one in last.items() if one.state in REFUSED_OR_CANCELED]
        if without:
            await reinstatement.reinstate(tx, sorted(without), at)
    if refused:
        last = await follow_successors(tx, refused)
        beside = [number for number, one in last.items() if one.state == ClaimState.REJECTED]
        if beside:
            await reinstatement.supersede(tx, sorted(beside))


class _DueTimes:
    """By when what claims await is to come. Claims of a file are alike: each moment is computed once."""

    def __init__(self, now: datetime, answer_days: AnswerDays, figures: AnswerFigures) -> None:
        self.at = to_micros(now)
        self.figures = figures
        self._now = now
        self._answer_days = answer_days
        self._known: dict[tuple[object, ...], int | None] = {}

    def of(
        self,
        awaited: Awaited,
        kind: str,
        payer_id: str,
        decided_day: date | None,
        notice_due: date | None,
    ) -> int | None:
        """Return by when it is to come, None if no time is known."""
        key = (awaited, kind, payer_id, decided_day, notice_due)
        if key not in self._known:
            self._known[key] = self._answer_days.due(
                awaited,
                kind,
                payer_id,
                self._now,
                self.figures,
                decided_day=decided_day,
                notice_due=notice_due,
            )
        return self._known[key]

    def again(self, due: int | None) -> int:
        """Return by when a decision is to come that was due at a moment and is worked on."""
        return self._answer_days.due_again(due, self._now)


def _state_update(
    vault: Vault,
    change: ClaimChange,
    known_facts: Collection[AnyFact],
    event_count: int,
    due_times: _DueTimes,
    *,
    waits_again: bool,
) -> ClaimStateUpdate:
    claim, status = change.claim, change.after
    label = label_claim(status, _counting_payment(known_facts))
    has_999 = label is ClaimLabel.SENT and _is_taken_in(known_facts)
    awaited = awaited_thing(label, status, has_999=has_999)
    if awaited is not None:
        awaited = coming_answer(awaited, claim.kind, claim.payer_id, due_times.figures)
    state = AwaitedState(claim.awaiting, claim.awaited_since, claim.awaited_by)
    if awaited == claim.awaiting and not change.changes_status and not waits_again:
        # Nothing new: it goes on waiting, and stays with the person whom it was given to.
        label = ClaimLabel.NO_ANSWER if claim.label == ClaimLabel.NO_ANSWER else label
    elif is_of_draft(awaited, claim.awaiting):
        pass
    elif awaited is None:
        state = NOTHING_AWAITED
    else:
        if awaited is Awaited.DECISION and awaited == claim.awaiting:
            # The payer said that it works on it: its time runs since it took the claim in.
            by: int | None = due_times.again(claim.awaited_by)
        else:
            by = due_times.of(
                awaited, claim.kind, claim.payer_id, status.decided_day, status.notice_due
            )
        state = AwaitedState(awaited.value, due_times.at, by)
    content = encode_claim_status(status)
    return ClaimStateUpdate(
        claim.claim_number,
        status.state.value,
        _waits_for_batch(claim, change.before, status, known_facts),
        status.payer_cents,
        status.patient_cents,
        due_times.at,
        vault.seal((claim.vendor_id, claim.site_id), STATUS_COLUMN, claim.claim_number, content),
        claim_search.payer_number_key(vault, status.payer_control_number),
        claim.event_sequence + event_count,
        label.value,
        *state,
    )


def _is_taken_in(known_facts: Iterable[AnyFact]) -> bool:
    """Return whether a 999 accepted the last file that the claim was sent in, or a clearinghouse passes it on."""
    sent, taken = 0, -1
    for one in known_facts:  # thousands are looked at for each file: no generators
        if isinstance(one, Fact):
            if one.is_passed_on:
                return True
            if one.kind is FactKind.SENT:
                sent = max(sent, one.attempt)
            elif one.kind is FactKind.ACCEPTED_999:
                taken = max(taken, one.attempt)
    return taken >= sent


async def _note_next_payers(tx: Tx, changes: Sequence[ClaimChange], at: int) -> None:
    """Have the claims for the next payers drafted, or drafted again, after a claim payment or without it.

    No statement for claims that name no other insurance, are not forwarded, and are decided for the first time.
    """
    concerned = [one for one in changes if one.new is None or any(map(_is_payment, one.new))]
    named = [one.claim for one in concerned if _has_next_payer(one)]
    if named:
        owners = [(one.vendor_id, one.site_id, one.claim_number) for one in named]
        await secondary_drafts.note_due(tx, owners, at)
    # A person may have added the insurance.
    again = [one for one in concerned if one.before.is_decided and not _has_next_payer(one)]
    if again:
        await secondary_drafts.note_changed(tx, [one.claim.claim_number for one in again])


def _has_next_payer(change: ClaimChange) -> bool:
    """Return whether a claim names another insurance, or was forwarded to one."""
    return change.before.has_next_payer or change.after.payment_status in FORWARDED_STATUSES


def _is_payment(recorded: RecordedFact) -> bool:
    return isinstance(recorded.fact, ClaimPaymentFact)


async def _keep_former_payer_numbers(tx: Tx, vault: Vault, changes: Sequence[ClaimChange]) -> None:
    """Let claims be found by the payer's numbers that no longer count; the one that does is in the claim's row."""
    rows = [
        (claim.payer_id, claim_lookup.payer_number_reference(vault, claim.payer_id, number), claim)
        for one in changes
        for number in _former_payer_numbers(one)
        if (claim := one.claim)
    ]
    if rows:
        owners = {claim.claim_number: (claim.vendor_id, claim.site_id) for *_, claim in rows}
        await claim_lookup.add_references(
            tx, owners, [(payer, reference, claim.claim_number) for payer, reference, claim in rows]
        )


def _former_payer_numbers(change: ClaimChange) -> set[str]:
    """Return the numbers that the payer has given the claim, without the one that counts."""
    numbers = {_payer_number(one.fact) for one in change.new or ()}
    return (numbers | {change.before.payer_control_number}) - {
        "",
        change.after.payer_control_number,
    }


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
    claim: ClaimStateRow, before: ClaimStatus, status: ClaimStatus, known_facts: Iterable[AnyFact]
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
