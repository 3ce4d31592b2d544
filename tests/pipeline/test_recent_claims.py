"""Claims that were just accepted: kept until a batch takes them, and never instead of what the row says."""

import pytest

from clearlane.claims.fields import MedicalClaim
from clearlane.pipeline.recent_claims import RecentClaims

CLAIM = MedicalClaim.model_construct()


@pytest.fixture
def kept():
    return RecentClaims(claims_max=3)


def test_a_process_that_writes_no_batches_keeps_none():
    none = RecentClaims(claims_max=0)
    for number in range(5):
        none.keep(f"C{number}", b"", CLAIM)
    assert len(none) == 0


def test_a_claim_is_taken_once_and_only_with_its_own_content(kept):
    kept.keep("C1", b"one", CLAIM)
    kept.keep("C2", b"two", CLAIM)
    assert kept.take("C1", b"one") is CLAIM
    assert kept.take("C1", b"one") is None
    assert kept.take("C2", b"other") is None
    assert len(kept) == 0


def test_the_oldest_are_kept_until_it_shows_that_no_batch_takes_them(kept):
    for number in range(5):
        kept.keep(f"C{number}", b"", CLAIM)
    assert len(kept) == 3
    assert kept.take("C0", b"") is CLAIM
    for number in range(5, 8):
        kept.keep(f"C{number}", b"", CLAIM)
    assert [kept.take(f"C{number}", b"") is CLAIM for number in (1, 2, 5, 6)] == [True] * 3 + [
        False
    ]
    for number in range(6):
        kept.keep(f"D{number}", b"", CLAIM)
    assert kept.take("D0", b"") is None
    assert kept.take("D5", b"") is CLAIM
