"""Enrollment over https on both databases: every documented response.

Also tests `api/v3/enrollment_json`.
"""

import asyncio
import json
import random
import ssl
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from clearlane.claims.forms import V3_MEDICAL, samples
from tests.api.markers import places_with
from tests.enrollment.invented import FAIL, MEND, a_practice, a_request, an_enrollment, by_hand
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.one_database

PATH = "/api/v3/enrollment/submit"
EXISTS = "Provider already exists."
UNUSED = ("HttpReturnCode", "SiteCreated", "MedicalGroupCreated", "PracticeCreated", "JsonResponse")


@pytest.fixture(scope="module")
def acme(server, parties):
    with server.client(parties.acme.auth, params={"vendorSiteId": "A-1"}) as client:
        yield client


def results(answer):
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert list(body) == ["EnrollmentResults"]
    return body["EnrollmentResults"]


def errors(answer):
    """What is reported, by key, after a look at the shape."""
    assert answer.status_code == 400, answer.text
    body = answer.json()
    assert list(body) == ["Message", "Errors"]
    assert body["Message"] == "The request is invalid."
    assert all(list(each) == ["Key", "Value"] for each in body["Errors"])
    keys = [each["Key"] for each in body["Errors"]]
    assert len(keys) == len(set(keys))
    return {each["Key"]: each["Value"] for each in body["Errors"]}


def test_a_result_has_every_field_of_the_document(acme):
    sent = an_enrollment()
    (reported,) = results(acme.post(PATH, json=a_request(sent)))
    assert reported == {
        "RequestId": sent["RequestId"],
        "ClientId": "A-1",
        "LastName": "FENN",
        "FirstName": "OSKAR",
        "LineNumber": 1,
        "Message": None,
        "Exception": None,
        **dict.fromkeys(UNUSED),
    }


def test_results_come_in_order_and_are_counted_from_one(acme):
    sent = [an_enrollment(), a_practice(ProviderLastName="BIRCH"), an_enrollment(NpiType="Unknown")]
    reported = results(acme.post(PATH, json=a_request(*sent)))
    assert [each["RequestId"] for each in reported] == [each["RequestId"] for each in sent]
    assert [each["LineNumber"] for each in reported] == [1, 2, 3]
    assert [each["LastName"] for each in reported] == ["FENN", None, "FENN"]


@pytest.mark.parametrize("form", [0, 1, 2, "Unknown", "Individual", "Organization", "1"])
def test_the_type_of_npi_may_be_a_number_or_a_name(acme, form):
    sent = an_enrollment(NpiType=form, PracticeName="Larkspur Dental")
    (reported,) = results(acme.post(PATH, json=a_request(sent)))
    assert reported["Message"] is None


def test_the_second_time_the_provider_exists_under_any_request_id(acme):
    sent = an_enrollment()
    results(acme.post(PATH, json=a_request(sent)))
    for again in (sent, sent | {"RequestId": "another"}, sent | {"Address1": "9 Elsewhere Road"}):
        (reported,) = results(acme.post(PATH, json=a_request(again)))
        assert (reported["Message"], reported["Exception"]) == (EXISTS, None)
        assert reported["RequestId"] == again["RequestId"]


def test_one_provider_may_exist_beside_a_new_one(acme):
    old, new = an_enrollment(), an_enrollment()
    results(acme.post(PATH, json=a_request(old)))
    reported = results(acme.post(PATH, json=a_request(old, new)))
    assert [each["Message"] for each in reported] == [EXISTS, None]


def test_a_request_id_may_be_used_again_in_another_request(acme):
    first, second = an_enrollment(), an_enrollment()
    second["RequestId"] = first["RequestId"]
    for sent in (first, second):
        assert results(acme.post(PATH, json=a_request(sent)))[0]["Message"] is None


def test_providers_belong_to_a_site(server, parties, acme):
    sent = an_enrollment()
    results(acme.post(PATH, json=a_request(sent)))
    with server.client(parties.other.auth, params={"vendorSiteId": "B-1"}) as other:
        (reported,) = results(other.post(PATH, json=a_request(sent)))
    assert (reported["Message"], reported["ClientId"]) == (None, "B-1")


