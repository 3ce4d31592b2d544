"""Texts that X12 can carry, sets built from plain data, and envelopes around them.

Also tests `x12/writer/encode` and `x12/writer/build`.
"""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearlane.x12 import guides, tree
from clearlane.x12.delimiters import Delimiters
from clearlane.x12.reader.reader import parse
from clearlane.x12.writer import encode
from clearlane.x12.writer.writer import (
    BLOCK_CHARACTERS,
    Envelope,
    body_texts,
    build,
    build_isa,
    clean,
    format_day,
    format_element,
    format_money,
    format_period,
    format_segment,
    wrap_sets,
    wrap_ta1,
    write,
)
from tests.cases import every_case, full_or_quick
from tests.x12.findings_of import all_findings
from tests.x12.toy import GUIDE, choose, read

MOMENT = datetime(2024, 5, 1, 9, 5, tzinfo=UTC)
ENVELOPE = Envelope(sender="FERNHILL", receiver="MM001", control=17, moment=MOMENT)

# --- Texts ------------------------------------------------------------------------------------------

CLEANED = [
    ("ROSA ARDEN", "ROSA ARDEN", ()),
    ("", "", ()),
    ("Rosa", "ROSA", ("case",)),
    ("JOSÉ NÚÑEZ", "JOSE NUNEZ", ("accents",)),
    ("josé", "JOSE", ("case", "accents")),
    ("ØRSTED", "ORSTED", ("accents",)),
    ("STRAẞE", "STRASSE", ("accents",)),
    ("O’NEILL – “X”…", 'O\'NEILL - "X"...', ("accents",)),
    ("A`B", "A'B", ("accents",)),
    ("½ TAB", "1/2 TAB", ("accents",)),
    ("ﬁne", "FINE", ("case",)),
    ("NOTE: 1*2^3~", "NOTE 1 2 3", ("separators", "blanks")),
    ("A\tB\nC", "A B C", ("controls",)),
    ("A\x00\x85B", "A B", ("controls", "blanks")),
    ("  A   B ", "A B", ("blanks",)),
    ("A\u00a0B", "A B", ("accents",)),
    ("名 LUND", "LUND", ("lost", "blanks")),
    ("A😀", "A", ("lost",)),
]


@every_case(("dirty", "fit", "repairs"), CLEANED)
def test_texts_are_made_fit_and_the_repairs_reported(dirty, fit, repairs):
    assert clean(dirty) == (fit, repairs)
    assert set(repairs) <= encode.REPAIRS.keys()


@given(st.text(max_size=60))
def test_a_clean_text_stays_as_it_is(dirty):
    fit, _ = clean(dirty)
    assert clean(fit) == (fit, ())
    assert not set(fit) & set("*:^~\r\n")
    assert fit.isascii()
    assert fit == fit.upper().strip()


def test_a_text_is_cleaned_for_the_separators_in_use():
    assert clean("A|B", Delimiters("|", ":", "^", "~"))[0] == "A B"
    assert clean("A|B", Delimiters("|", ":", "", "~"))[0] == "A B"
    assert clean("A|B")[0] == "A|B"


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        ("100.00", "100"), ("8.20", "8.2"), ("0", "0"), ("-0.00", "0"), ("1E+3", "1000"),
        ("0.50", "0.5"), ("-12.34", "-12.34"), ("10", "10"),
    ],
)  # fmt: skip
def test_amounts_are_written_plainly(amount, written):
    assert format_money(Decimal(amount)) == written


def test_days_and_periods():
    assert format_day(date(1931, 12, 1)) == "19311201"
    assert format_period(date(2024, 5, 1), date(2024, 5, 1)) == ("D8", "20240501")
    assert format_period(date(2024, 5, 1), date(2024, 5, 2)) == ("RD8", "20240501-20240502")


def test_elements_come_from_values():
    values = [None, "A", 5, Decimal("1.50"), date(2024, 5, 1), ("HC", "1", None), ["30", "35"]]
    assert [format_element(v) for v in values] == ["", "A", "5", "1.5", "20240501", "HC:1", "30^35"]
    assert format_segment("REF", "G1", None, "") == ["REF", "G1"]


# --- Plain data -------------------------------------------------------------------------------------

DATA = {
    "2000A": [
        {
            "2000B": {
                "2300": [
                    {
                        "2400": [
                            {"SV1": [("", "99213"), 100, None, 1], "LX": {}},
                            {"SV1": {1: ("HC", "99214"), 2: Decimal("0.50"), 3: "UN", 4: "1"}},
                        ],
                        "HI": [("ABK", "E119"), ("ABF", "I10")],
                        "NTE:ADD": [{2: "ONE"}, {2: "TWO"}],
                        "DTP:472": {2: "D8", 3: date(2024, 4, 1)},
                        "REF": ["G1", "AUTH"],
                        "CLM": ["A1", Decimal("100.50"), None, None, ("11", "", "1"), "Y"],
                        "EQ": {1: ["30", "35"]},
                        "QTY": None,
                        "K3": [],
                    }
                ],
                "SBR": ["P", "18"],
                "2010BA": {"NM1": {2: "1", 3: "ARDEN", 9: "M1"}, "DMG": {2: "19800101", 3: "F"}},
            },
            "2010AA": {
                "REF:EI": {2: "911234567"},
                "N4": ["PORTLAND", "OR", "972011234"],
                "N3": ["12 FERN HILL ROAD"],
                "NM1": {2: "2", 3: "FERNHILL", 9: "1234567893"},
            },
        }
    ],
    "BHT": ["", "00", "17", date(2024, 5, 1), "1200"],
    "1000A": {"NM1": {2: "2", 3: "FERNHILL", 9: "S1"}, "PER": [None, None, "TE", "5035550101"]},
}


