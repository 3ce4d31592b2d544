"""Sites of ``/clearlane/v1``: the clients on whose behalf the vendor calls."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from clearlane.accounts.model import SiteState
from clearlane.accounts.site_json import site_object
from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Page, Resource, ResourceRows, page_response
from clearlane.kernel.list_filter import FilterType, passes

endpoints = ResourceRows(Resource.SITES, touches_phi=False)

LIST = "sites"


class SiteJson(JsonModel):
    """A client of the vendor."""

    id: Annotated[str, Field(description="The vendor site id: `site` of every call.")]
    site: str
    client_id: str
    name: str
    time_zone: Annotated[str, Field(description="In which its days begin and end.")]
    state: Annotated[str, Field(json_schema_extra={"enum": list(SiteState)})]
    baa_accepted: Annotated[
        bool,
        Field(description="Calls that concern patients are for sites that have accepted the BAA."),
    ]
    console_corrections: Annotated[
        bool, Field(description="Whether people may correct its claims in the console.")
    ]
    shadow: Annotated[
        bool, Field(description="Whether every file of it is a shadow file: judged, never sent.")
    ]
    bills_next_payer: Annotated[
        bool, Field(description="Whether claims for the next payer are sent by themselves.")
    ]
    daily_summary_since_at: Annotated[
        str | None, Field(description="Since when a summary of each day is written; null if none.")
    ]


FILTERS = (
    parameters.list_filter_parameter(
        FilterType.CHOICE, "state", "Whether it may submit.", tuple(SiteState)
    ),
    parameters.list_filter_parameter(
        FilterType.FLAG, "baa_accepted", "`true`: those that have accepted the BAA."
    ),
)


@endpoints.read(
    "GetSites",
    LIST,
    "The vendor's sites, by their ids.",
    Page[SiteJson],
    parameters=parameters.page(LIST, *FILTERS),
)
async def list_sites(call: Call) -> Response:
    """Return a page of the sites that the call may be for."""
    given, after = call.parameters, call.parameters["after"] or ""
    rows = sorted(
        (
            one
            for one in call.sites
            if one.vendor_site_id > after
            and passes(given["state"], one.state.value)
            and given["baa_accepted"] in (None, one.baa_accepted)
        ),
        key=lambda one: one.vendor_site_id,
    )
    return page_response(
        rows,
        limit=given["limit"],
        of_list=LIST,
        position=lambda one: (one.vendor_site_id,),
        as_json=site_object,
    )


@endpoints.read("GetSite", "sites/{site_id}", "One site of the vendor.", SiteJson)
async def get_site(call: Call) -> Response:
    """Return one site that the call may be for."""
    wanted = call.path["site_id"].casefold()
    for one in call.sites:
        if one.vendor_site_id.casefold() == wanted:
            return json_response(200, site_object(one))
    raise refuse(404, "The vendor has no site of this id.")
