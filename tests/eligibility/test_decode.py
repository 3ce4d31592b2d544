"""A document becomes a request, or findings that name every format error by its path.

Also tests `eligibility/json_struct` and `eligibility/stepwise`.
"""

import json
import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from clearlane.eligibility import decode, fields
from clearlane.eligibility.decode import ELIGIBILITY_VALUES_MAX
from clearlane.eligibility.json_struct import EligibilityType, eligibility_fields
from clearlane.eligibility.stepwise import StepwiseCall
from clearlane.kernel import limits
from tests.cases import every_case, full_or_quick
from tests.eligibility.invented import (
    DOCUMENT,
    MILO,
    ROSA,
    SUBSCRIBER,
    decode_request,
    document,
    read,
)

STRUCTURES = (
    fields.EligibilityRequest, fields.BenefitInquiry, fields.RequestPayer, fields.RequestPayee, fields.RequestSubscriber,
    fields.RequestDependent, fields.RequestedBenefit, fields.RequestedDays, fields.RequestTraceNumber,
)  # fmt: skip


def faults(document):
    return {finding.location: finding.message for finding in read(document).findings}


def test_a_whole_request_is_read():
    request = read(document(subscriber_Dependents=[MILO])).request
    subscriber = request.BenefitInquiries[0].Payers[0].Payees[0].Subscribers[0]
    assert request.IsTest is True
    assert subscriber.BirthDate == date(1980, 2, 29)
    assert subscriber.Dependents[0].BirthDate == date(2015, 3, 4)
    assert subscriber.PayeeTraceNumber.Number == "visit 7"
    assert subscriber.RequestedBenefits[0].Type == ("HealthBenefitPlanCoverage",)
    assert subscriber.RequestedBenefits[0].PlanDate.End == date(2024, 5, 31)
    assert "Arden" not in repr(request) + repr(subscriber)


@every_case(
    "path",
    [
        "BenefitInquiries", "BenefitInquiries[0].Payers", "BenefitInquiries[0].Payers[0].Payees",
        "BenefitInquiries[0].Payers[0].Payees[0].Subscribers",
        "BenefitInquiries[0].Payers[0].PayerId",
        "BenefitInquiries[0].Payers[0].Payees[0].CommonName",
        f"{SUBSCRIBER}.CommonName", f"{SUBSCRIBER}.FirstName", f"{SUBSCRIBER}.MemberId",
        f"{SUBSCRIBER}.Dependents[0].CommonName", f"{SUBSCRIBER}.Dependents[0].FirstName",
    ],
)  # fmt: skip
@every_case("absent", ["", "  ", None, "gone"])
def test_a_required_field_is_missed_by_its_key(path, absent):
    whole = document(subscriber_Dependents=[dict(MILO)])
    *steps, last = re.findall(r"\w+", path)
    part = whole
    for step in steps:
        part = part[int(step) if step.isdigit() else step]
    part[last] = absent
    if absent == "gone":
        del part[last]
    assert faults(whole) == {path: f"The {last} field is required."}


@pytest.mark.parametrize(
    "name", ["BenefitInquiries", "inquiry_Payers", "payer_Payees", "payee_Subscribers"]
)
def test_an_empty_array_is_reported(name):
    [(location, message)] = faults(document(**{name: []})).items()
    field = name.partition("_")[2] or name
    assert location.endswith(field)
    assert message == f"The {field} field needs at least one element."


def test_a_subscriber_who_is_not_asked_about_needs_no_name():
    silent = {"MemberId": "2001", "Dependents": [MILO]}
    assert read(document(payee_Subscribers=[silent])).request
    asked = silent | {"RequestedBenefits": [{}]}
    assert set(faults(document(payee_Subscribers=[asked]))) == {
        f"{SUBSCRIBER}.CommonName",
        f"{SUBSCRIBER}.FirstName",
    }


WRONG = {
    EligibilityType.TEXT: [10**200, True, {}, [], 1.5],
    EligibilityType.BOOLEAN: ["yes", 2, "2", {}, []],
    EligibilityType.DATE: [
        "2024/13/01",
        "30/30/2024",
        "2024-02-30",
        "20240501",
        20240501,
        True,
        {},
    ],
    EligibilityType.BIRTH_DATE: ["30/30/2024", "2024-05/01", "2023/02/29", "20240501", 5, []],
    EligibilityType.TEXTS: ["HealthBenefitPlanCoverage", [True], [["30"]], {}, 30],
    EligibilityType.OBJECT: ["x", 1, [], True],
    EligibilityType.OBJECTS: ["x", 1, {}, True],
}
CASES = [
    (structure, name, value)
    for structure in STRUCTURES
    for name, line in eligibility_fields(structure).items()
    for value in WRONG[line.type]
]


