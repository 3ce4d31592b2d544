"""Every fact of the V3 interface, in the OpenAPI document that is made from the service's own types.

Also tests `api/v3/code_names`. The facts are a table beside this file, so that they are proven
without the interface document. It is compared with the table if it is there.
"""

import json
from functools import cache

import pytest

from clearlane.api.v3 import code_names
from clearlane.claims import codes
from clearlane.claims.fields import DentalClaim, MedicalClaim, fields_of
from clearlane.claims.value_types import ValueType
from tests.api.openapi_document import openapi_content
from tests.contract.contract_table import FOLDER, all_fields, calls, fields_of_object, seen
from tests.eligibility.invented import DOCUMENT as INQUIRY
from tests.eligibility.invented import check_document, document
from tools.contract_table import DOCUMENT, tables_of

OBJECTS = tuple(dict.fromkeys(one.object for one in all_fields()))
CLAIM_PARTS = ("MedicalClaim", "MedicalLine", "DentalClaim", "DentalLine")
SENT = {
    "ClaimDocument", *CLAIM_PARTS, "Tooth", "DentalAdjustment", "EnrollmentRequest", "Enrollment",
    *(one for one in OBJECTS if one.startswith("EligibilityRequest")),
}  # fmt: skip
"""The objects that callers send; the others are ours."""

# The document describes one submission for both kinds of claim.
SCHEMAS = {"ClaimDocument": ("MedicalDocument", "DentalDocument")}
JSON_TYPES = {"array of strings": "array", "string or null": "string", "date": "string"}
# Fields of ours beside the document's, named in docs/reference/claim-fields.md.
OWN = {
    "MedicalClaim": {
        "X12_ClaimRemainingPatientLiability", "X12_MedicareSecondaryReason", "X12_OtherInsuredId",
        "X12_OtherPayerClaimType",
    },
    "MedicalLine": {"X12_LineRemainingPatientLiability"},
    "DentalLine": {"X12_LineRemainingPatientLiability"},
}  # fmt: skip
# What we require beyond the document, which says that a Subscriber's member id controls the answer and so on.
REQUIRED_BY_US = {
    "EligibilityRequest": {"BenefitInquiries"},
    "EligibilityRequestBenefitInquiry": {"Payers"},
    "EligibilityRequestPayer": {"PayerId", "Payees"},
    "EligibilityRequestPayee": {"CommonName", "Subscribers"},
    "EligibilityRequestSubscriber": {"MemberId"},
}


@cache
def openapi():
    return json.loads(openapi_content())


def schemas_of(object):
    return [openapi()["components"]["schemas"][name] for name in SCHEMAS.get(object, (object,))]


def alternatives(schema):
    """The schemas of which a value must match one, without references."""
    found = []
    for one in schema.get("anyOf", [schema]):
        if "$ref" in one:
            found += alternatives(openapi()["components"]["schemas"][one["$ref"].split("/")[-1]])
        else:
            found.append(one)
    return found


def types_of(schema):
    return {one.get("type") for one in alternatives(schema)} - {None}


def test_the_tables_are_those_of_the_document():
    if not DOCUMENT.exists():
        pytest.skip("no interface document beside the checkout")
    for name, content in tables_of(DOCUMENT.read_text(encoding="utf-8")).items():
        assert (FOLDER / name).read_text(encoding="utf-8") == content, (
            "run python -m tools.contract_table"
        )


def test_the_tables_are_whole():
    assert len(OBJECTS) == 36
    assert len(all_fields()) == 647
    assert len(calls()) == 13
    assert sum(one.required != "" for one in all_fields()) == 91
    assert sum(one.max != "" for one in all_fields()) == 25


def test_every_call_is_served_with_its_parameters():
    served = {path.lower(): operations for path, operations in openapi()["paths"].items()}
    for call in calls():
        operation = served[call.path.lower()][call.method.lower()]
        assert [one["name"] for one in operation["parameters"]] == call.parameters.split("|")
    of_v3 = {path for path in served if path.startswith("/api/v3/")}
    assert of_v3 == {call.path.lower() for call in calls()}


@pytest.mark.parametrize("object", OBJECTS)
def test_an_object_has_the_fields_of_the_document_in_its_order(object):
    for schema in schemas_of(object):
        names = [name for name in schema["properties"] if name not in OWN.get(object, ())]
        # The document's tables group the fields of a claim; the catalogue has them in the order of the form.
        in_order = sorted if object in CLAIM_PARTS else list
        assert in_order(names) == in_order(fields_of_object(object))
        assert OWN.get(object, set()) <= schema["properties"].keys()


