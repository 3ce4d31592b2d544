"""The two eligibility calls over https: every row of the document's tables, every rule and state."""

import asyncio
import json

import pytest

from clearlane.api.v3.benefits.json_types import (
    BenefitResponseJson,
    PayeeJson,
    PayerJson,
    SubscriberJson,
)
from clearlane.kernel import limits
from tests.api.markers import places_with
from tests.eligibility.eligibility_caller import (
    ALL_INVALID,
    COMPLETE,
    INCOMPLETE,
    RESPONSES,
    SUBMIT,
    Caller,
    child,
    many,
    one,
    subscriber_of,
    traces,
)
from tests.eligibility.invented import MILO, document

pytestmark = pytest.mark.one_database

PAYERS = ("TST01", "TST1E", "TST2E", "TST3E", "TST02")


def codes(errors):
    return [error["Code"] for error in errors or ()]


def levels(response):
    """The codes of the refusals at each level of a response."""
    payer = response["Payers"][0]
    payee = payer["Payees"][0]
    subscriber = payee["Subscribers"][0]
    dependents = subscriber["Dependents"] or [{"Errors": None}]
    return {
        "envelope": codes(response["EnvelopeErrors"]),
        "payer": codes(payer["Errors"]),
        "payee": codes(payee["Errors"]),
        "subscriber": codes(subscriber["Errors"]),
        "dependent": codes(dependents[0]["Errors"]),
    }


def only(**found):
    return {at: [] for at in ("envelope", "payer", "payee", "subscriber", "dependent")} | found


# The table of the document, and the level of the refusals of each row.
REFUSED = {
    "1001": only(envelope=["41", "79"]),
    "1002": only(payer=["79", "T4"]),
    "1003": only(payee=["43", "51"]),
    "1004": only(subscriber=["72", "73"]),
    "1005": only(subscriber=["58", "75"]),
}


@pytest.mark.parametrize("payer", PAYERS)
@pytest.mark.parametrize("member", REFUSED)
async def test_a_refusal_is_at_the_level_of_the_documents_table(caller, payer, member):
    body = await caller.submit(one(member, payer))
    assert body["Status"] == COMPLETE
    [response] = body["Responses"]
    assert levels(response) == REFUSED[member]
    assert traces(body) == ["visit 7"]


@pytest.mark.parametrize("payer", PAYERS)
async def test_1005_asked_about_a_dependent_refuses_the_dependent(caller, payer):
    [response] = (await caller.submit(child("1005", payer)))["Responses"]
    assert levels(response) == only(dependent=["58", "67"])


@pytest.mark.parametrize("payer", PAYERS)
async def test_1006_is_a_syntax_error_reported_by_a_999(caller, payer):
    body = await caller.submit(one("1006", payer))
    assert (body["Status"], body["Responses"]) == (COMPLETE, [])
    [error] = body["ErrorResponses"]
    assert list(error) == ["Type", "PayeeTraceNumber", "Errors", "X12Document"]
    assert (error["Type"], error["X12Document"]) == ("999", None)
    assert error["PayeeTraceNumber"]["Number"] == "visit 7"
    assert codes(error["Errors"]) == ["6", "5"]
    [status] = body["InterchangeStatuses"]
    assert list(status) == ["InterchangeControlNumber", "Status", "Code", "Message"]
    assert (status["Status"], status["Code"]) == ("Rejected", "6")


@pytest.mark.parametrize("payer", PAYERS)
async def test_1007_has_complex_and_any_other_member_simple_benefits(caller, payer):
    complex, simple, letters = await asyncio.gather(
        *(caller.submit(one(member, payer)) for member in ("1007", "2001", "ABC-77"))
    )
    counts = [len(subscriber_of(body["Responses"][0])["Benefits"]) for body in (complex, simple)]
    assert counts[0] > counts[1] > 0
    assert subscriber_of(letters["Responses"][0])["MemberId"] == "ABC-77"
    kinds = {benefit["Type"] for benefit in subscriber_of(complex["Responses"][0])["Benefits"]}
    assert {"CoInsurance", "ActiveCoverage", "Deductible", "Limitations", "OutOfPocketStopLoss"} <= kinds  # fmt: skip


