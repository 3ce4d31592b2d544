"""Calls of `/clearlane/v1` with API keys, over https on both databases: scopes, sites, rotation, and what wrong keys get."""

import json
import random
from http import HTTPStatus

import pytest

from clearlane.accounts.api_keys import KeyScope
from clearlane.api.frame.openapi import build_document
from clearlane.api.v1 import claim_verbs, webhooks
from clearlane.api.v1.endpoints import V1
from clearlane.api.v1.resource import Resource, ResourceRows
from clearlane.api.v3.endpoints import V3
from tests.api.test_claims import a_document, post, results
from tests.api.test_v1_frame import path_of, problem
from tests.patience import wait_until

CLAIMS = "/clearlane/v1/claims"
ENDPOINTS = V1.endpoints
every_call = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)


@pytest.fixture(scope="module")
def vendor(server):
    account = server.add_vendor(f"KEYED{random.getrandbits(32):X}")
    for name in ("1", "2"):
        server.add_site(account, f"{account.key}-{name}", "--baa-accepted")
    return account


@pytest.fixture(scope="module")
def make_key(server, vendor):
    def make(name, *scopes, sites=()):
        options = [f"--scope={one}" for one in scopes] + [f"--site={one}" for one in sites]
        arguments = ("api-key", "add", vendor.key, "--name", name, *options, "--json")
        return json.loads(server.command(*arguments))

    return make


@pytest.fixture(scope="module")
def clients(server, vendor, make_key):
    """A client for each scope, whose key has that one alone, and one for all but that."""
    made = {}
    for scope in KeyScope:
        others = [one for one in KeyScope if one is not scope]
        for name, scopes in ((scope, [scope]), (f"not {scope}", others)):
            key = make_key(f"{name} only", *scopes)["api_key"]
            made[name] = server.client(headers={"Authorization": f"Bearer {key}"})
    yield made
    for client in made.values():
        client.close()


@pytest.fixture(scope="module")
def numbers(server, vendor):
    """The number of a held claim of each site: one that is not held at once may be sent at any time."""
    found = {}
    with server.client(vendor.auth) as client:
        for site in vendor.sites:
            is_held = False
            while not is_held:
                answer = post(client, a_document(claims=1), params={"vendorSiteId": site})
                [number] = [one["RequestId"] for one in results(answer)]
                is_held = client.post(f"{CLAIMS}/{number}/hold").status_code == HTTPStatus.OK
            found[site] = number
    return found


@pytest.mark.one_database
@every_call
def test_every_call_names_its_scope_and_is_refused_without_it(clients, endpoint):
    assert endpoint.scope in KeyScope
    verb, path = endpoint.verbs[0], path_of(endpoint)
    refused = problem(clients[f"not {endpoint.scope}"].request(verb, path), 403)
    assert refused["type"] == "urn:clearlane:problem:scope_missing"
    assert f"lacks the scope {endpoint.scope};" in refused["detail"]
    assert clients[endpoint.scope].request(verb, path).status_code not in {401, 403}


def test_reading_never_needs_more_than_a_scope_that_reads_and_changes_never_only_that():
    for endpoint in ENDPOINTS:
        assert (endpoint.scope is KeyScope.READ) <= (endpoint.verbs == ("GET",)), endpoint.name
    assert all(row.scope is KeyScope.WEBHOOKS for row in webhooks.endpoints.rows)
    assert {row.scope for row in claim_verbs.endpoints.rows} == {
        KeyScope.SUBMIT, KeyScope.CORRECT, KeyScope.READ,
    }  # fmt: skip
    with pytest.raises(ValueError, match="names no scope"):
        ResourceRows(Resource.CLAIMS).change("New", "new", "Changes.", None)


def test_the_openapi_document_says_which_scope_a_call_needs():
    document = build_document([V3, V1], [], [])
    for version in (V3, V1):
        for row in version.endpoints:
            for verb in row.verbs:
                shown = document["paths"][row.path][verb.lower()]["security"]
                keys = [] if row.scope is None else [{"api_key": [row.scope]}]
                assert shown == [{"vendor": []}, *keys], row.name
    assert all(row.scope is None for row in V3.endpoints)