def whole_with(structure, name, value):
    """A document whose first structure of that kind has the value, and the value's key."""
    whole = document(
        payee_Subscribers=[{**ROSA, "Dependents": [dict(MILO)], "PayeeTraceNumber": dict(ROSA["PayeeTraceNumber"]),
                            "RequestedBenefits": [{"Type": ["30"], "PlanDate": {"Start": "2024-05-01"}}]}]
    )  # fmt: skip
    subscriber = whole["BenefitInquiries"][0]["Payers"][0]["Payees"][0]["Subscribers"][0]
    where = {
        fields.EligibilityRequest: (whole, ""),
        fields.BenefitInquiry: (whole["BenefitInquiries"][0], "BenefitInquiries[0]."),
        fields.RequestPayer: (
            whole["BenefitInquiries"][0]["Payers"][0],
            "BenefitInquiries[0].Payers[0].",
        ),
        fields.RequestPayee: (
            whole["BenefitInquiries"][0]["Payers"][0]["Payees"][0],
            "BenefitInquiries[0].Payers[0].Payees[0].",
        ),
        fields.RequestSubscriber: (subscriber, f"{SUBSCRIBER}."),
        fields.RequestDependent: (subscriber["Dependents"][0], f"{SUBSCRIBER}.Dependents[0]."),
        fields.RequestedBenefit: (
            subscriber["RequestedBenefits"][0],
            f"{SUBSCRIBER}.RequestedBenefits[0].",
        ),
        fields.RequestedDays: (
            subscriber["RequestedBenefits"][0]["PlanDate"],
            f"{SUBSCRIBER}.RequestedBenefits[0].PlanDate.",
        ),
        fields.RequestTraceNumber: (
            subscriber["PayeeTraceNumber"],
            f"{SUBSCRIBER}.PayeeTraceNumber.",
        ),
    }
    part, path = where[structure]
    part[name] = value
    return whole, path + name


@every_case(("structure", "name", "value"), CASES)
def test_a_value_of_a_wrong_kind_is_reported_at_its_key(structure, name, value):
    whole, path = whole_with(structure, name, value)
    assert set(faults(whole)) == {path}


@every_case(("structure", "name"), {(s, n): None for s, n, _ in CASES})
def test_every_field_may_be_null_unless_it_is_required(structure, name):
    whole, path = whole_with(structure, name, None)
    line = eligibility_fields(structure)[name]
    asked = structure is fields.RequestSubscriber and name in {"CommonName", "FirstName"}
    assert set(faults(whole)) == ({path} if line.required or asked else set())


@pytest.mark.parametrize("text", ["true", "FALSE", " True "])
def test_booleans_may_be_words(text):
    assert read(document(IsTest=text)).request.IsTest is (text.strip().lower() == "true")


def test_every_fault_is_reported_at_once():
    whole = document(
        payer_PayerId=None,
        payee_CommonName="",
        subscriber_BirthDate="31/2/1980",
        subscriber_MemberId=True,
    )
    assert len(faults(whole)) == 4


def test_what_a_date_should_look_like_is_reported():
    [message] = faults(document(subscriber_BirthDate="31/2/1980")).values()
    assert message == (
        "The value '31/2/1980' is not a valid date: write it yyyy-mm-dd, yyyy/mm/dd, mm/dd/yyyy, or one of "
        "these with a time."
    )


@pytest.mark.parametrize(
    "text",
    ["1980-02-01", "1980/2/1", "1980-02-01T00:00:00", "1980-02-01T00:00:00Z", "02/01/1980", "2/1/1980",
     "1980-2-1", "Fri, 01 Feb 1980 00:00:00 GMT", "2/1/1980 12:00:00 AM"],
)  # fmt: skip
def test_dates_are_read_as_clients_write_them(text):
    days = {"Start": text, "End": text}
    benefits = [{"Type": ["30"], "PlanDate": days}]
    found = read(document(subscriber_BirthDate=text, subscriber_RequestedBenefits=benefits))
    (asked,) = fields.patients(found.request)
    assert asked.subscriber.BirthDate == date(1980, 2, 1)
    assert asked.subscriber.RequestedBenefits[0].PlanDate.End == date(1980, 2, 1)


def test_names_may_be_in_any_case_and_numbers_stand_for_text():
    def camel(value):
        if isinstance(value, dict):
            return {name[0].lower() + name[1:]: camel(item) for name, item in value.items()}
        return [camel(item) for item in value] if isinstance(value, list) else value

    exact = read(document(subscriber_MemberId="2001", IsTest=True))
    other = read(camel(document(subscriber_MemberId=2001, IsTest=1)))
    assert other.request == exact.request
    assert other.ignored == exact.ignored


