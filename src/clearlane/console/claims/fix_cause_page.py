"""Fix this cause: the field that claims were refused or denied for, corrected in the ones that a person ticks.

A field of the provider or the payer gets one value. A field of the patient or the service gets one of its own in each
claim, typed or pasted beside the claim's number. Nothing is ticked beforehand, nothing is sent that was not checked and
shown, and what fails stays in the list with its reason.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from starlette.responses import Response

from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms import form_of
from clearlane.claims.forms.field_subjects import is_shared
from clearlane.console.claims.claim_filters import ClaimFilterForm
from clearlane.console.claims.claims_page import (
    GROUPED_CLAIMS_MAX,
    find_page,
    load_rows,
    payer_name,
)
from clearlane.console.claims.correction_form import (
    TEXT_CHARACTERS_MAX,
    CorrectionInput,
    billed_changes,
    changed_texts,
    correction_inputs,
    to_fields,
)
from clearlane.console.claims.correction_ways import read_billed
from clearlane.console.claims.pasted_column import PASTED_CHARACTERS_MAX, read_column
from clearlane.console.frame.act_question import REVIEWED
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import BILLERS, PageRows
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.finding import Severity
from clearlane.kernel.formats import read_typed_day
from clearlane.pipeline.intake.billed_change import BilledChange, record_billed_change
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.submit_correction import submit_correction
from clearlane.pipeline.load_claim import load_claim_in_scope
from clearlane.pipeline.query.claim_list import ClaimRow
from clearlane.pipeline.query.claim_summary import refresh_summary

pages = PageRows(roles=BILLERS, menu="/claims")

CAUSE_CHARACTERS_MAX = 200
VALUE_PREFIX = "v."
"""Before a claim's number: the name of the input of its own value."""
NOTHING_TICKED = "Tick the claims to correct."
NO_VALUE = "Give the right value."
CHANGED_SINCE = "Something was changed after the check. Look at it once more, then send it."
NOTHING_PASTED = "Paste the column first, then press the button."


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupClaim:
    """A claim of the group, with the input of its field, and what a check or the sending said."""

    row: ClaimRow
    field: CorrectionInput = field(repr=False)
    """What was sent, and the text that it gets."""
    also: tuple[str, ...] = ()
    """Titles of the boxes that get the same value, because they must agree with the field."""
    chosen: bool = False
    sent: str = ""
    """The number of its correction, once it was sent."""
    fault: str = ""

    def given(self, text: str) -> "GroupClaim":
        """Return the claim with the text that its field gets; a day is written as inputs take it."""
        day = read_typed_day(text) if self.field.kind == "date" else None
        return replace(self, field=replace(self.field, text=day.isoformat() if day else text))


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseForm:
    """The form of the page: the claims with what was typed, and what is missing in it."""

    group: list[GroupClaim]
    value: str = field(default="", repr=False)
    """The value for all ticked claims, of a field of the provider or the payer."""
    billed: BilledChange
    checked: bool = False
    """Whether the ticked claims were checked as they are now."""
    faults: tuple[str, ...] = ()
    pasted: str = field(default="", repr=False)

    @property
    def is_shared(self) -> bool:
        """Whether one value goes into all ticked claims."""
        return is_shared(self.group[0].field.path)

    @property
    def ready(self) -> list[GroupClaim]:
        """The ticked claims that can be sent."""
        return [one for one in self.group if one.chosen and not one.fault and not one.sent]

    @property
    def digest(self) -> str:
        """A digest of the ticked claims and their values: only what was checked and shown is sent."""
        chosen = [(one.row.number, one.field.text) for one in self.group if one.chosen]
        return hashlib.sha256(repr(sorted(chosen)).encode()).hexdigest()


@pages.page("/worklists/fix")
async def show_cause(request: PageRequest) -> Response:
    """Show the claims of one cause, each with what was sent; none is ticked."""
    group = await _group(request, request.query("cause"), request.query("payer"))
    if isinstance(group, Response):
        return group
    return _render(request, CauseForm(group=group, billed=read_billed(request, _names(group))))


