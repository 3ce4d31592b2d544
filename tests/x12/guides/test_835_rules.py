"""Each rule of an 835: a remittance that keeps it and one that breaks it.

Also tests `x12/rules/remittance`.
"""

import pytest

from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import CLAIM_NUMBERS_REMEMBERED_MAX
from clearlane.x12.reader.reader import parse
from clearlane.x12.rules import RULES, RuleContext, rules_for
from clearlane.x12.rules.remittance import adjustments, provider_adjustments
from tests.cases import every_case
from tests.x12.samples_other import after, both, drop, findings, interchange, rows, set_to

# One check over two claims, the first of them reversed and corrected, and an amount held back.
GOOD = """
ST*835*0001
BPR*I*330*C*ACH*CCP*01*123456780*DA*4455*1123456789**01*987654320*DA*6677*20240301
TRN*1*TRACE1*1123456789
DTM*405*20240228
N1*PR*MEADOW MUTUAL
N3*12 ELM STREET
N4*PORTLAND*OR*972011234
PER*BL*CLAIMS DESK*TE*5035550142
N1*PE*FERNHILL FAMILY PRACTICE*XX*1234567893
LX*1
TS3*1234567893*11*20241231*4*600
CLP*A1*22*-100*-80**12*P1
CAS*CO*45*-20
NM1*QC*1*ARDEN*ROSA
DTM*232*20240110
CLP*A1*1*100*90**12*P2
CAS*CO*45*10
NM1*QC*1*ARDEN*ROSA
DTM*232*20240110
DTM*233*20240111
CLP*A2*1*400*260*40*12*P3
CAS*PR*3*40
NM1*QC*1*LUND*IVO
MOA***MA01
DTM*050*20240201
SVC*HC:99213*300*220
DTM*472*20240105
CAS*CO*45*50*1*97*30
LQ*HE*N130
SVC*HC:99214*100*80
DTM*150*20240105
DTM*151*20240106
CAS*OA*23*20
CLP*A3*1*200*80**12*P4
CAS*CO*45*120
NM1*QC*1*QUILL*TESSA
DTM*232*20240110
PLB*1234567893*20241231*WO:A9*20
SE*39*0001
"""


