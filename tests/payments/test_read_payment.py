"""Payments read in full, against sums that the test makes itself from the bytes of the file.

Also tests `x12/reader/received_guides`.
"""

from collections import defaultdict
from datetime import date
from decimal import Decimal, InvalidOperation

import pytest

from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payments import read_835
from clearlane.payments.payment import AllowedSource, ClaimPayment, LineAdjustment, PaymentSummary
from clearlane.payments.read_payment import AdjustmentSums, read_claim_payment
from tests.cases import every_case
from tests.claims.answers import paid, payment
from tests.corpus import corpus_files, samples
from tests.payments.whole_835 import PaymentRecord, read_payments

LINES = [
    "DTM*232*20261001", "DTM*233*20261003", "DTM*050*20261005", "AMT*I*2.10", "MOA***MA01",
    "REF*F8*OLD77", "NM1*82*1*QUILL*HANA****XX*1234567893", "NM1*74*1*ARDEN-LOWE*****C*M124",
    "NM1*TT*2*HARBOR HEALTH*****PI*HH1",
    "SVC*HC:99213:25*100*60**1*HC:99214*2", "DTM*472*20261001", "CAS*CO*45*20", "CAS*PR*1*5**2*10**3*5",
    "REF*6R*C1-1", "AMT*B6*80", "LQ*HE*N130",
    "SVC*HC:85025*50*0", "DTM*150*20261002", "DTM*151*20261003", "CAS*CO*97*50",
]  # fmt: skip


def one_payment(content):
    *claim_payments, record = read_payments(content)
    return claim_payments, record.payment, record.adjustments


def test_a_claim_is_read_with_all_that_the_payer_said_of_it():
    [one], _, _ = one_payment(payment(paid("C1", "1", "150", "60", *LINES)))
    amounts = (one.charge, one.paid, one.patient, one.allowed, one.allowed_source)
    assert amounts == (150_00, 60_00, 20_00, 80_00, AllowedSource.COMPUTED)
    parts = (
        one.deductible,
        one.coinsurance,
        one.copay,
        one.contractual,
        one.denied,
        one.other_adjustments,
    )
    assert parts == (500, 1000, 500, 2000, 5000, 0)
    assert (one.label, one.balanced, one.difference, one.interest) == (
        ClaimLabel.PARTLY_DENIED,
        True,
        0,
        210,
    )
    assert (one.service_from, one.service_to) == (date(2026, 10, 1), date(2026, 10, 3))
    assert (one.payer_received_date, one.original_payer_control_number) == (
        date(2026, 10, 5),
        "OLD77",
    )
    assert (one.rendering_npi, one.forwarded_to) == ("1234567893", "HARBOR HEALTH")
    assert one.corrected_patient.last_name == "ARDEN-LOWE"
    assert [remark.code for remark in one.remarks] == ["MA01"]
    first, second = one.lines
    assert (first.procedure, first.submitted_procedure, first.modifiers) == (
        "99213",
        "99214",
        ("25",),
    )
    assert (first.units_paid, first.units_billed, first.line_control_number) == ("1", "2", "C1-1")
    assert (first.allowed, first.allowed_source, first.label) == (
        8000,
        AllowedSource.REPORTED,
        ClaimLabel.PAID,
    )
    assert [(remark.code, bool(remark.text)) for remark in first.remarks] == [("N130", True)]
    assert (second.label, second.service_date, second.allowed) == (
        ClaimLabel.DENIED,
        date(2026, 10, 2),
        0,
    )
    [reason] = second.adjustments
    assert (reason.group, reason.reason, reason.amount, reason.denial) == ("CO", "97", 5000, True)
    assert reason.text