@pytest.mark.parametrize("object", OBJECTS)
def test_a_field_has_the_type_of_the_document(object):
    for facts in fields_of_object(object).values():
        for schema in schemas_of(object):
            field = schema["properties"][facts.field]
            wanted = JSON_TYPES.get(facts.type, facts.type)
            if facts.type == "date" and facts.field.endswith("Dates"):
                wanted = "object"  # a range: its first and its last day
            found = types_of(field)
            assert not wanted or wanted in found, facts
            # A caller may write more than the document shows, such as a number in quotes. We answer as it says.
            assert object in SENT or not wanted or found <= {wanted, "null"}, facts
            if facts.type == "array of strings":
                (array,) = [one for one in alternatives(field) if one.get("type") == "array"]
                assert "string" in types_of(array["items"]), facts
            if facts.type == "string or null":
                assert "null" in found, facts


@pytest.mark.parametrize("object", OBJECTS)
def test_a_field_is_required_as_the_document_says(object):
    stated = {one.field for one in fields_of_object(object).values() if one.required == "yes"}
    for schema in schemas_of(object):
        required = set(schema.get("required", ()))
        if object not in SENT:
            assert required == schema["properties"].keys()  # absent values are null
        elif object not in CLAIM_PARTS:
            assert required == stated | REQUIRED_BY_US.get(object, set())


@pytest.mark.parametrize("object", [one for one in OBJECTS if one not in CLAIM_PARTS])
def test_a_field_has_the_lengths_and_the_values_of_the_document(object):
    for facts in fields_of_object(object).values():
        for schema in schemas_of(object):
            choices = alternatives(schema["properties"][facts.field])
            first = next((one for one in choices if one["type"] in {"string", "array"}), choices[0])
            if facts.max:
                assert first["maxLength"] == int(facts.max), facts
            if facts.min:
                assert first.get("minLength", first.get("minItems")) == int(facts.min), facts
            listed = {*facts.values.split("|"), *facts.seen.split("|")} - {""}
            allowed = [*map(str, first.get("enum", [first["const"]] if "const" in first else []))]
            if facts.values and object not in SCHEMAS:
                assert {*allowed} == listed, facts
            elif allowed:
                assert {*allowed} <= listed or listed <= {*allowed}, facts


def test_a_submission_names_its_kind_of_claim():
    kinds = fields_of_object("ClaimDocument")["DocumentType"].values.split("|")
    assert [
        one["properties"]["DocumentType"]["const"] for one in schemas_of("ClaimDocument")
    ] == kinds


@pytest.mark.parametrize("model", [MedicalClaim, DentalClaim])
def test_a_coded_field_of_a_claim_takes_the_values_that_were_seen(model):
    for facts in fields_of_object(model.__name__).values():
        row = fields_of(model)[facts.field]
        for value in filter(None, facts.seen.split("|")):
            if row.value_type is ValueType.SIGNATURE:
                assert codes.is_signed(value)
            else:
                assert codes.find(row.codes, value), facts


def test_an_inquiry_of_the_values_that_were_seen_passes():
    (inquiry,) = INQUIRY["BenefitInquiries"]
    (payer,) = inquiry["Payers"]
    (payee,) = payer["Payees"]
    (subscriber,) = payee["Subscribers"]
    parts = {
        "BenefitInquiry": inquiry, "Payer": payer, "Payee": payee,
        "Subscriber": subscriber | {"Gender": "Male"},
        "RequestedBenefit": subscriber["RequestedBenefits"][0],
    }  # fmt: skip
    shown = [
        one for one in all_fields() if one.object.startswith("EligibilityRequest") and one.seen
    ]
    assert len(shown) == 7
    for facts in shown:
        sent = parts[facts.object.removeprefix("EligibilityRequest")][facts.field]
        assert sent in ([facts.seen], facts.seen), facts
    assert not check_document(document(subscriber_Gender="Male")).results


def test_a_status_says_the_values_that_were_seen():
    known = {
        "CurrentState": code_names.CURRENT_STATES.values(),
        "PayerAction": [code_names.payer_action("", "1")],
        "RelatedDocumentType": code_names.DOCUMENT_TYPES.values(),
    }
    for field, values in known.items():
        assert {*seen("ClaimStatus", field)} <= {*values}
