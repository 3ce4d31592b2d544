"""Eligibility: ask a payer about a patient, read the benefits as a sheet, and look at earlier answers.

Payers are found while one types, by a fragment that the script fetches; without it by a button of the same form.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import Response

from clearlane.accounts.model import Site
from clearlane.console.frame.act_question import ADDS, SENDS_NOTHING
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import BILLERS, EVERYBODY, PageRows
from clearlane.console.frame.path_number import path_number
from clearlane.console.frame.rendering import download
from clearlane.eligibility.benefit_answer import BenefitAnswer
from clearlane.eligibility.benefit_sheet import BenefitSheet, make_sheet
from clearlane.eligibility.benefit_table import patient_tables
from clearlane.eligibility.coverage import Verdict
from clearlane.eligibility.services import DENTAL_CARE, HEALTH_PLAN
from clearlane.inquiry.inquiry_result import RequestStatus
from clearlane.payers.model import Payer
from clearlane.pipeline.inquiry import eligibility_list
from clearlane.pipeline.inquiry.ask import await_answers
from clearlane.pipeline.inquiry.benefits_file import benefits_heading
from clearlane.pipeline.inquiry.eligibility_list import ListedRequest
from clearlane.pipeline.inquiry.eligibility_request import MalformedInquiry, inquire
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.inquiry.request_answers import RequestAnswers, read_answers
from clearlane.pipeline.operator.remembered_claims import RememberedProvider, list_billing_providers
from clearlane.pipeline.query.pdf_process import PdfRefused, make_pdf_content
from clearlane.x12 import codes

pages = PageRows(roles=EVERYBODY, menu="/eligibility")

EARLIER_SHOWN = 20
PAYERS_OFFERED_MAX = 12
TYPED_CHARACTERS_MAX = 80
FIELDS = ("payer", "npi", "provider", "member", "last", "first", "birth", "service", "day")
"""The names of the form's fields."""
USUAL_SERVICES = (HEALTH_PLAN, DENTAL_CARE, "98", "1", "48", "UC", "86", "MH")
"""Service types that come first in the list: plans, visits, care in a hospital, and emergencies."""
VERDICT_KINDS = {
    Verdict.ACTIVE: "good",
    Verdict.INACTIVE: "act",
    Verdict.REFUSED: "act",
    Verdict.NOT_STATED: "done",
}
NO_PAYER = "Choose a payer from those that fit, or type its name or id."
NOT_HERE = "This node does not ask payers. Use the address of a node that serves calls."


@dataclass(frozen=True, slots=True)
class AnswerSheet:
    """What came for one request so far."""

    patients: list[BenefitSheet]
    faults: list[str]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class PayerChoices:
    """The payers that fit what a person typed."""

    text: str
    payers: tuple[Payer, ...]
    more: bool
    """Whether there are others that fit."""
    chosen: str


@pages.page("/eligibility")
async def show_eligibility(request: PageRequest) -> Response:
    """Show the form, and the site's newest questions."""
    return await _render(request, ())


@pages.page("/eligibility/payers", roles=BILLERS, menu="")
async def show_payers(request: PageRequest) -> Response:
    """Return the payers that fit what was typed, as a fragment of the form."""
    text = request.query("q")[:TYPED_CHARACTERS_MAX]
    return request.pages.render("payer_choices.html", choices=_choices(request, text, ""))


@pages.act("/eligibility/payers", SENDS_NOTHING)
async def find_payers(request: PageRequest) -> Response:
    """Show the form again with the payers that fit, for a browser without a script."""
    return await _render(request, ())


@pages.act("/eligibility/ask", ADDS)
async def ask(request: PageRequest) -> Response:
    """Ask the payer, and show what it answered."""
    site, payer_id = _site(request), _chosen_payer_id(request)
    context, now = request.context.work_context, request.context.clock.now()
    if context.payer_access.inquiry_runner is None:
        return request.message(503, "Not asked", NOT_HERE)
    if not payer_id:
        return await _render(request, [NO_PAYER], 400)
    document = _document(request, payer_id)
    receipt = await inquire(context, document, site=site, actor=request.actor, now=now)
    if isinstance(receipt, MalformedInquiry):
        return await _render(request, [one.message for one in receipt.findings], 400)
    id = receipt.eligibility_request_id
    await await_answers(context, ELIGIBILITY, id, site=site, now=now, stopping=asyncio.Event())
    return request.redirect(f"/eligibility/{id}")


