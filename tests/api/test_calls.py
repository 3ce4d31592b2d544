"""Every rule of "Every call" and "Payers" in the interface, over TLS, for every endpoint of the table.

What the database decides is tested on both databases for every endpoint once: a call that passes, and a foreign
site. The other cases are repeated on the second database by `make thorough`; what is refused before it is asked (path,
verb, body, media type) is not.

Also tests `api/v3/payer_responses`, `api/v3/payers`, `api/v3/endpoints` and `cli/installation/call`.
"""

import gzip
import json
import re
import ssl
import time
from base64 import b64encode
from datetime import datetime
from email.utils import parsedate_to_datetime
from itertools import product
from urllib.parse import quote
from urllib.request import (
    HTTPBasicAuthHandler,
    HTTPPasswordMgrWithDefaultRealm,
    HTTPSHandler,
    Request,
    build_opener,
)

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clearlane.api.frame.auth import FAILED_LOGINS_PER_KEY_MAX
from clearlane.api.frame.endpoint import BodyUse, EndpointFamily
from clearlane.api.v3.endpoints import ENDPOINTS
from clearlane.api.v3.payer_responses import DocumentIds
from tests.api.markers import places_with
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.one_database

# A value that passes for every parameter of the table.
PARAMETERS = {
    "requestId": "1",
    "type": "medical",
    "startDate": "2018-04-01",
    "endDate": "2018-04-30",
    "instanceId": "8f14e45f-ceea-467f-a8f1-0c2d3b4a5e6d",
}


def bodiless_status(endpoint):
    """The status of a call that passes every check and sends no body."""
    if endpoint.name == "GetEligibilityResponses":
        return 404  # it asks for a request that is not there
    return {BodyUse.NONE: 200, BodyUse.JSON: 400}[endpoint.body_use]


VERBS = ("GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD")
NO_RESOURCE = {"Message": "No HTTP resource was found that matches the request URI."}
BAD_CREDENTIALS = "101: Invalid or unknown vendor credentials or vendor not authorized."
REALM = 'Basic realm="Invalid or unknown credentials or vendor not authorized"'
PAYERS = [endpoint for endpoint in ENDPOINTS if endpoint.family is EndpointFamily.PAYERS]

every_call = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
READING = [endpoint for endpoint in ENDPOINTS if endpoint.body_use is BodyUse.JSON]
every_reading_call = pytest.mark.parametrize(
    "endpoint", READING, ids=lambda endpoint: endpoint.name
)
# Refused before the database is asked, so that a second kind of database would repeat the first.
before_the_database = pytest.mark.parametrize("server", ["sqlite"], indirect=True, scope="package")
every_list = pytest.mark.parametrize("endpoint", PAYERS, ids=lambda endpoint: endpoint.name)


def query_of(endpoint, site="A-1", **changes):
    values = {"vendorSiteId": site}
    values |= {
        parameter.name: PARAMETERS.get(parameter.name, "x") for parameter in endpoint.parameters
    }
    return {name: value for name, value in (values | changes).items() if value is not None}


@pytest.fixture(scope="module")
def acme(server, parties):
    with server.client(parties.acme.auth) as client:
        yield client


ADDRESSES = (f"127.1.{at // 250}.{at % 250 + 1}" for at in range(10_000))


@pytest.fixture
def anyone(server):
    """A caller without credentials, from an address of its own: wrong ones are limited by address."""
    with server.client(address=next(ADDRESSES)) as client:
        yield client


# Routes and verbs.


@pytest.mark.both_databases
@every_call
def test_a_call_that_passes_every_check_is_answered_with_json(acme, endpoint):
    answer = acme.post(endpoint.path, params=query_of(endpoint))
    assert answer.status_code == bodiless_status(endpoint)
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    answer.json()


@pytest.mark.parametrize(
    "path",
    ["/api", "/api/v3", "/api/v3/payers", "/api/v2/payers/get_list", "/api/v3/payers/get_list/x",
     "/api/v3/payers/get_lis", "/api%2Fv3/payers/get_list",
     "/api/v3/payer%C5%BF/get_list", "/healthz", "/metrics", "/consoles"],
)  # fmt: skip
@before_the_database
def test_an_unknown_path_is_a_404_whoever_asks(acme, anyone, path):
    for method, client in product(("GET", "POST"), (acme, anyone)):
        answer = client.request(method, path)
        assert (answer.status_code, answer.json()) == (404, NO_RESOURCE), method


