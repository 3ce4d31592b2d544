from msgspec.structs import replace

from clearlane.payments import explain, read_835
from clearlane.payments.balance import doubts, money
from clearlane.payments.model import Adjustment, Closing
from tests.claims.answers import paid, payment


def closing(*claims, **more):
    *_, end = read_835.read(payment(*claims, **more))
    assert isinstance(end, Closing)
    return end


def remit(*row):
    first, *_ = read_835.read(payment(paid("C1", *row)))
    return first.remit


def test_a_payment_that_adds_up_leaves_no_doubt():
    end = closing(
        paid("C1", "1", "100", "80", "CAS*CO*45*20"), plb=["PLB*1*20261231*WO:9*5"], amount="75"
    )
    assert list(doubts(end)) == []
    assert list(explain.closing(end)) == [
        "MEADOW MUTUAL paid $75.00 by bank transfer (ACH) number EFT1 effective 2026-11-14.",
        "It tells of 1 claim paid $80.00 together.",
        "$5.00 was taken from the payment: Overpayment recovery, reference 9.",
    ]


def test_a_payment_that_does_not_add_up_is_doubted_at_each_level():
    end = closing(paid("C1", "1", "100", "80"), paid("C2", "1", "x", "0"), amount="90")
    first, second, third = doubts(end)
    assert "$10.00 off" in first
    assert second.startswith("1 claim out of balance")
    assert third.startswith("1 claim with amounts or codes")
    [unknown] = doubts(closing(amount="?"))
    assert "cannot be read" in unknown


def test_a_payment_is_told_in_a_sentence_whatever_is_missing():
    end = closing(amount="0")
    bare = replace(end.payment, payer="", method="", reference="", effective=None)
    assert explain.payment(bare) == "The payer paid $0.00."
    assert explain.payment(replace(bare, method="XYZ")) == "The payer paid $0.00 by XYZ."
    assert "cannot be read" in explain.payment(replace(bare, amount=None))


def test_a_claim_is_told_in_a_sentence():
    assert explain.claim(remit("1", "100", "80", "CAS*CO*45*15**3*0", "CAS*PR*3*5")) == (
        "Processed as primary: of $100.00 charged the payer paid $80.00, the patient owes $5.00, and $15.00"
        " was adjusted otherwise."
    )
    assert "An earlier payment was taken back: $80.00 of $100.00" in explain.claim(
        remit("22", "-100", "-80")
    )
    assert "leave $20.00 unexplained" in explain.claim(remit("1", "100", "80"))
    assert explain.claim(remit("99", "1", "1")).startswith("Decided")


def test_what_is_added_to_a_payment_is_told_so():
    told = explain.provider_adjustment(Adjustment(reason="L6", amount=-250))
    assert told == "$2.50 was added to the payment: Interest owed."
    assert "Reason ??" in explain.provider_adjustment(Adjustment(reason="??", amount=1))


def test_amounts_are_written_as_people_do():
    assert [money(cents) for cents in (0, 5, -123456, 100_000_000)] == [
        "$0.00",
        "$0.05",
        "-$1,234.56",
        "$1,000,000.00",
    ]
