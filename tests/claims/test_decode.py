"""Documents become claims, or every fault of their shape with the document's own key.

Also tests `claims/read/tolerant_reading`, `claims/value_types` and `kernel/json_names`.
"""

import json
import sys
from datetime import date
from decimal import Decimal
from itertools import permutations
from random import Random

import pytest

from clearlane.claims.fields import encode, fields_of, nested_parts
from clearlane.claims.finding import FINDINGS_PER_CLAIM_MAX, count_findings
from clearlane.claims.forms import FORMS, V3_DENTAL, V3_MEDICAL, samples
from clearlane.claims.read import decode
from clearlane.claims.read.decode import CLAIM_BYTES_MAX, open_document, read_claim, read_document
from clearlane.claims.read.repairs import Repair, repair
from clearlane.claims.read.tolerant_reading import LIST_ITEMS_READ_MAX
from clearlane.claims.rules import RuleInputs, repair_and_check
from clearlane.claims.value_types import EarlierAdjustment, ValueType
from clearlane.kernel import limits
from clearlane.kernel.finding import Stage
from tests.cases import by_profile, every_case
from tests.claims.outgoing import segments
from tests.claims.variety import random_claim

DAY = date(2025, 3, 14)
MEDICAL, DENTAL = V3_MEDICAL, V3_DENTAL


def body(value):
    return json.dumps(value).encode()


def minimal(kind=MEDICAL, **changes):
    """The minimal claim with some fields changed; ``...`` leaves a field out."""
    claim = samples.minimal_claim(kind, DAY)
    line = claim[kind.lines_field][0]
    for name, value in changes.items():
        part = line if name in fields_of(kind.line) else claim
        part[name] = value
        if value is ...:
            del part[name]
    return claim


def read(claim, kind=MEDICAL):
    return read_claim(kind, body(claim), "Claims[0]")


def state(found):
    """Key and messages, as an answer shows them."""
    shown = {}
    for finding in found.findings:
        assert finding.stage is Stage.SHAPE
        shown.setdefault(finding.location, []).append(finding.message)
    return shown


@pytest.mark.parametrize("kind", FORMS.values())
@pytest.mark.parametrize("full", [False, True])
def test_the_sample_documents_are_read_without_a_finding(kind, full):
    document = samples.document(kind, day=DAY, full=full)
    submission, decoded = read_document(body(document), kind)
    assert submission.findings == submission.ignored_fields == ()
    assert [each.findings for each in decoded] == [()]
    assert decoded[0].claim.Svc_VendorClaimId == "SAMPLE-1"


def test_types_change_at_the_border_and_names_do_not():
    claim = read(minimal(F24G_DaysOrUnits=1.5, F10A_PatientCondEmployment="TRUE")).claim
    assert claim.F03_PatientDob == date(1985, 3, 24)
    assert claim.F28_TotalCharge == Decimal("100.00")
    assert claim.F24_ClaimLines[0].F24G_DaysOrUnits == Decimal("1.5")
    assert claim.F10A_PatientCondEmployment is True
    assert claim.F21_DiagnosisCodes == ("J02.9", "R05.9")
    assert claim.F29_PatientAmountPaid is None


# --- required ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMS.values())
@pytest.mark.parametrize("blank", [..., None, "", " \t "])
def test_every_required_field_left_out_null_or_blank_is_reported(kind, blank):
    for row in fields_of(kind.claim).values():
        if row.required:
            found = state(read(minimal(kind, **{row.name: blank}), kind))
            assert found == {f"Claims[0].{row.name}": [f"The {row.name} field is required."]}


@pytest.mark.parametrize("kind", FORMS.values())
@pytest.mark.parametrize("blank", [..., None, "", "  "])
def test_every_required_field_of_a_line_is_reported(kind, blank):
    lines = kind.lines_field
    for row in fields_of(kind.line).values():
        if row.required:
            found = state(read(minimal(kind, **{row.name: blank}), kind))
            assert found == {
                f"Claims[0].{lines}[0].{row.name}": [f"The {row.name} field is required."]
            }


@pytest.mark.parametrize("kind", FORMS.values())
@pytest.mark.parametrize("blank", [None, "", "   "])
def test_every_optional_field_may_be_null_or_blank(kind, blank):
    for part in (kind.claim, kind.line):
        for row in fields_of(part).values():
            if not row.required and not row.required_when:
                found = read(minimal(kind, **{row.name: blank}), kind)
                assert found.findings == (), row.name
                assert row.name not in found.claim.__dict__


