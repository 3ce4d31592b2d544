"""New claim: choose a kind, write the claim on the form of corrections, check, review, and send it as software does.

Every step keeps the draft, sealed. Nothing is filled in before a person chooses it, and nothing is sent before the review was
shown and its button pressed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.responses import Response

from clearlane.accounts.model import Site, SiteState
from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms import FORMS, AnyForm
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.console.claims.correction_form import value_text
from clearlane.console.claims.search_page import text_search
from clearlane.console.frame.act_question import ADDS, ActQuestion, AskFirst
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import BILLERS, PageRows
from clearlane.console.frame.page_text import day
from clearlane.console.frame.path_number import path_number
from clearlane.console.new_claim.new_claim_form import (
    LINES_MAX,
    NewClaimForm,
    count_lines,
    read_texts,
)
from clearlane.payers.model import Payer
from clearlane.pipeline.intake.read import MalformedDocument, TooManyClaims
from clearlane.pipeline.intake.submission_result import SubmissionReceipt
from clearlane.pipeline.intake.validate import ValidatedDocument, validate
from clearlane.pipeline.operator import draft_claims, draft_corrections
from clearlane.pipeline.operator.draft_corrections import OpenDraft
from clearlane.pipeline.operator.remembered_claims import (
    BILLING,
    PATIENT,
    list_billing_providers,
    read_earlier_claim,
)
from clearlane.pipeline.query.claim_summary import refresh_summary

pages = PageRows(roles=BILLERS, menu="/claims")

PATH = "/claims/new"
FIND = "find-"
CHOICES_MAX = 12
SEARCH_CHARACTERS_MAX = 80
NOT_STORED = "The claim could not be stored. Nothing was sent, and your draft is kept: press the button again."
CORRECTED_ELSEWHERE = "Claims of this site are written in your practice software, not here."


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Something to fill in: what it is, and the value of its button."""

    value: str
    title: str = field(repr=False)
    detail: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finder:
    """A search in the form, with what it found."""

    key: str
    label: str
    hint: str
    text: str = field(default="", repr=False)
    found: tuple[Choice, ...] = field(default=(), repr=False)
    searched: bool = False
    """Whether its button was pressed."""


FINDERS = (
    Finder(
        key="payer",
        label="Find the payer",
        hint="A part of its name, or its id. Choosing one fills in its id and name.",
    ),
    Finder(
        key="provider",
        label="Billing providers of earlier claims",
        hint="A part of the name or NPI; empty for all of them.",
    ),
    Finder(
        key="patient",
        label="Find the patient in earlier claims",
        hint="Last name, or its first three letters; with a birth date if you like. Or the member id.",
    ),
)


# ---- choosing a kind, and the drafts --------------------------------------------------------------


@pages.page(PATH)
async def show_begin(request: PageRequest) -> Response:
    """Show the kinds of claims, and the drafts that were not sent yet."""
    return await _render_begin(request)


@pages.act(PATH, ADDS)
async def begin(request: PageRequest) -> Response:
    """Begin the draft of a claim, and show its form."""
    site, form = request.named_site("of"), FORMS.get(request.form.get("on"))
    if site is None:
        return await _render_begin(request, fault="Choose the site that the claim is of.")
    if fault := _why_not(site):
        return await _render_begin(request, fault=fault)
    if form is None:
        return await _render_begin(request, fault="Choose the kind of claim.")
    draft_id = await draft_claims.begin_claim(
        request.context.work_context, site, form, actor=request.actor, now=request.now
    )
    return request.redirect(_path(site, draft_id))


async def _render_begin(request: PageRequest, *, fault: str = "") -> Response:
    sites = request.counted_sites
    drafts: list[tuple[Site, OpenDraft]] = []
    for site in sites:
        found = await draft_claims.list_new_claims(
            request.context.work_context, site, actor=request.actor, now=request.now
        )
        drafts += [(site, one) for one in found]
    return request.render(
        "new_claim_begin.html",
        "New claim",
        400 if fault else 200,
        path=PATH,
        fault=fault,
        of_sites=sites,
        of=request.form.get("of"),
        forms=[(form.name, KINDS[form.kind].label, form.form_name) for form in FORMS.values()],
        drafts=[
            (_path(site, one.draft_id), site, one, _heading(one.form, one.values))
            for site, one in sorted(drafts, key=lambda pair: pair[1].saved_at, reverse=True)
        ],
        why_not=_why_not(sites[0]) if len(sites) == 1 else "",
    )


