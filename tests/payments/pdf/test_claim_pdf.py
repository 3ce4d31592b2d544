"""The PDF file of one claim: every decision, what is in force, and what the patient owes."""

import io
from datetime import date

import msgspec
import pypdf
import pytest

from clearlane.payments.outcome import Outcome
from clearlane.payments.payment import OccurrenceKind
from clearlane.payments.pdf.claim_pdf import ClaimDecision, in_force, write_claim_pdf
from tests.payments.invented import (
    COPAY,
    OCCURRENCES,
    PAYMENT,
    WRITE_OFF,
    adjusted,
    line,
    occurrence,
)

replace = msgspec.structs.replace

BEFORE = replace(PAYMENT, trace_number="9870", effective_date=date(2026, 11, 20))
ORIGINAL = occurrence(
    4,
    "CORRIGAN",
    "MAVIS",
    line(1, "99214", 15_000, 10_000, adjusted("CO", "45", 5_000, WRITE_OFF)),
    in_force=False,
)
REVERSAL = OCCURRENCES[3]
CORRECTION = occurrence(
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
    kind=OccurrenceKind.CORRECTION,
    copay=1_500,
)
DECISIONS = [
    ClaimDecision(BEFORE, ORIGINAL),
    ClaimDecision(PAYMENT, REVERSAL),
    ClaimDecision(PAYMENT, CORRECTION),
]


def words(decisions) -> str:
    out = io.BytesIO()
    write_claim_pdf(decisions, out)
    pages = pypdf.PdfReader(out).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


def test_a_claim_that_was_taken_back_and_corrected_shows_all_and_counts_the_correction():
    text = words(DECISIONS)
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
    text = words(DECISIONS[:2])
    assert "The payment was taken back, and no other has come yet." in text
    assert "In force 0.00 0.00 0.00 0.00 0.00" in text


def test_the_charge_is_never_summed():
    second = replace(CORRECTION, kind=OccurrenceKind.ORIGINAL, outcome=Outcome.PAID)
    sums = in_force([ClaimDecision(PAYMENT, second), ClaimDecision(PAYMENT, CORRECTION)])
    assert (sums.charge, sums.paid) == (15_000, 16_000)


def test_no_decision_makes_no_file():
    with pytest.raises(ValueError, match="needs a decision"):
        write_claim_pdf([], io.BytesIO())
