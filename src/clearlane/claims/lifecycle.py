"""The life of a claim: one table, state and event to state, and the fold of facts over it.

    standing = fold(facts, total=15000)

The facts of a claim are put in an order of their own before they are told to the table: first what concerns
each sending of it (delivery, TA1, 999), sending after sending; then the statuses and then the remittances, each
by the time of who said them. So the order of arrival does not matter, a fact that comes again counts once,
and an old one that comes late loses to a newer one. A pair that the table does not have moves nothing and says
nothing.

Knows facts; knows no file, no clock and no database.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import TypeVar

from clearlane.claims.facts import Code, Fact, Kind, Remitted, Verdict


class State(StrEnum):
    """Where a claim stands, as the status list says it."""

    RECEIVED = "Received"
    SENT = "Sent"
    ACKNOWLEDGED = "Acknowledged"
    PENDING = "Pending"
    REJECTED = "Rejected"
    COMPLETE = "Complete"


class Event(StrEnum):
    """What can happen to a claim."""

    DELIVERED = "delivered"
    TAKEN = "taken by 999"
    REFUSED = "refused by TA1 or 999"
    ACCEPTED = "accepted by status"
    PENDED = "pended by status"
    DECLINED = "rejected by status"
    REMITTED = "remitted"
    REVERSED = "remittance reversed"


_R, _S, _A, _P, _X, _C = State
# Once a payer's system has a claim, what is said about a file no longer moves it; once a payer has decided,
# only a remittance does.
NEXT: dict[tuple[State, Event], State] = {
    (_R, Event.DELIVERED): _S,
    (_R, Event.TAKEN): _S,
    (_R, Event.REFUSED): _X,
    (_R, Event.ACCEPTED): _A,
    (_R, Event.PENDED): _P,
    (_R, Event.DECLINED): _X,
    (_R, Event.REMITTED): _C,
    (_R, Event.REVERSED): _P,
    (_S, Event.DELIVERED): _S,
    (_S, Event.TAKEN): _S,
    (_S, Event.REFUSED): _X,
    (_S, Event.ACCEPTED): _A,
    (_S, Event.PENDED): _P,
    (_S, Event.DECLINED): _X,
    (_S, Event.REMITTED): _C,
    (_S, Event.REVERSED): _P,
    (_A, Event.ACCEPTED): _A,
    (_A, Event.PENDED): _P,
    (_A, Event.DECLINED): _X,
    (_A, Event.REMITTED): _C,
    (_A, Event.REVERSED): _P,
    (_P, Event.PENDED): _P,
    (_P, Event.DECLINED): _X,
    (_P, Event.REMITTED): _C,
    (_P, Event.REVERSED): _P,
    (_X, Event.DELIVERED): _S,  # a refused batch was sent again
    (_X, Event.REFUSED): _X,
    (_X, Event.ACCEPTED): _A,
    (_X, Event.PENDED): _P,
    (_X, Event.DECLINED): _X,
    (_X, Event.REMITTED): _C,
    (_X, Event.REVERSED): _P,
    (_C, Event.REMITTED): _C,  # a corrected remittance
    (_C, Event.REVERSED): _P,  # the payment was taken back, a new decision is to come
}

SENDINGS: dict[Kind, Event | None] = {
    Kind.SENT: Event.DELIVERED,
    Kind.ACCEPTED_999: Event.TAKEN,
    Kind.SEND_AGAIN: None,
    Kind.SET_REFUSED: Event.REFUSED,
    Kind.CLAIM_REFUSED: Event.REFUSED,
    Kind.TA1_REFUSED: Event.REFUSED,
}
"""The facts about a sending, in the order of their weight within it."""

VERDICTS: dict[Verdict, Event | None] = {
    Verdict.NOTED: None,
    Verdict.ACCEPTED: Event.ACCEPTED,
    Verdict.PENDING: Event.PENDED,
    Verdict.REJECTED: Event.DECLINED,
}
"""The statuses, in the order of their weight where time does not decide."""

ACTIONS: dict[str, str] = {
    "A0": "AcknowledgementForwarded",
    "A1": "AcknowledgementReceipt",
    "A2": "AcknowledgementAcceptanceIntoAdjudicationSystem",
    "A3": "AcknowledgementReturnedAsUnprocessableClaim",
    "A4": "AcknowledgementNotFound",
    "A5": "AcknowledgementSplitClaim",
    "A6": "AcknowledgementRejectedForMissingInformation",
    "A7": "AcknowledgementRejectedForInvalidInformation",
    "A8": "AcknowledgementRejectedForRelationalFieldInError",
    "D0": "DataSearchUnsuccessful",
    "E0": "ResponseNotPossibleErrorOnSubmittedRequestData",
    "E1": "ResponseNotPossibleSystemStatus",
    "E2": "InformationHolderIsNotResponding",
    "E3": "CorrectionRequiredRelationalFieldsInError",
    "E4": "TradingPartnerAgreementSpecificRequirementNotMet",
    "F0": "Finalized",
    "F1": "FinalizedPayment",
    "F2": "FinalizedDenial",
    "F3": "FinalizedRevised",
    "F3F": "FinalizedForwarded",
    "F3N": "FinalizedNotForwarded",
    "F4": "FinalizedAdjudicationCompleteNoPaymentForthcoming",
    "F5": "FinalizedCannotProcess",
    "P0": "PendingAdjudicationDetails",
    "P1": "PendingInProcess",
    "P2": "PendingPayerReview",
    "P3": "PendingProviderRequestedInformation",
    "P4": "PendingPatientRequestedInformation",
    "P5": "PendingPayerAdministrativeSystemHold",
    "R0": "RequestsForAdditionalInformationGeneral",
    "R1": "RequestsForAdditionalInformationEntity",
    "R3": "RequestsForAdditionalInformationClaimLine",
    "R4": "RequestsForAdditionalInformationDocumentation",
    "R5": "RequestsForAdditionalInformationMoreSpecificDetail",
}
"""How the interface names a status category; one that is not here goes by its code."""

REMITTANCE_ADVICE, CLAIM_STATUS = "RemittanceAdvice", "ClaimStatus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a claim stands. Amounts are cents."""

    state: State = State.RECEIVED
    state_changed_day: date | None = None
    payer_action: str = ""
    payer_action_day: date | None = None
    payer_control_number: str = ""
    document_kind: str = ""
    document_id: str = ""
    total: int = 0
    payer: int = 0
    patient: int = 0
    adjustments: int = 0
    payment_method: str = ""
    payment_reference: str = ""
    payment_effective_day: date | None = None
    payer_name: str = ""
    send_again: bool = False
    """Whether its set was refused because of others, and it waits to go out in a new one."""