@pages.act("/worklists/fix", REVIEWED, kept={"do": "check"})
async def send_cause(request: PageRequest) -> Response:
    """Fill in a pasted column, check the ticked claims, or send the corrections that were checked and shown."""
    group = await _group(request, request.form.get("cause"), request.form.get("payer"))
    if isinstance(group, Response):
        return group
    form = _read(request, group)
    if request.form.get("do") == "paste":
        return _render(request, _fill(form, request.form.get("pasted")))
    faults = _missing(form)
    was_shown = request.form.get("checked") == form.digest
    send = request.form.get("do") == "send" and was_shown and not faults and not form.billed.fault
    done = [
        await _correct(request, one, form.billed, send=send) if one.chosen and not faults else one
        for one in form.group
    ]
    if send:
        for site in dict.fromkeys(one.row.site for one in done):
            await refresh_summary(request.context.work_context, site)
    if request.form.get("do") == "send" and not faults and not send:
        faults = (form.billed.fault if was_shown else CHANGED_SINCE,)
        return _render(request, replace(form, group=done, checked=True, faults=faults))
    return _render(request, replace(form, group=done, checked=not faults, faults=faults))


def _names(group: Sequence[GroupClaim]) -> list[str]:
    return billed_changes({group[0].field.path: ""})


def _read(request: PageRequest, group: list[GroupClaim]) -> CauseForm:
    """Return the form as it was sent."""
    chosen = set(request.form.get_all("claim"))
    value = request.form.get("value").strip()[:TEXT_CHARACTERS_MAX]
    shared = is_shared(group[0].field.path)

    def text(one: GroupClaim) -> str:
        own = request.form.get(f"{VALUE_PREFIX}{one.row.number}", one.field.sent)
        return value if shared else own.strip()[:TEXT_CHARACTERS_MAX]

    typed = [replace(one.given(text(one)), chosen=one.row.number in chosen) for one in group]
    return CauseForm(
        group=typed, value=value if shared else "", billed=read_billed(request, _names(group))
    )


def _missing(form: CauseForm) -> tuple[str, ...]:
    found = [] if any(one.chosen for one in form.group) else [NOTHING_TICKED]
    if form.is_shared and not form.value:
        found.append(NO_VALUE)
    return tuple(found)


def _fill(form: CauseForm, pasted: str) -> CauseForm:
    """Return the form with the values of a pasted column; the claims that it names are ticked."""
    numbers = [(one.row.number, one.row.vendor_claim_id) for one in form.group]
    of_days = form.group[0].field.kind == "date"
    column = read_column(pasted, () if form.is_shared else numbers, of_days=of_days)
    filled = [
        replace(one.given(column.values[one.row.number]), chosen=True)
        if one.row.number in column.values
        else one
        for one in form.group
    ]
    faults = column.faults if pasted.strip() else (NOTHING_PASTED,)
    kept = pasted[:PASTED_CHARACTERS_MAX] if faults else ""
    return replace(form, group=filled, faults=faults, pasted=kept)


async def _group(request: PageRequest, cause: str, payer: str) -> "list[GroupClaim] | Response":
    """Return the claims of a cause and a payer that can be corrected, each with its field, or why none is."""
    form = ClaimFilterForm(tab="needs_you")
    page = await find_page(request, form, rows_max=GROUPED_CLAIMS_MAX)
    rows = await load_rows(request, page.keys, action="console.fix_cause")
    same = [
        row
        for row in rows
        if cause
        and row.reason.cause == cause[:CAUSE_CHARACTERS_MAX]
        and payer in {"", row.payer_id}
        and row.site.console_corrections
    ]
    said = same[0].reason.explanation if same else None
    if said is not None and not said.is_group_fixable:
        sentence = f"A correction does not resolve this in all claims that have it. {said.todo}"
        return request.message(409, "Not fixed together", sentence)
    found = [one for row in same if (one := await _group_claim(request, row)) is not None]
    if not found:
        raise NoSuchPage("No claim has this cause any more, or it names no field.")
    return found


