"""Payments, payers, documents, calls and console links of `/clearlane/v1`, and the tenant matrix.

Also tests `api/v1/account/sites`, `api/v1/eligibility`, `cli/eligibility/eligibility_listing`, `api/v1/account/calls`, `api/v1/account/console_links`, `api/v1/content/documents`, `api/v1/vendor_aliases`, `api/v1/payers`, `api/v1/payments`,
`pipeline/query/vendor_payments` and `store/payments/payment_query`.
"""

import json
import random
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from clearlane.api.frame.endpoint import BodyUse
from clearlane.api.v1.endpoints import V1
from tests.api.test_claims import a_document, post, results
from tests.api.test_v1_frame import problem
from tests.patience import wait_until

pytestmark = pytest.mark.one_database

ROOT = "/clearlane/v1"
CLAIMS = f"{ROOT}/claims"
ENDPOINTS = V1.endpoints
# A body that passes the first checks of every call that reads one.
BODIES = {
    "CorrectClaim": {"fields": {"F26_PatientAcctNumber": "X"}},
    "BillNextPayer": {},
    "VoidClaim": {"reason": "Billed twice."},
    "ResubmitClaim": {},
    "DepositPayment": {"day": datetime.now(UTC).date().isoformat()},
    "SettlePayment": {"because": "x"},
    "SendClaimAnyway": {"user": "someone", "reason": "The payer takes it."},
    "CreateConsoleLink": {"user": "someone"},
    "PostClaims": a_document(),
    "ValidateClaims": a_document(),
    "AddWebhookEndpoint": {"url": "http://127.0.0.1:9/hook", "types": ["claim.*"]},
    "ChangeWebhookEndpoint": {"types": ["claim.paid"]},
    "EnableWebhookEndpoint": {"replay": False},
    "ReplayWebhookEndpoint": {"since_at": "2026-01-31T00:00:00Z"},
    "AskEligibility": {
        "payer_id": "TST01",
        "provider": {"npi": "1234567893", "name": "Arden Clinic"},
        "subscriber": {
            "member_id": "W100000001",
            "last_name": "Arden",
            "first_name": "Ivo",
            "birth_date": "1980-02-03",
        },
    },
    "SetPayerAlias": {"alias": "OURS-1", "payer_id": "TST01"},
}


@dataclass
class Paid:
    """A vendor with a paid claim, and words that are its own alone."""

    account: object
    site: str
    number: str = ""
    payment_id: str = ""
    document_id: str = ""
    endpoint_id: str = ""
    event_id: str = ""
    file_id: str = ""
    eligibility_request_id: str = "0"
    secrets: list[str] = field(default_factory=list)

    @property
    def ids(self):
        """A value of its own for every variable segment of a path."""
        return {
            "claim_number": self.number,
            "payment_id": self.payment_id,
            "document_id": self.document_id,
            "request_id": f"call-of-{self.account.key}",
            "payer_id": "TST01",
            "endpoint_id": self.endpoint_id,
            "event_id": self.event_id,
            "file_id": self.file_id,
            "alias": f"ALIAS-{self.account.key}",
            "site_id": self.site,
            "eligibility_request_id": self.eligibility_request_id,
            "enrollment_id": f"ENROLLMENT-OF-{self.account.key}",
        }


