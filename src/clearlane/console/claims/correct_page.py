"""Correct and resubmit: fix the fields at fault, check, review before and after, and send in the claim's place.

Every step keeps the draft, sealed. Nothing is sent before the review was shown and its button pressed.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.responses import Response

from clearlane.claims.finding import ClaimFinding, path_in_claim
from clearlane.console.claims import overtaken_correction
from clearlane.console.claims.claim_actions import why_not_correct
from clearlane.console.claims.claim_page import OpenedClaim, faults_by_field, open_claim
from clearlane.console.claims.claim_parts.claim_files import sent_x12
from clearlane.console.claims.claims_page import payer_name
from clearlane.console.claims.correction_form import (
    PAYER_ID,
    CorrectionInput,
    billed_changes,
    changed_texts,
    correction_inputs,
    to_fields,
)
from clearlane.console.claims.correction_ways import (
    WAY_TITLES,
    explain_way,
    read_billed,
    record_way,
)
from clearlane.console.frame.act_question import ActQuestion, AskFirst
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import BILLERS, PageRows
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import REASON_CHARACTERS_MAX
from clearlane.pipeline.intake.billed_change import (
    BilledChange,
    record_billed_change,
)
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.resend_rules import explanations
from clearlane.pipeline.intake.submit_correction import CorrectionResult, submit_correction
from clearlane.pipeline.operator import draft_corrections
from clearlane.pipeline.operator.draft_corrections import OpenDraft
from clearlane.pipeline.query.claim_summary import refresh_summary

pages = PageRows(roles=BILLERS, menu="/claims")

ENVELOPE = ("ISA", "GS", "ST", "BHT", "SE", "GE", "IEA")
"""Segments that are about the file and not about the claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionState:
    """A correction in its present state: the claim, the changed texts, and what a check of them said."""

    opened: OpenedClaim
    changes: Mapping[str, str] = field(default_factory=dict, repr=False)
    result: CorrectionResult | None = None
    conflict: str = ""
    draft: OpenDraft | None = None
    way: str = ""
    """How the person decided that it goes; empty if that is left to us."""

    @property
    def was_sent(self) -> bool:
        """Whether the claim was accepted; one that was not may still go to another payer."""
        return self.opened.row.label is not ClaimLabel.NOT_ACCEPTED

    def inputs(self, sentences: Mapping[str, str]) -> list[CorrectionInput]:
        """Return the inputs of the claim's fields, with the changed texts."""
        claim = self.opened.history.loaded.claim
        return correction_inputs(claim, self.changes, sentences, with_payer=not self.was_sent)

    @property
    def errors(self) -> list[ClaimFinding]:
        """What must be fixed before it can go out."""
        found = self.result.findings if self.result else ()
        return [one for one in found if one.severity is Severity.ERROR]

    @property
    def warnings(self) -> list[ClaimFinding]:
        """What does not stop it."""
        found = self.result.findings if self.result else ()
        return [one for one in found if one.severity is not Severity.ERROR]

    @property
    def goes_otherwise(self) -> bool:
        """Whether it would go another way than the person decided."""
        sent_as = self.result.sent_as if self.result else ""
        return bool(self.way) and bool(sent_as) and sent_as != self.way

    def findings_at(self, path: str) -> list[str]:
        """Return the sentences of a check about one field."""
        found = self.result.findings if self.result else ()
        return [one.message for one in found if path_in_claim(one.location) == path]


@pages.page("/claims/{number}/correct")
async def show_correction(request: PageRequest) -> Response:
    """Show the fields at fault, with the draft if there is one."""
    opened = await open_claim(request, action="console.correct")
    context = request.context.work_context
    draft = await draft_corrections.load_draft(context, opened.site, opened.number)
    if refusal := why_not_correct(opened.row, opened.history):
        return await overtaken_correction.show(request, opened, draft, refusal)
    state = CorrectionState(opened=opened, changes=draft.values if draft else {}, draft=draft)
    return _render_form(request, state)


