"""999 005010X231A1: a receiver reports which sets of a group it accepts, and where the others fail."""

from dataclasses import replace

from clearlane.x12.grammar import SegmentSpec, loop
from clearlane.x12.guides import common
from clearlane.x12.guides.dictionary import seg

SEGMENT_ERRORS = "1|2|3|4|5|6|7|8|I4|I6|I7|I8|I9"
ELEMENT_ERRORS = "1|2|3|4|5|6|7|8|9|10|11|12|13|I6|I9|I10|I11|I12|I13"
SET_ERRORS = "1|2|3|4|5|6|7|8|9|10|11|12|13|15|16|17|18|19|23|24|25|26|27|I5|I6"
GROUP_ERRORS = "1|2|3|4|5|6|10|11|12|13|14|15|16|17|18|19|23|24|25|26"

TRIGGER = ("SITUATIONAL TRIGGER",)
BUSINESS_UNITS = (
    "TRN02",
    "NM109",
    "PATIENT NAME NM109",
    "SUBSCRIBER NAME NM109",
    "ENT01",
    "SUBSCRIBER NUMBER REF02",
    "CLM01",
)


def _context(segment: SegmentSpec, names: tuple[str, ...]) -> SegmentSpec:
    """Return the segment with the context names it allows: they contain blanks, which a usage pattern cannot."""
    first, *rest = segment.elements
    name, *others = first.components
    named = replace(first, components=(replace(name, codes=names), *others))
    return replace(segment, elements=(named, *rest))


_ELEMENT = loop(
    "2110",
    "Element in error",
    "S",
    0,
    seg("IK4", "Element in error", "R", 1, f"R(R S S) S R={ELEMENT_ERRORS} S"),
    _context(
        seg("CTX", "What made the element necessary", "S", 10, "R(R -)*10 R R S S(R S S) S(R -)"),
        TRIGGER,
    ),
)

_SEGMENT = loop(
    "2100",
    "Segment in error",
    "S",
    0,
    seg("IK3", "Segment in error", "R", 1, f"R R S S={SEGMENT_ERRORS}"),
    _context(
        seg("CTX", "What made the segment necessary", "S", 9, "R(R -)*10 R R S S(R S S) S(R -)"),
        TRIGGER,
    ),
    _context(seg("CTX", "Business unit in which it stands", "S", 1, "R(R R)*10"), BUSINESS_UNITS),
    _ELEMENT,
)

GUIDE = common.make_guide(
    "005010X231A1",
    "999",
    "FA",
    "Acknowledgement of a functional group",
    seg("AK1", "Group that is acknowledged", "R", 1, "R=BE|HB|HC|HI|HN|HP|HR|HS|RA R R"),
    loop(
        "2000",
        "Transaction set that is acknowledged",
        "S",
        0,
        seg(
            "AK2",
            "Transaction set that is acknowledged",
            "R",
            1,
            "R=270|271|276|277|278|820|834|835|837 R S",
        ),
        _SEGMENT,
        seg("IK5", "Verdict on the set", "R", 1, f"R=A|E|M|R|W|X{f' S={SET_ERRORS}' * 5}"),
    ),
    seg(
        "AK9",
        "Verdict on the group",
        "R",
        1,
        f"R=A|E|M|P|R|W|X R R R{f' S={GROUP_ERRORS}' * 5}",
    ),
    unit="2000",
    earlier_ids=("005010X231",),
)