@pytest.fixture(scope="module")
def two(server):
    """Two vendors, each with one claim that the same payer pays in the same days."""
    found = []
    for _ in range(2):
        account = server.add_vendor(f"PAID{random.getrandbits(40):X}")
        site = server.add_site(account, f"{account.key}-1", "--baa-accepted")
        found.append(Paid(account, site))
    for paid in found:
        mark = f"ZQ{random.getrandbits(30):X}"
        with server.client(paid.account.auth) as client:
            document = a_document(
                Svc_PayerId="TST01",
                F33A_BillingProviderNpi="1234567893",
                F26_PatientAcctNumber=mark,
            )
            options = {"params": {"vendorSiteId": paid.site}}
            paid.number = results(post(client, document, **options))[0]["RequestId"]
            client.get(f"{CLAIMS}/{paid.number}", headers={"X-Request-Id": paid.ids["request_id"]})
        paid.secrets = [mark, paid.number, document["Claims"][0]["Svc_VendorClaimId"], paid.site]
    with server.client(found[0].account.auth) as client:
        client.post("/sandbox/advance", params={"vendorSiteId": found[0].site}, json={"By": "14d"})
    for paid in found:
        with server.client(paid.account.auth) as client:

            def complete(client=client, paid=paid):
                return client.get(f"{CLAIMS}/{paid.number}").json()["state"] == "complete"

            wait_until(complete)
            claim = client.get(f"{CLAIMS}/{paid.number}").json()
            paid.payment_id = claim["payments"][0]["payment_id"]
            paid.document_id = claim["payments"][0]["document_id"]
            alias = {"alias": paid.ids["alias"], "payer_id": "TST01"}
            assert client.post(f"{ROOT}/payer_aliases", json=alias).status_code == 200
            hook = client.post(
                f"{ROOT}/webhook_endpoints", json=BODIES["AddWebhookEndpoint"]
            ).json()
            paid.endpoint_id = hook["id"]
            paid.event_id = client.get(f"{ROOT}/events", params={"limit": 1}).json()["data"][0][
                "id"
            ]
            options = {"params": {"site": paid.site, "name": f"{paid.site}.837"}}
            paid.file_id = client.post(f"{ROOT}/files", content=b"no X12", **options).json()["id"]
            paid.secrets += [
                paid.file_id,
                paid.document_id,
                claim["payer_control_number"],
                hook["id"],
                hook["secret"],
                alias["alias"],
            ]
    # Numbers of these requests are a vendor's own, so the first vendor asks nothing: it has none of this number.
    other = found[1]
    with server.client(other.account.auth) as client:
        asked = client.post(f"{ROOT}/eligibility", json=BODIES["AskEligibility"])
        assert asked.status_code == 200, asked.text
        other.eligibility_request_id = asked.json()["id"]
        other.secrets += [asked.json()["x12"][0]]
    return found


@pytest.fixture
def own(two):
    return two[0]


@pytest.fixture
def client(server, own):
    with server.client(own.account.auth) as client:
        yield client


def ask(client, endpoint, ids, **query):
    path = re.sub(r"{(\w+)}", lambda name: ids[name[1]], endpoint.path)
    options = {"json": BODIES[endpoint.name]} if endpoint.body_use is BodyUse.JSON else {}
    return client.request(endpoint.verbs[0], path, params=query, **options)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_no_call_gives_a_byte_of_another_vendor(server, two, endpoint):
    """The tenant matrix: every call, with ids of the other, with the other's site, and without any."""
    own, other = two
    with server.client(own.account.auth) as client:
        answers = [
            ask(client, endpoint, other.ids),
            ask(client, endpoint, other.ids, site=own.site),
        ]
        foreign_site = ask(client, endpoint, own.ids, site=other.site)
        unknown = dict.fromkeys(own.ids, "C000000000000000000") | {"payer_id": "TST01"}
        nothing = ask(client, endpoint, unknown)
    assert foreign_site.status_code == 400
    for answer in (*answers, foreign_site):
        for secret in other.secrets:
            assert secret not in answer.text
        for header, value in answer.headers.items():
            assert not any(secret in value for secret in other.secrets), header
    if "payment_id" in endpoint.path and own.payment_id == other.payment_id:
        # One check pays claims of both: each reads its own part of it.
        # What the first of two calls undid, the second does not undo again.
        again = {409} if endpoint.verbs == ("DELETE",) else set()
        assert {answer.status_code for answer in answers} - again <= {200}
    # Answers to ids of others are those to ids that never were, whatever the call.
    elif "{" in endpoint.path and "payer_id" not in endpoint.path:
        for answer in answers:
            assert (answer.status_code, answer.content) == (nothing.status_code, nothing.content)
            assert answer.status_code == 404


