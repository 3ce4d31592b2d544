"""The form of claims in 837 files: a claim that we write and read back has the view that it had as JSON.

Also tests `claims/forms/x12_view` and `claims/forms/x12_places`.
"""

import re
from datetime import date
from decimal import Decimal

import pytest

from clearlane.claims.codes import POINTED_PLACES
from clearlane.claims.forms import FORMS, x12_view
from clearlane.claims.forms.samples import minimal_claim
from clearlane.claims.forms.x12_form import FORMS_BY_TRANSACTION
from clearlane.claims.kinds import ClaimKind
from clearlane.claims.rules import RULES
from clearlane.claims.value_types import DEFAULT_REASONS, EarlierAdjustment
from clearlane.x12.reader.reader import UnitClosed, read
from tests.cases import full_or_quick
from tests.claims.flat_view import flat
from tests.claims.outgoing import (
    DAY,
    extended,
    medical,
    outgoing,
    random_claims,
    stored,
    written,
)
from tests.corpus import corpus_files, own_samples, public_samples

CLAIMS = full_or_quick(150, 40)
"""Random claims of each kind that are written and read."""

# The values that an 837 states otherwise than the JSON that it was written from.
OTHERWISE = {
    "vendor_claim_id": "CLM01 is our number of the claim.",
    "account_number": "CLM01 is our number of the claim, unless a route sends the account.",
    "payer.id": "The id is that of the directory.",
    "dates.service": "An 837D states the days of the lines.",
}
# What the JSON states and an 837 does not.
ONLY_JSON = {
    "lines[].decision": "A payer may decide lines after one that decided the claim alone.",
    "lines[].decision.groups": "A payer may decide lines after one that decided the claim alone.",
    "billing.second_ssn": "2010AA has one tax number.",
    "billing.ssn": "2010AA has one tax number, and the EIN comes first.",
    "dates.release": "5010 has no place for it.",
    "dates.assignment": "5010 has no place for it.",
    "dates.provider_signature": "5010 has no place for it.",
    "dates.service": "Lines with days of their own state them.",
    "lines[].drug.link": "A prescription number is sent instead.",
    "lines[].drug.quantity": "A quantity has a unit.",
    "lines[].rendering.commercial_number": "The line's provider is the claim's.",
    "lines[].rendering.first_name": "The line's provider is the claim's.",
    "lines[].rendering.last_name": "The line's provider is the claim's.",
    "lines[].rendering.license": "The line's provider is the claim's.",
    "lines[].rendering.location_number": "The line's provider is the claim's.",
    "lines[].rendering.middle_name": "An organization has no middle name.",
    "lines[].rendering.npi": "The line's provider is the claim's.",
    "lines[].rendering.suffix": "An organization has no suffix.",
    "lines[].rendering.taxonomy": "The line's provider is the claim's.",
    "lines[].rendering.upin": "The line's provider is the claim's.",
    "lines[].adjustments[].amount": "They are in the decision.",
    "lines[].adjustments[].group": "They are in the decision.",
    "lines[].adjustments[].reason": "They are in the decision.",
    "other_coverage": "The loop 2320 says it.",
    "other_payers[].decision.day": "Decided lines state it.",
    "other_payers[].insured.birth": "5010 has no place for it.",
    "other_payers[].insured.employer": "5010 has no place for it.",
    "other_payers[].insured.sex": "5010 has no place for it.",
    "other_payers[].insured.middle_name": "An organization has no middle name.",
    "other_payers[].insured.suffix": "An organization has no suffix.",
    "other_payers[].insured.policy_number": "It is sent as the group number.",
    "other_payers[].plan_name": "It is sent as the payer's name, or left out beside a group number.",
    "payer_paid": "It is the amount that the other payer paid.",
    "patient": "A patient who is the subscriber is stated once.",
    "patient.phone": "Only property and casualty claims state it.",
    "subscriber": "5010 states the address, birth and sex of a subscriber who is the patient.",
    "subscriber.phone": "Only property and casualty claims state it.",
    "subscriber.plan_name": "It is left out beside a group number.",
    "subscriber.employer": "It is the group's name.",
    "rendering.middle_name": "An organization has no middle name.",
    "rendering.suffix": "An organization has no suffix.",
    "facility": "It is left out if it is the billing provider's place.",
    "pay_to": "It is left out if it is the billing provider's address.",
    "benefits_signature": "5010 states whether there is a signature.",
    "provider_signature": "5010 states whether there is a signature.",
    "release_signature": "5010 states whether there is a signature.",
}
# What an 837 must state although the JSON does not.
ONLY_X12 = {
    "accepts_assignment": "Required in CLM07.",
    "account_number": "Required in CLM01.",
    "benefits_assigned": "Required in CLM08.",
    "release": "Required in CLM09.",
    "signature_on_file": "Required in CLM06.",
    "frequency": "Required in CLM05-3: 1 for an original.",
    "place": "Required in CLM05-1: that of the first line.",
    "earlier_paid": "Required of a payer that decided.",
    "remaining_liability": "Computed if the claim does not state it.",
    "facility.last_name": "Required; the billing dentist's by default.",
    "institutional.occurrences[].last_day": "A single day is the first and the last.",
    "institutional.procedures[].last_day": "A single day is the first and the last.",
    "lines[].control_number": "Made by us if the caller gives none.",
    "lines[].decision.day": "The day of the claim's decision.",
    "lines[].decision.units": "Required in SVD05.",
    "lines[].drug.units": "A quantity has a unit.",
    "lines[].last_day": "A single day is the first and the last.",
    "lines[].place": "The claim's, unless the line has its own.",
    "lines[].remaining_liability": "Computed if the line does not state it.",
    "lines[].rendering": "A line's provider has the name and the NPI of the claim's.",
    "lines[].units": "Required: 1 by default.",
    "other_payers[].coverage": "Required in SBR09: ZZ by default.",
    "other_payers[].decision.lines[].day": "The day of the claim's decision.",
    "other_payers[].decision.lines[].units": "Required in SVD05.",
    "other_payers[].id": "Of the directory, or made of the name.",
    "other_payers[].insured.entity_type": "Required in NM102.",
    "other_payers[].insured.group_number": "Box 9a.",
    "other_payers[].insured.member_id": "Box 9a, if there is no member id.",
    "other_payers[].insured.member_id_type": "Required in NM108.",
    "other_payers[].name": "The plan's name, if there is no other.",
    "patient.entity_type": "Required in NM102.",
    "payer.coverage": "Required in SBR09: ZZ by default.",
    "rendering.npi": "That of the lines.",
    "subscriber.entity_type": "Required in NM102.",
    "subscriber.member_id_type": "Required in NM108.",
    "subscriber.middle_name": "The patient's, if both are one person.",
    "subscriber.phone": "The patient's, if both are one person.",
    "subscriber.plan_name": "The employer of a dental claim.",
    "subscriber.street": "The patient's, if both are one person.",
    "subscriber.street2": "The patient's, if both are one person.",
    "subscriber.city": "The patient's, if both are one person.",
    "subscriber.state": "The patient's, if both are one person.",
    "subscriber.zip": "The patient's, if both are one person.",
    "subscriber.suffix": "The patient's, if both are one person.",
}


