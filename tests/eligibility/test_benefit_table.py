"""Benefits as rows for people."""

from decimal import Decimal

from clearlane.eligibility import benefit_table, read_271
from tests.eligibility.invented import HEAD, NOON, PERSON, RECEIVER, answer_file


def tables_of(*body):
    file = read_271.read(answer_file(*body))
    made = [
        read_271.build_answer(one, None, document_id="D", created_at=NOON) for one in file.answers
    ]
    return list(benefit_table.patient_tables(made))


def rows_of(*body):
    [found] = tables_of(*HEAD, *RECEIVER, *PERSON, *body)
    return {(row.service, row.network, row.level): row for row in found.rows}


def test_coverage_copay_deductible_and_maximum_stand_in_one_row():
    rows = rows_of(
        "EB*1**30**GOLD", "EB*C*IND*30***23*1500*****Y", "EB*C*IND*30***29*600*****Y",
        "EB*G*IND*30***23*5000*****Y", "EB*G*IND*30***24*1000*****Y", "EB*A*IND*30*****.2****Y",
        "EB*B*IND*30****25*****Y", "EB*C*FAM*30***23*3000*****N",
    )  # fmt: skip
    plan = "Health benefit plan coverage"
    assert set(rows) == {(plan, "In", "Individual"), (plan, "Out", "Family")}
    row = rows[plan, "In", "Individual"]
    assert row.coverage == "Active coverage"
    assert (row.copay, row.coinsurance) == (25, Decimal("0.2"))
    assert (row.deductible.total, row.deductible.used, row.deductible.remaining) == (1500, 900, 600)
    accumulator = row.out_of_pocket
    assert (accumulator.total, accumulator.used, accumulator.remaining) == (5000, 1000, 4000)
    assert rows[plan, "Out", "Family"].deductible.total == 3000
    assert rows[plan, "Out", "Family"].deductible.used is None


def test_several_service_types_are_several_rows():
    rows = rows_of("EB*1**1^98", "EB*B**98****30*****W", "EB*I**41")
    assert [(key[0], row.coverage) for key, row in rows.items()] == [
        ("Medical care", "Active coverage"), ("Physician visit, office", "Active coverage"),
        ("Routine preventive dental", "Not covered"),
    ]  # fmt: skip
    assert rows["Physician visit, office", "Any", ""].copay == 30


def test_used_and_remaining_give_the_total():
    accumulator = rows_of("EB*C**30***24*100", "EB*C**30***29*400")[
        "Health benefit plan coverage", "", ""
    ].deductible
    assert accumulator.total == 500


def test_a_benefit_of_no_service_type_is_a_row_without_one():
    assert rows_of("EB*C****GOLD*23*500")["", "", ""].deductible.total == 500


def test_the_patient_the_plan_and_the_refusals_are_reported():
    [found] = tables_of(*HEAD, *RECEIVER, *PERSON, "EB*1**30**GOLD", "AAA*N**60*C")
    assert (found.payer, found.patient, found.member_id) == (
        "SANDBOX MEDICAL",
        "ARDEN, ROSA",
        "2001",
    )
    assert found.plans == ("GOLD",)
    assert [one.code for one in found.errors] == ["60"]
    assert "ROSA" not in repr(found)


def test_a_refused_inquiry_is_a_table_without_rows():
    for body, code in (
        ((*HEAD, "AAA*N**42*R"), "42"),
        ((*HEAD, *RECEIVER, "AAA*N**43*C"), "43"),
        ((*HEAD, *RECEIVER, *PERSON, "AAA*N**75*C"), "75"),
    ):
        [found] = tables_of(*body)
        assert [one.code for one in found.errors] == [code]
        assert found.rows == ()


def test_a_dependents_table_names_the_dependent():
    [found] = tables_of(
        *HEAD, *RECEIVER, "HL*3*2*22*1", "NM1*IL*1*ARDEN*ROSA****MI*2001", "HL*4*3*23*0",
        "NM1*03*1*ARDEN*MILO", "EB*1**30",
    )  # fmt: skip
    assert (found.patient, found.member_id, len(found.rows)) == ("ARDEN, MILO", "2001", 1)


def test_an_unknown_code_is_shown_as_it_is():
    assert ("ZZ9", "", "") in rows_of("EB*1**ZZ9")
