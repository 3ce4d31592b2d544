"""Compare a claim of a sender's file with what would be sent of it, segment by segment.

    for place in passing_differences(came, written): ...       # "2300/NTE (segment 41): element 2"

Left out is what an intermediary changes: the numbers of levels, REF*D9, the payer's id, separators, and letters that are
written as plain or capital ones. What is left should be nothing. Names places, never values.
"""

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest

from clearlane.claims.forms.x12_loops import claim_of_unit
from clearlane.claims.x12_claim import X12Claim, is_claim_trace
from clearlane.x12.reader import reader
from clearlane.x12.writer.encode import clean

CLAIM = "2300"
PAYER_ID = 9
"""NM109 of the payer."""

NumberedSegment = tuple[int, list[str]]


def passing_differences(came: X12Claim, written: bytes) -> Iterator[str]:
    """Yield where the interchange that would be sent differs from the claim as it came, beyond what is meant."""
    sent = [
        claim_of_unit(event)
        for event in reader.read(written, check=False)
        if isinstance(event, reader.UnitClosed)
    ]
    if len(sent) != 1:
        yield f"It holds {len(sent)} claims"
        return
    before, after = _segments(came), _segments(sent[0])
    for loop in dict.fromkeys([*before, *after]):
        yield from _differences(loop, before.get(loop, []), after.get(loop, []))


def _segments(claim: X12Claim) -> dict[str, list[NumberedSegment]]:
    """Return the segments of a claim that should not change, by level, in the letters in which they are compared."""
    found: dict[str, list[NumberedSegment]] = {}
    for number, loop, segment in claim.numbered_segments():
        if segment[0] == "HL" or (loop == CLAIM and is_claim_trace(segment)):
            continue
        compared = [_letters(element) for element in segment]
        if loop != CLAIM and compared[:2] == ["NM1", "PR"]:
            compared[PAYER_ID:] = []
        found.setdefault(loop, []).append((number, compared))
    return found


def _letters(element: str) -> str:
    """Return an element in capital letters, those that X12 cannot carry as plain ones."""
    return element.upper() if element.isascii() else clean(element)[0]


def _differences(
    loop: str, before: list[NumberedSegment], after: list[NumberedSegment]
) -> Iterator[str]:
    if [segment for _, segment in before] == [segment for _, segment in after]:
        return
    texts, sent_texts = (["*".join(segment) for _, segment in part] for part in (before, after))
    matched = SequenceMatcher(None, texts, sent_texts, autojunk=False)
    for act, start, end, first, last in matched.get_opcodes():
        if act == "equal":
            continue
        for came, sent in zip_longest(before[start:end], after[first:last]):
            if came is None:
                yield f"{loop}/{sent[1][0]}: it is sent, and did not come"
            elif sent is None or came[1][0] != sent[1][0]:
                yield f"{loop}/{came[1][0]} (segment {came[0]}): it is not sent as it came"
            else:
                yield f"{loop}/{came[1][0]} (segment {came[0]}): {_elements(came[1], sent[1])}"


def _elements(came: list[str], sent: list[str]) -> str:
    changed = [
        str(at)
        for at, (one, other) in enumerate(zip_longest(came, sent, fillvalue=""))
        if one != other
    ]
    return f"element {', '.join(changed)}"
