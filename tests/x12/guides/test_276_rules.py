"""Each rule of a 276, a 277 and a 277CA: a set that keeps it and one that breaks it."""

import pytest

from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import CLAIM_NUMBERS_REMEMBERED_MAX
from clearlane.x12.reader.reader import parse
from clearlane.x12.rules import RULES, RuleContext, rules_for
from tests.cases import every_case
from tests.x12.samples_other import after, both, drop, findings, interchange, rows, set_to

ASK = """
ST*276*0001*005010X212
BHT*0010*13*T1*20240501*1200
HL*1**20*1
NM1*PR*2*MEADOW MUTUAL*****PI*12345
HL*2*1*21*1
NM1*41*2*FERNHILL FAMILY PRACTICE*****46*S1
HL*3*2*19*1
NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893
HL*4*3*22*0
DMG*D8*19800229*F
NM1*IL*1*ARDEN*ROSA****MI*W1
TRN*1*TRACE1
REF*EJ*A1
AMT*T3*100
DTP*472*D8*20240105
HL*5*3*22*1
NM1*IL*1*LUND*IVO****MI*W2
HL*6*5*23
DMG*D8*20150301*M
NM1*QC*1*ARDEN*MILO
TRN*1*TRACE2
SVC*HC:99213*100*****1
DTP*472*D8*20240105
SE*24*0001
"""
ANSWER = """
ST*277*0001*005010X212
BHT*0010*08*T1*20240501*1200*DG
HL*1**20*1
NM1*PR*2*MEADOW MUTUAL*****PI*12345
HL*2*1*21*1
NM1*41*2*FERNHILL FAMILY PRACTICE*****46*S1
HL*3*2*19*1
NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893
HL*4*3*22*0
NM1*IL*1*ARDEN*ROSA****MI*W1
TRN*2*TRACE1
STC*F1:65*20240501**100*80*20240420**20240501*CHK1
STC*A7:21*20240501********A7:562:85
STC*F2:75::RX*20240501
DTP*472*D8*20240105
SE*16*0001
"""
ACK = """
ST*277*0001*005010X214
BHT*0085*08*T1*20240501*1200*TH
HL*1**20*1
NM1*AY*2*FIRST HOUSE*****46*CH1
TRN*1*R1
DTP*050*D8*20240501
DTP*009*D8*20240501
HL*2*1*21*1
NM1*41*2*FERNHILL FAMILY PRACTICE*****46*S1
TRN*2*B1
STC*A1:19:AY*20240501*WQ*200
QTY*90*1
QTY*AA*1
AMT*YU*100
AMT*YY*100
HL*3*2*19*1
NM1*85*2*FERNHILL FAMILY PRACTICE*****XX*1234567893
TRN*1*P1
STC*A1:19:AY**WQ*200
HL*4*3*PT
NM1*QC*1*ARDEN*ROSA****MI*W1
TRN*2*A1
STC*A2:20*20240501*WQ*100
REF*1K*P1
DTP*472*D8*20240105
HL*5*3*PT
NM1*QC*1*LUND*IVO****MI*W2
TRN*2*A2
STC*A7:21*20240501*U*100
DTP*472*D8*20240105
SVC*HC:99213*100
STC*A7:562:82**U
SE*33*0001
"""
TEXTS = {"276": ASK, "277": ANSWER, "277CA": ACK}

BROKEN = [
    ("277", "X277-CATEGORY", set_to("STC", 1, 1, "Q9:65"), ("STC", 1, 1)),
    ("277", "X277-CATEGORY", set_to("STC", 2, 10, "Q9:562:85"), ("STC", 10, 1)),
    ("277CA", "X277-CATEGORY", set_to("STC", 1, 1, "AZ:19:AY"), ("STC", 1, 1)),
    ("277", "X277-STATUS", set_to("STC", 1, 1, "F1:9998"), ("STC", 1, 2)),
    ("277", "X277-ENTITY", set_to("STC", 1, 1, "F1:19"), ("STC", 1, 3)),
    ("277CA", "X277-ENTITY", set_to("STC", 1, 1, "A1:19"), ("STC", 1, 3)),
    (
        "277",
        "X277-DETAIL",
        both(drop("STC", 3), drop("STC", 1), set_to("STC", 1, 10, "")),
        ("STC", 1, 2),
    ),
    ("277CA", "X277CA-CATEGORY", set_to("STC", 3, 1, "F1:20"), ("STC", 1, 1)),
    ("277CA", "X277CA-ACTION", set_to("STC", 3, 3, "U"), ("STC", 3, 0)),
    ("277CA", "X277CA-ACTION", set_to("STC", 4, 3, "WQ"), ("STC", 3, 0)),
    ("277CA", "X277CA-LEVEL", set_to("HL", 4, 3, "22"), ("HL", 3, 0)),
    ("277CA", "X277CA-LEVEL", set_to("NM1", 3, 1, "1P"), ("NM1", 1, 0)),
    ("277CA", "X277CA-LEVEL", set_to("NM1", 4, 1, "IL"), ("NM1", 1, 0)),
    ("277CA", "X277CA-RECEIPT", both(drop("DTP", 2), drop("DTP", 1), drop("TRN", 1)), ("HL", 0, 0)),
    (
        "277CA",
        "X277CA-RECEIPT",
        both(
            drop("AMT", 2),
            drop("AMT", 1),
            drop("QTY", 2),
            drop("QTY", 1),
            drop("STC", 1),
            drop("TRN", 2),
        ),
        ("HL", 0, 0),
    ),
    ("277CA", "X277CA-DATED", drop("DTP", 3), ("TRN", 0, 0)),
    ("277CA", "X277CA-TOTALS", set_to("QTY", 1, 2, "2"), ("QTY", 2, 0)),
    ("277CA", "X277CA-TOTALS", set_to("QTY", 2, 2, "0"), ("QTY", 2, 0)),
    ("277CA", "X277CA-TOTALS", set_to("AMT", 2, 2, "99.99"), ("AMT", 2, 0)),
    ("277CA", "X277CA-TOTALS", after("STC", 2, "QTY*QA*3"), ("QTY", 2, 0)),
    ("277CA", "X277CA-TOTALS", after("STC", 2, "AMT*YY*1"), ("AMT", 2, 0)),
    ("276", "X276-CLAIM", drop("DMG", 1), ("HL", 0, 0)),
    (
        "276",
        "X276-CLAIM",
        both(drop("DTP", 1), drop("AMT", 1), drop("REF", 1), drop("TRN", 1)),
        ("HL", 0, 0),
    ),
    ("276", "X276-TRACE-TWICE", set_to("TRN", 2, 2, "TRACE1"), ("TRN", 2, 0)),
    ("276", "X276-DATED", drop("DTP", 1), ("TRN", 0, 0)),
    ("277", "X277-PAID", set_to("STC", 1, 8, ""), ("STC", 8, 0)),
]