@every_call
@before_the_database
def test_another_verb_is_a_405_whoever_asks(acme, anyone, endpoint):
    for verb, client in product(VERBS, (acme, anyone)):
        answer = client.request(verb, endpoint.path, params=query_of(endpoint))
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST"), verb
        if verb != "HEAD":
            text = f"The requested resource does not support http method '{verb}'."
            assert answer.json() == {"Message": text}


def cased(text):
    """Any mixture of cases of a text."""
    letters = [st.sampled_from(sorted({c.lower(), c.upper()})) for c in text]
    return st.tuples(*letters).map("".join)


HOSTED = settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@HOSTED
@given(data=st.data())
def test_path_and_query_keys_are_read_in_any_case(acme, data):
    endpoint = data.draw(st.sampled_from(ENDPOINTS))
    path = data.draw(cased(endpoint.path))
    names = {name: data.draw(cased(name)) for name in query_of(endpoint)}
    asked = {names[name]: value for name, value in query_of(endpoint).items()}
    answer = acme.post(path, params=asked)
    assert answer.status_code == bodiless_status(endpoint)
    if endpoint.family is not EndpointFamily.PROXY_LOGIN:  # a new token each time
        assert answer.content == acme.post(endpoint.path, params=query_of(endpoint)).content


@HOSTED
@given(data=st.data())
def test_a_path_that_differs_in_more_than_case_is_unknown(acme, data):
    endpoint = data.draw(st.sampled_from(ENDPOINTS))
    at = data.draw(st.integers(1, len(endpoint.path) - 1))
    other = data.draw(st.sampled_from("abxyz019_-.~"))
    path = endpoint.path[:at] + other + endpoint.path[at + 1 :]
    known = {one.path.lower() for one in ENDPOINTS}
    if path.lower() not in known and "/../" not in path and "/./" not in path:
        assert acme.post(path, params=query_of(endpoint)).status_code == 404


def test_of_a_parameter_given_twice_the_first_counts(acme):
    good = acme.post(ENDPOINTS[0].path + "?vendorSiteId=A-1&type=medical&Type=x")
    assert good.status_code == 200


@pytest.mark.parametrize(
    "sites", ["A-1&VENDORSITEID=B-1", "A-1&vendorSiteId=A-1", "A-1&vendorSiteId="]
)
def test_a_site_given_twice_is_a_400(acme, sites):
    answer = acme.post(f"{ENDPOINTS[0].path}?vendorSiteId={sites}&type=medical")
    assert (answer.status_code, answer.json()) == (
        400,
        {"Message": "The parameter 'vendorSiteId' is given more than once; give it once."},
    )


@every_call
def test_no_answer_is_kept_or_guessed_at_and_https_is_remembered(acme, anyone, endpoint):
    for client, verb in ((acme, "POST"), (anyone, "POST"), (acme, "GET")):
        answer = client.request(verb, endpoint.path, params=query_of(endpoint))
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["strict-transport-security"] == "max-age=31536000"


# Credentials.


def bad_headers(parties):
    key, password = parties.acme.auth

    def coded(text):
        return b64encode(text.encode()).decode()

    return {
        "none": None,
        "empty": "",
        "wrong password": f"Basic {coded(f'{key}:{password}x')}",
        "no password": f"Basic {coded(f'{key}:')}",
        "no colon": f"Basic {coded(key)}",
        "unknown key": f"Basic {coded(f'NOBODY:{password}')}",
        "other vendor's password": f"Basic {coded(f'{parties.other.key}:{password}')}",
        "disabled vendor": "Basic " + coded(":".join(parties.gone.auth)),
        "not base64": "Basic ???",
        "not UTF-8": "Basic " + b64encode(b"\xff\xfe:\xff").decode(),
        "another scheme": f"Bearer {coded(f'{key}:{password}')}",
        "two of them": f"Basic {coded(f'{key}:{password}')}, Basic {coded(f'{key}:{password}')}",
        "very long": "Basic " + "QUJD" * 5_000,
    }


