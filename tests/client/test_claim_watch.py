"""Waiting for the last word about a claim."""

import pytest

from clearlane import client as library
from clearlane.client import Client, Retry
from tests.client.scripted_service import KEY, PASSWORD, SITE, Reply

NOW = {"X-Service-Time": "2026-03-15T10:00:00+00:00"}


def listed(*states: str) -> Reply:
    rows = [
        {"VendorClaimId": "A-1", "ClaimNumber": f"C{at}", "CurrentState": state}
        for at, state in enumerate(states)
    ]
    return Reply(body=[{"VendorClaimId": "OTHER", "CurrentState": "Complete"}, *rows], headers=NOW)


def test_a_claim_is_followed_to_its_decision(service, client, pauses):
    service.answer(listed(), listed("Sent"), listed("Acknowledged"), listed("Complete"))
    found = client.wait_for("A-1")
    assert (found.CurrentState, found.ClaimNumber) == ("Complete", "C0")
    assert pauses == [2, 4]
    asked = {(c.query["startDate"], c.query["endDate"]) for c in service.received[1:]}
    assert asked == {("2026-03-14", "2026-03-15")}  # the service's days, not this machine's


def test_a_claim_of_an_earlier_day_is_found_by_its_number(service, client):
    service.answer(listed("Rejected", "Complete"))
    assert client.wait_for("C0", created="2026-02-01").CurrentState == "Rejected"
    assert client.wait_for("A-1", created="2026-02-01").ClaimNumber == "C1"
    assert {c.query["startDate"] for c in service.received} == {"2026-02-01"}


@pytest.mark.parametrize(
    ("states", "fault", "after"),
    [(("Sent",), library.StillWaiting, 100), ((), library.NotFound, 30)],
)
def test_the_wait_ends(service, states, fault, after):
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds

    service.answer(listed(*states))
    with Client(
        service.base_url, KEY, PASSWORD, SITE, ca_file=service.ca_file,
        retry=Retry(clock=lambda: now[0]), sleep=sleep,
    ) as client, pytest.raises(fault) as reported:  # fmt: skip
        client.wait_for("A-1", seconds=100)
    assert now[0] >= after
    if states:
        assert reported.value.answer.CurrentState == "Sent"


async def test_the_async_client_waits_too(service, async_client):
    service.answer(listed("Sent"), listed("Complete"))
    assert (await async_client.wait_for("A-1", created="2026-03-15")).CurrentState == "Complete"
