"""One value at a time: what each kind of element refuses, and the words for it.

Also tests `x12/checker/value_checks`, `x12/pattern` and `x12/checker/findings`.
"""

import re

import pytest

from clearlane.x12 import pattern
from clearlane.x12.checker import element, value_checks
from clearlane.x12.checker.finding_catalogue import FINDING_TYPES
from clearlane.x12.checker.findings import classify_value
from clearlane.x12.grammar import ElementSpec, SegmentSpec, apply_usage, dictionary_segment
from clearlane.x12.guides.dictionary import seg
from tests.cases import every_case

# type, min, max, good values, {bad value: rule}
TABLE = [
    ("AN", 2, 5, ["AB", "A B", "AB-C1", "#1@_"], {
        "A": "ELM-SHORT", "ABCDEF": "ELM-LONG", " AB": "ELM-BLANKS", "AB ": "ELM-BLANKS",
        "Ab": "ELM-CASE", "A\x07B": "ELM-CHARACTER", "A\xe9": "ELM-NATIONAL", "A\u2019B": "ELM-SIGN", "A\x96B": "ELM-SIGN", "A\u20acB": "ELM-CHARACTER",
    }),
    ("AN", 1, 2, ["A", "AB"], {"ABC": "ELM-LONG"}),
    ("AN", 3, 3, ["A B"], {"AB": "ELM-SHORT"}),
    ("ID", 2, 3, ["AB", "1A3"], {"A": "ELM-SHORT", "ABCD": "ELM-LONG", "ab": "ELM-CASE"}),
    ("R", 1, 18, ["0", "100", "8.2", ".5", "-12.34", "0.50", "99999999.99", "99999999"], {
        "1.234": "ELM-CENTS", "100000000": "ELM-AMOUNT", "007": "ELM-ZEROS", "1,000": "ELM-NUMBER",
        "$5": "ELM-NUMBER", "1E3": "ELM-NUMBER", "+5": "ELM-NUMBER", "-": "ELM-NUMBER",
        ".": "ELM-NUMBER", "5.": "ELM-NUMBER", "--5": "ELM-NUMBER",
    }),
    ("R", 1, 15, ["1", "1.25", "12345.1234", "1.123456"], {
        "1234567890123456": "ELM-LONG", "X": "ELM-NUMBER", "01": "ELM-ZEROS",
    }),
    ("R", 1, 8, ["1", "12345678", "12345.123", "-1.5"], {
        "123456789": "ELM-UNITS", "1.1234": "ELM-UNITS", "123456.123": "ELM-UNITS", "1,5": "ELM-NUMBER",
    }),
    ("R", 4, 10, ["1.234"], {"1.2": "ELM-SHORT"}),
    ("N0", 1, 6, ["0", "12", "-5"], {"1234567": "ELM-LONG", "007": "ELM-ZEROS", "07": "ELM-ZEROS", "1.5": "ELM-NUMBER"}),
    ("N0", 9, 9, ["000000001"], {"1": "ELM-SHORT"}),
    ("N2", 1, 6, ["1234"], {"A": "ELM-NUMBER"}),
    ("DT", 8, 8, ["20240229", "19991231", "18500101"], {
        "20230229": "ELM-DATE", "20241301": "ELM-DATE", "240501": "ELM-DATE", "2024-5-1": "ELM-DATE",
    }),
    ("DT", 6, 6, ["240501", "000229"], {"240230": "ELM-DATE", "20240501": "ELM-DATE"}),
    ("DT", 6, 8, ["240501", "20240501"], {"2405": "ELM-DATE"}),
    ("TM", 4, 4, ["0000", "2359"], {"2400": "ELM-TIME", "120000": "ELM-TIME", "12": "ELM-TIME"}),
    ("TM", 4, 8, ["1200", "120059", "1200591", "12005999"], {"1260": "ELM-TIME", "12005": "ELM-TIME"}),
    ("B", 1, 5, ["ABC"], {"ABCDEF": "ELM-LONG"}),
]  # fmt: skip

CASES = [
    (kind, low, high, value, rule)
    for kind, low, high, good, bad in TABLE
    for value, rule in [*((v, "") for v in good), *bad.items()]
]