def views_in(data):
    for event in read(data):
        if isinstance(event, UnitClosed):
            form = FORMS_BY_TRANSACTION[event.set.guide.kind]
            yield form.view_of_loops(event.loop, event.parents, event.set.first_segment)


def view_in_file(claim, **more):
    (view,) = views_in(written([outgoing(claim, **more)]))
    return view


def is_listed(path, table):
    pattern = re.sub(r"\[\d+\]", "[]", path)
    return pattern in table or pattern.rpartition(".")[0] in table


def in_numbers(path, value):
    """Return a value of the JSON view as an 837 must write it."""
    if path.endswith(".pointers"):
        return tuple(str(POINTED_PLACES[pointer]) for pointer in value)
    if ".groups." in path:
        default = DEFAULT_REASONS[path[-2:]]
        return tuple(EarlierAdjustment(one.reason or default, *one[1:]) for one in value)
    return value


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_a_claim_that_is_written_and_read_has_the_view_of_its_json(form):
    seen = {"json": set(), "x12": set()}
    smallest = stored(form, minimal_claim(form, DAY))
    for claim in (*random_claims(form, CLAIMS), extended(form), smallest):
        own, read_back = flat(form.view(claim)), flat(view_in_file(claim))
        for path in own.keys() | read_back.keys():
            if path not in read_back:
                assert is_listed(path, ONLY_JSON), f"{path}: {own[path]!r} was not read"
                seen["json"].add(path)
            elif path not in own:
                assert is_listed(path, ONLY_X12), f"{path}: {read_back[path]!r} is not of the JSON"
                seen["x12"].add(path)
            elif in_numbers(path, own[path]) != read_back[path]:
                assert is_listed(path, OTHERWISE), f"{path}: {own[path]!r}, {read_back[path]!r}"
        assert len(own.keys() & read_back.keys()) > 20
    assert seen["json"]
    assert seen["x12"]


