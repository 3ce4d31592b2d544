"""Faults of envelopes, order, hierarchy and rules, each with its position.

Also tests `x12/checker/finding_catalogue` and `x12/checker/envelope`.
"""

import pytest

from clearlane.kernel.finding import Severity, Stage
from clearlane.x12.checker.check import check, event_findings
from clearlane.x12.checker.collector import FindingCollector
from clearlane.x12.checker.finding_catalogue import FINDING_TYPES
from clearlane.x12.grammar import Guide, loop
from clearlane.x12.guides.dictionary import seg
from clearlane.x12.reader.reader import Reader, parse
from tests.cases import every_case
from tests.x12.findings_of import all_findings
from tests.x12.toy import (
    BODY,
    CLAIM,
    HEADER,
    ISA,
    SUBSCRIBER,
    VERSION,
    choose,
    file,
    findings_in,
    read,
    replaced,
    set_of,
    wrap,
)


def at(row: str) -> int:
    """The position of a row of the body in its set."""
    return BODY.index(row) + 2


def rules(data: bytes) -> list[str]:
    return [rule for rule, *_ in findings_in(data)]


# --- Envelopes --------------------------------------------------------------------------------------

ISA_FAULTS = [
    ("*00*          *00", "*09*          *00", "ISA-01", 1),
    ("*00*          *ZZ", "*07*          *ZZ", "ISA-03", 3),
    ("*ZZ*SENDER", "*QQ*SENDER", "ISA-05", 5),
    ("SENDER         ", "               ", "ISA-06", 6),
    ("*ZZ*RECEIVER", "*QQ*RECEIVER", "ISA-07", 7),
    ("RECEIVER       ", "               ", "ISA-08", 8),
    ("240501*1200", "241301*1200", "ISA-09", 9),
    ("240501*1200", "240501*2460", "ISA-10", 10),
    ("*^*", "*U*", "ISA-11", 11),
    ("00501", "00601", "ISA-12", 12),
    ("*0*T*", "*2*T*", "ISA-14", 14),
    ("*0*T*", "*0*I*", "ISA-15", 15),
    ("SENDER         ", "SENDER", "ISA-WIDTH", 6),
]


@pytest.mark.parametrize(("old", "new", "rule", "element"), ISA_FAULTS)
def test_faults_of_the_interchange_header(old, new, rule, element):
    data = wrap(set_of(BODY), isa=ISA.replace(old, new, 1))
    assert findings_in(data) == [(rule, 0, element, 0)]


def test_a_control_number_is_nine_digits():
    data = wrap(set_of(BODY), isa=ISA.replace("000000001", "00000001A"))
    assert set(rules(data)) == {"ISA-13", "IEA-CONTROL"}


@pytest.mark.parametrize("ending", [" ~", "   ~\r\n", "  \n"])
def test_blanks_before_every_terminator_are_reported_once_and_are_no_data(ending):
    plain = file()
    data = plain.decode().replace("~", ending).encode()
    assert findings_in(data) == [("ELM-BLANKS", 0, 16, 0)]
    reader = Reader(choose_guide=choose)
    events = [e for n in range(len(data)) for e in reader.feed(data[n : n + 1])] + reader.finish()
    assert [f.rule for e in events for f in event_findings(e)] == ["ELM-BLANKS"]
    sets = [next(parse(text, choose_guide=choose).sets()) for text in (plain, data)]
    assert list(sets[0].root.all_segments()) == list(sets[1].root.all_segments())


def test_early_control_versions_need_no_repetition_separator():
    data = wrap(set_of(BODY), isa=ISA.replace("*^*00501", "*U*00401"))
    assert rules(data) == ["ISA-12"]


