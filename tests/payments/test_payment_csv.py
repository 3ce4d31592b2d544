"""A payment as CSV: what adds up, and texts that no spreadsheet computes."""

import csv
import io
from decimal import Decimal

import msgspec
import pytest

from clearlane.payments.payment import ClaimPayment, LineRemark
from clearlane.payments.payment_csv import COLUMNS, payment_csv
from tests.cases import every_case
from tests.corpus import corpus_files
from tests.payments.invented import (
    ADJUSTMENTS,
    CLAIM_PAYMENTS,
    HOSTILE,
    PAYMENT,
    WRITE_OFF,
    adjusted,
    claim_payment,
    line,
)
from tests.payments.whole_835 import read_payments

replace = msgspec.structs.replace


def rows(payment=PAYMENT, adjustments=ADJUSTMENTS, claim_payments=CLAIM_PAYMENTS):
    text = "".join(payment_csv(payment, adjustments, claim_payments))
    return list(csv.DictReader(io.StringIO(text, newline="")))


def total(found, column):
    return sum(Decimal(row[column] or 0) for row in found)


def test_a_row_for_each_line_and_each_provider_adjustment():
    found = rows()
    kinds = [row["row"] for row in found]
    assert kinds == ["line"] * 8 + ["provider adjustment"] * 2
    assert list(found[0]) == list(COLUMNS)
    first, second = found[0], found[1]
    assert (first["charge"], first["paid"], first["patient"], first["adjusted"]) == (
        "1200.00",
        "980.00",
        "20.00",
        "200.00",
    )
    assert first["reasons"] == "CO-45 200.00; PR-3 20.00"
    assert (second["modifiers"], second["effective_date"]) == ("QW 59", "2026-12-03")
    assert (found[-2]["paid"], found[-2]["reasons_in_words"], found[-2]["reference"]) == (
        "-553.00",
        "Overpayment recovery",
        "88007 C1849A",
    )
    assert total(found, "paid") == Decimal("699.10")


CLAIMS = {
    "without lines": (claim_payment(1, "ARDEN", "RUTH", charge=5_000, paid=4_000, allowed=4_000), ["claim"]),
    "with a reason of its own": (
        claim_payment(1, "ARDEN", "RUTH", line(1, "99213", 5_000, 4_500), adjustments=(adjusted("CO", "45", 500, WRITE_OFF),), paid=4_000),
        ["line", "claim"],
    ),
    "with a remark of its own": (
        claim_payment(1, "ARDEN", "RUTH", line(1, "99213", 5_000, 5_000), remarks=(LineRemark(code="MA01", text="Appeal"),)),
        ["line", "claim"],
    ),
    "described by its lines": (claim_payment(1, "ARDEN", "RUTH", line(1, "99213", 5_000, 5_000)), ["line"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
def test_what_belongs_to_no_line_is_a_row_of_its_own(name):
    claim, kinds = CLAIMS[name]
    found = rows(adjustments=(), claim_payments=[claim])
    assert [row["row"] for row in found] == kinds
    assert (total(found, "charge"), total(found, "paid")) == (
        Decimal(claim.charge) / 100,
        Decimal(claim.paid) / 100,
    )


def test_texts_of_a_payer_are_no_formulas_and_amounts_stay_numbers():
    found = rows(
        replace(PAYMENT, payer_name=HOSTILE, trace_number="+1", amount=-500),
        [replace(ADJUSTMENTS[0], reference="@SUM(A1)", text="-1")],
        [replace(CLAIM_PAYMENTS[3], member_id="-2", account_number="\t=1")],
    )
    assert found[0]["payer_name"] == f"'{HOSTILE}"
    assert (found[0]["member_id"], found[0]["trace_number"]) == ("'-2", "'+1")
    assert (found[1]["reference"], found[1]["reasons_in_words"]) == ("'@SUM(A1)", "'-1")
    assert (found[0]["payment_amount"], found[0]["paid"]) == ("-5.00", "-100.00")


@every_case("sample", corpus_files("835"))
def test_the_paid_column_of_every_public_payment_adds_up(sample):
    claims: list[ClaimPayment] = []
    for part in read_payments(sample.path.read_bytes()):
        if isinstance(part, ClaimPayment):
            claims.append(part)
            continue
        found = rows(part.payment, part.adjustments, claims)
        expected = part.payment.claims_paid + part.payment.adjustments_total
        assert total(found, "paid") * 100 == expected
        claims = []
