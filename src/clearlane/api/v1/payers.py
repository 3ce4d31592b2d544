"""Payers of ``/clearlane/v1``: search by name, alias or id, tolerating typing mistakes, with what each offers."""

from typing import Annotated, Literal

from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.errors import ParameterFault, RequestRefusal
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Page, Resource, ResourceRows, page_response
from clearlane.kernel.list_filter import FilterType, passes
from clearlane.payers.enrolled_transactions import EnrolledTransaction
from clearlane.payers.match import SEARCH_CHARACTERS_MAX
from clearlane.payers.model import PAYER_TYPES, Payer
from clearlane.payers.payer_json import payer_object

endpoints = ResourceRows(Resource.PAYERS, touches_phi=False)

LIST = "payers"
MATCHES_MAX = 500
TYPES = tuple(one.lower() for one in PAYER_TYPES)
TRANSACTIONS = tuple(one.value for one in EnrolledTransaction)


class ReachedPayerJson(JsonModel):
    """A payer for one type of claims, and what it offers."""

    id: str
    payer_id: Annotated[str, Field(description="What claims name as `Svc_PayerId`.")]
    svc_payer_id: str
    national_payer_id: str | None
    institutional_payer_id: Annotated[
        str | None, Field(description="Its id in institutional claims (837I), if that is another.")
    ]
    type: Annotated[str, Field(json_schema_extra={"enum": list(TYPES)})]
    name: str
    aliases: list[str]
    accepts_claims: Annotated[
        bool, Field(description="Whether claims can be sent: it takes them and can be reached.")
    ]
    accepts_institutional_claims: Annotated[
        bool, Field(description="Whether these may be institutional (837I).")
    ]
    claim_enrollment_required: bool
    enrollments: Annotated[
        list[str],
        Field(
            description="The transactions for which it requires that a provider is enrolled.",
            json_schema_extra={"items": {"type": "string", "enum": list(TRANSACTIONS)}},
        ),
    ]
    era: Literal["available", "requires_enrollment", "not_available"]
    era_reason: Annotated[
        str,
        Field(
            description="To whom it sends ERAs (835), in a sentence. `GET /enrollments?payer=...&transaction=era` lists the providers."
        ),
    ]
    eligibility: bool
    replacements: Annotated[bool, Field(description="Whether it takes replacements and voids.")]
    test: bool


def _words(text: str) -> str:
    if not text.strip() or len(text) > SEARCH_CHARACTERS_MAX or not text.isprintable():
        raise ParameterFault(f"1 to {SEARCH_CHARACTERS_MAX} printable characters are expected.")
    return text


SEARCH = parameters.optional(
    "search",
    "Words of a name or alias, or an id; typing mistakes are tolerated, and the best match comes first.",
    _words,
    {"type": "string", "minLength": 1, "maxLength": SEARCH_CHARACTERS_MAX},
)
FILTERS = (
    SEARCH,
    parameters.list_filter_parameter(
        FilterType.CHOICE, "type", f"{' or '.join(TYPES).capitalize()}.", TYPES
    ),
    parameters.list_filter_parameter(
        FilterType.FLAG, "eligibility", "`true`: those that answer eligibility requests."
    ),
)


def _type_and_id(type: str, payer_id: str) -> tuple[str, str]:
    return type, payer_id


@endpoints.read(
    "SearchPayers",
    "payers",
    "Payers by name, or the best matches of a search.",
    Page[ReachedPayerJson],
    parameters=parameters.page(LIST, *FILTERS, parts=2, position=_type_and_id),
)
async def list_payers(call: Call) -> Response:
    """Return a page of payers: by name, or the best matches first."""
    given, limit = call.parameters, call.parameters["limit"]

    def wanted(payer: Payer) -> bool:
        return (
            payer.active
            and passes(given["type"], payer.type.lower())
            and given["eligibility"] in (None, payer.offers_eligibility)
        )

    payers = call.context.payers
    if given["search"] is None:
        found = [payer for payer in payers.all if wanted(payer)]
    else:
        matches = payers.search(given["search"], among=wanted, limit=MATCHES_MAX)
        found = [match.payer for match in matches]
    start = _start(call, found)
    return page_response(
        found[start : start + limit + 1],
        limit=limit,
        of_list=LIST,
        position=lambda payer: (payer.type, payer.payer_id),
        as_json=payer_object,
    )


@endpoints.read(
    "GetPayer",
    "payers/{payer_id}",
    "A payer, for each type of claims that it takes.",
    Page[ReachedPayerJson],
)
async def get_payer(call: Call) -> Response:
    """Return one payer, for each type of claims that it takes."""
    payer_id = call.path["payer_id"]
    found = [call.context.payers.find(payer_id, type) for type in PAYER_TYPES]
    rows = [payer_object(payer) for payer in found if payer is not None and payer.active]
    if not rows:
        raise refuse(404, "There is no payer of this id.")
    return json_response(200, {"data": rows, "next": None})


def _start(call: Call, found: list[Payer]) -> int:
    """Return where the page begins: after the payer that the page before ended with."""
    after = call.parameters["after"]
    if after is None:
        return 0
    places = [at for at, payer in enumerate(found, 1) if (payer.type, payer.payer_id) == after]
    if not places:  # it is gone since, or the cursor belongs to another search
        sentence = "The list has changed since; begin again without it."
        raise RequestRefusal(call.errors.invalid_fields({"after": [sentence]}))
    return places[0]
