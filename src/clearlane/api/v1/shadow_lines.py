"""The shadow report of ``/clearlane/v1``: what we and another clearinghouse say of the claims of shadow files."""

from typing import Annotated, Literal

import msgspec
from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.cursors import cursor_number, encode_cursor
from clearlane.api.v1.resource import Page, Resource, ResourceRows, require_site
from clearlane.kernel.list_filter import FilterType
from clearlane.pipeline.query.shadow_report import ShadowLine, load_shadow_page
from clearlane.store.claims.claim_query import ListPosition

endpoints = ResourceRows(Resource.FILES)

LIST = "shadow_report"


class ShadowLineJson(JsonModel):
    """What was said of one claim of a shadow file, or of one set that we rejected as a whole."""

    id: str
    claim_number: Annotated[str | None, Field(description="Null for a set.")]
    set_id: Annotated[str | None, Field(description="The set that we rejected; null for a claim.")]
    vendor_claim_id: Annotated[str | None, Field(description="CLM01, as it was sent.")]
    site: str
    file_id: str
    comparison: Annotated[
        Literal[
            "paid_not_accepted",
            "only_they_accept",
            "only_we_accept",
            "denied",
            "equal",
            "no_answer",
        ],
        Field(description="How what we said compares with what they said."),
    ]
    ours: Annotated[str, Field(description="`accepted` or `not accepted`.")]
    our_reason: Annotated[str | None, Field(description="Rules, with their sentences and places.")]
    theirs: str
    their_codes: str | None
    their_reason: Annotated[str | None, Field(description="Their codes in words.")]
    x12_differences: Annotated[
        str | None,
        Field(
            description="Where the X12 that we would send differs from what came, beyond what an intermediary changes."
        ),
    ]


def _position(updated_at: str, created_day: str, claim_number: str) -> ListPosition:
    return ListPosition(cursor_number(updated_at), created_day, claim_number)


@endpoints.read(
    "GetShadowReport",
    "shadow_report",
    "What we and another clearinghouse say of the claims of shadow files, oldest first.",
    Page[ShadowLineJson],
    parameters=parameters.page(
        LIST,
        parameters.filter_parameter(
            FilterType.FLAG, "differences", "`true`: only lines with a difference."
        ),
        parts=3,
        position=_position,
    ),
    description="For one site. A page is about `limit` claims; of these it has those that pass the filter.",
)
async def get_report(call: Call) -> Response:
    """Return a page of the report."""
    site = require_site(call)
    page = await load_shadow_page(
        call.context.work_context,
        site,
        after=call.parameters["after"],
        limit=call.parameters["limit"],
        actor=call.actor,
    )
    shown = [one for one in page.lines if one.differs or not call.parameters["differences"]]
    return json_response(
        200,
        {
            "data": [line_object(one) for one in shown],
            "next": encode_cursor(LIST, *map(str, page.last)) if page.last else None,
        },
    )


def line_object(line: ShadowLine) -> dict[str, object]:
    """Return a line as v1 shows it."""
    facts = {name: value or None for name, value in msgspec.structs.asdict(line).items()}
    of_set = None if line.vendor_claim_id else line.claim_number
    return facts | {
        "id": line.claim_number,
        "claim_number": None if of_set else line.claim_number,
        "set_id": of_set,
    }
