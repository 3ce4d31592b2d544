"""What a payment says of a claim, in sentences a biller reads.

Also tests `payments/balance`.
"""

from msgspec.structs import replace

from clearlane.payments import explain, read_835
from clearlane.payments.balance import balance_warnings, format_money
from clearlane.payments.payment import PaymentSummary
from tests.claims.answers import paid, payment


def summary_of(*claims, **more):
    *_, end = read_835.read(payment(*claims, **more))
    assert isinstance(end, PaymentSummary)
    return end


def claim_payment(*row):
    _, first, *_ = read_835.read(payment(paid("C1", *row)))
    return first.claim_payment


def test_a_payment_that_adds_up_leaves_no_doubt():
    end = summary_of(
        paid("C1", "1", "100", "80", "CAS*CO*45*20"), plb=["PLB*1*20261231*WO:9*5"], amount="75"
    )
    assert list(balance_warnings(end)) == []
    assert explain.describe_payment(end.payment) == (
        "MEADOW MUTUAL paid $75.00 by bank transfer (ACH) number EFT1 effective 2026-11-14, for all claims "
        "in it."
    )


def test_a_payment_that_does_not_add_up_is_doubted_at_each_level():
    end = summary_of(paid("C1", "1", "100", "80"), paid("C2", "1", "x", "0"), amount="90")
    first, second, third = balance_warnings(end)
    assert "$10.00 off" in first
    assert second.startswith("1 claim out of balance")
    assert third.startswith("1 claim with amounts or codes")
    [unknown] = balance_warnings(summary_of(amount="?"))
    assert "cannot be read" in unknown


def test_a_payment_is_reported_in_a_sentence_whatever_is_missing():
    end = summary_of(amount="0")
    bare = replace(end.payment, payer_name="", method="", trace_number="", effective_date=None)
    assert explain.describe_payment(bare) == "The payer paid $0.00, for all claims in it."
    assert explain.describe_payment(replace(bare, method="XYZ")) == (
        "The payer paid $0.00 by XYZ, for all claims in it."
    )
    assert explain.describe_payment(replace(bare, method="NON", trace_number="N26")) == (
        "The payer sent notice N26 without money, for all claims in it."
    )
    assert "cannot be read" in explain.describe_payment(replace(bare, amount=None))


def test_a_claim_is_reported_in_a_sentence():
    assert explain.describe_claim_payment(
        claim_payment("1", "100", "80", "CAS*CO*45*15**3*0", "CAS*PR*3*5")
    ) == (
        "Processed as primary: of $100.00 charged the payer paid $80.00, the patient owes $5.00, and $15.00"
        " was adjusted otherwise."
    )
    assert "An earlier payment was taken back: $80.00 of $100.00" in explain.describe_claim_payment(
        claim_payment("22", "-100", "-80")
    )
    assert "leave $20.00 unexplained" in explain.describe_claim_payment(
        claim_payment("1", "100", "80")
    )
    assert explain.describe_claim_payment(claim_payment("99", "1", "1")).startswith("Decided")


def test_amounts_are_written_as_people_do():
    assert [format_money(cents) for cents in (0, 5, -123456, 100_000_000)] == [
        "$0.00",
        "$0.05",
        "-$1,234.56",
        "$1,000,000.00",
    ]
