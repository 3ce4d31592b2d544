"""Each rule of a 999 and a TA1: an acknowledgement that keeps it and one that breaks it."""

import pytest

from clearlane.kernel.limits import CONTROL_NUMBERS_REMEMBERED_MAX
from clearlane.x12.guides import ta1
from clearlane.x12.reader.reader import parse
from clearlane.x12.rules import RULES, RuleContext, rules_for
from clearlane.x12.rules.acks import note_agrees
from tests.cases import every_case
from tests.x12.samples_other import after, both, drop, findings, interchange, rows, set_to

GOOD = """
ST*999*0001*005010X231A1
AK1*HC*17*005010X222A1
AK2*837*0001*005010X222A1
IK5*A
AK2*837*0002
IK3*CLM*22**8
CTX*CLM01:A1
IK4*2*782*1
IK5*R*5
AK2*837*0003
IK3*REF*57*2300*3
CTX*SITUATIONAL TRIGGER*CLM*43**5:3
IK5*E*5
AK9*P*3*3*2
SE*15*0001
"""

BROKEN = [
    ("X999-COUNT", set_to("AK9", 1, 4, "1"), ("AK9", 4)),
    ("X999-COUNT", set_to("AK9", 1, 4, "4"), ("AK9", 4)),
    ("X999-COUNT", set_to("AK9", 1, 3, "2"), ("AK9", 3)),
    ("X999-COUNT", both(set_to("AK9", 1, 3, "5"), set_to("AK9", 1, 4, "1")), ("AK9", 4)),
    ("X999-VERDICT", set_to("AK9", 1, 1, "A"), ("AK9", 1)),
    ("X999-VERDICT", set_to("AK9", 1, 1, "E"), ("AK9", 1)),
    ("X999-VERDICT", set_to("AK9", 1, 1, "R"), ("AK9", 1)),
    ("X999-VERDICT", both(set_to("IK5", 2, 1, "E"), set_to("AK9", 1, 4, "3")), ("AK9", 1)),
    ("X999-SET", set_to("IK5", 2, 1, "A"), ("IK5", 1)),
    ("X999-SET", set_to("IK5", 1, 1, "R"), ("IK5", 2)),
    ("X999-SET", set_to("IK5", 2, 2, "4"), ("IK5", 2)),
    ("X999-ELEMENT", set_to("IK3", 1, 4, "3"), ("IK3", 4)),
    ("X999-ELEMENT", set_to("IK3", 2, 4, "8"), ("IK3", 4)),
    ("X999-TWICE", set_to("AK2", 2, 2, "0001"), ("AK2", 2)),
]


def test_a_good_acknowledgement_has_no_finding():
    assert findings("999", rows(GOOD)) == []


@every_case(("id", "edit", "place"), BROKEN, ids=[f"{row[0]}-{n}" for n, row in enumerate(BROKEN)])
def test_a_broken_rule_is_found_where_it_is_broken(id, edit, place):
    changed = rows(GOOD)
    edit(changed)
    found = [f for f in findings("999", changed) if f.rule == id]
    assert place in [(f.position.segment_id, f.position.element) for f in found]
    assert {f.severity for f in found} == {RULES[id].severity}


def test_an_acknowledgement_need_not_list_the_sets_without_fault():
    changed = rows(GOOD)
    both(drop("AK2", 1), drop("IK5", 1))(changed)
    assert findings("999", changed) == []


@pytest.mark.parametrize(
    "edit",
    [
        set_to("AK9", 1, 3, "X"),
        drop("AK9"),
        drop("IK5", 1),
        drop("IK3", 2),
        after("AK1", 1, "AK9*A*0*0*0"),
    ],
)
def test_a_malformed_acknowledgement_is_no_crash(edit):
    changed = rows(GOOD)
    edit(changed)
    assert findings("999", changed)


def test_every_rule_has_a_case():
    mine = {rule.id for loop in ("SET", "2000", "2100", "2110") for rule in rules_for("999", loop)}
    assert mine == {id for id, _, _ in BROKEN}


@pytest.mark.parametrize(
    ("text", "agrees"),
    [
        ("TA1*000000017*240501*1200*A*000", True),
        ("TA1*000000017*240501*1200*R*018", True),
        ("TA1*000000017*240501*1200*E*025", True),
        ("TA1*000000017*240501*1200*A*018", False),
        ("TA1*000000017*240501*1200*R*000", False),
    ],
)
def test_the_note_of_a_ta1_agrees_with_its_verdict(text, agrees):
    assert note_agrees(text.split("*")) is agrees


def test_a_ta1_has_five_elements_all_required():
    assert [e.usage for e in ta1.SEGMENT.elements] == ["R"] * 5
    assert ta1.SEGMENT.elements[3].codes == ("A", "E", "R")
    assert ta1.SEGMENT.elements[4].codes[0] == "000"


def test_what_is_remembered_of_a_group_is_bounded():
    acknowledged = next(
        next(parse(interchange("999", [rows(GOOD)]).encode()).sets()).root.descendants("2000")
    )
    full = set(range(CONTROL_NUMBERS_REMEMBERED_MAX))
    check = RULES["X999-TWICE"].check
    assert list(check(acknowledged, RuleContext("999", [], {"999-controls": full}, []))) == []
    assert len(full) == CONTROL_NUMBERS_REMEMBERED_MAX
