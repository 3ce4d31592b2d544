"""A claim: what it is called and who decided, why and what to do, what happened, and its form, money, files and notes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from starlette.responses import Response

from clearlane.accounts.model import Site
from clearlane.claims.awaiting import OF_DRAFTS, Awaited
from clearlane.claims.claim_filters import ACT_LABELS
from clearlane.claims.fields import value_at
from clearlane.claims.forms import form_of
from clearlane.claims.forms.x12_changes import element_at, parse_location
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.claims.responses.advice_act import CORRECTED, NOT_SENT_AGAIN
from clearlane.claims.responses.payer_words import list_words, payers_words
from clearlane.claims.responses.provenance import Explanation, by_field
from clearlane.claims.x12_claim import X12Claim
from clearlane.console.claims.advice_buttons import AdviceButton, advice_button, explanation_button
from clearlane.console.claims.claim_actions import ClaimAction, claim_actions
from clearlane.console.claims.claim_advice import ClaimAdvice, claim_advice
from clearlane.console.claims.claim_filters import (
    BY_KEY,
    ClaimFilterForm,
    read_filters,
)
from clearlane.console.claims.claim_parts.claim_boxes import FormSheet, form_sheet, show_value
from clearlane.console.claims.claim_parts.claim_files import (
    ExplainedSegment,
    explain_segments,
    sent_x12,
)
from clearlane.console.claims.claim_parts.claim_money import (
    ChainTable,
    adjustment_words,
    chain_table,
    claim_payment_in_force,
    money_table,
)
from clearlane.console.claims.claim_parts.claim_timeline import timeline
from clearlane.console.claims.claim_words import (
    LabelTag,
    awaiting_words,
    generation_words,
    label_tag,
)
from clearlane.console.claims.claims_page import find_page, payer_name, total_lists
from clearlane.console.claims.file_claim_form import FieldFault
from clearlane.console.frame.act_question import ADDS
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.kernel.claim_label import LABEL_WORDS, SHADOW_LABELS, STOPPED_LABELS, ClaimLabel
from clearlane.kernel.clock import from_micros
from clearlane.kernel.formats import to_cents
from clearlane.payments import wording
from clearlane.payments.payment import ClaimPayment, Payment
from clearlane.pipeline.claim_label import shown_label
from clearlane.pipeline.enrollment.era_answer import EraState, explain_claim_era
from clearlane.pipeline.intake.resend_rules import explanations, is_fixable
from clearlane.pipeline.operator import claim_work
from clearlane.pipeline.query.cause_counts import CAUSE_DAYS, LABELS, cause_key
from clearlane.pipeline.query.claim_list import ClaimRow, load_claim_rows
from clearlane.pipeline.query.claim_reason import to_reason
from clearlane.pipeline.query.claim_summary import load_summary
from clearlane.pipeline.query.history.claim_history import ClaimHistory
from clearlane.pipeline.query.history.load_history import load_history_in_scope
from clearlane.pipeline.query.payments import load_claim_payments
from clearlane.pipeline.secondary.payer_chain import load_payer_chain
from clearlane.pipeline.stored_facts import open_document_source
from clearlane.store.claims.claims import find_owner
from clearlane.store.database.database import SystemScope
from clearlane.store.payments import secondary_drafts
from clearlane.store.payments.secondary_drafts import DraftRow, DraftState

pages = PageRows(roles=EVERYBODY, menu="/claims")
NOTICES = {
    "sample": "The sample claim is accepted. Let 14 days pass to see it paid.",
    "noted": "The note is kept.",
    "no-note": "A note needs words.",
    "sent": "The correction is accepted and leaves with the next file.",
    "sent-notified": "The correction is accepted and leaves with the next file. Your software gets an event with what changed.",
    "sent-again": "The claim is sent again and leaves with the next file.",
    "sent-anyway": "The claim is sent anyway and leaves with the next file. Your reason is among its notes.",
    "void-sent": "The cancellation is accepted and leaves with the next file.",
    "created": "The claim is accepted and leaves with the next file.",
    "not-created": "The claim is not accepted and was not sent. See what to correct.",
    "discarded": "The draft is discarded.",
    "held": "The claim is held: it is sent when it is released.",
    "released": "The claim is released and leaves with the next file.",
    "canceled": "The claim is canceled and never sent.",
    "asked": "The payer was asked. Its answer will be in the history.",
    "answered": "The payer was asked and has answered: see the history.",
    "next-sent": "The claim for the next payer is accepted and leaves with the next file.",
    "settled": "Recorded: what was sent to the next payer is corrected or refunded.",
    "outside": "Recorded. The claim is off the worklist until the payer decides again.",
}

CLAIM_NUMBER_CHARACTERS_MAX = 40
WALK_CHARACTERS_MAX = 500
WALK_CLAIMS_MAX = 200
"""How far into a list one can walk from claim to claim."""
ANY_CLIENT = SystemScope("a claim is found by its number before its site is known")
SHOWN = {"form": "Form", "money": "Lines and money", "files": "Files", "notes": "Notes"}
DECIDED_BY = frozenset(
    {
        ClaimLabel.REJECTED,
        ClaimLabel.DENIED,
        ClaimLabel.PARTLY_DENIED,
        ClaimLabel.TAKEN_BACK,
        ClaimLabel.PAID,
        ClaimLabel.FORWARDED,
        ClaimLabel.PREDETERMINED,
        ClaimLabel.VOIDED,
    }
)
"""Labels that "by the payer" can follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedClaim:
    """A claim with everything that its page shows; without a repr of patient data."""

    site: Site
    row: ClaimRow = field(repr=False)
    history: ClaimHistory = field(repr=False)

    @property
    def number(self) -> str:
        """Our number of the claim."""
        return self.row.number

    @property
    def is_replaced(self) -> bool:
        """Whether another claim took over its vendor's claim id."""
        return bool(self.history.successor)

    @property
    def tag(self) -> LabelTag:
        """The label."""
        row = self.row
        return label_tag(shown_label(row.label, is_replaced=self.is_replaced))


