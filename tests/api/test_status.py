"""The status list and the documents over https on both databases. What payers answer is tested on journeys.

Also tests `pipeline/query/claim_list`.
"""

import json
import random
from datetime import UTC, date, datetime, timedelta

import pytest

from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.pipeline.query.claim_list import STATUSES_AT_ONCE

pytestmark = pytest.mark.one_database

SUBMIT = "/api/v3/claims/submit"
STATUS = "/api/V3/claims/status/get_by_date"
DOCUMENTS = "/api/v3/claims/responses/get_by_doc_id"
DAY = datetime.now(UTC).date() - timedelta(days=30)
NAMES = (
    "VendorId", "VendorSiteId", "ClaimNumber", "CurrentState", "StateChangeDate", "PayerAction",
    "PayerActionDate", "PayerControlNumber", "CreateDate", "LastUpdateDate", "RelatedDocumentType",
    "RelatedDocumentId", "TotalClaimAmount", "PayerAmount", "Adjustments", "PatientAmount", "PayerName",
    "PaymentMethod", "PaymentReferenceNumber", "PaymentEffectiveDate", "VendorClaimId",
)  # fmt: skip


@pytest.fixture(scope="module")
def vendor(server):
    """A vendor of this module alone, with two sites."""
    account = server.add_vendor(f"LISTED{random.getrandbits(32):X}")
    for name in ("1", "2"):
        server.add_site(account, f"{account.key}-{name}", "--baa-accepted")
    return account


@pytest.fixture(scope="module")
def listed(server, vendor):
    with server.client(vendor.auth, params={"vendorSiteId": f"{vendor.key}-1"}) as client:
        yield client


def today(client) -> date:
    """Return the day of the service, whose clock other tests may have advanced."""
    answer = client.get("/nothing")
    return datetime.fromisoformat(answer.headers["x-service-time"]).date()


def ask(client, start, end, **options):
    return client.post(STATUS, params={"startDate": start, "endDate": end}, **options)


def around(client):
    """Yesterday to tomorrow, so that no midnight matters."""
    day = today(client)
    answer = ask(client, day - timedelta(days=1), day + timedelta(days=1))
    assert answer.status_code == 200, answer.text
    return answer.json()


def submit(client, *, claims=1, **changes):
    document = samples.document(V3_MEDICAL, day=DAY)
    (claim,) = document["Claims"]
    document["Claims"] = [
        # 3009 is never answered, so the rows stay as they are.
        {**claim, "Svc_VendorClaimId": f"V{random.getrandbits(60):x}", **changes}
        for _ in range(claims)
    ]
    answer = client.post(SUBMIT, json=json.loads(json.dumps(document, default=str)))
    assert answer.status_code == 200, answer.text
    return answer.json()["ClaimResults"]


def test_an_accepted_claim_is_listed_with_its_21_fields(listed, vendor):
    (result,) = submit(listed, F01A_InsuredId="3009")
    row = next(row for row in around(listed) if row["ClaimNumber"] == result["RequestId"])
    assert tuple(row) == NAMES
    assert row["VendorSiteId"] == f"{vendor.key}-1"
    assert row["VendorClaimId"] == result["VendorClaimId"]
    assert row["CurrentState"] in {"Received", "Sent"}
    assert isinstance(row["VendorId"], int)
    assert (row["PayerAmount"], row["Adjustments"], row["PatientAmount"]) == (0, 0, 0)
    assert row["TotalClaimAmount"] > 0
    assert (row["PayerName"], row["PaymentMethod"]) == (None, None)
    assert row["PayerAction"] == row["PayerControlNumber"] == row["PaymentReferenceNumber"] == ""
    assert row["RelatedDocumentId"] == row["RelatedDocumentType"] == ""
    assert row["PayerActionDate"] == row["PaymentEffectiveDate"] == "0001-01-01"
    created = {row["CreateDate"], row["LastUpdateDate"], row["StateChangeDate"]}
    day = today(listed)
    assert created <= {str(day), str(day - timedelta(days=1))}


def test_a_refused_claim_is_not_listed(listed):
    (result,) = submit(listed, F28_TotalCharge=1)
    assert result["Status"] == "NotAccepted"
    assert result["RequestId"] not in {row["ClaimNumber"] for row in around(listed)}


