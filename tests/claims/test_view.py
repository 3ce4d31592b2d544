"""The view of a claim: every field has a path, and what is read at a path is written at its place.

Also tests `claims/view_builder`, `claims/forms/medical_view` and `claims/forms/dental_view`.
"""

import dataclasses
from datetime import date

import pytest

from clearlane.claims.claim_form import places
from clearlane.claims.fields import fields_of
from clearlane.claims.forms import FORMS, V3_DENTAL, V3_MEDICAL, samples
from clearlane.claims.view import ClaimView, LineToothView, LineView, PayerView
from clearlane.claims.view_builder import _PARTS, ViewTable
from tests.claims.outgoing import stored

DAY = date(2026, 4, 10)
KINDS = pytest.mark.parametrize("kind", list(FORMS.values()))


def viewed(kind, *, full=True, **changes):
    sample = (samples.extended_claim if full else samples.minimal_claim)(kind, DAY)
    claim = stored(kind, sample | changes)
    return claim, kind.view(claim)


def tables(form):
    found = [form.view_table, form.line_view_table]
    return found + [inner for table in found for inner in table.items.values()]


def unknown_attributes(table: ViewTable) -> list[str]:
    """Return the paths of a table that are not in its view."""
    missing = []
    for path in {*table.paths.values()}:
        view: type = table.view
        for word in path.split("."):
            attribute = word.removesuffix("[0]")
            if attribute not in {each.name for each in dataclasses.fields(view)}:
                missing.append(path)
            if word not in _PARTS.get(view, {}):
                break
            view = _PARTS[view][word]
    return missing


@KINDS
def test_every_field_of_a_form_has_a_path_in_the_view(kind):
    form = kind
    assert form.view_table.paths.keys() == fields_of(form.claim).keys() - {form.lines_field}
    assert form.line_view_table.paths.keys() == fields_of(form.line).keys()
    for table in tables(form):
        assert not unknown_attributes(table)


@KINDS
@pytest.mark.parametrize("full", [False, True])
def test_a_value_of_the_view_is_that_of_the_field_at_its_place(kind, full):
    claim, view = viewed(kind, full=full)
    form = kind
    one_field = [*form.view_table.paths.values()]
    plain = {
        name: path
        for name, path in form.view_table.paths.items()
        if one_field.count(path) == 1
        and name not in form.view_table.converted
        and path not in form.view_table.computed
        and name not in form.view_table.items
        and ".decision." not in path
    }
    assert len(plain) > 70
    for name, path in plain.items():
        assert form.locate(path) == name
        if name in claim.__dict__ and not path.startswith("other_payers"):
            assert at(view, path) == claim.__dict__[name]
    assert len(view.lines) == len(form.lines(claim))
    assert [line.charge for line in view.lines] == [line.charge for line in view.lines]
    assert view.decision == form.earlier_decision(claim)
    assert bool(view.other_payers) is form.has_other_insurance(claim) is full
    assert view.patient_birth is not None


def at(view, path):
    for word in path.split("."):
        name, _, index = word.partition("[")
        view = getattr(view, name)
        view = view[int(index[:-1])] if index else view
    return view


@KINDS
def test_a_view_by_its_constructor_equals_one_that_was_built(kind):
    _, view = viewed(kind)
    assert rebuilt(view) == view


def rebuilt(part):
    if isinstance(part, tuple) and not hasattr(part, "_fields"):
        return tuple(rebuilt(item) for item in part)
    if type(part).__module__ != ClaimView.__module__:
        return part
    return type(part)(
        **{each.name: rebuilt(getattr(part, each.name)) for each in dataclasses.fields(part)}
    )


def test_a_view_is_frozen_and_prints_no_value():
    _, view = viewed(V3_MEDICAL)
    with pytest.raises(dataclasses.FrozenInstanceError):
        view.total_charge = 0
    assert str(view.total_charge) not in repr(view)
    assert "total_charge" in repr(view)