async def open_claim(request: PageRequest, action: str = "console.claim") -> OpenedClaim:
    """Load the claim of the address, if the user may see it. The look is audited."""
    number = request.parts["number"]
    site = await _site_of(request, number)
    context = request.context.work_context
    rows = await load_claim_rows(context, site, [number], actor=request.actor, action=action)
    history = await load_history_in_scope(
        context.database, context.vault, site.scope, number, actor=request.actor
    )
    if not rows or history is None:
        raise NoSuchPage(f"No claim with this number in {site.name}.")
    return OpenedClaim(site=site, row=rows[0], history=history)


async def _site_of(request: PageRequest, number: str) -> Site:
    fits = number.isascii() and number.isalnum() and len(number) <= CLAIM_NUMBER_CHARACTERS_MAX
    owner = None
    if fits:
        async with request.context.database.read(ANY_CLIENT) as tx:
            owner = await find_owner(tx, number)
    site = request.site_of(*owner) if owner else None
    if site is None or not site.baa_accepted:
        raise NoSuchPage("No claim with this number among yours.")
    return site


@pages.page("/claims/{number}", notices=NOTICES)
async def show_claim(request: PageRequest) -> Response:
    """Show a claim."""
    shown = request.query("show") if request.query("show") in SHOWN else "form"
    return await _render_claim(request, shown)