def place(*elements: ElementSpec, syntax: str = "", id: str = "XX") -> SegmentSpec:
    return SegmentSpec(id, "A segment", "R", 1, elements, tuple(syntax.split()))


# Right values that the expression does not match: they are rare, and the slow look decides.
RARE = {
    "XX*1.123456", "XX*12345678", "XX*1.234", "XX*-5", "XX*20240229", "XX*18500101", "XX*000229", "XX*240501", "XX*20240501",
    "XX*ABC", "XX*D8*20240229", "XX*RDT*202401011200-202401011300", "XX*UN*ANY", "XX*D8:20240101", "XX*D8*20240101", "XX*ANY",
}  # fmt: skip


def rules(node: SegmentSpec, text: str, loop: str = "") -> list[str]:
    """The rules that a text breaks; the quick expression must agree with the slow look."""
    segment = text.split("*")
    found = [flaw.rule for flaw in element.check_segment(node, loop, segment)]
    is_matched = pattern.compile_pattern(node).fullmatch(text)
    assert found or is_matched or text in RARE, f"{text} is right and needs the slow look"
    if is_matched:
        watch = value_checks.compile_quick_check(node, loop)
        assert not found or (watch is not None and watch(segment)), f"{text} passes though {found}"
    for flaw in element.check_segment(node, loop, segment):
        assert flaw.rule in FINDING_TYPES
        assert flaw.message[0].isupper()
    return found


@every_case(("kind", "low", "high", "value", "rule"), CASES)
def test_values_of_each_type(kind, low, high, value, rule):
    node = place(ElementSpec(1, "Thing", kind, low, high, "R"))
    assert rules(node, f"XX*{value}") == ([rule] if rule else [])


PERIODS = [
    ("D8", "20240229", True), ("D8", "20230229", False), ("RD8", "20240101-20240131", True),
    ("RD8", "20240101", False), ("RD8", "20240101-20240132", False), ("D6", "240101", True),
    ("D6", "241301", False), ("DT", "202401011200", True), ("DT", "20240101", False),
    ("DT", "202413011200", False), ("TM", "1200", True), ("TM", "2500", False),
    ("RDT", "202401011200-202401011300", True), ("RDT", "202401011200", False), ("UN", "ANY", True),
    ("UN", "X" * 36, False),
]  # fmt: skip


@every_case(("qualifier", "value", "passes"), PERIODS)
def test_periods_have_the_form_their_qualifier_names(qualifier, value, passes):
    for codes in ((qualifier,), ("D8", "RD8", "D6", "DT", "TM", "RDT", "UN")):
        node = place(
            ElementSpec(1, "Form", "ID", 2, 3, "R", codes), ElementSpec(2, "When", "TP", 1, 35, "R")
        )
        found = rules(node, f"XX*{qualifier}*{value}")
        assert found == ([] if passes else ["ELM-LONG" if qualifier == "UN" else "ELM-PERIOD"])


def test_periods_in_composites_and_in_optional_pairs():
    hi = seg("HI", "Codes", "R", 1, "R(R=ABK R S=D8|RD8 S) S(R=ABF R S=D8 S)")
    assert rules(hi, "HI*ABK:E119:D8:20240101*ABF:I10") == []
    assert rules(hi, "HI*ABK:E119:D8:20240199") == ["ELM-PERIOD"]
    dmg = seg("DMG", "Birth", "S", 1, "S=D8 S R=F|M")
    assert rules(dmg, "DMG*D8*20000101*F") == rules(dmg, "DMG***F") == []
    assert rules(dmg, "DMG*D8**F") == ["SYN-P"]


