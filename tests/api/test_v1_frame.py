"""What every call of `/clearlane/v1` shares, over https: sites, pages, problems, limits.

Also tests `api/frame/path_table`, `api/v1/cursors`, `api/v1/endpoints`, `api/v1/parameters`, `api/v1/problems` and
`api/v1/resource`.
"""

import json
import random

import pytest

from clearlane.api.frame.errors import ParameterFault
from clearlane.api.frame.path_table import PathTable
from clearlane.api.v1.cursors import decode_cursor, encode_cursor
from clearlane.api.v1.endpoints import V1
from clearlane.kernel.list_filter import (
    FilterFault,
    FilterType,
    combinations,
    count_combinations,
    passes,
    read_filter,
)
from tests.api.test_claims import a_document, post, results

pytestmark = pytest.mark.one_database

CLAIMS = "/clearlane/v1/claims"
ENDPOINTS = V1.endpoints
every_call = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)


def path_of(endpoint):
    return endpoint.path.replace("{", "").replace("}", "")


@pytest.fixture(scope="module")
def vendor(server):
    """A vendor of this module alone: two sites with a BAA, and one without."""
    account = server.add_vendor(f"FRAMED{random.getrandbits(32):X}")
    for name, baa in (("1", "--baa-accepted"), ("2", "--baa-accepted"), ("3", "")):
        server.add_site(account, f"{account.key}-{name}", *filter(None, [baa]))
    return account


@pytest.fixture(scope="module")
def client(server, vendor):
    with server.client(vendor.auth) as client:
        yield client


@pytest.fixture(scope="module")
def numbers(client, vendor):
    """Claim numbers by site."""
    found = {}
    for name in ("1", "2"):
        site = f"{vendor.key}-{name}"
        answer = post(client, a_document(claims=3), params={"vendorSiteId": site})
        found[site] = [one["RequestId"] for one in results(answer)]
    return found


def problem(answer, status):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body.keys() == {"type", "title", "status", "detail", "errors"}
    assert body["status"] == status
    assert body["type"].startswith("urn:clearlane:problem:")
    return body


def fields(answer):
    return {one["field"] for one in problem(answer, 400)["errors"]}


def test_a_list_without_a_site_is_of_all_sites_with_a_baa(client, numbers):
    body = client.get(CLAIMS).json()
    assert body.keys() == {"data", "next"}
    assert {one["claim_number"] for one in body["data"]} == set().union(*numbers.values())
    for site, own in numbers.items():
        listed = client.get(CLAIMS, params={"site": site}).json()["data"]
        assert {one["claim_number"] for one in listed} == set(own)
        assert {one["site"] for one in listed} == {site}


def test_pages_follow_each_other_without_gap_or_repetition(client, numbers):
    expected = [one["claim_number"] for one in client.get(CLAIMS).json()["data"]]
    assert expected == sorted(expected, reverse=True)
    seen, after = [], {}
    while True:
        page = client.get(CLAIMS, params={"limit": 4, **after}).json()
        seen += [one["claim_number"] for one in page["data"]]
        if page["next"] is None:
            break
        assert len(page["data"]) == 4
        after = {"after": page["next"]}
    assert seen == expected


def test_every_fault_of_a_query_is_named_at_once(client, vendor):
    query = {
        "limit": "0",
        "state": "Lost",
        "created_from": "1/2/26",
        "amount_to": "x",
        "after": "x",
        "sate": "sent",
    }
    assert fields(client.get(CLAIMS, params=query)) == set(query)
    del query["sate"]
    assert fields(client.get(CLAIMS, params=query)) == set(query)
    assert fields(client.get(f"{CLAIMS}?limit=1&limit=2")) == {"limit"}
    assert fields(client.get(f"{CLAIMS}?site=x&site=y")) == {"site"}
    for site in ("NOBODYS", "", "A-1"):
        assert fields(client.get(CLAIMS, params={"site": site})) == {"site"}
    for after in (
        "x", "e30", "\0", encode_cursor("events", "1", "2", "3"), encode_cursor("claims", "1"),
        encode_cursor("claims", "x", "2", "C3"), encode_cursor("claims", "1" * 19, "2", "C3"),
    ):  # fmt: skip
        assert fields(client.get(CLAIMS, params={"after": after})) == {"after"}


