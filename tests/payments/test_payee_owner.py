"""Which site a remittance goes to: the one that a person named, else the one vendor's that bills as the payee."""

from typing import NamedTuple

import pytest

from clearlane.payments.payee_owner import choose_owner


class Candidate(NamedTuple):
    vendor_id: int
    site_id: int
    is_named: int = 0


@pytest.mark.parametrize(
    ("sites", "paid", "owner"),
    [
        ([], {(1, 1)}, None),
        ([Candidate(1, 1)], set(), (1, 1)),
        ([Candidate(1, 1)], {(1, 2)}, (1, 1)),
        ([Candidate(1, 1), Candidate(1, 2)], set(), (1, 1)),
        ([Candidate(1, 1), Candidate(1, 2)], {(1, 2)}, (1, 2)),
        ([Candidate(1, 1), Candidate(1, 2)], {(1, 1), (1, 2)}, (1, 1)),
        ([Candidate(1, 1), Candidate(1, 2, is_named=1)], {(1, 1)}, (1, 2)),
        ([Candidate(1, 1), Candidate(2, 3)], {(1, 1)}, None),
        ([Candidate(1, 1), Candidate(2, 3, is_named=1)], {(1, 1)}, (2, 3)),
        ([Candidate(2, 3)], {(1, 1)}, None),
    ],
)
def test_the_owner_of_a_remittance(sites, paid, owner):
    assert choose_owner(sites, paid) == owner
