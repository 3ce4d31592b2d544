"""A folded test fails with every case that fails, and is skipped only where every case is."""

import pytest

from tests.cases import every_case

MISSING = pytest.param(None, None, marks=pytest.mark.skip(reason="missing"))


def run_over(*cases):
    seen = []

    @every_case("number, wanted", cases)
    def test(number, wanted):
        seen.append(number)
        assert number == wanted

    return test, seen


def test_every_case_runs_and_each_that_fails_is_named():
    test, seen = run_over((1, 1), pytest.param(2, 3, id="two"), (4, 4), (5, 6))
    with pytest.raises(ExceptionGroup, match="2 of 4 cases failed") as failed:
        test()
    assert seen == [1, 2, 4, 5]
    notes = [fault.__notes__ for fault in failed.value.exceptions]
    assert notes == [["Case: two"], ["Case: (5, 6)"]]


def test_a_skipped_case_hides_no_other():
    test, seen = run_over(MISSING, (1, 1))
    test()
    assert seen == [1]
    with pytest.raises(pytest.skip.Exception, match="missing"):
        run_over(MISSING)[0]()


def test_fixtures_are_given_to_every_case():
    @every_case("left", [1, 2])
    @every_case("right", [3, 4], ids=str)
    def test(left, right, pairs):
        pairs.append((left, right))

    pairs = []
    test(pairs=pairs)
    assert pairs == [(1, 3), (1, 4), (2, 3), (2, 4)]