@pytest.mark.parametrize("empty", [[], [None], ["", None]])
def test_an_array_without_anything_in_it_is_missing(empty):
    assert state(read(minimal(F21_DiagnosisCodes=empty))) == {
        "Claims[0].F21_DiagnosisCodes": ["The F21_DiagnosisCodes field is required."]
    }
    assert state(read(minimal(F24E_DiagnosisPointers=empty))) == {
        "Claims[0].F24_ClaimLines[0].F24E_DiagnosisPointers": [
            "The F24E_DiagnosisPointers field is required."
        ]
    }


def test_a_blank_place_in_an_array_stays_a_place():
    claim = read(minimal(F21_DiagnosisCodes=["J02.9", "", "R05.9"])).claim
    assert claim.F21_DiagnosisCodes == ("J02.9", None, "R05.9")


def test_ein_or_ssn_is_required():
    assert state(read(minimal(F25_FederalTaxIdEin=...))) == {
        "Claims[0].F25_FederalTaxIdEin": ["The F25_FederalTaxIdEin field is required."]
    }
    assert read(minimal(F25_FederalTaxIdEin=None, F25_FederalTaxIdSsn="987654320")).claim


@pytest.mark.parametrize("name", [n for n in fields_of(MEDICAL.claim) if n.startswith("X12_Rend")])
def test_any_field_of_the_rendering_provider_wants_the_last_name(name):
    found = state(read(minimal(**{name: "X"})))
    if name == "X12_RendProviderNameLast":
        assert found == {}
    else:
        assert found == {
            "Claims[0].X12_RendProviderNameLast": [
                "The X12_RendProviderNameLast field is required."
            ]
        }
    assert read(minimal(**{name: "X", "X12_RendProviderNameLast": "Fenn"})).claim


PATIENT = {
    "F20_PatientLastName": "Arden",
    "F20_PatientFirstName": "Milo",
    "F20_PatientAddress": "12 Fernhill Road",
    "F20_PatientCity": "Austin",
    "F20_PatientST": "TX",
    "F20_PatientZip": "78701",
    "F20_PatientDOB": "2015-01-01",
    "F22_PatientSex": "M",
}


@pytest.mark.parametrize("relationship", ["Child", "19", "spouse", "G8"])
def test_a_dental_patient_who_is_not_the_insured_is_described(relationship):
    found = state(read(minimal(DENTAL, F18_PatientRelationship=relationship), DENTAL))
    assert set(found) == {f"Claims[0].{name}" for name in PATIENT}
    assert read(minimal(DENTAL, F18_PatientRelationship=relationship, **PATIENT), DENTAL).claim


@pytest.mark.parametrize("relationship", ["Self", "18", "SELF", "no such word"])
def test_a_dental_patient_who_is_the_insured_need_not_be_described(relationship):
    assert read(minimal(DENTAL, F18_PatientRelationship=relationship), DENTAL).claim


@pytest.mark.parametrize("word", ["Predetermination", "PB", "Request for Predetermination"])
def test_a_predetermination_needs_no_service_date(word):
    dates = {"X12_ServiceDate": ..., "F24_DateOfServiceFrom": ...}
    assert read(minimal(DENTAL, F01_TypeOfTransaction=word, **dates), DENTAL).claim
    assert set(state(read(minimal(DENTAL, **dates), DENTAL))) == {
        "Claims[0].X12_ServiceDate",
        "Claims[0].LineItems[0].F24_DateOfServiceFrom",
    }


def test_both_spellings_of_the_dental_claim_id_are_one_field():
    claim = minimal(DENTAL, Svc_VendorClaimId=..., Svc_VendorClaimID="OTHER")
    found = read(claim, DENTAL)
    assert found.claim.Svc_VendorClaimId == "OTHER"
    assert found.ignored_fields == ()
    assert read(minimal(DENTAL, Svc_VendorClaimId=None, Svc_VendorClaimID="O"), DENTAL).claim