async def _group_claim(request: PageRequest, row: ClaimRow) -> GroupClaim | None:
    """Return a claim with the input of the field that it was refused for; None if it has none."""
    explanation = row.reason.explanation
    place = explanation.fields[0].path if explanation and explanation.fields else ""
    context = request.context.work_context
    loaded = await load_claim_in_scope(
        context.database, context.vault, row.site.scope, row.number, actor=request.actor
    )
    if loaded is None:
        return None
    inputs = correction_inputs(loaded.claim, {}, {}, with_payer=_was_not_accepted(row))
    # One item of a list, such as a diagnosis, is corrected with the list.
    fits = [one for one in inputs if one.path in {place, place.partition("[")[0]}]
    if not fits:
        return None
    agreeing = form_of(loaded.claim).agreeing_fields(loaded.claim, fits[0].path)
    also = tuple(one.title for one in inputs if one.path in agreeing)
    return GroupClaim(row=row, field=fits[0], also=also)


def _was_not_accepted(row: ClaimRow) -> bool:
    """Return whether no payer was sent the claim, so that it may go to another one."""
    return row.label is ClaimLabel.NOT_ACCEPTED


async def _correct(
    request: PageRequest, one: GroupClaim, billed: BilledChange, *, send: bool
) -> GroupClaim:
    """Check one claim of the group, or send its correction."""
    context, site, number = request.context.work_context, one.row.site, one.row.number
    loaded = await load_claim_in_scope(
        context.database, context.vault, site.scope, number, actor=request.actor
    )
    if loaded is None:
        return replace(one, fault="There is no such claim any more.")
    if not one.field.text:
        return replace(one, fault=NO_VALUE)
    claim, path = loaded.claim, one.field.path
    # Of a patient who is the insured, both boxes have the value, and a correction of one alone is refused.
    agreeing = form_of(claim).agreeing_fields(claim, path)
    texts = dict.fromkeys((path, *agreeing), one.field.text)
    changes = changed_texts(claim, texts, with_payer=_was_not_accepted(one.row))
    if not changes:
        verb = "given" if _was_not_accepted(one.row) else "sent"
        return replace(one, fault=f"It was {verb} with this value already.")
    change = replace(billed, names=billed_changes(changes))
    try:
        result = await submit_correction(
            context,
            site,
            number,
            to_fields(claim, changes),
            actor=request.actor,
            now=request.context.clock.now(),
            dry_run=not send,
            extend=record_billed_change(context, site, change, actor=request.actor),
        )
    except CorrectionConflict as conflict:
        return replace(one, fault=str(conflict))
    if result is None or not result.accepted:
        faults = _sentences(result.findings if result else ())
        return replace(one, fault=faults or "It was not accepted.")
    return replace(one, sent=result.claim_number if send else "")


def _sentences(findings: Sequence[ClaimFinding]) -> str:
    return " ".join(one.message for one in findings if one.severity is Severity.ERROR)


def _render(request: PageRequest, form: CauseForm) -> Response:
    group, first = form.group, form.group[0]
    reason = first.row.reason
    return request.render(
        "fix_cause.html",
        "Fix this cause",
        form=form,
        group=group,
        first=first,
        also=dict.fromkeys(title for one in group for title in one.also),
        cause=reason.cause,
        text=reason.text,
        todo=reason.explanation.todo if reason.explanation else "",
        payer=payer_name(request, first.row.payer_id, first.row.kind),
        payer_id=first.row.payer_id,
        sent=[one for one in group if one.sent],
        charge=sum(one.row.charge for one in group),
        pasted_max=PASTED_CHARACTERS_MAX,
        given="Given" if _was_not_accepted(first.row) else "Sent",
        value_prefix=VALUE_PREFIX,
    )