def _why_not(site: Site) -> str:
    """Return why no claim of a site is written here; empty if one may be."""
    if site.state is SiteState.SUSPENDED:
        return f"{site.name} is suspended: it sends no claims."
    return "" if site.console_corrections else CORRECTED_ELSEWHERE


def _path(site: Site, draft_id: str) -> str:
    return f"{PATH}/{site.id}/{draft_id}"


def _heading(form_name: str, texts: Mapping[str, str]) -> str:
    """Return whom a draft is about, as a list names it."""
    form = FORMS[form_name]
    paths = (
        "patient.last_name",
        "patient.first_name",
        "subscriber.last_name",
        "subscriber.first_name",
    )
    last, first, insured_last, insured_first = (texts.get(form.locate(path), "") for path in paths)
    named = (last, first) if last else (insured_last, insured_first)
    return ", ".join(filter(None, named)) or f"{KINDS[form.kind].label} claim"


# ---- the form ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedDraft:
    """A draft with its site and form."""

    site: Site
    draft: OpenDraft = field(repr=False)
    form: AnyForm

    @property
    def path(self) -> str:
        """The address of its page."""
        return _path(self.site, self.draft.draft_id)


@pages.page("/claims/new/{form}/payers", menu="")
async def show_payers(request: PageRequest) -> Response:
    """Return the payers that fit what was typed, as a fragment of the form."""
    form = FORMS.get(request.parts["form"])
    if form is None:
        raise NoSuchPage("There is no such form of claims.")
    finder = _find_payers(request, form, FINDERS[0], request.query("q"))
    return request.pages.render("new_claim_choices.html", finder=finder)


@pages.page("/claims/new/{site}/{draft}")
async def show_draft(request: PageRequest) -> Response:
    """Show the form of a draft."""
    opened = await _open(request)
    if isinstance(opened, Response):
        return opened
    form, texts = opened.form, opened.draft.values
    return _render_form(request, opened, read_texts(form, texts, count_lines(form, texts)))


@pages.act(
    "/claims/new/{site}/{draft}",
    AskFirst(
        back="/claims/new/{site}/{draft}",
        by="do",
        questions={
            "discard": ActQuestion(
                title="Discard the draft?",
                sentence="What was typed for this claim is deleted, for everyone, and cannot be brought back. Nothing was sent.",
                button="Discard the draft",
                no="Keep the draft",
            )
        },
    ),
    kept={"do": "look"},
)
async def save_draft(request: PageRequest) -> Response:
    """Keep the draft; fill in what was chosen, check it, and show the form again, the review, or send it."""
    opened = await _open(request)
    if isinstance(opened, Response):
        return opened
    if opened.draft.belongs_to_another(request.signed_in_user.name, request.now):
        form, texts = opened.form, opened.draft.values
        return _render_form(request, opened, read_texts(form, texts, count_lines(form, texts)))
    context, do = request.context.work_context, request.form.get("do")
    if do == "discard":
        await draft_corrections.drop_draft(
            context, opened.site, opened.draft.draft_id, actor=request.actor
        )
        return request.redirect(PATH)
    filled = await _read_form(request, opened, do)
    await draft_corrections.keep_draft(
        context,
        opened.site,
        opened.draft.draft_id,
        filled.texts,
        actor=request.actor,
        now=request.now,
        form=opened.form.name,
        begins=False,
    )
    if do not in {"check", "review", "send"}:
        return _render_form(request, opened, filled, finders=await _finders(request, opened, do))
    checked = await _check(request, opened, filled, says_missing=do != "check")
    if do == "check" or checked.errors:
        return _render_form(request, opened, checked, is_checked=True)
    return await (
        _send(request, opened, checked) if do == "send" else _review(request, opened, checked)
    )


async def _open(request: PageRequest) -> OpenedDraft | Response:
    """Load the draft of the address, if the user may see it; of one that was sent, show the claim that it became."""
    id, draft_id = path_number(request, "site", "site"), request.parts["draft"]
    site = next((one for one in request.sites if one.id == id and one.baa_accepted), None)
    if site is None:
        raise NoSuchPage("There is no such site among yours.")
    context = request.context.work_context
    draft = await draft_claims.load_new_claim(context, site, draft_id, actor=request.actor)
    if draft is not None:
        if why_not := _why_not(site):
            return request.message(409, "It cannot be written here", why_not)
        return OpenedDraft(site=site, draft=draft, form=FORMS[draft.form])
    if number := await draft_claims.find_sent_claim(context, site, draft_id):
        return request.redirect(f"/claims/{number}", done="created")
    raise NoSuchPage("There is no such draft: it was discarded, or is older than 30 days.")