@pages.act(
    "/claims/{number}/correct",
    AskFirst(
        back="/claims/{number}",
        by="do",
        questions={
            "discard": ActQuestion(
                title="Discard the draft?",
                sentence="What was typed for the correction of {number} is deleted, for everyone, and cannot be brought "
                "back. The claim itself stays as it is.",
                button="Discard the draft",
                no="Keep the draft",
            )
        },
    ),
    kept={"do": "look"},
)
async def save_correction(request: PageRequest) -> Response:
    """Keep the draft, check it, and show the form again, the review, or send it."""
    opened = await open_claim(request, action="console.correct")
    context = request.context.work_context
    draft = await draft_corrections.load_draft(context, opened.site, opened.number)
    if (stopped := await _stopped(request, opened, draft)) is not None:
        return stopped
    claim = opened.history.loaded.claim
    was_sent = CorrectionState(opened=opened).was_sent
    given = request.form.inputs()
    changes = changed_texts(claim, given, with_payer=not was_sent)
    await draft_corrections.keep_draft(
        context, opened.site, opened.number, changes, actor=request.actor, now=request.now
    )
    state = await _check(request, opened, changes)
    if request.form.get("do") == "send" and not state.errors and not state.conflict:
        return await _send(request, state)
    # A form that was kept while its session ended is shown as it was; the review alone has a way.
    is_kept_review = request.form.get("do") == "look" and "way" in request.form.names()
    wants_review = request.form.get("do") == "review" or is_kept_review
    if wants_review and changes and not state.errors and not state.conflict:
        return await _render_review(request, state)
    return _render_form(request, state, checked=True)


async def _stopped(
    request: PageRequest, opened: OpenedClaim, draft: OpenDraft | None
) -> Response | None:
    """Return the page of a correction that ends here: overtaken, someone else's, or discarded; None if it goes on."""
    do = request.form.get("do")
    if refusal := why_not_correct(opened.row, opened.history):
        if do == "mine" and draft:
            return await overtaken_correction.carry_over(request, opened, draft)
        if do != "discard":
            return await overtaken_correction.show(request, opened, draft, refusal)
    if draft and draft.belongs_to_another(request.signed_in_user.name, request.now):
        return _render_form(request, CorrectionState(opened=opened, draft=draft))
    if do != "discard":
        return None
    context = request.context.work_context
    await draft_corrections.drop_draft(context, opened.site, opened.number, actor=request.actor)
    return request.redirect(f"/claims/{opened.number}", done="discarded")


async def _check(
    request: PageRequest, opened: OpenedClaim, changes: Mapping[str, str]
) -> CorrectionState:
    if not changes:
        return CorrectionState(opened=opened, changes=changes)
    way = request.form.get("way") if request.form.get("way") in WAY_TITLES else ""
    try:
        result = await submit_correction(
            request.context.work_context,
            opened.site,
            opened.number,
            to_fields(opened.history.loaded.claim, changes),
            actor=request.actor,
            now=request.context.clock.now(),
            way=way,
            dry_run=True,
        )
    except CorrectionConflict as conflict:
        return CorrectionState(opened=opened, changes=changes, conflict=str(conflict))
    return CorrectionState(opened=opened, changes=changes, result=result, way=way)


async def _send(request: PageRequest, state: CorrectionState) -> Response:
    opened, context = state.opened, request.context.work_context
    billed = read_billed(request, billed_changes(state.changes))
    why_this_way = request.form.get("way-reason").strip()[:REASON_CHARACTERS_MAX]
    if fault := _fault_of_review(state, billed, why_this_way):
        return await _render_review(request, state, fault=fault)
    try:
        result = await submit_correction(
            context,
            opened.site,
            opened.number,
            to_fields(opened.history.loaded.claim, state.changes),
            actor=request.actor,
            now=request.context.clock.now(),
            way=state.way,
            extend=record_billed_change(context, opened.site, billed, actor=request.actor),
        )
    except CorrectionConflict as conflict:
        stopped = CorrectionState(opened=opened, changes=state.changes, conflict=str(conflict))
        return _render_form(request, stopped, checked=True)
    if result is None or not result.claim_number:
        refused = CorrectionState(opened=opened, changes=state.changes, result=result)
        return _render_form(request, refused, checked=True)
    new = result.claim_number
    if state.way:
        await record_way(request, opened.site, new, state.way, why_this_way)
    await draft_corrections.drop_draft(context, opened.site, opened.number, actor=request.actor)
    await refresh_summary(context, opened.site)
    notice = "sent" if request.form.get("in-software") else "sent-notified"
    return request.redirect(f"/claims/{new}", done=notice, was=opened.row.label.value)


