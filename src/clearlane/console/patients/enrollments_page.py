"""Enrollments: providers that payers must know before they take claims; the list by state, one with its history.

Users see the enrollments of their sites; operators record what payers answered.
"""

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple
from urllib.parse import quote

from starlette.responses import Response

from clearlane.console.frame import page_text
from clearlane.console.frame.act_question import ActQuestion, AskFirst
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import EVERYBODY, OPERATORS, PageRows
from clearlane.enrollment.fields import FIELDS, Enrollment
from clearlane.enrollment.lifecycle import (
    INITIAL_STATE,
    NEXT,
    EnrollmentEvent,
    EnrollmentState,
    current_states,
)
from clearlane.kernel.formats import read_typed_day
from clearlane.kernel.ids import Scope
from clearlane.kernel.limits import REASON_CHARACTERS_MAX
from clearlane.payers.enrolled_transactions import TRANSACTION_WORDS, EnrolledTransaction
from clearlane.payers.model import Payer
from clearlane.pipeline.enrollment.list_enrollments import required_keys
from clearlane.pipeline.operator.enrollment_admin import (
    ANY_CLIENT,
    EnrolledWith,
    EnrollmentDetails,
    EnrollmentEventRecord,
    apply_event,
    list_enrollments,
    load_enrollment,
)
from clearlane.store import enrollments
from clearlane.store.database.database import OperationRefused
from clearlane.store.enrollments import EnrollmentPayerState, StoredEnrollment

pages = PageRows(roles=EVERYBODY, menu="/enrollments")

ENROLLMENTS_SHOWN = 200

STATE_LABELS = {
    EnrollmentState.SUBMITTED: ("act", "New"),
    EnrollmentState.IN_WORK: ("wait", "At the payer"),
    EnrollmentState.APPROVED: ("good", "Approved"),
    EnrollmentState.REFUSED: ("act", "Refused"),
    EnrollmentState.ENDED: ("act", "Ended"),
}
"""Kind and words of the label, by state."""
EVENT_WORDS = {
    "submitted": "Submitted by the vendor",
    EnrollmentEvent.START: "Sent to the payer",
    EnrollmentEvent.APPROVE: "Approved by the payer",
    EnrollmentEvent.REFUSE: "Refused by the payer",
    EnrollmentEvent.END: "Ended by the payer",
}
MOVE_BUTTONS = {
    EnrollmentEvent.START: "Sent to the payer",
    EnrollmentEvent.APPROVE: "Approved",
    EnrollmentEvent.END: "Ended",
    EnrollmentEvent.REFUSE: "Refused",
}
NOTICES = {"moved": "Recorded.", "same": "It already has this state; nothing was changed."}


@dataclass(frozen=True, slots=True)
class EnrollmentRowTexts:
    """One row of the list."""

    id: str
    provider: str
    npi: str
    site: str
    submitted: str
    labels: list[tuple[str, str]]
    notes: str


@dataclass(frozen=True, slots=True)
class PayerStateTexts:
    """The state of an enrollment with one payer for one transaction, and what may be recorded next."""

    payer: Payer | None
    type: str
    payer_id: str
    transaction: str
    words: str
    """The transaction, for people."""
    label: tuple[str, str]
    since: str
    live_from: str
    reason: str
    moves: list[tuple[str, str]]
    """Event and button."""


@pages.page("/enrollments")
async def show_enrollments(request: PageRequest) -> Response:
    """Show the newest enrollments in a state."""
    wanted = {state.value: state for state in EnrollmentState}.get(request.query("state"))
    scopes = _scopes(request)

    def among(row: StoredEnrollment) -> bool:
        if scopes is not None and row.scope not in scopes:
            return False
        return wanted is None or wanted in _states(row)

    found = await list_enrollments(
        request.context.database,
        request.context.vault,
        among,
        action="enrollment.list",
        limit=ENROLLMENTS_SHOWN,
        actor=request.actor,
    )
    states: list[EnrollmentState | None] = [None, *EnrollmentState]
    return request.render(
        "enrollments.html",
        "Enrollments",
        rows=[_row(request, one) for one in found],
        tabs=[
            (
                STATE_LABELS[state][1] if state else "All",
                request.url("/enrollments", state=state or ""),
                state is wanted,
                None,
            )
            for state in states
        ],
        is_all=wanted is None,
        is_cut=len(found) == ENROLLMENTS_SHOWN,
    )


