"""The checks that all endpoints share, on endpoints without a domain: BAA, suspension, families, faults.

Also tests `api/frame/endpoint` and `api/frame/error_shape`.
"""

import json
import os

import pytest

from clearlane.api.frame.endpoint import ApiLimits
from tests.api.local_server import PASSWORD, start_local_server
from tests.api.raw_connection import RawConnection, basic, request
from tests.api.sample_endpoints import GOOD, MARKER
from tests.prepared_process import PreparedProcess

BAA = "201: The client has not accepted the Business Associate Agreement."
BAD_CREDENTIALS = "101: Invalid or unknown vendor credentials or vendor not authorized."


@pytest.fixture(scope="module")
def local_server(tmp_path_factory):
    local_server = start_local_server(
        tmp_path_factory.mktemp("local_server"),
        endpoints=GOOD,
        limits=ApiLimits(body_bytes_max=1_000),
    )
    yield local_server
    local_server.stop()


@pytest.fixture
def ask(local_server):
    with local_server.client() as client:

        def ask(name, site="ACME-1", query="", **options):
            return client.post(f"/api/v3/test/{name}?vendorSiteId={site}&{query}", **options)

        yield ask


def test_a_handler_is_handed_who_calls_and_for_whom(ask):
    answer = ask("phi", headers={"X-Request-Id": "mine"})
    assert answer.json() == {
        "vendor": "ACME",
        "site": "ACME-1",
        "parameters": {},
        "request_id": "mine",
        "actor": ["vendor", "ACME", "mine"],
    }


def test_a_call_with_phi_needs_the_agreement(ask):
    answer = ask("phi", site="ACME-2")
    assert (answer.status_code, answer.text) == (401, BAA)
    assert answer.headers["content-type"] == "text/plain"
    assert int(answer.text.partition(":")[0]) == 201
    assert ask("open", site="ACME-2").status_code == 200


def test_the_agreement_comes_before_parameters_and_body(ask):
    answer = ask("document", site="ACME-2", content=b"{", headers={"Content-Type": "text/xml"})
    assert (answer.status_code, answer.text) == (401, BAA)


def test_a_foreign_site_is_invalid_before_any_agreement(ask):
    assert ask("phi", site="OTHER-1").json() == {"Message": "Invalid VendorSiteId"}


@pytest.mark.parametrize(
    ("name", "status", "field"),
    [
        ("phi", 200, "vendor"),
        ("careless", 200, "vendor"),
        ("document", 200, "DocumentLevelErrors"),
        ("refusing", 400, "Message"),
    ],
)
def test_a_suspended_site_is_answered_by_the_suspended_handler(ask, name, status, field):
    answer = ask(name, site="ACME-3")
    assert answer.status_code == status
    assert field in answer.json()


def test_a_suspended_account_is_refused_with_the_reason(ask):
    assert ask("refusing", site="ACME-3").json() == {"Message": "The client account is suspended."}


def test_bad_credentials_on_proxy_login_are_a_404_with_the_same_text(ask):
    answer = ask("numbered", auth=("ACME", "wrong"))
    assert (answer.status_code, answer.text) == (404, BAD_CREDENTIALS)
    assert answer.headers["content-type"] == "text/plain"


@pytest.mark.parametrize(
    ("query", "status"), [("number=7", 200), ("NUMBER=7", 200), ("", 404), ("number=x", 400)]
)
def test_parameters_are_read_by_their_row(ask, query, status):
    answer = ask("numbered", query=query)
    assert answer.status_code == status
    if status == 200:
        assert answer.json()["parameters"] == {"number": 7}
    else:
        assert answer.json().keys() == {"Message", "MessageDetail"}


def test_a_document_is_read_and_its_unknown_fields_are_named(ask):
    answer = ask("document", json={"Known": 1, "Unknwon": 2})
    assert answer.json() == {"Known": 1, "Unknwon": 2}
    assert answer.headers["x-ignored-fields"] == "Unknwon"


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"Known": NaN}'])
def test_a_document_that_cannot_be_read_is_a_400(ask, content):
    answer = ask("document", content=content)
    assert (answer.status_code, list(answer.json()["ModelState"])) == (400, ["Document"])


def test_a_wrong_type_in_a_document_is_a_400(ask):
    answer = ask("document", json={"Known": "x"})
    reported = {"Document": ["A whole number is expected, not a string."]}
    assert (answer.status_code, answer.json()["ModelState"]) == (400, reported)


def test_a_body_beyond_the_limit_is_a_413(ask):
    answer = ask("document", json={"Known": "x" * 2_000})
    assert (answer.status_code, list(answer.json())) == (413, ["Message"])


def test_a_call_that_ignores_its_body_does_not_look_at_it(ask):
    answer = ask("careless", content=b"\xff{", headers={"Content-Type": "text/xml"})
    assert answer.status_code == 200


def test_no_result_is_a_204_with_its_message_in_a_header(ask):
    answer = ask("nothing")
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["x-message"] == "The claims could not be imported."
    assert answer.headers["x-request-id"]
    assert "content-length" not in answer.headers


def test_faults_are_answered_and_logged_without_their_texts():
    process = PreparedProcess("tests.api.sample_endpoints", env=os.environ, text=True)
    said, logged = process.communicate()
    assert process.returncode == 0
    answers = [line.split(" ", 3) for line in said.splitlines()]
    statuses = {words[0]: words[1] for words in answers}
    assert statuses == {
        "unavailable": "503", "unknown": "503", "late": "503", "cut": "503",
        "wrong": "500", "chained": "500", "stream": "200", "metrics": "False",
    }  # fmt: skip
    for name, status, *rest in answers:
        if status == "503":
            assert (int(rest[0]) > 0, list(json.loads(rest[1]))) == (True, ["Message"]), name
        if status == "500":
            assert json.loads(rest[1]) == {"Message": "An error has occurred."}
    assert MARKER not in said + logged
    lines = [json.loads(line) for line in logged.splitlines()]
    faults = [line for line in lines if line.get("fault")]
    assert {line["fault"] for line in faults} >= {
        "DatabaseUnavailable",
        "ValueError",
        "RuntimeError",
    }
    assert any("sample_endpoints.py" in line["place"] for line in faults)
    foreign = [line for line in lines if line.get("logger") == "some.library"]
    assert [line["event"] for line in foreign] == ["could not store %s", "failed"]


@pytest.mark.parametrize(("version", "is_chunked"), [("HTTP/1.0", False), ("HTTP/1.1", True)])
def test_a_caller_of_http_1_0_never_gets_chunks(local_server, version, is_chunked):
    asked = request(
        "/api/v3/test/rows",
        "Connection: close",
        query="vendorSiteId=ACME-1",
        auth=basic("ACME", PASSWORD),
    )
    with RawConnection(local_server.server.port, local_server.ca_file) as connection:
        connection.send(asked.replace(b"HTTP/1.1", version.encode()))
        text = b""
        while piece := connection.socket.recv(65_536):
            text += piece
    head, _, content = text.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert (b"transfer-encoding: chunked" in head) is is_chunked
    assert is_chunked or content == b"[0,1,2]"