def check_bad_credentials(answer, endpoint):
    expected = 404 if endpoint.family is EndpointFamily.PROXY_LOGIN else 401
    assert (answer.status_code, answer.text) == (expected, BAD_CREDENTIALS)
    assert answer.headers["content-type"] == "text/plain"
    assert answer.headers.get("www-authenticate") == (REALM if expected == 401 else None)


OWN = {"date", "x-request-id", "x-service-time"}
"""Headers in which two answers differ."""


@every_call
def test_bad_credentials_are_refused_alike(anyone, parties, endpoint):
    seen = set()
    for header in bad_headers(parties).values():
        headers = {} if header is None else {"Authorization": header}
        answer = anyone.post(endpoint.path, params=query_of(endpoint), headers=headers)
        check_bad_credentials(answer, endpoint)
        seen.add(tuple((n, v) for n, v in answer.headers.items() if n not in OWN))
    assert len(seen) == 1


@pytest.mark.parametrize("site", ["A-1", "B-1", "NOWHERE", "", None])
def test_without_credentials_nothing_is_learned_about_sites(anyone, site):
    endpoint = ENDPOINTS[0]
    check_bad_credentials(
        anyone.post(endpoint.path, params=query_of(endpoint, site=site)), endpoint
    )


def test_the_scheme_may_be_in_any_case(anyone, parties):
    coded = b64encode(":".join(parties.acme.auth).encode()).decode()
    for scheme in ("Basic", "basic", "BASIC"):
        headers = {"Authorization": f"{scheme} {coded}"}
        assert (
            anyone.post(
                ENDPOINTS[0].path, params=query_of(ENDPOINTS[0]), headers=headers
            ).status_code
            == 200
        )


def test_failures_slow_down_and_right_credentials_never_wait(server, anyone, parties):
    account = server.add_vendor(f"TRIED-{server.kind}")
    site = server.add_site(account, f"TRIED-{server.kind}-1")
    endpoint, waits, quick = ENDPOINTS[0], [], []
    for _ in range(FAILED_LOGINS_PER_KEY_MAX):
        began = time.perf_counter()
        answer = anyone.post(
            endpoint.path, params=query_of(endpoint, site=site), auth=(account.key, "wrong")
        )
        waits.append(time.perf_counter() - began)
        check_bad_credentials(answer, endpoint)
    assert waits[-1] > 0.4
    for _ in range(5):
        began = time.perf_counter()
        answer = anyone.post(endpoint.path, params=query_of(endpoint, site=site), auth=account.auth)
        quick.append(time.perf_counter() - began)
        assert answer.status_code == 200
    assert min(quick) < waits[-1]


def test_wrong_credentials_beyond_the_limit_are_a_429_and_right_ones_are_served(
    server, anyone, parties
):
    account = server.add_vendor(f"GUESSED-{server.kind}")
    site = server.add_site(account, f"GUESSED-{server.kind}-1")
    endpoint = ENDPOINTS[0]

    def ask(client, auth):
        return client.post(endpoint.path, params=query_of(endpoint, site=site), auth=auth)

    for _ in range(FAILED_LOGINS_PER_KEY_MAX):
        check_bad_credentials(ask(anyone, (account.key, "wrong")), endpoint)
    for key in (account.key, account.key.lower()):
        answer = ask(anyone, (key, "wrong"))
        assert answer.status_code == 429
        assert answer.json()["Message"].startswith("Too many calls with wrong credentials")
        assert 1 <= int(answer.headers["retry-after"]) <= 6
        assert answer.headers["connection"] == "close"
    assert ask(anyone, account.auth).status_code == 200
    check_bad_credentials(ask(anyone, ("NOBODY", "wrong")), endpoint)
    with server.client(address=next(ADDRESSES)) as elsewhere:
        check_bad_credentials(ask(elsewhere, (account.key, "wrong")), endpoint)


class ChallengedClient:
    """Python's own client as a vendor writes it: it sends credentials only after a challenge."""

    def __init__(self, server, auth):
        passwords = HTTPPasswordMgrWithDefaultRealm()
        passwords.add_password(None, server.base_url, *auth)
        context = ssl.create_default_context(cafile=server.ca_file)
        self._base_url = server.base_url
        self._opener = build_opener(HTTPSHandler(context=context), HTTPBasicAuthHandler(passwords))

    def status(self, path, *, post):
        request = Request(self._base_url + path, data=b"{}" if post else None)
        with self._opener.open(request, timeout=PATIENCE_SECONDS) as answer:
            return answer.status