def test_a_payment_is_read_with_its_heading_and_provider_adjustments():
    content = payment(
        paid("C1", "1", "100", "80", "CAS*CO*45*20"), plb=["PLB*1234567893*20261231*WO:9*30*L6*-2.10"],
        amount="52.10",
    )  # fmt: skip
    _, found, adjustments = one_payment(content)
    assert (found.amount, found.claims_paid, found.adjustments_total) == (5210, 8000, -2790)
    assert (found.balanced, found.difference, found.claims) == (True, 0, 1)
    assert (found.payer_name, found.payer_tax_id, found.payee_npi) == (
        "MEADOW MUTUAL",
        "512345678",
        "1234567893",
    )
    assert (found.method, found.trace_number, found.effective_date) == (
        "ACH",
        "EFT1",
        date(2026, 11, 14),
    )
    rows = [
        (one.number, one.reason, one.reference, one.amount, one.x12_amount) for one in adjustments
    ]
    assert rows == [(1, "WO", "9", -3000, 3000), (2, "L6", "", 210, -210)]
    assert [one.text for one in adjustments] == ["Overpayment recovery", "Interest owed"]


def test_a_line_whose_amounts_cannot_be_read_counts_nothing():
    [one], _, _ = one_payment(payment(paid("C1", "1", "100", "80", "SVC*HC:99213*?*?**1")))
    assert [(line.charge, line.paid) for line in one.lines] == [(0, 0)]


@pytest.mark.parametrize(
    ("row", "amount"),
    [(paid("C1", "1", "100", "80", "CAS*CO*45*20"), "79.99"), (paid("C1", "1", "100", "?"), "0")],
)
def test_what_does_not_add_up_or_cannot_be_read_is_not_balanced(row, amount):
    _, found, _ = one_payment(payment(row, amount=amount))
    assert not found.balanced


def test_what_follows_a_reversal_of_the_same_account_is_a_correction():
    back = paid("C1", "22", "-100", "-80", "CAS*CO*45*-20")
    rows = [paid("C1"), back, paid("C2"), paid("C1", "1", "100", "60", "CAS*CO*45*40")]
    claim_payments, _, _ = one_payment(payment(*rows, amount="140"))
    assert [one.type for one in claim_payments] == [
        "original",
        "reversal",
        "original",
        "correction",
    ]


def test_a_part_of_a_file_gives_the_same_claim_payment():
    content = payment(paid("C1", "1", "150", "60", *LINES))
    [one], _, _ = one_payment(content)
    assert read_claim_payment(content, number=1) == one


def test_a_claim_without_a_header_number_is_read_all_the_same():
    plain = payment(paid("C1", "1", "100", "80", "CAS*CO*45*20"))
    without = plain.replace(b"LX*1~", b"")
    assert list(read_payments(without)) == list(read_payments(plain))
    assert read_claim_payment(without, number=1) == read_claim_payment(plain, number=1)
    _, loop, _ = read_835.read(without)
    assert loop.claim_payment.paid == 80_00


# ---- the independent calculation -----------------------------------------------------------------


def money(text):
    """Return cents, or None for what is no amount of whole cents."""
    try:
        cents = Decimal(text) * 100
    except InvalidOperation:
        return None
    return int(cents) if cents == int(cents) else None


def sets_of(content):
    """Yield the segments of each 835 of a file, split by hand."""
    text = content.decode("latin-1").lstrip("\ufeff\xef\xbb\xbf \r\n")
    if not text.startswith("ISA"):
        return
    separator, rows, inside = text[3], [], False
    # After the sixteenth separator come ISA16 and the terminator, also where a field of the ISA is too short.
    at = -1
    for _ in range(16):
        at = text.index(separator, at + 1)
    for raw in text.split(text[at + 2]):
        row = raw.strip("\r\n ").split(separator)
        if row[0] == "ST":
            inside, rows = row[1] == "835", []
        if inside:
            rows.append(row)
        if row[0] == "SE" and inside:
            yield rows
            inside = False


