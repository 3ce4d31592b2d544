"""Answers to a file that was received: the TA1 for an interchange, the 999 for its groups.

    for reply in answers(data, control=17, moment=now):
        reply.ta1, reply.nine                    # interchanges as bytes; ``nine`` is empty without groups

A set with an error is rejected (R); one whose faults are all warnings that a 999 can tell is accepted with
errors (E); else it is accepted (A). A group is accepted, accepted with errors, rejected or accepted in
part (P), as its sets are. An interchange that the TA1 rejects gets no 999, and an acknowledgement is never
acknowledged. The words of a finding and the values of the file stay here: an answer holds codes and
positions, and of the business unit its own key (CLM01, TRN02).

Knows findings and the 999 guide; knows no connection and no clock.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clearlane.kernel.finding import Finding, Severity
from clearlane.x12 import element, guides, tree
from clearlane.x12.build import body, build
from clearlane.x12.encode import clean
from clearlane.x12.reader import (
    GroupClosed,
    Guides,
    InterchangeClosed,
    InterchangeOpened,
    SetClosed,
    Source,
    Unit,
    read,
)
from clearlane.x12.writer import Envelope, answer, seal

# How a 999 names the business unit in which a fault stands, by transaction: its name, and its place.
BUSINESS_UNITS = {
    "837": ("CLM01", "CLM", 1),
    **dict.fromkeys(("270", "271", "276", "277"), ("TRN02", "TRN", 2)),
}
ACKNOWLEDGEMENT = "FA"
"""GS01 of a group of 999s, which gets no answer."""
LOOP_CHARACTERS_MAX = 4
"""IK303 holds no more, so 2010AA is told as 2010."""
CODES_MAX = 5
"""IK5 and AK9 have room for five codes each."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back for one interchange."""

    interchange: int
    """Its number in the file."""
    accepted: str
    """TA104: A, E or R."""
    ta1: bytes
    nine: bytes


@dataclass(slots=True)
class SetVerdict:
    """What a 999 says of a set."""

    transaction: str
    control: str
    version: str
    findings: list[Finding]
    units: list[tuple[int, int, str, str]] = field(default_factory=list)
    """First and last position, name and key of the business units that have findings."""

    @property
    def code(self) -> str:
        """IK501."""
        return _weight(self.findings)


@dataclass(slots=True)
class GroupVerdict:
    """What a 999 says of a group."""

    functional: str
    control: str
    version: str
    sets: list[SetVerdict]
    findings: list[Finding]

    @property
    def accepted(self) -> int:
        """How many sets are accepted."""
        if _weight(self.findings) == "R":
            return 0
        return sum(one.code != "R" for one in self.sets)

    @property
    def code(self) -> str:
        """AK901."""
        if _weight(self.findings) == "R" or not self.accepted:
            return "R"
        if self.accepted < len(self.sets):
            return "P"
        own = {_weight(self.findings), *(one.code for one in self.sets)}
        return "E" if "E" in own else "A"


def answers(
    source: Source, *, control: int, moment: datetime, choose: Guides = guides.by_version
) -> Iterator[Answer]:
    """An answer for each interchange of a file; control numbers count on from ``control``."""
    groups: list[GroupVerdict] = []
    sets: list[SetVerdict] = []
    units: list[tuple[int, int, str, str]] = []
    for event in read(source, choose=choose):
        match event:
            case InterchangeOpened():
                groups = []
            case Unit(loop, _, set):
                units += _unit(loop, set)
            case SetClosed(set):
                sets.append(_set_verdict(set, units))
                units = []
            case GroupClosed(group):
                groups.append(_group_verdict(group, sets))
                sets = []
            case InterchangeClosed(interchange):
                reply = _reply(interchange, groups, control, moment)
                control += 2
                yield reply


def ta1(interchange: tree.Interchange, moment: datetime) -> list[str]:
    """The TA1 segment for an interchange that was read to its end."""
    isa = interchange.header
    code = _weight(interchange.findings)
    notes = [f.syntax_error for f in interchange.findings if f.syntax_error]
    control = "".join(c for c in interchange.control if c in "0123456789")[:9]
    day, time = tree.element(isa, 9), tree.element(isa, 10)
    return [
        "TA1",
        control.zfill(9),
        day if element.is_short_date(day) else f"{moment:%y%m%d}",
        time if element.is_time(time) and len(time) == 4 else f"{moment:%H%M}",
        code,
        notes[0] if code != "A" and notes else "000",
    ]


def nine(group: GroupVerdict) -> tree.Loop:
    """The 999 set for a group."""
    guide = guides.by_kind("999")
    codes = _codes(group.findings)
    data = {
        "AK1": [_plain(text) for text in (group.functional, group.control, group.version)],
        "2000": [_set(one) for one in group.sets],
        "AK9": [
            group.code, str(len(group.sets)), str(len(group.sets)), str(group.accepted), *codes,
        ],
    }  # fmt: skip
    return build(guide, data)


def _plain(text: str) -> str:
    """What is wrong is named as it came, but for characters that no answer can carry."""
    return text if text.isascii() else text.encode("ascii", "replace").decode()


def _set_verdict(set: tree.Set, units: list[tuple[int, int, str, str]]) -> SetVerdict:
    transaction, control, version = (tree.element(set.header, at) for at in (1, 2, 3))
    return SetVerdict(transaction, control, version, set.findings, units)


