"""Payer lists: what stands ready in the directory, for one type. Decodes, asks, encodes."""

from starlette.responses import Response

from clearlane.api.endpoint import Call, Handler, Row
from clearlane.api.errors import Refusal
from clearlane.api.v3 import wire
from clearlane.payers.directory import Which
from clearlane.payers.model import PAYER_TYPES

_TYPES = {type.lower(): type for type in PAYER_TYPES}


def read_type(text: str | None, row: Row) -> str:
    """``medical`` or ``dental`` in any case. Without it, no action matches the request."""
    if text is None or not text.strip():
        raise Refusal(wire.no_action(row.family))
    type = _TYPES.get(text.strip().lower())
    if type is None:
        raise Refusal(wire.bad_parameter("type", text, "'medical' or 'dental'"))
    return type


def payers(which: Which) -> Handler:
    """The handler of one of the three lists."""

    async def answer(call: Call) -> Response:
        listing = call.desk.payers.listing(which, call.parameters["type"])
        return wire.payer_list(listing, call.headers.get("accept-encoding", ""))

    return answer