# --- types ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "03/14/2025",
        "2025-3-14",
        "20250314",
        "2025-02-30",
        "2025-W11-5",
        "0000-01-01",
        "abc",
        "2025-03-14T00:00:00",
        "٢٠٢٥-٠٣-١٤",
        "2025-03-14x",
    ],
)
def test_a_date_has_one_form(value):
    message = f"The value '{value}' is not a valid date in the format yyyy-mm-dd."
    assert state(read(minimal(F03_PatientDob=value))) == {"Claims[0].F03_PatientDob": [message]}
    assert state(read(minimal(F24A_DateOfServiceTo=value))) == {
        "Claims[0].F24_ClaimLines[0].F24A_DateOfServiceTo": [message]
    }


@pytest.mark.parametrize(
    ("value", "shown"),
    [(20250314, "'20250314'"), (True, "'true'"), ([], None), ({}, "{...}"), ([1], "[...]")],
)
def test_a_date_is_a_string(value, shown):
    found = state(read(minimal(F12_PatientAuthorizationDate=value)))
    if shown is None:
        assert found == {}
    else:
        assert found == {
            "Claims[0].F12_PatientAuthorizationDate": [
                f"The value {shown} is not a valid date in the format yyyy-mm-dd."
            ]
        }


WRONG = {
    ValueType.FLAG: ["yes", 2, 1.0, "2", [], {}],
    ValueType.AMOUNT: [
        "abc",
        "1e5",
        "$5",
        "1,00",
        "1,000,0",
        True,
        {},
        "٥",
        "1_000",
        "NaN",
        "Infinity",
        "9" * 31,
    ],
    ValueType.COUNT: ["abc", True, {}, "--1"],
    ValueType.ADJUSTMENTS: [
        "abc",
        "45",
        "45:",
        ":5",
        "45:1:2:3",
        "45:abc",
        "ZZ-45:5",
        True,
        {},
        [],
        [1],
        [["45", "x", None]],
    ],
    ValueType.TOOTH: [1.5, True, {}],
    ValueType.PARTS: ["x", 1, {}, ["x"], [1]],
}
PLAIN_WRONG = [10**200, ["x"], {"a": 1}]
FINE = {ValueType.ADJUSTMENTS: ["45"], ValueType.TOOTH: []}


def every_field():
    for kind in FORMS.values():
        for part in (kind.claim, kind.line):
            for row in fields_of(part).values():
                yield pytest.param(kind, part, row, id=f"{kind}-{row.name}")


@every_case(("kind", "part", "row"), list(every_field()))
def test_a_wrong_type_is_reported_at_the_field(kind, part, row):
    inside = f"Claims[0].{kind.lines_field}[0]." if part is kind.line else "Claims[0]."
    for value in WRONG.get(row.value_type, PLAIN_WRONG):
        if value in FINE.get(row.value_type, ()) and not isinstance(value, bool):
            continue
        if value in ([], {}) and value == []:
            continue
        claim = minimal(
            kind,
            **{
                row.name: [value]
                if row.is_array and row.value_type is not ValueType.PARTS
                else value
            },
        )
        found = state(read(claim, kind))
        keys = {key for key in found if key.startswith(inside + row.name)}
        assert keys, (row.name, value, found)


@pytest.mark.parametrize("value", [100, 100.0, "100", "100.00", " 100 ", "0100", ".5", "5."])
def test_amounts_are_numbers_or_numeric_strings(value):
    assert read(minimal(F28_TotalCharge=value)).claim.F28_TotalCharge == Decimal(str(value).strip())


@pytest.mark.parametrize(
    ("value", "truth"), [(True, True), ("true", True), ("False", False), ("FALSE ", False)]
)
def test_booleans_are_booleans_or_words(value, truth):
    assert read(minimal(F11D_OtherPlan=value)).claim.F11D_OtherPlan is truth


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (12.5, (EarlierAdjustment(None, Decimal("12.5")),)),
        ("12.50", (EarlierAdjustment(None, Decimal("12.50")),)),
        ("45:12.50", (EarlierAdjustment("45", Decimal("12.50")),)),
        (
            " 45 = 12.50 ; b7:3:2 ",
            (
                EarlierAdjustment("45", Decimal("12.50")),
                EarlierAdjustment("B7", Decimal(3), Decimal(2)),
            ),
        ),
        ("45:-3", (EarlierAdjustment("45", Decimal(-3)),)),
        (
            "OA-23:20, oa-45:3",
            (EarlierAdjustment("23", Decimal(20)), EarlierAdjustment("45", Decimal(3))),
        ),
        (0, None),
        ("0.00", None),
        ("45:0", None),
    ],
)
def test_adjustments_are_an_amount_or_reasons_with_amounts(value, meant):
    claim = read(minimal(X12_ClaimOtherAdjustments=value)).claim
    assert claim.X12_ClaimOtherAdjustments == meant


