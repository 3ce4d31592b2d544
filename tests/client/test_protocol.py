"""Polling for late responses, sending many claims, and walking over many days.

Also tests `client/build` and `client/transport`.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import NamedTuple

import msgspec
import pydantic
import pytest

from clearlane import client as library
from clearlane.client import (
    Client,
    Retry,
    build,
    claim_document,
    eligibility_request,
    enrollment_request,
    limits,
)
from clearlane.client.build import encode_json
from clearlane.client.protocol import date_windows
from tests.client.scripted_service import DROPPED, KEY, PASSWORD, SITE, Reply

LATE = Reply(body={"RequestId": 41, "Status": "ResultsIncomplete", "Responses": []})
DONE = Reply(body={"RequestId": 41, "Status": "ResultsComplete", "Responses": [{}]})


def test_an_inquiry_is_submitted_and_waited_for(service, client, pauses):
    service.answer(LATE, LATE, LATE, DONE)
    answer = client.wait_for_eligibility({"IsTest": True})
    assert answer.Status == "ResultsComplete"
    assert [call.path.rpartition("/")[2] for call in service.received] == [
        "submit", "get_responses", "get_responses", "get_responses",
    ]  # fmt: skip
    assert {call.query.get("requestId") for call in service.received[1:]} == {"41"}
    assert pauses == [2, 4, 8]


@pytest.mark.parametrize(
    "about", [41, library.EligibilityAnswer(RequestId=41, Status="ResultsIncomplete")]
)
def test_a_known_request_is_only_looked_at(service, client, about):
    service.answer(DONE)
    assert client.wait_for_eligibility(about).Status == "ResultsComplete"
    assert service.received[0].path.endswith("get_responses")


@pytest.mark.parametrize("status", ["ResultsComplete", "AllInvalid"])
def test_an_answer_that_waits_for_nothing_is_returned_as_it_is(service, client, status):
    service.answer(DONE)
    answer = library.EligibilityAnswer(RequestId=41, Status=status)
    assert client.wait_for_eligibility(answer) is answer
    assert not service.received


def test_the_wait_ends_with_what_has_arrived(service):
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds

    service.answer(LATE)
    with Client(
        service.base_url, key=KEY, password=PASSWORD, site=SITE, ca_file=service.ca_file,
        retry=Retry(clock=lambda: now[0]), sleep=sleep,
    ) as client, pytest.raises(library.StillWaiting) as reported:  # fmt: skip
        client.wait_for_eligibility(41, seconds=100)
    assert reported.value.answer.RequestId == 41
    assert now[0] == 100


async def test_the_async_client_waits_too(service, async_client, pauses):
    service.answer(LATE, DONE)
    assert not (await async_client.wait_for_eligibility({})).waiting
    assert pauses == [2]


def test_days_are_asked_for_in_pieces(service, client):
    service.answer(Reply(body=[{"ClaimNumber": "C"}]))
    rows = client.iter_status("2024-02-28", date(2024, 3, 2))
    assert next(rows).ClaimNumber == "C"
    assert len(service.received) == 1
    assert len(list(rows)) == 3
    asked = [(c.query["startDate"], c.query["endDate"]) for c in service.received]
    assert asked == [(day, day) for day in ("2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02")]


async def test_the_async_client_walks_the_same_days(service, async_client):
    service.answer(Reply(body=[{}]))
    rows = [row async for row in async_client.iter_status("2024-03-01", "2024-03-31", days=10)]
    assert len(rows) == len(service.received) == 4


def test_windows_cover_each_day_once():
    assert date_windows(date(2024, 3, 1), date(2024, 3, 5), 2) == [
        (date(2024, 3, 1), date(2024, 3, 2)),
        (date(2024, 3, 3), date(2024, 3, 4)),
        (date(2024, 3, 5), date(2024, 3, 5)),
    ]
    with pytest.raises(ValueError, match="after"):
        date_windows(date(2024, 3, 2), date(2024, 3, 1), 1)
    with pytest.raises(ValueError, match="one day"):
        date_windows(date(2024, 3, 1), date(2024, 3, 1), 0)


# --- builders -------------------------------------------------------------------------------------


@dataclass
class AsDataclass:
    F03_PatientDob: date
    F28_TotalCharge: Decimal


class AsStruct(msgspec.Struct):
    F03_PatientDob: date
    F28_TotalCharge: Decimal


class AsModel(pydantic.BaseModel):
    F03_PatientDob: date
    F28_TotalCharge: Decimal


class AsObject:
    def __init__(self, F03_PatientDob, F28_TotalCharge):
        self.F03_PatientDob, self.F28_TotalCharge = F03_PatientDob, F28_TotalCharge
        self._own = "not sent"


@pytest.mark.parametrize("make", [dict, AsDataclass, AsStruct, AsModel, AsObject])
def test_a_claim_may_be_any_object_with_the_documents_names(make):
    claim = make(F03_PatientDob=date(1990, 1, 2), F28_TotalCharge=Decimal("100.10"))
    expected = b'{"DocumentType":"MedicalClaim","Claims":[{"F03_PatientDob":"1990-01-02","F28_TotalCharge":100.10}]}'
    assert encode_json(claim_document("medical", claim)) == expected
    assert encode_json(claim_document("medical", [claim])) == expected
    assert encode_json(claim_document("medical", {"Claims": [claim]})) == expected
    assert encode_json(claim_document("medical", (one for one in [claim]))) == expected


def test_what_cannot_be_sent_is_reported_by_its_type():
    class Slotted(NamedTuple):
        x: object

    with pytest.raises(TypeError, match="object cannot be sent"):
        encode_json(claim_document("dental", [{"x": Slotted(object())}]))


def test_a_document_of_no_known_kind_is_refused_before_it_is_sent(service, client):
    service.answer(DONE)
    with pytest.raises(ValueError, match="MedicalClaim or DentalClaim"):
        client.submit_document({"Claims": []})
    assert not service.received


def test_an_eligibility_request_is_built_from_plain_facts():
    request = eligibility_request(
        payer_id="TST01", npi="1234567893", provider="Fernhill Family Practice", member_id="1007",
        last_name="ARDEN", first_name="ROSA", birth_date=date(1990, 1, 2), gender="Female",
        trace="T-1", benefits=["HealthBenefitPlanCoverage"], test=True,
    )  # fmt: skip
    (payer,) = request["BenefitInquiries"][0]["Payers"]
    (subscriber,) = payer["Payees"][0]["Subscribers"]
    assert request["IsTest"] is True
    assert subscriber["BirthDate"] == "1990-01-02"
    assert subscriber["PayeeTraceNumber"] == {"Number": "T-1"}
    assert subscriber["RequestedBenefits"][0]["Type"] == ["HealthBenefitPlanCoverage"]


def test_an_enrollment_request_carries_its_version():
    assert enrollment_request({"Npi": "1"}) == {"Version": 1, "Enrollments": [{"Npi": "1"}]}
    given = {"Version": 2, "Enrollments": []}
    assert enrollment_request(given) == given


def results(*names):
    return Reply(body={"ClaimResults": [{"VendorClaimId": n, "Status": "Accepted"} for n in names]})


def test_many_claims_are_sent_in_documents_and_their_results_come_in_order(service, client):
    service.answer(results("A", "B"), results("C"))
    taken = []

    def claims():
        for name in "ABC":
            taken.append(name)
            yield {"Svc_VendorClaimId": name}

    found = client.submit(claims(), claims_per_document=2)
    assert next(found).VendorClaimId == "A"
    assert taken == ["A", "B", "C"]  # one ahead, to know that the document is full
    assert len(service.received) == 1
    assert [each.VendorClaimId for each in found] == ["B", "C"]
    sent = [
        [claim["Svc_VendorClaimId"] for claim in call.json["Claims"]] for call in service.received
    ]
    assert sent == [["A", "B"], ["C"]]
    assert service.received[0].json["DocumentType"] == "MedicalClaim"


async def test_the_async_client_sends_many_claims_too(service, async_client):
    service.answer(results("A"), results("B"))
    claims = [{"Svc_VendorClaimId": name} for name in "AB"]
    found = [each async for each in async_client.submit(claims, "dental", claims_per_document=1)]
    assert [each.VendorClaimId for each in found] == ["A", "B"]
    assert service.received[0].path.endswith("submitDental")


def test_a_document_that_is_too_large_for_the_service_is_halved(service, client):
    service.answer(Reply(status=413), results("A"), results("B", "C"))
    found = client.submit({"Svc_VendorClaimId": name} for name in "ABC")
    assert [each.VendorClaimId for each in found] == ["A", "B", "C"]
    service.answer(Reply(status=413))
    with pytest.raises(library.TooLarge):
        list(client.submit([{}]))


def test_claims_are_split_by_their_size_too():
    large = {"F19": "x" * (limits.DOCUMENT_BYTES_MAX // 2)}
    assert [len(part) for part in build.split_claims([large, large, large, {}])] == [1, 1, 2]
    assert [len(part) for part in build.split_claims({"one": 1})] == [1]
    assert list(build.split_claims([])) == []
    with pytest.raises(ValueError, match="one claim"):
        list(build.split_claims([{}], 0))


def test_a_document_that_is_refused_as_a_whole_is_an_error(service, client):
    error = {"Location": "Document", "SupplementalInformation": "The client account is suspended."}
    service.answer(Reply(body={"ClaimResults": [], "DocumentLevelErrors": [error]}))
    with pytest.raises(library.InvalidRequest) as refused:
        list(client.submit([{}]))
    assert refused.value.faults == {"Document": ["The client account is suspended."]}


def test_a_timeout_is_that_of_every_call(service):
    asked = []

    class Watching:
        def send(self, request):
            asked.append(request.timeout_seconds)
            return library.Response(200, {}, b"[]")

        def close(self):
            pass

    with Client(service.base_url, KEY, PASSWORD, SITE, timeout=7, transport=Watching()) as client:
        client.payers()
        client.at_site("OTHER").payers()
    with Client(client.account, transport=Watching()) as client:
        client.payers()
    assert asked == [7, 7, limits.ANSWER_SECONDS_MAX]


def test_a_repeated_call_is_logged_without_values(service, client, caplog):
    service.answer(Reply(status=503), DROPPED, Reply(body=[]))
    client.claim_status("2024-03-01", "2024-03-01")
    assert [line.message for line in caplog.records if line.name == "clearlane.client"] == [
        "GetClaimStatusByDate failed (status 503), attempt 1 of 5; again in 0.5 seconds",
        "GetClaimStatusByDate failed (AnswerLost), attempt 2 of 5; again in 1.0 seconds",
    ]
