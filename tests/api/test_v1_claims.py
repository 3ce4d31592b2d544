"""Claims of `/clearlane/v1` over https on both databases: search, one claim, its history.

Also tests `api/v1/content/included_parts`, `api/v1/claims`, `api/v1/claim_json` and `pipeline/query/claim_list`.
"""

import json
import random
from dataclasses import fields
from datetime import UTC, datetime, timedelta

import pytest

from clearlane.client import ClaimInfo
from tests.api.test_claims import DENTAL, a_document, post, results
from tests.patience import wait_until

CLAIMS = "/clearlane/v1/claims"


# A slow machine may let the next batch go, and a day of the payers pass, between two calls.
def test_a_list_shows_patient_days_and_lines_on_request(client, submit):
    number = submit(F26_PatientAcctNumber="ACC-INCL", **patient("Includova", "1977-03-04"))
    query = {"account_number": "ACC-INCL"}
    plain = client.get(CLAIMS, params=query)
    assert "Includova".upper() not in plain.text.upper()
    assert "included" not in plain.json()["data"][0]
    request = {"X-Request-Id": f"included-{number}"}
    answer = client.get(
        CLAIMS, params={**query, "include": "patient, Service_Days,lines"}, headers=request
    )
    included = answer.json()["data"][0]["included"]
    assert included["patient"]["last_name"].upper() == "INCLUDOVA"
    assert included["patient"]["birth_date"] == "1977-03-04"
    assert included["patient"]["account_number"] == "ACC-INCL"
    lines = included["lines"]
    assert lines[0]["procedure"]
    assert lines[0]["service_from"] == included["service_days"]["service_from"]
    one = client.get(f"{CLAIMS}/{number}", params={"include": "lines"}).json()
    assert one["included"] == {"lines": lines}
    rows = client.get(f"/clearlane/v1/calls/{request['X-Request-Id']}").json()["data"]
    assert ("claims.read", [number]) in [(row["action"], row["ids"]) for row in rows]
    refused = client.get(CLAIMS, params={"include": "patient,liens"})
    assert [one["field"] for one in refused.json()["errors"]] == ["include"]


UNPAID = ("received", "sent", "acknowledged", "pending", "accepted", "in_process")


@pytest.fixture(scope="module")
def vendor(server):
    """A vendor of this module alone."""
    account = server.add_vendor(f"FOUND{random.getrandbits(32):X}")
    for name in ("1", "2"):
        server.add_site(account, f"{account.key}-{name}", "--baa-accepted")
    return account


@pytest.fixture(scope="module")
def client(server, vendor):
    with server.client(vendor.auth) as client:
        yield client


@pytest.fixture(scope="module")
def submit(client, vendor):
    """Submit one claim; its number."""

    def submit(*, kind="medical", site="1", status="Accepted", **changes):
        document = a_document(DENTAL, **changes) if kind == "dental" else a_document(**changes)
        options = {"params": {"vendorSiteId": f"{vendor.key}-{site}"}}
        answer = post(client, document, *([DENTAL] if kind == "dental" else []), **options)
        (result,) = results(answer)
        assert result["Status"] == status, result
        return result["RequestId"]

    return submit


def patient(name, born):
    """The fields of a patient who is the insured."""
    return {
        "F02_PatientNameLast": name,
        "F04_InsuredNameLast": name,
        "F03_PatientDob": born,
        "F11A_InsuredDob": born,
    }


def advance(client, vendor, by):
    """Let time pass for the sandbox's payers."""
    params = {"vendorSiteId": f"{vendor.key}-1"}
    answer = client.post("/sandbox/advance", params=params, json={"By": by})
    assert answer.status_code == 200, answer.text


def found(client, **query):
    answer = client.get(CLAIMS, params=query)
    assert answer.status_code == 200, answer.text
    return [one["claim_number"] for one in answer.json()["data"]]