def test_every_fault_of_a_document_is_reported_at_once():
    first = minimal(F03_PatientDob="14.3.2025", F28_TotalCharge="much", F00_PayerName=...)
    second = minimal(F24F_Charges={}, F21_DiagnosisCodes=["A", True], F11D_OtherPlan="perhaps")
    second["F24_ClaimLines"].append({})
    third = "no claim"
    submission, decoded = read_document(
        body({"DocumentType": "DentalClaim", "Claims": [first, second, third]}), MEDICAL
    )
    keys = {finding.location for read in (submission, *decoded) for finding in read.findings}
    assert keys == {
        "DocumentType",
        "Claims[0].F03_PatientDob",
        "Claims[0].F28_TotalCharge",
        "Claims[0].F00_PayerName",
        "Claims[1].F24_ClaimLines[0].F24F_Charges",
        "Claims[1].F21_DiagnosisCodes[1]",
        "Claims[1].F11D_OtherPlan",
        *(
            f"Claims[1].F24_ClaimLines[1].{row.name}"
            for row in fields_of(MEDICAL.line).values()
            if row.required
        ),
        "Claims[2]",
    }
    assert decoded[0].claim is decoded[1].claim is decoded[2].claim is None


# --- unknown fields -----------------------------------------------------------------------------------------


def test_unknown_fields_are_ignored_and_their_paths_collected():
    claim = minimal(F28_Totals=5, Nested={"a": [1]})
    claim["F24_ClaimLines"][0]["F24H_FamilyPlanning"] = True
    submission, (found,) = read_document(
        body({"DocumentType": "MedicalClaim", "Claims": [claim], "Extra": 1}), MEDICAL
    )
    assert submission.ignored_fields == ("Extra",)
    assert found.ignored_fields == (
        "Claims[0].F28_Totals",
        "Claims[0].Nested",
        "Claims[0].F24_ClaimLines[0].F24H_FamilyPlanning",
    )
    assert found.claim is not None


def test_unknown_fields_are_collected_beside_faults_and_blanks_too():
    claim = minimal(DENTAL, F35_Remarks="", Odd=1, Teeth=[{"F27_Tooth": "3", "Color": "white"}])
    found = read(claim, DENTAL)
    assert set(found.ignored_fields) == {"Claims[0].Odd", "Claims[0].LineItems[0].Teeth[0].Color"}
    assert found.claim is not None


def test_a_key_given_twice_counts_the_last_time():
    text = body(minimal()).replace(
        b'"F01A_InsuredId": ', b'"F01A_InsuredId": "FIRST", "F01A_InsuredId": '
    )
    assert read_claim(MEDICAL, text, "Claims[0]").claim.F01A_InsuredId == "II4711"


# --- documents --------------------------------------------------------------------------------------------


@every_case(
    ("text", "location"),
    [
        (b"", "Document"),
        (b"{", "Document"),
        (b"[]", "Document"),
        (b"null", "Document"),
        (b'"x"', "Document"),
        (b'{"a": NaN}', "Document"),
        (b'{"a": "\\ud800"}', "Document"),
        (
            b'{"DocumentType": "MedicalClaim", "Claims": ['
            + b"[" * 100_000
            + b"]" * 100_000
            + b"]}",
            "Document",
        ),
        (b'\xff\xfe{"a":1}', "Document"),
        (b'{"DocumentType": "MedicalClaim"}', "Claims"),
        (b'{"DocumentType": "MedicalClaim", "Claims": null}', "Claims"),
        (b'{"DocumentType": "MedicalClaim", "Claims": []}', "Claims"),
        (b'{"DocumentType": "MedicalClaim", "Claims": {}}', "Claims"),
        (b'{"DocumentType": "MedicalClaim", "Claims": "x"}', "Claims"),
        (b'{"Claims": [{}]}', "DocumentType"),
        (b'{"DocumentType": " ", "Claims": [{}]}', "DocumentType"),
        (b'{"DocumentType": 5, "Claims": [{}]}', "DocumentType"),
        (b'{"DocumentType": {"a": 1}, "Claims": [{}]}', "DocumentType"),
        (b'{"DocumentType": "DentalClaim", "Claims": [{}]}', "DocumentType"),
        (b'{"documenttype": "dentalclaim", "claims": [{}]}', "DocumentType"),
    ],
)
def test_what_is_wrong_with_the_document_is_reported(text, location):
    submission = open_document(text, MEDICAL)
    assert location in {finding.location for finding in submission.findings}