@every_call
def test_a_site_without_a_baa_is_refused_where_patients_are_concerned(client, vendor, endpoint):
    answer = client.request(
        endpoint.verbs[0], path_of(endpoint), params={"site": f"{vendor.key}-3"}
    )
    if endpoint.touches_phi:
        assert problem(answer, 403)["type"].endswith("baa_missing")
    else:
        assert answer.status_code != 403


@every_call
def test_a_caller_without_credentials_learns_nothing(server, endpoint):
    # From an address of its own: wrong credentials are limited by address.
    with server.client(address=f"127.9.9.{ENDPOINTS.index(endpoint) + 1}") as anyone:
        answer = anyone.request(endpoint.verbs[0], path_of(endpoint), params={"site": "A-1"})
    assert problem(answer, 401)["type"].endswith("bad_credentials")
    assert answer.headers["www-authenticate"] == 'Basic realm="Clearlane", Bearer realm="Clearlane"'


@pytest.mark.parametrize("path", ["", "/", "/nothing", "/claims/x/y/z", "/claims/%00"])
def test_an_unknown_path_is_a_problem(client, path):
    problem(client.get(f"/clearlane/v1{path}"), 404)


def test_head_is_get_without_the_body(client, numbers):
    got = client.get(CLAIMS, params={"limit": 1})
    head = client.head(CLAIMS, params={"limit": 1})
    assert (head.status_code, head.content) == (200, b"")
    for name in ("content-type", "content-length"):
        assert head.headers[name] == got.headers[name]
    refused = client.head(CLAIMS, params={"limit": 0})
    assert (refused.status_code, refused.content) == (400, b"")


def test_a_filter_takes_several_values(client, numbers, vendor):
    def found(query):
        return {one["claim_number"] for one in client.get(f"{CLAIMS}?{query}").json()["data"]}

    everything = found("kind=medical")
    assert everything
    assert found("kind=dental") == set()
    assert found("kind=dental,Medical") == found("kind=dental&kind=medical") == everything
    assert found("payer=NOBODY&payer=NOBODY2") == set()
    payer = client.get(CLAIMS).json()["data"][0]["payer_id"]
    assert found(f"payer=NOBODY,{payer}&kind=dental,medical") == found(f"payer={payer}") != set()
    pages, after = [], None
    while True:
        query = {"limit": 1, "kind": "dental,medical", **({"after": after} if after else {})}
        page = client.get(CLAIMS, params=query).json()
        pages += [one["claim_number"] for one in page["data"]]
        if (after := page["next"]) is None:
            break
    assert len(pages) == len(set(pages))
    assert set(pages) == everything
    assert fields(client.get(f"{CLAIMS}?kind=dental,pediatric")) == {"kind"}
    assert fields(client.get(f"{CLAIMS}?limit=1&limit=2")) == {"limit"}
    many = "&".join(f"payer=P{at}&vendor_claim_id=V{at}" for at in range(9))
    assert fields(client.get(f"{CLAIMS}?{many}")) == {"payer", "vendor_claim_id"}
    for path, query in (
        ("payments", "state=posted,needs_review"),
        ("files", "direction=in,out"),
        ("payers", "type=medical,dental"),
        ("enrollments", "payer=A,B"),
        ("sites", "state=active,suspended"),
    ):
        answer = client.get(f"/clearlane/v1/{path}?{query}")
        assert answer.status_code == 200, answer.text


def test_another_verb_gets_what_passes(client):
    answer = client.delete(CLAIMS)
    assert (problem(answer, 405)["status"], answer.headers["allow"]) == (405, "GET, HEAD, POST")


@pytest.mark.safe_default(13)
def test_an_amount_that_no_database_can_store_is_refused_with_what_would_pass(client):
    for amount in ("1E999999", "9" * 19, "9" * 40, "0.001", "-1", "NaN", "\u0661"):
        for path, name in (("claims", "amount_from"), ("payments", "amount")):
            answer = client.get(f"/clearlane/v1/{path}", params={name: amount})
            assert answer.status_code == 400, amount
            assert "150.25" in answer.text
    assert client.get("/clearlane/v1/claims", params={"amount_to": "9" * 13}).status_code == 200


