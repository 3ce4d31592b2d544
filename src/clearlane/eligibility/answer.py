"""The whole response of a request, put together from what was kept of each patient.

    kept = keep(response)                        # an element, once, when the payer has answered
    assemble(request_id, outcomes, results)      # as often as somebody asks
    encode(assembled)

Elements stay JSON from the moment they are kept, so putting them together costs no more than copying them.

Knows the response's outermost shape; knows no 271, no store and no clock.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Literal

import msgspec

from clearlane.eligibility.response import BenefitResponse, ErrorResponse, InterchangeStatus
from clearlane.eligibility.rules import ValidationResult
from clearlane.eligibility.shape import Shape


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


class Assembled(msgspec.Struct, frozen=True):
    """The response with its elements still in JSON."""

    RequestId: int
    Status: Status
    Responses: list[msgspec.Raw]
    ValidationResults: Sequence[ValidationResult]
    ErrorResponses: list[msgspec.Raw]
    InterchangeStatuses: list[msgspec.Raw]

    def __repr__(self) -> str:
        return f"Assembled({self.RequestId}, {self.Status})"


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


def assemble(
    request_id: int,
    outcomes: Iterable[Outcome | None],
    results: Sequence[ValidationResult],
) -> Assembled:
    """The response as it is now: one outcome for each patient that was sent, None while it is awaited."""
    sent = list(outcomes)
    told = [outcome for outcome in sent if outcome is not None]
    # One interchange may hold many patients; what was said of it is said once.
    statuses = dict.fromkeys(outcome.status for outcome in told if outcome.status)
    return Assembled(
        request_id,
        status_of(sent),
        [msgspec.Raw(outcome.response) for outcome in told if outcome.response],
        results,
        [msgspec.Raw(outcome.error) for outcome in told if outcome.error],
        [msgspec.Raw(status) for status in statuses],
    )


def status_of(outcomes: Sequence[Outcome | None]) -> Status:
    """Nothing sent; everything answered; or something awaited."""
    if not outcomes:
        return Status.ALL_INVALID
    return Status.INCOMPLETE if None in outcomes else Status.COMPLETE


def encode(assembled: Assembled) -> bytes:
    """The response as it is sent."""
    return _ENCODER.encode(assembled)


def restore(body: bytes) -> EligibilityResponse:
    """The response that was sent, as structures again."""
    return _DECODER.decode(body)


_NO_DOCUMENT = b'"X12Document":null'
# Amounts are numbers, digit for digit.
_ENCODER = msgspec.json.Encoder(decimal_format="number")
_DECODER = msgspec.json.Decoder(EligibilityResponse)