@pytest.mark.both_databases
async def test_ten_calls_at_once_submit_a_provider_once(server, parties):
    sent = an_enrollment()
    context = ssl.create_default_context(cafile=server.ca_file)
    async with httpx.AsyncClient(
        base_url=server.base_url,
        verify=context,
        auth=parties.acme.auth,
        params={"vendorSiteId": "A-1"},
        timeout=PATIENCE_SECONDS,
    ) as client:
        bodies = [a_request(sent | {"RequestId": f"call {at}"}) for at in range(10)]
        answers = await asyncio.gather(*(client.post(PATH, json=body) for body in bodies))
    reported = [results(answer)[0]["Message"] for answer in answers]
    assert (reported.count(None), reported.count(EXISTS)) == (1, 9)


# Invalid.


def test_every_fault_is_reported_at_once_and_nothing_is_submitted(acme):
    good, bad = an_enrollment(), a_practice(Npi="12345", PracticeName=None, State="Illinois")
    bad |= {"PrimaryContactPhoneNumber": "1125550142", "Address1": "PO Box 5", "Zip": "ABCDE"}
    reported = errors(acme.post(PATH, json=a_request(good, bad, good)))
    assert set(reported) == {
        *(f"Enrollments[1].{name}" for name in
          ("Npi", "PracticeName", "State", "PrimaryContactPhoneNumber", "Address1", "Zip")),
        "Enrollments[2].RequestId",
    }  # fmt: skip
    assert all(sentence.endswith(".") for value in reported.values() for sentence in value)
    assert reported == errors(acme.post(PATH, json=a_request(good, bad, good)))
    assert results(acme.post(PATH, json=a_request(good)))[0]["Message"] is None


def test_two_faults_of_one_field_share_one_key(acme):
    reported = errors(
        acme.post(PATH, json=a_request(an_enrollment(Address1="PO Box 1 " + "x" * 60)))
    )
    assert [len(value) for value in reported.values()] == [2]


@pytest.mark.parametrize("version", [None, 0, 2, "2", "x"])
def test_another_version_is_invalid(acme, version):
    assert list(errors(acme.post(PATH, json=a_request(Version=version)))) == ["Version"]


@pytest.mark.parametrize("array", [None, [], {}, "x"])
def test_a_request_without_enrollments_is_invalid(acme, array):
    assert list(errors(acme.post(PATH, json=a_request(Enrollments=array)))) == ["Enrollments"]