def test_commands_beside_the_service_show_the_same_objects(server, client, own):
    def shown(*words):
        return json.loads(server.command(*words, "--json"))

    claim = client.get(f"{CLAIMS}/{own.number}").json()
    assert {**shown("claim", "show", own.number), **claim} == shown("claim", "show", own.number)
    payment = client.get(f"{ROOT}/payments/{own.payment_id}").json()
    # The operator sees the claims of every vendor in it.
    of_operator = shown("payment", "show", own.payment_id)
    assert payment.keys() <= of_operator.keys()
    (mine,) = payment["claim_payments"]
    assert mine in of_operator["claim_payments"]
    (listed,) = [one for one in shown("payment", "list") if one["payment_id"] == own.payment_id]
    assert listed.items() <= of_operator.items()
    for words in (("show", "TST01"), ("search", "TST01"), ("list", "--test")):
        (payer,) = [one for one in shown("payer", *words) if one["id"] == "TST01"][:1]
        assert client.get(f"{ROOT}/payers/TST01").json()["data"][0].items() <= payer.items()


@pytest.mark.both_databases
def test_a_payment_is_found_by_each_filter_and_read_as_835_and_csv(client, own):
    payment = client.get(f"{ROOT}/payments/{own.payment_id}").json()
    assert payment["your_amount"]
    assert [one["claim_number"] for one in payment["claim_payments"]] == [own.number]
    assert payment["claim_payments_next"] is None
    listed = client.get(f"{ROOT}/payments").json()["data"]
    assert own.payment_id in [one["payment_id"] for one in listed]
    for query, found in (
        ({"payer": "TST01"}, True),
        ({"trace_number": payment["trace_number"]}, True),
        ({"amount": payment["amount"]}, True),
        (
            {
                "effective_from": payment["effective_date"],
                "effective_to": payment["effective_date"],
            },
            True,
        ),
        ({"state": payment["state"]}, True),
        ({"not_fetched": "true"}, False),
        ({"payer": "NOBODY"}, False),
        ({"effective_from": "2999-01-01"}, False),
    ):
        rows = client.get(f"{ROOT}/payments", params=query).json()["data"]
        assert (own.payment_id in [one["payment_id"] for one in rows]) is found, query
    pages = client.get(
        f"{ROOT}/payments/{own.payment_id}/claim_payments", params={"limit": 1}
    ).json()
    assert [one["claim_number"] for one in pages["data"]] == [own.number]
    text = client.get(f"{ROOT}/payments/{own.payment_id}/x12")
    assert text.headers["content-type"] == "application/edi-x12"
    assert text.text.startswith("ISA")
    assert text.text.count("CLP*") == text.text.count("ISA*")
    csv = client.get(f"{ROOT}/payments/{own.payment_id}/csv").text.splitlines()
    path = f"{ROOT}/payments/{own.payment_id}"
    # A check may be good from tomorrow on; no deposit is of a day that has not come.
    day, more = text.headers["x-service-time"][:10], str(Decimal(payment["your_amount"]) + 1)
    for body, names in (({"day": "2999-01-01", "amount": "ten"}, {"day", "amount"}), ({}, {"day"})):
        answer = client.post(f"{path}/deposit", json=body)
        assert {one["field"] for one in problem(answer, 400)["errors"]} == names, body
    answer = client.post(f"{path}/deposit", json={"day": day, "amount": more})
    assert answer.status_code == 200, answer.text
    deposited = answer.json()["deposit"]
    assert deposited == {"state": "differs", "day": day, "amount": more, "difference": "1.00"}
    settled = client.post(f"{path}/settle", json={"because": "recouped"})
    assert settled.json()["deposit"]["state"] == "settled"
    for verb in ("deposit", "settle"):
        assert client.delete(f"{path}/{verb}").status_code == 200
        assert client.delete(f"{path}/{verb}").status_code == 409
    events = client.get(
        f"{ROOT}/events", params={"types": "payment.deposited", "limit": 500}
    ).json()["data"]
    deposits = [(one["data"]["payment_id"], one["data"]["deposit"]) for one in events]
    assert (own.payment_id, "differs") in deposits
    assert csv[0].startswith("row,payment_id")
    assert any(own.number in line for line in csv[1:])


