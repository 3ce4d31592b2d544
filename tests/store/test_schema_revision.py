"""The name of a revision says whether it was released, and which earlier programs may go on with it."""

import pytest

from clearlane.store.database.schema_revision import is_supported, is_unreleased


@pytest.mark.parametrize("revision", ["0007", "v0001", "v0002z", "v0003a"])
def test_revisions_of_development_are_known(revision):
    assert is_unreleased(revision)


@pytest.mark.parametrize("revision", ["r0001", "r0002.r0001", "x", ""])
def test_released_and_foreign_revisions_are_not_of_development(revision):
    assert not is_unreleased(revision)


@pytest.mark.parametrize(
    ("revision", "head", "supported"),
    [
        ("r0003.r0002", "r0002", True),
        ("r0004.r0001", "r0002", True),
        ("r0003.r0002", "r0002.r0001", True),
        ("r0003.r0002", "r0001", False),  # older than the earliest
        ("r0003", "r0002", False),  # names none
        ("r0002.r0001", "r0002", False),  # not newer
        ("r0003.r0002", "v0002v", False),  # not released
        ("v0003", "r0002", False),
    ],
)
def test_a_newer_revision_names_the_earliest_program_that_may_go_on(revision, head, supported):
    assert is_supported(revision, head=head) is supported
