"""Events and webhooks of `/clearlane/v1` over https on both databases, and that no vendor sees another's.

Also tests `api/v1/webhooks`.
"""

import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from standardwebhooks import Webhook

from clearlane.events.event import EVENT_NUMBER_MAX, format_event_id, parse_event_id
from tests.api.test_claims import a_document, post, results
from tests.api.test_v1_claims import advance
from tests.api.test_v1_frame import fields, problem
from tests.patience import wait_until

pytestmark = pytest.mark.one_database

EVENTS, HOOKS = "/clearlane/v1/events", "/clearlane/v1/webhook_endpoints"


@pytest.fixture(scope="module")
def vendor(server):
    """A vendor of this module alone."""
    account = server.add_vendor(f"EVENTS{random.getrandbits(32):X}")
    for name in ("1", "2"):
        server.add_site(account, f"{account.key}-{name}", "--baa-accepted")
    return account


@pytest.fixture(scope="module")
def client(server, vendor):
    with server.client(vendor.auth) as client:
        yield client


@pytest.fixture(scope="module")
def stranger(server):
    """A client of another vendor."""
    account = server.add_vendor(f"ODD{random.getrandbits(32):X}")
    server.add_site(account, f"{account.key}-1", "--baa-accepted")
    with server.client(account.auth) as client:
        yield client


def submit(client, vendor, site="1", count=1):
    site = f"{vendor.key}-{site}"
    answer = post(client, a_document(claims=count), params={"vendorSiteId": site})
    return [one["RequestId"] for one in results(answer)]


def get(client, **params):
    answer = client.get(EVENTS, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture
def now(client):
    """The cursor at the start of a test."""
    cursor = None
    while True:
        page = get(client, **({"after": cursor} if cursor else {}), limit=500)
        cursor = page["cursor"]
        if page["next"] is None:
            return cursor


class Receiver:
    """A server on this machine that collects webhooks."""

    def __init__(self):
        self.messages = []
        messages = self.messages

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                messages.append((dict(self.headers), body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()


@pytest.mark.both_databases
def test_pages_follow_each_other_and_an_event_id_is_a_cursor(client, vendor, now):
    numbers = submit(client, vendor, count=7)
    page = get(client, after=now, limit=500, types="claim.received")
    assert page["next"] is None
    assert [one["claim_number"] for one in page["data"]] == numbers
    seen, after = [], now
    while True:
        part = get(client, after=after, limit=3, types="claim.received")
        seen += part["data"]
        if part["next"] is None:
            break
        assert part["next"] == part["cursor"] == part["data"][-1]["id"]
        after = part["next"]
    assert seen == page["data"]
    assert get(client, after=seen[2]["id"], types="claim.*", limit=500)["data"][0] == seen[3]
    assert get(client, after=page["cursor"], types="claim.received")["data"] == []
    assert get(client, after="", limit=1) == get(client, after="0", limit=1) == get(client, limit=1)


def test_the_way_of_a_claim_and_its_site(client, vendor, now):
    [number] = submit(client, vendor, site="2")
    advance(client, vendor, "1d")

    def events():
        page = get(client, after=now, limit=500)["data"]
        return [one for one in page if one["claim_number"] == number]

    wait_until(lambda: len(events()) >= 2)
    found = events()
    types = [one["type"] for one in found]
    assert types[:2] == ["claim.received", "claim.sent"]
    assert found[0]["site"] == f"{vendor.key}-2"
    assert found[0]["mode"] == "sandbox"
    assert [one["data"]["sequence"] for one in found] == list(range(1, len(found) + 1))
    other = get(client, after=now, site=f"{vendor.key}-1", limit=500)["data"]
    assert number not in json.dumps(other)


@pytest.mark.both_databases
def test_long_poll_answers_as_soon_as_something_happens(client, server, vendor, now):
    with server.client(vendor.auth) as waiting:
        answer = {}

        def wait():
            answer.update(get(waiting, after=now, types="claim.received", wait=30))

        thread = threading.Thread(target=wait)
        thread.start()
        [number] = submit(client, vendor)
        thread.join(25)
        assert not thread.is_alive()
    assert [one["claim_number"] for one in answer["data"]] == [number]


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"after": "x"}, "after"), ({"after": "E1"}, "after"), ({"wait": "31"}, "wait"),
        ({"wait": "-1"}, "wait"), ({"types": "claims.*"}, "types"), ({"types": ""}, "types"),
        ({"limit": "0"}, "limit"), ({"since": "1"}, "since"),
    ],
)  # fmt: skip
def test_a_parameter_that_cannot_be_read_is_named(client, params, field):
    assert fields(client.get(EVENTS, params=params)) == {field}


