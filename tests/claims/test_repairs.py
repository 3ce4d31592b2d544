"""What is put right without asking, and what is left alone.

Also tests `claims/teeth`.
"""

import json
from datetime import date

import pytest

from clearlane.claims.fields import fields_of
from clearlane.claims.forms import FORMS, V3_DENTAL, V3_MEDICAL, samples
from clearlane.claims.read.decode import read_claim
from clearlane.claims.read.repairs import Repair, repair
from clearlane.claims.teeth import FROM_ISO, PERMANENT, PRIMARY
from tests.cases import every_case

DAY = date(2025, 3, 14)
MEDICAL, DENTAL = V3_MEDICAL, V3_DENTAL


def repaired(kind, **changes):
    claim = samples.minimal_claim(kind, DAY)
    for name, value in changes.items():
        (claim[kind.lines_field][0] if name in fields_of(kind.line) else claim)[name] = value
    return repair(read_claim(kind, json.dumps(claim).encode(), "").claim)


def value(claim, kind, name):
    return (
        getattr(claim, name)
        if name in fields_of(kind.claim)
        else getattr(getattr(claim, kind.lines_field)[0], name)
    )


@every_case(
    ("kind", "name", "given", "becomes", "how"),
    [
        (MEDICAL, "F02_PatientNameLast", "Arden", "ARDEN", "case"),
        (MEDICAL, "F02_PatientNameLast", "Ärdén-Søn", "ARDEN-SON", "accents"),
        (MEDICAL, "F02_PatientNameLast", "O\u2019Neil", "O'NEIL", "accents"),
        (MEDICAL, "F02_PatientNameLast", "Straße", "STRASSE", "case"),
        (MEDICAL, "F02_PatientNameLast", "A:B*C~D^E", "A B C D E", "characters"),
        (MEDICAL, "F02_PatientNameLast", "a\tb\x1fc", "A B C", "characters"),
        (MEDICAL, "F19_ClaimSupplementalInfoNoteText", "see: page 2", "SEE PAGE 2", "characters"),
        (MEDICAL, "F05_PatientPhone", "(512) 555-0142", "5125550142", "punctuation"),
        (MEDICAL, "F05_PatientPhone", "+1 512.555.0142", "5125550142", "punctuation"),
        (MEDICAL, "F05_PatientZip", "78701-1234", "787011234", "punctuation"),
        (MEDICAL, "F25_FederalTaxIdEin", "12-3456789", "123456789", "punctuation"),
        (MEDICAL, "F33A_BillingProviderNpi", "123 456 7893", "1234567893", "punctuation"),
        (MEDICAL, "F33B_BillingProviderTaxonomyCode", "207q00000x", "207Q00000X", "case"),
        (MEDICAL, "F33_BillingProviderZip", "78701", "787019998", "completed"),
        (DENTAL, "F48_BillingDentistZip", "78701", "787019998", "completed"),
        (MEDICAL, "F21_DiagnosisCodes", ["j02.9"], ("J029",), "form"),
        (MEDICAL, "F06_PatientRelationshipToInsured", "self", "18", "code"),
        (MEDICAL, "X12_SpectacleFrames", "L1, medical reason;L2", None, None),
        (MEDICAL, "X12_SpectacleFrames", "l1, L5", "L1,L5", "code"),
        (MEDICAL, "F24D_HcpcsProcedureCode", "g0008", "G0008", "case"),
        (MEDICAL, "F24D_Modifiers", "25 59", "25,59", "form"),
        (MEDICAL, "F24D_Modifiers", "2559", "25,59", "form"),
        (MEDICAL, "F24E_DiagnosisPointers", ["ab"], ("A", "B"), "form"),
        (MEDICAL, "F24E_DiagnosisPointers", ["A", None, "2"], ("A", "2"), "form"),
        (MEDICAL, "F24E_DiagnosisPointers", ["1,2"], ("1", "2"), "form"),
        (MEDICAL, "X12_NdcCode", "9-11-3", "00009001103", "punctuation"),
        (MEDICAL, "X12_NdcCode", "00009-001103", "00009001103", "punctuation"),
        (DENTAL, "F34a_DiagnosisCode", "k02.9; K05.30", "K029,K0530", "form"),
        (DENTAL, "F29a_DiagnosisPointer", "ab", "A,B", "form"),
        (DENTAL, "F33_MissingTeeth", ["01", "t"], ("1", "T"), "form"),
        (DENTAL, "F25_AreaOfOralCavity", ["ur", None], ("10",), "form"),
    ],
)
def test_a_value_is_put_right_and_recorded(kind, name, given, becomes, how):
    claim, done = repaired(kind, **{name: given})
    if how is None:
        assert value(claim, kind, name) == given
        return
    assert value(claim, kind, name) == becomes
    path = name if name in fields_of(kind.claim) else f"{kind.lines_field}[0].{name}"
    assert Repair(path, how) in done


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("F02_PatientNameLast", "李"),
        ("F02_PatientNameLast", "~~~"),
        ("Svc_VendorClaimId", "mixed*Case"),
        ("F01A_InsuredId", "A*1"),
        ("F03_PatientSex", "perhaps"),
        ("F05_PatientPhone", "CALL ME"),
        ("F05_PatientZip", "7870"),
        ("F24D_Modifiers", "25X"),
    ],
)
def test_what_cannot_be_put_right_stays_as_it_came(name, given):
    claim, done = repaired(MEDICAL, **{name: given})
    assert value(claim, MEDICAL, name) == given
    assert not any(each.field.endswith(name) for each in done)