def _group_verdict(group: tree.Group, sets: list[SetVerdict]) -> GroupVerdict:
    functional, control, version = (tree.element(group.header, at) for at in (1, 6, 8))
    return GroupVerdict(functional, control, version, sets, group.findings)


def _reply(
    interchange: tree.Interchange, groups: list[GroupVerdict], control: int, moment: datetime
) -> Answer:
    segment = ta1(interchange, moment)
    envelope = _envelope(interchange, control, moment)
    told = [group for group in groups if group.functional != ACKNOWLEDGEMENT]
    nines = b""
    if segment[4] != "R" and told:
        guide = guides.by_kind("999")
        own = _envelope(interchange, control + 1, moment)
        nines = b"".join(seal(own, guide, [body(nine(group)) for group in told]))
    return Answer(interchange.number, segment[4], answer(envelope, [segment]), nines)


def _envelope(interchange: tree.Interchange, control: int, moment: datetime) -> Envelope:
    """The parties change sides."""
    isa = interchange.header
    texts = {at: clean(tree.element(isa, at))[0] for at in (5, 6, 7, 8, 15)}
    return Envelope(
        sender=_party(texts[8]),
        sender_qualifier=texts[7] if len(texts[7]) == 2 else "ZZ",
        receiver=_party(texts[6]),
        receiver_qualifier=texts[5] if len(texts[5]) == 2 else "ZZ",
        control=control,
        moment=moment,
        usage=texts[15] if texts[15] in {"P", "T"} else "P",
    )


def _party(text: str) -> str:
    """An id as a header can carry it; one that cannot be answered is told so."""
    return text[:15].strip() if len(text) > 1 else "UNKNOWN"


def _unit(loop: tree.Loop, set: tree.Set) -> Iterator[tuple[int, int, str, str]]:
    """The business unit, where something in it was found."""
    known = BUSINESS_UNITS.get(set.guide.transaction) if set.guide else None
    if known is None or not set.findings:
        return
    last = loop.position + loop.size() - 1
    name, id, at = known
    key = next((tree.element(s, at) for s in loop.walk() if s[0] == id), "")
    found = any(f.spot and loop.position <= f.spot.segment <= last for f in set.findings)
    if found and key and clean(key)[0] == key:
        yield loop.position, last, name, key


def _weight(findings: list[Finding]) -> str:
    if any(finding.severity is Severity.ERROR for finding in findings):
        return "R"
    told = any(f.severity is Severity.WARNING and f.syntax_error for f in findings)
    return "E" if told else "A"


def _codes(findings: list[Finding]) -> list[str]:
    told = (f.syntax_error for f in findings if f.severity is not Severity.INFO)
    return list(dict.fromkeys(filter(None, told)))[:CODES_MAX]


def _about_set(finding: Finding) -> bool:
    """Whether IK5 tells it, not an IK3: faults of the pair ST and SE themselves."""
    return finding.rule.startswith(("ST-", "SE-"))


def _set(verdict: SetVerdict) -> dict[str, Any]:
    told = [
        f for f in verdict.findings if f.syntax_error and f.spot and f.severity is not Severity.INFO
    ]
    codes = _codes([f for f in told if _about_set(f)])
    inside = [f for f in told if not _about_set(f)]
    if inside:
        syntax = any(not f.syntax_error.startswith("I") for f in inside)
        codes = ["5" if syntax else "I5", *codes][:CODES_MAX]
    return {
        "AK2": [_plain(text) for text in (verdict.transaction, verdict.control, verdict.version)],
        "2100": list(_segments(inside, verdict.units)),
        "IK5": [verdict.code, *codes],
    }


def _segments(
    findings: list[Finding], units: list[tuple[int, int, str, str]]
) -> Iterator[dict[str, Any]]:
    """One IK3 for each segment and code, the faults of its elements below it."""
    spots: dict[tuple[int, str], list[Finding]] = {}
    for finding in findings:
        assert finding.spot is not None, "findings without a spot were sorted out"
        spots.setdefault((finding.spot.segment, finding.spot.segment_id), []).append(finding)
    for (position, id), found in sorted(spots.items()):
        loop = _loop_name(found[0])
        context = [[(name, key)] for first, last, name, key in units if first <= position <= last]
        whole = [f.syntax_error for f in found if f.spot and not f.spot.element]
        for code in dict.fromkeys(whole):
            yield {"IK3": [_plain(id), str(position), loop, code], "CTX": context[:1]}
        parts = [f for f in found if f.spot and f.spot.element]
        if parts:
            yield {
                "IK3": [_plain(id), str(position), loop, "8"],
                "CTX": context[:1],
                "2110": [{"IK4": one} for one in _elements(parts)],
            }


def _loop_name(finding: Finding) -> str:
    assert finding.spot is not None, "findings without a spot were sorted out"
    # The loop around a whole set is named after it, which a 999 does not tell.
    name = finding.spot.loop
    return name[:LOOP_CHARACTERS_MAX] if name[:1] in {"1", "2"} and len(name) > 3 else ""


def _elements(findings: list[Finding]) -> list[dict[int, Any]]:
    rows: dict[tuple[str, str], dict[int, Any]] = {}
    for finding in findings:
        spot = finding.spot
        assert spot is not None, "findings without a spot were sorted out"
        place = (
            str(spot.element),
            *(str(n) if n else "" for n in (spot.component, spot.repetition)),
        )
        text = ":".join(place).rstrip(":")
        rows.setdefault((text, finding.syntax_error), {1: text, 3: finding.syntax_error})
    return list(rows.values())
