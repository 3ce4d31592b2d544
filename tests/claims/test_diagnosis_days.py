"""Diagnoses of a claim by the day of service: a hundred codes of each change of edition, in both directions."""

import json
from collections import defaultdict
from datetime import date, timedelta

import pytest

from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.claims.read import decode
from clearlane.claims.rules import RuleInputs, repair_and_check
from clearlane.kernel.limits import MEDICAL_DIAGNOSES_MAX
from clearlane.x12.codes import dated_codes
from tests.cases import every_case

DAY = timedelta(days=1)
VALIDITY = {"C503", "C504"}
CODES_PER_CHANGE = 100
NOVEMBER = date(2026, 11, 5)
FISCAL_2025 = date(2025, 3, 5)


def refused(codes, day):
    """Return the diagnoses that are refused for a service on a day."""
    found = set()
    for at in range(0, len(codes), MEDICAL_DIAGNOSES_MAX):
        some = codes[at : at + MEDICAL_DIAGNOSES_MAX]
        claim = samples.minimal_claim(V3_MEDICAL, day) | {"F21_DiagnosisCodes": some}
        read = decode.read_claim(V3_MEDICAL, json.dumps(claim).encode(), "")
        inputs = RuleInputs(today=day + 9 * DAY, available=frozenset())
        for finding in repair_and_check(read.claim, inputs).findings:
            if finding.rule in VALIDITY:
                assert finding.severity == "error"
                place = finding.location.removeprefix("F21_DiagnosisCodes[").removesuffix("]")
                found.add(some[int(place)])
    return found


@every_case(
    ("day", "accepted", "not_accepted"),
    [
        (NOVEMBER, ["I42.00", "J4B", "J34.830"], ["I42.0", "Z68.1"]),
        (FISCAL_2025, ["I42.0", "Z68.1", "G35"], ["I42.00", "J4B", "J34.830", "G35.A"]),
    ],
)
def test_codes_count_on_the_days_of_their_edition(day, accepted, not_accepted):
    assert refused([*accepted, *not_accepted], day) == set(not_accepted)


@pytest.fixture(scope="module")
def changes():
    """The codes that begin and those that end at a change of edition, by its first day."""
    known = dated_codes.load("icd-10-cm")
    begin, end = defaultdict(list), defaultdict(list)
    whole = (known.first_day, known.last_day)
    for code in sorted({code for code, period in known if period[:2] != whole}):
        # Periods that follow each other differ in what the editor says of the code, not in its validity.
        periods = known.periods(code)
        for period in periods:
            if not known.is_valid(code, period.first_day - DAY, period.first_day - DAY):
                begin[period.first_day].append(code)
            after = period.last_day + DAY
            if not known.is_valid(code, after, after):
                end[after].append(code)
    return {
        day: (begin[day], end[day])
        for day in sorted({*begin, *end})
        if known.first_day < day <= known.last_day
    }


def test_a_hundred_codes_of_each_change_count_from_their_day_and_to_it(changes):
    assert {date(year, 10, 1) for year in range(2023, 2027)} <= changes.keys()
    for day, (begun, ended) in changes.items():
        new, old = begun[:CODES_PER_CHANGE], ended[:CODES_PER_CHANGE]
        assert refused([*new, *old], day) == set(old), day
        assert refused([*new, *old], day - DAY) == set(new), day


def test_codes_of_later_years_do_not_count_in_fiscal_2025(changes):
    later = [code for day, (begun, _) in changes.items() if day > FISCAL_2025 for code in begun]
    assert len(later) > 480
    assert refused(later, FISCAL_2025) == set(later)
