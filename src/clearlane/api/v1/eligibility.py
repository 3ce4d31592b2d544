"""Eligibility of ``/clearlane/v1``: ask a payer about a patient's insurance, list what was asked, read what came."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any

import msgspec
from pydantic import Field
from starlette.responses import Response

from clearlane.accounts.api_keys import KeyScope
from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.claim_json import Money
from clearlane.api.v1.claim_verbs import require_active
from clearlane.api.v1.cursors import cursor_number
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import (
    Page,
    Resource,
    ResourceRows,
    page_response,
    read_body,
    require_site,
)
from clearlane.pipeline.inquiry.ask import await_answers
from clearlane.pipeline.inquiry.eligibility_details import details_object, find_details
from clearlane.pipeline.inquiry.eligibility_list import (
    STATES,
    VERDICT_NAMES,
    list_numbered,
    listed_object,
)
from clearlane.pipeline.inquiry.eligibility_request import MalformedInquiry, inquire
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY

endpoints = ResourceRows(Resource.ELIGIBILITY, changes=KeyScope.SUBMIT)

LIST = "eligibility"
NUMBER_DIGITS_MAX = 10
VERDICT = Annotated[
    Annotated[str, Field(json_schema_extra={"enum": list(VERDICT_NAMES.values())})] | None,
    Field(
        description="What the payer states of the coverage; null without its answer. `not_stated` is not inactive."
    ),
]


@dataclass(frozen=True, slots=True)
class ProviderAsking:
    """Who asks."""

    npi: str
    name: Annotated[str, Field(description="Of the organization, or the person's last name.")]
    first_name: Annotated[str | None, Field(description="Only of a person.")] = None


@dataclass(frozen=True, slots=True)
class SubscriberAsked:
    """Whose insurance it is."""

    member_id: str
    last_name: str | None = None
    first_name: str | None = None
    birth_date: str | None = None
    gender: str | None = None


@dataclass(frozen=True, slots=True)
class DependentAsked:
    """The patient, if that is not the subscriber."""

    last_name: str
    first_name: str
    birth_date: str | None = None
    gender: str | None = None
    relationship: str | None = None


@dataclass(frozen=True, slots=True)
class EligibilityQuestion:
    """What a payer is asked about a patient's insurance."""

    payer_id: str
    provider: ProviderAsking
    subscriber: SubscriberAsked
    dependent: DependentAsked | None = None
    service_types: Annotated[
        list[str] | None,
        Field(
            description='By name or X12 code, such as "98"; health benefit plan coverage if left out.'
        ),
    ] = None
    service_date: Annotated[str | None, Field(description="Today if left out.")] = None


class AccumulatorJson(JsonModel):
    """An amount that claims accumulate toward; null for what the payer does not state."""

    total: Money | None
    used: Money | None
    remaining: Money | None


class BenefitRowJson(JsonModel):
    """The benefits of a service in a network at a level of coverage."""

    service: Annotated[str, Field(description="In words.")]
    network: Annotated[str | None, Field(description="In, Out or Any; null if not stated.")]
    level: Annotated[str | None, Field(description="Such as Individual; null if not stated.")]
    coverage: Annotated[str | None, Field(description="Such as Active Coverage.")]
    copay: Money | None
    coinsurance: Annotated[str | None, Field(description="The patient's share: 0.2 is 20 %.")]
    deductible: AccumulatorJson
    out_of_pocket: AccumulatorJson


class PayerErrorJson(JsonModel):
    """Why a payer gives no answer, or a part of one."""

    code: str
    message: str
    action: Annotated[str | None, Field(description="What to do about it.")]


class PatientBenefitsJson(JsonModel):
    """What a payer states about one patient."""

    payer_name: str
    patient_name: str
    member_id: str
    verdict: VERDICT
    plans: list[str]
    group_number: Annotated[str | None, Field(description="Null if not stated, as are the others.")]
    covered_from: date | None
    covered_to: date | None
    primary_care: Annotated[str | None, Field(description="The provider's name.")]
    benefits: list[BenefitRowJson]
    notes: Annotated[list[str], Field(description="The payer's messages.")]
    errors: list[PayerErrorJson]


class EligibilityJson(JsonModel):
    """A question about a patient's insurance, as lists show it."""

    id: str
    eligibility_request_id: Annotated[
        int, Field(description="As events name it; V3's `RequestId`.")
    ]
    site: Annotated[str, Field(description="The vendor site id.")]
    state: Annotated[
        str,
        Field(
            description="`incomplete`: an answer is still awaited. `nothing_sent`: no payer could be asked.",
            json_schema_extra={"enum": list(STATES.values())},
        ),
    ]
    verdict: VERDICT
    asked_at: datetime
    payer_id: Annotated[str | None, Field(description="Null if no payer could be asked.")]
    patient_name: str | None
    birth_date: date | None
    member_id: str | None
    patients: Annotated[int, Field(description="How many patients it is about.")]


class EligibilityDetailsJson(EligibilityJson):
    """A question about a patient's insurance, and what the payer answered."""

    answers: list[PatientBenefitsJson]
    problems: Annotated[
        list[str], Field(description="Why a payer was not asked, or gave no answer, in words.")
    ]
    x12: Annotated[list[str], Field(description="The payers' 271, or the 999 or TA1 in its place.")]


