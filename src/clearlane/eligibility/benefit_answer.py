"""What a payer answered to an inquiry about one patient, as it is stored and passed on.

    outcome = InquiryOutcome(answer=read_271.build_answer(...), x12=content)
    decode_outcome(encode_outcome(outcome))                    # as it is stored, sealed

An answer holds the typed values of the patient's part of the 271, with the codes of X12, amounts as ``Decimal`` and
days as ``date``. Their names in an API are made where that API is. Knows no API, no file and no database.
"""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Literal

import msgspec

from clearlane.eligibility.model import InquiryTrace
from clearlane.x12.views import benefits

ErrorKind = Literal["TA1", "999", "Connection"]
ANSWER: Literal["271"] = "271"
CONNECTION: Literal["Connection"] = "Connection"


# A stored struct: a new field has a default, so that answers stored before it can still be read. The views inside
# follow the same rule, since all their fields have defaults.
class AnswerStruct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stored part of an answer that prints which fields are filled, never their content."""

    def __repr__(self) -> str:
        filled = (name for name in self.__struct_fields__ if getattr(self, name))
        return f"{type(self).__name__}({', '.join(filled)})"


class AnswerError(AnswerStruct, frozen=True, kw_only=True):
    """An error of an envelope, of a refused file, or of a connection."""

    code: str = ""
    message: str = ""
    location: str = ""
    """Segment or loop; empty for an error that concerns the payer of the inquiry as a whole."""
    payer_text: str = ""
    """What the payer's service said of a failed connection, for operators only: it may name machines and accounts."""


class InterchangeStatus(AnswerStruct, frozen=True, kw_only=True):
    """A payer's acknowledgement of an interchange as a whole."""

    control_number: str = ""
    verdict: str = ""
    """TA104 or AK901."""
    code: str = ""
    message: str = ""


class BenefitAnswer(AnswerStruct, frozen=True, kw_only=True):
    """A payer's answer about one patient. Levels that the payer left out are filled from the inquiry."""

    document_id: str
    created_at: datetime
    group_control_number: str = ""
    """GS06."""
    sender_id: str = ""
    """ISA06."""
    path: str = ""
    """The patient's path in the request; empty if the inquiry is not known."""
    trace_number: str = ""
    """Ours, sent with the inquiry."""
    caller_trace: InquiryTrace | None = None
    envelope_errors: tuple[AnswerError, ...] = ()
    """Errors of the interchange, group and set envelopes."""
    transaction_refusals: tuple[benefits.RefusalView, ...] = ()
    """Refusals of the whole transaction (AAA in loop 2000A); the source has those of loop 2100A."""
    source: benefits.InformationSourceView | None = None
    receiver: benefits.InformationReceiverView | None = None
    subscriber: benefits.MemberView | None = None
    dependent: benefits.MemberView | None = None

    @property
    def patient(self) -> benefits.MemberView | None:
        """The patient: the dependent, else the subscriber."""
        return self.dependent or self.subscriber


class InquiryError(AnswerStruct, frozen=True, kw_only=True):
    """Why an inquiry got no 271: a refusal of its file, or a payer that was not reached."""

    kind: ErrorKind
    path: str = ""
    """The patient's path in the request; empty if the inquiry is not known."""
    caller_trace: InquiryTrace | None = None
    errors: tuple[AnswerError, ...] = ()
    status: InterchangeStatus | None = None


class InquiryOutcome(AnswerStruct, frozen=True, kw_only=True):
    """The stored result of an inquiry: an answer, or an error in its place, and the X12 that it is from."""

    answer: BenefitAnswer | None = None
    error: InquiryError | None = None
    x12: bytes = b""


class ValidationResult(AnswerStruct, frozen=True, kw_only=True):
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


def patient_share(benefit: benefits.BenefitView) -> Decimal | None:
    """Return the patient's share of a benefit as a fraction: 0.2 is twenty per cent."""
    # EB08 is a fraction. A value above one can only be meant as per cent: 20 becomes 0.2.
    fraction = benefit.fraction
    return fraction / 100 if fraction and fraction > 1 else fraction


def encode_outcome(outcome: InquiryOutcome) -> bytes:
    """Return the stored form of an outcome, to be sealed."""
    return _ENCODER.encode(outcome)


def decode_outcome(stored: bytes) -> InquiryOutcome:
    """Return the outcome that :func:`encode_outcome` was given."""
    return _OUTCOMES.decode(stored)


def encode_results(results: tuple[ValidationResult, ...]) -> bytes:
    """Return the stored form of validation results, to be sealed: the sentences may quote what was sent."""
    return _ENCODER.encode(results)


def decode_results(stored: bytes) -> tuple[ValidationResult, ...]:
    """Return the results that :func:`encode_results` was given."""
    return _RESULTS.decode(stored)


_ENCODER = msgspec.msgpack.Encoder()
_OUTCOMES = msgspec.msgpack.Decoder(InquiryOutcome)
_RESULTS = msgspec.msgpack.Decoder(tuple[ValidationResult, ...])
