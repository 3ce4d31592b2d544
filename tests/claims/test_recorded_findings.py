"""Every example of a rule is found as recorded: at its place, with its sentence, and beside it what else is found."""

from difflib import unified_diff

import pytest

from tests.claims.recorded_findings import SOURCES, recorded


@pytest.fixture(scope="module")
def lists():
    return recorded()


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_found_is_as_recorded(lists, source):
    changed = [*unified_diff(lists[source], [*SOURCES[source]()], "recorded", "found", n=1)]
    assert changed == [], "if this is meant: python -m tests.claims.recorded_findings"