def test_an_empty_list_says_that_a_claim_is_required():
    submission = open_document(b'{"DocumentType": "MedicalClaim", "Claims": []}', MEDICAL)
    assert [finding.message for finding in submission.findings] == [
        "At least one claim is required."
    ]


@pytest.mark.parametrize(
    ("inside", "location"),
    [
        (b'{"F00_PayerName": ' + b"9" * 6_000 + b"}", "Document"),
        (b'{"F00_PayerName": ' + b"[" * 500 + b"]" * 500 + b"}", "Document"),
        (b'{"F28_TotalCharge": 1e400}', "Claims[0].F28_TotalCharge"),
        (b'{"F28_TotalCharge": 1e400, "Unknown": 1e400}', "Claims[0].F28_TotalCharge"),
        (b"5", "Claims[0]"),
        (b"null", "Claims[0]"),
        (b"[]", "Claims[0]"),
    ],
)
def test_hostile_claims_are_findings_and_never_a_crash(inside, location):
    submission, decoded = read_document(
        b'{"DocumentType": "MedicalClaim", "Claims": [' + inside + b"]}", MEDICAL
    )
    reported = {f.location for each in (submission, *decoded) for f in each.findings}
    assert location in reported or "Document" in reported
    assert all(each.claim is None for each in decoded)


def test_a_byte_order_mark_is_skipped():
    text = b"\xef\xbb\xbf" + body(samples.document(MEDICAL, day=DAY))
    assert open_document(text, MEDICAL).findings == ()


def test_a_claim_too_large_is_reported_and_not_read():
    text = body(minimal(Padding="x" * CLAIM_BYTES_MAX))
    found = read_claim(MEDICAL, text, "Claims[0]")
    assert [finding.location for finding in found.findings] == ["Claims[0]"]


def test_a_long_list_is_reported_once():
    found = read(minimal(F24_ClaimLines=[1] * 100_000))
    assert len(found.findings) <= LIST_ITEMS_READ_MAX + 1
    assert any("At most" in finding.message for finding in found.findings)


@pytest.mark.parametrize("item", [b"1", b"{}"])
def test_a_million_elements_are_counted_and_not_kept(item):
    text = (
        b'{"DocumentType": "MedicalClaim", "Claims": [' + (item + b",") * 1_000_000 + item + b"]}"
    )
    submission = open_document(text, MEDICAL, claims_max=100)
    assert submission.count == 101


def test_of_many_faults_fifty_of_a_claim_and_ten_thousand_of_a_document_are_listed():
    claim = {"F24_ClaimLines": [{}] * by_profile(thorough=LIST_ITEMS_READ_MAX, usual=20, quick=20)}
    alone = read_document(body({"DocumentType": "MedicalClaim", "Claims": [claim]}), MEDICAL)[1]
    *listed, last = alone[0].findings
    faults = count_findings(alone[0].findings)
    assert len(listed) == FINDINGS_PER_CLAIM_MAX
    assert last.location == "Claims[0]"
    assert last.message == f"And {faults - 50} more errors in this claim: the first 50 are listed."
    submission = open_document(
        body({"DocumentType": "MedicalClaim", "Claims": [claim] * 250}), MEDICAL
    )
    decoded = [*submission.read(0, 120), *submission.read(120, 250)]
    reported = [finding for each in decoded for finding in each.findings]
    assert len(reported) == limits.SHAPE_FINDINGS_MAX + 1
    listed_faults = count_findings(reported[:-1])
    assert reported[-1].location == "Document"
    assert reported[-1].message == (
        f"And {250 * faults - listed_faults} more errors in this document: the first 10000 are listed."
    )
    assert all(each.claim is None for each in decoded)


