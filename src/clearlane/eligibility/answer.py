"""Compose the whole response to an eligibility request from the stored results of its patients.

    encode_element(response)                     # once, when the payer has answered for a patient
    compose_response(request_id, status, responses=..., results=..., errors=...)      # for each call

Elements are stored as JSON, so composing a response only concatenates bytes.

Knows the outermost object of the response; knows no 271, no store and no clock.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Literal

import msgspec

from clearlane.eligibility.response import (
    BenefitResponseJson,
    ErrorResponseJson,
    InterchangeStatusJson,
)
from clearlane.eligibility.rules import ValidationResultJson
from clearlane.eligibility.wire_struct import WireStruct


class RequestStatus(StrEnum):
    """The status of a whole request."""

    ALL_INVALID = "AllInvalid"
    COMPLETE = "ResultsComplete"
    INCOMPLETE = "ResultsIncomplete"


class EligibilityResponseJson(WireStruct, frozen=True, kw_only=True):
    """The response to both eligibility calls."""

    RequestId: int
    Status: Literal["AllInvalid", "ResultsComplete", "ResultsIncomplete"]
    Responses: tuple[BenefitResponseJson, ...] = ()
    ValidationResults: tuple[ValidationResultJson, ...] = ()
    ErrorResponses: tuple[ErrorResponseJson, ...] = ()
    InterchangeStatuses: tuple[InterchangeStatusJson, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InquiryOutcome:
    """The stored JSON result of one patient's inquiry: a response, or an error with an interchange status."""

    response: bytes = b""
    error: bytes = b""
    status: bytes = b""

    def __repr__(self) -> str:
        return f"InquiryOutcome({', '.join(f.name for f in fields(self) if getattr(self, f.name))})"


def encode_element(element: WireStruct) -> bytes:
    """Return the JSON of an element, as it is stored and sent."""
    return _ENCODER.encode(element)


def add_document(outcome: InquiryOutcome, content: bytes) -> InquiryOutcome:
    """Return the outcome with the X12 file in its ``X12Document`` field."""
    # No text value can look like the empty field, because quotes inside JSON texts are escaped.
    document = b'"X12Document":' + _ENCODER.encode(content.decode("latin-1"))
    return replace(
        outcome,
        response=outcome.response.replace(_NO_DOCUMENT, document, 1),
        error=outcome.error.replace(_NO_DOCUMENT, document, 1),
    )


async def compose_response(
    request_id: int,
    status: RequestStatus,
    *,
    responses: AsyncIterator[Sequence[InquiryOutcome]],
    results: bytes,
    errors: AsyncIterator[Sequence[InquiryOutcome]],
) -> AsyncIterator[bytes]:
    """Yield the response in pieces, with one page of outcomes in memory at a time.

    ``results`` is the JSON array of validation results.
    """
    yield b'{"RequestId":%d,"Status":"%b","Responses":[' % (request_id, status.encode())
    separator = b""
    async for page in responses:
        yield separator + b",".join(outcome.response for outcome in page)
        separator = b","
    yield b'],"ValidationResults":%b,"ErrorResponses":[' % results
    # One interchange may hold many patients, but its status is listed once.
    statuses: dict[bytes, None] = {}
    separator = b""
    async for page in errors:
        yield separator + b",".join(outcome.error for outcome in page)
        separator = b","
        statuses |= dict.fromkeys(outcome.status for outcome in page if outcome.status)
    yield b'],"InterchangeStatuses":[%b]}' % b",".join(statuses)


def request_status(sent: int, awaited: int) -> RequestStatus:
    """Return the status of a request for its counts of sent and unanswered inquiries."""
    if not sent:
        return RequestStatus.ALL_INVALID
    return RequestStatus.INCOMPLETE if awaited else RequestStatus.COMPLETE


def decode_response(body: bytes) -> EligibilityResponseJson:
    """Return the structs of a response body."""
    return _DECODER.decode(body)


_NO_DOCUMENT = b'"X12Document":null'
# Amounts are JSON numbers with the digits of the file, such as 20.00.
_ENCODER = msgspec.json.Encoder(decimal_format="number")
_DECODER = msgspec.json.Decoder(EligibilityResponseJson)
