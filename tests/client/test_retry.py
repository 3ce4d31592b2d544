"""A call is retried only where that is safe, with growing pauses, within limits."""

from email.utils import formatdate

import pytest

from clearlane import client as library
from clearlane.client import Client, Retry
from clearlane.client.calls import RetryRule
from tests.client.scripted_service import DROPPED, KEY, PASSWORD, SITE, Reply

LATER = Reply(503, {"Message": "Later."}, {"Retry-After": "3"})
BUSY, BROKEN = Reply(503, {"Message": "Busy."}), Reply(500, {"Message": "An error."})
LIMITED = Reply(429, {"Message": "Slow."}, {"Retry-After": "2"})
LOST_CLAIMS = Reply(204, headers={"X-Message": "Not imported."})
FINE = Reply(body={"ClaimResults": [], "EnrollmentResults": [], "Status": "ResultsComplete"})

SAFE = {
    "claims": lambda c: c.submit_medical_claims([]),
    "documents": lambda c: c.payer_documents(["D"]),
    "responses": lambda c: c.eligibility_responses(1),
    "enrollment": lambda c: c.submit_enrollments([]),
    "url": lambda c: c.login_url("i", "t"),
}


@pytest.mark.parametrize("reply", [LATER, BUSY, BROKEN, LIMITED, DROPPED, LOST_CLAIMS])
@pytest.mark.parametrize("call", SAFE.values(), ids=SAFE)
def test_a_call_that_changes_nothing_twice_is_repeated(service, client, pauses, call, reply):
    service.answer(reply, FINE)
    call(client)
    assert len(service.received) == 2
    assert service.received[0].body == service.received[1].body
    assert len(pauses) == 1


@pytest.mark.parametrize(
    ("reply", "times"), [(LATER, 2), (LIMITED, 2), (BUSY, 1), (BROKEN, 1), (DROPPED, 1)]
)
def test_an_inquiry_is_repeated_only_where_it_was_surely_not_taken(service, client, reply, times):
    service.answer(reply, FINE)
    if times == 1:
        with pytest.raises(library.Unavailable) as reported:
            client.submit_eligibility({})
        assert not reported.value.not_processed
    else:
        client.submit_eligibility({})
    assert len(service.received) == times


@pytest.mark.parametrize("status", [400, 401, 404, 413])
def test_a_refusal_is_not_repeated(service, client, pauses, status):
    service.answer(Reply(status, {"Message": "No."}), FINE)
    with pytest.raises(library.ClearlaneError):
        client.submit_medical_claims([])
    assert not pauses


def test_pauses_grow_and_end(service, client, pauses):
    service.answer(BROKEN)
    with pytest.raises(library.Unavailable):
        client.payers()
    assert pauses == [0.5, 1, 2, 4]
    assert len(service.received) == 5


@pytest.mark.parametrize(("chance", "expected"), [(0.0, 0.25), (0.5, 0.375), (1.0, 0.5)])
def test_half_of_a_pause_is_by_chance(chance, expected):
    retry = Retry(random=lambda: chance)
    fault = library.Unavailable("Later.")
    assert retry.pause_before_retry(fault, RetryRule.ALWAYS, attempt=1, elapsed=0) == expected


def test_retry_after_of_the_service_is_the_minimum_pause(service, client, pauses):
    service.answer(LATER, LIMITED, FINE)
    client.submit_medical_claims([])
    assert pauses == [3, 2]


def test_a_moment_to_come_back_is_read_against_the_services_own_clock(service, client, pauses):
    headers = {
        "Retry-After": formatdate(1_000_007, usegmt=True),
        "Date": formatdate(1_000_000, usegmt=True),
    }
    fault = library.errors.error_from_response(
        "x", library.Response(503, {k.lower(): v for k, v in headers.items()}, b"")
    )
    assert fault.retry_after == 7
    for nonsense in ("soon", "-1", ""):
        fault = library.errors.error_from_response(
            "x", library.Response(503, {"retry-after": nonsense}, b"")
        )
        assert fault.retry_after is None


def test_nobody_waits_longer_than_the_limit(service, client, pauses):
    service.answer(Reply(503, headers={"Retry-After": "3600"}), FINE)
    with pytest.raises(library.Unavailable) as reported:
        client.payers()
    assert reported.value.retry_after == 3600
    assert not pauses


class Broken:
    """A transport over which nothing works."""

    def __init__(self):
        self.sent = 0

    def send(self, request):
        self.sent += 1
        return library.Response(500, {}, b"")

    def close(self):
        """Nothing is open."""


def test_the_limit_counts_the_time_that_calls_took():
    # Read at the beginning and after each call: the third would come back after 90 seconds.
    now = iter([0.0, 50.0, 89.0, 89.9]).__next__
    line, account = (
        Broken(),
        library.Account(base_url="https://x", key=KEY, password="p", site=SITE),
    )
    retry = Retry(clock=now, random=lambda: 1.0)
    with pytest.raises(library.Unavailable):
        Client(account, transport=line, retry=retry, sleep=lambda _: None).payers()
    assert line.sent == 3


def test_a_client_may_be_configured_never_to_retry(service):
    service.answer(BROKEN)
    with Client(
        service.base_url, key=KEY, password=PASSWORD, site=SITE, ca_file=service.ca_file,
        retry=Retry(attempts_max=1),
    ) as once, pytest.raises(library.Unavailable):  # fmt: skip
        once.payers()
    assert len(service.received) == 1


async def test_the_async_client_repeats_the_same(service, async_client, pauses):
    service.answer(LATER, BROKEN, FINE)
    await async_client.submit_medical_claims([])
    assert pauses == [3, 1]