@pytest.mark.parametrize("sample", corpus_files("837P", "837D", "837I"))
def test_every_claim_of_a_sample_has_a_view(sample):
    data = sample.path.read_bytes()
    claims = sum(isinstance(event, UnitClosed) for event in read(data))
    views = list(views_in(data))
    assert len(views) == claims
    for view in views:
        assert view.lines or view.total_charge is not None or view.vendor_claim_id
        for path in view.form.known:
            assert view.form.locate(path)
            assert view.form.has(path), path
            assert view.form.name_of(path).startswith("the ")


@pytest.mark.skipif(not public_samples(), reason="there is no corpus")
def test_the_corpus_has_claims_of_every_transaction():
    counts = dict.fromkeys(FORMS_BY_TRANSACTION, 0)
    for sample in public_samples():
        if sample.kind in counts:
            counts[sample.kind] += len(list(views_in(sample.path.read_bytes())))
    assert all(counts.values()), counts
    assert sum(counts.values()) >= 50


def test_a_path_is_located_in_the_file_and_named_as_the_trade_does():
    form = view_in_file(medical(F33A_BillingProviderNpi="1679576722")).form
    assert form.name_of("billing.npi") == "the billing provider's NPI (NM109)"
    assert re.fullmatch(r"2010AA/NM109 \(segment \d+\)", form.locate("billing.npi"))
    assert form.name_of("dates.accident") == "the day of the accident (DTP*439)"
    assert form.name_of("frequency") == "the claim frequency (CLM05-3)"
    assert form.name_of("lines[].description") == "the line's description (SV101-7)"
    assert re.fullmatch(r"2400/SV102 \(segment \d+\)", form.locate("lines[0].charge"))
    assert re.fullmatch(r"line 1 \(segment \d+\)", form.locate("lines[0]"))
    # A value that the claim lacks is where its segment is, or at the segment that opens its loop.
    assert form.locate("billing.street2").startswith("2010AA/N302")
    assert form.locate("dates.accident").startswith("2300/CLM (")
    assert form.locate("accident_state").startswith("2300/CLM11-4 (")
    assert form.locate("lines[0].pointers[0]").startswith("2400/SV107-1")


def test_each_transaction_has_what_its_guide_has():
    professional, dental_form = (FORMS_BY_TRANSACTION[name] for name in ("837P", "837D"))
    for path in ("billing.npi", "lines[0].procedure", "other_payers[1].name", "lines", "diagnoses"):
        assert professional.has(path)
        assert dental_form.has(path)
    assert professional.has("clia_number")
    assert not dental_form.has("clia_number")
    assert dental_form.has("lines[].teeth[].surfaces")
    assert not professional.has("lines[].teeth")
    assert not professional.has("other_coverage")
    assert not professional.has("release_signature")


def test_every_row_of_the_tables_is_in_a_guide():
    known = set().union(*(form.paths for form in FORMS_BY_TRANSACTION.values()))
    for rows in (x12_view.CLAIM, *x12_view.AROUND.values(), *x12_view.OWN_OF_CLAIM.values()):
        assert rows.keys() <= known
    for rows in (x12_view.LINE, x12_view.DRUG, *x12_view.OWN_OF_LINE.values()):
        assert {f"lines[].{path}" for path in rows} <= known


