"""Each rule of a 270 and a 271: a set that keeps it and one that breaks it."""

import pytest

from clearlane.x12.rules import RULES, rules_for
from tests.cases import every_case
from tests.x12.samples_other import after, both, drop, findings, rows, set_to

ASK = """
ST*270*0001*005010X279A1
BHT*0022*13*T1*20240501*1200
HL*1**20*1
NM1*PR*2*MEADOW MUTUAL*****PI*12345
HL*2*1*21*1
NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893
HL*3*2*22*0
TRN*1*TRACE1*9123456789
NM1*IL*1*ARDEN*ROSA****MI*W1
DMG*D8*19800229
HI*ABK:E119*ABF:I10
DTP*291*D8*20240501
EQ*30^35**FAM**1:2
HL*4*2*22*1
NM1*IL*1*LUND*IVO****MI*W2
HL*5*4*23*0
TRN*1*TRACE2*9123456789
NM1*03*1*ARDEN*MILO
DMG*D8*20150301
INS*N*19
EQ*30
SE*22*0001
"""
ANSWER = """
ST*271*0001*005010X279A1
BHT*0022*11*T1*20240501*1200
HL*1**20*1
NM1*PR*2*MEADOW MUTUAL*****PI*12345
HL*2*1*21*1
NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893
HL*3*2*22*0
TRN*2*TRACE1*9123456789
NM1*IL*1*ARDEN*ROSA****MI*W1
DMG*D8*19800229
HI*ABK:E119
EB*1**30
EB*A**98*****0.2
EB*C*IND*30****500
EB*R**30
LS*2120
NM1*PR*2*HARBOR HEALTH PLAN*****PI*999
LE*2120
HL*4*2*22*1
TRN*2*TRACE2*9123456789
NM1*IL*1*LUND*IVO****MI*W2
HL*5*4*23*0
NM1*03*1*ARDEN*MILO
AAA*N**67*C
SE*25*0001
"""

BROKEN = [
    ("270", "X270-NOBODY", drop("EQ", 1), ("HL", 0)),
    ("270", "X270-SEARCH", both(set_to("NM1", 3, 9, ""), set_to("NM1", 3, 8, "")), ("NM1", 9)),
    ("270", "X270-SEARCH", set_to("NM1", 5, 4, ""), ("NM1", 4)),
    ("270", "X270-SEARCH", drop("DMG", 2), ("NM1", 0)),
    ("270", "X270-SEARCH", drop("DMG", 1), ("NM1", 0)),
    ("270", "X270-RELATION", drop("INS"), ("NM1", 0)),
    ("270", "X270-TRACE", set_to("TRN", 1, 3, "8123456789"), ("TRN", 3)),
    ("271", "X270-TRACE", set_to("TRN", 2, 3, "8123456789"), ("TRN", 3)),
    ("270", "X270-TRACE-TWICE", after("TRN", 1, "TRN*1*TRACE1*9123456789"), ("TRN", 2)),
    ("270", "X270-POINTER", set_to("EQ", 1, 5, "1:3"), ("EQ", 5)),
    ("270", "X270-POINTER", drop("HI"), ("EQ", 5)),
    ("271", "X270-POINTER", set_to("EB", 1, 14, "2"), ("EB", 14)),
    ("270", "X270-FAMILY", set_to("EQ", 1, 2, "HC:99213"), ("EQ", 2)),
    ("271", "X271-SILENT", drop("AAA"), ("HL", 0)),
    ("271", "X271-REFUSED", after("DMG", 1, "AAA*N**72*C"), ("AAA", 1)),
    ("271", "X271-SOURCE-REFUSED", after("HL", 1, "AAA*N**42*R"), ("AAA", 1)),
    ("271", "X271-PERCENT", set_to("EB", 2, 8, "20"), ("EB", 8)),
    ("271", "X271-PERCENT", set_to("EB", 2, 8, "1.5"), ("EB", 8)),
    ("271", "X271-PERCENT", set_to("EB", 2, 8, "-0.2"), ("EB", 8)),
    ("271", "X271-AMOUNT", set_to("EB", 2, 8, ""), ("EB", 8)),
    ("271", "X271-AMOUNT", set_to("EB", 3, 7, ""), ("EB", 7)),
    ("271", "X271-AMOUNT", set_to("EB", 3, 8, "0.5"), ("EB", 8)),
    ("271", "X271-REMAINING", after("EB", 3, "EB*C*IND*30***29*500.01"), ("EB", 7)),
    (
        "271",
        "X271-REMAINING",
        after("EB", 3, "EB*F**33***23***VS*12", "EB*F**33***29***VS*13"),
        ("EB", 10),
    ),
    (
        "271",
        "X271-REMAINING",
        after("EB", 3, "EB*F*IND*30***32*9", "EB*F*IND*30***33*10"),
        ("EB", 7),
    ),
    ("271", "X271-MARKED", drop("LE"), ("LS", 0)),
    ("271", "X271-MARKED", drop("LS"), ("LE", 0)),
    ("271", "X271-MARKED", drop("NM1", 4), ("LS", 0)),
    ("271", "X271-MARKED", both(drop("LS"), drop("LE")), ("NM1", 0)),
]
TEXTS = {"270": ASK, "271": ANSWER}


