"""Errors are distinguished, as data, and without secrets or values.

Also tests `client/limits`.
"""

import socket

import pytest

from clearlane import client as library
from clearlane.client import Client, Retry, limits
from tests.client.scripted_service import DROPPED, KEY, PASSWORD, SITE, Reply

BAA = "201: The client has not accepted the Business Associate Agreement."
UNKNOWN = "101: Invalid or unknown vendor credentials or vendor not authorized."
MODEL = {
    "Message": "The request is invalid.",
    "ModelState": {"Claims[0].F03_PatientDob": ["The value '1/2/03' is not a valid date."]},
}
ENROLLMENT = {"Message": "Invalid.", "Errors": [{"Key": "Enrollments[0].Npi", "Value": ["Ten."]}]}
NO_ACTION = {"Message": "No HTTP resource was found.", "MessageDetail": "No action."}
NO_SCOPE = {
    "type": "urn:clearlane:problem:scope_missing",
    "detail": "The API key lacks the scope read.",
}

# Reply, exception, and what must be true of it.
REFUSALS = [
    (Reply(401, UNKNOWN), library.BadCredentials, lambda e: "101" in e.message),
    (Reply(401, BAA), library.BaaMissing, lambda e: e.status == 401),
    (Reply(401, " 201 : spaced"), library.BaaMissing, lambda e: True),
    (Reply(401, '"201: as JSON text"'), library.BaaMissing, lambda e: True),
    (Reply(403, NO_SCOPE), library.NotAllowed, lambda e: e.message == NO_SCOPE["detail"]),
    (Reply(403, {"Message": "HTTPS is required."}), library.UnexpectedAnswer, lambda e: True),
    (Reply(401, "201"), library.BadCredentials, lambda e: True),
    (Reply(401, "two: 201: x"), library.BadCredentials, lambda e: True),
    (Reply(401, "2010: x"), library.BadCredentials, lambda e: True),
    (Reply(401), library.BadCredentials, lambda e: e.message),
    (Reply(404, UNKNOWN), library.BadCredentials, lambda e: e.status == 404),
    (Reply(404, NO_ACTION), library.NotFound, lambda e: e.message == NO_ACTION["Message"]),
    (Reply(400, MODEL), library.InvalidRequest, lambda e: e.model_state == MODEL["ModelState"]
     and e.faults == e.model_state and e.errors == []),
    (Reply(400, ENROLLMENT), library.InvalidRequest,
     lambda e: e.errors == [("Enrollments[0].Npi", ["Ten."])] == list(e.faults.items())),
    (Reply(400, {"Message": "Bad", "MessageDetail": "Null entry."}), library.InvalidRequest,
     lambda e: e.detail == "Null entry." and e.faults == {}),
    (Reply(400, "no json"), library.InvalidRequest, lambda e: e.message == "no json"),
    (Reply(409, {"detail": "A batch has it."}), library.Conflict, lambda e: e.message == "A batch has it."),
    (Reply(413, {"Message": "Too many."}), library.TooLarge, lambda e: e.message == "Too many."),
    (Reply(415, {"Message": "Not JSON."}), library.InvalidRequest, lambda e: e.status == 415),
    (Reply(429, headers={"Retry-After": "1000"}), library.RateLimited,
     lambda e: e.retry_after == 1000),
    (Reply(204, headers={"X-Message": "Not imported."}), library.NotImported,
     lambda e: e.message == "Not imported."),
    (Reply(503, {"Message": "Later."}), library.Unavailable, lambda e: e.message == "Later."),
    (Reply(500), library.Unavailable, lambda e: e.status == 500),
    (Reply(302, headers={"Location": "https://elsewhere.example"}), library.UnexpectedAnswer,
     lambda e: e.status == 302),
    (Reply(405, {"Message": "GET"}), library.UnexpectedAnswer, lambda e: e.status == 405),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "kind", "true"), REFUSALS)