def test_plain_data_becomes_a_set_in_guide_order():
    root = build(GUIDE, DATA)
    assert ["*".join(s) for s in root.all_segments()] == [
        "ST*837*0001*009990X001A1",
        "BHT*0019*00*17*20240501*1200*CH",
        "NM1*41*2*FERNHILL*****46*S1",
        "PER*IC**TE*5035550101",
        "HL*1**20*1",
        "NM1*85*2*FERNHILL*****XX*1234567893",
        "N3*12 FERN HILL ROAD",
        "N4*PORTLAND*OR*972011234",
        "REF*EI*911234567",
        "HL*2*1*22*0",
        "SBR*P*18",
        "NM1*IL*1*ARDEN*****MI*M1",
        "DMG*D8*19800101*F",
        "CLM*A1*100.5***11:B:1*Y",
        "DTP*472*D8*20240401",
        "REF*G1*AUTH",
        "NTE*ADD*ONE",
        "NTE*ADD*TWO",
        "EQ*30^35",
        "HI*ABK:E119*ABF:I10",
        "LX*1",
        "SV1*HC:99213*100**1",
        "LX*2",
        "SV1*HC:99214*0.5*UN*1",
        "SE*25*0001",
    ]


def test_built_sets_are_read_back_as_they_were():
    root = build(GUIDE, DATA)
    data = b"".join(wrap_sets(ENVELOPE, GUIDE, [body_texts(root)]))
    (set,) = read(data).sets()
    assert set.root == root
    found = [f.rule for f in all_findings(read(data))]
    assert found == ["ELM-MISSING"]  # SV103 has two codes, so it cannot be filled in


def test_positions_of_a_built_set_are_those_of_the_file():
    root = build(GUIDE, DATA)
    for position, one in enumerate(root.all_segments(), 1):
        assert root.find(one)[0] == position


def test_a_composite_qualifier_is_put_in_its_component():
    data = {"2000A": {"2000B": {"2300": {"HI:ABK": {1: ("", "E119")}}}}}
    (claim,) = build(GUIDE, data).descendants("2300")
    assert claim.segment("HI") == ["HI", "ABK:E119"]
    bare = {"2000A": {"2000B": {"2300": {"HI:ABK": {}}}}}
    (claim,) = build(GUIDE, bare).descendants("2300")
    assert claim.segment("HI") == ["HI", "ABK"]


@pytest.mark.parametrize(
    "data", [{"ZZZ": ["1"]}, {"REF:QQ": ["1"]}, {"2000A": {"2010AA": {"REF": ["QQ", "1"]}}}]
)
def test_data_without_a_place_is_refused(data):
    with pytest.raises(ValueError, match="has no place for"):
        build(GUIDE, data)


def test_levels_keep_the_numbers_they_are_given():
    data = {"2000A": {"HL": {1: "7", 4: "1"}, "2000B": [{"HL": ["9", "7"], "2000C": {}}, {}]}}
    levels = [s for s in build(GUIDE, data).all_segments() if s[0] == "HL"]
    assert levels == [
        ["HL", "7", "", "20", "1"],
        ["HL", "9", "7", "22", "1"],
        ["HL", "3", "9", "23", "0"],
        ["HL", "4", "7", "22", "0"],
    ]


# --- Envelopes --------------------------------------------------------------------------------------


def test_the_interchange_header_has_its_fixed_width():
    text = "*".join(build_isa(ENVELOPE)) + "~"
    assert len(text) == 106
    assert build_isa(ENVELOPE)[6] == "FERNHILL       "
    assert build_isa(ENVELOPE)[9:14] == ["240501", "0905", "^", "00501", "000000017"]


@pytest.mark.parametrize("ending", ["", "\n"])
@pytest.mark.parametrize("signs", ["*:^~", "|>!'", "|:^\n"])
def test_sealed_sets_are_clean_in_any_separators(signs, ending):
    delimiters = Delimiters(*signs, ending)
    envelope = Envelope(
        sender="FERNHILL", receiver="MM001", control=17, moment=MOMENT, delimiters=delimiters,
        usage="P", acknowledge=True, application_sender="APP", group_control=3, set_control=42,
    )  # fmt: skip
    bodies = [body_texts(build(GUIDE, DATA)), ["~".join(body_texts(build(GUIDE, DATA)))]]
    data = b"".join(wrap_sets(envelope, GUIDE, bodies))
    file = read(data)
    assert {f.rule for f in all_findings(file)} == {"ELM-MISSING"}
    (interchange,) = file.interchanges
    assert interchange.header[14:16] == ["1", "P"]
    assert interchange.groups[0].header[2:4] == ["APP", "MM001"]
    assert interchange.groups[0].control == "3"
    assert [set.control for set in file.sets()] == ["0042", "0043"]
    assert data.count(b"\n") == 0 or signs[3] == "\n" or ending