def test_a_webhook_comes_signed_and_is_in_the_log(client, vendor, receiver):
    answer = client.post(HOOKS, json={"url": receiver.url, "types": ["claim.received"]})
    assert answer.status_code == 201, answer.text
    hook = answer.json()
    assert hook["secret"].startswith("whsec_")
    assert client.post(f"{HOOKS}/{hook['id']}/ping").status_code == 202
    wait_until(lambda: receiver.messages)
    headers, body = receiver.messages[0]
    assert Webhook(hook["secret"]).verify(body, headers)["type"] == "ping"
    [number] = submit(client, vendor)
    wait_until(lambda: len(receiver.messages) >= 2)
    headers, body = receiver.messages[1]
    event = Webhook(hook["secret"]).verify(body, headers)
    assert event["claim_number"] == number
    log = f"{HOOKS}/{hook['id']}/deliveries"
    rows = wait_until(
        lambda: [r for r in client.get(log).json()["data"] if r["state"] == "delivered"][1:] and client.get(log).json()["data"]
    )  # fmt: skip
    assert [(one["type"], one["status"]) for one in rows] == [
        ("claim.received", 204),
        ("ping", 204),
    ]
    assert rows[0]["event_id"] == event["id"]
    resent = client.post(f"{log}/{event['id']}/resend")
    assert resent.status_code == 202
    wait_until(lambda: len(receiver.messages) >= 3)
    assert client.post(f"{HOOKS}/{hook['id']}/replay", json={"after": now_before(event)}).status_code == 202  # fmt: skip
    wait_until(lambda: len(receiver.messages) >= 4)
    shown = client.get(f"{HOOKS}/{hook['id']}").json()
    assert "secret" not in shown
    assert (shown["state"], shown["types"], shown["sites"]) == ("active", ["claim.received"], [])
    rotated = client.post(f"{HOOKS}/{hook['id']}/rotate_secret").json()
    assert rotated["secret"] != hook["secret"]
    enabled = client.post(f"{HOOKS}/{hook['id']}/enable", json={"replay": False})
    assert enabled.json()["state"] == "active"
    changed = client.patch(f"{HOOKS}/{hook['id']}", json={"types": ["payment.*"], "sites": [f"{vendor.key}-1"]})  # fmt: skip
    assert (changed.json()["types"], changed.json()["sites"]) == (
        ["payment.*"],
        [f"{vendor.key}-1"],
    )
    assert [one["id"] for one in client.get(HOOKS).json()["data"]] == [hook["id"]]
    assert client.delete(f"{HOOKS}/{hook['id']}").status_code == 200
    assert client.get(HOOKS).json() == {"data": [], "next": None}


def test_a_cursor_ahead_of_the_feed_is_refused_and_a_ping_says_what_to_follow(client, receiver):
    ahead = format_event_id(EVENT_NUMBER_MAX)
    answer = client.get(EVENTS, params={"after": ahead})
    assert [one["field"] for one in problem(answer, 400)["errors"]] == ["after"]
    hook = client.post(HOOKS, json={"url": receiver.url, "types": ["claim.*"]}).json()
    pinged = client.post(f"{HOOKS}/{hook['id']}/ping").json()
    (event,) = client.get(pinged["events_url"]).json()["data"]
    assert (event["type"], event["data"]) == ("ping", {"endpoint_id": hook["id"]})

    def sent():
        """The pings that were sent: events of earlier claims of this vendor may go to the endpoint, too."""
        rows = client.get(pinged["deliveries_url"], params={"limit": 500}).json()["data"]
        return [one["event_id"] for one in rows if one["type"] == "ping"]

    assert wait_until(sent) == [event["id"]]
    replayed = client.post(f"{HOOKS}/{hook['id']}/replay", json={"after": pinged["after"]}).json()
    assert replayed["after"] == pinged["after"]
    refused = client.post(f"{HOOKS}/{hook['id']}/replay", json={"after": ahead})
    assert [one["field"] for one in problem(refused, 400)["errors"]] == ["after"]


def now_before(event):
    """An event id before this one."""
    return format_event_id(parse_event_id(event["id"]) - 1)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"url": "http://example.com/hook"}, {"url"}),
        ({"url": "hook", "types": ["claims.*"], "sites": ["A-1"]}, {"url", "types", "sites"}),
        ({"url": "https://example.com", "types": "claim.*"}, {"types"}),
        ({"types": ["claim.*"]}, {"url"}),
        (
            {"url": "https://example.com", "type": ["claim.*"], "site": []},
            {"type", "site", "types"},
        ),
    ],
)
def test_every_fault_of_an_endpoint_is_named_at_once(client, body, expected):
    answer = client.post(HOOKS, json=body)
    found = {one["field"] for one in problem(answer, 400)["errors"]}
    assert found == expected or all(word in answer.text for word in expected)


def test_no_vendor_sees_or_changes_what_is_anothers(client, stranger, vendor, receiver):
    """Byte for byte, another vendor's id answers as one that nobody has."""
    hook = client.post(HOOKS, json={"url": receiver.url, "types": ["claim.*"]}).json()
    numbers = submit(client, vendor, count=2)
    wait_until(lambda: len(receiver.messages) >= 2)
    event = json.loads(receiver.messages[0][1])["id"]
    unknown = "W" + "0" * 18
    calls = [
        ("GET", "{}", None), ("PATCH", "{}", {"types": ["*"]}), ("DELETE", "{}", None),
        ("POST", "{}/rotate_secret", None), ("POST", "{}/enable", {}), ("POST", "{}/ping", None),
        ("POST", "{}/replay", {"after": event}), ("GET", "{}/deliveries", None),
        ("POST", f"{{}}/deliveries/{event}/resend", None),
    ]  # fmt: skip
    for verb, path, body in calls:
        answers = [
            stranger.request(verb, f"{HOOKS}/{path.format(id)}", json=body)
            for id in (hook["id"], unknown)
        ]
        assert [answer.status_code for answer in answers] == [404, 404], path
        assert answers[0].content == answers[1].content
    seen = stranger.get(HOOKS).text + stranger.get(EVENTS, params={"limit": 500}).text
    for word in (*numbers, hook["id"], vendor.key, hook["url"]):
        assert word not in seen
    # A cursor of another vendor's event is a place in time and shows nothing.
    assert numbers[0] not in stranger.get(EVENTS, params={"after": event}).text
    assert client.get(f"{HOOKS}/{hook['id']}").status_code == 200
    client.delete(f"{HOOKS}/{hook['id']}")
