"""Checks of the control segments: ISA, GS, ST and their trailers, and TA1.

Each check adds to a ``FindingCollector``. Knows the control segments; does not know what a set contains.
"""

from collections.abc import Mapping

from clearlane.kernel.finding import Severity
from clearlane.x12 import grammar
from clearlane.x12.checker import element
from clearlane.x12.checker.collector import FindingCollector
from clearlane.x12.checker.finding_catalogue import FINDING_TYPES
from clearlane.x12.checker.findings import classify_value
from clearlane.x12.delimiters import COMPONENT_ELEMENT, ISA_WIDTHS
from clearlane.x12.guides.dictionary import seg
from clearlane.x12.guides.ta1 import SEGMENT as TA1
from clearlane.x12.rules.acks import note_agrees
from clearlane.x12.tree import FunctionalGroup, Interchange, Segment, get_element

GS = seg("GS", "Group header", "R", 1, "R R R R R R R=X R")
GE = seg("GE", "Group trailer", "R", 1, "R R")
# AK905 has a code for a wrong function, version, group number and count, and none for other elements.
GS_CODES = {1: "1", 6: "6", 8: "2"}
GE_CODES = {1: "5", 2: "4"}
IEA = seg("IEA", "Interchange trailer", "R", 1, "R R")
SE = seg("SE", "Set trailer", "R", 1, "R R")
CONTROL_VERSION = "00501"

# X12 data element I05: qualifiers of sender and receiver.
PARTY_QUALIFIERS = frozenset(
    [f"{number:02}" for number in range(1, 39) if number not in {5, 6}]
    + ["AM", "NR", "SA", "SN", "ZZ"]
)
ISA_CODES: dict[int, frozenset[str]] = {
    1: frozenset({"00", "01", "02", "03", "04", "05", "06", "07", "08"}),
    3: frozenset({"00", "01"}),
    5: PARTY_QUALIFIERS,
    7: PARTY_QUALIFIERS,
    14: frozenset({"0", "1"}),
    15: frozenset({"P", "T"}),
}
# HIPAA's guides allow fewer (appendix C of each); other codes of X12 pass with a warning.
HIPAA_PARTY_QUALIFIERS = frozenset({"01", "14", "20", "27", "28", "29", "30", "33", "ZZ"})
HIPAA_CODES: dict[int, frozenset[str]] = {
    1: frozenset({"00", "03"}),
    5: HIPAA_PARTY_QUALIFIERS,
    7: HIPAA_PARTY_QUALIFIERS,
}


def check_header(interchange: Interchange, findings: FindingCollector) -> None:
    """Check the ISA: widths, codes, date, time, control number, separators."""
    isa = interchange.header
    for number, width in enumerate(ISA_WIDTHS, 1):
        text = get_element(isa, number)
        if number == COMPONENT_ELEMENT and text != text.rstrip(" "):
            message = "No blanks may precede the terminators, in the ISA and after it"
            findings.add("ELM-BLANKS", message, "ISA", 1, element=number, kind="text")
        elif len(text) != width:
            message = f"ISA{number:02} must be {width} characters wide"
            findings.add("ISA-WIDTH", message, "ISA", 1, element=number, kind=classify_value(text))
    for number, known in ISA_CODES.items():
        code = get_element(isa, number).strip()
        _isa(isa, number, findings, passes=code in known)
        if code in known and code not in HIPAA_CODES.get(number, known):
            allowed = ", ".join(sorted(HIPAA_CODES[number]))
            message = f"ISA{number:02} should be one of {allowed}, as HIPAA's guides list them"
            findings.add("ISA-HIPAA", message, "ISA", 1, element=number, kind=classify_value(code))
    for number in (6, 8):
        _isa(isa, number, findings, passes=bool(get_element(isa, number).strip()))
    _isa(isa, 9, findings, passes=element.is_short_date(get_element(isa, 9)))
    time = get_element(isa, 10)
    _isa(isa, 10, findings, passes=len(time) == 4 and element.is_time(time))
    early = get_element(isa, 12) < CONTROL_VERSION
    _isa(isa, 11, findings, passes=early or bool(interchange.delimiters.repetition))
    control = get_element(isa, 13)
    _isa(isa, 13, findings, passes=len(control) == 9 and control.isascii() and control.isdigit())


def check_control_version(interchange: Interchange, findings: FindingCollector) -> None:
    """Check ISA12 of an interchange with groups.

    One that holds a TA1 alone has the version of the interchange that it acknowledges, whatever that is.
    """
    passes = get_element(interchange.header, 12).strip() == CONTROL_VERSION
    _isa(interchange.header, 12, findings, passes=passes)