def fold(facts: Iterable[Fact | Remitted], *, total: int = 0) -> Standing:
    """The standing that these facts make, whatever their order; ``total`` is what was charged, in cents."""
    sendings: list[Fact] = []
    statuses: list[Fact] = []
    remits: list[Remitted] = []
    for fact in facts:
        if not isinstance(fact, Fact):
            remits.append(fact)
        elif fact.kind is Kind.STATUS:
            statuses.append(fact)
        else:
            sendings.append(fact)
    life = _Life()
    for one in _sorted_sendings(sendings):
        life.tell(SENDINGS[one.kind], one.at.date(), one)
    for one in _sorted_statuses(statuses):
        life.tell(VERDICTS[one.verdict], one.day or one.at.date(), one)
    live = _remit(life, _sorted_remits(remits))
    return life.standing(live, total)


def action(codes: Sequence[Code]) -> str:
    """The name of the category that a status begins with."""
    category = codes[0].category if codes else ""
    return ACTIONS.get(category, category)


def diagram() -> str:
    """The table as a Mermaid state diagram."""
    arrows: dict[tuple[State, State], list[str]] = {}
    for (state, event), after in NEXT.items():
        arrows.setdefault((state, after), []).append(event.value)
    rows = [
        f"    {one} --> {other}: {', '.join(events)}" for (one, other), events in arrows.items()
    ]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {State.RECEIVED}", *rows, ""])


class _Life:
    """A claim while its facts are told."""

    __slots__ = ("_again", "_changed", "_number", "_spoken", "_spoken_day", "state")

    def __init__(self) -> None:
        self.state = State.RECEIVED
        self._changed: date | None = None
        self._spoken: Fact | Remitted | None = None
        """The fact that speaks for the claim."""
        self._spoken_day: date | None = None
        self._number = ""
        self._again = False

    def tell(self, event: Event | None, day: date, fact: Fact | Remitted) -> None:
        """One fact. What has no event, or no place in the table, changes nothing."""
        if isinstance(fact, Fact):
            self._number = fact.claim.payer_number or self._number
            # A later delivery, and every word of the payer about the claim, ends the wait.
            self._again = fact.kind is Kind.SEND_AGAIN or (self._again and event is None)
        after = NEXT.get((self.state, event)) if event else None
        if after is None:
            return
        # A new decision moves the claim even where the state keeps its name.
        if after is not self.state or event is Event.REMITTED:
            self._changed = day
        self.state = after
        self._spoken, self._spoken_day = fact, day

    def standing(self, live: Sequence[Remitted], total: int) -> Standing:
        """What the status list shows; the amounts are those of the remittances still in force."""
        spoken = self._spoken
        if not isinstance(spoken, Fact):
            return self._decided(spoken, live, total)
        status = spoken.kind is Kind.STATUS
        heard = status or self.state is State.REJECTED
        return Standing(
            state=self.state,
            state_changed_day=self._changed,
            payer_action=action(spoken.codes),
            payer_action_day=self._spoken_day if status else None,
            payer_control_number=self._number,
            document_kind=CLAIM_STATUS if heard else "",
            document_id=spoken.document if heard else "",
            total=total,
            send_again=self._again,
        )

    def _decided(self, spoken: Remitted | None, live: Sequence[Remitted], total: int) -> Standing:
        if spoken is None:
            return Standing(total=total, payer_control_number=self._number, send_again=self._again)
        paid, patient = sum(one.paid for one in live), sum(one.patient for one in live)
        adjusted = sum(one.adjusted for one in live)
        return Standing(
            state=self.state,
            state_changed_day=self._changed,
            payer_action=spoken.action,
            payer_action_day=self._spoken_day,
            payer_control_number=spoken.payer_number or self._number,
            document_kind=REMITTANCE_ADVICE,
            document_id=spoken.document,
            total=paid + patient + adjusted if live else total,
            payer=paid,
            patient=patient,
            adjustments=adjusted,
            payment_method=spoken.method,
            payment_reference=spoken.reference,
            payment_effective_day=spoken.effective,
            payer_name=spoken.payer,
        )


