"""Pages look as recorded: every text at its place, in its font, size and color, with grounds and rules."""

import pytest

from tests.pdf.recorded_pages import RECORDED


@pytest.mark.parametrize("part", RECORDED.parts)
def test_what_stands_on_the_pages_is_as_recorded(part):
    assert RECORDED.changes(part) == [], "if this is meant: python -m tests.pdf.recorded_pages"
