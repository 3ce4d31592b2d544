"""The catalogue against the interface document: no name missing, none added."""

import json
import re
from pathlib import Path

import pytest

from clearlane.claims import codes
from clearlane.claims.fields import (
    ClaimKind,
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
from clearlane.claims.forms import FORMS, form_of
from clearlane.claims.value_types import ValueType

INTERFACE = Path(__file__).resolve().parents[3] / "shared" / "spec" / "vendor-api-v3.md"
CLASSES = (MedicalClaim, MedicalLine, DentalClaim, DentalLine, Tooth, DentalAdjustment)
ROLES = ("Referring", "Supervising", "Ordering")
NAME = re.compile(r"`([A-Za-z0-9_<>]+)`")
MINIMAL = re.compile(r"`([A-Za-z0-9_]+)` \(min[,;) ]")


@pytest.fixture(scope="module")
def interface():
    if not INTERFACE.exists():
        pytest.skip("no interface document beside the checkout")
    return INTERFACE.read_text(encoding="utf-8")


def part_of(text, start, end):
    return text[text.index(start) : text.index(end)]


def table(text):
    """The rows of a table: first and second cell, without head and rule."""
    cells = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [(row[0].strip(), row[1].strip()) for row in cells if not set(row[0]) <= set("- ")][1:]


def field_names(text):
    """Names in back-ticks that are fields; the others are values that were seen."""
    found = []
    for name in NAME.findall(text):
        if "<Role>" in name:
            found += [name.replace("<Role>", role) for role in ROLES]
        elif re.match(r"(F\d|X12_|Svc_|LineItems|Teeth|Adjustments)", name):
            found.append(name)
    return found


def medical(text):
    whole = part_of(text, "### Medical claim object", "Medical claim line object")
    return [name for _, cell in table(whole) for name in field_names(cell)]


def medical_line(text):
    whole = part_of(text, "Medical claim line object", "### Dental claim object")
    return [name.strip() for cell, _ in table(whole) for name in cell.split(",")]


def dental(text):
    whole = part_of(text, "### Dental claim object", "Dental line object:")
    return [name for _, cell in table(whole) for name in field_names(cell)]


def dental_line(text):
    return field_names(part_of(text, "Dental line object:", "Which claim fields are mandatory"))


def names_of_the_interface(model):
    """The fields of a model that are not Clearlane's own."""
    return [name for name, row in fields_of(model).items() if not row.own]


INSIDE = {*Tooth.model_fields, *DentalAdjustment.model_fields}


def test_every_name_of_the_medical_claim_is_in_the_catalogue_and_none_is_added(interface):
    assert sorted(medical(interface)) == sorted(names_of_the_interface(MedicalClaim))


def test_every_name_of_the_medical_line_is_in_the_catalogue_and_none_is_added(interface):
    assert sorted(medical_line(interface)) == sorted(names_of_the_interface(MedicalLine))


def test_every_name_of_the_dental_claim_is_in_the_catalogue_and_none_is_added(interface):
    spellings = [
        *names_of_the_interface(DentalClaim),
        *(s for row in fields_of(DentalClaim).values() for s in row.aliases),
    ]
    assert sorted(dental(interface)) == sorted(spellings)


def test_every_name_of_the_dental_line_is_in_the_catalogue_and_none_is_added(interface):
    assert sorted(dental_line(interface)) == sorted([*names_of_the_interface(DentalLine), *INSIDE])


@pytest.mark.parametrize(
    ("start", "end", "model"),
    [
        ("### Medical claim object", "Medical claim line object", MedicalClaim),
        ("### Dental claim object", "Dental line object:", DentalClaim),
        ("Dental line object:", "Which claim fields are mandatory", DentalLine),
    ],
)
def test_the_minimal_fields_are_the_required_ones(interface, start, end, model):
    text = part_of(interface, start, end)
    marked = set(MINIMAL.findall(text)) - INSIDE
    for group, cell in table(text):
        if group.endswith("(min)"):
            marked |= set(field_names(cell))
    required = {row.name for row in fields_of(model).values() if row.required}
    sometimes = {row.name for row in fields_of(model).values() if row.required_when}
    assert required <= marked
    assert marked - required <= sometimes


def test_the_minimal_fields_of_a_medical_line_are_the_required_ones(interface):
    whole = part_of(interface, "Medical claim line object", "### Dental claim object")
    marked = {name for name, notes in table(whole) if "(min)" in notes}
    assert marked == {row.name for row in fields_of(MedicalLine).values() if row.required}


def test_dates_and_booleans_are_those_of_the_document(interface):
    whole = part_of(interface, "### Medical claim object", "Medical claim line object")
    known = fields_of(MedicalClaim)
    for group, cell in table(whole):
        if group.startswith("Dates"):
            assert {known[name].value_type for name in field_names(cell)} == {ValueType.DAY}
    lines = dict(table(part_of(interface, "Medical claim line object", "### Dental claim object")))
    for name, notes in lines.items():
        if name in MedicalLine.model_fields:
            assert (fields_of(MedicalLine)[name].value_type is ValueType.FLAG) == notes.startswith(
                "boolean"
            ), name
            assert (fields_of(MedicalLine)[name].value_type is ValueType.DAY) == notes.startswith(
                "date"
            ), name


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


@pytest.mark.parametrize("kind", ClaimKind)
def test_the_schema_of_a_document_names_every_field(kind):
    claim_schema = FORMS[kind]
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
    assert form_of(claim).kind is ClaimKind.MEDICAL
    assert form_of(dental_claim).kind is ClaimKind.DENTAL
    assert form_of(claim).lines(claim) == form_of(dental_claim).lines(dental_claim) == ()
    assert issubclass(Tooth, ClaimPart)