def test_a_claim_is_found_by_what_it_was_sent_with(client, vendor, submit):
    plain = submit()
    wanted = submit(
        Svc_VendorClaimId="V-FOUND-1",
        F26_PatientAcctNumber="ACC-7781",
        **patient("O'Árden", "1981-03-04"),
    )
    dental = submit(kind="dental", site="2")
    for query in (
        {"vendor_claim_id": "V-FOUND-1"},
        {"account_number": "ACC-7781"},
        {"patient_last_name": "oarden", "patient_birth_date": "1981-03-04"},
        {"patient_last_name": " O ARDEN", "patient_birth_date": "1981-03-04", "kind": "medical"},
    ):
        assert found(client, **query) == [wanted], query
        assert found(client, site=f"{vendor.key}-2", **query) == []
    assert found(client, kind="dental") == [dental]
    for query in (
        {"vendor_claim_id": "v-found-1"},
        {"patient_last_name": "Arden", "patient_birth_date": "1981-03-04"},
        {"patient_last_name": "OArden", "patient_birth_date": "1981-03-05"},
        {"payer": "NOBODY"},
        {"created_to": "2001-01-01"},
        {"state": "complete", "amount_from": "1000000"},
    ):
        assert found(client, **query) == [], query
    assert {plain, wanted} <= set(found(client, created_from="2001-01-01", amount_to="100000"))
    answer = client.get(CLAIMS, params={"patient_last_name": "Arden"})
    assert answer.json()["errors"][0]["field"] == "patient_birth_date"


def test_what_a_person_wrote_is_in_no_column(server, client, submit):
    name, account = f"QZNAME{random.getrandbits(24):X}", f"QZACC{random.getrandbits(24):X}"
    submit(F26_PatientAcctNumber=account, **patient(name, "1970-01-01"))
    query = {"patient_last_name": name, "patient_birth_date": "1970-01-01"}
    assert client.get(CLAIMS, params=query).status_code == 200
    if server.kind == "sqlite":
        for file in server.data.glob("*.db*"):
            content = file.read_bytes()
            assert name.encode() not in content
            assert account.encode() not in content


def test_changes_are_listed_in_their_order(client, vendor, submit):
    before = datetime.now(UTC) - timedelta(seconds=1)
    first, second = submit(), submit()
    rows = client.get(CLAIMS, params={"changed_after": before.isoformat()}).json()["data"]
    numbers = [one["claim_number"] for one in rows]
    # Either may change again, when it is sent, while the other does not.
    assert {first, second} <= set(numbers)
    assert [one["changed_at"] for one in rows] == sorted(one["changed_at"] for one in rows)
    seen, after = [], {}
    while True:
        query = {"changed_after": before.isoformat(), "limit": 1, **after}
        page = client.get(CLAIMS, params=query).json()
        seen += [one["claim_number"] for one in page["data"]]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert set(seen) >= {first, second}
    assert found(client, changed_after="2999-01-01T00:00:00Z") == []
    newest = client.get(CLAIMS, params={"limit": 1}).json()["next"]
    other = {"changed_after": before.isoformat(), "after": newest}
    refused = client.get(CLAIMS, params=other)
    assert refused.status_code == 400
    assert "in another order" in refused.json()["detail"]
    named = client.get(CLAIMS, params={"site": "NOPE"})
    assert f"{vendor.key}-1, {vendor.key}-2" in named.json()["detail"]


@pytest.mark.one_database
def test_one_claim_has_its_history_from_receipt_to_payment(client, vendor, submit):
    number = submit(
        Svc_PayerId="TST01", F01A_InsuredId="3001", F33A_BillingProviderNpi="1234567893"
    )
    advance(client, vendor, "14d")

    def complete():
        return client.get(f"{CLAIMS}/{number}").json()["state"] == "complete"

    wait_until(complete)
    claim = client.get(f"{CLAIMS}/{number}").json()
    assert claim["claim_number"] == number
    assert claim["label"] == "paid"
    assert float(claim["paid"]) > 0
    headlines = [one["event"] for one in claim["history"]]
    assert headlines[:2] == ["Received", "Checked"]
    assert any(one.startswith("Remittance") for one in headlines)
    assert claim["batches"][0]["delivered_at"]
    (payment,) = claim["payments"]
    assert (payment["label"], payment["in_force"]) == ("paid", True)
    assert payment["document_id"] in {one["document_id"] for one in claim["documents"]}
    assert claim["document_id"] == payment["document_id"]
    path = f"/clearlane/v1/payments/{payment['payment_id']}/claim_payments"
    own = {one["id"]: one for one in client.get(path).json()["data"]}
    assert payment == own[payment["claim_payment_id"]] | {"payment_id": payment["payment_id"]}
    by_number = {"payer_control_number": claim["payer_control_number"]}
    assert found(client, **by_number) == [number]
    assert number in found(client, label="paid", state="complete")
    listed = client.get(CLAIMS, params=by_number).json()["data"][0]
    assert listed.items() <= claim.items()


