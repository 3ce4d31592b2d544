"""Fix this cause: one field, one value, for all claims that were refused or denied for the same reason.

Each claim is checked and sent on its own; what fails stays in the list with its reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from starlette.responses import Response

from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms import form_of
from clearlane.console.claim_filters import ClaimFilterForm
from clearlane.console.claims_page import GROUPED_CLAIMS_MAX, find_page, load_rows, payer_name
from clearlane.console.correction_form import (
    CorrectionInput,
    billed_changes,
    changed_texts,
    correction_inputs,
    is_billed,
    to_fields,
)
from clearlane.console.correction_ways import REASON_CHARACTERS_MAX, record_billed
from clearlane.console.page_request import NoSuchPage, PageRequest
from clearlane.console.page_text import spell_days
from clearlane.kernel.finding import Severity
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.submit_correction import submit_correction
from clearlane.pipeline.load_claim import load_claim_in_scope
from clearlane.pipeline.query.claim_list import ClaimRow
from clearlane.pipeline.query.claim_summary import refresh_summary

CAUSE_CHARACTERS_MAX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupClaim:
    """A claim of the group, with the input of its field, and what a check or the sending said."""

    row: ClaimRow
    field: CorrectionInput = field(repr=False)
    also: tuple[str, ...] = ()
    """Titles of the boxes that get the same value, because they must agree with the field."""
    chosen: bool = True
    sent: str = ""
    """The number of its correction, once it was sent."""
    fault: str = ""


async def show_cause(request: PageRequest) -> Response:
    """Show the claims of one cause, with the input of the field they have in common."""
    group = await _group(request, request.query("cause"), request.query("payer"))
    return _render(request, group, value="")


async def send_cause(request: PageRequest) -> Response:
    """Check the value for every ticked claim, and send the corrections when the button says so."""
    group = await _group(request, request.form.get("cause"), request.form.get("payer"))
    value = request.form.get("value").strip()
    chosen = set(request.form.get_all("claim"))
    reason = request.form.get("reason").strip()[:REASON_CHARACTERS_MAX]
    needs_reason = is_billed(group[0].field.path) and not reason
    send = request.form.get("do") == "send" and bool(value) and not needs_reason
    done: list[GroupClaim] = []
    for one in group:
        if one.row.number not in chosen or not value:
            done.append(replace(one, chosen=False))
            continue
        done.append(await _correct(request, one, value, reason, send=send))
    if send:
        for site in dict.fromkeys(one.row.site for one in done):
            await refresh_summary(request.context.work_context, site)
    fault = "Give the right value." if not value else ""
    if needs_reason and value:
        fault = "Say why what was billed changes."
    return _render(request, done, value=value, checked=True, fault=fault, reason=reason)


async def _group(request: PageRequest, cause: str, payer: str) -> list[GroupClaim]:
    """Return the claims of a cause and a payer that can be corrected, each with its field."""
    form = ClaimFilterForm(tab="needs-you")
    page = await find_page(request, form, rows_max=GROUPED_CLAIMS_MAX)
    rows = await load_rows(request, page.keys, action="console.fix-cause")
    same = [
        row
        for row in rows
        if cause
        and row.reason.cause == cause[:CAUSE_CHARACTERS_MAX]
        and payer in {"", row.payer_id}
        and row.site.console_corrections
    ]
    found = []
    for row in same:
        explanation = row.reason.explanation
        place = explanation.fields[0].path if explanation and explanation.fields else ""
        context = request.context.work_context
        loaded = await load_claim_in_scope(
            context.database, context.vault, row.site.scope, row.number, actor=request.actor
        )
        if loaded is None:
            continue
        inputs = correction_inputs(loaded.claim, {}, {})
        fits = [one for one in inputs if place in {one.path, one.path.partition("[")[0]}]
        if fits:
            agreeing = form_of(loaded.claim).agreeing_fields(loaded.claim, fits[0].path)
            also = tuple(one.title for one in inputs if one.path in agreeing)
            found.append(GroupClaim(row=row, field=fits[0], also=also))
    if not found:
        raise NoSuchPage("No claim has this cause any more, or it names no field.")
    return found


async def _correct(
    request: PageRequest, one: GroupClaim, value: str, reason: str, *, send: bool
) -> GroupClaim:
    """Check one claim of the group, or send its correction."""
    context, site, number = request.context.work_context, one.row.site, one.row.number
    loaded = await load_claim_in_scope(
        context.database, context.vault, site.scope, number, actor=request.actor
    )
    if loaded is None:
        return replace(one, fault="There is no such claim any more.")
    claim, path = loaded.claim, one.field.path
    # Of a patient who is the insured, both boxes have the value, and a correction of one alone is refused.
    agreeing = form_of(claim).agreeing_fields(claim, path)
    changes = changed_texts(claim, dict.fromkeys((path, *agreeing), value))
    if not changes:
        return replace(one, fault="It was sent with this value already.")
    try:
        outcome = await submit_correction(
            context,
            site,
            number,
            to_fields(claim, changes),
            actor=request.actor,
            now=request.context.clock.now(),
            dry_run=not send,
        )
    except CorrectionConflict as conflict:
        return replace(one, fault=str(conflict))
    if outcome is None or not outcome.accepted:
        faults = _sentences(outcome.findings if outcome else ())
        return replace(one, fault=faults or "It was not accepted.")
    if send and (billed := billed_changes(changes)):
        await record_billed(request, site, outcome.claim_number, billed, reason)
    return replace(one, sent=outcome.claim_number if send else "")


def _sentences(findings: Sequence[ClaimFinding]) -> str:
    return " ".join(one.message for one in findings if one.severity is Severity.ERROR)


def _render(
    request: PageRequest,
    group: list[GroupClaim],
    *,
    value: str,
    checked: bool = False,
    fault: str = "",
    reason: str = "",
) -> Response:
    first = group[0]
    ready = [one for one in group if one.chosen and not one.fault and not one.sent]
    sent = [one for one in group if one.sent]
    return request.render(
        "fix_cause.html",
        "Fix this cause",
        group=group,
        first=first,
        also=dict.fromkeys(title for one in group for title in one.also),
        after=spell_days(value) if first.field.kind == "date" else value,
        cause=first.row.reason.cause,
        text=first.row.reason.text,
        todo=first.row.reason.explanation.todo if first.row.reason.explanation else "",
        payer=payer_name(request, first.row.payer_id, first.row.kind),
        payer_id=first.row.payer_id,
        value=value,
        reason=reason,
        checked=checked,
        fault=fault,
        ready=ready,
        sent=sent,
        billed=is_billed(first.field.path),
        charge=sum(one.row.charge for one in group),
    )