CHALLENGED_CALLS = 30


@pytest.mark.safe_default(3)
def test_a_client_that_waits_for_the_challenge_is_served_every_time(server, parties):
    client = ChallengedClient(server, parties.acme.auth)
    for _ in range(CHALLENGED_CALLS):
        path = f"{ENDPOINTS[0].path}?vendorSiteId=A-1&type=medical"
        assert client.status(path, post=True) == 200
        assert client.status("/clearlane/v1/claims", post=False) == 200


@pytest.mark.safe_default(3)
def test_calls_without_credentials_are_no_failures(server, anyone, parties):
    proxy_login = next(one for one in ENDPOINTS if one.family is EndpointFamily.PROXY_LOGIN)
    for number in range(CHALLENGED_CALLS):
        # A header without a value, or a scheme alone, has no credentials either.
        headers = ({}, {"Authorization": ""}, {"Authorization": "Basic"})[number % 3]
        for endpoint in (ENDPOINTS[0], proxy_login):
            answer = anyone.post(endpoint.path, params=query_of(endpoint), headers=headers)
            check_bad_credentials(answer, endpoint)
        answer = anyone.get("/clearlane/v1/claims", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Basic ")
    # Wrong ones from the same address have all their free tries still, and no more.
    wrong = [
        anyone.get("/clearlane/v1/claims", auth=("CHALLENGED", "wrong")).status_code
        for _ in range(FAILED_LOGINS_PER_KEY_MAX + 1)
    ]
    assert wrong == [401] * FAILED_LOGINS_PER_KEY_MAX + [429]
    assert anyone.get("/clearlane/v1/claims", auth=parties.acme.auth).status_code == 200


# Sites.


@every_call
def test_no_site_is_a_404(acme, endpoint):
    rest = "&".join(
        f"{name}={quote(value)}" for name, value in query_of(endpoint, site=None).items()
    )
    for site in (None, "", " ", "%09+", "%20"):
        asked = rest if site is None else f"vendorSiteId={site}&{rest}"
        answer = acme.post(f"{endpoint.path}?{asked}")
        assert (answer.status_code, answer.json()) == (404, NO_RESOURCE), site


def without_identity(answer):
    headers = [(n, v) for n, v in answer.headers.raw if n.lower().decode() not in OWN]
    return answer.status_code, headers, answer.content


SITES = {
    "A-1": "own", "A-2": "own", "B-1": "foreign", "B-2": "foreign", "GONE-1": "foreign",
    "A-SUSPENDED": "suspended", "NOWHERE": "unknown", "A-1 ": "unknown",
    "1": "unknown", "x" * 5_000: "unknown", "é\x00": "unknown", "A-2x": "unknown",
}  # fmt: skip


@every_call
def test_foreign_sites_equal_unknown_ones_byte_for_byte(server, parties, endpoint):
    for account, mine in ((parties.acme, "A-"), (parties.other, "B-")):
        refused = set()
        with server.client(account.auth) as client:
            for site, kind in SITES.items():
                answer = client.post(endpoint.path, params=query_of(endpoint, site=site))
                if site.startswith(mine) and kind != "unknown":
                    assert b"Invalid VendorSiteId" not in answer.content, site
                    continue
                assert answer.status_code == 400, site
                assert answer.json() == {"Message": "Invalid VendorSiteId"}
                refused.add(repr(without_identity(answer)))
        assert len(refused) == 1


@every_call
def test_a_disabled_vendor_is_nobody_on_its_own_sites(server, parties, endpoint):
    site = ("GONE-1", "A-1", "NOWHERE")[ENDPOINTS.index(endpoint) % 3]
    with server.client(parties.gone.auth, address=next(ADDRESSES)) as client:
        check_bad_credentials(
            client.post(endpoint.path, params=query_of(endpoint, site=site)), endpoint
        )


@every_call
def test_a_call_with_phi_needs_the_agreement_and_no_other(acme, endpoint):
    answer = acme.post(endpoint.path, params=query_of(endpoint, site="A-2"))
    if endpoint.touches_phi:
        text = "201: The client has not accepted the Business Associate Agreement."
        assert (answer.status_code, answer.text) == (401, text)
        assert answer.headers["content-type"] == "text/plain"
    else:
        assert answer.status_code == bodiless_status(endpoint)


def test_the_agreement_is_asked_for_where_it_was_decided():
    asked = {EndpointFamily.CLAIMS, EndpointFamily.ELIGIBILITY, EndpointFamily.ENROLLMENT}
    assert all(endpoint.touches_phi == (endpoint.family in asked) for endpoint in ENDPOINTS)


@every_list
def test_payer_lists_need_no_baa_and_answer_suspended_sites(acme, endpoint):
    for site in ("A-2", "A-SUSPENDED"):
        assert acme.post(endpoint.path, params=query_of(endpoint, site=site)).status_code == 200


# The order of the checks: of several faults the first in the order is reported.

FAULTS = ("path", "verb", "credentials", "no site", "bad site", "type", "body")


FAULT_SETS = [
    tuple(name for name, on in zip(FAULTS, switches, strict=True) if on)
    for switches in product((False, True), repeat=len(FAULTS))
    if sum(switches) in {1, 2, 3} and not (switches[3] and switches[4])
]


@pytest.mark.parametrize("first", FAULTS)
@before_the_database
def test_the_first_fault_in_the_order_is_reported(acme, anyone, first):
    with_type = ENDPOINTS[0]
    with_body = next(each for each in ENDPOINTS if each.body_use is BodyUse.JSON)
    for faults in (each for each in FAULT_SETS if each[0] == first):
        endpoint = with_body if "body" in faults and "type" not in faults else with_type
        query = query_of(
            endpoint,
            site=None if "no site" in faults else "NOWHERE" if "bad site" in faults else "A-1",
        )
        if "type" in faults:
            query["type"] = "x"
        answer = (anyone if "credentials" in faults else acme).request(
            "PUT" if "verb" in faults else "POST",
            "/api/v3/nothing" if "path" in faults else endpoint.path,
            params=query,
            content=b"{" if "body" in faults else b"",
            headers={"Content-Type": "application/json"},
        )
        reported = {
            "path": (404, "No HTTP resource"),
            "verb": (405, "http method 'PUT'"),
            "credentials": (401, "101:"),
            "no site": (404, "No HTTP resource"),
            "bad site": (400, "Invalid VendorSiteId"),
            "type": (400, "parameter 'type'"),
            "body": (400, "ModelState"),
        }[faults[0]]
        assert (answer.status_code, reported[1] in answer.text) == (reported[0], True), faults


# Payer lists.


@every_list
def test_a_list_holds_payers_with_every_field_of_the_interface(acme, endpoint):
    fields = ["Type", "Name", "SvcPayerId", "PayerId", "NationalPayerId", "EraAvailability",
              "OffersEligibility", "ClaimEnrollmentRequired"]  # fmt: skip
    for type in ("Medical", "Dental"):
        listed = acme.post(endpoint.path, params=query_of(endpoint, type=type.lower())).json()
        assert listed
        assert all(list(payer) == fields and payer["Type"] == type for payer in listed)
        assert {payer["EraAvailability"] for payer in listed} <= {
            "Available", "RequiresEnrollment", "NotAvailable",
        }  # fmt: skip


def test_the_sandbox_has_the_test_payers_of_the_document(acme):
    def ids(name, type):
        endpoint = next(endpoint for endpoint in PAYERS if endpoint.name == name)
        return {
            payer["PayerId"]
            for payer in acme.post(endpoint.path, params=query_of(endpoint, type=type)).json()
        }

    assert ids("GetTestPayers", "medical") >= {"TST01"}
    assert ids("GetTestPayers", "dental") >= {"TST02"}
    assert ids("GetEligibilityPayers", "medical") >= {"TST01", "TST1E", "TST2E", "TST3E"}
    assert ids("GetEligibilityPayers", "dental") >= {"TST02"}
    assert not ids("GetPayers", "medical") & {"TST01", "TST1E", "TST2E", "TST3E"}
    assert ids("GetPayers", "medical") | ids("GetPayers", "dental")


@every_list
def test_the_type_may_be_in_any_case(acme, endpoint):
    for type in ("medical", "Medical", "MEDICAL", "dEnTaL"):
        listed = acme.post(endpoint.path, params=query_of(endpoint, type=type)).json()
        assert {payer["Type"] for payer in listed} == {type.capitalize()}


@every_list
@before_the_database
def test_no_type_is_a_404_with_both_messages(acme, endpoint):
    for type in (None, "", "  "):
        answer = acme.post(endpoint.path, params=query_of(endpoint, type=type))
        assert answer.status_code == 404
        assert answer.json() == NO_RESOURCE | {
            "MessageDetail": "No action was found on the controller 'Payers' that matches the request."
        }


@every_list
@before_the_database
def test_another_type_is_a_400_with_both_messages(acme, endpoint):
    for type in ("vision", "medical,dental", "0", "médical", "x" * 9_000, "'\"<>\r\n"):
        answer = acme.post(endpoint.path, params=query_of(endpoint, type=type))
        assert answer.status_code == 400, type
        assert answer.json().keys() == {"Message", "MessageDetail"}
        assert len(answer.content) < 1_000


@every_list
def test_lists_are_compressed_where_that_is_accepted(acme, endpoint):
    def ask(accepted):
        headers = {"Accept-Encoding": accepted}
        with acme.stream(
            "POST", endpoint.path, params=query_of(endpoint), headers=headers
        ) as answer:
            raw = b"".join(answer.iter_raw())
        assert answer.headers["vary"] == "Accept-Encoding"
        assert int(answer.headers["content-length"]) == len(raw)
        return answer.headers.get("content-encoding"), raw

    plain, packed = ask("identity"), ask("br, gzip;q=0.5")
    assert plain[0] is None
    assert packed[0] == "gzip"
    assert gzip.decompress(packed[1]) == plain[1]
    assert ask("gzip;q=0, *;q=1")[0] is None
    assert ask("")[0] is None


def test_an_imported_payer_is_listed_by_the_running_service(server, acme, tmp_path):
    file = tmp_path / "payers.json"
    payer = {
        "Type": "Medical",
        "Name": "Harbor Health Plan",
        "SvcPayerId": "HHP01",
        "PayerId": "HHP01",
        "NationalPayerId": "",
        "EraAvailability": "Available",
        "OffersEligibility": False,
        "ClaimEnrollmentRequired": True,
    }
    file.write_text(json.dumps([payer]))
    server.command("payer", "import", str(file))
    listed = acme.post(PAYERS[0].path, params=query_of(PAYERS[0])).json()
    assert payer in listed


# Bodies.

BAD_BODIES = {
    "not JSON": b"{", "not UTF-8": b'{"a": "\xff"}', "half of UTF-16": '{"a": 1}'.encode("utf-16")[:-1],
    "an array": b"[]", "a number": b"1", "a text": b'"x"', "NaN": b'{"a": NaN}',
    "infinity": b'{"a": -Infinity}', "1e400": b'{"a": 1e400}', "lone surrogate": b'{"a": "\\ud800"}',
    "lone surrogate in a key": b'{"\\udfff": 1}', "two documents": b"{}{}", "too deep": b"[" * 100_000,
    "too deep in an object": b'{"a":' * 100_000, "deep and closed": b"[" * 5_000 + b"]" * 5_000,
    "a control character": b'{"a": "\x00"}', "a million items": b"[" + b"0," * 999_999 + b"0]",
    "form": b"a=1&b=2",
}  # fmt: skip


@every_reading_call
@before_the_database
def test_a_body_that_cannot_be_read_is_a_400_under_document(acme, endpoint):
    headers = {"Content-Type": "application/json"}
    for name, content in BAD_BODIES.items():
        if endpoint.request_type == DocumentIds and name in {"an array", "a million items"}:
            continue  # this call takes an array, and says 413 where it is too long
        answer = acme.post(
            endpoint.path, params=query_of(endpoint), content=content, headers=headers
        )
        assert answer.status_code == 400, name
        refusal = answer.json()
        assert refusal["Message"] == "The request is invalid."
        if endpoint.family is EndpointFamily.ENROLLMENT:
            (error,) = refusal["Errors"]
            assert (error["Key"], len(error["Value"])) == ("Document", 1)
        else:
            assert list(refusal["ModelState"]) == ["Document"]
            assert all(isinstance(sentence, str) for sentence in refusal["ModelState"]["Document"])


BODILESS = [endpoint for endpoint in ENDPOINTS if endpoint.body_use is BodyUse.NONE]
WHATEVER_COMES = (
    ("application/json", b""),
    ("application/x-www-form-urlencoded", b""),
    ("application/x-www-form-urlencoded", b"a=1"),
    ("text/plain; charset=utf-8", b""),
    ("multipart/form-data; boundary=x", b"--x--"),
    ("application/octet-stream", b"\xff\x00"),
    ("application/json; charset=klingon", b"[["),
)


@pytest.mark.parametrize("endpoint", BODILESS, ids=lambda endpoint: endpoint.name)
@before_the_database
def test_a_call_without_a_body_ignores_whatever_comes(acme, endpoint):
    for media_type, content in WHATEVER_COMES:
        answer = acme.post(
            endpoint.path,
            params=query_of(endpoint),
            content=content,
            headers={"Content-Type": media_type},
        )
        assert answer.status_code == bodiless_status(endpoint), media_type
        assert "x-ignored-fields" not in answer.headers


@before_the_database
def test_repeated_slashes_of_a_path_count_once(acme):
    for path in ("//api/v3/payers/get_list", "/api//v3///payers/get_list//"):
        # A client library would tidy the path, so it is put into the request as it is.
        request = acme.build_request("POST", "/api", params=query_of(ENDPOINTS[0]))
        query = request.url.raw_path.partition(b"?")[2]
        request.url = request.url.copy_with(raw_path=path.encode() + b"?" + query)
        assert acme.send(request).status_code == 200, path


@before_the_database
def test_keys_and_sites_in_another_case_are_those_they_name(server, parties, acme):
    lists, (key, password) = ENDPOINTS[0], parties.acme.auth
    assert acme.post(lists.path, params=query_of(lists, site="a-1")).status_code == 200
    assert acme.post(lists.path, params=query_of(lists, site="b-1")).status_code == 400
    with server.client((key.lower(), password)) as client:
        assert client.post(lists.path, params=query_of(lists)).status_code == 200


OTHER_MEDIA_TYPES = (
    "text/plain",
    "text/xml",
    "application/x-www-form-urlencoded",
    "application/json; charset=utf-32",
    "application/json; charset=windows-1252",
)


@pytest.mark.safe_default(7)
@before_the_database
def test_a_compressed_body_gets_a_sentence_about_its_encoding(acme):
    calls = [(endpoint.path, query_of(endpoint), "Message") for endpoint in READING]
    calls.append(("/clearlane/v1/claims/validate", {"site": "A-1"}, "detail"))
    for path, query, name in calls:
        for encoding in ("gzip", "deflate", "br", "gzip, gzip"):
            headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
            packed = gzip.compress(b"{}")
            answer = acme.post(path, params=query, content=packed, headers=headers)
            assert answer.status_code == 415, path
            assert "Content-Encoding" in answer.json()[name]
            assert answer.headers["accept-encoding"] == "identity"
    answer = acme.post(
        calls[0][0], params=calls[0][1], content=b"{}", headers={"Content-Encoding": "identity"}
    )
    assert answer.status_code != 415


@every_reading_call
@before_the_database
def test_another_media_type_is_a_415(acme, endpoint):
    for media_type, content in product(OTHER_MEDIA_TYPES, (b"{}", b"")):
        answer = acme.post(
            endpoint.path,
            params=query_of(endpoint),
            content=content,
            headers={"Content-Type": media_type},
        )
        assert (answer.status_code, list(answer.json())) == (415, ["Message"]), media_type


# Rates and identity.


def test_calls_beyond_a_vendors_rate_get_a_retry_time(server, parties):
    endpoint = ENDPOINTS[0]
    with server.client(parties.limited.auth) as client:
        answers = [
            client.post(endpoint.path, params=query_of(endpoint, site="LIMITED-1"))
            for _ in range(7)
        ]
    statuses = [answer.status_code for answer in answers]
    assert statuses[:5] == [200] * 5
    assert statuses[6] == 429
    assert 1 <= int(answers[6].headers["retry-after"]) <= 12
    assert list(answers[6].json()) == ["Message"]


@pytest.mark.parametrize("offered", ["a", "My.Request_1-2", "x" * 64])
def test_a_callers_request_id_comes_back(acme, anyone, offered):
    headers = {"X-Request-Id": offered}
    for answer in (
        acme.post(ENDPOINTS[0].path, params=query_of(ENDPOINTS[0]), headers=headers),
        acme.get("/nothing", headers=headers),
        anyone.get(ENDPOINTS[0].path, headers=headers),
        anyone.get("/openapi.json", headers=headers),
    ):
        assert answer.headers["x-request-id"] == offered


@pytest.mark.parametrize(
    "offered", [None, "", "x" * 65, "a b", "é".encode("latin-1"), "a,b", "<x>"]
)
def test_without_a_usable_one_every_answer_has_a_new_request_id(acme, offered):
    headers = {} if offered is None else {"X-Request-Id": offered}
    made = {acme.post("/nothing", headers=headers).headers["x-request-id"] for _ in range(3)}
    assert len(made) == 3
    assert all(re.fullmatch(r"[0-9a-f]{32}", one) for one in made)


def test_the_log_has_one_line_a_request_and_nothing_a_caller_sent(server, acme, parties):
    marker = "ZQMARKERZQ"
    endpoint = ENDPOINTS[0]
    before = len(server.logged_requests())
    acme.post(endpoint.path, params=query_of(endpoint), headers={"X-Request-Id": "known-id"})
    acme.post(
        endpoint.path,
        params=query_of(endpoint, type=marker) | {marker: marker},
        json={marker: marker},
    )
    acme.post(f"/{marker}/{marker}", params={"patient": marker}, headers={"X-Other": marker})
    acme.post(endpoint.path, params=query_of(endpoint, site=marker))
    acme.post(endpoint.path, params=query_of(endpoint), auth=(marker, marker))
    acme.post(
        endpoint.path,
        params=query_of(endpoint),
        content=f'{{"{marker}": "\\ud800"',
        headers={"Content-Type": "application/json"},
    )
    acme.post(
        "/api/v3/claims/submit",
        params={"vendorSiteId": "A-1"},
        content=f'{{"{marker}": "\\ud800"',
        headers={"Content-Type": "application/json"},
    )
    lines = server.logged_requests()[before:]
    assert [line["status"] for line in lines] == [200, 400, 404, 400, 401, 200, 400]
    assert lines[0].keys() >= {"request_id", "method", "endpoint", "status", "ms", "site"}
    assert (lines[0]["request_id"], lines[0]["endpoint"]) == ("known-id", endpoint.name)
    assert (lines[0]["vendor"], lines[0]["address"]) == (parties.acme.key, "127.0.0.1")
    assert isinstance(lines[0]["site"], int)
    everything = "".join(server.log)
    assert places_with(server, marker) == []
    assert parties.acme.password not in everything
    assert "vendorSiteId" not in everything
    metrics = acme.get(server.sandbox["operations_url"] + "/metrics", auth=None).text
    assert f'clearlane_requests_total{{endpoint="{endpoint.name}",status="200"}}' in metrics


def test_the_document_comes_compressed_and_once(anyone):
    first = anyone.get("/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert first.headers["content-encoding"] == "gzip"
    assert int(first.headers["content-length"]) * 10 < len(first.content)
    again = anyone.get(
        "/openapi.json",
        headers={"Accept-Encoding": "gzip", "If-None-Match": first.headers["etag"]},
    )
    assert (again.status_code, again.content) == (304, b"")


def test_every_answer_tells_the_services_time(acme, anyone):
    clock = acme.get("/sandbox/clock", params={"vendorSiteId": "A-1"}).json()
    for answer in (
        acme.post("/nothing"),
        anyone.post("/api/v3/payers/get_list"),
        anyone.get("/openapi.json"),
    ):
        service_time = datetime.fromisoformat(answer.headers["x-service-time"])
        real = parsedate_to_datetime(answer.headers["date"])
        ahead = (service_time - real).total_seconds()
        assert abs(ahead - clock["AdvancedSeconds"]) < 60
