"""What an intermediary may change in a claim, and a comparison that shows every other change.

Files are read by their separators alone, without a guide: what our own reader would lose is not lost here.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

Element = tuple[tuple[str, ...], ...]
"""Repetitions, each with its components."""
Segment = list[Element]

ISA_CHARACTERS = 105
LEVELS = {"20": 0, "22": 1, "23": 2}
"""The levels around a claim, by HL03."""
CLAIM = 3
GUIDE_CHARACTERS = len("005010X222")
"""What of GS08 names the guide; the errata follow."""
TRACE = "REF:D9"

# pass-through.md names these: what is in a segment of a level, by element, and why it may differ.
RENUMBERED = "HL01, HL02 and HL04 are made again"
OWN_TRACE = "REF*D9 is the intermediary's"
PAYER_ID = "the payer's id as the directory maps it"
CASE = "lower case as the payer takes it"
LETTERS = "plain letters for those beyond the basic set"
PLACES_THAT_CHANGE = {
    (0, "HL", 1): RENUMBERED,
    (1, "HL", 1): RENUMBERED,
    (1, "HL", 2): RENUMBERED,
    (1, "HL", 4): RENUMBERED,
    (2, "HL", 1): RENUMBERED,
    (2, "HL", 2): RENUMBERED,
    (1, "NM1:PR", 9): PAYER_ID,
    (CLAIM, TRACE, 2): OWN_TRACE,
}


class RawClaim(NamedTuple):
    """A claim and the levels around it, as a file has them."""

    account: str
    trace: str
    """REF*D9; empty if it has none."""
    levels: tuple[tuple[Segment, ...], ...]
    """Billing provider, subscriber, patient (empty if that is the subscriber), claim."""


@dataclass
class RawSet:
    """A transaction set of claims as a file has it."""

    place: tuple[int, int, int]
    """The numbers of its interchange, its group there, and itself in the group."""
    usage: str
    version: str
    claim_type: str = ""
    levels: list[Segment] = field(default_factory=list)
    """Its HL segments."""
    claims: list[RawClaim] = field(default_factory=list)

    @property
    def facts(self) -> tuple[str, str, str]:
        """What claims that share a set have in common."""
        return self.usage, self.version[:GUIDE_CHARACTERS], self.claim_type


@dataclass
class Comparison:
    """What was compared, and every difference by its reason; what has none is in ``unnamed``."""

    claims: int = 0
    segments: int = 0
    elements: int = 0
    values: int = 0
    """Components that are not empty."""
    changes: Counter[str] = field(default_factory=Counter)
    unnamed: list[str] = field(default_factory=list)


def raw_sets(data: bytes) -> list[RawSet]:
    """Return the sets of a file of claims."""
    text = decoded(data)
    found: list[RawSet] = []
    number = 0
    while (at := text.find("ISA")) >= 0:
        number += 1
        text = text[at:]
        element, repetition, component, terminator = (text[n] for n in (3, 82, 104, 105))
        end = text.index(terminator, text.index(f"IEA{element}", ISA_CHARACTERS))
        rows = [row.strip("\r\n ") for row in text[:end].split(terminator)]
        usage = rows[0].split(element)[15]
        segments = [
            [
                tuple(tuple(one.split(component)) for one in part.split(repetition))
                for part in row.split(element)
            ]
            for row in rows[1:]
            if row
        ]
        found += _sets(number, usage, segments)
        text = text[end + 1 :]
    return found


def decoded(data: bytes) -> str:
    """Return the text of a file in either encoding."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _sets(interchange: int, usage: str, segments: Sequence[Segment]) -> Iterator[RawSet]:
    own, version, group, number = RawSet((0, 0, 0), "", ""), "", 0, 0
    around: list[list[Segment]] = [[], [], [], []]
    at = -1

    def close() -> None:
        if at == CLAIM:
            own.claims.append(_claim(around))

    for segment in segments:
        match value(segment, 0):
            case "GS":
                version, group, number = value(segment, 8), group + 1, 0
            case "ST":
                number += 1
                own, at = RawSet((interchange, group, number), usage, version), -1
            case "BHT":
                own.claim_type = value(segment, 6)
            case "SE":
                close()
                yield own
                at = -1
            case "HL":
                close()
                at = LEVELS[value(segment, 3)]
                own.levels.append(segment)
                around[at:] = [[] for _ in around[at:]]
            case "CLM":
                close()
                at = CLAIM
                around[CLAIM] = []
        if at >= 0:
            around[at].append(segment)


def _claim(levels: Sequence[Sequence[Segment]]) -> RawClaim:
    own = levels[CLAIM]
    trace = next((value(one, 2) for one in own if name_of(one) == TRACE), "")
    return RawClaim(value(own[0], 1), trace, tuple(map(tuple, levels)))


def value(segment: Segment, number: int) -> str:
    """Return the first component of an element."""
    return segment[number][0][0] if len(segment) > number else ""


def name_of(segment: Segment) -> str:
    """Return the id of a segment, with the qualifier of one that has a row in the table of changes."""
    id = value(segment, 0)
    return f"{id}:{value(segment, 1)}" if id in {"NM1", "REF"} else id


def compare(came: RawClaim, went: RawClaim, result: Comparison) -> None:
    """Compare a claim with what was sent of it, element by element."""
    result.claims += 1
    for level, (before, after) in enumerate(zip(came.levels, went.levels, strict=True)):
        if level == CLAIM and not came.trace:
            after = tuple(one for one in after if name_of(one) != TRACE)
            result.changes["REF*D9 is added"] += 1
        if [name_of(one) for one in before] != [name_of(one) for one in after]:
            result.unnamed.append(f"{came.account}: segments of level {level} differ")
            continue
        for first, second in zip(before, after, strict=True):
            _compare_segments(level, first, second, came.account, result)


def _compare_segments(
    level: int, came: Segment, went: Segment, account: str, result: Comparison
) -> None:
    result.segments += 1
    name = name_of(came)
    if len(came) != len(went):
        result.unnamed.append(f"{account}: {name} has {len(came)} elements, then {len(went)}")
    for number, (before, after) in enumerate(zip(came, went, strict=False)):
        result.elements += 1
        result.values += sum(bool(part) for one in before for part in one)
        if before == after:
            continue
        reason = PLACES_THAT_CHANGE.get((level, name, number)) or _letters(before, after)
        if reason:
            result.changes[reason] += 1
        else:
            result.unnamed.append(f"{account}: level {level} {name} {number}: {before} {after}")


def _letters(came: Element, went: Element) -> str:
    """Return why an element may differ in its letters; empty if it differs otherwise."""
    before, after = ("\x1e".join(map("\x1f".join, one)) for one in (came, went))
    if before.upper() == after:
        return CASE
    plain = "".join(
        mark for mark in unicodedata.normalize("NFKD", before) if not unicodedata.combining(mark)
    )
    return LETTERS if after in (plain, plain.upper()) and not before.isascii() else ""


def wrong_levels(own: RawSet) -> list[str]:
    """Return what is wrong with the numbers of a set's levels."""
    rows = [[value(one, number) for number in range(1, 5)] for one in own.levels]
    wrong = []
    above: dict[str, str] = {}
    for at, (number, parent, code, child) in enumerate(rows):
        above[code] = number
        wanted_parent = {"20": "", "22": above.get("20", "?"), "23": above.get("22", "?")}[code]
        has_child = at + 1 < len(rows) and rows[at + 1][1] == number
        if (number, parent, child) != (str(at + 1), wanted_parent, str(int(has_child))):
            wrong.append(f"HL {at + 1}: {rows[at]}")
    return wrong