def test_each_refusal_is_an_exception_of_its_own(service, client, reply, kind, true):
    headers = {"X-Request-Id": "req-1", **reply.headers}
    service.answer(Reply(reply.status, reply.body, headers))
    with pytest.raises(kind) as reported:
        client.submit_medical_claims([])
    assert type(reported.value) is kind
    assert true(reported.value)
    assert (reported.value.call, reported.value.request_id) == ("SubmitClaims", "req-1")
    assert isinstance(reported.value, library.ClearlaneError)


def test_the_text_of_an_exception_names_fields_and_no_values(service, client):
    service.answer(Reply(400, MODEL))
    with pytest.raises(library.InvalidRequest) as reported:
        client.submit_medical_claims([])
    assert "Claims[0].F03_PatientDob" in str(reported.value)
    assert "1/2/03" not in str(reported.value) + repr(reported.value)


def test_many_fields_are_counted():
    fault = library.InvalidRequest("Bad.", model_state={f"F{i}": ["x"] for i in range(20)})
    assert str(fault).endswith("and 12 more.")


def test_no_secret_prints(service, client):
    service.answer(Reply(body={"token": "tok-en", "url": "https://x/once", "resultCode": 0}))
    token, url = client.create_instance_token("i", "n"), client.login_url("i", "tok-en")
    shown = repr(
        [client, client.account, token, url, library.Request("n", "u?token=tok-en", {}, b"", 1)]
    )
    assert not any(secret in shown for secret in (PASSWORD, "tok-en", "once"))
    assert KEY in shown


@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
def test_no_secret_is_logged(service, client, caplog, level):
    service.answer(Reply(body={"url": "https://x/once"}))
    with caplog.at_level(level):
        client.login_url("i", "tok-en-secret")
    assert "tok-en-secret" not in caplog.text
    assert PASSWORD not in caplog.text


def test_a_service_nobody_trusts_gets_no_call(service, pauses):
    service.answer(Reply(body=[]))
    with Client(
        service.base_url, key=KEY, password=PASSWORD, site=SITE, sleep=pauses.append
    ) as stranger, pytest.raises(library.CertificateRefused, match="ca_file"):  # fmt: skip
        stranger.payers()
    assert not service.received
    assert not pauses


def test_a_service_that_is_not_there_cannot_be_reached(service, pauses):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"https://127.0.0.1:{unused.getsockname()[1]}"
        with Client(
            url, key=KEY, password=PASSWORD, site=SITE, sleep=pauses.append,
            retry=Retry(attempts_max=3),
        ) as away, pytest.raises(library.NotReached) as reported:  # fmt: skip
            away.submit_eligibility({})
    assert len(pauses) == 2
    assert reported.value.not_processed
    assert PASSWORD not in str(reported.value)


@pytest.mark.parametrize(
    ("limit", "kind"),
    [("ANSWER_BYTES_MAX", library.UnexpectedAnswer), ("BODY_SECONDS_MAX", library.AnswerLost)],
)
async def test_an_answer_without_end_is_not_waited_for(
    service, client, async_client, monkeypatch, limit, kind
):
    monkeypatch.setattr(limits, limit, 0)
    service.answer(Reply(body=[{"Name": "Meadow Mutual"}]))
    with pytest.raises(kind):
        client.submit_eligibility({})
    with pytest.raises(kind):
        await async_client.submit_eligibility({})


async def test_the_async_client_raises_the_same_errors(service, async_client):
    for reply, kind in ((Reply(401, BAA), library.BaaMissing), (DROPPED, library.AnswerLost)):
        service.answer(reply)
        with pytest.raises(kind):
            await async_client.submit_eligibility({})


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "http://127.0.0.1"},
        {"base_url": "https://me:you@127.0.0.1"},
        {"base_url": "https://127.0.0.1?x=1"},
        {"base_url": "127.0.0.1"},
        {"key": "a:b"},
        {"password": ""},
        {"site": ""},
    ],
)
def test_an_account_that_cannot_work_is_refused_at_once(change):
    facts = {"base_url": "https://127.0.0.1", "key": KEY, "password": PASSWORD, "site": SITE}
    library.Account(**facts)
    with pytest.raises(ValueError) as reported:
        library.Account(**{**facts, **change})
    assert PASSWORD not in str(reported.value)
