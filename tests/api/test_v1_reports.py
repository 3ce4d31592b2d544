"""Reports of `/clearlane/v1` agree with the claims and payments that lists show, over scenarios of the sandbox.

Also tests `api/v1/content/reports`, `pipeline/query/totals/daily_sums`, `pipeline/query/totals/report_totals` and `store/payments/report_sums`.
"""

import random
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal

import pytest

from clearlane.pipeline.query.totals.report_totals import AGE_WORDS, by_age
from clearlane.store.payments.report_sums import SumAmounts, SumKey
from tests.api.test_claims import a_document, post, results
from tests.api.test_v1_claims import advance
from tests.api.test_v1_frame import fields
from tests.patience import wait_until

pytestmark = pytest.mark.both_databases

ROOT = "/clearlane/v1"
MEMBERS = ("3001", "3002", "3003", "3004", "3008", "3009", "3014", "3022", "3024", "3025")
"""Paid, with what the patient owes, denied, rejected, taken back and paid again, and paid in two files."""
DAYS = ["14d", "2d", "14d"]


@pytest.fixture(scope="module")
def vendor(server):
    """A vendor of this module alone."""
    account = server.add_vendor(f"SUMS{random.getrandbits(32):X}")
    for name in ("1", "2"):
        server.add_site(account, f"{account.key}-{name}", "--baa-accepted")
    return account


@pytest.fixture(scope="module")
def client(server, vendor):
    with server.client(vendor.auth) as client:
        yield client