@pytest.mark.parametrize("kind", sorted(TEXTS))
def test_a_good_set_has_no_finding(kind):
    assert findings(kind, rows(TEXTS[kind])) == []


@every_case(
    ("kind", "id", "edit", "place"), BROKEN, ids=[f"{row[1]}-{n}" for n, row in enumerate(BROKEN)]
)
def test_a_broken_rule_is_found_where_it_is_broken(kind, id, edit, place):
    changed = rows(TEXTS[kind])
    edit(changed)
    found = [f for f in findings(kind, changed) if f.rule == id]
    assert place in [(f.position.segment_id, f.position.element) for f in found]
    assert {f.severity for f in found} == {RULES[id].severity}


def test_an_organization_that_is_insured_has_one_name_only():
    changed = rows(TEXTS["270"])
    both(set_to("NM1", 3, 2, "2"), set_to("NM1", 3, 4, ""))(changed)
    assert "X270-SEARCH" not in {f.rule for f in findings("270", changed)}


@pytest.mark.parametrize("share", ["0", ".5", "1", "1.00", "0.25", "01"])
def test_a_share_from_nothing_to_all_is_a_fraction(share):
    changed = rows(TEXTS["271"])
    set_to("EB", 2, 8, share)(changed)
    assert "X271-PERCENT" not in {f.rule for f in findings("271", changed)}


@pytest.mark.parametrize(
    "benefits",
    [
        ("EB*C*IND*30***29*500",),  # all of it is left
        ("EB*C*FAM*30***29*900",),  # of another benefit
        ("EB*C*IND*30***24*100", "EB*C*IND*30***29*400"),  # 24 is what was used
        ("EB*C*IND*30***23*750", "EB*C*IND*30***29*600"),  # of the larger of two totals
        ("EB*C*IND*30***23*750", "EB*C*IND*30***33*600"),  # of a lifetime, whose total is not given
    ],
)
def test_what_remains_of_a_benefit_may_be_all_of_it(benefits):
    changed = rows(TEXTS["271"])
    after("EB", 3, *benefits)(changed)
    assert findings("271", changed) == []


def test_a_benefit_described_in_words_needs_no_amount():
    changed = rows(TEXTS["271"])
    both(set_to("EB", 3, 7, ""), after("EB", 3, "MSG*SEE THE BOOK"))(changed)
    assert findings("271", changed) == []


def test_every_rule_has_a_case():
    loops = ("SET", "2000A", "2000B", "2000C", "2000D", "2100C", "2100D", "2110C", "2110D")
    mine = {rule.id for kind in TEXTS for loop in loops for rule in rules_for(kind, loop)}
    assert mine == {id for _, id, _, _ in BROKEN}
