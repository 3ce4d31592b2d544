"""Which site a remittance goes to: the one that a person named, else the one vendor's that bills as the payee."""

from typing import NamedTuple

import pytest

from clearlane.payments.payee_owner import choose_owner


class Candidate(NamedTuple):
    vendor_id: int
    site_id: int
    is_named: int = 0
    is_proven: int = 0


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


def test_beside_other_vendors_a_payee_needs_a_proof_or_a_name():
    """Anyone can write an NPI into a file, and get the remittances of its owner."""
    for proof, owner in (({}, None), ({"is_proven": 1}, (1, 1)), ({"is_named": 1}, (1, 1))):
        assert choose_owner([Candidate(1, 1, **proof)], set(), has_other_vendors=True) == owner
    # One site's proof is its vendor's; another vendor's files make it uncertain again.
    sites = [Candidate(1, 1), Candidate(1, 2, is_proven=1)]
    assert choose_owner(sites, {(1, 1)}, has_other_vendors=True) == (1, 1)
    assert choose_owner([*sites, Candidate(2, 3)], set(), has_other_vendors=True) is None