ENVELOPE_FAULTS = [
    (b"IEA*1*", b"IEA*2*", "IEA-COUNT"),
    (b"IEA*1*", b"IEA*X*", "IEA-COUNT"),
    (b"IEA*1*000000001", b"IEA*1*000000002", "IEA-CONTROL"),
    (b"IEA*1*000000001", b"IEA*1*1", "IEA-CONTROL"),
    (b"IEA*1*000000001", b"IEA*1*000000001*X", "IEA-FORM"),
    (b"IEA*1*000000001~", b"", "IEA-MISSING"),
    (b"GE*1*1", b"GE*7*1", "GE-COUNT"),
    (b"GE*1*1", b"GE*1*01", "GE-CONTROL"),
    (b"GE*1*1", b"GE*1*1*1", "GE-FORM"),
    (b"GE*1*1~", b"", "GE-MISSING"),
    (b"GS*HC*SENDER", b"GS*HC*S", "GS-FORM"),
    (b"GS*HC", b"GS*HP", "GS-FUNCTION"),
    (b"20240501*1200*1*X", b"20240501*1200*1*T", "GS-FORM"),
    (b"SE*29*0001", b"SE*30*0001", "SE-COUNT"),
    (b"SE*29*0001", b"SE*29*0002", "SE-CONTROL"),
    (b"SE*29*0001~", b"", "SE-MISSING"),
    (b"~ST*837*", b"~ST*999*", "ST-GUIDE"),
    (b"SE*29", b"K3*STRAY~SE*30", "SEG-ORDER"),
    (b"GE*1*1", b"K3*STRAY~GE*1*1", "STRAY"),
    (b"~IEA", b"~K3*STRAY~IEA", "STRAY"),
    (b"~IEA", b"~GE*1*1~IEA", "STRAY"),
    (b"~IEA", b"~ST*837*0001~IEA", "STRAY"),
    (b"~IEA", b"~", "IEA-MISSING"),
    (b"IEA*1*000000001~", b"IEA*1*000000001", "FILE-CUT"),
    (b"~GS*", b"~~GS*", "FILE-BLANK"),
    (b"~GS*", b"~ GS*", "FILE-INDENT"),
    (b"~GS*", b"~\n\t GS*", "FILE-INDENT"),
    (b"ISA*00", b"\xef\xbb\xbfISA*00", "FILE-MARK"),
    (b"ISA*00*", b"ISA*01*", "ISA-HIPAA"),
    (b"*ZZ*SENDER", b"*02*SENDER", "ISA-HIPAA"),
    (b"*ZZ*RECEIVER", b"*12*RECEIVER", "ISA-HIPAA"),
    (b"~GS*", b"~TA1*1~GS*", "TA1-FORM"),
    (b"GE*1*1", b"TA1*000000001*240501*1200*A*000~GE*1*1", "STRAY"),
    (b"ISA*00", b"FOO ISA*00", "FILE-JUNK"),
    (b"ISA*00", b"ISA ISA*00", "FILE-HEADER"),
]


@every_case(("old", "new", "rule"), ENVELOPE_FAULTS)
def test_faults_of_envelopes(old, new, rule):
    data = file()
    assert data.count(old) >= 1
    assert rule in rules(data.replace(old, new, 1))


def test_a_set_without_an_end_ends_at_the_next():
    broken = [*set_of(BODY)[:-1], *set_of(BODY, control="0002")]
    assert findings_in(wrap(broken, sets=2)) == [("SE-MISSING", len(BODY) + 2, 0, 0)]
    unknown = [*set_of(["K3*1"], version="X")[:-1], *set_of(["K3*1"], control="0002", version="X")]
    found = findings_in(wrap(unknown, sets=2, version="X"))
    assert ("SE-MISSING", 3, 0, 0) in found
    assert rules(wrap(unknown[:2], version="X")[:-1]).count("SE-MISSING") == 1


def test_numbers_are_used_once():
    twice = wrap([*set_of(BODY), *set_of(BODY)], sets=2)
    assert findings_in(twice) == [("ST-TWICE", 1, 2, 0)]
    assert rules(file() + file()) == ["ISA-TWICE"]
    group = b"GS*HC*SENDER*RECEIVER*20240501*1200*1*X*" + VERSION.encode() + b"~"
    groups = file().replace(b"IEA*1", group + "~".join(set_of(BODY)).encode() + b"~GE*1*1~IEA*2")
    assert rules(groups) == ["GS-TWICE"]


def test_control_numbers_have_their_form():
    assert findings_in(wrap(set_of(BODY, control="1"))) == [
        ("ST-CONTROL", 1, 2, 0), ("ELM-SHORT", 1, 2, 0), ("ELM-SHORT", len(BODY) + 2, 2, 0),
    ]  # fmt: skip


def test_an_empty_group_is_reported():
    assert rules(wrap([], sets=0)) == ["GROUP-EMPTY"]


def test_an_interchange_holds_a_group_or_a_ta1():
    empty = f"{ISA}~IEA*0*000000001~".encode()
    assert rules(empty) == ["ISA-EMPTY"]
    assert rules(empty.replace(b"IEA", b"TA1*000000005*240501*1200*A*000~IEA")) == []