@pytest.mark.parametrize("member", ["1009", "1500", "1999"])
async def test_a_reserved_id_without_a_scenario_is_any_other_member(caller, member):
    reserved, plain = await asyncio.gather(*(caller.submit(one(id)) for id in (member, "2001")))
    assert (reserved["Status"], reserved["ErrorResponses"]) == (COMPLETE, [])
    [response] = reserved["Responses"]
    assert levels(response) == only()
    kinds = [
        [(benefit["Type"], benefit["TypesOfService"]) for benefit in found["Benefits"]]
        for found in (subscriber_of(response), subscriber_of(plain["Responses"][0]))
    ]
    assert kinds[0] == kinds[1]
    assert "ActiveCoverage" in {kind for kind, _ in kinds[0]}


async def test_a_response_has_every_field_of_the_document(caller):
    [response] = (await caller.submit(one()))["Responses"]
    payer = response["Payers"][0]
    payee = payer["Payees"][0]
    subscriber = payee["Subscribers"][0]
    for answers, struct in (
        (response, BenefitResponseJson), (payer, PayerJson), (payee, PayeeJson), (subscriber, SubscriberJson),
    ):  # fmt: skip
        assert tuple(answers) == struct.__struct_fields__
    assert response["BenefitFormat"] == "DataModel"
    assert response["ResponseType"] == "BenefitResponse"
    assert response["X12Document"] is None
    assert len(response["DocumentId"]) >= 27
    assert subscriber["BirthDate"] == "1980-02-29T00:00:00"
    assert subscriber["PayeeTraceNumber"] == {
        "OriginatorID": "9FERNHILL1",
        "OriginatorSecondaryID": None,
        "Number": "visit 7",
    }


async def test_a_dependent_is_answered_by_the_subscribers_member_id_beside_the_subscriber(caller):
    both = one("2001", subscriber_Dependents=[MILO])
    body = await caller.submit(both)
    assert body["Status"] == COMPLETE
    assert sorted(traces(body)) == ["visit 7", "visit 8"]
    dependents = [subscriber_of(each)["Dependents"] for each in body["Responses"]]
    assert [bool(each) for each in dependents] == [False, True]


async def test_get_responses_returns_the_same_again_and_ignores_the_body(caller):
    body = await caller.submit(many(["2001", "1006", "2003"]))
    assert traces(body) == ["visit 1", "visit 3", "visit 2"]
    assert await caller.responses(body["RequestId"]) == body
    answer = await caller.client.post(
        RESPONSES,
        params={"requestId": body["RequestId"]},
        content=b"\xff not json",
        headers={"Content-Type": "text/plain"},
    )
    assert answer.json() == body


async def test_a_request_is_all_invalid_when_nothing_can_be_sent(caller):
    bad = one(payee_NationalProviderId="1234567890", subscriber_BirthDate="2999-01-01")
    body = await caller.submit(bad)
    assert (body["Status"], body["Responses"], body["ErrorResponses"]) == (ALL_INVALID, [], [])
    assert {each["Location"] for each in body["ValidationResults"]} >= {
        "BenefitInquiries[0].Payers[0].Payees[0].NationalProviderId"
    }
    assert all(list(each) == ["Location", "Code", "Message"] for each in body["ValidationResults"])
    assert await caller.responses(body["RequestId"]) == body


async def test_what_can_be_sent_is_sent_and_the_rest_is_reported(caller):
    request = many(["2001", "2002"])
    subscribers = request["BenefitInquiries"][0]["Payers"][0]["Payees"][0]["Subscribers"]
    subscribers[0]["BirthDate"] = "2999-01-01"
    body = await caller.submit(request)
    assert body["Status"] == COMPLETE
    assert traces(body) == ["visit 2"]
    [result] = body["ValidationResults"]
    assert result["Location"].endswith("Subscribers[0].BirthDate")


