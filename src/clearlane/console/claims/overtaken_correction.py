"""A draft whose claim someone else replaced first: both differences side by side, and whose correction counts.

Nothing goes out by itself: the person keeps theirs, or carries the draft over to the claim that took its place.
"""

from dataclasses import dataclass, field

from starlette.responses import Response

from clearlane.console.claims.claim_page import OpenedClaim
from clearlane.console.claims.correction_form import correction_inputs
from clearlane.console.frame.page_request import PageRequest
from clearlane.pipeline.load_claim import load_claim_in_scope
from clearlane.pipeline.operator import draft_corrections
from clearlane.pipeline.operator.draft_corrections import OpenDraft


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """One field that either correction changes; without a repr of its values."""

    title: str
    before: str = field(repr=False)
    theirs: str = field(repr=False)
    mine: str = field(repr=False)


async def show(
    request: PageRequest, opened: OpenedClaim, draft: OpenDraft | None, refusal: str
) -> Response:
    """Show both corrections side by side; without a draft, say why the claim cannot be corrected."""
    if draft is None or not draft.values or not opened.history.successor:
        return request.message(409, "It cannot be corrected now", refusal)
    return request.render(
        "overtaken.html",
        "Someone else corrected this claim first",
        409,
        claim=opened,
        row=opened.row,
        draft=draft,
        successor=opened.history.successor,
        differences=await _differences(request, opened, draft),
        claim_url=f"/claims/{opened.number}",
    )


async def carry_over(request: PageRequest, opened: OpenedClaim, draft: OpenDraft) -> Response:
    """Keep the draft for the claim that took the place of this one, and show it there."""
    context, successor = request.context.work_context, opened.history.successor
    await draft_corrections.keep_draft(
        context, opened.site, successor, draft.values, actor=request.actor, now=request.now
    )
    await draft_corrections.drop_draft(context, opened.site, opened.number, actor=request.actor)
    return request.redirect(f"/claims/{successor}/correct")


async def _differences(
    request: PageRequest, opened: OpenedClaim, draft: OpenDraft
) -> list[FieldDifference]:
    """Return the fields in which the draft or the claim that took over differs from this one."""
    context = request.context.work_context
    theirs = await load_claim_in_scope(
        context.database,
        context.vault,
        opened.site.scope,
        opened.history.successor,
        actor=request.actor,
    )
    new = {
        one.path: one.sent_words
        for one in (correction_inputs(theirs.claim, {}, {}) if theirs else ())
    }
    inputs = correction_inputs(opened.history.loaded.claim, draft.values, {})
    return [
        FieldDifference(
            title=one.title,
            before=one.sent_words,
            theirs=new.get(one.path, ""),
            mine=one.text_words,
        )
        for one in inputs
        if one.changed or new.get(one.path, "") != one.sent_words
    ]