@pages.page("/enrollments/{id}", notices=NOTICES)
async def show_enrollment(request: PageRequest) -> Response:
    """Show one enrollment with its payers and its history."""
    id = await _visible_id(request)
    details, events = await load_enrollment(
        request.context.database, request.context.vault, id, actor=request.actor
    )
    enrollment = details.enrollment
    fields = [(FIELDS[name].label, getattr(enrollment, name)) for name in FIELDS]
    return request.render(
        "enrollment.html",
        _provider(enrollment),
        id=id,
        labels=[_label(request, state) for state in _states(details.row)],
        fields=[(label, value) for label, value in fields if value is not None],
        notes=[note.message for note in details.notes],
        payers=_payers(request, details),
        events=[
            (
                request.stored_moment(one.at),
                EVENT_WORDS.get(one.event, one.event),
                _payer_name(request, one),
            )
            for one in reversed(events)
        ],
    )


@pages.act(
    "/enrollments/{id}/move",
    AskFirst(
        back="/enrollments/{id}",
        by="event",
        unasked=frozenset(),
        questions={
            "start": ActQuestion(
                title="Record that {subject} has the enrollment?",
                sentence="The vendor gets an event that the enrollment is at the payer. Record it only after it was sent.",
                button="Record it",
            ),
            "approve": ActQuestion(
                title="Record that {subject} approved?",
                sentence="From today, or the day that you gave, the provider counts as enrolled with {subject}, and the vendor gets "
                "an event. If it is for claims, they are sent to this payer then: a payer rejects those of a provider that it "
                "has not approved.",
                button="Record the approval",
            ),
            "refuse": ActQuestion(
                title="Record that {subject} refused?",
                sentence="The vendor gets an event that the payer refused the enrollment. If it is for claims, those of this "
                "provider for {subject} are not accepted.",
                button="Record the refusal",
            ),
            "end": ActQuestion(
                title="Record that {subject} ended the enrollment?",
                sentence="The vendor gets an event that the payer ended the enrollment. If it is for claims, those of this "
                "provider for {subject} are not accepted from now on.",
                button="Record the end",
            ),
        },
    ),
    roles=OPERATORS,
)
async def move(request: PageRequest) -> Response:
    """Record what a payer answered to an enrollment."""
    id = await _visible_id(request)
    asked = _asked(request)
    if asked is None:
        sentence = (
            "Choose a payer, a transaction and an answer. The first day of an approval is one such as 2026-01-31, and a "
            f"reason has at most {REASON_CHARACTERS_MAX} characters."
        )
        return request.message(400, "Not recorded", sentence)
    try:
        changes = await apply_event(
            request.context.database,
            request.context.vault,
            id,
            asked.event,
            [asked.enrolled],
            reason=asked.reason,
            live_from=asked.live_from,
            now=request.context.clock.now(),
            actor=request.actor,
            sites=request.context.accounts.sites,
            simulated=request.context.work_context.simulated_enrollments,
        )
    except OperationRefused as why:
        return request.message(409, "Not recorded", str(why))
    return request.redirect(f"/enrollments/{quote(id)}", done="moved" if changes else "same")


class _Asked(NamedTuple):
    """What is to be recorded."""

    event: EnrollmentEvent
    enrolled: EnrolledWith
    reason: str
    live_from: date | None


def _asked(request: PageRequest) -> _Asked | None:
    """Return what is to be recorded; None if a part is missing or cannot be read."""
    given = request.form.get
    event = {one.value: one for one in EnrollmentEvent}.get(given("event"))
    payer = request.context.payers.find(given("payer"), given("type"))
    transaction = {one.value: one for one in EnrolledTransaction}.get(given("transaction"))
    reason, day = given("reason").strip(), given("live_from").strip()
    live_from = read_typed_day(day) if day else None
    if event is None or payer is None or transaction is None:
        return None
    if (day and live_from is None) or len(reason) > REASON_CHARACTERS_MAX:
        return None
    return _Asked(event, EnrolledWith(payer, transaction), reason, live_from)


