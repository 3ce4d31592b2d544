"""Which codes count as X12's own."""

import pytest

from clearlane.x12.checker.standard_codes import is_x12_code


@pytest.mark.parametrize(
    ("place", "code", "known"),
    [
        (("SBR", 9, 0), "CI", True),
        (("SBR", 9, 0), "XX", False),
        (("PAT", 1, 0), "18", True),  # in the list of relationships, in no guide
        (("CLM", 5, 2), "A", True),  # in the 837I
        (("CLM", 5, 2), "C", False),
        (("BHT", 2, 0), "13", True),  # in the 270
        (("QQQ", 1, 0), "1", False),
    ],
)
def test_a_code_is_known_by_any_guide_or_its_list(place, code, known):
    assert is_x12_code(*place, code) is known