def check_trailer(
    interchange: Interchange, groups: int, findings: FindingCollector, position: int
) -> None:
    """Check the IEA against the ISA."""
    iea = interchange.trailer
    if not groups and not any(segment[0] == "TA1" for _, segment in interchange.stray):
        check_control_version(interchange, findings)
        message = "An interchange must contain at least one group, or a TA1"
        findings.add("ISA-EMPTY", message, "ISA", 1)
    if iea is None:
        findings.add("IEA-MISSING", "The interchange must end with an IEA segment", "IEA", position)
        return
    check_form("IEA-FORM", IEA, iea, findings, position)
    if not _is_count(get_element(iea, 1), groups):
        findings.add(
            "IEA-COUNT", f"IEA01 must be {groups}, the number of groups", "IEA", position, element=1
        )
    if get_element(iea, 2).strip() != interchange.control.strip():
        findings.add("IEA-CONTROL", "IEA02 must equal ISA13", "IEA", position, element=2)


def check_group(group: FunctionalGroup, findings: FindingCollector, position: int) -> None:
    """Check the GS alone."""
    check_form("GS-FORM", GS, group.header, findings, position, GS_CODES)


def check_group_end(
    group: FunctionalGroup, sets: int, findings: FindingCollector, position: int
) -> None:
    """Check the GE against the GS."""
    ge = group.trailer
    if not sets:
        findings.add("GROUP-EMPTY", "A group must contain at least one set", "GS", position)
    if ge is None:
        findings.add("GE-MISSING", "The group must end with a GE segment", "GE", position)
        return
    check_form("GE-FORM", GE, ge, findings, position, GE_CODES)
    if not _is_count(get_element(ge, 1), sets):
        findings.add(
            "GE-COUNT", f"GE01 must be {sets}, the number of sets", "GE", position, element=1
        )
    if get_element(ge, 2).strip() != group.control.strip():
        findings.add("GE-CONTROL", "GE02 must equal GS06", "GE", position, element=2)


def check_set_end(
    header: Segment, trailer: Segment, segments: int, findings: FindingCollector
) -> None:
    """Check the SE against the ST."""
    if not _is_count(get_element(trailer, 1), segments):
        message = f"SE01 must be {segments}, the number of segments with ST and SE"
        findings.add("SE-COUNT", message, "SE", segments, element=1)
    if get_element(trailer, 2).strip() != get_element(header, 2).strip():
        findings.add("SE-CONTROL", "SE02 must equal ST02", "SE", segments, element=2)


def check_set_control(header: Segment, findings: FindingCollector) -> None:
    """Check the form of ST02."""
    control = get_element(header, 2)
    if not 4 <= len(control.strip()) <= 9:
        message = "ST02 must be 4 to 9 characters"
        findings.add("ST-CONTROL", message, "ST", 1, element=2, kind=classify_value(control))


def check_ta1(segment: Segment, findings: FindingCollector, position: int) -> None:
    """Check a TA1, which comes between the ISA and the first group."""
    check_form("TA1-FORM", TA1, segment, findings, position)
    code, note = get_element(segment, 4), get_element(segment, 5)
    # A code or note that is not listed is reported already.
    if code in TA1.elements[3].codes and note in TA1.elements[4].codes and not note_agrees(segment):
        message = "TA104 (code) must be A with the note 000, and E or R with any other note"
        findings.add("TA1-NOTE", message, "TA1", position, element=5, kind=classify_value(note))


def check_form(
    rule: str,
    node: grammar.SegmentSpec,
    segment: Segment,
    findings: FindingCollector,
    position: int,
    codes: Mapping[int, str] | None = None,
) -> None:
    """Report errors of a control segment under its own rule, warnings under theirs.

    ``codes`` are those of an acknowledgement by element, if it has not one for the whole segment.
    """
    for finding in element.check_segment(node, "", segment):
        own = FINDING_TYPES[finding.rule].severity is Severity.ERROR
        findings.add(
            rule if own else finding.rule,
            finding.message,
            node.id,
            position,
            element=finding.element,
            component=finding.component,
            repetition=finding.repetition,
            kind=finding.kind,
            code=None if codes is None or not own else codes.get(finding.element, ""),
        )


def _isa(isa: Segment, number: int, findings: FindingCollector, *, passes: bool) -> None:
    if not passes:
        rule = f"ISA-{number:02}"
        kind = classify_value(get_element(isa, number).strip())
        findings.add(
            rule, FINDING_TYPES[rule].sentence.rstrip("."), "ISA", 1, element=number, kind=kind
        )


def _is_count(text: str, expected: int) -> bool:
    text = text.strip()
    return text.isascii() and text.isdigit() and len(text) <= 10 and int(text) == expected
