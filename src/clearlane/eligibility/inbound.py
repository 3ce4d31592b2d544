"""What came back, as values: an answer about one patient, a refusal of a file, and all that a file holds.

Knows the values of views; knows no bytes of the format.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from clearlane.eligibility import response
from clearlane.x12 import tree
from clearlane.x12.views import benefits, shared_types


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Answer:
    """What a 271 says of one patient: the levels around it, and as much of them as there is."""

    group: str
    """GS06."""
    sender: str
    """ISA06."""
    reference: str
    """BHT03, which echoes that of the 270."""
    source: benefits.Source | None
    receiver: benefits.Receiver | None
    subscriber: benefits.Member | None
    dependent: benefits.Member | None
    troubles: tuple[response.Trouble, ...]
    """What is wrong with the envelope."""
    above: int = 0
    """How many of the source's refusals stand above the payer (2000A), and so speak of the whole transaction."""
    other: tuple[tree.Segment, ...]
    make_content: Callable[[], bytes]

    @property
    def content(self) -> bytes:
        """The 271 with this patient only."""
        return self.make_content()

    def __repr__(self) -> str:
        return f"Answer(group {self.group})"

    @property
    def patient(self) -> benefits.Member | None:
        """Who is spoken of: the dependent, else the subscriber."""
        return self.dependent or self.subscriber

    @property
    def traces(self) -> tuple[shared_types.Trace, ...]:
        """The trace numbers of the patient and of the subscriber."""
        members = (self.dependent, self.subscriber)
        return tuple(trace for member in members if member for trace in member.traces)

    @property
    def refusals(self) -> Iterator[benefits.Refusal]:
        """The refusals of every level."""
        for level in (self.source, self.receiver, self.subscriber, self.dependent):
            yield from level.refusals if level else ()
        for member in (self.subscriber, self.dependent):
            for benefit in member.benefits if member else ():
                yield from benefit.refusals


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Refusal:
    """A TA1 or 999 that refuses what we sent."""

    kind: str
    """TA1 or 999."""
    control: str
    """The control number of our interchange (TA1) or group (999)."""
    set_control: str
    """ST02 of the refused set; empty where everything is refused."""
    status: response.InterchangeStatus
    troubles: tuple[response.Trouble, ...]
    content: bytes

    def __repr__(self) -> str:
        return f"Refusal({self.kind} of {self.control})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Everything a file says."""

    answers: tuple[Answer, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    readable: bool = False
    """Whether it was X12 at all."""


class Match(StrEnum):
    """Whether an answer belongs to a question."""

    OURS = "ours"
    WRONG_PATIENT = "wrong patient"
    WRONG_PAYER = "wrong payer"