def test_usage_of_elements():
    nm1 = seg("NM1", "Name", "R", 1, "R=85 R=1|2 R S - - - S=XX S")
    assert rules(nm1, "NM1*85*2*FERN") == []
    assert rules(nm1, "NM1*85*2") == ["ELM-MISSING"]
    assert rules(nm1, "NM1*85**FERN") == ["ELM-MISSING"]
    assert rules(nm1, "NM1*86*2*FERN") == ["ELM-CODE"]
    assert rules(nm1, "NM1*85*2*FERN**M") == ["ELM-UNUSED"]
    assert rules(nm1, "NM1*85*2*FERN*") == ["SEG-TRAILING"]
    assert rules(nm1, "NM1*85*2*FERN*****XX") == ["SYN-P"]
    assert rules(nm1, "NM1*85*2*FERN*****XX*1234567890") == ["VAL-NPI"]
    assert rules(nm1, "NM1*85*2*FERN*****XX*1234567893") == []
    bpr = seg("BPR", "Payment", "R", 1, "R R R R S S=01|04 S")
    assert rules(bpr, "BPR*I*1*C*ACH*CCP*01*123456780") == []
    assert rules(bpr, "BPR*I*1*C*ACH*CCP*01*123456789") == ["VAL-BANK"]
    assert rules(bpr, "BPR*I*1*C*ACH*CCP*04*123456789") == []
    assert rules(nm1, "NM1*85*2*FE:RN") == ["ELM-COMPONENTS"]
    assert rules(nm1, "NM1*85*2*FE^RN") == ["ELM-REPEAT"]
    assert rules(nm1, "NM1*85*2*F" + "*" * 8 + "A*B*C*D") == ["ELM-SURPLUS"] + ["ELM-UNUSED"] * 2


def test_composites_and_repetitions():
    sv1 = seg("SV1", "Service", "R", 1, "R(R=HC R S - -) R R=UN R")
    assert rules(sv1, "SV1*HC:99213*100*UN*1") == []
    assert rules(sv1, "SV1*HC:99213:25*100*UN*1") == []
    assert rules(sv1, "SV1*HC*100*UN*1") == ["ELM-MISSING"]
    assert rules(sv1, "SV1*:99213*100*UN*1") == ["ELM-MISSING"]
    assert rules(sv1, "SV1*HC:99213:*100*UN*1") == ["ELM-TRAILING"]
    assert rules(sv1, "SV1*HC:99213::X*100*UN*1") == ["ELM-UNUSED"]
    assert rules(sv1, "SV1*HC:99213" + ":A" * 7 + "*1*UN*1")[0] == "ELM-COMPONENTS"
    eq = seg("EQ", "Inquiry", "R", 1, "S*3 S(S R)*2")
    assert rules(eq, "EQ*30^35^1") == []
    assert rules(eq, "EQ*30^35^1^2") == ["ELM-REPEAT"]
    assert rules(eq, "EQ*30^^35") == ["ELM-SHORT"]
    assert rules(eq, "EQ**:99213^HC:99214") == []
    assert rules(eq, "EQ**HC^HC:99214") == ["ELM-MISSING"]
    assert rules(eq, "EQ") == ["SYN-R"]
    dn1 = seg("DN1", "Orthodontics", "S", 1, "S S - S")
    assert rules(dn1, "DN1*24") == []
    assert rules(dn1, "DN1") == ["SEG-BARE"]
    found = element.check_segment(eq, "", ["EQ", "", "HC:99213^HC"])
    assert [(f.element, f.component, f.repetition) for f in found] == [(2, 2, 2)]
    odd = place(
        ElementSpec(1, "Odd", "C", 0, 0, "R", components=apply_usage(
            dictionary_segment("x", "A: C\n  One: AN 1-2\n  Two: AN 1-2").elements[0].components, "- R")),
    )  # fmt: skip
    assert rules(odd, "XX*:B") == []
    assert rules(odd, "XX*A:B") == ["ELM-UNUSED"]
    when = place(
        ElementSpec(1, "Odd", "C", 0, 0, "R", components=apply_usage(
            dictionary_segment("x", "A: C\n  Form: ID 2-3\n  When: TP 1-35").elements[0].components, "R=D8 R")),
    )  # fmt: skip
    assert rules(when, "XX*D8:20240101") == []
    assert rules(when, "XX*D8:2024") == ["ELM-PERIOD"]
    alone = place(
        ElementSpec(1, "Odd", "C", 0, 0, "R", components=apply_usage(
            dictionary_segment("x", "A: C\n  One: AN 1-2").elements[0].components, "R")),
    )  # fmt: skip
    assert rules(alone, "XX*A") == []


