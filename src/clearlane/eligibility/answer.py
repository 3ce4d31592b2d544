"""The whole response of a request, put together from what was kept of each patient.

    kept = keep(response)                        # an element, once, when the payer has answered
    compose(request_id, status, answered=..., results=..., refused=...)      # as often as somebody asks

Elements stay JSON from the moment they are kept, so putting them together costs no more than copying them.

Knows the response's outermost shape; knows no 271, no store and no clock.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Literal

import msgspec

from clearlane.eligibility.response import BenefitResponse, ErrorResponse, InterchangeStatus
from clearlane.eligibility.rules import ValidationResult
from clearlane.eligibility.wire_struct import Shape


class Status(StrEnum):
    """How far a request is."""

    ALL_INVALID = "AllInvalid"
    COMPLETE = "ResultsComplete"
    INCOMPLETE = "ResultsIncomplete"


class EligibilityResponse(Shape, frozen=True, kw_only=True):
    """The answer to both eligibility calls."""

    RequestId: int
    Status: Literal["AllInvalid", "ResultsComplete", "ResultsIncomplete"]
    Responses: tuple[BenefitResponse, ...] = ()
    ValidationResults: tuple[ValidationResult, ...] = ()
    ErrorResponses: tuple[ErrorResponse, ...] = ()
    InterchangeStatuses: tuple[InterchangeStatus, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Outcome:
    """What became of one patient's inquiry, as kept: a response, or an error and what was said of the interchange."""

    response: bytes = b""
    error: bytes = b""
    status: bytes = b""

    def __repr__(self) -> str:
        return f"Outcome({', '.join(f.name for f in fields(self) if getattr(self, f.name))})"


def keep(element: Shape) -> bytes:
    """An element as it is kept and sent."""
    return _ENCODER.encode(element)


def with_document(outcome: Outcome, content: bytes) -> Outcome:
    """The same with the file it was made of. No text of an element can look like the field: its quotes are escaped."""
    document = b'"X12Document":' + _ENCODER.encode(content.decode("latin-1"))
    return replace(
        outcome,
        response=outcome.response.replace(_NO_DOCUMENT, document, 1),
        error=outcome.error.replace(_NO_DOCUMENT, document, 1),
    )


async def compose(
    request_id: int,
    status: Status,
    *,
    answered: AsyncIterator[Sequence[Outcome]],
    results: bytes,
    refused: AsyncIterator[Sequence[Outcome]],
) -> AsyncIterator[bytes]:
    """The response in pieces, a page of outcomes in memory at a time. ``results`` is a JSON array."""
    yield b'{"RequestId":%d,"Status":"%b","Responses":[' % (request_id, status.encode())
    between = b""
    async for page in answered:
        yield between + b",".join(outcome.response for outcome in page)
        between = b","
    yield b'],"ValidationResults":%b,"ErrorResponses":[' % results
    # One interchange may hold many patients; what was said of it is said once.
    statuses: dict[bytes, None] = {}
    between = b""
    async for page in refused:
        yield between + b",".join(outcome.error for outcome in page)
        between = b","
        statuses |= dict.fromkeys(outcome.status for outcome in page if outcome.status)
    yield b'],"InterchangeStatuses":[%b]}' % b",".join(statuses)


def status_of(sent: int, awaited: int) -> Status:
    """Nothing sent; everything answered; or something awaited."""
    if not sent:
        return Status.ALL_INVALID
    return Status.INCOMPLETE if awaited else Status.COMPLETE


def restore(body: bytes) -> EligibilityResponse:
    """The response that was sent, as structures again."""
    return _DECODER.decode(body)


_NO_DOCUMENT = b'"X12Document":null'
# Amounts are numbers, digit for digit.
_ENCODER = msgspec.json.Encoder(decimal_format="number")
_DECODER = msgspec.json.Decoder(EligibilityResponse)
