"""Samples: the same id gives the same claim, another id one that no payer takes for a duplicate."""

from datetime import date

import msgspec
import pytest

from clearlane.claims.forms import FORMS
from clearlane.claims.forms.sample_variation import (
    DAYS_AGO_MIN,
    DAYS_AGO_VARIED,
    SampleWish,
    sample_claim,
    service_day,
)
from clearlane.claims.read.decode import open_document
from clearlane.claims.rules import RuleInputs, repair_and_check
from tests.cases import by_profile

TODAY = date(2026, 2, 3)
KINDS = pytest.mark.parametrize("kind", FORMS.values())


@KINDS
def test_the_same_id_gives_the_same_claim(kind):
    one, other = (sample_claim(kind, "FIRST-1", SampleWish(), today=TODAY) for _ in range(2))
    assert one == other
    assert one != sample_claim(kind, "FIRST-2", SampleWish(), today=TODAY)


@KINDS
def test_no_two_of_many_are_duplicates_to_a_payer(kind):
    """A payer compares the insured's number, the patient, the day, the code and the charge."""
    form = kind

    def seen_by_payer(number: int) -> tuple[str, ...]:
        claim = sample_claim(kind, f"MANY-{number}", SampleWish(), today=TODAY)
        return claim[form.locate("subscriber.member_id")], claim[form.locate("total_charge")]

    count = by_profile(thorough=25_000, usual=2_500, quick=2_500)
    assert len({seen_by_payer(number) for number in range(count)}) == count


@KINDS
@pytest.mark.parametrize("wish", [SampleWish(), SampleWish(full=True), SampleWish(scenario="3003")])
def test_a_sample_has_nothing_to_complain_of(kind, wish):
    assert rules_that_fire(kind, wish, range(20)) == set()


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize(("full", "count"), [(False, 10_000), (True, 2_500)])
def test_twenty_five_thousand_samples_stay_clean(kind, full, count):
    """Each form, short and full: as many claims without an error or a warning by `make thorough`, else five hundred."""
    wish = SampleWish(full=full)
    for start in range(0, by_profile(thorough=count, usual=500, quick=500), 500):
        assert rules_that_fire(kind, wish, range(start, start + 500)) == set()


def rules_that_fire(kind, wish, numbers):
    """The rules with findings about samples of these numbers."""
    claims = [sample_claim(kind, f"GOOD-{number}", wish, today=TODAY) for number in numbers]
    raw = msgspec.json.encode({"DocumentType": kind.document_type, "Claims": claims})
    facts = RuleInputs(today=TODAY, available=frozenset())
    read = open_document(raw, kind).read(0, len(claims))
    return {
        finding.rule
        for one in read
        for finding in (*one.findings, *repair_and_check(one.claim, facts).findings)
    }


@pytest.mark.parametrize("full", [False, True])
@KINDS
def test_patient_day_and_scenario_can_be_given(kind, full):
    day = date(2026, 1, 5)
    wish = SampleWish(full=full, patient=("Tarn", "Vera"), day=day, scenario="3003")
    text = str(sample_claim(kind, "GIVEN-1", wish, today=TODAY))
    assert all(value in text for value in ("Tarn", "Vera", "2026-01-05", "3003", "GIVEN-1"))


def test_days_of_service_spread_over_the_last_weeks():
    ago = {(TODAY - service_day(f"DAY-{number}", TODAY)).days for number in range(500)}
    assert ago == set(range(DAYS_AGO_MIN, DAYS_AGO_MIN + DAYS_AGO_VARIED))