BROKEN = [
    ("X835-LINE", set_to("SVC", 1, 3, "221"), ("SVC", 3)),
    ("X835-CLAIM", set_to("CLP", 3, 4, "261"), ("CLP", 4)),
    ("X835-CLAIM", set_to("CAS", 6, 3, "121"), ("CLP", 4)),
    ("X835-CHECK", set_to("BPR", 1, 2, "331"), ("BPR", 2)),
    ("X835-CHECK", set_to("PLB", 1, 4, "21"), ("BPR", 2)),
    ("X835-INTEREST", after("DTM", 9, "AMT*I*5"), ("ST", 0)),
    ("X835-INTEREST", set_to("PLB", 1, 3, "L6:P4"), ("PLB", 4)),
    (
        "X835-INTEREST",  # the signs are equal
        both(after("DTM", 9, "AMT*I*20"), set_to("PLB", 1, 3, "L6")),
        ("PLB", 4),
    ),
    ("X835-SUM", both(set_to("CLP", 3, 3, "401"), set_to("CAS", 3, 3, "41")), ("CLP", 3)),
    ("X835-PROVIDER-SUM", set_to("TS3", 1, 4, "5"), ("TS3", 4)),
    ("X835-PROVIDER-SUM", set_to("TS3", 1, 5, "601"), ("TS3", 5)),
    ("X835-PATIENT-SHARE", set_to("CLP", 3, 5, "39"), ("CLP", 5)),
    ("X835-REVERSAL", set_to("CLP", 2, 1, "B1"), ("ST", 0)),
    ("X835-REVERSAL-SIGN", set_to("CLP", 1, 2, "1"), ("CLP", 3)),
    ("X835-REVERSAL-SIGN", set_to("CLP", 4, 2, "22"), ("CLP", 3)),
    ("X835-REVERSAL-SIGN", set_to("CLP", 1, 3, "0.01"), ("CLP", 3)),
    (
        "X835-TWICE",
        after(
            "DTM",
            7,
            *[
                "CLP*A3*1*200*80**12*P4",
                "CAS*CO*45*120",
                "NM1*QC*1*QUILL*TESSA",
                "DTM*232*20240110",
            ],
        ),
        ("CLP", 1),
    ),
    ("X835-TRACE", set_to("TRN", 1, 3, "2123456789"), ("TRN", 3)),
    (
        "X835-TRACE",
        both(set_to("BPR", 1, 11, "123456789"), set_to("TRN", 1, 4, "999999999")),
        ("TRN", 4),
    ),
    ("X835-METHOD", set_to("BPR", 1, 7, ""), ("BPR", 7)),
    ("X835-METHOD", both(set_to("BPR", 1, 8, ""), set_to("BPR", 1, 9, "")), ("BPR", 9)),
    ("X835-METHOD", set_to("BPR", 1, 4, "NON"), ("BPR", 2)),
    ("X835-METHOD", set_to("BPR", 1, 1, "H"), ("BPR", 2)),
    ("X835-METHOD", set_to("BPR", 1, 2, "-330"), ("BPR", 2)),
    ("X835-PERIOD", set_to("DTM", 4, 2, "20240109"), ("DTM", 2)),
    ("X835-PERIOD", drop("DTM", 8), ("DTM", 0)),
    ("X835-PERIOD", after("DTM", 8, "DTM*472*20240105"), ("DTM", 0)),
    ("X835-DATED", drop("DTM", 9), ("CLP", 0)),
    ("X835-GROUP", set_to("CAS", 5, 1, "CO"), ("CAS", 2)),
    (
        "X835-GROUP-AGAIN",
        both(
            set_to("CAS", 4, 7, ""),
            set_to("CAS", 4, 6, ""),
            set_to("CAS", 4, 5, ""),
            after("CAS", 4, "CAS*CO*97*30"),
        ),
        ("CAS", 1),
    ),
    ("X835-ZERO", both(set_to("CAS", 4, 3, "80"), set_to("CAS", 4, 6, "0")), ("CAS", 6)),
    ("X835-ZERO", both(set_to("CLP", 4, 4, "200"), set_to("CAS", 6, 3, "0.00")), ("CAS", 3)),
    ("X835-REMARK", set_to("LQ", 1, 2, "X9"), ("LQ", 2)),
    ("X835-REMARK", set_to("MOA", 1, 3, "Q1"), ("MOA", 3)),
    ("X835-REMARK-MISSING", set_to("CAS", 6, 2, "16"), ("CAS", 2)),
    ("X835-WITHDRAWN", set_to("CAS", 6, 2, "42"), ("CAS", 2)),
]


def test_a_good_remittance_has_no_finding():
    assert findings("835", rows(GOOD)) == []


def test_the_supplement_of_the_trace_may_be_that_of_the_payment():
    changed = rows(GOOD)
    both(set_to("BPR", 1, 11, "123456789"), set_to("TRN", 1, 4, "123456789"))(changed)
    assert findings("835", changed) == []


@every_case(
    ("id", "edit", "place"), BROKEN, ids=[f"{id}-{n}" for n, (id, _, _) in enumerate(BROKEN)]
)
def test_a_broken_rule_is_found_where_it_is_broken(id, edit, place):
    changed = rows(GOOD)
    edit(changed)
    found = [f for f in findings("835", changed) if f.rule == id]
    assert place in [(f.position.segment_id, f.position.element) for f in found]
    assert {f.severity for f in found} == {RULES[id].severity}


def test_every_rule_has_a_case():
    assert {
        rule.id for loop in ("SET", "2000", "2100", "2110") for rule in rules_for("835", loop)
    } == {id for id, _, _ in BROKEN}


def test_balancing_is_an_error_and_the_rest_is_not():
    errors = {id for id, _, _ in BROKEN if RULES[id].severity is Severity.ERROR}
    assert errors == {"X835-LINE", "X835-CLAIM", "X835-CHECK", "X835-INTEREST"}


TWIN = ["CLP*A3*1*200*80**12*P5", "CAS*CO*45*120", "NM1*QC*1*QUILL*TESSA", "DTM*232*20240110"]