async def test_a_malformed_request_is_400_with_every_fault_and_nothing_is_stored(caller):
    request = document(payer_PayerId=None, subscriber_BirthDate="29.2.1980", subscriber_MemberId="")
    answer = await caller.client.post(SUBMIT, json=request)
    assert answer.status_code == 400
    body = answer.json()
    assert list(body) == ["Message", "ModelState"]
    payer = "BenefitInquiries[0].Payers[0]"
    assert set(body["ModelState"]) == {
        f"{payer}.PayerId",
        f"{payer}.Payees[0].Subscribers[0].BirthDate",
        f"{payer}.Payees[0].Subscribers[0].MemberId",
    }


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'"text"', b"\xff", b"null"])
async def test_a_body_that_is_no_document_is_400(caller, content):
    answer = await caller.client.post(
        SUBMIT, content=content, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 400
    assert list(answer.json()) == ["Message", "ModelState"]


async def test_unknown_fields_are_ignored_and_named_in_a_header(caller):
    answer = await caller.client.post(SUBMIT, json=one(subscriber_MemberNumber="2001"))
    assert answer.status_code == 200
    path = "BenefitInquiries[0].Payers[0].Payees[0].Subscribers[0].MemberNumber"
    assert answer.headers["X-Ignored-Fields"] == path
    assert "X-Notes" not in answer.headers


async def test_a_field_under_two_spellings_is_named_in_a_header(caller):
    answer = await caller.client.post(SUBMIT, json=one(subscriber_memberid="2001"))
    assert answer.status_code == 200
    path = "BenefitInquiries[0].Payers[0].Payees[0].Subscribers[0].MemberId"
    assert answer.headers["X-Notes"] == f"{path} came under two spellings; the last was taken."


@pytest.mark.parametrize("text", ["", "twelve", "1.5", "9" * 30])
async def test_an_eligibility_request_id_that_is_no_integer_is_400(caller, text):
    answer = await caller.client.post(RESPONSES, params={"requestId": text})
    assert answer.status_code == 400
    assert list(answer.json()) == ["Message", "MessageDetail"]


async def test_an_unknown_request_and_another_sites_are_404_and_look_the_same(
    sandbox, vendor, caller
):
    theirs = (await caller.submit(one()))["RequestId"]
    beyond = 10**17
    async with Caller.of(sandbox, vendor.auth, "A-2") as other:
        answers = [
            await other.client.post(RESPONSES, params={"requestId": id})
            for id in (theirs, 12, -12, beyond)
        ]
    assert [answer.status_code for answer in answers] == [404] * 4
    assert all(list(answer.json()) == ["Message"] for answer in answers)
    assert len({answer.text.replace(str(theirs), "12") for answer in answers[:2]}) == 1


async def test_a_suspended_site_asks_nobody_and_still_reads(sandbox, vendor):
    async with Caller.of(sandbox, vendor.auth, "A-SUSPENDED") as caller:
        body = await caller.submit(one())
        await asyncio.to_thread(sandbox.command, "site", "suspend", "A-SUSPENDED", "--yes")
        answer = await caller.client.post(SUBMIT, json=one())
        assert (answer.status_code, answer.json()) == (
            400,
            {"Message": "The client account is suspended."},
        )
        assert await caller.responses(body["RequestId"]) == body
        await asyncio.to_thread(sandbox.command, "site", "activate", "A-SUSPENDED")


async def test_without_an_agreement_neither_call_answers(sandbox, vendor):
    async with Caller.of(sandbox, vendor.auth, "A-NO-BAA") as caller:
        for path in (SUBMIT, RESPONSES):
            answer = await caller.client.post(path, params={"requestId": 1}, json=one())
            assert (answer.status_code, answer.text[:4]) == (401, "201:")


async def test_1008_comes_after_the_call_and_is_kept(caller):
    waiting = await caller.begun(one("1008"))
    await caller.advance("30s")
    await asyncio.sleep(0.2)
    assert not waiting.done()
    await caller.advance("25s")
    body = await waiting
    assert (body["Status"], body["Responses"]) == (INCOMPLETE, [])
    assert await caller.responses(body["RequestId"]) == body
    await caller.advance("10s")
    late = await caller.responses(body["RequestId"])
    assert late["Status"] == COMPLETE
    assert traces(late) == ["visit 7"]
    assert subscriber_of(late["Responses"][0])["Benefits"]


async def test_1008_takes_its_time_for_each_patient_and_earlier_responses_stay(caller):
    request = one("1008", subscriber_Dependents=[MILO])
    waiting = await caller.begun(request)
    await caller.advance("60s")
    body = await waiting
    assert (body["Status"], body["Responses"]) == (INCOMPLETE, [])
    await caller.advance("5s")
    first = await caller.responses(body["RequestId"])
    assert (first["Status"], traces(first)) == (INCOMPLETE, ["visit 7"])
    await caller.advance("65s")
    both = await caller.responses(body["RequestId"])
    assert (both["Status"], traces(both)) == (COMPLETE, ["visit 7", "visit 8"])
    assert both["Responses"][0] == first["Responses"][0]


async def test_fast_patients_of_a_slow_request_are_reported_at_55_seconds(caller):
    waiting = await caller.begun(many(["1008", "2002"]))
    await caller.advance("55s")
    body = await waiting
    assert (body["Status"], traces(body)) == (INCOMPLETE, ["visit 2"])
    await caller.advance("10s")
    assert traces(await caller.responses(body["RequestId"])) == ["visit 1", "visit 2"]


async def test_a_payer_that_is_down_is_asked_again_while_the_call_waits(caller):
    await caller.mode("TST2E", "down")
    waiting = await caller.begun(one("2001", "TST2E"))
    await caller.mode("TST2E", "up")
    await caller.advance("3s")
    body = await waiting
    assert (body["Status"], traces(body)) == (COMPLETE, ["visit 7"])


async def test_a_payer_that_stays_down_is_asked_for_hours_and_then_given_up(caller):
    await caller.mode("TST3E", "down")
    waiting = await caller.begun(one("2001", "TST3E"))
    for _ in range(2):
        await caller.advance("30s")
    body = await waiting
    assert (body["Status"], body["ErrorResponses"]) == (INCOMPLETE, [])
    await caller.advance("30h")
    ended = await caller.responses(body["RequestId"])
    await caller.mode("TST3E", "up")
    assert ended["Status"] == COMPLETE
    [error] = ended["ErrorResponses"]
    assert (error["Type"], codes(error["Errors"])) == ("Connection", ["Unreachable"])
    assert error["PayeeTraceNumber"]["Number"] == "visit 7"


async def test_an_answer_that_is_no_x12_ends_the_inquiry(caller):
    await caller.mode("TST1E", "garbage")
    body = await caller.submit(one("2001", "TST1E"))
    await caller.mode("TST1E", "up")
    assert body["Status"] == COMPLETE
    [error] = body["ErrorResponses"]
    assert (error["Type"], codes(error["Errors"])) == ("Connection", ["Unreadable"])


async def test_a_large_document_goes_out_behind_front_desks_and_is_complete(caller):
    # More patients than a page of answers has.
    patients = limits.INQUIRY_PAGE_ROWS + 2
    large = caller.begin(many([f"3{at:03}" for at in range(patients)]))
    front = await asyncio.gather(*(caller.submit(one(f"4{at:03}")) for at in range(5)))
    body = await large
    assert all(each["Status"] == COMPLETE for each in front)
    assert body["Status"] == COMPLETE
    assert traces(body) == [f"visit {at}" for at in range(1, patients + 1)]
    answer = await caller.client.post(RESPONSES, params={"requestId": body["RequestId"]})
    assert answer.json() == body
    # A long answer is sent while it is made, a short one whole.
    assert "Content-Length" not in answer.headers
    answer = await caller.client.post(RESPONSES, params={"requestId": front[0]["RequestId"]})
    assert int(answer.headers["Content-Length"]) == len(answer.content)


async def test_a_call_whose_client_went_away_is_answered_for_get_responses(sandbox, caller):
    waiting = await caller.begun(one("1008"))
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await caller.advance("65s")
    listed = await asyncio.to_thread(sandbox.command, "audit", "export")
    rows = [json.loads(line) for line in listed.splitlines() if line.startswith("{")]
    newest = [row["detail"] for row in rows if row["action"] == "eligibility.submit"][-1]
    late = await caller.responses(newest.removeprefix("RequestId ").partition(";")[0])
    assert (late["Status"], traces(late)) == (COMPLETE, ["visit 7"])


def test_nothing_of_a_patient_is_left_in_the_clear(sandbox, vendor):
    with sandbox.client(vendor.auth, params={"vendorSiteId": "A-1"}) as client:
        request = one("MARKERMEMBER", subscriber_CommonName="Markername")
        trace = {"Number": "MARKERTRACE", "OriginatorID": "9FERNHILL1"}
        request["BenefitInquiries"][0]["Payers"][0]["Payees"][0]["Subscribers"][0]["PayeeTraceNumber"] = trace  # fmt: skip
        answer = client.post(SUBMIT, json=request)
        assert answer.status_code == 200
        assert "MARKERMEMBER" in answer.text
        bad = one("MARKERMEMBER", subscriber_Gender="MARKERGENDER", subscriber_BirthDate=None)
        assert "MARKER" in client.post(SUBMIT, json=bad).text
    for marker in ("MARKERMEMBER", "Markername", "MARKERNAME", "MARKERTRACE", "MARKERGENDER"):
        assert not places_with(sandbox, marker)
