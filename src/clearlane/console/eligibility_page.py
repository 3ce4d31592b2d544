"""Eligibility: ask a payer about a patient, read the benefits as a sheet, and look at earlier answers of the site."""

import asyncio
import json
from dataclasses import dataclass
from decimal import Decimal

from starlette.responses import Response

from clearlane.accounts.model import Site
from clearlane.console import page_text
from clearlane.console.page_request import NoSuchPage, PageRequest
from clearlane.console.path_number import path_number
from clearlane.eligibility.benefit_answer import RequestStatus
from clearlane.eligibility.benefit_table import PatientTable, patient_tables
from clearlane.kernel.clock import from_micros
from clearlane.payers.model import Payer
from clearlane.pipeline.eligibility.eligibility_results import RequestAnswers
from clearlane.pipeline.eligibility.inquire import (
    MalformedInquiry,
    await_answers,
    inquire,
    read_answers,
)
from clearlane.store import eligibility as store
from clearlane.store.database import Tx

EARLIER_SHOWN = 20
PAYERS_OFFERED_MAX = 2_000
FIELDS = ("payer", "npi", "provider", "member", "last", "first", "birth")
"""The names of the form's fields."""
NOT_HERE = "This node does not ask payers. Use the address of a node that serves calls."


@dataclass(frozen=True, slots=True)
class AnswerSheet:
    """What came for one request so far."""

    tables: list[PatientTable]
    faults: list[str]
    is_complete: bool


async def show_eligibility(request: PageRequest) -> Response:
    """Show the form, and the site's newest questions."""
    return await _render(request, ())


async def ask(request: PageRequest) -> Response:
    """Ask the payer, and show what it answered."""
    site = _site(request)
    context, now = request.context.work_context, request.context.clock.now()
    if context.payer_access.inquiry_runner is None:
        return request.message(503, "Not asked", NOT_HERE)
    receipt = await inquire(context, _document(request), site=site, actor=request.actor, now=now)
    if isinstance(receipt, MalformedInquiry):
        return await _render(request, [one.message for one in receipt.findings], 400)
    await await_answers(context, receipt, site=site, now=now, stopping=asyncio.Event())
    return request.redirect(f"/eligibility/{receipt.request_id}")


async def show_answer(request: PageRequest) -> Response:
    """Show the benefits that a payer stated, as a sheet."""
    site, id = _site(request), path_number(request, "id", "question")
    answers = await read_answers(request.context.work_context, id, site=site, actor=request.actor)
    if answers is None:
        raise NoSuchPage("There is no such question of this site.")
    sheet = await _sheet(answers)
    return request.render(
        "eligibility_answer.html",
        "Benefits",
        sheet=sheet,
        amount=_amount,
        share=_share,
        here=request.url(f"/eligibility/{id}"),
    )


async def _sheet(answers: RequestAnswers) -> AnswerSheet:
    outcomes = [one async for page in answers.answered for one in page]
    refused = [one async for page in answers.refused for one in page]
    faults = [result.message for result in answers.results]
    for outcome in refused:
        faults += [error.message for error in (outcome.error.errors if outcome.error else ())]
    tables = list(patient_tables(one.answer for one in outcomes if one.answer is not None))
    return AnswerSheet(tables, faults, is_complete=answers.status is not RequestStatus.INCOMPLETE)


async def _render(
    request: PageRequest, faults: list[str] | tuple[()], status: int = 200
) -> Response:
    site = request.site if request.site and request.site.baa_accepted else None
    earlier = []
    if site is not None:

        async def job(tx: Tx) -> list[store.StoredRequest]:
            found = await store.list_newest(tx, EARLIER_SHOWN)
            tx.audit("eligibility.list", ids=[str(one.id) for one in found])
            return found

        earlier = await request.read(site, job)
    return request.render(
        "eligibility.html",
        "Eligibility",
        status,
        site_chosen=site,
        payers=_payers(request),
        typed={name: request.form.get(name) for name in FIELDS},
        faults=faults,
        earlier=[
            (one, page_text.moment(from_micros(one.created_at), request.zone)) for one in earlier
        ],
        may_ask=request.signed_in_user.role != "viewer",
    )


def _site(request: PageRequest) -> Site:
    if request.site is None or not request.site.baa_accepted:
        raise NoSuchPage("Choose a site that has accepted the agreement.")
    return request.site


def _payers(request: PageRequest) -> list[Payer]:
    found = [one for one in request.context.payers.all if one.active and one.offers_eligibility]
    return sorted(found, key=lambda one: one.name.casefold())[:PAYERS_OFFERED_MAX]


def _document(request: PageRequest) -> bytes:
    """Return the request as the vendor interface takes it: one rule book for people and software."""
    typed = {name: request.form.get(name).strip() for name in FIELDS}
    # A person chooses a name from the list, or types an id.
    chosen = typed["payer"].rpartition("(")[2].rstrip(")").strip()
    subscriber = {
        "CommonName": typed["last"],
        "FirstName": typed["first"],
        "MemberId": typed["member"],
        "BirthDate": typed["birth"] or None,
    }
    payee = {
        "CommonName": typed["provider"],
        "NationalProviderId": typed["npi"],
        "EntityType": "Organization",
        "Subscribers": [subscriber],
    }
    inquiry = {"Payers": [{"PayerId": chosen, "Payees": [payee]}]}
    is_test = request.context.sandbox_control is not None
    return json.dumps({"IsTest": is_test, "BenefitInquiries": [inquiry]}).encode()


def _amount(value: Decimal | None) -> str:
    return "-" if value is None else f"{value:,.2f}"


def _share(value: Decimal | None) -> str:
    return "-" if value is None else f"{value * 100:.0f} %"
