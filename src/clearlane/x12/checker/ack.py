"""Acknowledge a received file: the TA1 for an interchange, the 999 for its groups.

    for acknowledgement in acknowledge(data, control=17, moment=now):
        acknowledgement.ta1, acknowledgement.ack_999      # interchanges as bytes; no 999 without groups

A set with an error is rejected (R); one whose findings are all warnings that a 999 can report is accepted with errors
(E); else it is accepted (A). A group is accepted, accepted with errors, rejected or partially accepted (P) according to
its sets; a group that is refused for a fault of its own refuses its sets. An interchange that the TA1 rejects gets no 999, and an acknowledgement is never acknowledged. An answer holds
codes and positions, and of the business unit its own key (CLM01, TRN02); messages and other values are left out.

Knows findings and the 999 guide; knows no connection and no clock.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clearlane.kernel.finding import Finding, Severity
from clearlane.x12 import guides, tree
from clearlane.x12.checker import element
from clearlane.x12.checker.envelope import PARTY_QUALIFIERS
from clearlane.x12.codes import load as load_codes
from clearlane.x12.reader.reader import (
    GroupClosed,
    GuideChooser,
    InterchangeClosed,
    InterchangeOpened,
    SetClosed,
    Source,
    UnitClosed,
    read,
)
from clearlane.x12.writer.build import body_texts, build
from clearlane.x12.writer.encode import clean
from clearlane.x12.writer.writer import Envelope, wrap_sets, wrap_ta1

# How a 999 names the business unit of an error (CTX), by transaction: the name, the segment and the element.
BUSINESS_UNITS = {
    "837": ("CLM01", "CLM", 1),
    **dict.fromkeys(("270", "271", "276", "277"), ("TRN02", "TRN", 2)),
}
ACKNOWLEDGEMENT = "FA"
"""GS01 of a group of 999s, which is not acknowledged."""
NO_SEGMENT_ID = "???"
LOOP_CHARACTERS_MAX = 4
"""IK303 holds no more, so 2010AA is reported as 2010."""
COUNT_DIGITS_MAX = 6
"""AK902 holds no more."""
NOT_IN_A_GROUP = "18"
"""IK502 of a set without errors whose group is refused: it is not in a group that could be accepted."""
CODES_MAX = 5
"""IK5 and AK9 hold five codes each."""


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """The TA1 and the 999 for one interchange."""

    interchange: int
    """Its number in the file."""
    accepted: str
    """TA104: A, E or R."""
    ta1: bytes
    ack_999: bytes


@dataclass(slots=True)
class SetVerdict:
    """What a 999 reports of a set."""

    transaction: str
    control: str
    version: str
    findings: list[Finding]
    units: list[tuple[int, int, str, str]] = field(default_factory=list)
    """First and last position, name and key of the business units that have findings."""

    @property
    def code(self) -> str:
        """IK501."""
        return _outcome_code(self.findings)


@dataclass(slots=True)
class GroupVerdict:
    """What a 999 reports of a group."""

    functional_id: str
    control: str
    version: str
    sets: list[SetVerdict]
    findings: list[Finding]
    counted: int | None = None
    """GE01, how many sets the sender counted; None if it does not say."""
    header: tree.Segment = field(default_factory=list)
    """The GS."""

    @property
    def is_refused(self) -> bool:
        """Whether the group is refused for its own fault, and all its sets with it."""
        return _outcome_code(self.findings) == "R"

    @property
    def accepted(self) -> int:
        """The number of accepted sets."""
        if self.is_refused:
            return 0
        return sum(one.code != "R" for one in self.sets)

    @property
    def code(self) -> str:
        """AK901."""
        if not self.accepted:
            return "R"
        if self.accepted < len(self.sets):
            return "P"
        own = {_outcome_code(self.findings), *(one.code for one in self.sets)}
        return "E" if "E" in own else "A"


def acknowledge(
    source: Source,
    *,
    control: int,
    moment: datetime,
    choose_guide: GuideChooser = guides.by_version,
) -> Iterator[Acknowledgement]:
    """Yield an acknowledgement for each interchange of a file; control numbers count up from ``control``."""
    groups: list[GroupVerdict] = []
    sets: list[SetVerdict] = []
    units: list[tuple[int, int, str, str]] = []
    for event in read(source, choose_guide=choose_guide):
        match event:
            case InterchangeOpened():
                groups = []
            case UnitClosed(loop, _, set):
                units += units_with_findings(loop, set)
            case SetClosed(set):
                sets.append(set_verdict(set, units))
                units = []
            case GroupClosed(group):
                groups.append(group_verdict(group, sets))
                sets = []
            case InterchangeClosed(interchange):
                acknowledgement = acknowledge_interchange(interchange, groups, control, moment)
                control += 2
                yield acknowledgement


def build_ta1(interchange: tree.Interchange, moment: datetime) -> list[str]:
    """Return the TA1 segment for an interchange that was read to its end."""
    isa = interchange.header
    code = _outcome_code(interchange.findings)
    notes = [f.syntax_error for f in interchange.findings if f.syntax_error]
    control = "".join(c for c in interchange.control if c in "0123456789")[:9]
    day, time = tree.get_element(isa, 9), tree.get_element(isa, 10)
    return [
        "TA1",
        control.zfill(9),
        day if element.is_short_date(day) else f"{moment:%y%m%d}",
        time if element.is_time(time) and len(time) == 4 else f"{moment:%H%M}",
        code,
        notes[0] if code != "A" and notes else "000",
    ]


def build_999(group: GroupVerdict) -> tree.Loop:
    """Return the 999 set for a group."""
    guide = guides.by_kind("999")
    # A stray segment in a group has a note of a TA1 and no code of a group.
    known = load_codes("group_errors")
    codes = _codes([f for f in group.findings if f.syntax_error in known])
    data = {
        "AK1": [_ascii_text(text) for text in (group.functional_id, group.control, group.version)],
        "2000": [_set_data(one, refused=group.is_refused) for one in group.sets],
        "AK9": [
            group.code, str(len(group.sets) if group.counted is None else group.counted),
            str(len(group.sets)), str(group.accepted), *codes,
        ],
    }  # fmt: skip
    return build(guide, data)


def counted_sets(group: tree.FunctionalGroup) -> int | None:
    """Return GE01, how many sets the sender counted; None without a GE or a number in it."""
    text = tree.get_element(group.trailer, 1).strip() if group.trailer else ""
    digits = text.isascii() and text.isdigit() and len(text) <= COUNT_DIGITS_MAX
    return int(text) if digits else None


def _ascii_text(text: str) -> str:
    """Replace characters that an acknowledgement cannot carry."""
    return text if text.isascii() else text.encode("ascii", "replace").decode()


def set_verdict(set: tree.TransactionSet, units: list[tuple[int, int, str, str]]) -> SetVerdict:
    """Return what a 999 reports of a set that was read to its end."""
    transaction, control, version = (tree.get_element(set.header, at) for at in (1, 2, 3))
    return SetVerdict(transaction, control, version, set.findings, units)


def group_verdict(group: tree.FunctionalGroup, sets: list[SetVerdict]) -> GroupVerdict:
    """Return what a 999 reports of a group that was read to its end."""
    functional, control, version = (tree.get_element(group.header, at) for at in (1, 6, 8))
    counted = counted_sets(group)
    return GroupVerdict(functional, control, version, sets, group.findings, counted, group.header)


def acknowledge_interchange(
    interchange: tree.Interchange, groups: list[GroupVerdict], control: int, moment: datetime
) -> Acknowledgement:
    """Return the TA1 of an interchange, with the control number, and the 999 of its groups, with the next one."""
    segment = build_ta1(interchange, moment)
    envelope = answer_envelope(interchange.header, control, moment)
    answered = [group for group in groups if group.functional_id != ACKNOWLEDGEMENT]
    ack_999 = b""
    if segment[4] != "R" and answered:
        guide = guides.by_kind("999")
        own = answer_envelope(interchange.header, control + 1, moment, gs=_common_header(answered))
        ack_999 = b"".join(
            wrap_sets(own, guide, [body_texts(build_999(group)) for group in answered])
        )
    return Acknowledgement(interchange.number, segment[4], wrap_ta1(envelope, [segment]), ack_999)


def _common_header(groups: list[GroupVerdict]) -> tree.Segment | None:
    """Return a GS with the sender and receiver of all groups; None if they differ."""
    return groups[0].header if len({tuple(one.header[2:4]) for one in groups}) == 1 else None


def answer_envelope(
    isa: tree.Segment, control: int, moment: datetime, *, gs: tree.Segment | None = None
) -> Envelope:
    """Return the envelope of an answer: sender and receiver are exchanged, those of the group too if its GS is given."""
    texts = {at: clean(tree.get_element(isa, at))[0] for at in (5, 6, 7, 8, 15)}
    group = {at: clean(tree.get_element(gs or [], at))[0][:15].strip() for at in (2, 3)}
    return Envelope(
        sender=_party_id(texts[8]),
        sender_qualifier=_party_qualifier(texts[7]),
        receiver=_party_id(texts[6]),
        receiver_qualifier=_party_qualifier(texts[5]),
        control=control,
        moment=moment,
        application_sender=group[3] if len(group[3]) > 1 else "",
        application_receiver=group[2] if len(group[2]) > 1 else "",
        usage=texts[15] if texts[15] in {"P", "T"} else "P",
    )


def _party_qualifier(text: str) -> str:
    """Return a qualifier that X12 has; ZZ (mutually defined) for another, so that the answer itself is sound."""
    return text if text in PARTY_QUALIFIERS else "ZZ"


def _party_id(text: str) -> str:
    """Return an id that fits an ISA; UNKNOWN for one that is too short to be answered."""
    return text[:15].strip() if len(text) > 1 else "UNKNOWN"


def units_with_findings(
    loop: tree.Loop, set: tree.TransactionSet
) -> Iterator[tuple[int, int, str, str]]:
    """Yield the business unit of a loop if there are findings in it."""
    known = BUSINESS_UNITS.get(set.guide.transaction) if set.guide else None
    if known is None or not set.findings:
        return
    last = loop.position + loop.size() - 1
    name, id, at = known
    key = next((tree.get_element(s, at) for s in loop.all_segments() if s[0] == id), "")
    found = any(f.position and loop.position <= f.position.segment <= last for f in set.findings)
    if found and key and clean(key)[0] == key:
        yield loop.position, last, name, key


def _outcome_code(findings: list[Finding]) -> str:
    if any(finding.severity is Severity.ERROR for finding in findings):
        return "R"
    reported = any(f.severity is Severity.WARNING and f.syntax_error for f in findings)
    return "E" if reported else "A"


def _codes(findings: list[Finding]) -> list[str]:
    codes = (f.syntax_error for f in findings if f.severity is not Severity.INFO)
    return list(dict.fromkeys(filter(None, codes)))[:CODES_MAX]


def _about_set(finding: Finding) -> bool:
    """Return whether IK5 reports a finding, not IK3: those about ST and SE themselves."""
    return finding.rule.startswith(("ST-", "SE-"))


def _set_data(verdict: SetVerdict, *, refused: bool) -> dict[str, Any]:
    reported = [
        f
        for f in verdict.findings
        if f.syntax_error and f.position and f.severity is not Severity.INFO
    ]
    codes = _codes([f for f in reported if _about_set(f)])
    inside = [f for f in reported if not _about_set(f)]
    if inside:
        syntax = any(not f.syntax_error.startswith("I") for f in inside)
        codes = ["5" if syntax else "I5", *codes][:CODES_MAX]
    if refused and verdict.code != "R":
        codes = [*codes[: CODES_MAX - 1], NOT_IN_A_GROUP]
    return {
        "AK2": [
            _ascii_text(text) for text in (verdict.transaction, verdict.control, verdict.version)
        ],
        "2100": list(_segment_errors(inside, verdict.units)),
        "IK5": ["R" if refused else verdict.code, *codes],
    }


def _segment_errors(
    findings: list[Finding], units: list[tuple[int, int, str, str]]
) -> Iterator[dict[str, Any]]:
    """Yield one IK3 for each segment and code, with the errors of its elements below it."""
    by_segment: dict[tuple[int, str], list[Finding]] = {}
    for finding in findings:
        assert finding.position is not None, "findings without a position were sorted out"
        by_segment.setdefault((finding.position.segment, finding.position.segment_id), []).append(
            finding
        )
    for (position, id), found in sorted(by_segment.items()):
        loop = _loop_name(found[0])
        context = [[(name, key)] for first, last, name, key in units if first <= position <= last]
        whole = [f.syntax_error for f in found if f.position and not f.position.element]
        for code in dict.fromkeys(whole):
            yield {"IK3": [_segment_id(id), str(position), loop, code], "CTX": context[:1]}
        parts = [f for f in found if f.position and f.position.element]
        if parts:
            yield {
                "IK3": [_segment_id(id), str(position), loop, "8"],
                "CTX": context[:1],
                "2110": [{"IK4": one} for one in _element_errors(parts)],
            }


def _segment_id(id: str) -> str:
    """Return IK301, which has two or three characters: a text that is not a segment id cannot be repeated there."""
    return _ascii_text(id) if len(id) > 1 else NO_SEGMENT_ID


def _loop_name(finding: Finding) -> str:
    assert finding.position is not None, "findings without a position were sorted out"
    # The root loop is named after the transaction, which is not a loop id for IK303.
    name = finding.position.loop
    return name[:LOOP_CHARACTERS_MAX] if name[:1] in {"1", "2"} and len(name) > 3 else ""


def _element_errors(findings: list[Finding]) -> list[dict[int, Any]]:
    rows: dict[tuple[str, str], dict[int, Any]] = {}
    for finding in findings:
        at = finding.position
        assert at is not None, "findings without a position were sorted out"
        place = (
            str(at.element),
            *(str(n) if n else "" for n in (at.component, at.repetition)),
        )
        text = ":".join(place).rstrip(":")
        rows.setdefault((text, finding.syntax_error), {1: text, 3: finding.syntax_error})
    return list(rows.values())
