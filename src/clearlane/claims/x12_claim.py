"""A claim of a sender's 837 file, as it is stored: its own segments with those of the levels around it.

    claim.parts[-1].segments                # the claim's own segments, each a list of elements
    claim.number_of(31)                     # where the sender's file has its 31st segment

The value is self-contained: it can be read, judged and written without the file that it came in. Texts are in the
engine's canonical separators; ``delimiters`` are those of the file.

Knows segments and their numbers; knows no loop and no value in them.
"""

from collections.abc import Iterator, Sequence

import msgspec

from clearlane.kernel.redacted_repr import shows
from clearlane.x12.delimiters import CANONICAL, Delimiters

ADDED = 0
"""The number of a segment that a correction added: the sender's file does not have it."""


@shows("loop", "first")
class X12Part(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """The segments of one level that a claim is in, or of the claim itself. They follow each other in the file."""

    loop: str
    """2000A, 2000B, 2000C or 2300."""
    first: int
    """The number of its first segment in the sender's file."""
    text: str
    """The segments, with a ``~`` between two."""
    numbers: tuple[int, ...] = ()
    """The numbers of its segments in the sender's file, if a correction added or removed one; ``ADDED`` for an added one."""

    @property
    def segments(self) -> list[list[str]]:
        """The segments, each a list of its id and elements."""
        return [segment.split("*") for segment in self.text.split("~")]

    def segment_numbers(self) -> Sequence[int]:
        """Return the numbers of its segments in the sender's file."""
        return self.numbers or range(self.first, self.first + self.text.count("~") + 1)


ENCOUNTER = "RP"
"""The type of a claim (BHT06) that reports what was done and asks for no money."""


@shows("transaction")
class X12Claim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, dict=True):
    """A claim of an 837 file. Its form notes in ``__dict__`` what was made from it, which is no part of its value."""

    transaction: str
    """837P, 837D or 837I."""
    parts: tuple[X12Part, ...]
    """The levels around the claim from the outside in (2000A, 2000B, perhaps 2000C), then the claim (2300)."""
    delimiters: Delimiters = CANONICAL
    usage: str = "P"
    """ISA15 of the sender's file: P for production, T for a test."""
    claim_type: str = "CH"
    """BHT06: CH for a claim to be paid, RP for a report of an encounter, 31 for a subrogation."""
    sender_trace: str = ""
    """The sender's own REF*D9, in place of which ours is sent; empty if it has none."""
    vendor_claim_id: str = ""
    """The vendor's claim id, of a claim that was made from another one; empty if CLM01 is the id."""

    def part(self, loop: str) -> X12Part | None:
        """Return the part of a level; None if the claim has no such level."""
        return next((part for part in self.parts if part.loop == loop), None)

    def segment_numbers(self) -> list[int]:
        """Return the numbers of all its segments in the sender's file, in order."""
        return [number for part in self.parts for number in part.segment_numbers()]

    def with_part(self, changed: X12Part) -> "X12Claim":
        """Return the claim with another part in place of the one of the same loop."""
        parts = tuple([changed if part.loop == changed.loop else part for part in self.parts])
        return msgspec.structs.replace(self, parts=parts)

    def numbered_segments(self) -> Iterator[tuple[int, str, list[str]]]:
        """Yield the segments with their numbers in the sender's file and the loop of their part."""
        for part in self.parts:
            for number, segment in zip(part.segment_numbers(), part.segments, strict=True):
                yield number, part.loop, segment


def is_claim_trace(segment: Sequence[str]) -> bool:
    """Return whether a segment is the intermediary's number of a claim (REF*D9), in whose place another's is sent."""
    return segment[:2] == ["REF", "D9"]


encode_x12_claim = msgspec.json.Encoder().encode
decode_x12_claim = msgspec.json.Decoder(X12Claim).decode
