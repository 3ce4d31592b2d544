"""One claim reads the same wherever it is read: V3's status and documents, v1, the command line, the console, raw X12.

Claims of the scenarios in which money moves more than once, a void, and two visits under one id of the vendor. Figures
are computed by hand from the sandbox's page.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape

import pytest

from clearlane.claims.forms import V3_MEDICAL, samples
from tests.api.service_process import ServiceProcess
from tests.console.console_user import add_person, sign_in

TODAY = datetime.now(UTC).date()
SUBMIT = "/api/v3/claims/submit"
BY_DATE = "/api/v3/claims/status/get_by_date"
BY_ID = "/api/v3/claims/responses/get_by_doc_id"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What every reader must see of one claim in the end."""

    frequency: str = "1"
    paid: str = "100.00"
    patient: str = "0.00"
    adjustments: str = "0.00"
    label: str = "paid"
    """In v1, and by its word in the console."""
    claim_payments: tuple[tuple[str, str], ...] = (("1", "100"),)
    """CLP02 and CLP04 of each remittance, in order."""


CORRECTED = Reading(
    paid="75.00", adjustments="25.00", claim_payments=(("1", "100"), ("22", "-100"), ("1", "75"))
)
READINGS: dict[str, Reading] = {
    "3008": CORRECTED,
    "3011": Reading(
        paid="80.00",
        patient="20.00",
        claim_payments=(("19", "80"),),
    ),
    "3012": Reading(),
    "3022": CORRECTED,
    "3024": Reading(),
    "voided": Reading(paid="0.00", label="voided", claim_payments=(("1", "100"), ("22", "-100"))),
    "void": Reading(
        frequency="8",
        paid="0.00",
        adjustments="100.00",
        label="voided",
        claim_payments=(("1", "0"),),
    ),
    "first visit": Reading(),
    "second visit": Reading(),
}
SCENARIOS = [name for name in READINGS if name.isdigit()]


class Readers:
    """A sandbox in which everything has happened, and the ways to read a claim of it."""

    def __init__(self, server: ServiceProcess) -> None:
        self.server = server
        facts = server.sandbox
        self.site = facts["vendor_site_id"]
        self.vendor = server.client((facts["vendor_key"], facts["vendor_password"]))
        self.browser = server.client(follow_redirects=True)
        nora = add_person(server, "nora", "--vendor", facts["vendor_key"], "--all-sites")
        sign_in(self.browser, **nora.credentials(code=nora.code()))

    def post(self, path: str, body: object = None, **query: str):
        done = self.vendor.post(path, json=body, params={"vendorSiteId": self.site, **query})
        assert done.status_code == 200, done.text
        return done.json()

    def submit(self, id: str, member: str = "3001", *, days: int = 20, **given: str) -> str:
        """Submit a claim of 100.00; its number."""
        day = TODAY - timedelta(days=days)
        document = samples.document(V3_MEDICAL, day=day, insured_id=member, claim_id=f"READ-{id}")
        [claim] = json.loads(json.dumps(document["Claims"], default=str))
        body = {"DocumentType": "MedicalClaim", "Claims": [claim | given]}
        [result] = self.post(SUBMIT, body)["ClaimResults"]
        assert result["Status"] == "Accepted", result
        return result["RequestId"]

    def advance(self, days: int) -> None:
        self.post("/sandbox/advance", {"By": f"{days}d"})

    def rows(self) -> list[dict]:
        """V3's status list."""
        span = {"startDate": str(TODAY), "endDate": str(TODAY + timedelta(days=90))}
        return self.post(BY_DATE, **span)

    def status(self, number: str) -> dict:
        [row] = [row for row in self.rows() if row["ClaimNumber"] == number]
        return row

    def claim_payments(self, number: str) -> list[tuple[str, str]]:
        """CLP02 and CLP04 of the claim's part of each 835, as V3's documents hold it."""
        found = self.post(BY_ID, [self.status(number)["RelatedDocumentId"]])["RemittanceAdvices"]
        assert len({one["DocumentId"] for one in found}) == len(found)
        segments = [part for one in found for part in one["X12Document"].split("~")]
        parts = [segment.strip().split("*") for segment in segments]
        return [(part[2], part[4]) for part in parts if part[0] == "CLP"]

    def page(self, number: str) -> str:
        """The text of the claim's page."""
        page = self.browser.get(f"/console/claims/{number}")
        assert page.status_code == 200
        return re.sub(
            r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page.text.partition("<main")[2]))
        )