def test_a_key_for_some_sites_sees_nothing_of_others(server, vendor, make_key, numbers):
    own, other = vendor.sites
    key = make_key("one site", "read", "correct", sites=[own])["api_key"]
    with server.client(headers={"Authorization": f"Bearer {key}"}) as client:
        listed = client.get(CLAIMS).json()["data"]
        listed_numbers = [one["claim_number"] for one in listed]
        assert numbers[own] in listed_numbers
        assert numbers[other] not in listed_numbers
        assert client.get(CLAIMS, params={"site": own.lower()}).json()["data"] == listed
        refused = problem(client.get(CLAIMS, params={"site": other}), 403)
        assert refused["type"].endswith(":site_not_allowed")
        assert own in refused["detail"]
        unknown = problem(client.get(CLAIMS, params={"site": "X"}), 400)
        assert other not in unknown["detail"]
        problem(client.get(f"{CLAIMS}/{numbers[other]}"), 404)
        for verb in ("hold", "release", "cancel"):
            problem(client.post(f"{CLAIMS}/{numbers[other]}/{verb}"), 404)
        events = client.get("/clearlane/v1/events").json()["data"]
        assert {one["site"] for one in events} == {own}
        # Users of the console and webhooks are the vendor's.
        body = {"user": "nora"}
        answer = problem(client.post("/clearlane/v1/console_links", json=body), 403)
        assert answer["type"].endswith(":site_not_allowed")
        url, once = f"{CLAIMS}/{numbers[own]}/release", {"Idempotency-Key": "own-1"}
        released = client.post(url, headers=once)
        assert released.status_code == HTTPStatus.OK
        call = released.headers["x-request-id"]
        [audited] = client.get(f"/clearlane/v1/calls/{call}").json()["data"]
        assert "API key " in audited["detail"]
    # The stored answer is for callers of the same sites.
    with server.client(vendor.auth) as client:
        problem(client.post(url, headers=once), 422)


def test_wrong_expired_disabled_and_removed_keys_get_the_same_answer(server, vendor, make_key):
    made = make_key("to be ended", "read")
    answers = []

    def ask(api_key):
        # From an address of its own: wrong credentials are limited by address.
        address = f"127.8.8.{len(answers) + 1}"
        with server.client(
            address=address, headers={"Authorization": f"Bearer {api_key}"}
        ) as client:
            return client.get(CLAIMS)

    assert ask(made["api_key"]).status_code == 200
    answers.append(ask(made["api_key"][:-1]))
    answers.append(ask(f"clearlane_nobody0000_{'x' * 32}"))
    answers.append(ask("x"))
    server.command("api-key", "disable", made["id"], "--yes")
    answers.append(ask(made["api_key"]))
    server.command("api-key", "enable", made["id"])
    assert ask(made["api_key"]).status_code == 200
    server.command("api-key", "remove", made["id"], "--yes")
    answers.append(ask(made["api_key"]))
    assert {answer.content for answer in answers} == {answers[0].content}
    for answer in answers:
        assert problem(answer, 401)["type"].endswith(":bad_credentials")
        assert "Bearer realm" in answer.headers["www-authenticate"]


def test_a_rotated_key_works_beside_the_old_one_and_its_use_is_known(server, vendor, make_key):
    old = make_key("rotated", "read")
    new = json.loads(server.command("api-key", "rotate", old["id"], "--overlap=1h", "--json"))
    assert new["id"] == old["id"]
    for made in (old, new):
        with server.client(headers={"Authorization": f"Bearer {made['api_key']}"}) as client:
            assert client.get(CLAIMS).status_code == 200

    def shown():
        return json.loads(server.command("api-key", "show", old["id"], "--json"))

    wait_until(lambda: shown()["used_at"] is not None)
    ends = shown()["secrets_end"]
    assert (len(ends), ends[1]) == (2, "never")
    server.command("api-key", "rotate", old["id"], "--overlap=0", "--yes")
    with server.client(
        address="127.8.9.1", headers={"Authorization": f"Bearer {old['api_key']}"}
    ) as client:
        problem(client.get(CLAIMS), 401)


def test_a_key_is_not_good_for_v3_and_the_password_is_good_for_everything(server, vendor, make_key):
    header = f"Bearer {make_key('for V3', *KeyScope)['api_key']}"
    with server.client(address="127.8.9.2", headers={"Authorization": header}) as client:
        for row in V3.endpoints[:3]:
            answer = client.post(row.path, params={"vendorSiteId": next(iter(vendor.sites))})
            assert answer.status_code == row.bad_credentials_status, row.name
            assert answer.text.startswith("101:")
    with server.client(vendor.auth) as client:
        assert client.get(CLAIMS).status_code == 200