async def _render_claim(request: PageRequest, shown: str, note: str = "") -> Response:
    """Render the page of a claim. A branch for each part of it that not every claim, or not every reader, has."""
    opened = await open_claim(request)
    why = explanations(opened.history)
    # Those at the top of the page, by their numbers from 1: boxes, segments and history point to them.
    reasons = (
        [] if opened.is_replaced else [one for one in why if is_fixable(one, opened.row.label)]
    )
    advice = claim_advice(opened.row, opened.history)
    notes = await claim_work.list_notes(request.context.work_context, opened.site, opened.number)
    row = opened.row
    payer = payer_name(request, row.payer_id, row.kind)
    draft = await load_draft(request, opened)
    actions = claim_actions(request, opened.number, row, opened.history, draft)
    action_of = {one.key: one for one in actions if one.key}
    main = _main_button(request, opened, advice, action_of["next"])
    just_sent = request.query("done") in SENT_NOTICES
    return request.render(
        "claim.html",
        row.patient or opened.number,
        claim=opened,
        row=row,
        tag=opened.tag,
        decided=_decided(request, opened),
        again=generation_words(row.generation),
        payer=payer,
        awaiting=awaiting_words(row.awaiting, payer) if row.awaiting else "",
        filing=row.filing,
        era=await _era_words(request, opened),
        why=reasons,
        rest=[one for one in why if not is_fixable(one, row.label)],
        advice=advice,
        main=main,
        main_is_next=main is not None and main.href == action_of["next"].href,
        next_words=_next_words(request, opened, draft),
        chain=await load_chain(request, opened),
        button_of=lambda one: explanation_button(request, one, advice, row, opened.history),
        seen_on=await _seen_on(request, opened, why),
        related_payer=lambda payer_id: payer_name(request, payer_id, row.kind),
        sent_value=lambda path: sent_value(opened, path),
        shown=shown,
        views=_views(request, opened, shown, len(notes)),
        sheet=_sheet(opened, reasons) if shown == "form" else None,
        parts_x12=await _parts(request, opened) if shown == "files" else {},
        is_shadow=row.label in SHADOW_LABELS,
        notes=notes,
        note=note,
        actions=actions,
        action_of=action_of,
        walk=await _walk(request, opened.number),
        leaves=_leaves(request, opened),
        just_sent=just_sent,
        next_claim=await _next_claim(request) if just_sent else None,
        may_work=request.may_work,
        audit_url=request.url("/audit", id=opened.number) if request.is_operator else "",
        claim_url=f"/claims/{opened.number}",
        **timeline(opened.history, row.label, reasons, is_operator=request.is_operator),
        **await _money(request, opened),
        **_WORDS,
    )


_WORDS: Mapping[str, Any] = {
    "adjusted": adjustment_words,
    "cause_of": lambda one: to_reason(one).cause,
    "list_words": list_words,
    "note_time": lambda note: from_micros(note.at),
    "payers_words": payers_words,
    "series_words": wording.series_words,
    "wording": wording,
}
"""What the page words things with, whatever the claim is."""


def _main_button(
    request: PageRequest, opened: OpenedClaim, advice: ClaimAdvice, next_payer: ClaimAction
) -> AdviceButton | None:
    """Return the button of what is to be done first; None for nothing."""
    row = opened.row
    if main := advice_button(request, advice, row, opened.history):
        return main
    bills_next = row.awaiting is not None and row.awaiting.what is Awaited.SECONDARY
    if bills_next and request.may_work and not next_payer.because:
        return AdviceButton(next_payer.title, next_payer.href)
    return None


async def _era_words(request: PageRequest, opened: OpenedClaim) -> str:
    """Return why there is no ERA about the claim; empty if there is one, or none is due."""
    row, context = opened.row, request.context
    payer = context.payers.find(row.payer_id, KINDS[ClaimKind(row.kind)].payer_type)
    now = context.clock.now()
    answer = await explain_claim_era(
        context.database,
        context.work_context.vault,
        opened.site,
        row.stored,
        row.status,
        payer,
        now,
    )
    return (
        wording.spell_days(answer.sentence)
        if answer and answer.state is not EraState.RECEIVED
        else ""
    )


