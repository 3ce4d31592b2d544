"""A vendor's program verifies webhooks and follows events through outages and restarts.

Also tests `client/events` and `client/webhook_endpoints`.
"""

import itertools
import json
import time
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from standardwebhooks import Webhook

from clearlane.client import (
    Account,
    AsyncClient,
    Client,
    CursorFile,
    InvalidRequest,
    NotFound,
    Response,
    SignatureRefused,
    webhooks,
)

SECRET = "whsec_" + "QUJD" * 8
OTHER = "whsec_" + "WFla" * 8
EVENT = {
    "id": "E13LQTH9RNTH", "type": "claim.paid", "created": "2026-11-14T22:13:20.123Z", "mode": "sandbox",
    "site": "S1", "actor": "payer", "claim_number": "C1", "vendor_claim_id": "A-17",
    "data": {"sequence": 4, "state": "complete"}, "added_later": 1,
}  # fmt: skip
BODY = json.dumps(EVENT).encode()
ACCOUNT = Account(base_url="https://localhost:8443", key="FERNHILL", password="x", site="S1")


def signed(body=BODY, secret=SECRET, at=None):
    """Headers as the independent library makes them."""
    moment = datetime.fromtimestamp(at or time.time(), UTC)
    return {
        "Webhook-Id": "E13LQTH9RNTH",
        "Webhook-Timestamp": str(int(moment.timestamp())),
        "Webhook-Signature": Webhook(secret).sign("E13LQTH9RNTH", moment, body.decode()),
    }


@pytest.mark.parametrize("secret", [SECRET, [OTHER, SECRET]])
def test_a_signed_webhook_is_an_event(secret):
    event = webhooks.verify(BODY, signed(), secret)
    assert (event.type, event.claim_number, event.sequence) == ("claim.paid", "C1", 4)
    assert webhooks.verify(BODY.decode(), signed(), secret).raw == EVENT


@pytest.mark.parametrize(
    ("body", "headers", "sentence"),
    [
        (BODY + b" ", signed, "No signature"),
        (BODY, lambda: signed(secret=OTHER), "No signature"),
        (BODY, lambda: signed(at=time.time() - 3_600), "too old"),
        (BODY, lambda: signed(at=time.time() + 3_600), "too old"),
        (BODY, lambda: signed() | {"Webhook-Timestamp": "now"}, "not a number"),
        (BODY, dict, "webhook-id"),
        (b"[]", lambda: signed(b"[]"), "no event"),
        (b"x", lambda: signed(b"x"), "no event"),
    ],
)
def test_anything_else_is_refused(body, headers, sentence):
    with pytest.raises(SignatureRefused, match=sentence):
        webhooks.verify(body, headers(), SECRET)


def test_a_secret_that_is_none_is_named():
    with pytest.raises(ValueError, match="whsec_"):
        webhooks.verify(BODY, signed(), "secret!")


class FeedService:
    """A service with some events, which fails as often as a test says."""

    def __init__(self, count, failures=0):
        self.events = [EVENT | {"id": f"E{at:011}"} for at in range(1, count + 1)]
        self.failures = failures
        self.queries = []

    def send(self, request):
        assert request.verb == "GET"
        assert urlsplit(request.url).path == "/clearlane/v1/events"
        query = {name: value[0] for name, value in parse_qs(urlsplit(request.url).query).items()}
        self.queries.append(query)
        if self.failures:
            self.failures -= 1
            return Response(503, {"retry-after": "1"}, b'{"detail": "A pause."}')
        after, limit = query.get("after", ""), 2
        page = [one for one in self.events if one["id"] > after][:limit]
        more = bool(page) and page[-1] is not self.events[-1]
        cursor = page[-1]["id"] if page else after
        body = {"data": page, "next": cursor if more else None, "cursor": cursor}
        return Response(200, {}, json.dumps(body).encode())

    def close(self):
        pass


def test_events_are_followed_through_an_outage():
    service, pauses = FeedService(5, failures=7), []
    client = Client(ACCOUNT, transport=service, sleep=pauses.append)
    found = list(itertools.islice(client.events.follow(types=["claim.*"], site="S2"), 5))
    assert [event.id for event in found] == [one["id"] for one in service.events]
    assert pauses
    assert {query["types"] for query in service.queries} == {"claim.*"}
    assert {query["site"] for query in service.queries} == {"S2"}