def test_of_many_unknown_fields_the_first_are_named():
    many = {f"Odd{number}": number for number in range(1_000)}
    for blank in ({}, {"F35_Remarks": ""}):
        found = read(minimal(DENTAL, **many, **blank), DENTAL)
        assert len(found.ignored_fields) == limits.IGNORED_FIELDS_SHOWN_MAX
        assert found.claim.__pydantic_extra__ == {}


def test_claims_are_read_in_any_slices():
    claims = [minimal(Svc_VendorClaimId=f"C{at}") for at in range(7)]
    submission = open_document(body({"DocumentType": "MedicalClaim", "Claims": claims}), MEDICAL)
    ids = [
        each.claim.Svc_VendorClaimId
        for start in range(0, 7, 3)
        for each in submission.read(start, start + 3)
    ]
    assert ids == [f"C{at}" for at in range(7)]


@pytest.mark.parametrize("kind", FORMS.values())
def test_a_stored_claim_comes_back_as_it_was(kind):
    claim = read(samples.extended_claim(kind, DAY), kind).claim
    stored = encode(claim)
    again = decode.restore(kind, stored)
    assert again == claim
    assert encode(again) == stored


@pytest.mark.parametrize("kind", FORMS.values())
def test_findings_do_not_show_values_when_printed(kind):
    claim = minimal(kind, Svc_PayerId=["SECRETVALUE"])
    line = kind.lines_field
    claim[line][0] = {
        "F24A_DateOfServiceFrom": "SECRETVALUE",
        "F24_DateOfServiceFrom": "SECRETVALUE",
        "FL45_ServiceDate": "SECRETVALUE",
    }
    found = read(claim, kind)
    assert any("SECRETVALUE" in finding.message for finding in found.findings)
    assert "SECRETVALUE" not in repr(found)
    assert "SECRETVALUE" not in str(found.findings)


def test_parts_inside_a_line_are_known():
    assert set(nested_parts(DENTAL.line)) == {"Teeth", "Adjustments"}
    assert set(nested_parts(DENTAL.line)) == {"Teeth", "Adjustments"}


# --- names in any case ------------------------------------------------------------------------------------


def respelled(value, spell):
    """The same JSON with other names."""
    if isinstance(value, dict):
        return {spell(name): respelled(item, spell) for name, item in value.items()}
    return [respelled(item, spell) for item in value] if isinstance(value, list) else value


def camel(name):
    return name[0].lower() + name[1:]


@every_case("spell", [camel, str.lower, str.upper, str.swapcase])
@every_case("kind", FORMS.values())
@every_case("full", [False, True])
def test_a_document_with_names_in_another_case_is_the_same_document(kind, full, spell):
    document = samples.document(kind, day=DAY, full=full)
    _, (exact,) = read_document(body(document), kind)
    submission, (other,) = read_document(body(respelled(document, spell)), kind)
    assert submission.findings == submission.ignored_fields == ()
    assert other.findings == other.ignored_fields == ()
    assert encode(other.claim) == encode(exact.claim)
    assert exact.repairs == ()
    assert other.repairs == (Repair("", "names"),)


def test_every_claim_of_a_large_document_is_read_in_any_case():
    claims = [minimal(Svc_VendorClaimId=str(at)) for at in range(1_000)]
    document = respelled({"Claims": claims, "DocumentType": "MEDICALCLAIM"}, camel)
    text = body(document)
    assert len(text) > limits.SMALL_DOCUMENT_BYTES_MAX
    submission, decoded = read_document(text, MEDICAL)
    assert submission.findings == ()
    assert [each.claim.Svc_VendorClaimId for each in decoded] == [str(at) for at in range(1_000)]


@pytest.mark.parametrize("many", [1, 1_000])
@pytest.mark.parametrize("first", ["Claims", "claims"])
def test_of_two_lists_of_claims_the_last_is_read_and_the_claims_say_so(many, first):
    last = "CLAIMS"
    old, new = minimal(Svc_VendorClaimId="OLD"), minimal(Svc_VendorClaimId="NEW")
    document = {"documentType": "MedicalClaim", first: [old] * many, last: [new] * many}
    _, decoded = read_document(body(document), MEDICAL)
    assert {each.claim.Svc_VendorClaimId for each in decoded} == {"NEW"}
    assert all(Repair("Claims", "repeated") in each.repairs for each in decoded)


