"""One inquiry of a sender's own file: its levels as they were written, and why its payer is not asked.

    reader = SentReader(set)                      # the heading of the set was read
    reader.next_inquiry(SentPatient, "patients", levels)

What an inquiry asks, the transaction knows (``eligibility.read_270``, ``claims.inquiry.read_276``). Knows no directory of
payers and no store.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from clearlane.inquiry.inquiry_result import InquiryTrace
from clearlane.inquiry.sender_levels import SentLevels, first_segment
from clearlane.x12 import tree
from clearlane.x12.tree import Segment, get_element

KEPT_ELEMENTS = {"ISA": (6, 8, 13), "GS": (2, 3, 6), "ST": (2,), "BHT": (3,)}


class Refusal(StrEnum):
    """Why a sender's inquiry has no answer of a payer. Each transaction has its own codes for them."""

    PAYER_UNKNOWN = "payer_unknown"
    PAYER_NOT_ASKED = "payer_not_asked"
    """The payer takes no such inquiries here, or none in real time."""
    OTHER_PROVIDER = "other_provider"
    """The provider bills through another site alone."""
    NOT_ENROLLED = "not_enrolled"
    """The payer answers enrolled providers only, and the enrollment of this one does not count now."""
    TOO_MANY = "too_many"
    NO_ANSWER = "no_answer"
    """No answer came; the same may be asked again."""
    NOT_TAKEN = "not_taken"
    """The payer refused the inquiry as a file; the same would be refused again."""


@dataclass(frozen=True, slots=True, repr=False)
class SentInquiry:
    """An inquiry of a sender's file, with the levels above."""

    path: str
    """Its place in the set: patients[1] is the first."""
    levels: SentLevels
    """The segments of each level, outermost first, HL first; what is asked about is in the last."""
    purpose: str
    """BHT02."""
    transaction_type: str
    """BHT06."""
    foreign: Mapping[int, str]
    """What stands for a usual separator in its texts, if it uses others; see ``Delimiters.blank_foreign``."""
    envelope: Mapping[str, str]
    """The sender's ids and control numbers, by element, as CORE has an intermediary keep them."""

    @property
    def payer(self) -> Segment:
        """NM1 of the information source."""
        return first_segment(self.levels[0], "NM1")

    @property
    def payer_id(self) -> str:
        """The payer's id as the sender wrote it."""
        return get_element(self.payer, 9).strip()

    @property
    def traces(self) -> list[Segment]:
        """The sender's trace numbers."""
        return [segment for segment in self.levels[-1] if segment[0] == "TRN"]

    @property
    def trace(self) -> InquiryTrace | None:
        """The sender's first trace number."""
        first = next(iter(self.traces), None)
        if first is None:
            return None
        return InquiryTrace(number=get_element(first, 2), originator=get_element(first, 3))


S = TypeVar("S", bound=SentInquiry)


class SentReader:
    """Makes the inquiries of one set, and numbers them."""

    def __init__(self, set: tree.TransactionSet) -> None:
        """The heading of the set must have been read."""
        bht = set.root.segment("BHT") or []
        self._purpose, self._type = get_element(bht, 2) or "13", get_element(bht, 6)
        self._foreign = set.group.interchange.delimiters.blank_foreign()
        self._envelope = _envelope(set)
        self._count = 0

    def next_inquiry(self, type: type[S], plural: str, levels: SentLevels) -> S:
        """Return the next inquiry of the set; ``plural`` is what its path counts."""
        self._count += 1
        path = f"{plural}[{self._count}]"
        return type(path, levels, self._purpose, self._type, self._foreign, self._envelope)


def _envelope(set: tree.TransactionSet) -> dict[str, str]:
    """Return what CORE has an intermediary keep of the envelope; TRN02 is kept with the inquiry."""
    segments = {
        "ISA": set.group.interchange.header, "GS": set.group.header, "ST": set.header,
        "BHT": set.root.segment("BHT") or [],
    }  # fmt: skip
    return {
        f"{id}{at:02}": get_element(segments[id], at).strip()
        for id, elements in KEPT_ELEMENTS.items()
        for at in elements
    }
