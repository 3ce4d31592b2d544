"""How an inquiry to a payer ended, as it is stored and passed on: an answer, or an error in its place.

    encode_result(InquiryResult(answer=built, x12=content))        # as it is stored, sealed
    encode_result(InquiryResult(error=build_error(...)))

The type of the answer is that of the transaction, which decodes it. Knows no API, no file and no database.
"""

from enum import StrEnum
from typing import Generic, Literal, Protocol, TypeVar

import msgspec

from clearlane.kernel.redacted_repr import show_filled

V = TypeVar("V")

ErrorKind = Literal["TA1", "999", "Connection"]
CONNECTION: Literal["Connection"] = "Connection"


# A stored struct: a new field has a default, so that what was stored before it can still be read. The views in an
# answer follow the same rule, since all their fields have defaults.
class InquiryStruct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stored part of an inquiry or answer that prints which fields are filled, never their content."""

    __repr__ = show_filled


class InquiryTrace(InquiryStruct, frozen=True, kw_only=True):
    """The caller's trace number as the caller sent it."""

    number: str = ""
    originator: str = ""


class InquiryPayload(Protocol):
    """What the engine reads of an inquiry's content, which is of the transaction's own type."""

    @property
    def path(self) -> str:
        """Its path in the request."""
        ...

    @property
    def trace(self) -> InquiryTrace | None:
        """The caller's trace number, if there is one."""
        ...


class AnswerError(InquiryStruct, frozen=True, kw_only=True):
    """An error of an envelope, of a refused file, or of a connection."""

    code: str = ""
    message: str = ""
    location: str = ""
    """Segment or loop; empty for an error that concerns the payer of the inquiry as a whole."""
    payer_text: str = ""
    """What the payer's service said of a failed connection, for operators only: it may name machines and accounts."""


class InterchangeStatus(InquiryStruct, frozen=True, kw_only=True):
    """A payer's acknowledgement of an interchange as a whole."""

    control_number: str = ""
    verdict: str = ""
    """TA104 or AK901."""
    code: str = ""
    message: str = ""


class InquiryError(InquiryStruct, frozen=True, kw_only=True):
    """Why an inquiry got no answer: a refusal of its file, or a payer that was not reached."""

    kind: ErrorKind
    path: str = ""
    """The inquiry's path in the request; empty if the inquiry is not known."""
    caller_trace: InquiryTrace | None = None
    errors: tuple[AnswerError, ...] = ()
    status: InterchangeStatus | None = None


class InquiryResult(InquiryStruct, Generic[V], frozen=True, kw_only=True):
    """The stored result of an inquiry: an answer, or an error in its place, and the X12 that it is from."""

    answer: V | None = None
    error: InquiryError | None = None
    x12: bytes = b""


class ValidationResult(InquiryStruct, frozen=True, kw_only=True):
    """Why a part of a request could not be sent."""

    location: str
    """The path in the request."""
    code: str
    message: str


class RequestStatus(StrEnum):
    """The status of a whole request."""

    NOTHING_SENT = "nothing sent"
    INCOMPLETE = "incomplete"
    COMPLETE = "complete"


def request_status(sent: int, awaited: int) -> RequestStatus:
    """Return the status of a request for its counts of sent and unanswered inquiries."""
    if not sent:
        return RequestStatus.NOTHING_SENT
    return RequestStatus.INCOMPLETE if awaited else RequestStatus.COMPLETE


def build_error(
    kind: ErrorKind,
    inquiry: InquiryPayload | None,
    errors: tuple[AnswerError, ...],
    status: InterchangeStatus | None = None,
) -> InquiryError:
    """Return the error of an inquiry whose file was refused, or that did not reach its payer."""
    return InquiryError(
        kind=kind,
        path=inquiry.path if inquiry else "",
        caller_trace=inquiry.trace if inquiry else None,
        errors=errors,
        status=status,
    )


def encode_result(result: InquiryResult[V]) -> bytes:
    """Return the stored form of a result, to be sealed."""
    return _ENCODER.encode(result)


def encode_results(results: tuple[ValidationResult, ...]) -> bytes:
    """Return the stored form of validation results, to be sealed: the sentences may quote what was sent."""
    return _ENCODER.encode(results)


def decode_results(stored: bytes) -> tuple[ValidationResult, ...]:
    """Return the results that :func:`encode_results` was given."""
    return _RESULTS.decode(stored)


_ENCODER = msgspec.msgpack.Encoder()
_RESULTS = msgspec.msgpack.Decoder(tuple[ValidationResult, ...])
