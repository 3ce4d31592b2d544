"""Enrollments of ``/clearlane/v1``: how far each provider is with each payer that requires it, by transaction."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.payers import TRANSACTIONS, TYPES
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Page, Resource, ResourceRows, page_response
from clearlane.kernel.list_filter import FilterType, passes
from clearlane.pipeline.enrollment.list_enrollments import (
    ProviderEnrollment,
    ProviderState,
    list_provider_enrollments,
)

endpoints = ResourceRows(Resource.ENROLLMENTS)

LIST = "enrollments"
FILTERS = (
    parameters.list_filter_parameter(
        FilterType.CHOICE, "state", "How far it is.", tuple(one.value for one in ProviderState)
    ),
    parameters.list_filter_parameter(FilterType.TEXT, "payer", "The payer id.", ()),
    parameters.list_filter_parameter(
        FilterType.CHOICE, "transaction", "What it is for.", TRANSACTIONS
    ),
)


class ProviderEnrollmentJson(JsonModel):
    """How far a provider is with a payer for a transaction."""

    id: str
    enrollment_id: Annotated[str, Field(description="As events name it: one for each provider.")]
    site: Annotated[str, Field(description="The vendor site id.")]
    npi: str
    payer_id: str
    type: Annotated[str, Field(json_schema_extra={"enum": list(TYPES)})]
    transaction: Annotated[
        str, Field(description="What it is for.", json_schema_extra={"enum": list(TRANSACTIONS)})
    ]
    state: Annotated[
        str,
        Field(
            description="`ended`: it was live, and the payer ended it.",
            json_schema_extra={"enum": list(ProviderState)},
        ),
    ]
    since_at: datetime
    live_from: Annotated[
        date | None,
        Field(description="The first day on which it counts, once the payer approved it."),
    ]


@endpoints.read(
    "GetEnrollments",
    LIST,
    "Providers and the payers that require their enrollment for a transaction, each with its state.",
    Page[ProviderEnrollmentJson],
    parameters=parameters.page(LIST, *FILTERS),
    description="Follow them by the events `enrollment.submitted`, `enrollment.approved`, `enrollment.refused` and "
    "`enrollment.ended`, whose `data.url` leads to one.",
)
async def list_enrollments(call: Call) -> Response:
    """Return a page of the enrollments of the vendor's providers."""
    given, after = call.parameters, call.parameters["after"] or ""
    payers = given["payer"] if isinstance(given["payer"], tuple) else filter(None, [given["payer"]])
    payer_ids = {one.casefold() for one in payers}
    rows = await _load(
        call,
        lambda one: (
            one.id > after
            and passes(given["state"], one.state)
            and passes(given["transaction"], one.transaction)
            and (not payer_ids or one.payer_id.casefold() in payer_ids)
        ),
    )
    return page_response(
        rows,
        limit=given["limit"],
        of_list=LIST,
        position=lambda one: (one.id,),
        as_json=lambda one: one.as_json(),
    )


@endpoints.read(
    "GetEnrollment",
    "enrollments/{enrollment_id}",
    "One provider's enrollment, with each payer and for each transaction.",
    Page[ProviderEnrollmentJson],
)
async def get_enrollment(call: Call) -> Response:
    """Return one provider's enrollment, with each payer and for each transaction."""
    wanted = call.path["enrollment_id"].upper()
    rows = await _load(call, lambda one: one.enrollment_id == wanted)
    if not rows:
        raise refuse(404, "There is no enrollment of this id, or no payer requires one.")
    return json_response(200, {"data": [one.as_json() for one in rows], "next": None})


async def _load(
    call: Call, wanted: Callable[[ProviderEnrollment], bool]
) -> list[ProviderEnrollment]:
    """Return the wanted enrollments of the sites that the caller may see, in the order of their ids."""
    found = []
    for site in call.sites:
        context = call.context.work_context
        found += await list_provider_enrollments(context, site, actor=call.actor)
    return sorted(filter(wanted, found), key=lambda one: one.id)
