"""The payments that the sandbox's page promises, from submission to `clearlane payment list`, over https.

Each example has a billing provider of its own, and so a check of its own. The claims of the last come from two sites and
leave in one file: the sandbox gathers claims until time is advanced. Figures are those of the page, which were computed by
hand.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

import pytest

from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.cli.command.operator_command import run_in_installation
from clearlane.pipeline.load_claim import find_claim_scope
from clearlane.pipeline.query.payment_list import list_payments
from clearlane.store.payments.payment_query import PaymentQuery
from tests.api.service_process import ServiceProcess
from tools.docs.payment_examples import PAYMENT_EXAMPLES, PaymentExample

CODES = ("99213", "71046", "97110")
SECOND_SITE = "SANDBOX-2"
OVER_TWO_SITES = PAYMENT_EXAMPLES[-1]
PARTS = ("100.00", "113.60")
"""What each of the two sites has of the last example's check."""


def npi_of(example: PaymentExample) -> str:
    return samples.npi(123456700 + PAYMENT_EXAMPLES.index(example))


def claim_of(example: PaymentExample, at: int, today: date) -> dict:
    wanted = example.claims[at]
    name = f"EX-{PAYMENT_EXAMPLES.index(example)}-{at}"
    document = samples.document(
        V3_MEDICAL,
        day=today - timedelta(days=20),
        insured_id=wanted.insured_id,
        claim_id=name,
    )
    claim = json.loads(json.dumps(document["Claims"][0], default=str))
    (line,) = claim["F24_ClaimLines"]
    claim["F24_ClaimLines"] = [
        {**line, "F24D_HcpcsProcedureCode": code, "F24F_Charges": charge}
        for code, charge in zip(CODES, wanted.charges, strict=False)
    ]
    total = sum(map(Decimal, wanted.charges))
    return claim | {"F28_TotalCharge": str(total), "F33A_BillingProviderNpi": npi_of(example)}


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[ServiceProcess]:
    """A sandbox in which every example was sent and forty days have passed."""
    data = tmp_path_factory.mktemp("payments") / "served"
    running = ServiceProcess(data, CLEARLANE_SANDBOX_WINDOW_SECONDS="86400").start()
    facts = running.sandbox
    running.command("site", "add", facts["vendor_key"], "--id", SECOND_SITE, "--baa-accepted")
    try:
        with running.client((facts["vendor_key"], facts["vendor_password"])) as client:
            client.timeout = 120

            def post(path: str, body: object, site: str = facts["vendor_site_id"]) -> dict:
                answer = client.post(path, json=body, params={"vendorSiteId": site})
                assert answer.status_code == 200, answer.text
                return answer.json()

            def submit(claims: list[dict], site: str = facts["vendor_site_id"]) -> None:
                body = {"DocumentType": "MedicalClaim", "Claims": claims}
                results = post("/api/v3/claims/submit", body, site)["ClaimResults"]
                assert {one["Status"] for one in results} == {"Accepted"}

            today = running.advance_to_noon()
            post("/sandbox/clock", {"Frozen": True})
            submit([claim_of(OVER_TWO_SITES, 0, today)])
            submit([claim_of(OVER_TWO_SITES, 1, today)], SECOND_SITE)
            submit(
                [
                    claim_of(example, at, today)
                    for example in PAYMENT_EXAMPLES[:-1]
                    for at in range(len(example.claims))
                ]
            )
            post("/sandbox/advance", {"By": "40d"})
        running.today = today
        yield running
    finally:
        assert running.stop() == 0


@pytest.fixture(scope="module")
def payments(server) -> dict[str, list[dict]]:
    """The payments by the billing provider's NPI, oldest first."""
    found = defaultdict(list)
    for one in reversed(json.loads(server.command("payment", "list", "--json"))):
        found[one["payee_npi"]].append(one)
    return found


@pytest.mark.parametrize("example", PAYMENT_EXAMPLES, ids=lambda one: one.title)
def test_the_payments_are_those_of_the_page(server, payments, example):
    found = payments[npi_of(example)]
    counted = [one for one in found if one["state"] != "duplicate"]
    promised = [one for one in example.payments if not one.is_duplicate]
    assert [
        (one["effective_date"], one["amount"], one["claims_paid"], one["difference"])
        for one in counted
    ] == [
        (str(server.today + timedelta(days=one.day)), one.amount, one.claims_paid, one.difference)
        for one in promised
    ]
    for one, wanted in zip(counted, promised, strict=True):
        assert one["unmatched"] == 0
        assert one["balanced"] is (wanted.difference == "0.00")
        shown = json.loads(server.command("payment", "show", one["payment_id"], "--json"))
        adjusted = [(row["reason"], row["amount"]) for row in shown["provider_adjustments"]]
        assert sorted(adjusted) == sorted(wanted.adjustments)
    # The same bytes again are the same file; the same payment in another file is kept, and counts nothing.
    repeated = [one for one in found if one["state"] == "duplicate"]
    assert len(repeated) == (example.claims[0].insured_id == "3024")


def test_each_site_sees_its_part_of_a_check(server, payments):
    [check] = payments[npi_of(OVER_TWO_SITES)]
    shown = json.loads(server.command("payment", "show", check["payment_id"], "--json"))
    claims = {one["vendor_claim_id"]: one["claim_number"] for one in shown["claim_payments"]}

    async def parts(installation) -> list[tuple[int | None, int]]:
        found = []
        for name in sorted(claims):
            scope = await find_claim_scope(installation.database, claims[name])
            query = PaymentQuery(scope=scope)
            own = await list_payments(installation.database, installation.vault, query)
            (one,) = [one.payment for one in own if one.payment.payment_id == check["payment_id"]]
            found.append((one.amount, one.your_amount))
        return found

    whole = int(Decimal(check["amount"]) * 100)
    expected = [(whole, int(Decimal(part) * 100)) for part in PARTS]
    assert run_in_installation(server.data, parts) == expected


def test_what_was_taken_back_counts_no_more(server, payments):
    in_two_files = next(one for one in PAYMENT_EXAMPLES if one.claims[0].insured_id == "3022")
    types = []
    for one in payments[npi_of(in_two_files)]:
        shown = json.loads(server.command("payment", "show", one["payment_id"], "--json"))
        types += [(row["type"], row["paid"], row["in_force"]) for row in shown["claim_payments"]]
    assert types == [
        ("original", "240.00", False),
        ("reversal", "-240.00", False),
        ("correction", "180.00", True),
    ]
