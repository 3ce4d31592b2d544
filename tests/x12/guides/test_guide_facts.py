"""Facts about guides that no other package describes (837D, 999, TA1) or describes otherwise (277CA), with their sources.

A fact is one cell of a guide: its usage, how often it may occur, its codes or the length of an element. The sources are
X12's own published interpretations (RFI), the published examples of the guide, the dictionary of X12 005010, and what two
independent encodings of the guide agree on. Where there is no second source, the row says so.
"""

import pytest

from clearlane.x12.grammar import ElementSpec, LoopSpec, SegmentSpec
from clearlane.x12.guides import by_kind
from clearlane.x12.guides.ta1 import SEGMENT as TA1
from tests.cases import every_case

TWO = "two independent encodings of the guide agree"
READ = "the guide as read for this project; no second encoding was compared"
EXAMPLES = "the published examples of the guide"
X12 = "the dictionary of X12 005010"
CLAIM = "2000A/2000B/2300"
LINE = f"{CLAIM}/2400"

# Kind, place, what, value, source. A place is loops/segment:qualifier/element-component.
FACTS: list[tuple[str, str, str, object, str]] = [
    # 837D: the claim.
    ("837D", "BHT/03", "max", 30, "the guide's note to BHT03"),
    ("837D", "2000A/2000B/2010BB/REF:G2", "repeat", 1, TWO),
    ("837D", "2000A/2000B/2010BB/REF:G2/01", "codes", "G2 LU", TWO),
    ("837D", CLAIM, "repeat", 100, READ),
    ("837D", f"{CLAIM}/CLM/19", "codes", "PB", EXAMPLES),
    ("837D", f"{CLAIM}/DTP:472/02", "codes", "D8 RD8", TWO),
    ("837D", f"{CLAIM}/DTP:452/02", "codes", "D8", READ),
    ("837D", f"{CLAIM}/DN1", "usage", "S", EXAMPLES),
    ("837D", f"{CLAIM}/DN2", "repeat", 35, READ),
    ("837D", f"{CLAIM}/DN2/06", "codes", "JP", EXAMPLES),
    ("837D", f"{CLAIM}/NTE:ADD", "repeat", 5, READ),
    ("837D", f"{CLAIM}/HI:ABK", "usage", "S", "a dental claim may go without a diagnosis: " + EXAMPLES),
    ("837D", f"{CLAIM}/HI:ABK", "elements", 4, READ),
    ("837D", f"{CLAIM}/REF:4N/02", "codes", "1 2 3 4 5 6 7", "the guide's note to REF02"),
    ("837D", f"{CLAIM}/2310A/NM1:DN/01", "codes", "DN P3", READ),
    ("837D", f"{CLAIM}/2310B/NM1:82/01", "codes", "82", READ),
    ("837D", f"{CLAIM}/2310C/NM1:77/01", "codes", "77", READ),
    ("837D", f"{CLAIM}/2310D/NM1:DD/01", "codes", "DD", READ),
    ("837D", f"{CLAIM}/2310E/NM1:DQ/01", "codes", "DQ", READ),
    ("837D", f"{CLAIM}/2320", "repeat", 10, READ),
    ("837D", f"{CLAIM}/2320/OI", "usage", "R", READ),
    ("837D", f"{CLAIM}/2320/2330B/REF:T4/02", "codes", "Y", "the guide's note to REF02"),
    # 837D: the line.
    ("837D", LINE, "repeat", 50, READ),
    ("837D", f"{LINE}/SV3", "usage", "R", EXAMPLES),
    ("837D", f"{LINE}/SV3/01-1", "codes", "AD", EXAMPLES),
    ("837D", f"{LINE}/SV3/04", "components", 5, EXAMPLES),
    ("837D", f"{LINE}/SV3/05", "codes", "I R", READ),
    ("837D", f"{LINE}/TOO", "repeat", 32, READ),
    ("837D", f"{LINE}/TOO/01", "codes", "JP", EXAMPLES),
    ("837D", f"{LINE}/DTP:472/02", "codes", "D8", TWO),
    ("837D", f"{LINE}/DTP:441/01", "codes", "139 441", TWO),
    ("837D", f"{LINE}/2420D/NM1:77/01", "codes", "77", READ),
    ("837D", f"{LINE}/2420D/REF:G2/01", "codes", "1G G2 LU", TWO),
    ("837D", f"{LINE}/2430", "repeat", 15, READ),
    # 277CA, where the witness's map is silent or the trade differs.
    ("277CA", "ST/03", "codes", "005010X214", X12),
    ("277CA", "BHT/01", "codes", "0085", EXAMPLES),
    ("277CA", "BHT/02", "codes", "08", EXAMPLES),
    ("277CA", "BHT/06", "codes", "TH", EXAMPLES),
    ("277CA", "2000A/HL:20/03", "codes", "20", EXAMPLES),
    ("277CA", "2000A/2000B/HL:21/03", "codes", "21", EXAMPLES),
    ("277CA", "2000A/2000B/2000C/HL:19/03", "codes", "19", EXAMPLES),
    ("277CA", "2000A/2000B/2000C/2200C/STC/02", "usage", "N", TWO),
    ("277CA", "2000A/2000B/2000C/2000D/HL:PT/04", "usage", "N", TWO),
    ("277CA", "2000A/2000B/2000C/2000D/2200D/TRN/01", "codes", "2", EXAMPLES),
    ("277CA", "2000A/2000B/2000C/2000D/2200D/STC/03", "codes", "U WQ", EXAMPLES),
    ("277CA", "2000A/2000B/2200B/QTY:90", "repeat", 1, READ),
    ("277CA", "2000A/2000B/2000C/2200C/QTY:QC", "repeat", 1, READ),
    # 999.
    ("999", "ST/03", "codes", "005010X231A1 005010X231", X12),
    ("999", "AK1", "usage", "R", READ),
    ("999", "2000", "repeat", 0, "a group may hold any number of sets: " + X12),
    ("999", "2000/2100/IK3/02", "max", 10, X12),
    ("999", "2000/2100/IK3/03", "max", 4, X12),
    ("999", "2000/IK5/01", "codes", "A E M R W X", X12),
    ("999", "AK9/01", "codes", "A E M P R W X", X12),
]  # fmt: skip
# Codes that must be among those of an element.
INCLUDED: list[tuple[str, str, str, str]] = [
    ("999", "2000/2100/2110/IK4/03", "I6 I9 I10 I11 I12 I13", "X12 RFI 2502, and " + X12),
    ("999", "2000/2100/IK3/04", "I4 I6 I7 I8 I9", X12),
    ("999", "2000/IK5/02", "I5 I6", X12),
    ("999", "AK1/01", "HB HC HN HP HR HS", X12),
]