def test_of_a_list_of_claims_that_comes_three_times_the_last_use_is_read():
    texts = [body([minimal(Svc_VendorClaimId=id)]) for id in ("ONE", "TWO", "THREE")]
    names = (b'"Claims"', b'"claims"', b'"Claims"')
    lists = b", ".join(name + b": " + text for name, text in zip(names, texts, strict=True))
    _, decoded = read_document(b'{"DocumentType": "MedicalClaim", ' + lists + b"}", MEDICAL)
    assert [each.claim.Svc_VendorClaimId for each in decoded] == ["THREE"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (b'"F05_PatientCity": "ONE", "f05_patientcity": "TWO"', "TWO"),
        (b'"f05_patientcity": "ONE", "F05_PatientCity": "TWO"', "TWO"),
        (
            b'"F05_PatientCity": "ONE", "f05_PatientCity": "TWO", "F05_PatientCity": "THREE"',
            "THREE",
        ),
    ],
)
def test_of_two_spellings_the_last_wins_and_that_is_recorded(text, kept):
    claim = body(minimal(F05_PatientCity=...))[:-1] + b", " + text + b"}"
    found = read_claim(MEDICAL, claim, "Claims[0]")
    assert found.claim.F05_PatientCity == kept
    assert Repair("F05_PatientCity", "repeated") in found.repairs


@pytest.mark.safe_default(7)
def test_null_under_one_spelling_hides_no_value_under_another():
    texts = [b'"F05_PatientCity": "ONE"', b'"f05_patientcity": null', b'"F05_PATIENTCITY": null']
    for order in permutations(texts):
        claim = body(minimal(F05_PatientCity=...))[:-1] + b", " + b", ".join(order) + b"}"
        found = read_claim(MEDICAL, claim, "Claims[0]")
        assert found.findings == ()
        assert found.claim.F05_PatientCity == "ONE"
        assert Repair("F05_PatientCity", "repeated") not in found.repairs
    found = read({**minimal(DENTAL, Svc_VendorClaimId=None), "Svc_VendorClaimID": "LAST"}, DENTAL)
    assert found.claim.Svc_VendorClaimId == "LAST"
    claims = body([minimal()])
    padding = b'"Padding": "' + b"x" * limits.SMALL_DOCUMENT_BYTES_MAX + b'", '
    for padded in (b"", padding):
        text = (
            b"{" + padded + b'"claims": ' + claims + b', "Claims": null, "DocumentType": null, '
            b'"documenttype": "MedicalClaim"}'
        )
        document, decoded = read_document(text, MEDICAL)
        assert document.findings == ()
        assert len(decoded) == 1


def test_of_both_dental_spellings_of_the_id_the_last_wins():
    claim = {**minimal(DENTAL), "Svc_VendorClaimID": "LAST"}
    found = read(claim, DENTAL)
    assert found.claim.Svc_VendorClaimId == "LAST"
    assert found.repairs == (Repair("Svc_VendorClaimId", "repeated"),)


def test_letters_of_other_alphabets_are_no_other_case():
    found = read(
        minimal(**{"F05_PatientPhone": ..., "F05_PatientPhone".replace("P", "\u03a1"): "x"})
    )
    assert len(found.ignored_fields) == 1


def test_an_unknown_name_alone_costs_no_second_reading():
    called = set()
    text = body(minimal(Unknown=1, F99_Nothing="x"))
    sys.setprofile(lambda frame, event, _: called.add(frame.f_code.co_name))
    try:
        found = read_claim(MEDICAL, text, "Claims[0]")
    finally:
        sys.setprofile(None)
    assert len(found.ignored_fields) == 2
    assert "_read_part" not in called
    assert "drop_empty_fields" in called


# --- scalars as other programs write them -------------------------------------------------------------------


