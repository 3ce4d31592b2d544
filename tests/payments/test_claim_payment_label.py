"""What a payment is called: one row a status and a reason.

Also tests `payments/payment`.
"""

from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payments.claim_payment_label import (
    NOTHING_DUE_REASONS,
    PATIENT_REASONS,
    STATUS_LABELS,
    AdjustedReason,
    LinePayment,
    derive_label,
    is_denial,
)
from clearlane.x12 import codes
from tests.cases import every_case


def reasons(text):
    """Return the adjustments written ``CO-45:20 PR-1:80``, in dollars."""
    found = []
    for one in text.split():
        code, _, dollars = one.partition(":")
        group, _, reason = code.partition("-")
        found.append(AdjustedReason(group, reason, int(float(dollars) * 100)))
    return found


# status, dollars paid, reasons of the claim, lines as (dollars paid, reasons)
CASES = [
    ("paid in full", "1", 100, "", [(100, "")], ClaimLabel.PAID),
    ("paid less the write-off", "1", 80, "", [(80, "CO-45:20")], ClaimLabel.PAID),
    ("paid with a copayment", "1", 65, "", [(65, "CO-45:20 PR-3:15")], ClaimLabel.PAID),
    ("paid as secondary", "2", 20, "OA-23:80", [], ClaimLabel.PAID),
    ("paid less, by a reason of the claim", "1", 98, "CO-253:2", [(100, "")], ClaimLabel.PAID),
    ("a line lowered but paid", "1", 50, "", [(50, "CO-59:50")], ClaimLabel.PAID),
    ("paid and forwarded", "19", 80, "", [(80, "PR-2:20")], ClaimLabel.PAID),
    ("one line denied", "1", 80, "", [(80, "CO-45:20"), (0, "CO-97:60")], ClaimLabel.PARTLY_DENIED),
    ("one line unpaid: deductible", "1", 80, "", [(80, ""), (0, "PR-1:60")], ClaimLabel.PAID),
    ("a line without a charge", "1", 80, "", [(80, ""), (0, "CO-246:0")], ClaimLabel.PAID),
    ("a line denied and forwarded", "19", 80, "", [(80, ""), (0, "PR-96:9")], ClaimLabel.PARTLY_DENIED),
    ("the payer says denied", "4", 0, "CO-31:100", [], ClaimLabel.DENIED),
    ("the payer says denied, without a reason", "4", 0, "", [], ClaimLabel.DENIED),
    ("processed, and denied by reason", "1", 0, "", [(0, "CO-97:100")], ClaimLabel.DENIED),
    ("denied by a reason of the claim", "2", 0, "OA-18:100", [], ClaimLabel.DENIED),
    ("denied, and the patient must pay", "1", 0, "PR-96:100", [], ClaimLabel.DENIED),
    ("one line denied, the other deductible", "1", 0, "", [(0, "PR-1:5"), (0, "CO-50:5")], ClaimLabel.DENIED),
    ("denied and forwarded", "20", 0, "CO-22:100", [], ClaimLabel.DENIED),
    ("deductible", "1", 0, "", [(0, "PR-1:80 CO-45:20")], ClaimLabel.PATIENT_OWES),
    ("coinsurance of the secondary", "2", 0, "OA-23:80 PR-2:20", [], ClaimLabel.PATIENT_OWES),
    ("copayment eats it", "3", 0, "PR-3:100", [], ClaimLabel.PATIENT_OWES),
    ("capitated", "1", 0, "CO-24:100", [], ClaimLabel.NOTHING_DUE),
    ("written off", "1", 0, "", [(0, "CO-45:100")], ClaimLabel.NOTHING_DUE),
    ("earlier payer paid all", "2", 0, "OA-23:100", [], ClaimLabel.NOTHING_DUE),
    ("nothing charged", "1", 0, "", [(0, "CO-246:0")], ClaimLabel.NOTHING_DUE),
    ("taken back", "22", -80, "CO-45:-20", [(-80, "")], ClaimLabel.TAKEN_BACK),
    ("taken back a denial", "22", 0, "CO-97:-100", [], ClaimLabel.TAKEN_BACK),
    ("taken back without the code", "1", -80, "CO-45:-20", [], ClaimLabel.TAKEN_BACK),
    ("not this payer's", "23", 0, "CO-109:100", [], ClaimLabel.FORWARDED),
    ("deductible, then forwarded", "19", 0, "PR-1:100", [], ClaimLabel.FORWARDED),
    ("predetermined", "25", 0, "OA-101:100", [], ClaimLabel.PREDETERMINED),
]  # fmt: skip


@every_case(
    ("status", "paid", "own", "lines", "label"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_the_reasons_decide_what_a_claim_is_called(status, paid, own, lines, label):
    found = derive_label(
        status=status,
        paid=paid * 100,
        reasons=reasons(own),
        lines=[LinePayment(cents * 100, reasons(text)) for cents, text in lines],
    )
    assert found is label


def test_every_label_that_a_code_decides_has_a_case():
    assert {case[-1] for case in CASES} >= set(STATUS_LABELS.values())


def test_the_tables_hold_codes_of_the_lists():
    assert STATUS_LABELS.keys() <= codes.load("claim_payment_statuses").keys()
    for group, reason in PATIENT_REASONS | NOTHING_DUE_REASONS:
        assert group in codes.load("adjustment_groups")
        assert reason in codes.load("carc")
    assert not PATIENT_REASONS & NOTHING_DUE_REASONS


def test_a_reason_denies_what_it_stands_for_and_no_more():
    assert is_denial("CO", "97", 1)
    assert is_denial(
        "PR", "45", 1
    )  # outside the lists: the patient is to pay more than the contract allows
    assert not is_denial("CO", "45", 100)
    assert not is_denial("CO", "97", 0)
    assert not is_denial("CO", "97", -100)
