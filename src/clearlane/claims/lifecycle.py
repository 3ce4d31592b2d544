"""The lifecycle of a claim: a table from state and event to state, and the fold of facts over it.

    status = fold(facts, total=15000)

The facts of a claim are sorted before the table is applied: first those about each sending (delivery, TA1, 999),
sending by sending; then the statuses and then the remittances, each by the time their sender gave. So the order
of arrival does not matter, a repeated fact counts once, and an old fact that arrives late does not
override a newer one. A pair that is not in the table changes nothing. Last comes what closes the claim besides its
own facts: that its void was carried out, or its replacement decided.

Knows facts; knows no file, no clock and no database.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from typing import TypeVar

import msgspec

from clearlane.claims.responses.facts import (
    ClaimStatusCode,
    Fact,
    FactKind,
    RemittanceFact,
    StatusVerdict,
)


class ClaimState(StrEnum):
    """The state of a claim."""

    RECEIVED = "received"
    SENT = "sent"
    ACKNOWLEDGED = "acknowledged"
    PENDING = "pending"
    REJECTED = "rejected"
    COMPLETE = "complete"
    HELD = "held"
    """Kept back by the vendor or a person before it was put into a batch."""
    CANCELED = "canceled"
    """Taken back before it was put into a batch: the payer never sees it."""


NOT_DELIVERED = frozenset({ClaimState.RECEIVED, ClaimState.HELD, ClaimState.CANCELED})
REFUSED_OR_CANCELED = frozenset({ClaimState.REJECTED, ClaimState.CANCELED})
WITH_THE_PAYER = frozenset(
    {ClaimState.SENT, ClaimState.ACKNOWLEDGED, ClaimState.PENDING, ClaimState.COMPLETE}
)
"""The states of claims that are on their way to the payer's decision, or have it."""


class PayerDocumentKind(StrEnum):
    """What a document about a claim shows."""

    PAYMENT = "payment"
    """A claim payment: the claim's part of an 835."""
    STATUS = "status"
    """A status, or a refusal of the file: its part of a 277CA, 277, 999 or TA1."""


class ClaimEvent(StrEnum):
    """Something that can happen to a claim."""

    DELIVERED = "delivered"
    TAKEN = "taken in"
    REFUSED = "refused by TA1 or 999"
    REQUEUED = "to be sent in a new file"
    ACCEPTED = "accepted by status"
    PENDED = "pended by status"
    DECLINED = "rejected by status"
    REMITTED = "remitted"
    REVERSED = "remittance reversed"
    HELD = "held"
    RELEASED = "released"
    CANCELED = "canceled"
    VOIDED = "voided"
    REPLACED = "replaced"


class ClaimClosing(StrEnum):
    """How a claim was closed by the payer's decision on a void or replacement of it."""

    VOIDED = "voided"
    """Its void was carried out; also of that void itself."""
    REPLACED = "replaced"
    """The claim that took its place was decided."""


@dataclass(frozen=True, slots=True)
class Closing:
    """What closes a claim besides its own facts. Found by ``claims.succession``."""

    by: ClaimClosing
    day: date
    only_taken_back: bool = False
    """Whether it closes only a claim whose payment was taken back: its successor was sent as a new claim."""