@every_case(
    ("syntax", "pattern_text", "good", "bad"),
    [
        ("P0204", "S S S S", ["A", "A*B*C*D", "*B**D", "A**C"], {"A*B": "SYN-P", "A*B*C": "SYN-P"}),
        ("P0203", "S S S", ["A", "A*B*C"], {"A*B": "SYN-P", "A**C": "SYN-P"}),
        ("P0203", "R R S", ["A*B*C"], {"A*B": "SYN-P"}),
        ("P0102", "R R", ["A*B"], {}),
        ("P0203", "S S S*2", ["A*B*C^D"], {"A*B": "SYN-P"}),
        ("R0102", "S S S", ["A", "*B"], {"**C": "SYN-R"}),
        ("E0102", "S S S", ["A", "*B", "**C"], {"A*B": "SYN-E"}),
        ("E0103", "S S -", ["A"], {}),
        ("C0103", "S S S", ["A**C", "*B"], {"A*B": "SYN-C", "A": "SYN-C"}),
        ("C0103", "- S S", ["**C"], {}),
        ("C0103", "S S R", ["A**C"], {}),
        ("L010203", "S S S", ["A*B", "A**C", "*B"], {"A": "SYN-L"}),
        ("L010203", "S R S", ["A*B"], {}),
        ("L010203", "- S S", ["*B"], {}),
    ],
)
def test_syntax_notes(syntax, pattern_text, good, bad):
    rows = dictionary_segment("x", "\n".join(f"E{n}: AN 1-2" for n in range(1, 5)))
    node = place(*apply_usage(rows.elements, pattern_text), syntax=syntax)
    for text in good:
        assert rules(node, f"XX*{text}") == []
    for text, rule in bad.items():
        assert rules(node, f"XX*{text}") == [rule]


def test_codes_are_matched_whole_and_reported():
    codes = ("1", "10", "11", "A", "AB", "ABC", "B1", "C-D", "X.Y")
    node = place(ElementSpec(1, "Code", "AN", 1, 5, "R", codes))
    for code in codes:
        assert pattern.compile_pattern(node).fullmatch(f"XX*{code}")
        assert rules(node, f"XX*{code}") == []
    for code in ("2", "100", "AC", "ABCD", "B", "XZY"):
        assert rules(node, f"XX*{code}") == ["ELM-CODE"]
    (flaw,) = element.check_segment(node, "", ["XX", "2"])
    assert flaw.message == "XX01 (code) must be one of 1, 10, 11, A, AB, ABC, B1, C-D, X.Y"
    many = place(ElementSpec(1, "Code", "ID", 2, 2, "R", tuple(f"{n:02}" for n in range(20))))
    assert "(20 codes in all)" in element.check_segment(many, "", ["XX", "99"])[0].message
    one = place(ElementSpec(1, "Code", "ID", 2, 2, "R", ("85",)))
    assert element.check_segment(one, "", ["XX"])[0].message == "XX01 (code) is required: 85"


def test_outside_lists():
    sv1 = seg(
        "SV1", "Service", "R", 1, "R(R=HC R S=@places_of_service) R R=UN R S=@places_of_service"
    )
    assert rules(sv1, "SV1*HC:99213*1*UN*1*11") == []
    assert rules(sv1, "SV1*HC:99213*1*UN*1") == []
    assert rules(sv1, "SV1*HC:99213*1*UN*1*1X") == ["ELM-LIST"]
    assert rules(sv1, "SV1*HC:99213:1X*1*UN*1") == ["ELM-LIST"]
    eq = seg("EQ", "Inquiry", "R", 1, "S=@places_of_service*3 S(R R S=@places_of_service)*2")
    assert rules(eq, "EQ*11^12") == []
    assert [f.repetition for f in element.check_segment(eq, "", ["EQ", "11^1X"])] == [2]
    assert [f.repetition for f in element.check_segment(eq, "", ["EQ", "", "HC:1^HC:1:1X"])] == [2]
    nobody = seg("AMT", "Amount", "R", 1, "R=@no_such_list R")
    assert rules(nobody, "AMT*XYZ*1") == []
    assert value_checks.compile_quick_check(nobody, "") is None
    assert value_checks.is_in_list("no_such_list", "anything")


