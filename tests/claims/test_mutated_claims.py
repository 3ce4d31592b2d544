"""Mutated claims break every rule that a claim of V3 can break, each often enough to compare its findings."""

from collections import Counter

import pytest

from clearlane.claims.forms import UB04, V3_FORMS
from clearlane.claims.read import decode
from clearlane.claims.rules import RULES, repair_and_check
from tests.cases import by_profile
from tests.claims.mutated_claims import ALSO, NOT_OF_V3, mutated_claims
from tests.claims.test_rules import CASES, OF_JSON

# As many as tools/compare_findings compares by `make thorough`, else a part of them that still breaks each rule.
CLAIMS = by_profile(thorough=5_000, usual=1_250, quick=1_000)
FIRED_MIN = by_profile(thorough=20, usual=4, quick=3)


@pytest.mark.slow
def test_every_rule_of_v3_fires_often():
    fired = Counter()
    for claim in mutated_claims(CLAIMS):
        read = decode.read_claim(claim.kind, claim.raw.encode(), "")
        found = read.findings
        if read.claim is not None:
            found = (*found, *repair_and_check(read.claim, claim.inputs).findings)
        fired.update(each.rule for each in found)
    assert {rule.id: fired[rule.id] for rule in OF_JSON if fired[rule.id] < FIRED_MIN} == {}


def test_a_rule_that_they_cannot_break_says_why():
    others = [rule for rule in RULES.values() if not any(map(rule.applies_to, V3_FORMS))]
    unexplained = {
        rule.id for rule in others if not rule.not_in_json and rule.kinds != [UB04.kind.value]
    }
    assert unexplained == NOT_OF_V3.keys()
    assert ALSO.keys() <= CASES.keys()
