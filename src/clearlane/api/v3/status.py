"""The handler of the claim status list: decode two dates, stream the rows between them."""

from datetime import date

from starlette.responses import Response

from clearlane.api.frame.endpoint import Call, Endpoint, EndpointFamily, EndpointRows, Parameter
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.http.http_responses import JSON_UTF8
from clearlane.api.http.stream import stream_array
from clearlane.api.v3 import responses
from clearlane.api.v3.error_responses import V3_ERRORS
from clearlane.api.v3.status_rows import ClaimStatusJson, encode_rows
from clearlane.kernel.client_dates import parse_client_date
from clearlane.pipeline.query.claim_list import list_statuses

endpoints = EndpointRows(
    family=EndpointFamily.CLAIMS,
    errors=V3_ERRORS,
    touches_phi=True,
    suspended_handler=None,
)


def date_parameter(name: str) -> Parameter:
    """Return a query parameter that is a date."""

    def read(text: str | None, endpoint: Endpoint) -> date:
        found = parse_client_date(text or "")
        if found is None:
            raise RequestRefusal(responses.null_entry(name, "System.DateTime", endpoint.name))
        return found

    return Parameter(
        name=name,
        help="`YYYY-MM-DD`; included.",
        read=read,
        schema={"type": "string", "format": "date"},
    )


@endpoints.endpoint(
    "GetClaimStatusByDate",
    "/api/v3/claims/status/get_by_date",
    "The status of the claims created on these days.",
    list[ClaimStatusJson],
    parameters=(date_parameter("startDate"), date_parameter("endDate")),
    error_types={400: responses.MessageDetail},
)
async def status_by_date(call: Call) -> Response:
    """Return the status of all claims created between two dates."""
    first, last = call.parameters["startDate"], call.parameters["endDate"]
    if first > last:
        raise RequestRefusal(
            responses.message_detail(
                400, responses.INVALID, "The startDate is later than the endDate."
            )
        )
    pages = list_statuses(
        call.context.database,
        call.context.vault,
        first,
        last,
        scope=call.site.scope,
        actor=call.actor,
    )
    rows = (encode_rows(page, call.site) async for page in pages)
    return await stream_array(rows, JSON_UTF8)
