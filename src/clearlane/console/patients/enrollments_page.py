"""Enrollments: providers that payers must know before they take claims; the list by state, one with its history.

Users see the enrollments of their sites; operators record what payers answered.
"""

from dataclasses import dataclass
from urllib.parse import quote

from starlette.responses import Response

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
from clearlane.kernel.ids import Scope
from clearlane.payers.model import Payer
from clearlane.pipeline.operator.enrollment_admin import (
    ANY_CLIENT,
    EnrollmentDetails,
    apply_event,
    list_enrollments,
    load_enrollment,
)
from clearlane.store import enrollments
from clearlane.store.database.database import OperationRefused
from clearlane.store.enrollments import StoredEnrollment

pages = PageRows(roles=EVERYBODY, menu="/enrollments")

ENROLLMENTS_SHOWN = 200
REASON_CHARACTERS_MAX = 500

STATE_LABELS = {
    EnrollmentState.SUBMITTED: ("act", "New"),
    EnrollmentState.IN_WORK: ("wait", "At the payer"),
    EnrollmentState.APPROVED: ("good", "Approved"),
    EnrollmentState.REFUSED: ("act", "Refused"),
}
"""Kind and words of the label, by state."""
EVENT_WORDS = {
    "submitted": "Submitted by the vendor",
    EnrollmentEvent.START: "Sent to the payer",
    EnrollmentEvent.APPROVE: "Approved by the payer",
    EnrollmentEvent.REFUSE: "Refused by the payer",
}
MOVE_BUTTONS = {
    EnrollmentEvent.START: "Sent to the payer",
    EnrollmentEvent.APPROVE: "Approved",
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
    """The state of an enrollment with one payer, and what may be recorded next."""

    payer: Payer | None
    type: str
    payer_id: str
    label: tuple[str, str]
    since: str
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
                _payer_name(request, one.payer_type, one.payer_id),
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
                sentence="From now on claims of this provider are sent to {subject}, and the vendor gets an event. A payer "
                "rejects the claims of a provider that it has not approved.",
                button="Record the approval",
            ),
            "refuse": ActQuestion(
                title="Record that {subject} refused?",
                sentence="The vendor gets an event that the payer refused the enrollment, with the reason that you gave. Claims "
                "of this provider for {subject} are not accepted.",
                button="Record the refusal",
            ),
        },
    ),
    roles=OPERATORS,
)
async def move(request: PageRequest) -> Response:
    """Record what a payer answered to an enrollment."""
    id = await _visible_id(request)
    event = {one.value: one for one in EnrollmentEvent}.get(request.form.get("event"))
    payer = request.context.payers.find(request.form.get("payer"), request.form.get("type"))
    reason = request.form.get("reason").strip()
    if event is None or payer is None or len(reason) > REASON_CHARACTERS_MAX:
        sentence = f"Choose a payer and an answer; a reason has at most {REASON_CHARACTERS_MAX} characters."
        return request.message(400, "Not recorded", sentence)
    try:
        changes = await apply_event(
            request.context.database,
            request.context.vault,
            id,
            event,
            [payer],
            reason=reason,
            now=request.context.clock.now(),
            actor=request.actor,
            simulated=request.context.work_context.simulated_enrollments,
        )
    except OperationRefused as why:
        return request.message(409, "Not recorded", str(why))
    return request.redirect(f"/enrollments/{quote(id)}", done="moved" if changes else "same")


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


def _payer_name(request: PageRequest, type: str, payer_id: str) -> str:
    payer = request.context.payers.find(payer_id, type) if payer_id else None
    return f"{payer.name}, {type.lower()}" if payer else payer_id


def _payers(request: PageRequest, details: EnrollmentDetails) -> list[PayerStateTexts]:
    """Return the payers that an operator acted for, and those that require an enrollment."""
    row = details.row
    known = [
        (*each.payer, EnrollmentState(each.state), each.updated_at, reason)
        for each, reason in zip(row.payer_states, details.reasons, strict=True)
    ]
    acted = {each.payer for each in row.payer_states}
    known += [
        (*payer.key, INITIAL_STATE, row.created_at, "")
        for payer in request.context.payers.all
        if payer.claim_enrollment_required and payer.key not in acted
    ]
    found = []
    for type, payer_id, state, since, reason in known:
        payer = request.context.payers.find(payer_id, type)
        moves = [
            (event.value, button)
            for event, button in MOVE_BUTTONS.items()
            if NEXT.get((state, event)) not in {None, state}
        ]
        found.append(
            PayerStateTexts(
                payer=payer,
                type=type,
                payer_id=payer.payer_id if payer else payer_id,
                label=_label(request, state),
                since=request.stored_moment(since),
                reason=reason,
                moves=moves if request.is_operator and payer else [],
            )
        )
    return found
