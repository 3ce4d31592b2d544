"""Values read from a payer's file: answers about patients, and refusals of our files.

Knows the values of views; knows no bytes of the format.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from clearlane.eligibility.benefit_answer import AnswerError, InterchangeStatus
from clearlane.x12.views import benefits, shared_types


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PatientAnswer:
    """The part of a 271 about one patient: its levels, as far as the payer sent them."""

    group_control_number: str
    """GS06."""
    sender_id: str
    """ISA06."""
    reference: str
    """BHT03, which echoes that of the 270."""
    source: benefits.InformationSourceView | None
    receiver: benefits.InformationReceiverView | None
    subscriber: benefits.MemberView | None
    dependent: benefits.MemberView | None
    envelope_errors: tuple[AnswerError, ...]
    """Errors of the interchange, group and set envelopes."""
    transaction_refusal_count: int = 0
    """How many of the source's refusals are in loop 2000A and so concern the whole transaction."""
    make_content: Callable[[], bytes]

    @property
    def content(self) -> bytes:
        """The 271 with this patient only."""
        return self.make_content()

    def __repr__(self) -> str:
        return f"PatientAnswer(group {self.group_control_number})"

    @property
    def patient(self) -> benefits.MemberView | None:
        """The patient: the dependent, else the subscriber."""
        return self.dependent or self.subscriber

    @property
    def traces(self) -> tuple[shared_types.TraceView, ...]:
        """The trace numbers of the patient and of the subscriber."""
        members = (self.dependent, self.subscriber)
        return tuple(trace for member in members if member for trace in member.traces)

    @property
    def refusals(self) -> Iterator[benefits.RefusalView]:
        """The refusals of every level."""
        for level in (self.source, self.receiver, self.subscriber, self.dependent):
            yield from level.refusals if level else ()
        for member in (self.subscriber, self.dependent):
            for benefit in member.benefits if member else ():
                yield from benefit.refusals


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FileRefusal:
    """A TA1 or 999 that rejects a file we sent."""

    kind: Literal["TA1", "999"]
    control_number: str
    """The control number of our interchange (TA1) or group (999)."""
    set_control_number: str
    """ST02 of the rejected set; empty if the whole interchange or group is rejected."""
    status: InterchangeStatus
    errors: tuple[AnswerError, ...]
    content: bytes

    def __repr__(self) -> str:
        return f"FileRefusal({self.kind} of {self.control_number})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFile:
    """The answers and refusals of one file."""

    answers: tuple[PatientAnswer, ...] = ()
    refusals: tuple[FileRefusal, ...] = ()
    is_x12: bool = False
    """Whether the file is X12 at all."""


class AnswerMatch(StrEnum):
    """The result of comparing an answer with an inquiry."""

    MATCHED = "matched"
    WRONG_PATIENT = "wrong patient"
    WRONG_PAYER = "wrong payer"
