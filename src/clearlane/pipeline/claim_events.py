"""Turn what was recorded on claims into events for their vendors.

    tx.add_events(change_events(change, at))

Knows claim facts and their statuses; holds ids, states and labels only, never anything that a payer or vendor wrote.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from clearlane.claims.claim_status import ClaimStatus
from clearlane.claims.lifecycle import NOT_DELIVERED, ClaimClosing, ClaimState
from clearlane.claims.responses.facts import Fact, FactKind, StatusVerdict
from clearlane.events.event import EventActor, EventData, NewEvent
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payments.claim_payment_label import is_forwarded
from clearlane.payments.model import ClaimPaymentFact
from clearlane.pipeline.claim_label import BY_CLOSING
from clearlane.store.claims.claim_updates import ClaimStateRow, CountedEvent
from clearlane.store.claims.claims import NOT_ACCEPTED

STATE_TYPES: dict[ClaimState, str] = {
    ClaimState.RECEIVED: "claim.received",
    ClaimState.HELD: "claim.held",
    ClaimState.CANCELED: "claim.canceled",
    ClaimState.SENT: "claim.sent",
    ClaimState.ACKNOWLEDGED: "claim.acknowledged",
    ClaimState.PENDING: "claim.pending",
    ClaimState.REJECTED: "claim.rejected",
    ClaimState.COMPLETE: "claim.paid",
}
LABEL_TYPES: dict[ClaimLabel, str] = {
    ClaimLabel.PREDETERMINED: "claim.predetermined",
    ClaimLabel.TAKEN_BACK: "claim.reversed",
    ClaimLabel.FORWARDED: "claim.forwarded",
    ClaimLabel.DENIED: "claim.denied",
    ClaimLabel.PARTLY_DENIED: "claim.partly_denied",
    ClaimLabel.PATIENT_OWES: "claim.patient_owes",
    # The claim is decided and no one owes anything: `data.label` says which of the two it is.
    ClaimLabel.NOTHING_DUE: "claim.paid",
    ClaimLabel.VOIDED: "claim.voided",
    # Its successor was named when it was sent; this says that the payer has decided on it.
    ClaimLabel.REPLACED: "claim.corrected",
    ClaimLabel.NOTICE_ACCEPTED: "claim.acknowledged",
    ClaimLabel.PAID: "claim.paid",
}
REFUSED_BY: dict[FactKind, str] = {
    FactKind.TA1_REFUSED: "ta1",
    FactKind.SET_REFUSED: "999",
    FactKind.CLAIM_REFUSED: "999",
}
# Categories of a 277 by which the payer asks for something (R0 to R17).
REQUEST_CATEGORY = "R"


class RecordedFact(NamedTuple):
    """A fact that is new on a claim."""

    fact: Fact | ClaimPaymentFact
    payment_id: str = ""
    """The payment of a claim payment."""
    from_payer: bool = True
    has_document: bool = False
    """Whether a document of it was stored."""


class ClaimChange(NamedTuple):
    """The statuses of a claim before and after facts were recorded on it, or one was withdrawn."""

    claim: ClaimStateRow
    before: ClaimStatus
    after: ClaimStatus
    new: Sequence[RecordedFact] | None
    """None if a person withdrew a fact; empty if a known one was reported earlier than thought."""

    @property
    def changes_status(self) -> bool:
        """Whether the status differs from the stored one, but for the day of the update."""
        return replace(self.after, updated_day=self.before.updated_day) != self.before


def submission_events(
    vendor_id: int,
    site_id: int,
    at: int,
    *,
    received: Sequence[str],
    refused: Sequence[str],
    secondary: Mapping[str, str] = MappingProxyType({}),
) -> list[NewEvent]:
    """Return the first events of claims that were stored: accepted, or not accepted by our own rules.

    ``secondary`` has the claims of earlier payers by the secondary claims among the accepted ones.
    """
    linked = (
        (STATE_TYPES[ClaimState.RECEIVED], {**_RECEIVED, "prior_payer_claim": prior}, (number,))
        for number, prior in secondary.items()
    )
    plain = [number for number in received if number not in secondary]
    return [
        NewEvent(type, at, vendor_id, site_id, number, FIRST_SEQUENCE, data)
        for type, data, numbers in (
            (STATE_TYPES[ClaimState.RECEIVED], _RECEIVED, plain),
            *linked,
            ("claim.not_accepted", _NOT_ACCEPTED, refused),
        )
        for number in numbers
    ]


def in_doubt_events(claims: Sequence[CountedEvent], at: int) -> list[NewEvent]:
    """Return the events of claims whose delivery is unconfirmed."""
    return [
        NewEvent("claim.in_doubt", at, one.vendor_id, one.site_id, one.claim_number, one.sequence)
        for one in claims
    ]


FIRST_SEQUENCE = 1
_RECEIVED: EventData = {"state": ClaimState.RECEIVED.value}
_NOT_ACCEPTED: EventData = {"state": NOT_ACCEPTED}

_Described: TypeAlias = tuple[str, EventData, bool]
"""The type of an event, its data, and whether the payer caused it."""


def change_events(change: ClaimChange, at: int) -> list[NewEvent]:
    """Return the events of a change, numbered on from those that the claim had before."""
    claim = change.claim
    return [
        NewEvent(
            type=type,
            at=at,
            vendor_id=claim.vendor_id,
            site_id=claim.site_id,
            claim_number=claim.claim_number,
            sequence=claim.event_sequence + number,
            data=data,
            actor=EventActor.PAYER if from_payer else None,
        )
        for number, (type, data, from_payer) in enumerate(_describe(change), 1)
    ]


def in_runs(events_of_claims: Sequence[Sequence[NewEvent]]) -> list[NewEvent]:
    """Return the events of several claims so that equal ones are neighbors, which are stored together.

    Those of one claim stay in their order.
    """
    return [
        event
        for same_place in zip_longest(*events_of_claims)
        for event in sorted(filter(None, same_place), key=attrgetter("type"))
    ]


def _describe(change: ClaimChange) -> Iterator[_Described]:
    if change.new is None:
        yield "claim.reversed", _states(change), False
        return
    if _is_answered_before_sent(change):
        yield STATE_TYPES[ClaimState.SENT], _states(change), False
    payments = [one for one in change.new if isinstance(one.fact, ClaimPaymentFact)]
    for one in payments:
        yield from _payment(change, one)
    closing = change.after.closing
    if closing is not None:
        # A void that is answered by its own payment has its event by that.
        if closing is not change.before.closing and not (payments and change.after.is_void):
            yield _closing(change, BY_CLOSING[closing])
    elif not payments and _is_news(change):
        yield _state(change, change.new)
    for one in change.new:
        if one.has_document:
            yield "document.created", {"document_id": one.fact.document_id}, one.from_payer


def _is_answered_before_sent(change: ClaimChange) -> bool:
    """Return whether the payer said something of a claim before its delivery was recorded, as after a crash between the two.

    It has the file then. That is reported now and once: the delivery, recorded later, changes no state.
    """
    skipped = {*NOT_DELIVERED, ClaimState.SENT}
    is_known = change.before.state in NOT_DELIVERED and change.after.state not in skipped
    return bool(change.new) and is_known


def _is_news(change: ClaimChange) -> bool:
    """Return whether facts other than payments changed the state, or came with the document that decides now."""
    before, after = change.before, change.after
    return before.state != after.state or before.document_id != after.document_id


def _payment(change: ClaimChange, recorded: RecordedFact) -> Iterator[_Described]:
    """Yield the events of a claim payment: what it decides, and that the claim was forwarded."""
    fact = recorded.fact
    if not isinstance(fact, ClaimPaymentFact):
        return
    is_void = change.after.is_void and change.after.closing is ClaimClosing.VOIDED
    labels = [ClaimLabel.VOIDED if is_void else fact.label]
    if is_forwarded(fact.status_code) and ClaimLabel.FORWARDED not in labels:
        labels.append(ClaimLabel.FORWARDED)
    for label in labels:
        data = {
            **_states(change),
            "label": label.value,
            "document_id": fact.document_id,
            "payment_id": recorded.payment_id,
        }
        yield LABEL_TYPES[label], data, recorded.from_payer


def _closing(change: ClaimChange, label: ClaimLabel) -> _Described:
    """Return the event of a claim that the payer's decision on another one closes."""
    data = {**_states(change), "label": label.value}
    if change.claim.successor_id:
        data["successor"] = change.claim.successor_id
    if change.after.document_id:
        data["document_id"] = change.after.document_id
    return LABEL_TYPES[label], data, True


def _state(change: ClaimChange, new: Sequence[RecordedFact]) -> _Described:
    after = change.after
    type, data = STATE_TYPES[after.state], _states(change)
    if after.state is ClaimState.COMPLETE and after.is_notice:
        type = LABEL_TYPES[ClaimLabel.NOTICE_ACCEPTED]
    if after.state is ClaimState.PENDING and after.status_category.startswith(REQUEST_CATEGORY):
        type = "claim.information_requested"
    if after.state is ClaimState.REJECTED:
        data["by"] = _refused_by(new)
    if after.document_id:
        data["document_id"] = after.document_id
    return type, data, all(one.from_payer for one in new)


def _refused_by(new: Sequence[RecordedFact]) -> str:
    """Return what refused a claim: the last of the new facts that does."""
    for one in reversed(new):
        fact = one.fact
        if not isinstance(fact, Fact):
            continue
        if fact.kind in REFUSED_BY:
            return REFUSED_BY[fact.kind]
        if fact.verdict is StatusVerdict.REJECTED:
            return fact.source.lower()
    return ""


def _states(change: ClaimChange) -> dict[str, str]:
    return {"state": change.after.state.value, "previous_state": change.before.state.value}
