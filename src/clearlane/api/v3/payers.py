"""The payer lists, which the directory holds already encoded."""

from starlette.responses import Response

from clearlane.api.frame.endpoint import Call, Endpoint, EndpointFamily, EndpointRows, Parameter
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.v3 import responses
from clearlane.api.v3.error_responses import V3_ERRORS
from clearlane.payers.directory import PayerListName
from clearlane.payers.model import PAYER_TYPES

endpoints = EndpointRows(
    family=EndpointFamily.PAYERS,
    errors=V3_ERRORS,
    touches_phi=False,
    suspended_handler=None,
)
_TYPES = {type.lower(): type for type in PAYER_TYPES}


def read_payer_type(text: str | None, endpoint: Endpoint) -> str:
    """Return the payer type, given as ``medical`` or ``dental`` in any case."""
    if text is None or not text.strip():
        raise RequestRefusal(responses.no_action(endpoint.family))
    type = _TYPES.get(text.strip().lower())
    if type is None:
        raise RequestRefusal(responses.bad_parameter("type", text, "'medical' or 'dental'"))
    return type


PAYER_TYPE = Parameter(
    name="type",
    help="`medical` or `dental`, in any case.",
    read=read_payer_type,
    schema={"type": "string", "enum": list(_TYPES)},
)


def _payer_list(name: str, path: str, summary: str, which: PayerListName) -> None:
    """Declare the endpoint of one of the payer lists."""

    @endpoints.endpoint(
        name,
        f"/api/v3/payers/{path}",
        summary,
        list[responses.PayerListItem],
        parameters=(PAYER_TYPE,),
        error_types={404: responses.MessageDetail},
    )
    async def list_payers(call: Call) -> Response:
        listing = call.context.payers.payer_list(which, call.parameters["type"])
        return responses.payer_list(listing, call.headers.get("accept-encoding", ""))


_payer_list("GetPayers", "get_list", "The payers that claims can be sent to.", "live")
_payer_list("GetTestPayers", "get_list_of_test", "The test payers of a sandbox.", "test")
_payer_list(
    "GetEligibilityPayers",
    "get_list_of_eligibility",
    "The payers that answer eligibility requests.",
    "eligibility",
)