@pytest.fixture(scope="module")
def readers(tmp_path_factory) -> Iterator[tuple[Readers, dict[str, str]]]:
    running = ServiceProcess(tmp_path_factory.mktemp("readings") / "served").start()
    try:
        all_of_them = Readers(running)
        all_of_them.post("/sandbox/clock", {"Frozen": True})
        numbers = {name: all_of_them.submit(name, name) for name in SCENARIOS}
        numbers["voided"] = all_of_them.submit("V")
        numbers["first visit"] = all_of_them.submit("VISIT")
        all_of_them.advance(40)
        numbers["void"] = all_of_them.submit("V", F22_MedicaidResubmissionCode="8")
        numbers["second visit"] = all_of_them.submit("VISIT", days=13)
        all_of_them.advance(40)
        yield all_of_them, numbers
        all_of_them.vendor.close()
        all_of_them.browser.close()
    finally:
        assert running.stop() == 0


@pytest.mark.safe_default(1, 2, 4, 5)
@pytest.mark.parametrize("name", READINGS)
def test_a_claim_reads_the_same_everywhere(readers, name):
    reader, numbers = readers
    number, expected = numbers[name], READINGS[name]

    first = reader.claim_payments(number)
    own = reader.vendor.get(f"/clearlane/v1/claims/{number}").json()
    assert reader.claim_payments(number) == first == list(expected.claim_payments)
    assert sum(Decimal(paid) for _, paid in first) == Decimal(expected.paid)

    row = reader.status(number)
    amounts = ("PayerAmount", "PatientAmount", "Adjustments")
    assert row["CurrentState"] == "Complete"
    assert [f"{row[name]:.2f}" for name in amounts] == [
        expected.paid, expected.patient, expected.adjustments,
    ]  # fmt: skip

    assert own["state"] == "complete"
    assert own["label"] == expected.label
    assert [own[name] for name in ("paid", "patient", "adjustments")] == [
        expected.paid, expected.patient, expected.adjustments,
    ]  # fmt: skip
    assert sum(Decimal(one["paid"]) for one in own["payments"]) == Decimal(expected.paid)

    shown = json.loads(reader.server.command("claim", "show", number, "--json"))
    assert shown["state"] == "complete"
    assert f"{shown['status']['payer_cents'] / 100:.2f}" == expected.paid

    page = reader.page(number)
    assert expected.label.capitalize() in page[:200]
    written = reader.server.command("claim", "x12", number)
    claim = next(part for part in written.split("~") if part.strip().startswith("CLM*"))
    assert claim.split("*")[5].split(":")[2] == expected.frequency


@pytest.mark.safe_default(1)
def test_both_visits_under_one_id_are_listed(readers):
    reader, numbers = readers
    listed = reader.vendor.get("/clearlane/v1/claims", params={"vendor_claim_id": "READ-VISIT"})
    visits = {numbers["first visit"], numbers["second visit"]}
    assert {one["claim_number"] for one in listed.json()["data"]} == visits
    assert all(one["successor"] is None for one in listed.json()["data"])
    assert {row["ClaimNumber"] for row in map(reader.status, visits)} == visits


@pytest.mark.safe_default(5)
def test_payments_add_up_the_same_everywhere(readers):
    """A payment that came twice counts once (3024)."""
    reader, _ = readers
    listed = reader.vendor.get("/clearlane/v1/payments", params={"limit": 100}).json()
    assert listed["next"] is None
    whole = sum(Decimal(one["amount"]) for one in listed["data"])
    last = reader.server.command("payment", "list").strip().splitlines()[-1]
    assert last.endswith(f"payments, {whole:,.2f} in all.")
    shown = set(re.findall(r"/payments/(P\w+)", reader.browser.get("/console/payments").text))
    assert shown == {one["payment_id"] for one in listed["data"]}
    # What was paid for claims is what the claims show.
    paid = sum(Decimal(one["claims_paid"]) for one in listed["data"])
    assert paid == sum(Decimal(str(row["PayerAmount"])) for row in reader.rows())


@pytest.mark.safe_default(4, 5)
def test_events_tell_what_the_claims_show(readers):
    reader, numbers = readers
    seen: dict[str, set[str]] = {}
    page = {"next": ""}
    while page["next"] is not None:
        after = {"after": page["next"]} if page["next"] else {}
        page = reader.vendor.get("/clearlane/v1/events", params={"limit": 100, **after}).json()
        for event in page["data"]:
            seen.setdefault(event["claim_number"], set()).add(event["type"])
    assert "claim.voided" in seen[numbers["void"]] | seen[numbers["voided"]]
    assert "claim.denied" not in seen[numbers["void"]]
    assert "claim.forwarded" in seen[numbers["3011"]]