def test_a_follower_goes_on_where_it_was_after_a_restart(tmp_path):
    service, file = FeedService(5), CursorFile(tmp_path / "cursor")
    client = Client(ACCOUNT, transport=service)
    handled = []
    for event in client.events.follow(file):
        if len(handled) == 3:
            break  # the program dies while it handles the fourth
        handled.append(event.id)
    assert file.load() == handled[-1]
    again = list(itertools.islice(client.events.follow(CursorFile(file.file)), 2))
    assert handled + [event.id for event in again] == [one["id"] for one in service.events]
    assert "site" not in service.queries[0]


async def test_the_async_client_follows_as_well(tmp_path):
    service = FeedService(3)

    class Transport:
        async def send(self, request):
            return service.send(request)

        async def close(self):
            pass

    found = []
    async for event in AsyncClient(ACCOUNT, transport=Transport()).events.follow("E00000000001"):
        found.append(event.id)
        if len(found) == 2:
            break
    assert found == ["E00000000002", "E00000000003"]


ENDPOINT = {
    "id": "W1", "url": "https://example.com/hook", "types": ["claim.*"], "sites": [], "state": "active",
    "created_at": "x", "failing_since": None, "disabled_at": None, "failed_event": None, "fault": None,
}  # fmt: skip
DELIVERY = {
    "event_id": "E1", "type": "ping", "state": "delivered", "attempts": 1, "next_attempt_at": None,
    "attempted_at": "x", "status": 200, "fault": None, "answer": "ok",
}  # fmt: skip
CALLS = [
    (lambda w: w.add("https://example.com/hook", ["claim.*"]).secret, "POST", "", ENDPOINT | {"secret": SECRET}, SECRET),
    (lambda w: [one.id for one in w.list()], "GET", "", {"data": [ENDPOINT], "next": None}, ["W1"]),
    (lambda w: w.get("W1").id, "GET", "/W1", ENDPOINT, "W1"),
    (lambda w: w.change("W1", types=["payment.*"]).id, "PATCH", "/W1", ENDPOINT, "W1"),
    (lambda w: w.remove("W1"), "DELETE", "/W1", {"id": "W1"}, None),
    (lambda w: w.rotate_secret("W1").secret, "POST", "/W1/rotate_secret", ENDPOINT | {"secret": SECRET}, SECRET),
    (lambda w: w.enable("W1", replay=False).state, "POST", "/W1/enable", ENDPOINT, "active"),
    (lambda w: w.ping("W1"), "POST", "/W1/ping", {"id": "W1"}, None),
    (lambda w: w.replay("W1", since_at="2026-11-14"), "POST", "/W1/replay", {"id": "W1"}, None),
    (lambda w: [one.status for one in w.deliveries("W1")], "GET", "/W1/deliveries", {"data": [DELIVERY], "next": None}, [200]),
    (lambda w: w.resend("W1", "E1"), "POST", "/W1/deliveries/E1/resend", {"id": "W1"}, None),
]  # fmt: skip


class OneAnswer:
    """A service with one answer."""

    def __init__(self, status, body):
        self.status, self.body, self.request = status, body, None

    def send(self, request):
        self.request = request
        return Response(self.status, {}, json.dumps(self.body).encode())

    def close(self):
        pass


@pytest.mark.parametrize(("call", "verb", "path", "answer", "expected"), CALLS)
async def test_calls_of_webhook_endpoints(call, verb, path, answer, expected):
    service = OneAnswer(200, answer)
    assert call(Client(ACCOUNT, transport=service).webhook_endpoints) == expected
    assert service.request.verb == verb
    assert f"/clearlane/v1/webhook_endpoints{path}?" in service.request.url


def test_a_problem_is_an_exception_with_its_fields():
    problem = {"detail": "url: It must begin with https://.", "errors": [{"field": "url", "message": "x"}]}  # fmt: skip
    client = Client(ACCOUNT, transport=OneAnswer(404, {"detail": "There is none."}))
    with pytest.raises(NotFound, match="There is none"):
        client.webhook_endpoints.ping("W1")
    for status in (400, 409, 422):
        client = Client(ACCOUNT, transport=OneAnswer(status, problem))
        with pytest.raises(InvalidRequest) as fault:
            client.webhook_endpoints.add("http://example.com")
        assert fault.value.faults == {"url": ["x"]}