def test_a_trailer_may_have_blanks_before_the_terminator():
    data = file().replace(b"SE*29*0001~", b"SE*29*0001 ~")
    (finding,) = list(all_findings(read(data)))
    assert (finding.rule, finding.severity) == ("ELM-BLANKS", Severity.WARNING)


def test_a_ta1_is_alone_in_its_interchange():
    data = ISA.encode() + b"~TA1*000000001*240501*1200*A*000~IEA*0*000000001~"
    assert findings_in(data) == []
    (kept,) = read(data).interchanges[0].stray
    assert kept[1][0] == "TA1"


@pytest.mark.safe_default(10)
def test_the_version_of_an_interchange_counts_only_with_a_group():
    """A TA1 comes in an interchange of the version that it acknowledges."""
    early = ISA.replace("*^*00501", "*U*00401")
    assert rules(early.encode() + b"~TA1*000000001*240501*1200*A*000~IEA*0*000000001~") == []
    assert rules(wrap(set_of(BODY), isa=early)) == ["ISA-12"]
    assert rules(early.encode() + b"~IEA*0*000000001~") == ["ISA-12", "ISA-EMPTY"]


# --- Versions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "rules"),
    [
        ("A*000", []), ("E*018", []), ("R*001", []),
        ("A*018", ["TA1-NOTE"]), ("E*000", ["TA1-NOTE"]), ("R*000", ["TA1-NOTE"]),
        # A malformed value is reported once, and not as a contradiction too.
        ("X*000", ["TA1-FORM"]), ("R*99", ["TA1-FORM"]), ("A", ["TA1-FORM"]),
    ],
)  # fmt: skip
def test_the_verdict_of_a_ta1_agrees_with_its_note(verdict, rules):
    ta1 = f"~TA1*000000001*240501*1200*{verdict}~IEA*0*000000001~"
    found = list(all_findings(read(ISA.encode() + ta1.encode())))
    assert [f.rule for f in found] == rules
    assert all(
        (f.position.interchange, f.position.file_segment, f.position.segment_id) == (1, 2, "TA1")
        for f in found
    )
    assert {f.position.element for f in found if f.rule == "TA1-NOTE"} <= {5}


def test_an_earlier_name_is_read_with_information():
    data = wrap(set_of(BODY, version="009990X001"), version="009990X001")
    (finding,) = all_findings(read(data))
    assert (finding.rule, finding.severity) == ("ST-EARLIER", Severity.INFO)
    assert next(read(data).sets()).guide.id == VERSION


def test_two_names_of_one_guide_are_a_warning_and_two_guides_an_error():
    same = wrap(set_of(BODY), version="009990X001")
    assert [(f.rule, f.severity) for f in all_findings(read(same))] == [
        ("ST-AGREE", Severity.WARNING)
    ]
    other = wrap(set_of(BODY), version="005010X222A1")
    assert [(f.rule, f.severity) for f in all_findings(read(other))] == [
        ("ST-AGREE", Severity.ERROR)
    ]


def test_a_request_code_on_an_answer_is_a_warning():
    data = wrap(["ST*271*0001*005010X279A1", "SE*2*0001"], version="005010X279A1")
    data = data.replace(b"GS*HC", b"GS*HS")
    found = {f.rule: f.severity for f in all_findings(parse(data))}
    assert found["GS-FUNCTION"] is Severity.WARNING


@pytest.mark.parametrize(
    ("transaction", "function", "severity"),
    [
        ("271", "HS", Severity.WARNING),
        ("270", "HB", Severity.ERROR),
        ("277", "HR", Severity.ERROR),
        ("277", "HC", Severity.ERROR),
        ("835", "HP", None),
        ("820", "HP", Severity.ERROR),
        ("850", "PO", None),
    ],
)
def test_the_function_of_a_set_without_a_known_guide_is_checked_too(
    transaction, function, severity
):
    data = wrap([f"ST*{transaction}*0001", "SE*2*0001"], version="009990X009")
    found = {
        f.rule: f.severity
        for f in all_findings(parse(data.replace(b"GS*HC", b"GS*" + function.encode())))
    }
    assert found.get("GS-FUNCTION") is severity
    assert "ST-GUIDE" in found


def test_a_mark_and_nothing_else_is_an_empty_file():
    assert [f.rule for f in all_findings(parse(b"\xef\xbb\xbf"))] == ["FILE-MARK", "FILE-EMPTY"]


