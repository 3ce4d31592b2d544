"""The benefit plans: figures that follow from the member and the day, and what is asked about."""

from datetime import date
from decimal import Decimal

import pytest

from clearlane.sandbox.responses import benefits
from clearlane.sandbox.responses.benefits import DENTAL, MEDICAL, figures_of, simple_benefits
from tests.sandbox.asking import answer, ask
from tests.sandbox.invented import starting

MARCH = date(2026, 3, 2)


def inquire(plan, *services, member="2001", day=MARCH, family=False, procedures=()):
    return simple_benefits(figures_of(plan, member, day), services, procedures, family=family)


def test_the_same_member_and_day_give_the_same_figures_and_others_differ():
    assert figures_of(MEDICAL, "2001", MARCH) == figures_of(MEDICAL, "2001", MARCH)
    many = [figures_of(MEDICAL, f"M{number}", MARCH) for number in range(200)]
    assert len({one.deductible for one in many}) == len(MEDICAL.deductibles)
    assert len({one.share for one in many}) == len(MEDICAL.shares)
    assert len({one.copay for one in many}) == len(MEDICAL.copays)


def test_what_remains_falls_month_by_month():
    left = [
        figures_of(MEDICAL, "2001", date(2026, month, 5)).left(Decimal(1200))
        for month in range(1, 13)
    ]
    assert left[0] == 1200
    assert left == sorted(left, reverse=True)
    assert left[-1] == 100


def test_the_whole_plan_is_answered_with_its_parts():
    rows = inquire(MEDICAL, "30")
    assert rows[0].services == ("30",)
    assert rows[1].services == MEDICAL.listed
    assert {row.kind for row in rows} == {"1", "A", "B", "C", "G"}
    assert {row.level for row in rows} == {"IND"}


def test_family_amounts_are_given_where_they_are_asked_for():
    rows = inquire(MEDICAL, "30", family=True)
    year = {row.level: row.amount for row in rows if row.kind == "C" and row.period == "23"}
    assert year["FAM"] == 2 * year["IND"]


def test_one_service_type_is_answered_alone():
    rows = inquire(MEDICAL, "48")
    assert {row.services for row in rows} == {("48",)}
    assert [row.network for row in rows if row.kind == "A"] == ["Y", "N"]


@pytest.mark.parametrize(("plan", "service"), [(MEDICAL, "35"), (DENTAL, "98")])
def test_what_another_plan_covers_is_not_covered(plan, service):
    (row,) = inquire(plan, service)
    assert (row.kind, row.services) == (benefits.NOT_COVERED, (service,))


def test_a_dental_plan_has_a_maximum_and_shares_by_service():
    rows = inquire(DENTAL, "35")
    assert [row.period for row in rows if row.kind == "F"] == ["23", "29"]
    shares = {
        code: row.share
        for row in rows
        if row.network == "Y"
        for code in row.services
        if row.share is not None
    }
    assert (shares["41"], shares["25"], shares["36"]) == (0, Decimal("0.2"), Decimal("0.5"))


async def test_where_no_service_is_named_the_whole_plan_is_answered():
    medical = await answer("TST01", ask("2001", benefits=()))
    dental = await answer("TST02", ask("2001", benefits=()))
    assert starting(medical, "EB*1*")[0] == "EB*1*IND*30*PR*FERNLEAF OPEN CHOICE"
    assert starting(dental, "EB*1*")[0] == "EB*1*IND*35*PR*FERNLEAF DENTAL CHOICE"


async def test_a_procedure_is_answered_by_its_code():
    found = await answer("TST01", ask("2001", benefits=(("EQ", "", ("HC", "97110", "GP")),)))
    assert starting(found, "EB*") == ["EB*1*IND***FERNLEAF OPEN CHOICE********HC:97110:GP"]
