"""The handler of the claim status list: decode two dates, stream the rows between them."""

import re
from datetime import date

from starlette.responses import Response

from clearlane.api.endpoint import Call, Endpoint, Parameter
from clearlane.api.errors import RequestRefusal
from clearlane.api.http_responses import JSON
from clearlane.api.stream import stream_array
from clearlane.api.v3 import wire
from clearlane.api.v3.status_rows import encode_rows
from clearlane.kernel import formats
from clearlane.pipeline.query.list_statuses import list_statuses

# A date as .NET clients put it into a query: month first, with or without a time.
_AMERICAN = re.compile(
    r"(\d{1,2})/(\d{1,2})/(\d{4})(?: \d{1,2}:\d\d(?::\d\d)?(?: [AP]M)?)?", re.ASCII | re.IGNORECASE
)
_ISO_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,7})?)?(?:Z|[ +-]\d\d:\d\d)?",
    re.ASCII | re.IGNORECASE,
)


def date_parameter(name: str) -> Parameter:
    """Return a query parameter that is a date."""

    def read(text: str | None, endpoint: Endpoint) -> date:
        found = read_date(text or "")
        if found is None:
            raise RequestRefusal(wire.null_entry(name, "System.DateTime", endpoint.name))
        return found

    return Parameter(
        name=name,
        help="`YYYY-MM-DD`; included.",
        read=read,
        schema={"type": "string", "format": "date"},
    )


def read_date(text: str) -> date | None:
    """Return a date in any of the forms that clients send, ignoring a time; None if it is none."""
    text = text.strip()
    timed = _ISO_TIME.fullmatch(text)
    american = _AMERICAN.fullmatch(text)
    if american:
        month, day, year = american.groups()
        text = f"{year}-{month:0>2}-{day:0>2}"
    return formats.parse_iso_date(timed[1] if timed else text)


async def status_by_date(call: Call) -> Response:
    """Return the status of all claims created between two dates."""
    first, last = call.parameters["startDate"], call.parameters["endDate"]
    if first > last:
        raise RequestRefusal(
            wire.message_detail(400, wire.INVALID, "The startDate is later than the endDate.")
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
    return await stream_array(rows, JSON)