def test_both_are_reported_at_once(acme):
    assert set(errors(acme.post(PATH, json={}))) == {"Version", "Enrollments"}


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"1"])
def test_a_body_that_is_no_object_is_refused_in_the_form_of_enrollments(acme, body):
    answer = acme.post(PATH, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert [error["Key"] for error in answer.json()["Errors"]] == ["Document"]


def test_a_wrong_check_digit_is_submitted_and_shown_to_the_operator(server, acme):
    sent = an_enrollment(Npi="1234567890")
    assert results(acme.post(PATH, json=a_request(sent)))[0]["Message"] is None
    rows = json.loads(server.command("enrollment", "list", "--json"))
    (row,) = [row for row in rows if row["npi"] == "1234567890"]
    assert "check digit" in row["findings"]


def test_unknown_fields_are_ignored_and_named_in_a_header(acme):
    answer = acme.post(PATH, json=a_request(an_enrollment(NationalId="1"), Extra=1))
    assert results(answer)
    assert answer.headers["x-ignored-fields"] == "Extra, Enrollments[0].NationalId"


def test_too_many_enrollments_are_a_413(acme):
    answer = acme.post(PATH, json=a_request(Enrollments=[1] * 5_001))
    assert answer.status_code == 413
    assert "5000" in answer.json()["Message"]


@pytest.mark.both_databases
async def test_a_fault_of_ours_has_no_results_and_the_same_request_may_be_sent_again(server, acme):
    where = (server.environment["CLEARLANE_DATABASE_URL"], server.data / "clearlane.db")
    body = a_request(an_enrollment(), an_enrollment())
    await by_hand(FAIL, *where)
    try:
        failed = acme.post(PATH, json=body)
    finally:
        await by_hand(MEND, *where)
    assert failed.status_code >= 500
    assert list(failed.json()) == ["Message"]
    assert [each["Message"] for each in results(acme.post(PATH, json=body))] == [None, None]


# The account.


def test_a_suspended_account_enrolls_nobody(server, parties):
    with server.client(parties.acme.auth, params={"vendorSiteId": "A-SUSPENDED"}) as client:
        answer = client.post(PATH, json=a_request())
    assert (answer.status_code, answer.json()) == (
        400,
        {"Message": "The client account is suspended."},
    )


def test_without_a_baa_nothing_is_read(server, parties):
    with server.client(parties.acme.auth, params={"vendorSiteId": "A-2"}) as client:
        answer = client.post(PATH, json=a_request())
    assert answer.status_code == 401
    assert int(answer.text.partition(":")[0]) == 201


# What is kept.


@pytest.mark.both_databases
@pytest.mark.parametrize("shape", ["submitted", "invalid"])
def test_a_marker_in_every_text_is_readable_nowhere(server, acme, shape):
    marker = f"QZ{random.getrandbits(32):08X}"
    tin = f"{random.randrange(10**9):09}"
    sent = an_enrollment(Tin=tin)
    sent |= dict.fromkeys(
        ("RequestId", "SiteId", "DbaName", "ProviderLastName", "ProviderFirstName", "Address1",
         "Address2", "City", "PreviousClearingHouse", "PrimaryContactLastName"), marker,
    )  # fmt: skip
    sent["PrimaryContactEmail"] = f"{marker}@example.com" if shape == "submitted" else marker
    answer = acme.post(PATH, json=a_request(sent))
    assert answer.status_code == {"submitted": 200, "invalid": 400}[shape]
    assert places_with(server, marker) == []
    assert places_with(server, tin) == []


def test_a_submission_is_one_line_of_the_audit_chain(server, acme):
    request = f"req-{random.getrandbits(60):x}"
    results(acme.post(PATH, json=a_request(), headers={"X-Request-Id": request}))
    exported = server.command("audit", "export", "--format", "jsonl")
    lines = [json.loads(line) for line in exported.splitlines() if request in line]
    assert [line["action"] for line in lines] == ["enrollment.submit"]


# A claim to a payer that requires enrollment, from refused to accepted.


def test_an_approval_lets_claims_through_at_once(server, acme):
    listed = acme.post("/api/v3/payers/get_list", params={"type": "medical"}).json()
    (payer,) = [each for each in listed if each["PayerId"] == "FBK40"]
    assert payer["ClaimEnrollmentRequired"]
    sent = an_enrollment()
    document = samples.document(
        V3_MEDICAL, day=datetime.now(UTC).date() - timedelta(days=30), full=True
    )
    document["Claims"][0] |= {
        "Svc_PayerId": "FBK40",
        "Svc_VendorClaimId": sent["RequestId"],
        "F33A_BillingProviderNpi": sent["Npi"],
        "F25_FederalTaxIdEin": sent["Tin"],
        "F25_FederalTaxIdSsn": None,
    }
    claim = json.loads(json.dumps(document, default=str))

    def status():
        answer = acme.post("/api/v3/claims/submit", json=claim).json()
        return answer["ClaimResults"][0]["Status"]

    results(acme.post(PATH, json=a_request(sent)))
    assert status() == "NotAccepted"
    rows = json.loads(server.command("enrollment", "list", "--json"))
    (id,) = [row["id"] for row in rows if row["npi"] == sent["Npi"]]
    server.command("enrollment", "approve", id, "--payer", "FBK40", "--yes")
    assert status() == "Accepted"