@pytest.mark.safe_default(16)
def test_a_claim_that_was_not_accepted_is_listed_if_it_is_asked_for(server, client, vendor, submit):
    wrong = {"Svc_VendorClaimId": "V-REFUSED", "Svc_PayerId": "NOPAYER"}
    submit(status="NotAccepted", **wrong)
    refused = submit(status="NotAccepted", F28_TotalCharge="1.00", **wrong)
    assert refused not in found(client)
    assert refused in found(client, vendor_claim_id="V-REFUSED")
    assert refused in found(client, state="not_accepted")
    assert refused in found(client, state="not_accepted", amount_from="1", amount_to="1")
    claim = client.get(f"{CLAIMS}/{refused}").json()
    assert (claim["state"], claim["vendor_claim_id"]) == ("not_accepted", "V-REFUSED")
    assert (claim["label"], claim["charge"]) == ("not_accepted", "1.00")
    errors = [one["field"] for one in claim["findings"] if one["severity"] == "error"]
    assert set(errors) == {"Svc_PayerId", "F28_TotalCharge"}
    shown = " ".join(server.command("claim", "show", "V-REFUSED").split())
    assert f"{refused} (V-REFUSED)" in shown
    assert all(one["message"] in shown for one in claim["findings"] if one["severity"] == "error")
    types = {"types": "claim.not_accepted"}
    events = client.get("/clearlane/v1/events", params=types).json()["data"]
    assert (events[-1]["claim_number"], events[-1]["data"]["state"]) == (refused, "not_accepted")
    plain = client.get(f"{CLAIMS}/{submit()}").json()
    fields = {"Svc_PayerId": plain["payer_id"], "F28_TotalCharge": plain["charge"]}
    answer = client.post(f"{CLAIMS}/{refused}/correct", json={"fields": fields})
    assert (answer.status_code, answer.json()["sent_as"]) == (200, "new")
    number = answer.json()["claim_number"]
    assert number in found(client)
    assert client.get(f"{CLAIMS}/{number}").json()["label"] in UNPAID
    assert client.get(f"{CLAIMS}/{refused}").json()["successor"] == number
    assert f"{number} (V-REFUSED)" in server.command("claim", "show", "V-REFUSED")


def test_claim_list_shows_what_v1_lists_as_a_table_as_json_and_as_csv(server, client, submit):
    number = submit(Svc_VendorClaimId="V-LISTED")
    wanted = ("--vendor-claim-id", "V-LISTED")
    [listed] = json.loads(server.command("claim", "list", *wanted, "--json"))
    [answered] = client.get(CLAIMS, params={"vendor_claim_id": "V-LISTED"}).json()["data"]
    assert listed.keys() == answered.keys()
    assert list(listed) == [one.name for one in fields(ClaimInfo) if one.name != "raw"]
    assert (listed["paid"], listed["patient"]) == (None, None)
    shown = server.command("claim", "show", number)
    assert shown.splitlines()[0].rpartition(", ")[2] in UNPAID
    assert "total 100.00  adjustments 0.00" in shown
    assert listed["claim_number"] == answered["claim_number"] == number
    table = server.command("claim", "list", *wanted)
    assert number in table
    assert "1 claim." in table
    head, row = server.command("claim", "list", *wanted, "--csv").splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=True))["claim_number"] == number
    assert "No claims." in server.command("claim", "list", *wanted, "--service-to", "1999-01-01")


def test_a_claim_of_another_is_as_one_that_is_not_there(server, parties, client, submit):
    number = submit()
    with server.client(parties.other.auth) as other:
        answers = [other.get(f"{CLAIMS}/{one}") for one in (number, "C000000000000000000")]
        assert found(other, vendor_claim_id="V-FOUND-1") == []
    assert [one.status_code for one in answers] == [404, 404]
    assert answers[0].content == answers[1].content