LOOKS = [
    ("2010AA", "PRV", "R=BI R=PXC R", "PRV*BI*PXC*207Q00000X", "PRV*BI*PXC*207Q", "VAL-TAXONOMY"),
    ("2000A", "PER", "R=IC S R R S S", "PER*IC**TE*5035550101", "PER*IC**TE*503-555-0101", "VAL-PHONE"),
    ("2000A", "PER", "R=IC S R R S S", "PER*IC**EM*A@B", "PER*IC**EM*A@B*TE*1", "VAL-PHONE"),
    ("2330B", "N4", "R S S S", "N4*CITY*OR*97201", "N4*CITY*OR*9720", "VAL-ZIP"),
    ("2330B", "N4", "R S S S", "N4*CITY**9720*CA", "N4*CITY*OR*9720*US", "VAL-ZIP"),
    ("2010AA", "N4", "R S S S", "N4*CITY*OR*972011234", "N4*CITY*OR*97201", "VAL-ZIP4"),
    ("2010AA", "N4", "R S S S", "N4*CITY**22000*MX", "N4*CITY*OR*97201*US", "VAL-ZIP4"),
    ("2010AA", "N3", "R S", "N3*1 ROAD", "N3*PO BOX 5", "VAL-STREET"),
    ("2010AA", "N3", "R S", "N3*1 ROAD*SUITE 2", "N3*1 ROAD*PO BOX 5", "VAL-STREET"),
    ("2010AB", "N3", "R S", "N3*PO BOX 5", "N3*" + "X" * 56, "ELM-LONG"),
]  # fmt: skip


@pytest.mark.parametrize(("loop", "id", "usage", "good", "bad", "rule"), LOOKS)
def test_values_that_a_payer_may_refuse(loop, id, usage, good, bad, rule):
    node = seg(id, "A segment", "R", 1, usage)
    assert rules(node, good, loop) == []
    assert rules(node, bad, loop) == [rule]


def test_segments_without_a_place_are_looked_at_too():
    assert element.check_unplaced_segment(["ZZZ", "A", "B:C^D"]) == []
    found = element.check_unplaced_segment(["ZZZ", "a", "\x01", ""])
    assert [(f.rule, f.element) for f in found] == [
        ("SEG-TRAILING", 3), ("ELM-CASE", 1), ("ELM-CHARACTER", 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind"),
    [("", "empty"), ("12", "digits"), ("-1.5", "decimal"), ("ABC", "letters"), ("A 1", "text")],
)
def test_a_value_is_classified_by_its_kind(text, kind):
    assert classify_value(text) == kind


def test_messages_hold_no_value():
    node = seg("NM1", "Name", "R", 1, "R=85 R=1|2 R<10 S - - - S=XX S")
    for flaw in element.check_segment(
        node, "", ["NM1", "IL", "9", "SECRETSECRETSECRET", "x", "SECRET", "", "", "XX", "SECRET"]
    ):
        assert not re.search("SECRET|IL", flaw.message)


def test_expressions_grow_linearly():
    node = seg("CAS", "Adjustments", "S", 1, "R R R" + " S" * 16)
    assert len(pattern.build_expression(node)) < 10_000


def test_types_that_no_expression_knows_are_left_to_the_slow_look():
    node = place(ElementSpec(1, "Form", "ID", 2, 3, "R"), ElementSpec(2, "When", "TP", 1, 35, "R"))
    assert not pattern.compile_pattern(node).fullmatch("XX*D8*20240101")
    assert rules(node, "XX*D8*20240101") == []
    lonely = place(ElementSpec(1, "When", "TP", 1, 35, "R"))
    assert rules(lonely, "XX*ANY") == []
    only = place(
        ElementSpec(1, "Form", "ID", 2, 3, "R", ("UN",)), ElementSpec(2, "When", "TP", 1, 35, "R")
    )
    assert rules(only, "XX*UN*ANY") == []