def test_a_wrong_function_is_reported_once_a_group():
    rows = [*set_of(BODY), *set_of(BODY, control="0002")]
    assert rules(wrap(rows, sets=2).replace(b"GS*HC", b"GS*HP")) == ["GS-FUNCTION"]


def test_an_unknown_guide_is_checked_for_envelope_and_syntax():
    rows = ["K3*fine*", "ZZZ*\x01", "SE*9*0001"]
    data = wrap(["ST*837*0001*00X", *rows], version="00X")
    assert findings_in(data) == [
        ("ST-GUIDE", 1, 0, 0), ("SEG-TRAILING", 2, 2, 0), ("ELM-CASE", 2, 1, 0),
        ("ELM-CHARACTER", 3, 1, 0), ("SE-COUNT", 4, 1, 0),
    ]  # fmt: skip
    assert {f.position.loop for f in all_findings(parse(data))} == {""}
    assert [f.rule for f in all_findings(parse(data, check=False))] == ["ST-GUIDE", "SE-COUNT"]


# --- Order ------------------------------------------------------------------------------------------


def test_segments_out_of_order_are_placed_and_reported():
    body = replaced("REF*G1*AUTH", "REF*G1*AUTH", "AMT*F5*10")
    assert findings_in(file(body)) == [("SEG-ORDER", at("REF*G1*AUTH") + 1, 0, 0)]
    (claim,) = next(read(file(body)).sets()).root.descendants("2300")
    assert claim.value("AMT", 2) == "10"


def test_a_segment_of_a_closed_loop_goes_back_to_the_loop_around():
    body = replaced("PRV*PE*PXC*207Q00000X", "PRV*PE*PXC*207Q00000X", "AMT*F5*10")
    assert findings_in(file(body)) == [("SEG-ORDER", at("PRV*PE*PXC*207Q00000X") + 1, 0, 0)]


def test_missing_segments_are_reported_where_they_were_expected():
    assert findings_in(file(replaced("N4*PORTLAND*OR*972011234"))) == [
        ("SEG-MISSING", at("N4*PORTLAND*OR*972011234"), 0, 0)
    ]
    found = findings_in(file(replaced("SV1*HC:99214:25*.5*UN*1*11")))
    assert ("SEG-MISSING", at("SV1*HC:99214:25*.5*UN*1*11"), 0, 0) in found


def test_missing_loops_are_reported():
    body = [row for row in BODY if row not in SUBSCRIBER[2:]]
    assert findings_in(file(body)) == [("LOOP-MISSING", at(SUBSCRIBER[2]), 0, 0)]
    (finding,) = all_findings(read(file(body)))
    assert (finding.position.loop, finding.position.segment_id) == ("2010BA", "NM1")
    assert findings_in(file(HEADER)) == [
        ("LOOP-MISSING", len(HEADER) + 2, 0, 0),
        ("TOY-SET", 1, 0, 0),
    ]


def test_what_comes_too_often_is_reported():
    assert findings_in(file(replaced("REF*G1*AUTH", "REF*G1*AUTH", "REF*G1*B"))) == [
        ("SEG-REPEAT", at("REF*G1*AUTH") + 1, 0, 0)
    ]
    notes = [f"NTE*ADD*N{n}" for n in range(3)]
    assert findings_in(file(replaced("NTE*ADD*WELL", *notes))) == [
        ("SEG-REPEAT", at("NTE*ADD*WELL") + 2, 0, 0)
    ]
    name = "NM1*82*1*BIRCH*NORA****XX*1245319599"
    assert findings_in(file(replaced(name, name, name))) == [("LOOP-REPEAT", at(name) + 1, 0, 0)]
    claims = [*BODY, *CLAIM, *CLAIM, *CLAIM]
    assert rules(file(claims)) == ["LOOP-REPEAT"]


def test_twins_share_a_segment_between_them():
    for count in (1, 2, 3):
        assert findings_in(file(replaced("REF*G1*AUTH", *["K3*A"] * count))) == []
    assert rules(file(replaced("REF*G1*AUTH", *["K3*A"] * 4))) == ["SEG-REPEAT"]
    (claim,) = next(read(file(replaced("REF*G1*AUTH", *["K3*A"] * 2))).sets()).root.descendants(
        "2300"
    )
    assert len(list(claim.segments("K3"))) == 2