async def _read_form(request: PageRequest, opened: OpenedDraft, do: str) -> NewClaimForm:
    """Return the claim as the form has it, with what was chosen by a button."""
    form = opened.form
    given = request.form.inputs()
    wanted = request.form.get("lines")
    lines = int(wanted) if wanted.isdecimal() and len(wanted) < 4 else 1
    lines = count_lines(form, given, lines + (do == "line"))
    what, _, chosen = do.partition(":")
    filled = await _chosen_values(request, opened, what, chosen, given) if chosen else {}
    return read_texts(form, given | filled, lines)


async def _check(
    request: PageRequest, opened: OpenedDraft, filled: NewClaimForm, *, says_missing: bool
) -> NewClaimForm:
    """Return the form with what the checks of the interface say of it."""
    outcome = await validate(
        request.context.work_context,
        filled.document(opened.draft.draft_id),
        opened.form,
        site=opened.site,
        now=request.context.clock.now(),
    )
    findings: Sequence[ClaimFinding] = ()
    if isinstance(outcome, ValidatedDocument):
        findings = [one for claim in outcome.claims for one in claim.findings]
    elif isinstance(outcome, MalformedDocument):
        findings = outcome.findings
    return replace(filled, findings=findings, says_missing=says_missing)


async def _send(request: PageRequest, opened: OpenedDraft, checked: NewClaimForm) -> Response:
    context, site = request.context.work_context, opened.site
    outcome = await draft_claims.send_claim(
        context,
        site,
        opened.draft.draft_id,
        opened.form,
        checked.document(opened.draft.draft_id),
        actor=request.actor,
        now=request.context.clock.now(),
    )
    if not isinstance(outcome, SubmissionReceipt):
        faults = outcome.findings if isinstance(outcome, MalformedDocument) else ()
        again = replace(checked, findings=faults, says_missing=True)
        fault = "" if isinstance(outcome, MalformedDocument | TooManyClaims) else NOT_STORED
        return _render_form(request, opened, again, is_checked=True, fault=fault)
    await refresh_summary(context, site)
    [result] = outcome.results
    done = "created" if result.accepted else "not-created"
    return request.redirect(f"/claims/{result.claim_number}", done=done)


# ---- what is filled in ----------------------------------------------------------------------------


async def _chosen_values(
    request: PageRequest, opened: OpenedDraft, what: str, chosen: str, given: Mapping[str, str]
) -> dict[str, str]:
    """Return the texts that a choice fills in, by path."""
    form = opened.form
    if what == "payer":
        payer = request.context.payers.find(chosen, KINDS[form.kind].payer_type)
        return _payer_texts(form, payer)
    paths = {"provider": BILLING, "patient": PATIENT}.get(what)
    if paths is None:
        return {}
    context = request.context.work_context
    found = await read_earlier_claim(context, opened.site, chosen, paths, actor=request.actor)
    if found is None:
        raise NoSuchPage("There is no such claim of this site.")
    # What the earlier choice filled in and this one lacks is emptied: half of each would be a third one.
    texts = dict.fromkeys((_field(form, path) for path in paths), "")
    texts |= _texts_of(form, found.values)
    if what == "patient" and not given.get(form.locate("payer.id"), "").strip():
        payer = request.context.payers.find(found.payer_id, KINDS[form.kind].payer_type)
        texts |= _payer_texts(form, payer)
    return texts


def _field(form: AnyForm, path: str) -> str:
    return form.locate(path) if form.has(path) else ""


