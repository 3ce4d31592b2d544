"""The groups in which the claims of a payment are shown."""

import pytest

from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payments.claim_payment_groups import (
    GROUP_TITLES,
    ClaimPaymentGroup,
    group_of,
    pair_corrections,
)
from clearlane.payments.payment import ClaimPayment, ClaimPaymentType


@pytest.mark.parametrize("label", ClaimLabel)
@pytest.mark.parametrize("type", ClaimPaymentType)
def test_every_claim_payment_has_one_group(type, label):
    expected = (
        ClaimPaymentGroup.CORRECTED
        if type != "original" or label == "taken_back"
        else ClaimPaymentGroup.DENIED
        if "denied" in label
        else ClaimPaymentGroup.PAID
    )
    assert group_of(type=type, label=label) is expected
    assert GROUP_TITLES[expected]


def test_a_reversal_stands_beside_its_correction_with_the_net():
    rows = [
        ClaimPayment(claim_number="C1", paid=-12050, type=ClaimPaymentType.REVERSAL),
        ClaimPayment(claim_number="C2", paid=-500, type=ClaimPaymentType.REVERSAL),
        ClaimPayment(claim_number="C1", paid=9037, type=ClaimPaymentType.CORRECTION),
    ]
    first, second = pair_corrections(rows)
    assert (first.claim_payments, first.net) == ((rows[0], rows[2]), -3013)
    assert (second.claim_payments, second.net) == ((rows[1],), -500)