def test_a_twin_without_a_limit_takes_the_rest():
    guide = Guide(
        "009990X002", "TWIN", "837", "HC", "Twins",
        loop("TWIN", "Twins", "R", 1, seg("ST", "Start", "R", 1, "R R R"), seg("K3", "One", "S", 1, "R"),
             seg("K3", "Others", "S", 0, "R"), seg("SE", "End", "R", 1, "R R")),
    )  # fmt: skip
    data = wrap(set_of(["K3*A"] * 9, version="009990X002"), version="009990X002")
    assert list(all_findings(parse(data, choose_guide=lambda *_: guide))) == []


def test_segments_without_a_place_are_kept_and_reported():
    body = replaced("REF*G1*AUTH", "REF*G1*AUTH", "ZZZ*1", "zz*1", "*1", "REF*QQ*1")
    found = findings_in(file(body))
    start = at("REF*G1*AUTH")
    assert found[:4] == [
        ("SEG-UNKNOWN", start + 1, 0, 0), ("SEG-ID", start + 2, 0, 0), ("SEG-ID", start + 3, 0, 0),
        ("SEG-REPEAT", start + 4, 0, 0),
    ]  # fmt: skip
    dated = findings_in(file(replaced("REF*G1*AUTH", "REF*G1*AUTH", "DTP*999*")))
    assert dated == [("SEG-UNEXPECTED", start + 1, 0, 0), ("SEG-TRAILING", start + 1, 2, 0)]


def test_a_segment_that_would_cut_a_loop_short_stays_where_it_is():
    body = replaced("REF*G1*AUTH", "REF*G1*AUTH", "SBR*P*")
    found = findings_in(file(body))
    assert found == [
        ("SEG-ORDER", at("REF*G1*AUTH") + 1, 0, 0),
        ("SEG-TRAILING", at("REF*G1*AUTH") + 1, 2, 0),
    ]
    unchecked = all_findings(parse(file(body), check=False, choose_guide=choose))
    assert [f.rule for f in unchecked] == ["SEG-ORDER"]
    late = [row for row in BODY if row != SUBSCRIBER[1]]
    late.insert(late.index("LX*1") + 1, SUBSCRIBER[1])
    assert rules(file(late)) == ["SEG-ORDER"]
    name = [row for row in BODY if row not in SUBSCRIBER[2:]]
    name.insert(name.index(CLAIM[0]) + 1, SUBSCRIBER[2])
    assert rules(file(name)) == ["SEG-ORDER"]


def test_an_unknown_qualifier_is_held_against_the_place_it_was_meant_for():
    # A required segment that is still missing.
    assert findings_in(file(replaced("REF*EI*911234567", "REF*XX*911234567"))) == [
        ("ELM-CODE", at("REF*EI*911234567"), 1, 0)
    ]
    # The head of a required loop that is still missing.
    name = SUBSCRIBER[2]
    assert findings_in(file(replaced(name, name.replace("IL", "QC")))) == [
        ("ELM-CODE", at(name), 1, 0)
    ]
    # The only place of its kind in the loop.
    note = "NTE*ADD*WELL"
    assert findings_in(file(replaced(note, "NTE*ZZZ*WELL"))) == [("ELM-CODE", at(note), 1, 0)]
    # A wrong date qualifier has several places and so none.
    dated = "DTP*431*D8*20240420"
    assert findings_in(file(replaced(dated, "DTP*999*D8*20240420"))) == [
        ("SEG-UNEXPECTED", at(dated), 0, 0)
    ]
    short = findings_in(file(replaced(dated, "DTP")))
    assert ("SEG-UNEXPECTED", at(dated), 0, 0) in short


def test_an_only_place_that_lies_behind_is_out_of_order():
    name = "NM1*82*1*BIRCH*NORA****XX*1245319599"
    body = replaced("HI*ABK:E119*ABF:I10:D8:20240101", "HI*ABK:E119", "EQ*30", "NTE*ZZZ*WELL")
    found = findings_in(file(body))
    assert ("SEG-ORDER", at(name), 0, 0) in found
    assert ("ELM-CODE", at(name) + 1, 1, 0) in found


# --- Hierarchy --------------------------------------------------------------------------------------


def test_levels_count_and_name_the_one_above():
    assert findings_in(file(replaced("HL*2*1*22*0", "HL*3*1*22*0"))) == [
        ("HL-NUMBER", at("HL*2*1*22*0"), 1, 0)
    ]
    assert findings_in(file(replaced("HL*2*1*22*0", "HL*2*7*22*0"))) == [
        ("HL-PARENT", at("HL*2*1*22*0"), 2, 0)
    ]
    assert findings_in(file(replaced("HL*2*1*22*0", "HL*X*1*22*0"))) == [
        ("HL-NUMBER", at("HL*2*1*22*0"), 1, 0)
    ]


