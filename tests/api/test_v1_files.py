"""Files of `/clearlane/v1`: any bytes are stored and answered with 202; what became of them is told and fetched.

Also tests `api/v1/files` and `api/v1/shadow_lines`.
"""

import random

import pytest

from tests.api.test_v1_frame import problem
from tests.patience import wait_until
from tests.pipeline.test_process_file import a_claim, a_file, a_set

pytestmark = pytest.mark.one_database

FILES = "/clearlane/v1/files"
PAYER = "TST01"


@pytest.fixture(scope="module")
def account(server):
    account = server.add_vendor(f"FILES{random.getrandbits(40):X}")
    account.first = server.add_site(account, f"{account.key}-1", "--baa-accepted")
    account.second = server.add_site(account, f"{account.key}-2", "--baa-accepted")
    return account


@pytest.fixture
def client(server, account):
    with server.client(account.auth) as client:
        client.site = account.first
        yield client


def an_837(count=1):
    marks = [f"Z{random.getrandbits(40):X}" for _ in range(count)]
    return a_file(
        a_set(*(a_claim(at, payer=PAYER, account=mark) for at, mark in enumerate(marks, 1))),
        isa=f"{random.randrange(10**9):09}",
    )


def send(client, content, status=202, **own):
    headers = own.pop("headers", {"Content-Type": "text/plain"})
    params = {"site": client.site, "name": "claims.837"} | own
    answer = client.post(FILES, content=content, params=params, headers=headers)
    assert answer.status_code == status, answer.text
    return answer


def processed(client, content, **own):
    return finished(client, send(client, content, **own).json()["id"])


def finished(client, id):
    """Wait until a file is processed. Several that are sent first are processed one right after the other."""
    found = {}

    def is_processed():
        found.update(client.get(f"{FILES}/{id}").json())
        return found["state"] != "received"

    wait_until(is_processed)
    return found


def test_an_837_is_taken_and_what_came_back_is_fetched(client):
    content = an_837(2)
    file = processed(client, content)
    assert (file["state"], file["type"], file["claims"], file["accepted"]) == (
        "accepted",
        "837P",
        2,
        2,
    )
    assert (file["not_accepted"], file["claims_judged"], file["name"]) == (0, None, "claims.837")
    assert [one["state"] for one in file["sets"]] == ["accepted"]
    responses = {one["type"]: one for one in file["responses"]}
    assert responses.keys() == {"999", "277CA"}
    own = client.get(f"{FILES}/{file['id']}/content")
    assert (own.content, own.headers["content-type"]) == (content, "application/octet-stream")
    id = responses["999"]["id"]
    assert client.get(f"{FILES}/{id}").json()["fetched_at"] is None
    assert client.get(f"{FILES}/{id}/content").text.startswith("ISA*")
    answer = client.get(f"{FILES}/{id}").json()
    assert answer["fetched_at"]
    assert answer["answers"] == file["id"]
    assert (answer["direction"], answer["state"], answer["sets"]) == ("out", "ready", [])
    # Its claims are claims like any other.
    claims = "/clearlane/v1/claims"
    wait_until(lambda: len(client.get(claims, params={"site": client.site}).json()["data"]) >= 2)


def test_a_file_says_why_in_words_and_its_claims_are_listed_by_it(client):
    mark = f"Z{random.getrandbits(40):X}"
    bodies = [a_claim(1, payer=PAYER, account=mark), a_claim(2, payer="NOPAYER", account=mark)]
    contents = (
        a_file(a_set(*bodies), isa=f"{random.randrange(10**9):09}"),
        an_837().replace(b"005010X222A1", b"004010X098A1"),
        an_837()[:-30],
    )
    sent = [send(client, content).json()["id"] for content in contents]
    file, old, cut = [finished(client, id) for id in sent]
    assert [(one["state"], one["reason"]) for one in file["sets"]] == [("partly_accepted", None)]
    asked = {"file": file["id"], "state": "not_accepted", "site": client.site}
    claims = "/clearlane/v1/claims"
    wait_until(lambda: client.get(claims, params=asked).json()["data"])
    (claim,) = client.get(claims, params=asked).json()["data"]
    assert (claim["vendor_claim_id"], claim["state"]) == (mark, "not_accepted")
    assert claim["reason"]
    (refused,) = client.get(f"{FILES}/{file['id']}").json()["not_accepted_claims"]
    assert (refused["claim_number"], refused["position"]) == (claim["claim_number"], 2)
    assert refused["more_findings"] == 0
    errors = [one for one in refused["findings"] if one["severity"] == "error"]
    assert errors == refused["findings"][: len(errors)]
    assert "segment" in errors[0]["field"]
    assert client.get(claims, params=asked | {"file": "F0"}).json()["data"] == []
    (one,) = old["sets"]
    assert (
        one["reason"]
        == "Version 004010 is not taken: send 837P, 837D, 837I, 270 or 276 of version 005010."
    )
    assert cut["note"].startswith("The file is cut")


