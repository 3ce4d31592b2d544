"""What must be true of ISA, GS, ST and their ends.

Pure checks on the segments, told to a report. Knows the control segments and which guide a version
names; knows nothing of what a set holds.
"""

from clearlane.kernel.finding import Severity
from clearlane.x12 import element as elements
from clearlane.x12 import grammar
from clearlane.x12.collector import Report
from clearlane.x12.delimiters import COMPONENT_ELEMENT, ISA_WIDTHS
from clearlane.x12.finding_catalogue import FAULTS
from clearlane.x12.findings import value_kind
from clearlane.x12.guides.dictionary import seg
from clearlane.x12.guides.ta1 import SEGMENT as TA1
from clearlane.x12.rules.acks import note_agrees
from clearlane.x12.tree import Group, Interchange, Segment, element

GS = seg("GS", "Group header", "R", 1, "R R R R R R R=X R")
GE = seg("GE", "Group trailer", "R", 1, "R R")
IEA = seg("IEA", "Interchange trailer", "R", 1, "R R")
SE = seg("SE", "Set trailer", "R", 1, "R R")
CONTROL_VERSION = "00501"

# What X12 lists for the two sides of an interchange (data element I05).
PARTY_QUALIFIERS = frozenset(
    [f"{number:02}" for number in range(1, 39) if number not in {5, 6}]
    + ["AM", "NR", "SA", "SN", "ZZ"]
)
ISA_CODES: dict[int, frozenset[str]] = {
    1: frozenset({"00", "01", "02", "03", "04", "05", "06", "07", "08"}),
    3: frozenset({"00", "01"}),
    5: PARTY_QUALIFIERS,
    7: PARTY_QUALIFIERS,
    12: frozenset({CONTROL_VERSION}),
    14: frozenset({"0", "1"}),
    15: frozenset({"P", "T"}),
}


def check_header(interchange: Interchange, report: Report) -> None:
    """The ISA: widths, codes, date, time, number, separators."""
    isa = interchange.header
    for number, width in enumerate(ISA_WIDTHS, 1):
        text = element(isa, number)
        if number == COMPONENT_ELEMENT and text != text.rstrip(" "):
            message = "No blanks must stand before the terminators, in the ISA and after it"
            report.add("ELM-BLANKS", message, "ISA", 1, element=number, kind="text")
        elif len(text) != width:
            message = f"ISA{number:02} must be {width} characters wide"
            report.add("ISA-WIDTH", message, "ISA", 1, element=number, kind=value_kind(text))
    for number, known in ISA_CODES.items():
        _isa(isa, number, report, passes=element(isa, number).strip() in known)
    for number in (6, 8):
        _isa(isa, number, report, passes=bool(element(isa, number).strip()))
    _isa(isa, 9, report, passes=elements.is_short_date(element(isa, 9)))
    time = element(isa, 10)
    _isa(isa, 10, report, passes=len(time) == 4 and elements.is_time(time))
    early = element(isa, 12) < CONTROL_VERSION
    _isa(isa, 11, report, passes=early or bool(interchange.delimiters.repetition))
    control = element(isa, 13)
    _isa(isa, 13, report, passes=len(control) == 9 and control.isascii() and control.isdigit())


def check_trailer(interchange: Interchange, groups: int, report: Report, position: int) -> None:
    """The IEA against the ISA."""
    iea = interchange.trailer
    if not groups and not any(segment[0] == "TA1" for _, segment in interchange.stray):
        message = "An interchange must hold at least one group, or a TA1"
        report.add("ISA-EMPTY", message, "ISA", 1)
    if iea is None:
        report.add("IEA-MISSING", "The interchange must end with an IEA segment", "IEA", position)
        return
    form("IEA-FORM", IEA, iea, report, position)
    if not _counts(element(iea, 1), groups):
        report.add(
            "IEA-COUNT", f"IEA01 must be {groups}, the number of groups", "IEA", position, element=1
        )
    if element(iea, 2).strip() != interchange.control.strip():
        report.add("IEA-CONTROL", "IEA02 must equal ISA13", "IEA", position, element=2)


def check_group(group: Group, report: Report, position: int) -> None:
    """The GS alone."""
    form("GS-FORM", GS, group.header, report, position)


def check_group_end(group: Group, sets: int, report: Report, position: int) -> None:
    """The GE against the GS."""
    ge = group.trailer
    if not sets:
        report.add("GROUP-EMPTY", "A group must hold at least one set", "GS", position)
    if ge is None:
        report.add("GE-MISSING", "The group must end with a GE segment", "GE", position)
        return
    form("GE-FORM", GE, ge, report, position)
    if not _counts(element(ge, 1), sets):
        report.add(
            "GE-COUNT", f"GE01 must be {sets}, the number of sets", "GE", position, element=1
        )
    if element(ge, 2).strip() != group.control.strip():
        report.add("GE-CONTROL", "GE02 must equal GS06", "GE", position, element=2)


def check_set_end(header: Segment, trailer: Segment, segments: int, report: Report) -> None:
    """The SE against the ST."""
    if not _counts(element(trailer, 1), segments):
        message = f"SE01 must be {segments}, the number of segments with ST and SE"
        report.add("SE-COUNT", message, "SE", segments, element=1)
    if element(trailer, 2).strip() != element(header, 2).strip():
        report.add("SE-CONTROL", "SE02 must equal ST02", "SE", segments, element=2)


def check_set_control(header: Segment, report: Report) -> None:
    """The form of ST02."""
    control = element(header, 2)
    if not 4 <= len(control.strip()) <= 9:
        message = "ST02 must be 4 to 9 characters"
        report.add("ST-CONTROL", message, "ST", 1, element=2, kind=value_kind(control))


def check_ta1(segment: Segment, report: Report, position: int) -> None:
    """A TA1, which stands between the ISA and the first group."""
    form("TA1-FORM", TA1, segment, report, position)
    verdict, note = element(segment, 4), element(segment, 5)
    # Where one of them has no form there is nothing to agree with, and that is told already.
    if (
        verdict in TA1.elements[3].codes
        and note in TA1.elements[4].codes
        and not note_agrees(segment)
    ):
        message = "TA104 (verdict) must be A with the note 000, and E or R with any other note"
        report.add("TA1-NOTE", message, "TA1", position, element=5, kind=value_kind(note))


def form(rule: str, node: grammar.Segment, segment: Segment, report: Report, position: int) -> None:
    """Report the flaws of a control segment under its own rule, warnings under theirs."""
    for flaw in elements.flaws(node, "", segment):
        if FAULTS[flaw.rule].severity is Severity.ERROR:
            flaw = flaw._replace(rule=rule)
        report.flaw(flaw, node.id, position, "")


def _isa(isa: Segment, number: int, report: Report, *, passes: bool) -> None:
    if not passes:
        rule = f"ISA-{number:02}"
        kind = value_kind(element(isa, number).strip())
        report.add(rule, FAULTS[rule].sentence.rstrip("."), "ISA", 1, element=number, kind=kind)


def _counts(text: str, wanted: int) -> bool:
    text = text.strip()
    return text.isascii() and text.isdigit() and len(text) <= 10 and int(text) == wanted