@every_case(
    ("name", "value", "read_as", "kind"),
    [
        ("F05_PatientZip", 57104, "57104", "text"),
        ("F33A_BillingProviderNpi", 1234567893, "1234567893", "text"),
        (
            "F01A_InsuredId",
            123456789012345678901234567890,
            "123456789012345678901234567890",
            "text",
        ),
        ("F01A_InsuredId", 1.50, "1.5", "text"),
        ("F25_FederalTaxIdEin", 123456789, "123456789", "text"),
        ("Svc_VendorClaimId", 4711, "4711", "text"),
        ("F12_PatientAuthorization", True, "True", "text"),
        ("F28_TotalCharge", "1,000.00", Decimal(1000), "number"),
        ("F28_TotalCharge", " 1,234,567.5 ", Decimal("1234567.5"), "number"),
        (
            "X12_ClaimOtherAdjustments",
            "1,000.00",
            (EarlierAdjustment(None, Decimal(1000)),),
            "number",
        ),
        ("F11D_OtherPlan", 1, True, "boolean"),
        ("F11D_OtherPlan", 0, False, "boolean"),
        ("F11D_OtherPlan", "1", True, "boolean"),
        ("F11D_OtherPlan", " 0", False, "boolean"),
    ],
)
def test_scalars_are_read_as_their_neighbors_write_them(name, value, read_as, kind):
    found = read(minimal(**{name: value}))
    assert found.findings == ()
    assert getattr(found.claim, name) == read_as
    assert found.repairs == (Repair(name, kind),)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("F05_PatientZip", 7104),
        ("F05_PatientZip", 71041234),
        ("F33A_BillingProviderNpi", 123456789),
        ("F25_FederalTaxIdEin", 12345678),
        ("F24D_HcpcsProcedureCode", 100),
    ],
)
def test_a_number_too_short_for_its_field_is_a_finding_that_says_why(name, value):
    found = read(minimal(**{name: value}))
    facts = RuleInputs(today=DAY, available=frozenset())
    checked = repair_and_check(found.claim, facts, at="Claims[0]", tolerated=found.repairs)
    (finding,) = [each for each in checked.findings if each.location.endswith(name)]
    assert "no leading zeros" in finding.message
    assert checked.repairs[0].kind == "short text"


def test_numbers_in_an_array_are_read_as_text():
    found = read(minimal(F24E_DiagnosisPointers=[1, "2"]))
    assert found.claim.F24_ClaimLines[0].F24E_DiagnosisPointers == ("1", "2")
    assert found.repairs == (Repair("F24_ClaimLines[0].F24E_DiagnosisPointers", "text"),)


def test_an_adjustment_of_another_group_is_refused_with_what_would_pass():
    found = state(read(minimal(X12_ClaimOtherAdjustments="CO-45:20")))
    (message,) = found["Claims[0].X12_ClaimOtherAdjustments"]
    assert "45:12.50" in message
    claim = read(minimal(X12_ClaimContractualObligationAdjustments="CO-45:20")).claim
    assert claim.X12_ClaimContractualObligationAdjustments == (
        EarlierAdjustment("45", Decimal(20)),
    )


def test_the_id_of_the_caller_keeps_its_blanks_and_other_text_does_not():
    claim = read(minimal(Svc_VendorClaimId=" A 1\t", F02_PatientNameLast=" DOE ")).claim
    assert claim.Svc_VendorClaimId == " A 1\t"
    assert claim.F02_PatientNameLast == "DOE"


def test_the_names_of_a_catalogue_differ_in_more_than_case():
    for kind in FORMS.values():
        parts = [kind.claim, kind.line]
        for part in (*parts, *nested_parts(parts[1]).values()):
            names = [name.lower() for name in fields_of(part)]
            assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "text",
    [
        b'{"claims": ' + b'[{"a": 1},' * 400_000,
        b'{"documentType": "MedicalClaim", "x": ['
        + b'"claims",' * 300_000
        + b'1], "claims": [{}]}',
        b"{" + b'"claims": [],"CLAIMS": [],' * 100_000 + b'"documenttype": 1}',
    ],
)
def test_a_hostile_document_in_another_case_is_read_within_bounds(text):
    submission, _ = read_document(text, MEDICAL)
    assert submission.count <= 1


@pytest.mark.parametrize("kind", FORMS.values(), ids=FORMS)
def test_a_repaired_claim_is_the_one_that_the_store_gives_back_and_goes_out_alike(kind):
    rng = Random(31)
    make = [samples.minimal_claim, samples.extended_claim]
    raw = [one(kind, DAY) for one in make]
    if kind in (MEDICAL, DENTAL):
        raw += [
            random_claim(kind, rng, DAY)
            for _ in range(by_profile(thorough=500, usual=60, quick=20))
        ]
    for one in raw:
        repaired, _ = repair(read(one, kind).claim)
        restored = decode.restore(kind, encode(repaired))
        assert restored == repaired
        assert segments(restored) == segments(repaired)