async def _seen_on(
    request: PageRequest, opened: OpenedClaim, why: Sequence[Explanation]
) -> dict[str, int]:
    """Return on how many other claims each finding was seen this week, by its cause."""
    row = opened.row
    if not why or opened.is_replaced or row.label not in LABELS:
        return {}
    summary = await load_summary(request.context.work_context, opened.site)
    recent = request.context.clock.now() - row.changed_at < timedelta(days=CAUSE_DAYS)
    found = {}
    for cause in {to_reason(one).cause for one in why}:
        # A claim counts under its first cause, so under that one this claim itself is counted.
        own = 1 if recent and cause == row.reason.cause else 0
        key = cause_key(row.label, row.payer_id, cause)
        found[cause] = summary.causes.get(key, 0) - own
    return {cause: count for cause, count in found.items() if count > 0}


def faults_by_field(opened: OpenedClaim) -> dict[str, str]:
    """Return the payer's sentences, or ours, for each field that they name and that a correction may change, by path."""
    found: dict[str, list[str]] = {}
    fixable = [
        one
        for one in explanations(opened.history)
        if is_fixable(one, opened.row.label) and one.act not in NOT_SENT_AGAIN
    ]
    for path, one in by_field(fixable):
        found.setdefault(path, []).append(f"{payers_words(one)} {one.todo}".strip())
    return {path: " ".join(dict.fromkeys(sentences)) for path, sentences in found.items()}


def _numbers_by_field(reasons: Sequence[Explanation]) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the reasons at the top of the page that name each field, by its path."""
    found: dict[str, tuple[int, ...]] = {}
    for number, one in enumerate(reasons, 1):
        for each in one.fields:
            found[each.path] = (*found.get(each.path, ()), number)
    return found


def sent_value(opened: OpenedClaim, path: str) -> str:
    """Return the value of a field of the claim, as it was sent; of one that was never sent, as it was given."""
    if opened.row.label in STOPPED_LABELS and path in opened.history.loaded.given:
        return opened.history.loaded.given[path]
    claim = opened.history.loaded.claim
    if isinstance(claim, X12Claim):
        at = parse_location(path)
        return (element_at(claim, at) or "") if at else ""
    return show_value(value_at(claim, path))


def _decided(request: PageRequest, opened: OpenedClaim) -> str:
    """Return who decided and when, as it is shown after the label."""
    status, row = opened.history.status, opened.row
    if opened.is_replaced:
        return f"by {opened.history.successor}"
    if row.label in STOPPED_LABELS:
        return f"by us, {row.changed_at:%b} {row.changed_at.day}"
    day = status.decided_day if status else None
    name = payer_name(request, row.payer_id, row.kind)
    if row.no_answer:
        return f"from {name}"
    if day is None:
        return f"to {name}" if row.label is ClaimLabel.SENT else f"for {name}"
    by = "by " if row.label in DECIDED_BY else "· "
    return f"{by}{name}, {day:%b} {day.day}"


def _sheet(opened: OpenedClaim, reasons: Sequence[Explanation]) -> FormSheet:
    loaded = opened.history.loaded
    repaired = [path.partition("[")[0] for path, _ in loaded.repairs]
    # If nothing in the claim is wrong, as before an appeal, no box is marked.
    is_corrected = claim_advice(opened.row, opened.history).act in CORRECTED
    numbers = _numbers_by_field(reasons)
    faults = {
        path: FieldFault(sentence, numbers.get(path, ()))
        for path, sentence in (faults_by_field(opened) if is_corrected else {}).items()
    }
    return form_sheet(loaded.claim, faults, repaired, loaded.given)


def _views(
    request: PageRequest, opened: OpenedClaim, shown: str, notes: int
) -> list[tuple[str, str, bool, int | None]]:
    walk = request.query("from")[:WALK_CHARACTERS_MAX]
    return [
        (
            title,
            request.url(f"/claims/{opened.number}", show=key, **{"from": walk}),
            key == shown,
            notes if key == "notes" and notes else None,
        )
        for key, title in SHOWN.items()
    ]


# ---- money ---------------------------------------------------------------------------------------

PaymentsOfClaim = Sequence[tuple[Payment, ClaimPayment]]


async def _money(request: PageRequest, opened: OpenedClaim) -> dict[str, Any]:
    """Return what the page shows of the claim's payments."""
    claim_payments = await _claim_payments(request, opened) if opened.history.payments else []
    lines, settled = _money_lines(claim_payments), claim_payment_in_force(claim_payments)
    named = settled.forwarded_to if settled else ""
    return {
        "claim_payments": claim_payments,
        "lines": lines,
        "table": money_table(lines) if lines else None,
        "settled": settled,
        "forwarded_to": "" if opened.is_replaced else opened.row.forwarded_to or named,
        "net": sum(one.paid for _, one in claim_payments),
    }