def test_of_two_spellings_the_last_wins():
    found = read(document(subscriber_MemberId="FIRST", subscriber_memberID="LAST"))
    (asked,) = fields.patients(found.request)
    assert asked.subscriber.MemberId == "LAST"
    assert found.repeated == (f"{SUBSCRIBER}.MemberId",)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (b'"MemberId": "ONE", "memberid": "TWO", "MemberId": "THREE"', "THREE"),
        (b'"memberid": [], "MemberId": "TWO"', "TWO"),
    ],
)
def test_of_two_spellings_the_last_use_wins_and_the_other_is_not_judged(text, kept):
    body = json.dumps(document(subscriber_MemberId="HERE")).encode()
    found = decode_request(body.replace(b'"MemberId": "HERE"', text))
    assert found.findings == ()
    (asked,) = fields.patients(found.request)
    assert asked.subscriber.MemberId == kept
    assert found.repeated == (f"{SUBSCRIBER}.MemberId",)


@pytest.mark.safe_default(7)
def test_null_under_one_spelling_hides_no_value_under_another():
    for names in (("MemberId", "memberID"), ("memberID", "MemberId")):
        text = ", ".join(
            f'"{name}": {value}' for name, value in zip(names, ('"HERE"', "null"), strict=True)
        )
        body = json.dumps(document(subscriber_MemberId="HERE"))
        found = decode_request(body.replace('"MemberId": "HERE"', text).encode())
        (asked,) = fields.patients(found.request)
        assert (asked.subscriber.MemberId, found.repeated) == ("HERE", ())


@pytest.mark.safe_default(7)
def test_a_refused_number_is_quoted_as_it_was_written():
    body = json.dumps(document(subscriber_MemberId="HERE"))
    for number in ("1e400", "1E5", "0.1234567890123456789"):
        found = decode_request(body.replace('"HERE"', number).encode())
        (finding,) = found.findings
        assert finding.message == f"The value {number} is not a string."


def test_unknown_fields_are_ignored_and_listed():
    found = read(document(Zork=1, subscriber_MiddleName="Q", payer_payersId="x"))
    assert found.request is not None
    assert set(found.ignored) == {
        "Zork", f"{SUBSCRIBER}.MiddleName", "BenefitInquiries[0].Payers[0].payersId",
    }  # fmt: skip
    many = read({**DOCUMENT, **{f"Zork{at}": 1 for at in range(50)}})
    assert len(many.ignored) == limits.IGNORED_FIELDS_SHOWN_MAX


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"3",
        b'"x"',
        b"\xff\xfe{}",
        b'{"a": "\xff"}',
        b"[" * 5000,
        b'{"a":' * 5000,
    ],
)
def test_what_is_no_json_object_is_reported_at_the_document(body):
    found = decode_request(body)
    assert found.request is None
    assert [finding.location for finding in found.findings] == ["Document"]


def test_a_byte_order_mark_is_passed_over():
    assert decode_request(b"\xef\xbb\xbf" + json.dumps(DOCUMENT).encode()).request


def test_a_flood_of_values_is_refused_before_it_is_read():
    body = b'{"a":[' + b"1," * ELIGIBILITY_VALUES_MAX + b"1]}"
    assert [finding.location for finding in decode_request(body).findings] == ["Document"]


def test_faults_are_reported_up_to_a_limit():
    found = read({"BenefitInquiries": [1] * (limits.SHAPE_FINDINGS_MAX + 10)})
    assert len(found.findings) == limits.SHAPE_FINDINGS_MAX + 1
    assert found.findings[-1].location == "Document"


def test_reading_pauses_after_each_subscriber():
    steps = StepwiseCall(
        decode.decode_stepwise(json.dumps(document(payee_Subscribers=[ROSA] * 5)).encode())
    )
    assert len(list(steps)) == 5
    assert steps.result.request is not None


def test_findings_do_not_print_what_they_quote():
    [finding] = read(document(subscriber_BirthDate="31/2/1980")).findings
    assert "1980" not in repr(finding)


def test_the_schema_shows_every_field():
    schema = TypeAdapter(fields.EligibilityRequest).json_schema(mode="serialization")
    properties = {name: set(part["properties"]) for name, part in schema["$defs"].items()}
    for structure in STRUCTURES[1:]:
        name = "EligibilityRequest" + re.sub("^Request(?=[A-Z])", "", structure.__name__)
        assert properties[name] == set(structure.__struct_fields__)
    assert schema["required"] == ["BenefitInquiries"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(sorted({name for s in STRUCTURES for name in s.__struct_fields__})),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@given(JSON)
@settings(max_examples=full_or_quick(150, 15), deadline=None)
def test_any_json_is_read_or_reported(value):
    found = read(value)
    assert (found.request is None) == bool(found.findings)


@given(st.binary(max_size=60))
@settings(max_examples=full_or_quick(100, 10), deadline=None)
def test_any_bytes_are_read_or_reported(body):
    found = decode_request(body)
    assert (found.request is None) == bool(found.findings)