def test_a_large_set_is_written_in_pieces_and_counted_as_a_whole():
    body = [f"NTE*ADD*{at:05}~K3*{at}" for at in range(9_999)]
    pieces = list(wrap_sets(ENVELOPE, GUIDE, [body, [*body, "K3*1~", ""]]))
    assert max(map(len, pieces)) < 2 * BLOCK_CHARACTERS
    first, second = b"".join(pieces).decode().split("ST*")[1:]
    for text, segments in ((first, 2 * 9_999 + 2), (second, 2 * 9_999 + 3)):
        whole, _, rest = text.partition("SE*")
        assert whole.count("~") + 1 == segments
        assert rest.startswith(f"{segments}*")
        assert "~~" not in text


def test_the_remittance_has_no_version_in_its_header():
    guide = guides.by_kind("835")
    data = b"".join(wrap_sets(ENVELOPE, guide, [["K3*1~"], []]))
    first, second = parse(data).sets()
    assert first.header == ["ST", "835", "0001"]
    assert [s[:2] for s in first.all_segments()] == [["ST", "835"], ["K3", "1"], ["SE", "3"]]
    assert [s[:2] for s in second.all_segments()] == [["ST", "835"], ["SE", "2"]]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sender", ""), ("sender", "X" * 16), ("sender", "X"), ("application_sender", "X"), ("receiver", "a*b"), ("sender_qualifier", "ZZZ"),
        ("control", 0), ("control", 10**9), ("group_control", -1), ("usage", "X"),
    ],
)  # fmt: skip
def test_an_envelope_that_does_not_fit_is_refused(field, value):
    fields = {"sender": "AA", "receiver": "BB", "control": 1, "moment": MOMENT, field: value}
    with pytest.raises(ValueError, match="must be"):
        list(wrap_sets(Envelope(**fields), GUIDE, []))
    with pytest.raises(ValueError, match="must be"):
        wrap_ta1(Envelope(**fields), [])


def test_a_text_that_holds_a_separator_is_refused():
    envelope = Envelope(
        sender="AA",
        receiver="BB",
        control=1,
        moment=MOMENT,
        delimiters=Delimiters("|", ":", "^", "~"),
    )
    with pytest.raises(ValueError, match="holds a separator"):
        list(wrap_sets(envelope, GUIDE, [["NTE*ADD*A|B"]]))


def test_an_answer_is_outside_any_group():
    data = wrap_ta1(ENVELOPE, [["TA1", "000000001", "240501", "1200", "A", "000"]])
    assert list(all_findings(parse(data))) == []
    assert data.endswith(b"IEA*0*000000017~")


# --- Both ways --------------------------------------------------------------------------------------

WORDS = st.text("ABC 123-/.", min_size=1, max_size=20).map(lambda t: clean(t)[0]).filter(bool)
CLAIMS = st.fixed_dictionaries({
    "CLM": st.tuples(WORDS, st.decimals(0, 9_999, places=2)).map(
        lambda pair: [pair[0], pair[1], None, None, ("11", "B", "1"), "Y"]
    ),
    "NTE:ADD": st.lists(WORDS.map(lambda note: {2: note}), max_size=2),
    "2400": st.lists(
        st.decimals(0, 999, places=2).map(lambda charge: {"SV1": [("HC", "99213"), charge, "UN", 1]}),
        min_size=1, max_size=4,
    ),
})  # fmt: skip


@settings(max_examples=full_or_quick(40, 5))
@given(st.lists(CLAIMS, min_size=1, max_size=3), st.permutations("*:^~|>!'"))
def test_what_is_written_is_read(claims, signs):
    data = {
        **DATA,
        "2000A": {**DATA["2000A"][0], "2000B": {**DATA["2000A"][0]["2000B"], "2300": claims}},
    }
    root = build(GUIDE, data)
    envelope = Envelope(
        sender="AA", receiver="BB", control=1, moment=MOMENT, delimiters=Delimiters(*signs[:4])
    )
    sealed = b"".join(wrap_sets(envelope, GUIDE, [body_texts(root)]))
    file = parse(sealed, choose_guide=choose)
    (set,) = file.sets()
    assert set.root == root
    assert {f.rule for f in all_findings(file)} <= {"TOY-TOTAL", "TOY-SET", "TOY-PARENT"}
    assert write(file) == sealed


def test_a_file_without_interchanges_is_empty():
    assert write(tree.X12File()) == b""
