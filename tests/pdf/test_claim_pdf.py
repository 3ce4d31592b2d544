"""The PDF file of one claim: every claim payment, what is in force, and what the patient owes."""

import io
from datetime import date
from pathlib import Path

import msgspec
import pypdf
import pytest

from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payments.payment import ClaimPaymentType
from clearlane.pdf.claim_pdf import PaymentOfClaim, in_force, write_claim_pdf
from tests.payments.invented import (
    CLAIM_PAYMENTS,
    COPAY,
    PAYMENT,
    WRITE_OFF,
    adjusted,
    claim_payment,
    line,
)

replace = msgspec.structs.replace

FOLDER = Path(__file__).parent

BEFORE = replace(PAYMENT, trace_number="9870", effective_date=date(2026, 11, 20))
ORIGINAL = claim_payment(
    4,
    "CORRIGAN",
    "MAVIS",
    line(1, "99214", 15_000, 10_000, adjusted("CO", "45", 5_000, WRITE_OFF)),
    in_force=False,
)
REVERSAL = CLAIM_PAYMENTS[3]
CORRECTION = claim_payment(
    4,
    "CORRIGAN",
    "MAVIS",
    line(
        1,
        "99213",
        15_000,
        8_000,
        adjusted("CO", "45", 5_000, WRITE_OFF),
        adjusted("PR", "3", 1_500, COPAY),
        adjusted("PR", "204", 500, "Not covered under the plan"),
    ),
    type=ClaimPaymentType.CORRECTION,
    copay=1_500,
)
OF_ONE_CLAIM = [
    PaymentOfClaim(BEFORE, ORIGINAL),
    PaymentOfClaim(PAYMENT, REVERSAL),
    PaymentOfClaim(PAYMENT, CORRECTION),
]


def texts(claim_payments) -> list[str]:
    out = io.BytesIO()
    count = write_claim_pdf(claim_payments, out)
    pages = pypdf.PdfReader(out).pages
    assert count == len(pages)
    return [page.extract_text() for page in pages]


def words(claim_payments) -> str:
    return " ".join(" ".join(texts(claim_payments)).split())


def test_the_explanation_holds_nothing_but_what_is_expected():
    expected = (FOLDER / "explanation_of_benefits.txt").read_text(encoding="utf-8")
    lines = [line.rstrip() for text in texts(OF_ONE_CLAIM) for line in text.splitlines()]
    assert lines == expected.splitlines()


def test_a_claim_that_was_taken_back_and_corrected_shows_all_and_counts_the_correction():
    text = words(OF_ONE_CLAIM)
    for part in (
        "Explanation of benefits Patient owes 20.00 CORRIGAN, MAVIS This is not a bill.",
        "Nov 20, 2026 9870 150.00 100.00 100.00 0.00 50.00 Paid",
        "Dec 3, 2026 9981 -150.00 -100.00 -100.00 0.00 -50.00 Taken back",
        "Dec 3, 2026 9981 150.00 100.00 80.00 20.00 50.00 Corrected: paid",
        "In force 150.00 100.00 80.00 20.00 50.00",
        "Copayment (PR-3) 15.00 Other patient part 5.00 Owed to the provider 20.00",
    ):
        assert part in text


def test_a_claim_that_was_taken_back_alone_owes_nothing():
    text = words(OF_ONE_CLAIM[:2])
    assert "The payment was taken back, and no other has come yet." in text
    assert "In force 0.00 0.00 0.00 0.00 0.00" in text


def test_the_charge_is_never_summed():
    second = replace(CORRECTION, type=ClaimPaymentType.ORIGINAL, label=ClaimLabel.PAID)
    sums = in_force([PaymentOfClaim(PAYMENT, second), PaymentOfClaim(PAYMENT, CORRECTION)])
    assert (sums.charge, sums.paid) == (15_000, 16_000)


def test_no_claim_payment_makes_no_file():
    with pytest.raises(ValueError, match="needs a claim payment"):
        write_claim_pdf([], io.BytesIO())