@pytest.mark.both_databases
def test_rows_come_in_order_and_none_is_lost_between_pages(listed):
    count = STATUSES_AT_ONCE + 3
    sent = {result["RequestId"] for result in submit(listed, claims=count, F01A_InsuredId="3009")}
    rows = around(listed)
    keys = [(row["CreateDate"], row["ClaimNumber"]) for row in rows]
    assert keys == sorted(set(keys))
    assert sent <= {row["ClaimNumber"] for row in rows}


@pytest.mark.both_databases
def test_another_site_sees_nothing(server, vendor, listed):
    submit(listed, F01A_InsuredId="3009")
    with server.client(vendor.auth, params={"vendorSiteId": f"{vendor.key}-2"}) as client:
        assert around(client) == []


def test_days_outside_are_not_listed(listed):
    submit(listed, F01A_InsuredId="3009")
    assert ask(listed, "2018-04-01", "2018-04-30").json() == []
    future = today(listed) + timedelta(days=2)
    assert ask(listed, future, future).json() == []


@pytest.mark.parametrize("missing", ["startDate", "endDate"])
@pytest.mark.parametrize("value", [None, "", "2018-02-30", "April", "2018-4", "31/31/2018", "0"])
def test_a_missing_or_invalid_day_is_named(listed, missing, value):
    days = {"startDate": "2018-04-01", "endDate": "2018-04-30"} | {missing: value}
    days = {name: text for name, text in days.items() if text is not None}
    answer = listed.post(STATUS, params=days)
    assert answer.status_code == 400
    assert answer.json()["Message"] == "The request is invalid."
    assert f"null entry for parameter '{missing}'" in answer.json()["MessageDetail"]


def test_the_start_may_not_be_after_the_end(listed):
    answer = ask(listed, "2018-04-02", "2018-04-01")
    assert answer.status_code == 400
    assert answer.json()["MessageDetail"] == "The startDate is later than the endDate."
    assert ask(listed, "2018-04-01", "2018-04-01").status_code == 200


@pytest.mark.parametrize(
    "text", ["2018-4-1", "4/1/2018 12:00:00 AM", "2018/04/01", "Sun, 01 Apr 2018 00:00:00 GMT"]
)
def test_the_days_of_a_query_are_read_as_clients_write_them(listed, text):
    assert ask(listed, text, text).status_code == 200


def test_the_look_is_audited(server, listed):
    ask(listed, "2018-04-01", "2018-04-30")
    exported = server.command("audit", "export")
    assert any(
        "claims.status" in line and "2018-04-01..2018-04-30" in line
        for line in exported.splitlines()
    )


# Documents.


@pytest.mark.parametrize("ids", [[], ["no-such-document"], ["a", "a", "", "ü" * 300], ["a\0b"]])
def test_documents_that_do_not_exist_are_left_out(listed, ids):
    answer = listed.post(DOCUMENTS, json=ids)
    assert answer.status_code == 200
    assert answer.json() == {"RemittanceAdvices": [], "PayerClaimStatuses": []}


def test_every_id_that_is_no_text_is_named(listed):
    answer = listed.post(DOCUMENTS, json=["a", 1, None, {"x": 1}])
    assert answer.status_code == 400
    assert set(answer.json()["ModelState"]) == {"[1]", "[2]", "[3]"}


@pytest.mark.parametrize("body", [b"", b"{}", b'"a"', b"null", b"[", b"\xff"])
def test_a_body_that_is_no_list_is_refused(listed, body):
    answer = listed.post(DOCUMENTS, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["ModelState"]


@pytest.mark.both_databases
def test_a_hundred_thousand_documents_can_be_asked_for_and_no_more(server, listed):
    ids = [f"none{at}" for at in range(100_000)]
    answer = listed.post(DOCUMENTS, json=ids)
    assert answer.json() == {"RemittanceAdvices": [], "PayerClaimStatuses": []}
    lines = server.command("audit", "export").splitlines()
    assert json.loads([line for line in lines if "documents.read" in line][-1])["count"] == 0
    answer = listed.post(DOCUMENTS, json=[*ids, "one more"])
    assert answer.status_code == 413
    assert answer.json() == {"Message": "At most 100000 documents can be asked for at once."}