def _remit(life: _Life, remits: Sequence[Remitted]) -> list[Remitted]:
    """Tell the remittances one by one; answers those in force at the end."""
    targets = _taken_back(remits)
    gone: set[int] = set()
    live: list[Remitted] = []
    for at, one in enumerate(remits):
        if one.is_reversal:
            gone.add(targets.get(at, at))
        heard = (other for other in range(at + 1) if other not in gone)
        live = _in_force([remits[other] for other in heard if not remits[other].is_reversal])
        speaker = live[-1] if live else one
        life.tell(Event.REMITTED if live else Event.REVERSED, speaker.day, speaker)
    return live


def _taken_back(remits: Sequence[Remitted]) -> dict[int, int]:
    """For each reversal the remittance it takes back, where we have that one."""
    targets: dict[int, int] = {}
    for at, one in enumerate(remits):
        if one.is_reversal:
            free = (
                other
                for other, candidate in enumerate(remits)
                if other not in targets.values() and not candidate.is_reversal
            )
            matches = [(fit, other) for other in free if (fit := _fit(one, remits[other]))]
            if matches:
                # The best fit, and of equal ones the oldest: a correction may repeat the amounts.
                targets[at] = max(matches, key=lambda match: (match[0], -match[1]))[1]
    return targets


def _fit(reversal: Remitted, other: Remitted) -> int:
    """How well a remittance fits a reversal that may take it back; 0 for not at all."""
    same_file = (other.at, other.serial) == (reversal.at, reversal.serial)
    if (other.day, other.at) > (reversal.day, reversal.at) or other.charged != -reversal.charged:
        return 0
    exact = all(
        getattr(other, name) == -getattr(reversal, name) for name in ("paid", "patient", "adjusted")
    )
    if same_file:
        # Reversal and correction stand in one file as a rule; what came before it in the file was paid there.
        return 1 if exact and other.order < reversal.order else 0
    return 3 if exact else 2


def _in_force(remits: Sequence[Remitted]) -> list[Remitted]:
    """A newer remittance takes the place of an older one, unless they speak of different lines."""
    live: list[Remitted] = []
    for one in remits:
        live = [
            other for other in live if other.lines and one.lines and not other.lines & one.lines
        ]
        live.append(one)
    return live


def _sorted_sendings(facts: Iterable[Fact]) -> list[Fact]:
    """Sending after sending, and in each of them the weightiest fact last, whatever the clocks say."""
    return sorted(_once(facts), key=lambda one: (one.attempt, _SENDING_WEIGHTS[one.kind]))


def _sorted_statuses(facts: Iterable[Fact]) -> list[Fact]:
    return sorted(
        _once(facts),
        key=lambda one: (
            one.day or one.at.date(), one.at, one.serial, _VERDICT_WEIGHTS[one.verdict],
            [(code.category, code.status, code.entity) for code in one.codes],
        ),
    )  # fmt: skip


def _sorted_remits(remits: Iterable[Remitted]) -> list[Remitted]:
    found = list(_once(remits))
    if len(found) > 1:  # nearly always there is one, and days of thousands are folded
        found.sort(key=lambda one: (one.day, one.at, one.serial, one.order, str(one.identity)))
    return found


_SENDING_WEIGHTS = {kind: weight for weight, kind in enumerate(SENDINGS)}
_VERDICT_WEIGHTS = {verdict: weight for weight, verdict in enumerate(VERDICTS)}


_F = TypeVar("_F", bound=Fact | Remitted)


def _once(facts: Iterable[_F]) -> Iterable[_F]:
    """Each statement once: of several reports of it the first."""
    found: dict[tuple[object, ...], _F] = {}
    for fact in facts:
        identity = fact.identity
        known = found.get(identity)
        if known is None or _first(fact) < _first(known):
            found[identity] = fact
    return found.values()


def _first(fact: Fact | Remitted) -> tuple[datetime, int, str]:
    return fact.at, fact.serial, fact.document
