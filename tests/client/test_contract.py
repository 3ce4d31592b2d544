"""Every call as V3 defines it, sync and async, over real TLS."""

import inspect
from base64 import b64decode

import pytest

from clearlane.client import AsyncClient, Client
from tests.client.sample_calls import CASES
from tests.client.scripted_service import KEY, PASSWORD, SITE, Reply

IDS = [case.method for case in CASES]
NOT_CALLS = {"from_sandbox", "from_environment", "at_site", "close"}
OWN_API = {"submit_institutional_claims"}
HELPERS = {"iter_status", "submit", "today", "wait_for", "wait_for_eligibility"}


def received_as_documented(service, case):
    (call,) = service.received
    assert call.method == "POST"
    assert call.path.lower() == f"/api/v3/{case.path}".lower()
    assert call.query == {"vendorSiteId": SITE, **case.query}
    scheme, _, pair = call.headers["authorization"].partition(" ")
    assert (scheme, b64decode(pair).decode()) == ("Basic", f"{KEY}:{PASSWORD}")
    assert call.headers["content-type"] == "application/json"
    assert call.body == b"" if case.sent is None else call.json == case.sent


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_call_is_sent_and_read_as_the_document_shows(service, client, case):
    service.answer(Reply(body=case.answer))
    assert case.check(getattr(client, case.method)(*case.arguments))
    received_as_documented(service, case)


@pytest.mark.parametrize("case", CASES, ids=IDS)
async def test_the_async_client_sends_and_reads_the_same(service, async_client, case):
    service.answer(Reply(body=case.answer))
    assert case.check(await getattr(async_client, case.method)(*case.arguments))
    received_as_documented(service, case)


def test_the_table_has_every_call_of_both_clients():
    def methods(cls):
        return {n for n, _ in inspect.getmembers(cls, callable) if not n.startswith("_")}

    assert methods(Client) == methods(AsyncClient) == {*IDS, *NOT_CALLS, *OWN_API, *HELPERS}


def test_another_site_is_spoken_for_over_the_same_connections(service, client):
    service.answer(Reply(body=[]))
    client.at_site("SITE-2").payers()
    assert service.received[0].query["vendorSiteId"] == "SITE-2"
    client.payers()
    assert service.received[1].query["vendorSiteId"] == SITE


@pytest.mark.parametrize("body", ["<html>", {"Message": "no list"}, '"text"', ""])
def test_an_answer_that_v3_does_not_define_is_reported_as_such(service, client, body):
    from clearlane.client import UnexpectedAnswer

    service.answer(Reply(body=body))
    with pytest.raises(UnexpectedAnswer):
        client.payers()


@pytest.mark.parametrize("status", [200, 201, 202])
def test_any_status_of_success_is_one(service, client, status):
    service.answer(Reply(status, {"EnrollmentResults": [{"RequestId": "1"}]}))
    assert client.submit_enrollments([{"RequestId": "1"}]).submitted


def test_fields_of_another_shape_keep_the_answer_readable(service, client):
    service.answer(Reply(body=[{"ClaimNumber": 12, "CreateDate": "soon", "TotalClaimAmount": "x"}]))
    (row,) = client.claim_status("2024-03-01", "2024-03-02")
    assert (row.ClaimNumber, row.CreateDate, row.TotalClaimAmount) == ("12", None, 0)
    assert row.raw["CreateDate"] == "soon"


def test_the_names_of_ignored_fields_are_handed_on(service, client):
    headers = {"X-Ignored-Fields": "Claims[0].F03_PatientDOB, Claims[0].typo"}
    service.answer(Reply(body={"ClaimResults": []}, headers=headers))
    answer = client.submit_medical_claims([])
    assert answer.ignored_fields == ("Claims[0].F03_PatientDOB", "Claims[0].typo")
    assert (answer.accepted, answer.notes) == (False, ())


def test_institutional_claims_go_by_our_own_api_and_are_answered_as_v3_does(service, client):
    finding = {"field": "FL39_ValueCodes", "message": "Give value 80."}
    claim = {"vendor_claim_id": "S-1", "claim_number": "C1", "note": None}
    claim |= {"accepted": False, "problems": [finding], "warnings": [finding]}
    service.answer(Reply(body={"accepted": 0, "claims": [claim]}))
    answer = client.submit_institutional_claims([{"Svc_VendorClaimId": "S-1"}])
    (call,) = service.received
    assert (call.path, call.query) == ("/clearlane/v1/claims", {"site": SITE})
    assert call.json["DocumentType"] == "InstitutionalClaim"
    (result,) = answer.ClaimResults
    assert (result.Status, result.RequestId) == ("NotAccepted", "C1")
    assert result.Errors[0].Location == "Claims[0].FL39_ValueCodes"
    assert answer.notes == ("Claims[0].FL39_ValueCodes (warning): Give value 80.",)


def test_what_was_done_with_the_claims_is_handed_on(service, client):
    headers = {
        "X-Notes": "Claims[0]: It takes over from C1. | Claims[2]: It is the claim C2 again."
    }
    service.answer(Reply(body={"ClaimResults": []}, headers=headers))
    assert client.submit_medical_claims([]).notes == (
        "Claims[0]: It takes over from C1.",
        "Claims[2]: It is the claim C2 again.",
    )