def test_a_payer_is_found_by_name_id_and_with_a_typing_mistake(client):
    for words in ("Sandbox Medical", "TST01", "sandbx medcal"):
        rows = client.get(f"{ROOT}/payers", params={"search": words, "type": "medical"}).json()
        assert rows["data"][0]["payer_id"] == "TST01", words
    payer = rows["data"][0]
    assert (payer["accepts_claims"], payer["test"], payer["type"]) == (True, True, "medical")
    seen, after = [], {}
    while True:
        page = client.get(f"{ROOT}/payers", params={"limit": 3, **after}).json()
        seen += [(one["type"], one["payer_id"]) for one in page["data"]]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert len(seen) == len(set(seen)) > 3
    assert client.get(f"{ROOT}/payers/tst01").json()["data"][0]["payer_id"] == "TST01"
    problem(client.get(f"{ROOT}/payers/NOBODY"), 404)
    problem(client.get(f"{ROOT}/payers", params={"search": " "}), 400)
    gone = client.get(f"{ROOT}/payers", params={"limit": 1, "search": "dental"}).json()["next"]
    problem(client.get(f"{ROOT}/payers", params={"after": gone, "search": "TST01"}), 400)


@pytest.mark.both_databases
def test_a_vendor_names_payers_as_its_files_do(client, own):
    key = {"headers": {"Idempotency-Key": "alias-1"}}
    given = {"alias": " Mine-2 ", "payer_id": "tst01"}
    for _ in range(2):
        made = client.post(f"{ROOT}/payer_aliases", json=given, **key).json()
    assert (made["alias"], made["payer_id"], made["counts"]) == ("Mine-2", "TST01", True)
    first = client.get(f"{ROOT}/payer_aliases", params={"limit": 1}).json()
    rest = client.get(f"{ROOT}/payer_aliases", params={"after": first["next"]}).json()
    assert [one["alias"] for one in first["data"] + rest["data"]][:2] == [
        own.ids["alias"],
        "Mine-2",
    ]
    wrong = problem(
        client.post(f"{ROOT}/payer_aliases", json={"alias": "TST01", "payer_id": "NONE"}), 400
    )
    assert {one["field"] for one in wrong["errors"]} == {"alias", "payer_id"}
    assert client.delete(f"{ROOT}/payer_aliases/MINE-2").json()["alias"] == "Mine-2"
    problem(client.delete(f"{ROOT}/payer_aliases/MINE-2"), 404)


def test_enrollments_are_listed_by_provider_and_payer(client):
    page = client.get(f"{ROOT}/enrollments", params={"state": "pending", "payer": "none"}).json()
    assert page == {"data": [], "next": None}
    problem(client.get(f"{ROOT}/enrollments", params={"state": "new"}), 400)


def test_a_document_has_the_claims_part_of_the_payers_file(client, own):
    document = client.get(f"{ROOT}/documents/{own.document_id}").json()
    assert (document["type"], document["source"]) == ("payment", "835")
    assert document["claim_number"] == own.number
    text = client.get(f"{ROOT}/documents/{own.document_id}/x12").text
    assert text == document["x12"]
    assert text.count("CLP*") == 1
    assert document["event"].startswith("Remittance: ")
    assert document["sentences"]
    paid = document["claim_payment"]
    assert (paid["document_id"], paid["payment_id"]) == (own.document_id, own.payment_id)
    assert all(one["text"] for line in paid["lines"] for one in line["adjustments"])
    claim = client.get(f"{CLAIMS}/{own.number}").json()
    status = next(one for one in claim["documents"] if one["type"] == "status")
    document = client.get(f"{ROOT}/documents/{status['id']}").json()
    assert document["claim_payment"] is None
    assert document["statuses"][0]["category_text"]


def test_sites_are_listed_and_read(client, own):
    (site,) = client.get(f"{ROOT}/sites").json()["data"]
    assert (site["id"], site["state"], site["baa_accepted"]) == (own.site, "active", True)
    assert client.get(f"{ROOT}/sites/{own.site.lower()}").json() == site
    assert client.get(f"{ROOT}/sites", params={"baa_accepted": "false"}).json()["data"] == []
    problem(client.get(f"{ROOT}/sites/nobodys"), 404)