@pages.page("/eligibility/{id}")
async def show_answer(request: PageRequest) -> Response:
    """Show the benefits that a payer stated, as a sheet."""
    site, id = _site(request), path_number(request, "id", "question")
    answers = await read_answers(
        request.context.work_context, ELIGIBILITY, id, site=site, actor=request.actor
    )
    if answers is None:
        raise NoSuchPage("There is no such question of this site.")
    services = await eligibility_list.read_services(request.context.work_context, site, id)
    sheet = await _sheet(answers, services)
    earlier = await eligibility_list.list_of_same_patients(
        request.context.work_context, site, id, limit=EARLIER_SHOWN, actor=request.actor
    )
    return request.render(
        "eligibility_answer.html",
        "Benefits",
        sheet=sheet,
        earlier=earlier,
        payer_name=lambda one: _payer_name(request, one),
        verdict_kinds=VERDICT_KINDS,
        pdf_url=request.url(f"/eligibility/{id}/pdf"),
        x12_url=request.url(f"/eligibility/{id}/x12"),
        here=request.url(f"/eligibility/{id}"),
    )


@pages.page("/eligibility/{id}/x12")
async def download_answers(request: PageRequest) -> Response:
    """Return what the payer sent: the 271 of each patient, or what it answered in its place."""
    site, id = _site(request), path_number(request, "id", "question")
    answers = await read_answers(
        request.context.work_context, ELIGIBILITY, id, site=site, actor=request.actor
    )
    if answers is None:
        raise NoSuchPage("There is no such question of this site.")
    outcomes = [one async for page in answers.answered for one in page]
    outcomes += [one async for page in answers.refused for one in page]
    content = b"".join(one.x12 for one in outcomes)
    if not content:
        raise NoSuchPage("The payer has not answered yet.")
    return download(content, f"eligibility-{id}.271", "application/edi-x12")


@pages.page("/eligibility/{id}/pdf")
async def download_sheet(request: PageRequest) -> Response:
    """Return the sheet as a PDF file."""
    site, id = _site(request), path_number(request, "id", "question")
    context = request.context.work_context
    answers = await read_answers(context, ELIGIBILITY, id, site=site, actor=request.actor)
    if answers is None:
        raise NoSuchPage("There is no such question of this site.")
    sheet = await _sheet(answers, await eligibility_list.read_services(context, site, id))
    if not sheet.patients and not sheet.faults:
        raise NoSuchPage("The payer has not answered yet.")
    try:
        heading = benefits_heading(id, sheet.patients, sheet.faults)
        content = await make_pdf_content(heading, at=request.context.clock.now())
    except PdfRefused as why:
        return request.message(409, "No PDF", str(why))
    return download(content, f"eligibility-{id}.pdf", "application/pdf")


async def _sheet(
    answers: RequestAnswers[BenefitAnswer], services: Mapping[str, tuple[str, ...]]
) -> AnswerSheet:
    outcomes = [one async for page in answers.answered for one in page]
    refused = [one async for page in answers.refused for one in page]
    faults = [result.message for result in answers.results]
    for outcome in refused:
        faults += [error.message for error in (outcome.error.errors if outcome.error else ())]
    patients = [
        make_sheet(table, services.get(one.answer.path, ()))
        for one in outcomes
        if one.answer is not None
        for table in patient_tables([one.answer])
    ]
    return AnswerSheet(patients, faults, is_complete=answers.status is not RequestStatus.INCOMPLETE)