_R, _S, _A, _P, _X, _C, _H, _N = ClaimState
# Once a payer's system has a claim, acknowledgements of its file no longer change the state; once a payer has
# decided, only a remittance does.
NEXT: dict[tuple[ClaimState, ClaimEvent], ClaimState] = {
    (_R, ClaimEvent.DELIVERED): _S,
    (_R, ClaimEvent.TAKEN): _S,
    (_R, ClaimEvent.REFUSED): _X,
    (_R, ClaimEvent.ACCEPTED): _A,
    (_R, ClaimEvent.PENDED): _P,
    (_R, ClaimEvent.DECLINED): _X,
    (_R, ClaimEvent.REMITTED): _C,
    (_R, ClaimEvent.REVERSED): _P,
    (_S, ClaimEvent.DELIVERED): _S,
    (_S, ClaimEvent.TAKEN): _S,
    (_S, ClaimEvent.REFUSED): _X,
    (_S, ClaimEvent.ACCEPTED): _A,
    (_S, ClaimEvent.PENDED): _P,
    (_S, ClaimEvent.DECLINED): _X,
    (_S, ClaimEvent.REMITTED): _C,
    (_S, ClaimEvent.REVERSED): _P,
    (_A, ClaimEvent.ACCEPTED): _A,
    (_A, ClaimEvent.PENDED): _P,
    (_A, ClaimEvent.DECLINED): _X,
    (_A, ClaimEvent.REMITTED): _C,
    (_A, ClaimEvent.REVERSED): _P,
    (_P, ClaimEvent.PENDED): _P,
    (_P, ClaimEvent.DECLINED): _X,
    (_P, ClaimEvent.REMITTED): _C,
    (_P, ClaimEvent.REVERSED): _P,
    (_X, ClaimEvent.DELIVERED): _S,  # a refused batch was sent again
    (_X, ClaimEvent.REQUEUED): _R,  # the payer refused the file, not the claim
    (_X, ClaimEvent.REFUSED): _X,
    (_X, ClaimEvent.ACCEPTED): _A,
    (_X, ClaimEvent.PENDED): _P,
    (_X, ClaimEvent.DECLINED): _X,
    (_X, ClaimEvent.REMITTED): _C,
    (_X, ClaimEvent.REVERSED): _P,
    (_C, ClaimEvent.REMITTED): _C,  # a corrected remittance
    (_C, ClaimEvent.REVERSED): _P,  # the payment was taken back, a new decision is to come
    (
        _R,
        ClaimEvent.HELD,
    ): _H,  # the three verbs of vendor and person end when a batch takes the claim
    (_H, ClaimEvent.RELEASED): _R,
    (_R, ClaimEvent.CANCELED): _N,
    (_H, ClaimEvent.CANCELED): _N,
    # A payer that carries out a void or decides a replacement need not say more about the claim itself.
    (_S, ClaimEvent.VOIDED): _C,
    (_A, ClaimEvent.VOIDED): _C,
    (_P, ClaimEvent.VOIDED): _C,
    (_C, ClaimEvent.VOIDED): _C,
    (_S, ClaimEvent.REPLACED): _C,
    (_A, ClaimEvent.REPLACED): _C,
    (_P, ClaimEvent.REPLACED): _C,
}

SENDING_EVENTS: dict[FactKind, ClaimEvent | None] = {
    FactKind.SENT: ClaimEvent.DELIVERED,
    FactKind.ACCEPTED_999: ClaimEvent.TAKEN,
    FactKind.SEND_AGAIN: None,
    FactKind.SET_REFUSED: ClaimEvent.REFUSED,
    FactKind.CLAIM_REFUSED: ClaimEvent.REFUSED,
    FactKind.TA1_REFUSED: ClaimEvent.REFUSED,
    FactKind.REQUEUED: ClaimEvent.REQUEUED,
}
"""The events of facts about a sending, by increasing weight."""

SENT_AGAIN_KINDS = frozenset({FactKind.SEND_AGAIN, FactKind.REQUEUED})
"""The kinds of facts after which a claim waits for a new file."""
COMPLAINT_KINDS = frozenset({FactKind.SET_REFUSED, FactKind.CLAIM_REFUSED})
"""The kinds of facts that refuse what is in a file, rather than its envelope."""

VERDICT_EVENTS: dict[StatusVerdict, ClaimEvent | None] = {
    StatusVerdict.NOTED: None,
    StatusVerdict.ACCEPTED: ClaimEvent.ACCEPTED,
    StatusVerdict.PENDING: ClaimEvent.PENDED,
    StatusVerdict.REJECTED: ClaimEvent.DECLINED,
}
"""The events of status verdicts, by increasing weight; used if time does not decide."""

CLOSING_EVENTS: dict[ClaimClosing, ClaimEvent] = {
    ClaimClosing.VOIDED: ClaimEvent.VOIDED,
    ClaimClosing.REPLACED: ClaimEvent.REPLACED,
}


