"""No value of any field makes a claim that X12 could not carry: it is refused, or put right, or not sent."""

import json
from datetime import date

import pytest

from clearlane.claims.fields import ClaimPart, fields_of
from clearlane.claims.forms import FORMS
from clearlane.claims.read.decode import read_claim
from clearlane.claims.read.repairs import is_carried
from clearlane.claims.rules import RuleInputs, repair_and_check
from clearlane.claims.value_types import ValueType
from tests.cases import by_profile, every_case, fewer_in_quick
from tests.claims.outgoing import extended_claim_of_one_line

DAY = date(2025, 3, 14)
FACTS = RuleInputs(today=date(2025, 3, 20), available=frozenset())
NUMBERS = {
    ValueType.AMOUNT,
    ValueType.COUNT,
    ValueType.FLAG,
    ValueType.DAY,
    ValueType.ADJUSTMENTS,
    ValueType.PARTS,
}
# Kept for the caller and for routing, never written into a file.
NOT_SENT = {"Svc_VendorClaimId", "Svc_PayerId"}


def fields():
    for kind in FORMS.values():
        for part in (kind.claim, kind.line):
            for row in fields_of(part).values():
                if row.value_type not in NUMBERS:
                    yield pytest.param(kind, part, row, id=f"{kind}-{row.name}")


def check_all(kind, part, row, value):
    claim = extended_claim_of_one_line(kind, DAY)
    at = f"{kind.lines_field}[0]." if part is kind.line else ""
    (claim[kind.lines_field][0] if at else claim)[row.name] = [value] if row.is_array else value
    found = read_claim(kind, json.dumps(claim).encode(), "")
    assert found.findings == ()
    return repair_and_check(found.claim, FACTS), at + row.name


def texts(part):
    for name, value in part.__dict__.items():
        if isinstance(value, str) and name not in NOT_SENT:
            yield name, value
        for inner in value if isinstance(value, tuple) else ():
            if isinstance(inner, ClaimPart):
                yield from texts(inner)
            elif isinstance(inner, str):
                yield name, inner


VALUES = [
    "A*B:C~D^E",
    "~",
    "*",
    "A\nB",
    "\x00",
    "\ud7ff",
    "a\u2028b",
    "é*",
    "X" * 300,
    "9" * 300,
]

STEP = by_profile(thorough=1, usual=4, quick=4)
"""Of how many values one is tried in a field."""


@every_case(("kind", "part", "row"), fewer_in_quick(fields(), 4))
def test_a_value_ends_refused_or_fit_to_be_sent(kind, part, row):
    known = fields_of(kind.claim) | fields_of(kind.line)
    for value in VALUES[len(row.name) % STEP :: STEP]:
        checked, at = check_all(kind, part, row, value)
        if not checked.accepted:
            assert any(finding.location.startswith(at) for finding in checked.findings), value
            continue
        for name, text in texts(checked.claim):
            assert is_carried(text), name
            assert (
                name not in known
                or not known[name].max_length
                or len(text) <= known[name].max_length
            ), name