def ledger_of(rows):
    """Return payment amount, PLB sum, and per claim (charge, paid, patient, other), computed from segments alone."""
    amount, plb, claims, readable = None, 0, [], True
    for name, *rest in rows:
        if name == "BPR" and amount is None:
            amount = money(rest[1])
            if amount is not None and rest[2:3] == ["D"]:
                amount = -amount
        elif name == "CLP":
            claims.append(
                defaultdict(int, number=rest[0], charge=money(rest[2]), paid=money(rest[3]))
            )
            readable = readable and claims[-1]["paid"] is not None
        elif name == "CAS" and claims:
            for text in rest[2::3]:
                claims[-1]["patient" if rest[0] == "PR" else "other"] += money(text or "0") or 0
        elif name == "PLB":
            for text in rest[3::2]:
                plb += money(text or "0") or 0
    return amount, plb, claims, readable


@every_case("sample", corpus_files("835"))
def test_public_835s_give_the_sums_of_an_independent_calculation(sample):
    content = sample.path.read_bytes()
    expected = [ledger_of(rows) for rows in sets_of(content)]
    found, claims = [], []
    for part in read_payments(content):
        if isinstance(part, ClaimPayment):
            claims.append(part)
        else:
            found.append((part, claims))
            claims = []
    assert len(found) == len(expected)
    ends = [one for one in read_835.read(content) if isinstance(one, PaymentSummary)]
    for (record, claim_payments), end, (amount, plb, ledgers, readable) in zip(
        found, ends, expected, strict=True
    ):
        assert_same(record, claim_payments, amount, plb, ledgers, readable)
        # The fast reading that is posted says the same.
        total = sum(one.x12_amount for one in end.adjustments)
        assert (end.payment.amount, total, end.paid) == (amount, plb, record.payment.claims_paid)
        assert end.balanced == record.payment.balanced


def assert_same(record: PaymentRecord, claim_payments, amount, plb, ledgers, readable):
    one = record.payment
    assert (one.amount, -one.adjustments_total, one.claims) == (amount, plb, len(ledgers))
    assert sum(adjustment.x12_amount for adjustment in record.adjustments) == plb
    total = sum(ledger["paid"] or 0 for ledger in ledgers)
    assert one.claims_paid == total
    assert one.balanced == (readable and amount is not None and amount == total - plb)
    for claim_payment, ledger in zip(claim_payments, ledgers, strict=True):
        charge, paid_cents = ledger["charge"] or 0, ledger["paid"] or 0
        assert claim_payment.account_number == ledger["number"]
        assert (claim_payment.charge, claim_payment.paid, claim_payment.patient) == (
            charge,
            paid_cents,
            ledger["patient"],
        )
        rest = charge - paid_cents - ledger["patient"] - ledger["other"]
        assert claim_payment.difference == rest
        if rest:
            assert not claim_payment.balanced


def test_unpaid_claims_of_the_sample_835s_are_not_all_denied_by_code():
    files = [sample for sample in samples() if sample.kind == "835"]
    unpaid = [
        one
        for sample in files
        for one in read_payments(sample.path.read_bytes())
        if isinstance(one, ClaimPayment) and one.paid == 0 and one.status_code not in {"22", "25"}
    ]
    denied = [one for one in unpaid if one.label is ClaimLabel.DENIED]
    assert len(denied) > sum(one.status_code == "4" for one in unpaid)
    assert {one.label for one in unpaid} == {
        ClaimLabel.DENIED,
        ClaimLabel.NOTHING_DUE,
        ClaimLabel.PATIENT_OWES,
    }


def test_deductible_coinsurance_and_copayment_are_the_patients_ordinary_part():
    amounts = {
        ("PR", "1"): 1, ("PR", "2"): 20, ("PR", "3"): 300, ("PR", "96"): 4_000, ("CO", "1"): 50_000, ("CO", "45"): 600_000,
    }  # fmt: skip
    sums = AdjustmentSums(
        [
            LineAdjustment(group=group, reason=reason, amount=amount, denial=reason == "96")
            for (group, reason), amount in amounts.items()
        ]
    )
    assert (sums.ordinary_patient, sums.patient, sums.denied) == (321, 4_321, 4_000)
    assert sums.total == 654_321
    assert sums.other == 50_000  # what is neither denied nor has a field of its own