def _texts_of(form: AnyForm, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a form's fields that state values of the view, by path."""
    texts: dict[str, str] = {}
    for path, value in values.items():
        texts |= _written(form, path, value)
    return texts


def _written(form: AnyForm, path: str, value: Any) -> dict[str, str]:
    """Return the fields of a form that state a value of the view, as texts."""
    if not form.has(path):
        return {}
    try:
        own = form.view_table.write(path, value, {})
    except ValueError:  # several fields make it, and each is remembered by itself
        return {}
    stated = {form.locate(path): value} if own is None else own
    return {name: value_text(one) for name, one in stated.items()}


def _payer_texts(form: AnyForm, payer: Payer | None) -> dict[str, str]:
    if payer is None:
        return {}
    return {form.locate("payer.id"): payer.payer_id, form.locate("payer.name"): payer.name}


async def _finders(request: PageRequest, opened: OpenedDraft, do: str) -> tuple[Finder, ...]:
    """Return the searches of the form; the one whose button was pressed with what it found."""
    found: list[Finder] = []
    for one in FINDERS:
        text = request.form.get(FIND + one.key).strip()[:SEARCH_CHARACTERS_MAX]
        if do != FIND + one.key:
            found.append(one)
        elif one.key == "payer":
            found.append(_find_payers(request, opened.form, one, text))
        elif one.key == "provider":
            found.append(await _find_providers(request, opened, one, text))
        else:
            found.append(await _find_patients(request, opened, one, text))
    return tuple(found)


def _find_payers(request: PageRequest, form: AnyForm, finder: Finder, text: str) -> Finder:
    type, text = KINDS[form.kind].payer_type, text.strip()[:SEARCH_CHARACTERS_MAX]
    matches = (
        request.context.payers.search(
            text,
            among=lambda payer: payer.active and payer.accepts_claims and payer.type == type,
            limit=CHOICES_MAX,
        )
        if text
        else []
    )
    found = tuple(
        Choice(value=f"payer:{one.payer.payer_id}", title=one.payer.name, detail=one.payer.payer_id)
        for one in matches
    )
    return replace(finder, text=text, found=found, searched=bool(text))


async def _find_providers(
    request: PageRequest, opened: OpenedDraft, finder: Finder, text: str
) -> Finder:
    providers = await list_billing_providers(
        request.context.work_context, opened.site, actor=request.actor
    )
    wanted = text.casefold()
    found = tuple(
        Choice(
            value=f"provider:{one.claim_number}",
            title=one.name or "Without a name",
            detail=", ".join(filter(None, (one.npi and f"NPI {one.npi}", one.city))),
        )
        for one in providers
        if wanted in one.name.casefold() or wanted in one.npi
    )
    return replace(finder, text=text, found=found[:CHOICES_MAX], searched=True)


async def _find_patients(
    request: PageRequest, opened: OpenedDraft, finder: Finder, text: str
) -> Finder:
    type = KINDS[opened.form.kind].payer_type
    search = text_search(request, [opened.site], "console.new_claim")
    rows = await search.by_person(text, request.today)
    found: dict[tuple[object, ...], Choice] = {}
    for row in sorted(rows, key=lambda one: one.number, reverse=True):
        # A member id of a medical plan is none of a dental one.
        if KINDS[ClaimKind(row.kind)].payer_type != type:
            continue
        payer = request.payer_name(row.payer_id, type)
        detail = f"born {day(row.born)} · member {row.member_id} · {payer}"
        choice = Choice(value=f"patient:{row.number}", title=row.patient, detail=detail)
        found.setdefault((row.patient, row.born, row.member_id, row.payer_id), choice)
    return replace(finder, text=text, found=tuple(found.values())[:CHOICES_MAX], searched=True)


# ---- pages ---------------------------------------------------------------------------------------


def _render_form(
    request: PageRequest,
    opened: OpenedDraft,
    filled: NewClaimForm,
    *,
    is_checked: bool = False,
    finders: Sequence[Finder] = FINDERS,
    fault: str = "",
) -> Response:
    draft = opened.draft
    return request.render(
        "new_claim.html",
        f"New {KINDS[opened.form.kind].label.lower()} claim",
        opened=opened,
        heading=_heading(opened.form.name, filled.texts) if filled.texts else "",
        kind=KINDS[opened.form.kind].label.lower(),
        claim=filled,
        checked=is_checked,
        fault=fault,
        finders={one.key: one for one in finders},
        searched=[one.key for one in finders if one.searched],
        lines_max=LINES_MAX,
        busy=draft.belongs_to_another(request.signed_in_user.name, request.now),
        draft=draft,
        path=PATH,
    )


async def _review(request: PageRequest, opened: OpenedDraft, checked: NewClaimForm) -> Response:
    form, texts = opened.form, checked.texts
    payer_id = texts.get(form.locate("payer.id"), "")
    return request.render(
        "new_claim_review.html",
        "Review the new claim",
        opened=opened,
        heading=_heading(form.name, texts),
        claim=checked,
        payer=request.payer_name(payer_id, KINDS[form.kind].payer_type),
        charge=texts.get(form.locate("total_charge"), ""),
    )