def test_the_limit_of_calls_is_in_every_answer(server):
    account = server.add_vendor(f"SLOW{random.getrandbits(32):X}", "--limit", "3")
    server.add_site(account, f"{account.key}-1", "--baa-accepted")
    with server.client(account.auth) as client:
        answers = [client.get(CLAIMS) for _ in range(2)] + [client.get(f"{CLAIMS}/none")]
        refused = client.get(CLAIMS)
        v3 = client.post("/api/v3/payers/get_list", params={"vendorSiteId": f"{account.key}-1"})
    assert [one.headers["ratelimit-policy"] for one in answers] == ['"vendor";q=3;w=60'] * 3
    assert [one.headers["ratelimit"].split(";")[1] for one in answers] == ["r=2", "r=1", "r=0"]
    problem(refused, 429)
    assert refused.headers["ratelimit"].startswith('"vendor";r=0;t=')
    assert 1 <= int(refused.headers["retry-after"]) <= 20
    assert "ratelimit" not in v3.headers  # V3 stays as it is


def test_a_vendor_without_a_limit_has_no_such_headers(client):
    assert "ratelimit" not in client.get(CLAIMS).headers


def test_paths_with_variable_segments():
    table = PathTable(
        [("/a/{id}", "one"), ("/a/new", "new"), ("/a/{id}/b", "b"), ("/a/{id}", "same path")]
    )
    cases = {
        b"/a/new": (("new",), {}),
        b"/A/NEW/": (("new",), {}),
        b"/a/New%2F1": (("one", "same path"), {"id": "New/1"}),
        b"/a/X/B": (("b",), {"id": "X"}),
        b"/a": None,
        b"/a/x/c": None,
        b"/a/%00": None,
        b"/a/" + b"x" * 201: None,
    }
    for path, expected in cases.items():
        found = table.find(path)
        assert (found and (found.targets, dict(found.values))) == expected, path


def test_a_cursor_belongs_to_its_list():
    cursor = encode_cursor("claims", "17", "C1é")
    assert decode_cursor("claims", cursor, parts=2) == ["17", "C1é"]
    for name, parts, text in (
        ("events", 2, cursor),
        ("claims", 1, cursor),
        ("claims", 2, cursor[:-2]),
        ("claims", 2, "x" * 401),
    ):
        with pytest.raises(ParameterFault):
            decode_cursor(name, text, parts=parts)


READ = [
    (FilterType.DAY, "2026-02-28", "2026-02-28"),
    (FilterType.MOMENT, "2026-02-28T10:00:00+02:00", "2026-02-28 08:00:00+00:00"),
    (FilterType.MOMENT, "2026-02-28T10:00:00 02:00", "2026-02-28 08:00:00+00:00"),
    (FilterType.MOMENT, "2026-02-28T10:00:00Z", "2026-02-28 10:00:00+00:00"),
    (FilterType.MOMENT, "2026-02-28", "2026-02-28 00:00:00+00:00"),
    (FilterType.AMOUNT, "150", "15000"),
    (FilterType.AMOUNT, "150.5", "15050"),
    (FilterType.TEXT, " a ", "a"),
]
REFUSED = [
    (FilterType.DAY, ["2026-02-30", "x", "02/03/2026", ""]),
    (FilterType.MOMENT, ["x", "", "0001-01-01T00:00:00+14:00"]),
    (FilterType.AMOUNT, ["-1", "1.005", "nan", "inf", "", "1e99", "٣"]),
    (FilterType.TEXT, ["", " ", "\0", "x" * 121]),
]


def test_values_of_a_query_are_read_or_refused_with_what_would_pass():
    for type, text, expected in READ:
        assert str(read_filter(type, text)) == expected
    for type, texts in REFUSED:
        for text in texts:
            with pytest.raises(FilterFault, match="expected"):
                read_filter(type, text)


def test_the_document_describes_every_call_with_problems(client):
    document = json.loads(client.get("/openapi.json").content)
    for endpoint in ENDPOINTS:
        operation = document["paths"][endpoint.path][endpoint.verbs[0].lower()]
        assert operation["tags"] == [endpoint.family]
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                assert list(answer["content"]) == ["application/problem+json"]


def test_several_values_of_filters_are_tried_in_every_combination():
    given = {"state": ("sent", "held"), "payer": ("A", "B"), "site": "S1"}
    assert count_combinations(given) == 4
    found = [*combinations(given)]
    assert [(one["state"], one["payer"]) for one in found] == [
        ("sent", "A"), ("sent", "B"), ("held", "A"), ("held", "B"),
    ]  # fmt: skip
    assert {one["site"] for one in found} == {"S1"}
    assert [passes(one, "A") for one in (None, "A", "B", ("B", "A"), ("B",))] == [
        True, True, False, True, False,
    ]  # fmt: skip
