"""The catalogue against the facts of the interface: no name missing, none added."""

import json
import re

import pytest

from clearlane.claims import codes
from clearlane.claims.fields import (
    ClaimPart,
    DentalAdjustment,
    DentalClaim,
    DentalLine,
    MedicalClaim,
    MedicalLine,
    Tooth,
    fields_of,
    nested_parts,
)
from clearlane.claims.forms import FORMS, V3_DENTAL, V3_MEDICAL, form_of
from clearlane.claims.value_types import ValueType
from tests.contract.contract_table import fields_of_object

CLASSES = (MedicalClaim, MedicalLine, DentalClaim, DentalLine, Tooth, DentalAdjustment)


def names_of_the_interface(model):
    """The fields of a model that are not Clearlane's own."""
    return [name for name, row in fields_of(model).items() if not row.own]


def minimal(model):
    """The fields that the interface marks as required."""
    return {
        name
        for name, facts in fields_of_object(model.__name__).items()
        if facts.required == "minimal"
    }


@pytest.mark.parametrize("model", CLASSES)
def test_every_name_of_the_interface_is_in_the_catalogue_and_none_is_added(model):
    facts = fields_of_object(model.__name__)
    assert sorted(facts) == sorted(names_of_the_interface(model))
    assert {name: (one.also,) for name, one in facts.items() if one.also} == {
        row.name: row.aliases for row in fields_of(model).values() if row.aliases
    }


@pytest.mark.parametrize("model", CLASSES)
def test_the_minimal_fields_are_the_required_ones(model):
    required = {row.name for row in fields_of(model).values() if row.required}
    sometimes = {row.name for row in fields_of(model).values() if row.required_when}
    assert required <= minimal(model)
    assert minimal(model) - required <= sometimes


def test_the_minimal_fields_of_a_medical_line_are_always_required():
    assert minimal(MedicalLine) == {
        row.name for row in fields_of(MedicalLine).values() if row.required
    }


@pytest.mark.parametrize("model", CLASSES)
def test_dates_booleans_and_arrays_are_those_of_the_interface(model):
    known = fields_of(model)
    for name, facts in fields_of_object(model.__name__).items():
        row = known[name]
        assert (row.value_type is ValueType.FLAG) == (facts.type == "boolean"), name
        assert row.is_array == facts.type.startswith("array"), name
        if facts.type == "date":
            assert row.value_type is ValueType.DAY, name
        elif row.value_type is ValueType.DAY:  # which the name alone says
            assert re.search("date|dob", name, re.IGNORECASE), name
        if facts.type == "number":
            assert row.value_type in {ValueType.AMOUNT, ValueType.COUNT}, name


@pytest.mark.parametrize("model", CLASSES)
def test_every_field_says_what_the_tables_need_to_know(model):
    for row in fields_of(model).values():
        assert row.label, row.name
        assert row.label[0].isupper(), row.name
        coded = row.value_type in {ValueType.CODED, ValueType.PLACE}
        assert bool(row.codes) == coded, row.name
        assert not row.codes or row.codes in codes.LISTS, row.name
        assert row.value_type is not ValueType.PARTS or row.name in nested_parts(model), row.name
        longest = {
            ValueType.NAME,
            ValueType.STREET,
            ValueType.CITY,
            ValueType.NOTE,
            ValueType.REFERENCE,
            ValueType.KEY,
        }
        assert row.value_type not in longest or row.max_length, row.name


@pytest.mark.parametrize("model", CLASSES)
def test_a_field_of_a_claim_form_has_its_box(model):
    for row in fields_of(model).values():
        on_paper = re.match(r"F(\d+)", row.name)
        if on_paper and on_paper[1] != "00":
            assert row.box, row.name


def test_a_claim_tells_which_fields_are_filled_and_never_what_they_hold():
    line = MedicalLine.model_construct(F24D_HcpcsProcedureCode="99213", X12_Description="SECRET")
    for shown in (repr(line), str(line), f"{line}"):
        assert "SECRET" not in shown
        assert "99213" not in shown
        assert "X12_Description" in shown


def test_a_field_that_is_left_out_reads_as_none():
    line = MedicalLine.model_construct(F24D_HcpcsProcedureCode="99213")
    object.__setattr__(line, "__dict__", {"F24D_HcpcsProcedureCode": "99213"})
    assert line.X12_Description is None
    assert line.F24D_HcpcsProcedureCode == "99213"


@pytest.mark.parametrize("kind", FORMS.values())
def test_the_schema_of_a_document_names_every_field(kind):
    claim_schema = kind
    schema = claim_schema.document.model_json_schema()
    json.dumps(schema)
    assert set(schema["$defs"][claim_schema.claim.__name__]["properties"]) == set(
        claim_schema.claim.model_fields
    )
    assert set(schema["$defs"][claim_schema.line.__name__]["properties"]) == set(
        claim_schema.line.model_fields
    )
    for part in (claim_schema.claim, claim_schema.line):
        for row in fields_of(part).values():
            description = schema["$defs"][part.__name__]["properties"][row.name]["description"]
            assert description.startswith(row.label)
            assert not row.box or f"Box {row.box} " in description
            assert not row.required_when or row.required_when in description
            assert not row.codes or row.codes in description


def test_kinds_and_lines_are_found_from_the_claim():
    claim = MedicalClaim.model_construct(F24_ClaimLines=())
    dental_claim = DentalClaim.model_construct(LineItems=())
    assert form_of(claim) is V3_MEDICAL
    assert form_of(dental_claim) is V3_DENTAL
    assert form_of(claim).lines(claim) == form_of(dental_claim).lines(dental_claim) == ()
    assert issubclass(Tooth, ClaimPart)
