"""The handlers of the payer lists, which the directory holds already encoded."""

from starlette.responses import Response

from clearlane.api.frame.endpoint import Call, Endpoint, Handler
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.v3 import responses
from clearlane.payers.directory import PayerListName
from clearlane.payers.model import PAYER_TYPES

_TYPES = {type.lower(): type for type in PAYER_TYPES}


def read_payer_type(text: str | None, endpoint: Endpoint) -> str:
    """Return the payer type, given as ``medical`` or ``dental`` in any case."""
    if text is None or not text.strip():
        raise RequestRefusal(responses.no_action(endpoint.family))
    type = _TYPES.get(text.strip().lower())
    if type is None:
        raise RequestRefusal(responses.bad_parameter("type", text, "'medical' or 'dental'"))
    return type


def payer_list_handler(which: PayerListName) -> Handler:
    """Return the handler of one of the three payer lists."""

    async def list_payers(call: Call) -> Response:
        listing = call.context.payers.payer_list(which, call.parameters["type"])
        return responses.payer_list(listing, call.headers.get("accept-encoding", ""))

    return list_payers