@pytest.mark.both_databases
def test_files_are_listed_by_each_filter_page_by_page(client):
    ids = [send(client, b"no X12 %d" % at, name=f"list{at}.txt").json()["id"] for at in range(3)]
    assert {finished(client, id)["state"] for id in ids} == {"unreadable"}
    everything = client.get(FILES, params={"direction": "in", "limit": 500}).json()["data"]
    assert [one["id"] for one in everything][:3] == ids[::-1]
    page = client.get(FILES, params={"direction": "in", "limit": 2}).json()
    assert [one["id"] for one in page["data"]] == ids[:0:-1]
    rest = client.get(FILES, params={"direction": "in", "limit": 2, "after": page["next"]}).json()
    assert rest["data"][0]["id"] == ids[0]
    day = everything[0]["received_at"][:10]
    for query, found in (
        ({"state": "unreadable"}, True),
        ({"state": "accepted"}, False),
        ({"name": "list0.txt"}, True),
        ({"type": "other"}, True),
        ({"received_from": "2999-01-01"}, False),
        ({"received_from": "2000-01-01", "received_to": "2999-01-01"}, True),
        ({"site": client.site}, True),
    ):
        listed = client.get(FILES, params={"limit": 500, **query}).json()["data"]
        assert (ids[0] in [one["id"] for one in listed]) is found, (query, day)
    reports = client.get(FILES, params={"answers": ids[0], "not_fetched": "true"}).json()["data"]
    assert [one["type"] for one in reports] == ["text"]
    fault = problem(client.get(FILES, params={"state": "lost", "received_to": "soon"}), 400)
    assert {one["field"] for one in fault["errors"]} == {"state", "received_to"}


@pytest.mark.both_databases
def test_claims_of_shadow_files_are_reported_page_by_page(client):
    file = processed(client, an_837(2), shadow="true")
    claims = {"file": file["id"], "state": "shadow"}
    # The claims of an accepted file are released right after it.
    wait_until(lambda: len(client.get("/clearlane/v1/claims", params=claims).json()["data"]) == 2)
    report, rows = {"site": client.site, "limit": 1}, []
    while True:
        page = client.get("/clearlane/v1/shadow_report", params=report).json()
        rows += page["data"]
        if page["next"] is None:
            break
        report["after"] = page["next"]
    assert [one["comparison"] for one in rows] == ["no_answer"] * 2
    assert len({one["claim_number"] for one in rows}) == 2
    same = client.get(
        "/clearlane/v1/shadow_report", params={"site": client.site, "differences": "true"}
    )
    assert same.json() == {"data": [], "next": None}
    problem(
        client.get("/clearlane/v1/shadow_report", params={"site": client.site, "after": "x"}), 400
    )


@pytest.mark.both_databases
def test_a_call_under_one_key_stores_one_file(client):
    key = {"Idempotency-Key": f"key-{random.getrandbits(60)}"}
    first = send(client, b"once", headers=key)
    again = send(client, b"once", headers=key)
    assert again.json() == first.json()
    assert again.headers["idempotency-replayed"] == "true"
    send(client, b"something else", 422, headers=key)
    send(client, b"once", 422, headers=key, name="another name")
    listed = client.get(FILES, params={"direction": "in", "limit": 500}).json()["data"]
    assert [one["id"] for one in listed].count(first.json()["id"]) == 1


@pytest.mark.parametrize(
    "content_type", ["", "application/json", "application/edi-x12", "image/png"]
)
def test_any_content_type_is_taken(client, content_type):
    headers = {"Content-Type": content_type} if content_type else {}
    assert send(client, b"{}", headers=headers).json()["state"] == "received"


def test_a_chunked_body_is_stored_as_it_comes(client):
    def chunks():
        yield b"ISA"
        yield b"*" * 70_000

    id = send(client, chunks()).json()["id"]
    assert client.get(f"{FILES}/{id}/content").content == b"ISA" + b"*" * 70_000
    assert send(client, b"").json()["bytes"] == 0


def test_a_site_must_be_named_if_there_are_several(client, account):
    answer = client.post(FILES, content=b"x")
    fault = problem(answer, 400)["errors"][0]
    assert fault["field"] == "site"
    assert account.second in fault["message"]
    unknown = send(client, b"x", 400, site="NOPE").json()["errors"][0]["message"]
    assert account.first in unknown
    assert "all sites" not in unknown
    file = send(client, b"x", site=account.second).json()
    assert file["site"] == account.second
    assert client.get(f"{FILES}/{file['id']}", params={"site": account.first}).status_code == 404


def test_a_compressed_body_is_refused(client):
    refused = send(client, b"x", 415, headers={"Content-Encoding": "gzip"})
    assert "compressed" in refused.json()["detail"]


def test_an_unknown_file_is_not_found(client):
    for path in ("F000000000000000000", "F000000000000000000/content"):
        fault = problem(client.get(f"{FILES}/{path}"), 404)
        assert fault["detail"] == "The vendor has no file of this id."
