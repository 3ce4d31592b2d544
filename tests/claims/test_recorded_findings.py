"""Every example of a rule is found as recorded: at its place, with its sentence, and beside it what else is found."""

import pytest

from tests.claims.recorded_findings import RECORDED


@pytest.mark.parametrize("part", RECORDED.parts)
def test_what_is_found_is_as_recorded(part):
    assert RECORDED.changes(part) == [], (
        "if this is meant: python -m tests.claims.recorded_findings"
    )
