"""The groups in which the claims of a payment are shown."""

import pytest

from clearlane.payments.decision_groups import (
    GROUP_TITLES,
    DecisionGroup,
    group_of,
    pair_corrections,
)
from clearlane.payments.outcome import Outcome
from clearlane.payments.payment import ClaimOccurrence, OccurrenceKind


@pytest.mark.parametrize("outcome", Outcome)
@pytest.mark.parametrize("kind", OccurrenceKind)
def test_every_decision_has_one_group(kind, outcome):
    expected = (
        DecisionGroup.CORRECTED
        if kind != "original" or outcome == "taken back"
        else DecisionGroup.DENIED
        if "denied" in outcome
        else DecisionGroup.PAID
    )
    assert group_of(kind=kind, outcome=outcome) is expected
    assert GROUP_TITLES[expected]


def test_a_reversal_stands_beside_its_correction_with_the_net():
    rows = [
        ClaimOccurrence(claim_number="C1", paid=-12050, kind=OccurrenceKind.REVERSAL),
        ClaimOccurrence(claim_number="C2", paid=-500, kind=OccurrenceKind.REVERSAL),
        ClaimOccurrence(claim_number="C1", paid=9037, kind=OccurrenceKind.CORRECTION),
    ]
    first, second = pair_corrections(rows)
    assert (first.occurrences, first.net) == ((rows[0], rows[2]), -3013)
    assert (second.occurrences, second.net) == ((rows[1],), -500)