@pytest.mark.parametrize("kind", sorted(TEXTS))
def test_a_good_set_has_no_finding(kind):
    assert findings(kind, rows(TEXTS[kind])) == []


@pytest.mark.parametrize(
    "edit",
    [
        after("STC", 2, "QTY*QA*1", "QTY*QC*1", "AMT*YU*100", "AMT*YY*100"),
        both(set_to("STC", 3, 4, "X"), set_to("AMT", 1, 2, "7")),
        set_to("QTY", 1, 2, "X"),
    ],
    ids=["right totals of a provider", "a charge that is no amount", "a total that is none"],
)
def test_totals_are_compared_where_they_can_be(edit):
    changed = rows(ACK)
    edit(changed)
    assert "X277CA-TOTALS" not in {f.rule for f in findings("277CA", changed)}


@pytest.mark.parametrize(("parent", "severity"), [("2", Severity.ERROR), ("9", Severity.WARNING)])
def test_a_patient_level_under_the_receiver_is_an_error_and_one_under_nobody_can_be_read(
    parent, severity
):
    changed = rows(ACK)
    set_to("HL", 4, 2, parent)(changed)
    assert [(f.rule, f.severity) for f in findings("277CA", changed)] == [("HL-PARENT", severity)]


def test_a_file_refused_as_a_whole_needs_no_claims():
    text = ACK.partition("HL*3*")[0].replace("HL*2*1*21*1", "HL*2*1*21*0") + "SE*16*0001"
    assert findings("277CA", rows(text)) == []


@every_case(
    ("kind", "id", "edit", "place"), BROKEN, ids=[f"{row[1]}-{n}" for n, row in enumerate(BROKEN)]
)
def test_a_broken_rule_is_found_where_it_is_broken(kind, id, edit, place):
    changed = rows(TEXTS[kind])
    edit(changed)
    found = [f for f in findings(kind, changed) if f.rule == id]
    assert place in [
        (f.position.segment_id, f.position.element, f.position.component) for f in found
    ]
    assert {f.severity for f in found} == {RULES[id].severity}


def test_a_reject_code_of_the_pharmacies_is_no_claim_status():
    changed = rows(ANSWER)
    set_to("STC", 3, 1, "F2:M2::RX")(changed)
    assert findings("277", changed) == []


def test_a_vague_claim_is_explained_by_its_line():
    changed = rows(ACK)
    after("STC", 5, "REF*FJ*1")(changed)
    assert findings("277CA", changed) == []


@pytest.mark.parametrize(
    ("edit", "element"), [(set_to("STC", 2, 2, "20240501"), 2), (set_to("HL", 4, 4, "0"), 4)]
)
def test_what_does_not_exist_at_a_level_is_a_warning(edit, element):
    changed = rows(ACK)
    edit(changed)
    assert [(f.rule, f.severity, f.position.element) for f in findings("277CA", changed)] == [
        ("ELM-UNUSED", Severity.WARNING, element)
    ]


def test_every_rule_has_a_case():
    loops = (
        "SET",
        "2000A",
        "2000B",
        "2000C",
        "2000D",
        "2000E",
        "2200B",
        "2200C",
        "2200D",
        "2200E",
        "2220D",
        "2220E",
    )
    mine = {rule.id for kind in TEXTS for loop in loops for rule in rules_for(kind, loop)}
    assert mine == {id for _, id, _, _ in BROKEN}


def test_what_is_remembered_of_a_set_is_bounded():
    claim = next(
        next(parse(interchange("276", [rows(ASK)]).encode()).sets()).root.descendants("2200D")
    )
    full = set(range(CLAIM_NUMBERS_REMEMBERED_MAX))
    check = RULES["X276-TRACE-TWICE"].check
    assert list(check(claim, RuleContext("276", [], {"276-traces": full}, []))) == []
    assert len(full) == CLAIM_NUMBERS_REMEMBERED_MAX