def find(kind: str, path: str) -> LoopSpec | SegmentSpec | ElementSpec:
    node: LoopSpec | SegmentSpec | ElementSpec = by_kind(kind).root
    for step in path.split("/"):
        if isinstance(node, LoopSpec):
            id, _, qualifier = step.partition(":")
            (node,) = (
                child
                for child in node.children
                if child.id == id
                and (not qualifier or qualifier in getattr(child, "qualifiers", ()))
            )
        else:
            assert isinstance(node, SegmentSpec)
            number, _, component = step.partition("-")
            node = node.elements[int(number) - 1]
            node = node.components[int(component) - 1] if component else node
    return node


def value(node: LoopSpec | SegmentSpec | ElementSpec, what: str) -> object:
    if what == "codes":
        return set(node.codes)
    if what in {"elements", "components"}:
        return len([e for e in getattr(node, what) if e.usage != "N"])
    return getattr(node, what)


@every_case(("kind", "path", "what", "wanted", "source"), FACTS)
def test_the_guide_has_the_fact(kind, path, what, wanted, source):
    wanted = set(wanted.split()) if what == "codes" else wanted
    assert value(find(kind, path), what) == wanted, source


@pytest.mark.parametrize(("kind", "path", "codes", "source"), INCLUDED)
def test_the_guide_has_the_codes(kind, path, codes, source):
    assert set(codes.split()) <= set(find(kind, path).codes), source


def test_a_837d_has_no_professional_service_and_a_ta1_its_lists():
    ids = {child.id for child in find("837D", LINE).children}
    assert "SV1" not in ids
    assert TA1.elements[3].codes == ("A", "E", "R")
    assert set(TA1.elements[4].codes) == {f"{note:03}" for note in range(32)}
    assert [by_kind(kind).functional_id for kind in ("837D", "277CA", "999")] == ["HC", "HN", "FA"]


def test_every_fact_has_a_source_and_is_reported_once():
    assert all(fact[-1] for fact in (*FACTS, *INCLUDED))
    assert len({fact[:3] for fact in FACTS}) == len(FACTS)