@pytest.mark.parametrize(
    ("id", "edit"),
    [
        ("X835-REVERSAL-SIGN", set_to("CLP", 4, 3, "0")),
        ("X835-TWICE", after("DTM", 7, *TWIN)),  # with another number of the payer's
    ],
)
def test_what_only_resembles_a_broken_rule_is_not_reported(id, edit):
    changed = rows(GOOD)
    edit(changed)
    assert id not in {f.rule for f in findings("835", changed)}


@pytest.mark.parametrize(
    "edit",
    [
        set_to("SVC", 1, 2, "1E3"),
        set_to("CAS", 4, 3, "X"),
        set_to("CLP", 3, 4, "Y"),
        set_to("PLB", 1, 4, "Z"),
        set_to("BPR", 1, 2, "Q"),
        drop("BPR"),
        drop("TRN"),
        both(drop("TS3"), set_to("CLP", 1, 3, "1.005")),
        set_to("CAS", 2, 7, "1"),
        both(set_to("PLB", 1, 5, "L6:B1"), set_to("PLB", 1, 7, "L6:B2"), set_to("PLB", 1, 8, "0")),
    ],
)
def test_what_is_no_amount_is_reported_once_and_not_added_up(edit):
    changed = rows(GOOD)
    edit(changed)
    assert not {f.rule for f in findings("835", changed)} & {"X835-LINE", "X835-CHECK"}


def test_a_set_without_claims_balances_by_its_provider_adjustments():
    changed = [
        row
        for row in rows(GOOD)
        if row[0] in {"ST", "BPR", "TRN", "N1", "N3", "N4", "PER", "PLB", "SE"}
    ]
    set_to("PLB", 1, 4, "-330")(changed)
    assert findings("835", changed) == []


@pytest.mark.parametrize(
    "edit",
    [
        both(  # the interest of two claims, net, beside another reason
            after("DTM", 9, "AMT*I*7.5"),
            after("DTM", 5, "AMT*I*-2.5"),
            set_to("PLB", 1, 5, "L6:P4"),
            set_to("PLB", 1, 6, "-5"),
            set_to("BPR", 1, 2, "335"),
        ),
        both(after("DTM", 9, "AMT*I*5"), after("DTM", 5, "AMT*I*-5")),  # nets to nothing: no PLB
        after("DTM", 9, "AMT*AU*5"),
    ],
)
def test_interest_that_agrees_has_no_finding(edit):
    changed = rows(GOOD)
    edit(changed)
    assert findings("835", changed) == []


@pytest.mark.parametrize("edit", [after("DTM", 9, "AMT*I*X"), set_to("PLB", 1, 3, "L6")])
def test_interest_that_is_no_amount_is_not_added_up(edit):
    changed = rows(GOOD)
    both(edit, set_to("PLB", 1, 4, "Z"))(changed)
    assert "X835-INTEREST" not in {f.rule for f in findings("835", changed)}


def test_sums_are_in_cents():
    root = next(parse(interchange("835", [rows(GOOD)]).encode()).sets()).root
    assert provider_adjustments(root) == 2000
    assert [adjustments(claim) for claim in root.descendants("2100")] == [-2000, 1000, 4000, 12000]
    assert [adjustments(claim, "PR") for claim in root.descendants("2100")] == [0, 0, 4000, 0]


def test_a_predetermination_needs_no_service_date():
    changed = rows(GOOD)
    both(drop("DTM", 9), set_to("CLP", 4, 2, "25"))(changed)
    assert findings("835", changed) == []


def test_what_is_remembered_of_a_set_is_bounded():
    claim = next(
        next(parse(interchange("835", [rows(GOOD)]).encode()).sets()).root.descendants("2100")
    )
    for id, key in (("X835-TWICE", "835-seen"), ("X835-REVERSAL", "835-reversed")):
        full = set(range(CLAIM_NUMBERS_REMEMBERED_MAX))
        assert list(RULES[id].check(claim, RuleContext("835", [], {key: full}, []))) == []
        assert len(full) == CLAIM_NUMBERS_REMEMBERED_MAX