def test_the_claim_that_came_is_not_touched():
    claim = read_claim(MEDICAL, json.dumps(samples.minimal_claim(MEDICAL, DAY)).encode(), "").claim
    after, done = repair(claim)
    assert claim.F02_PatientNameLast == "Arden"
    assert after.F02_PatientNameLast == "ARDEN"
    assert claim.F24_ClaimLines[0] is not None
    assert done


@pytest.mark.parametrize("kind", FORMS.values())
def test_a_repaired_claim_needs_no_repair(kind):
    claim, _ = repair(
        read_claim(kind, json.dumps(samples.extended_claim(kind, DAY)).encode(), "").claim
    )
    again, done = repair(claim)
    assert done == ()
    assert again is claim


def test_teeth_in_iso_notation_become_universal():
    claim, done = repaired(
        DENTAL,
        F26_ToothSystem="FDI",
        Teeth=[{"F27_Tooth": "46", "F28_ToothSurface": ["mo"]}, {"F27_Tooth": 11}, {}],
    )
    line = claim.LineItems[0]
    assert line.F26_ToothSystem == "JP"
    assert [tooth.F27_Tooth for tooth in line.Teeth] == ["30", "8", None]
    assert line.Teeth[0].F28_ToothSurface == ("M", "O")
    assert Repair("LineItems[0].F26_ToothSystem", "notation") in done


def test_an_unknown_iso_tooth_is_left_for_the_rule():
    claim, _ = repaired(DENTAL, F26_ToothSystem="ISO", Teeth=[{"F27_Tooth": "99"}])
    assert claim.LineItems[0].F26_ToothSystem == "JO"


def test_iso_without_teeth_is_universal():
    claim, _ = repaired(DENTAL, F26_ToothSystem="ISO")
    assert claim.LineItems[0].F26_ToothSystem == "JP"


def test_every_tooth_has_one_iso_name():
    names = [f"{quadrant}{place}" for quadrant in range(1, 9) for place in range(1, 9)]
    found = [universal for name in names if (universal := FROM_ISO.get(name))]
    assert sorted(found) == sorted((*PERMANENT, *PRIMARY))
    assert FROM_ISO["18"] == "1"
    assert FROM_ISO["48"] == "32"
    assert FROM_ISO["55"] == "A"
    assert FROM_ISO["85"] == "T"
