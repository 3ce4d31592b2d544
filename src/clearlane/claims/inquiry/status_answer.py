"""What a payer answered to a question about a claim, as it is stored, and what it means in words.

    answer = read_277.build_answer(...)                  # stored with the question, sealed
    answer.result                                        # AnswerResult.NOT_FOUND
    status_complaints(answer)                            # every status, for ``provenance`` to explain by field

Knows codes; knows no file, no field and no database.
"""

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias

import msgspec

from clearlane.claims.inquiry.answer_result import ANSWER, RESULT_ORDER, AnswerResult, result_of
from clearlane.claims.responses.facts import Complaint
from clearlane.inquiry.inquiry_result import InquiryResult, InquiryStruct, InquiryTrace
from clearlane.x12.views.status import StatusLineView, StatusView

LINE_CONTROL = "FJ"


class StatusAnswer(InquiryStruct, frozen=True, kw_only=True):
    """A payer's answer to one question."""

    created_at: datetime
    level: str
    """claim, provider or receiver: an answer above the claim says nothing about it."""
    trace_number: str = ""
    """Ours, sent with the question."""
    path: str = ""
    """The path of the question in a sender's file."""
    caller_trace: InquiryTrace | None = None
    payer_name: str = ""
    payer_control_number: str = ""
    statuses: tuple[StatusView, ...] = ()
    lines: tuple[StatusLineView, ...] = ()
    is_of_other_claim: bool = False
    """Whether what it states does not agree with the claim that was asked about."""

    @property
    def result(self) -> AnswerResult:
        """What it says of the claim."""
        if self.is_of_other_claim:
            return AnswerResult.OTHER_CLAIM
        return weightiest_result(self.statuses, self.lines)

    @property
    def paid(self) -> Decimal | None:
        """What the payer says it pays (STC05). The 835 decides."""
        return next((one.paid for one in self.statuses if one.paid is not None), None)

    @property
    def check_number(self) -> str:
        """The number of the check or transfer (STC09)."""
        return next((one.check for one in self.statuses if one.check), "")

    @property
    def paid_on(self) -> date | None:
        """The day of the check or transfer (STC08)."""
        return next((one.paid_on for one in self.statuses if one.paid_on), None)


StatusResult: TypeAlias = InquiryResult[StatusAnswer]
"""The stored result of a question."""


def weightiest_result(
    statuses: Iterable[StatusView], lines: Iterable[StatusLineView]
) -> AnswerResult:
    """Return the result that counts among those of a claim and its lines."""
    found = {
        result_of(code.category)
        for status in (*statuses, *(one for line in lines for one in line.statuses))
        for code in status.codes
    }
    return next((one for one in RESULT_ORDER if one in found), AnswerResult.MESSAGE)


def status_complaints(answer: StatusAnswer) -> Iterator[Complaint]:
    """Yield every status of an answer, those of its lines after its own."""
    for status in answer.statuses:
        yield from _complaints(status, answer.level)
    for line in answer.lines:
        control = next((ref.value for ref in line.references if ref.qualifier == LINE_CONTROL), "")
        for status in line.statuses:
            yield from _complaints(status, "line", control)


def _complaints(status: StatusView, level: str, control: str = "") -> Iterator[Complaint]:
    for code in status.codes:
        yield Complaint(
            source=ANSWER, code=code.status, level=level, category=code.category,
            entity=code.entity, text=status.message, control=control,
        )  # fmt: skip


def decode_result(stored: bytes) -> StatusResult:
    """Return the result that ``encode_result`` was given."""
    return _RESULT.decode(stored)


_RESULT = msgspec.msgpack.Decoder(InquiryResult[StatusAnswer])