def test_values_that_are_faulty_in_form_are_none_and_known_as_faulty():
    claim = medical(F10C_PatientCondOtherAccident=True, F15_AccidentDate="2026-04-01")
    data = written([outgoing(claim)])
    data = data.replace(b"DTP*439*D8*20260401", b"DTP*439*D8*20261341")
    data = re.sub(rb"CLM\*(\w+)\*[\d.]+\*", rb"CLM*\1*1O0*", data)
    (view,) = views_in(data)
    assert view.dates.accident is None
    assert view.total_charge is None
    assert view.form.faulty == {"dates.accident", "total_charge"}


def test_a_patient_level_states_the_relationship():
    claim = medical(F06_PatientRelationshipToInsured="Child")
    assert view_in_file(claim).subscriber.relationship == "19"
    own = medical(F06_PatientRelationshipToInsured="Self")
    assert view_in_file(own).subscriber.relationship == "18"


COB = (
    "SBR*P*18*G1******CI~CAS*CO*45*20~AMT*D*80~OI***Y***Y~NM1*IL*1*ARDEN*ROSA****MI*M1~"
    "NM1*PR*2*FIRST PLAN*****PI*P1~DTP*573*D8*20260401~"
    "SBR*S*18*******CI~AMT*D*15~OI***Y***Y~NM1*IL*1*ARDEN*ROSA****MI*M2~NM1*PR*2*SECOND PLAN*****PI*P2~"
)
LINE_COB = (
    "SVD*P1*80*HC:99213**1~CAS*CO*45*20~DTP*573*D8*20260401~"
    "SVD*P2*10*HC:99213**1~DTP*573*D8*20260402~SVD*P2*5*HC:99213**1~CAS*PR*2*85~DTP*573*D8*20260402~"
)


def test_each_payer_has_its_own_decision():
    data = written([outgoing(medical())]).decode()
    head, mark, rest = data.partition("LX*1~")
    line, end, trailer = rest.partition("SE*")
    (view,) = views_in((head + COB + mark + line + LINE_COB + end + trailer).encode())
    first, second = view.other_payers
    assert (first.name, first.decision.paid, first.decision.day) == (
        "FIRST PLAN",
        Decimal(80),
        date(2026, 4, 1),
    )
    assert first.decision.lines[0].groups == {"CO": (EarlierAdjustment("45", Decimal(20)),)}
    assert (second.decision.paid, second.decision.day) == (Decimal(15), None)
    # A payer that split the line decided its parts.
    assert second.decision.lines[0].paid == Decimal(15)
    assert second.decision.lines[0].day == date(2026, 4, 2)
    assert view.lines[0].decision == first.decision.lines[0]
    assert view.decision == first.decision
    assert view.form.locate("other_payers[1].decision.paid").startswith("2320/AMT02")
    assert view.form.locate("lines[0].decision.paid").startswith("2430/SVD02")


def test_every_path_of_a_rule_that_applies_has_a_name():
    for form in FORMS_BY_TRANSACTION.values():
        for rule in RULES.values():
            for path in filter(form.has, rule.paths):
                assert form.name_of(path)


def test_an_institutional_claim_has_its_own_values_and_no_place_of_service():
    (sample,) = (each for each in own_samples() if each.path.name == "two_day_stay.x12")
    (view,) = views_in(sample.path.read_bytes())
    assert view.form.kind is ClaimKind.INSTITUTIONAL
    # The admitting diagnosis and the procedure have lists of their own.
    assert (view.diagnoses, view.icd_version) == (("I214",), "10")
    assert view.dates.admission == date(2025, 1, 20)
    # CLM05-1 is the type of bill, and the hour of the discharge is no day.
    assert (view.place, view.dates.discharge, view.frequency) == (None, None, "1")
    assert not view.form.has("place")
    assert not view.form.faulty
    assert [line.procedure for line in view.lines] == ["", "99285", "80053"]
    assert sum(line.charge for line in view.lines) == view.total_charge == Decimal("4850.25")
    assert view.lines[1].first_day == date(2025, 1, 20)