def test_a_payer_is_asked_about_insurance_and_the_answer_is_kept(server, two):
    other = two[1]
    question = BODIES["AskEligibility"]
    with server.client(other.account.auth) as client:
        (listed,) = client.get(f"{ROOT}/eligibility").json()["data"]
        one = client.get(f"{ROOT}/eligibility/{listed['id']}").json()
        assert {**one, **listed} == one
        assert (one["state"], one["payer_id"], one["patients"]) == ("complete", "TST01", 1)
        (answer,) = one["answers"]
        assert answer["benefits"] or answer["errors"]
        # What the payer states comes first, in lists too.
        assert (listed["verdict"], answer["verdict"]) == ("active", "active")
        assert {*answer} > {"group_number", "covered_from", "covered_to", "primary_care"}
        text = server.command("eligibility", "list", "--json", "--site", listed["site"])
        assert listed in json.loads(text)
        assert "HL*" in one["x12"][0]
        found = []
        for _ in range(2):
            asked = client.post(f"{ROOT}/eligibility", json={**question, "service_types": ["98"]})
            found.append(asked.json()["id"])
        page = client.get(f"{ROOT}/eligibility", params={"limit": 1}).json()
        assert [one["id"] for one in page["data"]] == found[:0:-1]
        following = {"limit": 2, "after": page["next"]}
        page = client.get(f"{ROOT}/eligibility", params=following).json()
        assert [one["id"] for one in page["data"]] == [found[0], listed["id"]]
        assert page["next"] is None
        faults = client.post(
            f"{ROOT}/eligibility",
            json={
                "payer_id": "TST01",
                "provider": {"npi": "1", "nmae": "x"},
                "subscriber": {"birth_date": "x"},
                "servicetypes": [],
            },
        )
        assert {one["field"] for one in problem(faults, 400)["errors"]} == {
            "provider.nmae", "provider.name", "subscriber.member_id", "servicetypes",
        }  # fmt: skip
        subscriber = {**question["subscriber"], "birth_date": "x"}
        faults = client.post(f"{ROOT}/eligibility", json={**question, "subscriber": subscriber})
        assert fields(faults) == {"subscriber.birth_date"}
        problem(client.get(f"{ROOT}/eligibility/99999999999"), 404)


def fields(answer):
    return {one["field"] for one in problem(answer, 400)["errors"]}


def test_a_call_is_found_by_its_request_id(client, own):
    rows = client.get(f"{ROOT}/calls/{own.ids['request_id']}").json()["data"]
    assert [row["action"] for row in rows] == ["claim.read"]
    assert rows[0]["ids"] == [own.number]
    assert "127.0.0.1" not in rows[0]["detail"]


@pytest.mark.both_databases
def test_a_console_link_signs_a_user_of_the_vendor_in_once(server, client, own, two):
    name = f"rosa{random.getrandbits(30):x}"
    server.command("user", "add", name, "--vendor", own.account.key, "--all-sites")
    body = {"user": name.upper(), "claim_number": own.number}
    answer = client.post(f"{ROOT}/console_links", json=body)
    assert answer.status_code == 201, answer.text
    url = answer.json()["url"]
    assert f"next=%2Fclaims%2F{own.number}" in url
    path = url.partition("/console/")[2]
    with server.client() as browser:
        opened = browser.get(f"/console/{path}")
        again = browser.get(f"/console/{path}")
    assert opened.status_code == 200
    assert f"/console/claims/{own.number}" in opened.text
    assert again.status_code == 403
    other = two[1]
    refused = client.post(
        f"{ROOT}/console_links", json={"user": name, "claim_number": other.number}
    )
    problem(refused, 404)
    with server.client(other.account.auth) as foreign:
        problem(foreign.post(f"{ROOT}/console_links", json=body), 400)
    for wrong in ({}, {"user": "operator"}, {"user": "\0"}, {"user": 1}):
        problem(client.post(f"{ROOT}/console_links", json=wrong), 400)
