"""A payment on the terminal: 80 columns, nothing cut, no control characters."""

import msgspec

from clearlane.cli.payment.payment_output import WIDTH, payment_lines
from clearlane.payments.payment import ClaimPayment
from tests.cases import every_case
from tests.corpus import corpus_files
from tests.payments.invented import (
    ADJUSTMENTS,
    CLAIM_PAYMENTS,
    HOSTILE,
    PAYMENT,
    claim_payment,
    line,
)
from tests.payments.whole_835 import read_payments

replace = msgspec.structs.replace

FIRST_CLAIM = """\
1. ARDEN, RUTH: Paid
  member XJ-4471, your id FIRST-1, our no. C191P3, payer no. 88121,
  service Nov 12, 2026
  Interest 2.10 is paid as a provider adjustment, not with the claim.
                              Charge    Allowed       Paid    Patient   Adjusted
  Nov 12, 2026 99213        1,200.00   1,000.00     980.00      20.00     200.00
     200.00  CO-45 Charge exceeds fee schedule or maximum allowable or
             contracted amount (not owed by the patient)
      20.00  PR-3 Co-payment amount (owed by the patient)
  Nov 12, 2026 85025 QW 59, 2 of 3 units
                               45.00      45.00      45.00       0.00       0.00
  Claim                     1,245.00   1,045.00   1,025.00      20.00     200.00
"""

EQUATION = """\
! 1 claim not matched to a claim of yours.

  Paid for 6 claims                                  1,250.00
  Overpayment recovery (WO)                           -553.00
  Interest owed (L6)                                     2.10
  -----------------------------------------------------------
  Amount of the payment                                699.10

Provider adjustments
    -553.00  Overpayment recovery (WO), reference 88007 C1849A, claim C1849A,
             fiscal year to Dec 31, 2026
"""


def shown(payment=PAYMENT, adjustments=ADJUSTMENTS, claim_payments=CLAIM_PAYMENTS):
    return "\n".join(payment_lines(payment, adjustments, claim_payments)) + "\n"


def test_a_payment_is_shown_as_a_person_reads_it():
    text = shown()
    assert text.startswith("HARBOR HEALTH: 699.10\n  Payment ID      P7K2M4\n")
    assert EQUATION in text
    assert FIRST_CLAIM in text


def test_texts_of_any_length_are_wrapped_and_control_characters_printed_as_blanks():
    text = shown(
        replace(PAYMENT, payer_name=HOSTILE * 3, payee_name="X" * 200, your_amount=1),
        [replace(ADJUSTMENTS[0], reference=HOSTILE, text="Y" * 100)],
        [replace(CLAIM_PAYMENTS[0], patient_last_name=HOSTILE, forwarded_to=HOSTILE)],
    )
    assert max(map(len, text.splitlines())) <= WIDTH
    assert all(line.isprintable() for line in text.splitlines())
    assert text.replace("\n", "").replace(" ", "").count("X") >= 200
    assert "Your part of it" in text


def test_large_amounts_stand_on_a_line_of_their_own():
    huge = line(1, "99213", 99_999_999_99, -99_999_999_99, balanced=False)
    text = shown(claim_payments=[claim_payment(1, "ARDEN", "RUTH", huge)])
    row = "99,999,999.99 -99,999,999.99 -99,999,999.99 0.00 0.00"
    assert row in " ".join(text.split())
    assert "! This line does not balance." in text
    assert max(map(len, text.splitlines())) <= WIDTH


def test_a_payment_without_claims_says_so():
    empty = replace(PAYMENT, claims=0, claims_paid=0, amount=0, adjustments_total=0)
    assert shown(empty, (), ()).endswith("\nNo claims\n")


@every_case("sample", corpus_files("835"))
def test_every_public_payment_fits_a_terminal(sample):
    claims: list[ClaimPayment] = []
    for part in read_payments(sample.path.read_bytes()):
        if isinstance(part, ClaimPayment):
            claims.append(part)
            continue
        text = shown(part.payment, part.adjustments, claims)
        assert max(map(len, text.splitlines())) <= WIDTH
        claims = []