def get(client, path, **query):
    answer = client.get(f"{ROOT}/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def report(client, name, by, **query):
    return get(client, f"reports/{name}", by=by, **query)["data"]


def submit(client, vendor, member, site="1", **changed):
    document = a_document(
        Svc_PayerId="TST01", F01A_InsuredId=member, F33A_BillingProviderNpi="1234567893", **changed
    )
    answer = post(client, document, params={"vendorSiteId": f"{vendor.key}-{site}"})
    return results(answer)[0]["RequestId"]


@pytest.fixture(scope="module", autouse=True)
def month(client, vendor):
    """A month in which payers decide on claims of this vendor; what they reject is corrected."""
    numbers = {member: submit(client, vendor, member) for member in MEMBERS}
    submit(client, vendor, "3001", site="2")
    for days in DAYS:
        advance(client, vendor, days)
    changes = {"F26_PatientAcctNumber": "SUMS-2"}
    path = f"{ROOT}/claims/{numbers['3004']}"
    wait_until(lambda: client.get(path).json()["state"] == "rejected")
    answer = client.post(f"{path}/correct", json={"fields": changes})
    assert answer.status_code == 200, answer.text


def agree(client, vendor, check):
    """Check until it holds: days pass, payers decide, and sums follow within a minute or when time is let pass."""
    faults = []

    def holds():
        try:
            advance(client, vendor, "1m")
            check()
        except (AssertionError, ValueError) as fault:
            faults.append(fault)
            return False
        return True

    try:
        wait_until(holds)
    except AssertionError:
        raise faults[-1] from None


def total(rows, name):
    return sum((Decimal(one[name] or 0) for one in rows), Decimal(0))


def listed(client):
    """The claims of the vendor that lists show."""
    return get(client, "claims", tab="all", limit=500)["data"]


def test_claims_of_a_report_are_those_of_the_list_to_the_cent(client, vendor):
    """A claim that another took over from counts no more."""
    first = min(one["created_at"] for one in listed(client))[:10]
    since = {"from": (date.fromisoformat(first) - timedelta(days=1)).isoformat()}

    def check():
        rows = listed(client)
        assert len(rows) == len(MEMBERS) + 1
        by_label = report(client, "claims", "label", **since)
        assert {one["label"]: one["claims"] for one in by_label} == Counter(
            one["label"] for one in rows
        )
        for name in ("charge", "paid"):
            assert total(by_label, name) == total(rows, name), name
        [everything] = report(client, "claims", "all", **since)
        assert everything["claims"] == len(rows)
        assert {everything[name] for name in ("month", "payer_id", "label")} == {None}
        for by in ("month", "payer,provider", "day,payer,provider,label"):
            found = report(client, "claims", by, **since)
            assert total(found, "charge") == total(rows, "charge"), by
        site = f"{vendor.key}-2"
        [own] = report(client, "claims", "provider,payer", site=site, **since)
        assert (own["claims"], own["payer_id"], len(own["provider_npi"])) == (1, "TST01", 10)
        of_provider = {"provider": own["provider_npi"], "payer": "TST01,TST02", **since}
        assert report(client, "claims", "all", **of_provider) == [everything]
        assert report(client, "claims", "all", payer="NOBODY", **since) == []
        open_claims = [one for one in rows if one["awaiting"]]
        aging = report(client, "aging", "label")
        assert sum(one["claims"] for one in aging) == len(open_claims) >= 1
        assert total(aging, "charge") == total(open_claims, "charge")
        assert {one["age"] for one in aging} <= set(AGE_WORDS)

    agree(client, vendor, check)


def test_payments_and_denials_count_what_is_in_force(client, vendor):
    """What was taken back, or came twice, counts once or not at all."""
    query = {"from": "2000-01-01", "to": "2999-12-31"}

    def check():
        decided = {
            (one["claim_number"], paid["document_id"]): paid
            for one in listed(client)
            for paid in get(client, f"claims/{one['claim_number']}")["payments"]
            if paid["in_force"]
        }.values()
        # All but the one that is never answered and the one that was rejected.
        assert len(decided) == len(MEMBERS) - 1
        [paid] = report(client, "payments", "all", **query)
        assert paid["claims"] == len(decided)
        for name in ("charge", "paid", "patient"):
            assert Decimal(paid[name]) == total(decided, name), name
        parts = ("paid", "patient", "adjusted")
        assert Decimal(paid["charge"]) == sum(Decimal(paid[name]) for name in parts)

        reasons = {one["reason"]: one for one in report(client, "payments", "reason", **query)}
        assert {"CO-45", "CO-50", "PR-1", "PR-2"} <= reasons.keys()
        assert (reasons["PR-2"]["paid"], reasons["PR-2"]["charge"]) == (None, None)
        of_patient = [one for reason, one in reasons.items() if reason.startswith("PR-")]
        assert total(of_patient, "adjusted") == Decimal(paid["patient"])

        denied = [one for one in decided if one["label"] in {"denied", "partly_denied"}]
        [of_reason] = report(client, "denials", "reason", **query)
        assert (of_reason["reason"], of_reason["claims"]) == ("CO-50", len(denied))
        assert of_reason["charge"] is None
        [of_payer] = report(client, "denials", "payer", **query)
        assert of_payer["denied"] == of_reason["denied"]
        assert Decimal(of_payer["charge"]) == total(denied, "charge")
        assert report(client, "denials", "month", reason="CO-97", **query) == []

    agree(client, vendor, check)


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("name", "query", "expected"),
    [
        ("claims", {"by": "month,reason"}, {"by"}),
        ("claims", {"by": "day,month", "from": "2026-02-01", "to": "2026-01-01"}, {"by", "from"}),
        ("payments", {"from": "yesterday", "page": "2"}, {"from", "page"}),
        ("aging", {"by": "month", "from": "2026-01-01"}, {"by", "from"}),
    ],
)
def test_what_a_report_cannot_do_is_named(client, name, query, expected):
    found = fields(client.get(f"{ROOT}/reports/{name}", params=query))
    assert found
    assert found <= expected


@pytest.mark.one_database
def test_an_open_claim_is_as_old_as_its_days():
    today = date(2026, 7, 1)
    ages = {0: "0-30", 30: "0-30", 31: "31-60", 90: "61-90", 120: "91-120", 121: "over-120"}
    rows = [
        (SumKey("open", (today - timedelta(days=days)).isoformat(), "TST01"), SumAmounts(1, days))
        for days in ages
    ]
    found = {one.age: one.sums for one in by_age(rows, today)}
    assert list(found) == list(AGE_WORDS)
    assert found["0-30"] == SumAmounts(2, 30)
