"""`clearlane webhook`, `events follow` and `listen --forward` against the scripted service.

Also tests `cli/events/webhook`, `cli/events/events`, `cli/events/events_client` and `cli/events/forward`.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from standardwebhooks import Webhook

from clearlane.cli.events import forward
from clearlane.client.events import read_event
from tests.client.scripted_service import Reply
from tests.client.test_client_commands import run  # noqa: F401  (a fixture)
from tests.client.test_webhooks import DELIVERY, ENDPOINT, EVENT, SECRET

PAGE = {"data": [EVENT], "next": None, "cursor": EVENT["id"]}
EMPTY = {"data": [], "next": None, "cursor": EVENT["id"]}
DONE = Reply(202, {"id": "W1"})
NO_SUCH = Reply(404, {"detail": "The vendor has no webhook endpoint of this id.", "errors": []})
REFUSED = Reply(400, {"detail": "url: It must begin with https://.", "errors": [{"field": "url", "message": "It must begin with https://."}]})  # fmt: skip

# Command, the service's answer, exit status, and words that must be shown.
ENDS = [
    (["webhook", "add", "https://example.com/hook"], Reply(201, ENDPOINT | {"secret": SECRET}), 0, [SECRET, "W1", "claim.*"]),
    (["webhook", "add", "http://example.com", "--json"], REFUSED, 2, ["InvalidRequest", "https://"]),
    (["webhook", "list"], Reply(200, {"data": [ENDPOINT], "next": None}), 0, ["W1", "active"]),
    (["webhook", "list", "--json"], Reply(200, {"data": [ENDPOINT], "next": None}), 0, ['"id": "W1"']),
    (["webhook", "test", "W1"], DONE, 0, ["ping"]),
    (["webhook", "test", "W2"], NO_SUCH, 1, ["no webhook endpoint"]),
    (["webhook", "log", "W1"], Reply(200, {"data": [DELIVERY], "next": None}), 0, ["E1", "delivered", "200"]),
    (["webhook", "resend", "W1", "E1"], DONE, 0, ["sent again"]),
    (["webhook", "replay", "W1", "2026-01-31T08:30:00Z"], DONE, 0, ["sent again"]),
    (["webhook", "enable", "W1", "--no-replay"], Reply(200, ENDPOINT), 0, ["active"]),
    (["webhook", "rotate-secret", "W1"], Reply(200, ENDPOINT | {"secret": SECRET}), 0, [SECRET]),
    (["webhook", "remove", "W1"], None, 2, ["its secret and its log are deleted", "--yes"]),
    (["webhook", "remove", "W1", "--yes", "--json"], Reply(200, {"id": "W1"}), 0, ['"W1"']),
    (["events", "follow", "--count", "1"], Reply(200, PAGE), 0, ["claim.paid", "A-17", "complete"]),
    (["events", "follow", "--count", "1", "--json"], Reply(200, PAGE), 0, ['"type":"claim.paid"']),
    (["listen", "--forward", "http://example.com/hook"], None, 2, ["http://127.0.0.1:3000/hook"]),
]  # fmt: skip


@pytest.mark.parametrize(("command", "reply", "code", "words"), ENDS)
def test_commands(run, command, reply, code, words):  # noqa: F811
    done = run(*command, reply=reply)
    assert done.exit_code == code, done.output
    assert all(word in done.output for word in words), done.output


def test_the_place_is_kept_in_a_file(run, service, tmp_path):  # noqa: F811
    file = tmp_path / "cursor"
    replies = [Reply(200, EMPTY), Reply(200, PAGE | {"data": [EVENT, EVENT]})]
    run("events", "follow", "--new", "--cursor-file", str(file), "--count", "2", reply=replies)
    assert file.read_text() == EVENT["id"]
    assert service.received[-1].query["after"] == EVENT["id"]


class Program(ThreadingHTTPServer):
    """A developer's program: it is there, and answers 500, once it listens."""

    def __init__(self):
        self.received = received = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.append((dict(self.headers), body))
                self.send_response(500)
                self.end_headers()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self.server_bind()
        self.url = f"http://127.0.0.1:{self.server_port}/hook"

    def begin(self):
        self.server_activate()
        threading.Thread(target=self.serve_forever, daemon=True).start()


def test_events_are_forwarded_signed(run):  # noqa: F811
    with Program() as program:
        program.begin()
        replies = [Reply(200, EMPTY), Reply(200, PAGE), Reply(401, "0: no")]
        done = run(
            "listen", "--forward", program.url, reply=replies, CLEARLANE_WEBHOOK_SECRET=SECRET
        )
        program.shutdown()
    [(headers, body)] = program.received
    assert Webhook(SECRET).verify(body, headers) == json.loads(json.dumps(EVENT))
    assert "claim.paid" in done.output
    assert "500" in done.output


@pytest.mark.server
def test_an_event_waits_for_a_program_that_is_not_running_yet(capsys):
    """It is refused a connection twice; then it listens."""
    pauses = []
    with Program() as program:

        def pause(seconds):
            pauses.append(seconds)
            if len(pauses) == 2:
                program.begin()

        answer = forward.post_when_reached(program.url, SECRET, read_event(EVENT), pause=pause)
        program.shutdown()
    assert (answer, len(pauses), len(program.received)) == ("500", 2, 1)
    assert capsys.readouterr().err.count("claim.paid waits: nothing answers at") == 1
