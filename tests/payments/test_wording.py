"""Words for payments: the equation on one line, names, notes, and codes that no list has."""

from datetime import date

import msgspec
import pytest

from clearlane.payments import wording
from clearlane.payments.payment import (
    CorrectedPatient,
    LineAdjustment,
    LineRemark,
    PaidLine,
    ProviderAdjustment,
)
from tests.cases import every_case
from tests.corpus import corpus_files
from tests.payments.invented import ADJUSTMENTS, CLAIM_PAYMENTS, PAYMENT
from tests.payments.whole_835 import PaymentRecord, read_payments

replace = msgspec.structs.replace

PLAIN = replace(CLAIM_PAYMENTS[0], interest=0)
PLAIN_PAYMENT = replace(PAYMENT, unmatched=0)
NO_MONEY = "This is a notice; no money comes with it."

CASES = [
    (wording.money(-123_450), "-1,234.50"),
    (wording.money(None), "-"),
    (wording.day(date(2026, 12, 2)), "Dec 2, 2026"),
    (wording.period(date(2026, 12, 2), date(2026, 12, 3)), "Dec 2, 2026 to Dec 3, 2026"),
    (wording.period(date(2026, 12, 2), None), "Dec 2, 2026"),
    (wording.period(None, date(2026, 12, 3)), "Dec 3, 2026"),
    (wording.period(None, None), ""),
    (wording.notices(replace(PLAIN_PAYMENT, handling="H")), (NO_MONEY,)),
    (wording.notices(replace(PLAIN_PAYMENT, method="NON")), (NO_MONEY,)),
    (
        [(term.label, term.amount) for term in wording.equation(PAYMENT, ADJUSTMENTS)],
        [
            ("Paid for 6 claims", 125_000),
            ("Overpayment recovery (WO)", -55_300),
            ("Interest owed (L6)", 210),
        ],
    ),
    (wording.reason_words(ProviderAdjustment(reason="ZZ")), "Adjustment ZZ"),
    (
        wording.adjustment_words(LineAdjustment(group="XX", reason="9")),
        "XX-9 A reason that no list has",
    ),
    (
        wording.adjustment_words(
            LineAdjustment(group="PR", reason="1", text="Deductible", quantity="2")
        ),
        "PR-1 Deductible (owed by the patient, 2 units)",
    ),
    (wording.remark_words(LineRemark(code="N1")), "N1 A remark that no list has"),
    (wording.claim_payment_words(replace(PLAIN, forwarded_to="MEADOW")), "Paid, forwarded"),
    (wording.claim_payment_words(CLAIM_PAYMENTS[4]), "Corrected: paid"),
    (
        wording.patient_name(replace(PLAIN, patient_last_name="", patient_first_name="")),
        "Patient not named",
    ),
    (wording.units_words(PaidLine(units_paid="1", units_billed="2")), "1 of 2"),
    (wording.units_words(PaidLine(units_billed="2")), "2"),
    (wording.procedure_words(PaidLine(procedure="99213", submitted_procedure="99213")), "99213"),
]


@every_case(("found", "expected"), CASES)
def test_words(found, expected):
    assert found == expected


NOTES = {
    "nothing": ({}, ()),
    "unmatched": (
        {"claim_number": "", "unmatched_reason": "no such account."},
        ("Not matched to a claim: no such account.",),
    ),
    "replaced": (
        {"replaced": True},
        ("A newer payment replaced this claim payment without taking it back.",),
    ),
    "unreadable": ({"unreadable": ("CLP03", "CLP04")}, ("Cannot be read: CLP03, CLP04.",)),
    "unbalanced": (
        {"balanced": False, "difference": 50},
        ("Does not balance: 0.50 of the charge is neither paid nor adjusted.",),
    ),
    "line unbalanced": ({"balanced": False}, ("A line of it does not balance.",)),
    "known under another name": (
        {"corrected_patient": CorrectedPatient(first_name="MAVIS", last_name="CORRIGAN")},
        ("The payer knows the patient as MAVIS CORRIGAN.",),
    ),
    "known under another number": (
        {"corrected_patient": CorrectedPatient(member_id="XJ-9001")},
        ("The payer knows the patient as member XJ-9001.",),
    ),
    "forwarded": ({"forwarded_to": "MEADOW"}, ("Forwarded to MEADOW.",)),
    "interest taken back": (
        {"interest": -210},
        ("Interest 2.10 is taken back as a provider adjustment, not with the claim.",),
    ),
}


@pytest.mark.parametrize("name", NOTES)
def test_notes_of_a_claim_payment(name):
    changes, expected = NOTES[name]
    claim_payment = replace(PLAIN, **changes)
    found = wording.claim_payment_warnings(claim_payment) + wording.claim_payment_notes(
        claim_payment
    )
    assert found == expected


@every_case("sample", corpus_files("835"))
def test_the_terms_of_every_public_payment_add_up_to_its_amount(sample):
    for one in read_payments(sample.path.read_bytes()):
        if isinstance(one, PaymentRecord) and one.payment.amount is not None:
            terms = wording.equation(one.payment, one.adjustments)
            assert sum(term.amount for term in terms) == one.payment.amount