async def _claim_payments(request: PageRequest, opened: OpenedClaim) -> PaymentsOfClaim:
    context = request.context.work_context
    return (
        await load_claim_payments(
            context.database, context.vault, opened.number, actor=request.actor
        )
        or []
    )


def _money_lines(claim_payments: PaymentsOfClaim) -> ClaimPayment | None:
    """Return the claim payment whose lines count: the last one in force."""
    counting = [one for _, one in claim_payments if one.in_force]
    return counting[-1] if counting else None


# ---- the payer after this one --------------------------------------------------------------------

NEXT_WORDS: Mapping[str, str] = {
    DraftState.FAILED: "The claim for the next payer could not be drafted: bill it from here, or from your practice software.",
    DraftState.OPEN: "The next payer is to be billed. Something must be known first.",
    DraftState.READY: "The next payer, {payer}, is to be billed.",
    DraftState.FORWARDED: "The payer forwarded the claim: the answer of the next payer is awaited.",
    DraftState.TO_CORRECT: "The payer changed its decision after {claim} was sent to the next payer: correct that claim, or refund what was paid for it.",
}
"""What a claim page says about the next payer, by the state of its draft."""


async def load_draft(request: PageRequest, opened: OpenedClaim) -> DraftRow | None:
    """Return the draft of the claim for the next payer; None if there is none."""
    async with request.context.database.read(opened.site.scope) as tx:
        return await secondary_drafts.find_draft(tx, opened.number)


async def load_chain(request: PageRequest, opened: OpenedClaim) -> ChainTable:
    """Return the claims to all payers of the service."""
    claim, row = opened.history.loaded.claim, opened.row
    patient_paid = to_cents(form_of(claim).view(claim).patient_paid) or 0
    context = request.context.work_context
    chain = await load_payer_chain(context, opened.site, opened.number, patient_paid)
    return chain_table(chain, lambda payer_id: payer_name(request, payer_id, row.kind))


def _next_words(request: PageRequest, opened: OpenedClaim, draft: DraftRow | None) -> str:
    """Return what is to be done about the next payer; empty for nothing."""
    awaiting = opened.row.awaiting
    if draft is None or awaiting is None or awaiting.what not in OF_DRAFTS:
        return ""
    payer = payer_name(request, draft.payer_id, opened.row.kind)
    return NEXT_WORDS.get(draft.state, "").format(payer=payer, claim=draft.secondary_claim)


# ---- files ---------------------------------------------------------------------------------------


async def _parts(request: PageRequest, opened: OpenedClaim) -> dict[str, list[ExplainedSegment]]:
    """Return the claim's part of each payer's file, explained, by the document's id; ours has an empty one."""
    vault = request.context.vault
    found = {
        document.document_id: explain_segments(open_document_source(vault, document).part)
        for document in opened.history.documents
    }
    loaded = opened.history.loaded
    sent = await sent_x12(request.context.work_context, opened.site.scope, loaded)
    ours = explain_segments(sent, loaded.claim)
    return {"": ours, **found}


# ---- notes, and walking the list -------------------------------------------------------------------