def test_places_of_items():
    medical, dental = V3_MEDICAL, V3_DENTAL
    assert medical.locate("diagnoses[2]") == "F21_DiagnosisCodes[2]"
    assert dental.locate("diagnoses[2]") == "F34a_DiagnosisCode"
    assert medical.locate("lines[1].pointers[3]") == "F24_ClaimLines[1].F24E_DiagnosisPointers[3]"
    assert dental.locate("lines[1].pointers[3]") == "LineItems[1].F29a_DiagnosisPointer"
    assert dental.locate("lines[1].teeth[0].surfaces[2]") == (
        "LineItems[1].Teeth[0].F28_ToothSurface[2]"
    )
    assert medical.locate("causes[2]") == "F10C_PatientCondOtherAccident"
    assert medical.name_of("causes") == "F10A, F10B or F10C"
    assert dental.name_of("lines[].adjustments[].group") == "X12_AdjustmentGroupCode"
    assert not dental.has("lines[].drug.code")
    assert set(places(dental).fields("lines[].decision")) == {
        "X12_PrimaryPaidAmount",
        "X12_UnitsPaid",
        "X12_AdjudicationDate",
    }


@KINDS
def test_a_payer_that_decided_comes_before_the_payer_of_the_claim(kind):
    _, view = viewed(kind)
    assert view.decision is not None
    assert view.payers == (*view.other_payers, view.payer)
    undecided = dataclasses.replace(view, other_payers=(PayerView(name="Harbor"),))
    assert undecided.payers == (view.payer, PayerView(name="Harbor"))


def test_an_ssn_of_a_dentist_is_no_ein():
    _, view = viewed(V3_DENTAL, full=False, X12_TINorSSNQualifier="SY")
    assert (view.billing.ein, view.billing.ssn) == (None, samples_tax_id())
    _, view = viewed(V3_DENTAL, full=False, X12_TINorSSNQualifier="EI")
    assert (view.billing.ein, view.billing.ssn) == (samples_tax_id(), None)


def samples_tax_id():
    return samples.minimal_claim(V3_DENTAL, DAY)["F51_BillingDentistTaxID"]


def test_parts_that_a_claim_lacks_are_empty():
    line = LineView(procedure="D1110")
    assert line.drug.code is None
    assert line.teeth == ()
    assert LineToothView().surfaces == ()


WRITTEN_BY_PARTS = {
    "lines[0].adjustments",
    "lines[0].decision",
    "other_payers",
    "institutional.bill_type",
}


@KINDS
def test_what_is_read_at_a_path_can_be_removed_and_written_there(kind):
    claim, view = viewed(kind)
    lines = {f"lines[0].{path}" for path in {*kind.line_view_table.paths.values()}}
    given = {path: kind.value(claim, path) for path in {*kind.view_table.paths.values()}}
    given |= {
        path: kind.value(kind.lines(claim)[0], path.replace("[0]", "[]", 1)) for path in lines
    }
    for path, value in given.items():
        # Several parts make these, and each is written by itself.
        if value is None or path in WRITTEN_BY_PARTS:
            continue
        removed = kind.with_changes(claim, {path: None})
        assert removed != claim, path
        assert kind.view(kind.with_changes(removed, {path: value})) == view, path


@KINDS
def test_several_changes_of_lines_and_lists_are_written_at_once(kind):
    claim, view = viewed(kind)
    changes = {"diagnoses[0]": "R51", "lines[1].charge": 7, "lines[0].procedure": "D0120"}
    changed = kind.view(kind.with_changes(claim, changes))
    assert changed.diagnoses == ("R51", *view.diagnoses[1:])
    assert [line.charge for line in changed.lines[:2]] == [view.lines[0].charge, 7]
    assert [line.procedure for line in changed.lines[:2]] == ["D0120", view.lines[1].procedure]


def test_a_path_inside_a_list_of_a_line_is_written():
    claim, _ = viewed(V3_DENTAL)
    changes = {"lines[0].teeth[0].number": "3", "is_predetermination": True, "causes": ("EM",)}
    changed = V3_DENTAL.view(V3_DENTAL.with_changes(claim, changes))
    assert changed.lines[0].teeth[0].number == "3"
    assert changed.is_predetermination
    assert changed.causes == ("EM",)
    back = V3_DENTAL.with_changes(claim, {"is_predetermination": False})
    assert back == claim


def test_a_value_that_several_fields_make_is_not_written_by_guess():
    claim, _ = viewed(V3_MEDICAL)
    with pytest.raises(ValueError, match="decision cannot be written"):
        V3_MEDICAL.with_changes(claim, {"lines[0].decision": 1})
