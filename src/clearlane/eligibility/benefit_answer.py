"""What a payer answered to an inquiry about one patient, as it is stored and passed on.

    result = InquiryResult(answer=read_271.build_answer(...), x12=content)
    decode_result(encode_result(result))                    # as it is stored, sealed

An answer holds the typed values of the patient's part of the 271, with the codes of X12, amounts as ``Decimal`` and
days as ``date``. Their names in an API are made where that API is. Knows no API, no file and no database.
"""

from datetime import datetime
from decimal import Decimal
from typing import Literal, TypeAlias

import msgspec

from clearlane.inquiry.inquiry_result import (
    AnswerError,
    InquiryResult,
    InquiryStruct,
    InquiryTrace,
)
from clearlane.x12.views import benefits

ANSWER: Literal["271"] = "271"


class BenefitAnswer(InquiryStruct, frozen=True, kw_only=True):
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


BenefitResult: TypeAlias = InquiryResult[BenefitAnswer]
"""The stored result of an eligibility inquiry."""


def patient_share(benefit: benefits.BenefitView) -> Decimal | None:
    """Return the patient's share of a benefit as a fraction: 0.2 is twenty per cent."""
    # EB08 is a fraction. A value above one can only be meant as per cent: 20 becomes 0.2.
    fraction = benefit.fraction
    return fraction / 100 if fraction and fraction > 1 else fraction


def decode_result(stored: bytes) -> BenefitResult:
    """Return the result that ``encode_result`` was given."""
    return _OUTCOMES.decode(stored)


_OUTCOMES = msgspec.msgpack.Decoder(BenefitResult)