def test_one_slip_in_the_count_is_reported_once():
    second = ["HL*6*1*22*0", *SUBSCRIBER[1:]]
    body = [*replaced("HL*2*1*22*0", "HL*5*1*22*0"), *second]
    assert rules(file(body)) == ["HL-NUMBER"]


def test_the_child_flag_agrees_with_the_levels_below():
    assert findings_in(file(replaced("HL*2*1*22*0", "HL*2*1*22*1"))) == [
        ("HL-CHILD", at("HL*2*1*22*0"), 4, 0)
    ]
    with_child = replaced(SUBSCRIBER[3], SUBSCRIBER[3], "HL*3*2*23*0")
    assert findings_in(file(with_child)) == [("HL-CHILD", at("HL*2*1*22*0"), 4, 0)]
    flagged = [row.replace("22*0", "22*1") for row in with_child]
    assert findings_in(file(flagged)) == []


def test_a_wrong_pointer_in_an_answer_is_a_warning():
    rows = [
        "ST*271*0001*005010X279A1", "BHT*0022*11*1*20240501*1200", "HL*1**20*1",
        "NM1*PR*2*MEADOW MUTUAL*****PI*1", "HL*2*9*21*1", "SE*6*0001",
    ]  # fmt: skip
    data = wrap(rows, version="005010X279A1").replace(b"GS*HC", b"GS*HB")
    found = {f.rule: f.severity for f in all_findings(parse(data))}
    assert found["HL-PARENT"] is Severity.WARNING


# --- Rules ------------------------------------------------------------------------------------------


def test_a_rule_speaks_when_its_loop_closes():
    found = list(all_findings(read(file(replaced(CLAIM[0], CLAIM[0].replace("100.5", "99"))))))
    (finding,) = found
    assert (finding.rule, finding.snip, finding.syntax_error) == ("TOY-TOTAL", 3, "6")
    assert (finding.position.segment, finding.position.element, finding.position.loop) == (
        at(CLAIM[0]),
        2,
        "2300",
    )
    assert finding.position.file_segment == at(CLAIM[0]) + 2


def test_a_rule_may_point_at_a_loop_around_its_own():
    body = replaced(CLAIM[0], CLAIM[0].replace("100.5", "1000.5"))
    body[body.index("SV1*HC:99213*100*UN*1***1:2")] = "SV1*HC:99213*1000*UN*1***1:2"
    found = [
        (f.rule, f.severity, f.position.segment, f.position.loop, f.syntax_error)
        for f in all_findings(read(file(body)))
    ]
    assert found == [
        ("TOY-PARENT", Severity.WARNING, at(SUBSCRIBER[1]), "2000B", "I9"),
        ("TOY-PARENT", Severity.ERROR, at(CLAIM[0]), "2300", "I6"),
    ]


def test_a_segment_of_a_rule_is_found_by_identity():
    body = replaced("NTE*ADD*WELL", "NTE*ADD*GOOD", "NTE*CER*BAD")
    found = findings_in(file(body))
    assert found == [("TOY-NOTE", at("NTE*ADD*WELL") + 1, 2, 0), ("TOY-NOTE", at(CLAIM[0]), 2, 0)]


def test_a_rule_on_the_set_sees_what_units_left_behind():
    body = BODY[: BODY.index(CLAIM[0])]
    assert findings_in(file(body)) == [("TOY-SET", 1, 0, 0)]


def test_findings_are_complete():
    data = wrap(
        ["K3*1", *set_of(replaced("REF*EI*911234567", "REF*XX*", "zz", body=[*BODY, "SBR*P*"]))]
    )
    for finding in check(data, choose_guide=choose).findings:
        assert finding.stage is Stage.FILE
        assert finding.position is not None
        assert finding.snip in range(1, 8)
        assert finding.message


def test_every_fault_of_the_table_has_a_sentence_and_a_weight():
    for id, kind in FINDING_TYPES.items():
        assert kind.sentence.endswith("."), id
        assert kind.snip in range(1, 8)
        if kind.severity is Severity.ERROR and not id.startswith(("FILE-", "LIMIT")):
            assert kind.code, id


def test_a_rule_outside_the_table_needs_its_own_weight():
    with pytest.raises(AssertionError, match="NOBODY"):
        FindingCollector([]).add("NOBODY", "says so")