async def _render(
    request: PageRequest, faults: list[str] | tuple[()], status: int = 200
) -> Response:
    site = request.site if request.site and request.site.baa_accepted else None
    earlier: list[ListedRequest] = []
    if site is not None:
        earlier = await eligibility_list.list_newest(
            request.context.work_context, site, limit=EARLIER_SHOWN, actor=request.actor
        )
    typed = {name: request.form.get(name) for name in FIELDS}
    providers = await _providers(request, site)
    if providers and not faults and not typed["npi"]:
        typed |= {"npi": providers[0].npi, "provider": typed["provider"] or providers[0].name}
    return request.render(
        "eligibility.html",
        "Eligibility",
        status,
        site_chosen=site,
        choices=_choices(request, typed["payer"], request.form.get("chosen")),
        typed=typed,
        services=_services(),
        providers=providers,
        verdict_kinds=VERDICT_KINDS,
        faults=faults,
        earlier=earlier,
        payer_name=lambda one: _payer_name(request, one),
        may_ask=request.may_work,
    )


async def _providers(request: PageRequest, site: Site | None) -> list[RememberedProvider]:
    """Return the billing providers of the site's earlier claims, for those who may ask."""
    if site is None or not request.may_work:
        return []
    found = await list_billing_providers(request.context.work_context, site, actor=request.actor)
    return [one for one in found if one.npi]


def _services() -> dict[str, str]:
    """Return the service types that can be asked about, in words: the plans as a whole first, others by name."""
    named = codes.load("service_types")
    usual = {code: named[code] for code in USUAL_SERVICES}
    return usual | dict(sorted(named.items(), key=lambda pair: pair[1]))


def _site(request: PageRequest) -> Site:
    if request.site is None or not request.site.baa_accepted:
        raise NoSuchPage("Choose a site that has accepted the agreement.")
    return request.site


def _choices(request: PageRequest, text: str, chosen: str) -> PayerChoices:
    """Return the payers that fit a text, the chosen one marked; a single one is chosen by itself."""
    found: list[Payer] = []
    if text.strip():
        matches = request.context.payers.search(
            text, among=_is_offered, limit=PAYERS_OFFERED_MAX + 1
        )
        found = [match.payer for match in matches]
    if len(found) == 1:
        chosen = found[0].payer_id
    return PayerChoices(
        text.strip(), tuple(found[:PAYERS_OFFERED_MAX]), len(found) > PAYERS_OFFERED_MAX, chosen
    )


def _is_offered(payer: Payer) -> bool:
    return payer.active and payer.offers_eligibility


def _chosen_payer_id(request: PageRequest) -> str:
    """Return the payer that was chosen, or that the text names alone or by its id; empty if it is not clear."""
    text, chosen = request.form.get("payer"), request.form.get("chosen")
    choices = _choices(request, text, chosen)
    named = [one for one in choices.payers if one.payer_id.casefold() == text.strip().casefold()]
    if named:
        return named[0].payer_id
    fitting = {one.payer_id for one in choices.payers}
    return choices.chosen if choices.chosen in fitting else ""


def _payer_name(request: PageRequest, question: ListedRequest) -> str:
    return request.payer_name(question.payer_id, question.payer_type)


def _document(request: PageRequest, payer_id: str) -> bytes:
    """Return the request as the vendor interface takes it: one rule book for people and software."""
    typed = {name: request.form.get(name).strip() for name in FIELDS}
    subscriber: dict[str, object] = {
        "CommonName": typed["last"],
        "FirstName": typed["first"],
        "MemberId": typed["member"],
        "BirthDate": typed["birth"] or None,
    }
    asked: dict[str, object] = {}
    if typed["service"]:
        asked["Type"] = [typed["service"]]
    if typed["day"]:
        asked["PlanDate"] = {"Start": typed["day"]}
    if asked:
        subscriber["RequestedBenefits"] = [asked]
    payee = {
        "CommonName": typed["provider"],
        "NationalProviderId": typed["npi"],
        "EntityType": "Organization",
        "Subscribers": [subscriber],
    }
    inquiry = {"Payers": [{"PayerId": payer_id, "Payees": [payee]}]}
    is_test = request.context.sandbox_control is not None
    return json.dumps({"IsTest": is_test, "BenefitInquiries": [inquiry]}).encode()