@pages.act("/claims/{number}/notes", ADDS, kept={"do": "look"})
async def add_note(request: PageRequest) -> Response:
    """Add a note to the claim."""
    if request.form.get("do") == "look":
        return await _render_claim(
            request, "notes", request.form.get("text")[: claim_work.NOTE_CHARACTERS_MAX]
        )
    number = request.parts["number"]
    site = await _site_of(request, number)
    text = request.form.get("text").strip()
    if text:
        await claim_work.add_note(
            request.context.work_context, site, number, text, actor=request.actor
        )
    done = "noted" if text else "no-note"
    walk = request.form.get("from")[:WALK_CHARACTERS_MAX]
    return request.redirect(f"/claims/{number}", show="notes", done=done, **{"from": walk})


SENT_NOTICES = frozenset(
    {"created", "sent", "sent-notified", "sent-again", "sent-anyway", "void-sent"}
)
"""Notices of something that was sent from here, behind which the next claim is offered."""


class NextClaim(NamedTuple):
    """The claim to work on next."""

    href: str
    kind: str
    """What it is, such as ``rejected claim``."""
    total: int
    """How many there are of the kind."""


async def _next_claim(request: PageRequest) -> NextClaim | None:
    """Return the next claim of the label that the corrected one had, else the next that needs attention, if any."""
    was = request.query("was")
    for label in [was, ""] if was in ACT_LABELS else [""]:
        form = ClaimFilterForm(tab="needs_you", given={"label": label} if label else {})
        page = await find_page(request, form, rows_max=1)
        if page.keys:
            number = page.keys[0].key.claim_number
            href = request.url(f"/claims/{number}", **{"from": urlencode(form.as_query())})
            words = f"{LABEL_WORDS[ClaimLabel(label)].lower()} claim" if label else ""
            kind = words or "claim that needs you"
            return NextClaim(href, kind, (await total_lists(request, form)).shown.count)
    return None


def _leaves(request: PageRequest, opened: OpenedClaim) -> str:
    """Return by when a claim that waits leaves with a file; empty if that is not known."""
    row, context = opened.row, request.context.work_context
    if row.label is not ClaimLabel.RECEIVED or opened.is_replaced:
        return ""
    type = KINDS[ClaimKind(row.kind)].payer_type
    routes = context.payer_access.connections().mailbox_routes(type, row.payer_id)
    if not routes:
        return ""
    now, waited = request.context.clock.now(), timedelta(seconds=routes[0].window_seconds)
    created = from_micros(opened.history.loaded.row.created_at)
    return request.moment(routes[0].next_sending(max(now, created + waited)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimWalk:
    """The list that one came from, with the neighbors of a claim in it; empty addresses for none."""

    title: str
    back: str
    came_from: str
    """The list's address, as the claim's address has it."""
    position: str = ""
    before: str = ""
    next: str = ""


async def _walk(request: PageRequest, number: str) -> ClaimWalk | None:
    """Return the neighbors of a claim in the list one came from; None if there is no list."""
    came_from = request.query("from")[:WALK_CHARACTERS_MAX]
    query = dict(parse_qsl(came_from))
    if not query:
        return None
    form, _ = read_filters(query)
    page = await find_page(request, form, rows_max=WALK_CLAIMS_MAX)
    numbers = [one.key.claim_number for one in page.keys]
    at = numbers.index(number) if number in numbers else -1
    totals = await total_lists(request, form)

    def link(index: int) -> str:
        inside = at >= 0 and 0 <= index < len(numbers)
        return request.url(f"/claims/{numbers[index]}", **{"from": came_from}) if inside else ""

    return ClaimWalk(
        title=BY_KEY[form.tab].title,
        back=f"{request.pages.root}/claims?{urlencode(query)}",
        came_from=came_from,
        position=f"{at + 1} of {totals.shown.count}" if at >= 0 else "",
        before=link(at - 1),
        next=link(at + 1),
    )
