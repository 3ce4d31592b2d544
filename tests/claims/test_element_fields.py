"""Every element of an 837 that came from a field has the field's name."""

import pytest

from clearlane.claims.forms import FORMS, V3_DENTAL, V3_MEDICAL
from clearlane.claims.responses.element_fields import ElementFields
from clearlane.claims.responses.explain import explain
from clearlane.claims.write.write_837 import write_claims
from clearlane.x12.path import parse_path
from clearlane.x12.show.describe import iter_segments
from tests.cases import every_case
from tests.claims.outgoing import (
    ENVELOPE,
    RECEIVER,
    SUBMITTER,
    dental,
    extended,
    medical,
    outgoing,
    random_claims,
)


def named(claim, source=None):
    """Return the names of fields by loop, segment with its qualifier, and element."""
    data = b"".join(write_claims([outgoing(claim)], ENVELOPE, SUBMITTER, RECEIVER))
    follower, found = ElementFields(source or claim), {}
    for loop, segment, _ in iter_segments(data):
        for element, names in follower.follow(loop, segment).items():
            assert loop is not None
            key = f"{loop.node.id}/{segment[0]}:{segment[1].partition(':')[0]}/{element[len(segment[0]) :]}"
            found.setdefault(key, []).append(names)
    return found


SELF = {"F06_PatientRelationshipToInsured": "18"}
CASES = [
    (medical(), "2010AA/NM1:85/03", "F33_BillingProviderNameLast (box 33)"),
    (medical(), "2300/HI:ABK/01-2", "F21_DiagnosisCodes (box 21)"),
    (medical(), "2400/SV1:HC/01-2", "F24D_HcpcsProcedureCode (box 24D)"),
    (medical({"F24D_Modifiers": "25,59"}), "2400/SV1:HC/01-4", "F24D_Modifiers (box 24D)"),
    (medical(), "2400/SV1:HC/01-1", None),
    (medical(), "2400/DTP:472/02", None),
    (medical(**SELF), "2010BA/NM1:IL/03", "F04_InsuredNameLast (box 4)"),
    (medical(), "2300/CLM:C1/01", None),
    (dental(), "2300/CLM:C1/05-1", "F38_PlaceOfTreatment (box 38)"),
]


@every_case("claim, element, names", CASES)
def test_an_element_has_the_name_of_the_field_that_it_came_from(claim, element, names):
    found = named(claim)
    if element.startswith("2300/CLM"):
        found = {k.replace(k.split("/")[1], "CLM:C1"): v for k, v in found.items() if "/CLM:" in k}
    assert set(found.get(element, [None])) == {names}


@pytest.mark.parametrize("kind", FORMS.values())
def test_every_value_that_is_sent_unchanged_has_its_field_or_one_with_the_same_value(kind):
    for claim in (*random_claims(kind, 10), extended(kind)):
        places = {f"{loop}/{segment.partition(':')[0]}/{element}" for loop, segment, element in
                  (key.split("/") for key in named(claim))}  # fmt: skip
        for row in explain(outgoing(claim)):
            for sent in () if row.derived else row.sent:
                at = parse_path(sent.place)
                element = f"{at.element or 3:02}" + (f"-{at.component}" if at.component else "")
                assert f"{at.loop}/{at.id}/{element}" in places, (row.field, sent.place)


def test_in_a_file_of_many_claims_an_element_has_the_names_of_all_fields_it_may_come_from():
    found = named(medical(), source=V3_MEDICAL)
    assert found["2010AA/NM1:85/03"] == ["F33_BillingProviderNameLast (box 33)"]
    assert "2010AA/NM1:85/02" not in found
    days = "F24A_DateOfServiceFrom (box 24A), F24A_DateOfServiceTo (box 24A)"
    assert set(found["2400/DTP:472/03"]) == {days}


MIDDLE = {"F04_InsuredNameMiddle": "Q", "F02_PatientNameMiddle": "Q"}
ACCIDENT = {"F10A_PatientCondEmployment": True, "F10B_PatientCondAutoAccident": True}


@every_case(
    ("claim", "element", "names"),
    [
        # A patient's field stands in the insured's loop only where both are one person, and then either may be meant.
        (medical(**MIDDLE, F06_PatientRelationshipToInsured="19"), "2010BA/NM1:IL/05", "F04_InsuredNameMiddle (box 4)"),
        (medical(**MIDDLE, **SELF), "2010BA/NM1:IL/05", "F04_InsuredNameMiddle (box 4), F02_PatientNameMiddle (box 2)"),
        (medical(**ACCIDENT, F10B_PatientCondAutoAccidentState="TX"), "2300/CLM:C1/11-1", "F10B_PatientCondAutoAccident (box 10b)"),
        (medical(**ACCIDENT, F10B_PatientCondAutoAccidentState="TX"), "2300/CLM:C1/11-2", "F10A_PatientCondEmployment (box 10a)"),
        (medical(**ACCIDENT, F10B_PatientCondAutoAccidentState="TX"), "2300/CLM:C1/11-4", "F10B_PatientCondAutoAccidentState (box 10b)"),
        (medical(), "2300/HI:ABK/01-2", "F21_DiagnosisCodes (box 21)"),
        (medical(), "2300/HI:ABK/01-1", "F21_DiagnosisCodes (box 21), F21_IcdIndicator (box 21)"),
        (extended(V3_DENTAL), "2430/CAS:CO/02", "X12_AdjustmentReasonCode"),
        (extended(V3_DENTAL), "2430/CAS:CO/03", "X12_AdjustmentAmount"),
        (extended(V3_DENTAL), "2400/TOO:JP/02", "F27_Tooth (box 27)"),
    ],
)  # fmt: skip
def test_in_a_file_of_many_claims_the_segments_decide_what_they_can(claim, element, names):
    kind = V3_MEDICAL if hasattr(claim, "F28_TotalCharge") else V3_DENTAL
    found = named(claim, source=kind)
    if element.startswith("2300/CLM"):
        found = {k.replace(k.split("/")[1], "CLM:C1"): v for k, v in found.items() if "/CLM:" in k}
    assert set(found.get(element, [None])) == {names}