def _scopes(request: PageRequest) -> frozenset[Scope] | None:
    """Return the sites whose enrollments are shown; None for an operator who has chosen none."""
    if request.is_operator and not request.query("site"):
        return None
    return frozenset(site.scope for site in request.chosen_sites)


async def _visible_id(request: PageRequest) -> str:
    """Return the id in the address, if the user may see this enrollment."""
    id = request.parts["id"].upper()
    async with request.context.database.read(ANY_CLIENT) as tx:
        owner = await enrollments.find_owner(tx, id)
    if owner is None or request.site_of(owner.vendor, owner.site) is None:
        raise NoSuchPage("There is no such enrollment among yours.")
    return id


def _states(row: StoredEnrollment) -> list[EnrollmentState]:
    found = current_states(EnrollmentState(each.state) for each in row.payer_states)
    return [state for state in EnrollmentState if state in found]


def _label(request: PageRequest, state: EnrollmentState) -> tuple[str, str]:
    """Return kind and words of a state's label. A new one waits for operators; all other users wait for them."""
    kind, words = STATE_LABELS[state]
    waits = state is EnrollmentState.SUBMITTED and not request.is_operator
    return ("wait", words) if waits else (kind, words)


def _row(request: PageRequest, details: EnrollmentDetails) -> EnrollmentRowTexts:
    row = details.row
    site = request.site_of(row.scope.vendor, row.scope.site)
    return EnrollmentRowTexts(
        id=row.id,
        provider=_provider(details.enrollment),
        npi=details.enrollment.Npi,
        site=site.name if site else "",
        submitted=request.stored_moment(row.created_at),
        labels=[_label(request, state) for state in _states(row)],
        notes=" ".join(note.message for note in details.notes),
    )


def _provider(enrollment: Enrollment) -> str:
    names = (enrollment.ProviderLastName, enrollment.ProviderFirstName)
    return enrollment.PracticeName or ", ".join(filter(None, names)) or enrollment.Npi


def _payer_name(request: PageRequest, one: EnrollmentEventRecord) -> str:
    if not one.payer_id:
        return ""
    payer = request.context.payers.find(one.payer_id, one.payer_type)
    words = TRANSACTION_WORDS[EnrolledTransaction(one.transaction)]
    return f"{payer.name}, {one.payer_type.lower()}, {words}" if payer else one.payer_id


def _payers(request: PageRequest, details: EnrollmentDetails) -> list[PayerStateTexts]:
    """Return the payers that an operator acted for, and those that require an enrollment, by transaction."""
    row = details.row
    acted = {each.key for each in row.payer_states}
    known = [*zip(row.payer_states, details.reasons, strict=True)]
    known += [
        (EnrollmentPayerState(*key, INITIAL_STATE.value, row.created_at), "")
        for key in required_keys(request.context.payers)
        if key not in acted
    ]
    return [_payer_state(request, stored, reason) for stored, reason in known]


def _payer_state(
    request: PageRequest, stored: EnrollmentPayerState, reason: str
) -> PayerStateTexts:
    state = EnrollmentState(stored.state)
    payer = request.context.payers.find(stored.payer_id, stored.payer_type)
    day = read_typed_day(stored.live_from or "")
    return PayerStateTexts(
        payer=payer,
        type=stored.payer_type,
        payer_id=payer.payer_id if payer else stored.payer_id,
        transaction=stored.transaction,
        words=TRANSACTION_WORDS[EnrolledTransaction(stored.transaction)],
        label=_label(request, state),
        since=request.stored_moment(stored.updated_at),
        live_from=page_text.day(day) if day else "",
        reason=reason,
        moves=_moves(state) if request.is_operator and payer else [],
    )


def _moves(state: EnrollmentState) -> list[tuple[str, str]]:
    """Return event and button of what may be recorded, one for each state that it leads to."""
    found: dict[EnrollmentState, tuple[str, str]] = {}
    for event, button in MOVE_BUTTONS.items():
        after = NEXT.get((state, event))
        if after is not None and after is not state:
            found.setdefault(after, (event.value, button))
    return [*found.values()]