def _fault_of_review(state: CorrectionState, billed: BilledChange, why_this_way: str) -> str:
    """Return what is missing before a reviewed correction can go."""
    if billed.fault:
        return billed.fault
    if state.goes_otherwise:
        return "It cannot go that way. Choose another, or leave it as it was decided."
    if state.way and not why_this_way:
        return "Say why you send it another way."
    return ""


def _render_form(
    request: PageRequest, state: CorrectionState, *, checked: bool = False
) -> Response:
    opened = state.opened
    sentences = faults_by_field(opened)
    inputs = state.inputs(sentences)
    known = {one.path for one in inputs}
    named = {path_in_claim(one.location) for one in (*state.errors, *state.warnings)}
    first = [one for one in inputs if one.sentence or one.changed or one.path in named]
    shown = {one.path for one in first}
    draft = state.draft
    busy = bool(draft and draft.belongs_to_another(request.signed_in_user.name, request.now))
    return request.render(
        "correct.html",
        f"Correct {opened.row.patient or opened.number}",
        claim=opened,
        row=opened.row,
        state=state,
        payer=_payer(request, state),
        first=first,
        others=_by_box([one for one in inputs if one.path not in shown]),
        loose=[one.message for one in state.errors if path_in_claim(one.location) not in known]
        if checked
        else _faults_without_input(state, inputs),
        checked=checked,
        busy=busy,
        draft=draft,
        claim_url=f"/claims/{opened.number}",
    )


def _payer(request: PageRequest, state: CorrectionState) -> str:
    """Return the payer that the correction goes to, by name."""
    row = state.opened.row
    return payer_name(request, state.changes.get(PAYER_ID) or row.payer_id, row.kind)


def _faults_without_input(state: CorrectionState, inputs: list[CorrectionInput]) -> list[str]:
    """Return what our own check found at no field that has an input."""
    if state.was_sent:
        return []
    shown = {one.path for one in inputs if one.sentence}
    # What is said of an array, or of any of its items, is shown at the first.
    arrays = {path.partition("[")[0] for path in shown}
    known = shown | {path.replace("[0]", "[]") for path in shown}
    return [
        one.happened
        for one in explanations(state.opened.history)
        if not any(
            place.path in known | arrays or place.path.partition("[")[0] in known
            for place in one.fields
        )
    ]


async def _changed_segments(
    request: PageRequest, opened: OpenedClaim, result: CorrectionResult
) -> list[tuple[str, str]]:
    """Return the segments of the 837 that differ, each with ``before`` or ``after``."""
    before = await sent_x12(request.context.work_context, opened.site.scope, opened.history.loaded)
    lines = [x12.decode("latin-1").splitlines() for x12 in (before, result.x12)]
    old, new = ([line for line in one if not line.startswith(ENVELOPE)] for one in lines)
    words = {"-": "before", "+": "after"}
    return [
        (words[line[0]], line[1:])
        for line in difflib.unified_diff(old, new, n=0, lineterm="")
        if line[0] in words and not line.startswith(("---", "+++"))
    ]


def _by_box(inputs: list[CorrectionInput]) -> list[tuple[str, list[CorrectionInput]]]:
    """Return the inputs with a value first, then those without."""
    filled = [one for one in inputs if one.sent]
    return [("Filled boxes", filled), ("Empty boxes", [one for one in inputs if not one.sent])]


async def _render_review(
    request: PageRequest, state: CorrectionState, *, fault: str = ""
) -> Response:
    opened = state.opened
    inputs = state.inputs({})
    result = state.result
    return request.render(
        "correct_review.html",
        f"Review the correction of {opened.row.patient or opened.number}",
        claim=opened,
        row=opened.row,
        state=state,
        payer=_payer(request, state),
        changed=[one for one in inputs if one.changed],
        billed=read_billed(request, billed_changes(state.changes)),
        way=explain_way(opened, result) if result else "",
        ways=WAY_TITLES,
        why_this_way=request.form.get("way-reason")[:REASON_CHARACTERS_MAX],
        segments=await _changed_segments(request, opened, result) if result else [],
        fault=fault,
        claim_url=f"/claims/{opened.number}",
    )
