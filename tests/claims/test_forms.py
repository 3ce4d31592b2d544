"""Every kind of claim has a form; its names are fields of its models.

Also tests `claims/claim_form`, `claims/kinds`, `cli/command/kind_options`, `claims/forms/dental` and `claims/forms/medical`.
"""

from datetime import date

import pytest

from clearlane.claims.fields import fields_of
from clearlane.claims.forms import FORMS, fields_of_forms, form_of, samples
from clearlane.claims.kinds import KINDS
from clearlane.payers.model import PAYER_TYPES
from tests.claims.outgoing import stored

DAY = date(2026, 4, 10)
EVERY_FORM = pytest.mark.parametrize("kind", list(FORMS.values()))


def decoded(kind, *, full):
    return stored(kind, (samples.extended_claim if full else samples.minimal_claim)(kind, DAY))


@EVERY_FORM
def test_every_kind_has_a_form(kind):
    form = kind
    row = KINDS[form.kind]
    assert form.name in row.submitted_on
    assert row.payer_type in PAYER_TYPES
    assert (row.file_tag, row.guide) == (form.placements.guide.kind, form.placements.guide.id)
    assert form.document.model_fields["DocumentType"].annotation.__args__ == (form.document_type,)
    assert form.claim.model_fields[form.lines_field].annotation == tuple[form.line, ...]


@EVERY_FORM
def test_the_names_of_a_form_are_fields_of_its_models(kind):
    form = kind
    claim, line = fields_of(form.claim), fields_of(form.line)
    known = claim.keys() | line.keys()
    groups = [*form.other_insurance_fields, *(name for row in form.persons for name in row[:2])]
    assert set(groups) <= claim.keys()
    assert form.decision_fields <= known


@EVERY_FORM
@pytest.mark.parametrize("full", [False, True])
def test_a_form_reads_its_claims(kind, full):
    claim = decoded(kind, full=full)
    form, given = form_of(claim), claim.__dict__
    assert form is kind
    lines = form.lines(claim)
    assert lines == given[form.lines_field]
    view = form.view(claim)
    assert form.value(claim, "total_charge") == sum(line.charge for line in view.lines)
    assert form.frequency(claim) == view.frequency or "1"
    assert tuple(form.value(claim, "diagnoses") or ()) == view.diagnoses
    assert form.value(claim, "is_predetermination") in {None, view.is_predetermination}
    for line, seen in zip(lines, view.lines, strict=True):
        assert (form.value(line, "lines[].procedure") or "") == seen.procedure
        assert form.value(line, "lines[].first_day") == seen.first_day
    changed = form.with_changes(claim, {"frequency": "7", "account_number": None})
    assert form.view(changed).frequency == "7"
    assert form.view(changed).account_number is None
    assert form.view(claim) == view
    assert form.has_other_insurance(claim) is full
    assert bool(form.other_payer_name(claim)) is full
    decision = form.earlier_decision(claim)
    assert (decision is not None) is full
    assert not [*form.missing_fields(given, [line.__dict__ for line in lines])]


def test_what_forms_call_a_value_leaves_out_a_form_that_lacks_it():
    assert fields_of_forms("medicare_reason") == {"X12_MedicareSecondaryReason"}
    assert fields_of_forms("lines[].procedure") == {
        "F24D_HcpcsProcedureCode",
        "F29_ProcedureCode",
        "FL44_ProcedureCode",
    }