# array_like: a stored status is an array, which opens in a third of the time of an object, and lists have thousands. So a
# field that moves is read as another one. gc=False: it refers to no other container.
class LifecycleStatus(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """The status of a claim that its facts give."""

    state: ClaimState = ClaimState.RECEIVED
    state_changed_day: date | None = None
    status_category: str = ""
    """The category of the payer's status (STC01-1), if a status decided last."""
    payment_status: str = ""
    """CLP02, if a claim payment decided last."""
    decided_day: date | None = None
    """The day of that status or claim payment, or of the TA1 or 999 that refused the claim."""
    payer_control_number: str = ""
    document_kind: PayerDocumentKind | None = None
    document_id: str = ""
    total_cents: int = 0
    payer_cents: int = 0
    patient_cents: int = 0
    adjustment_cents: int = 0
    payment_method: str = ""
    """BPR04."""
    payment_reference: str = ""
    """The number of the check or transfer (TRN02)."""
    payment_effective_day: date | None = None
    payer_name: str = ""
    send_again: bool = False
    """Whether its set was rejected because of other claims, or its file, and it waits to be sent in a new one."""
    file_refused: bool = False
    """Whether it is rejected only because a TA1 rejected the whole interchange: nothing is wrong with the claim."""
    closing: ClaimClosing | None = None
    """How it was closed by the decision on a void or replacement."""
    unprocessable: bool = False
    """Whether the claim payment that decided last says that the claim could not be processed."""


def fold(
    facts: Iterable[Fact | RemittanceFact], *, total: int = 0, closing: Closing | None = None
) -> LifecycleStatus:
    """Return the status that these facts give in any order; ``total`` is the charge in cents."""
    sendings: list[Fact] = []
    statuses: list[Fact] = []
    remittances: list[RemittanceFact] = []
    for fact in facts:
        if not isinstance(fact, Fact):
            remittances.append(fact)
        elif fact.kind is FactKind.REPORT:
            continue  # shown, and never read
        elif fact.kind is FactKind.STATUS:
            statuses.append(fact)
        else:
            sendings.append(fact)
    fold_state = _Fold()
    for one in _sorted_sendings(sendings):
        fold_state.apply(SENDING_EVENTS[one.kind], one.at.date(), one)
    for one in _sorted_statuses(statuses):
        # What a clearinghouse passes on is taken in, as by its 999: the payer has not said that it has the claim.
        event = ClaimEvent.TAKEN if one.is_passed_on else VERDICT_EVENTS[one.verdict]
        fold_state.apply(event, one.day or one.at.date(), one)
    in_force = _remit(fold_state, _sorted_remits(remittances))
    if closing is not None and not any(one.paid > 0 for one in in_force):
        fold_state.close(closing)
    return fold_state.status(in_force, total)


@dataclass(frozen=True, slots=True)
class RemittanceRole:
    """What one remittance of a claim does to its money, as all of them together decide."""

    remittance: RemittanceFact
    is_correction: bool = False
    """Whether it follows a reversal, or replaces an earlier one that was not reversed."""
    reverses: RemittanceFact | None = None
    """What a reversal takes back, if that is known."""
    in_force: bool = True
    """False for a reversal, and for what was reversed or replaced."""
    replaced: bool = False
    """Whether a newer one replaced it without reversing it."""


def remittance_roles(remittances: Sequence[RemittanceFact]) -> list[RemittanceRole]:
    """Return the role of each remittance of one claim, in the order in which they count."""
    found = _sorted_remits(remittances)
    targets = _taken_back(found)
    gone = set(targets.values())
    in_force: list[RemittanceFact] = []
    roles: list[RemittanceRole] = []
    reversed_before = False
    replaced: set[int] = set()
    for at, one in enumerate(found):
        if one.is_reversal:
            reversed_before = True
            target = targets.get(at)
            reverses = None if target is None else found[target]
            roles.append(RemittanceRole(one, reverses=reverses, in_force=False))
            continue
        superseded: set[int] = set()
        if at not in gone:
            before, in_force = in_force, _in_force([*in_force, one])
            superseded = {id(other) for other in before} - {id(other) for other in in_force}
            replaced |= superseded
        roles.append(RemittanceRole(one, is_correction=reversed_before or bool(superseded)))
    kept = {id(one) for one in in_force}
    return [
        role
        if role.remittance.is_reversal
        else replace(
            role,
            in_force=id(role.remittance) in kept,
            replaced=id(role.remittance) in replaced,
        )
        for role in roles
    ]


def first_category(codes: Sequence[ClaimStatusCode]) -> str:
    """Return the category of a status; if there are several, the first counts."""
    return codes[0].category if codes else ""


def diagram() -> str:
    """Return the table as a Mermaid state diagram."""
    arrows: dict[tuple[ClaimState, ClaimState], list[str]] = {}
    for (state, event), after in NEXT.items():
        arrows.setdefault((state, after), []).append(event.value)
    rows = [
        f"    {one} --> {other}: {', '.join(events)}" for (one, other), events in arrows.items()
    ]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {ClaimState.RECEIVED}", *rows, ""])


class _Fold:
    """The state of a claim while its facts are applied."""

    __slots__ = (
        "_changed", "_closing", "_complained", "_latest", "_latest_day", "_payer_number", "_send_again", "state",
    )  # fmt: skip

    def __init__(self) -> None:
        self.state = ClaimState.RECEIVED
        self._changed: date | None = None
        self._latest: Fact | RemittanceFact | None = None
        """The last fact that applied."""
        self._latest_day: date | None = None
        self._payer_number = ""
        self._send_again = False
        self._complained = 0
        """The last sending whose content a 999 refused."""
        self._closing: ClaimClosing | None = None

    def apply(self, event: ClaimEvent | None, day: date, fact: Fact | RemittanceFact) -> None:
        """Apply one fact. Without an event, or a row in the table, the state stays."""
        if isinstance(fact, Fact):
            self._payer_number = fact.claim.payer_control_number or self._payer_number
            # A later delivery, and anything the payer reports about the claim, ends the wait.
            self._send_again = fact.kind in SENT_AGAIN_KINDS or (self._send_again and event is None)
            if fact.kind in COMPLAINT_KINDS:
                self._complained = fact.attempt
        after = NEXT.get((self.state, event)) if event else None
        if after is None:
            return
        # A new decision counts as a change even if the state stays the same.
        if after is not self.state or event is ClaimEvent.REMITTED:
            self._changed = day
        self.state = after
        self._latest, self._latest_day = fact, day

    def close(self, closing: Closing) -> None:
        """Close a claim that was voided or replaced. Its last fact stays the one that it shows."""
        taken_back = self.state is ClaimState.PENDING and not isinstance(self._latest, Fact)
        after = NEXT.get((self.state, CLOSING_EVENTS[closing.by]))
        if after is None or (closing.only_taken_back and not taken_back):
            return
        if after is not self.state:
            self._changed = closing.day
        self.state, self._closing, self._send_again = after, closing.by, False

    def status(self, in_force: Sequence[RemittanceFact], total: int) -> LifecycleStatus:
        """Return the resulting status; its amounts are those of the remittances still in force."""
        latest = self._latest
        if not isinstance(latest, Fact):
            return self._decided(latest, in_force, total)
        is_status = latest.kind is FactKind.STATUS and not latest.is_passed_on
        is_document = is_status or self.state is ClaimState.REJECTED
        return LifecycleStatus(
            state=self.state,
            state_changed_day=self._changed,
            status_category=first_category(latest.codes) if is_document else "",
            decided_day=self._latest_day if is_document else None,
            payer_control_number=self._payer_number,
            document_kind=PayerDocumentKind.STATUS if is_document else None,
            document_id=latest.document_id if is_document else "",
            total_cents=total,
            send_again=self._send_again,
            file_refused=self.state is ClaimState.REJECTED
            and latest.kind is FactKind.TA1_REFUSED
            and self._complained != latest.attempt,
            closing=self._closing,
        )

    def _decided(
        self, latest: RemittanceFact | None, in_force: Sequence[RemittanceFact], total: int
    ) -> LifecycleStatus:
        if latest is None:
            return LifecycleStatus(
                total_cents=total,
                payer_control_number=self._payer_number,
                send_again=self._send_again,
            )
        return LifecycleStatus(
            state=self.state,
            state_changed_day=self._changed,
            payment_status=latest.status_code,
            decided_day=self._latest_day,
            payer_control_number=latest.payer_control_number or self._payer_number,
            document_kind=PayerDocumentKind.PAYMENT,
            document_id=latest.document_id,
            total_cents=total,
            payer_cents=sum(one.paid for one in in_force),
            patient_cents=sum(one.patient for one in in_force),
            adjustment_cents=sum(one.adjusted for one in in_force),
            payment_method=latest.method,
            payment_reference=latest.trace_number,
            payment_effective_day=latest.effective_date,
            payer_name=latest.payer_name,
            closing=self._closing,
            unprocessable=latest.unprocessable,
        )


def _remit(fold_state: _Fold, remittances: Sequence[RemittanceFact]) -> list[RemittanceFact]:
    """Apply the remittances one by one; return those in force at the end."""
    targets = _taken_back(remittances)
    gone: set[int] = set()
    in_force: list[RemittanceFact] = []
    for at, one in enumerate(remittances):
        if one.is_reversal:
            gone.add(targets.get(at, at))
        is_document = (other for other in range(at + 1) if other not in gone)
        in_force = _in_force(
            [remittances[other] for other in is_document if not remittances[other].is_reversal]
        )
        speaker = in_force[-1] if in_force else one
        fold_state.apply(
            ClaimEvent.REMITTED if in_force else ClaimEvent.REVERSED, speaker.day, speaker
        )
    return in_force


def _taken_back(remittances: Sequence[RemittanceFact]) -> dict[int, int]:
    """Return for each reversal the remittance it reverses, by index, if that one is known."""
    targets: dict[int, int] = {}
    for at, one in enumerate(remittances):
        if one.is_reversal:
            free = (
                other
                for other, candidate in enumerate(remittances)
                if other not in targets.values() and not candidate.is_reversal
            )
            matches = [(fit, other) for other in free if (fit := _fit(one, remittances[other]))]
            if matches:
                # The best fit, and of equal ones the oldest: a correction may repeat the amounts.
                targets[at] = max(matches, key=lambda match: (match[0], -match[1]))[1]
    return targets


def _fit(reversal: RemittanceFact, other: RemittanceFact) -> int:
    """Return how well a remittance fits as the target of a reversal; 0 for not at all."""
    same_file = (other.at, other.serial) == (reversal.at, reversal.serial)
    if (other.day, other.at) > (reversal.day, reversal.at) or other.charged != -reversal.charged:
        return 0
    exact = all(
        getattr(other, name) == -getattr(reversal, name) for name in ("paid", "patient", "adjusted")
    )
    if same_file:
        # Reversal and correction usually share a file; only a payment before the reversal in the file can be meant.
        return 1 if exact and other.order < reversal.order else 0
    return 3 if exact else 2


def _in_force(remittances: Sequence[RemittanceFact]) -> list[RemittanceFact]:
    """Return the remittances in force: a newer one replaces an older, unless they cover different lines."""
    in_force: list[RemittanceFact] = []
    for one in remittances:
        in_force = [
            other for other in in_force if other.lines and one.lines and not other.lines & one.lines
        ]
        in_force.append(one)
    return in_force


def _sorted_sendings(facts: Sequence[Fact]) -> list[Fact]:
    """Sort by sending, and within one by weight: payers' clocks are not trusted here."""
    if len(facts) < 2:
        return list(facts)
    return sorted(_once(facts), key=lambda one: (one.attempt, _SENDING_WEIGHTS[one.kind]))


def _sorted_statuses(facts: Sequence[Fact]) -> list[Fact]:
    if len(facts) < 2:  # nearly always; thousands are folded at a time
        return list(facts)
    return sorted(
        _once(facts),
        key=lambda one: (
            one.day or one.at.date(), one.at, one.serial, _VERDICT_WEIGHTS[one.verdict],
            [(code.category, code.status, code.entity) for code in one.codes],
        ),
    )  # fmt: skip


def _sorted_remits(remittances: Sequence[RemittanceFact]) -> list[RemittanceFact]:
    found = list(_once(remittances))
    if len(found) > 1:  # nearly always there is one, and thousands are folded at a time
        found.sort(key=lambda one: (one.day, one.at, one.serial, one.order, str(one.identity)))
    return found


_SENDING_WEIGHTS = {kind: weight for weight, kind in enumerate(SENDING_EVENTS)}
_VERDICT_WEIGHTS = {verdict: weight for weight, verdict in enumerate(VERDICT_EVENTS)}


_F = TypeVar("_F", bound=Fact | RemittanceFact)


def _once(facts: Sequence[_F]) -> Collection[_F]:
    """Return each statement once: its earliest report."""
    if len(facts) < 2:
        return facts
    found: dict[tuple[object, ...], _F] = {}
    for fact in facts:
        identity = fact.identity
        known = found.get(identity)
        if known is None or _first(fact) < _first(known):
            found[identity] = fact
    return found.values()


def _first(fact: Fact | RemittanceFact) -> tuple[datetime, int, str]:
    return fact.at, fact.serial, fact.document_id
