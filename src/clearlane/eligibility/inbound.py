"""The part of a 271 about one patient, as it was read from a payer's file.

Knows the values of views; knows no bytes of the format.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from clearlane.inquiry.inquiry_result import AnswerError
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