@endpoints.change(
    "AskEligibility",
    LIST,
    "Ask a payer about a patient's insurance (270).",
    EligibilityDetailsJson,
    request_type=EligibilityQuestion,
    stores_answer=False,
    description="The answer (271) is waited for, 55 seconds at most; then `state` is `incomplete`, the question goes on, and the event "
    "`eligibility.completed` follows. Name the `site` if the vendor has several. Many patients at once: V3's `eligibility/submit`, "
    "or a 270 (`POST /clearlane/v1/x12`).",
)
async def ask_eligibility(call: Call) -> Response:
    """Ask a payer, and return what it answers in time."""
    question = await read_body(call, EligibilityQuestion)
    site = require_site(call)
    require_active(site)
    context, now = call.context.work_context, call.now
    if context.payer_access.inquiry_runner is None:
        raise refuse(503, "This node does not ask payers.")
    receipt = await inquire(
        context, _document(question, call), site=site, actor=call.actor, now=now
    )
    if isinstance(receipt, MalformedInquiry):
        faults: dict[str, list[str]] = {}
        for one in receipt.findings:
            faults.setdefault(_own_path(one.location), []).append(one.message)
        raise RequestRefusal(call.errors.invalid_fields(faults))
    answers = await await_answers(
        context, ELIGIBILITY, receipt.eligibility_request_id, site=site, now=now,
        stopping=call.stopping,
    )  # fmt: skip
    (listed,) = await list_numbered(
        context, site.scope, before=answers.request_number + 1, limit=1, actor=call.actor
    )
    return json_response(200, await details_object(listed, answers))


@endpoints.read(
    "GetEligibilityRequests",
    LIST,
    "Questions about patients' insurance, newest first, those of V3 and the console too.",
    Page[EligibilityJson],
    parameters=parameters.page(
        LIST, position=lambda number: cursor_number(number, NUMBER_DIGITS_MAX)
    ),
)
async def list_eligibility(call: Call) -> Response:
    """Return a page of questions about patients' insurance."""
    limit, after = call.parameters["limit"], call.parameters["after"]
    start = {} if after is None else {"before": after}
    rows = await list_numbered(
        call.context.work_context, call.scope, limit=limit + 1, actor=call.actor, **start
    )
    return page_response(
        rows,
        limit=limit,
        of_list=LIST,
        position=lambda one: (str(one.request_number),),
        as_json=listed_object,
    )


@endpoints.read(
    "GetEligibilityRequest",
    "eligibility/{eligibility_request_id}",
    "One question about a patient's insurance, and everything that came for it so far.",
    EligibilityDetailsJson,
)
async def get_eligibility(call: Call) -> Response:
    """Return a question and its answers."""
    text = call.path["eligibility_request_id"]
    if re.fullmatch(rf"\d{{1,{NUMBER_DIGITS_MAX}}}", text, re.ASCII) is None:
        raise no_request()
    context = call.context.work_context
    found = await find_details(context, call.scope, int(text), actor=call.actor)
    if found is None:
        raise no_request()
    return json_response(200, found)


def no_request() -> RequestRefusal:
    """Return the refusal of an id that is unknown or another vendor's."""
    return refuse(404, "The vendor has no eligibility request of this id.")


# ---- the question, as the one rule book for all interfaces reads it ------------------------------

_PERSON = {"last_name": "CommonName", "first_name": "FirstName", "birth_date": "BirthDate", "gender": "Gender"}  # fmt: skip
_NAMES: Mapping[str, Mapping[str, str]] = {
    "provider": {"npi": "NationalProviderId", "name": "CommonName", "first_name": "FirstName"},
    "subscriber": {**_PERSON, "member_id": "MemberId"},
    "dependent": {**_PERSON, "relationship": "Relationship"},
}
"""The names of V3's request, which is checked for V3, v1 and the console alike."""
_LEVELS = {"Dependents": "dependent", "Subscribers": "subscriber", "Payees": "provider"}
_QUESTION = {"Type": "service_types", "PlanDate": "service_date", "PayerId": "payer_id"}


def _document(question: EligibilityQuestion, call: Call) -> bytes:
    benefit: dict[str, Any] = {"Type": question.service_types or []}
    if question.service_date:
        benefit["PlanDate"] = {"Start": question.service_date, "End": question.service_date}
    asked = [benefit] if question.service_types or question.service_date else []
    subscriber = _part("subscriber", question.subscriber)
    if question.dependent is None:
        subscriber["RequestedBenefits"] = asked
    else:
        dependent = _part("dependent", question.dependent)
        subscriber["Dependents"] = [{**dependent, "RequestedBenefits": asked}]
    is_person = question.provider.first_name is not None
    payee = {
        **_part("provider", question.provider),
        "EntityType": "Individual" if is_person else "Organization",
        "Subscribers": [subscriber],
    }
    inquiry = {"Payers": [{"PayerId": question.payer_id, "Payees": [payee]}]}
    return msgspec.json.encode({"IsTest": call.sandbox, "BenefitInquiries": [inquiry]})


def _part(name: str, given: object) -> dict[str, Any]:
    found = {other: getattr(given, own) for own, other in _NAMES[name].items()}
    return {name: value for name, value in found.items() if value is not None}


def _own_path(location: str) -> str:
    """Return the field of the question that a path of V3's request means."""
    steps = [re.sub(r"\[\d+\]", "", step) for step in location.split(".")]
    for step in reversed(steps):
        if step in _QUESTION:
            return _QUESTION[step]
    level = next((_LEVELS[step] for step in reversed(steps) if step in _LEVELS), "")
    names = {other: own for own, other in _NAMES.get(level, {}).items()}
    return ".".join(filter(None, (level, names.get(steps[-1], "")))) or location
