import re
from datetime import date
from pathlib import Path

import msgspec
import pytest

from clearlane.payments import as_json
from clearlane.payments.payment import ClaimPayment, PaidLine, Payment, ProviderAdjustment
from tests.claims.answers import paid, payment
from tests.payments.invented import ADJUSTMENTS
from tests.payments.whole_835 import read_payments

LIST = {
    "payment_id", "payer_id", "payer_name", "trace_number", "amount", "effective_date", "claims", "unmatched",
    "balanced", "state",
}  # fmt: skip
CLAIM_PAYMENT = {
    "type", "label", "claim_number", "vendor_claim_id", "charge", "paid", "patient", "lines",
}  # fmt: skip


@pytest.mark.parametrize(
    ("cents", "text"),
    [
        (0, "0.00"),
        (5, "0.05"),
        (-5, "-0.05"),
        (123456, "1234.56"),
        (-10000, "-100.00"),
        (None, None),
    ],
)
def test_money_is_text_with_two_decimals(cents, text):
    assert as_json.money_text(cents) == text


def test_the_names_that_scripts_rely_on_are_there():
    found = as_json.payment_object(Payment(amount=69910, effective_date=date(2026, 12, 3)))
    assert found.keys() >= LIST
    assert (found["amount"], found["effective_date"], found["state"]) == (
        "699.10",
        "2026-12-03",
        "posted",
    )
    assert as_json.claim_payment_object(ClaimPayment()).keys() >= CLAIM_PAYMENT
    assert as_json.adjustment_object(ProviderAdjustment()).keys() >= {"reason", "amount", "text"}
    assert as_json.own_payment_object(Payment(your_amount=1))["your_amount"] == "0.01"


def test_an_adjustment_names_its_claim_if_it_has_one():
    recovered, interest = map(as_json.adjustment_object, ADJUSTMENTS)
    assert recovered == {
        "reason": "WO",
        "text": "Overpayment recovery",
        "reference": "88007 C1849A",
        "claim_number": "C1849A",
        "fiscal_year_end": "2026-12-31",
        "amount": "-553.00",
        "x12_amount": "553.00",
        "provider_id": "1234567893",
    }
    assert (interest["claim_number"], interest["amount"]) == (None, "2.10")


def test_every_field_of_a_payment_and_a_claim_payment_is_shown():
    shown = as_json.own_payment_object(Payment()).keys()
    assert set(Payment.__struct_fields__) - shown == set()
    shown = as_json.claim_payment_object(ClaimPayment()).keys()
    assert set(ClaimPayment.__struct_fields__) - shown == {"number"}


def test_a_payment_that_was_read_can_be_encoded():
    lines = ["SVC*HC:99213*100*80**1", "DTM*472*20261001", "CAS*CO*45*20", "LQ*HE*N130"]
    row = paid("C1", "1", "100", "80", "NM1*74*1*ARDEN-LOWE", *lines)
    one, record = read_payments(payment(row, plb=["PLB*1*20261231*WO:9*0"]))
    text = msgspec.json.encode([
        as_json.payment_object(record.payment), as_json.claim_payment_object(one),
        *map(as_json.adjustment_object, record.adjustments),
    ])  # fmt: skip
    assert b'"corrected_patient":{"last_name":"ARDEN-LOWE"}' in text
    assert b'"code":"N130"' in text


def test_the_documentation_names_every_field():
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "payments.md").read_text(
        encoding="utf-8"
    )
    rows = {
        line.split("|")[1].strip(): set(re.findall(r"`([a-z0-9_]+)`", line))
        for line in page.split("## For scripts")[1].splitlines()
        if line.startswith("| ")
    }
    assert rows["payment"] == as_json.payment_object(Payment()).keys()
    assert rows["claim payment"] == as_json.claim_payment_object(ClaimPayment()).keys()
    assert rows["provider adjustment"] == as_json.adjustment_object(ProviderAdjustment()).keys()
    parts = {"group", "reason", "text", "amount", "quantity", "denial", "code"}
    assert rows["line"] - parts == as_json.line_object(PaidLine()).keys()
