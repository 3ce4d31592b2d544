"""Claim status: two days are read, the rows between them are streamed. Decodes, asks, encodes."""

import re
from datetime import date

from pydantic import BaseModel
from starlette.responses import Response

from clearlane.api.endpoint import Call, Parameter, Row
from clearlane.api.errors import Refusal
from clearlane.api.stream import array
from clearlane.api.v3 import wire
from clearlane.kernel import formats
from clearlane.pipeline.query.list_statuses import list_statuses


class ClaimStatus(BaseModel):
    """Where one claim stands."""

    VendorId: int
    VendorSiteId: str
    ClaimNumber: str
    CurrentState: str
    StateChangeDate: date
    PayerAction: str
    PayerActionDate: date
    PayerControlNumber: str
    CreateDate: date
    LastUpdateDate: date
    RelatedDocumentType: str
    RelatedDocumentId: str
    TotalClaimAmount: float
    PayerAmount: float
    Adjustments: float
    PatientAmount: float
    PayerName: str | None
    PaymentMethod: str | None
    PaymentReferenceNumber: str
    PaymentEffectiveDate: date
    VendorClaimId: str


# A day as .NET clients put it into a query: month first, with or without a time.
_AMERICAN = re.compile(
    r"(\d{1,2})/(\d{1,2})/(\d{4})(?: \d{1,2}:\d\d(?::\d\d)?(?: [AP]M)?)?", re.ASCII | re.IGNORECASE
)
_ISO_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,7})?)?(?:Z|[ +-]\d\d:\d\d)?",
    re.ASCII | re.IGNORECASE,
)


def day_named(name: str) -> Parameter:
    """The row of a parameter that is a day."""

    def read(text: str | None, row: Row) -> date:
        found = read_day(text or "")
        if found is None:
            raise Refusal(wire.null_entry(name, "System.DateTime", row.name))
        return found

    return Parameter(
        name=name,
        help="`YYYY-MM-DD`; included.",
        read=read,
        schema={"type": "string", "format": "date"},
    )


def read_day(text: str) -> date | None:
    """A day in any of the forms that clients send; a time is let go."""
    text = text.strip()
    timed = _ISO_TIME.fullmatch(text)
    american = _AMERICAN.fullmatch(text)
    if american:
        month, day, year = american.groups()
        text = f"{year}-{month:0>2}-{day:0>2}"
    return formats.iso_date(timed[1] if timed else text)


async def status_by_date(call: Call) -> Response:
    """The handler of the status list."""
    first, last = call.parameters["startDate"], call.parameters["endDate"]
    if first > last:
        raise Refusal(
            wire.message_detail(400, wire.INVALID, "The startDate is later than the endDate.")
        )
    pages = list_statuses(
        call.desk.database,
        call.desk.vault,
        first,
        last,
        scope=call.site.scope,
        actor=call.actor,
        now=call.now,
    )
    return await array(pages, wire.JSON)
