"""The sheet that people read: the verdict first, what is left, and the benefits by service.

Also tests `eligibility/coverage`.
"""

from datetime import date

import pytest

from clearlane.eligibility.benefit_sheet import make_sheet
from clearlane.eligibility.coverage import Verdict
from tests.eligibility.invented import HEAD, PERSON, RECEIVER
from tests.eligibility.test_benefit_table import tables_of

PLAN = ("EB*1**30**GOLD", "EB*C*IND*30***23*1500*****Y", "EB*C*IND*30***29*600*****Y")


def sheet_of(*body, asked=()):
    [table] = tables_of(*HEAD, *RECEIVER, *PERSON, *body)
    return make_sheet(table, asked)


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        (("EB*1**30",), Verdict.ACTIVE),
        (("EB*6**30", "EB*1**98"), Verdict.INACTIVE),
        (("EB*6**30", "EB*1**30"), Verdict.ACTIVE),
        (("EB*1**98",), Verdict.ACTIVE),
        (("EB*7",), Verdict.INACTIVE),
        (("EB*I**41",), Verdict.NOT_STATED),
        (("AAA*N**75*C",), Verdict.REFUSED),
        ((), Verdict.NOT_STATED),
    ],
)
def test_the_verdict_is_what_the_payer_states_of_the_plan(body, verdict):
    assert sheet_of(*body).verdict is verdict


def test_first_things_come_first_and_what_is_not_stated_says_so():
    facts = dict(sheet_of(*PLAN, asked=("98",)).facts)
    assert facts == {
        "Plan": "GOLD", "Group": "not stated", "Covered": "not stated", "Primary care": "not stated",
        "Copay": "Physician visit, office: not stated",
    }  # fmt: skip
    sheet = sheet_of(
        *PLAN, "REF*6P*G7", "DTP*291*RD8*20260101-20261231", "EB*B**98****25*****Y",
        "EB*B**UC****60", "EB*L**30", "LS*2120", "NM1*P3*1*FENN*OSKAR", "LE*2120", asked=("98", "UC"),
    )  # fmt: skip
    assert sheet.facts[2:] == (
        ("Covered", "not stated"),
        ("Primary care", "FENN, OSKAR"),
        ("Copay", "Physician visit, office: 25.00 in network"),
        # A copay of no network is none that a front desk may collect.
        ("Copay", "Urgent care: not stated"),
    )


def test_group_and_days_are_those_of_the_coverage():
    sheet = sheet_of("EB*1**30**GOLD", "REF*6P*G7", "DTP*291*RD8*20260101-20261231")
    assert dict(sheet.facts)["Group"] == "G7"
    assert dict(sheet.facts)["Covered"] == "2026-01-01 to 2026-12-31"
    since = sheet_of("EB*1**30**GOLD", "DTP*346*D8*20260101").table.coverage
    assert (since.begins, since.ends) == (date(2026, 1, 1), None)


def test_what_is_left_is_a_bar_and_columns_without_figures_are_left_out():
    sheet = sheet_of(*PLAN, "EB*1**33^AL", "EB*I**AM", "EB*B**98****25*****Y")
    [balance] = sheet.balances
    assert (balance.name, balance.text) == (
        "Deductible, individual, in network",
        "600.00 of 1,500.00",
    )
    assert balance.used_percent == 60
    assert sheet.columns == ("Network", "Level", "Copay", "Deductible", "Deductible left")
    assert [(one.service, one.rows) for one in sheet.groups] == [
        ("Health benefit plan coverage", (("In", "Individual", "", "1,500.00", "600.00"),)),
        ("Physician visit, office", (("In", "", "25.00", "", ""),)),
    ]
    assert [name for name, _ in sheet.without_figures] == ["Active coverage", "Not covered"]


def test_a_service_that_is_not_active_says_so_beside_its_figures():
    [group] = sheet_of("EB*I**41", "EB*C*IND*41***23*50").groups
    assert group.coverage == "Not covered"
    [balance] = sheet_of("EB*C*IND*30***29*600").balances
    assert (balance.text, balance.used_percent) == ("600.00", None)
