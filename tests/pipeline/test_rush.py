"""Callers who hand in claims go first, for a while."""

from clearlane.kernel import limits
from clearlane.pipeline.intake_priority import Rush


class Seconds:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


MANY = 2 * (limits.RUSH_CLAIMS_PER_SECOND + 1)


def looks(*handed: int) -> list[bool]:
    """What is said when one looks every two seconds, after so many claims came in each time."""
    seconds = Seconds()
    rush = Rush(seconds)
    said = []
    for claims in handed:
        seconds.now += 2
        rush.handed(claims)
        said.append(rush.over())
    return said


def test_without_a_rush_work_goes_ahead():
    assert looks(0, 1, 2 * limits.RUSH_CLAIMS_PER_SECOND) == [True] * 3


def test_in_a_rush_work_waits_until_it_is_over():
    assert looks(MANY, MANY, 0, MANY) == [False, False, True, False]


def test_a_rush_that_does_not_end_is_interrupted():
    turns = limits.RUSH_SECONDS_MAX // 2 + 1
    assert looks(*[MANY] * 2 * turns) == ([False] * (turns - 1) + [True]) * 2


def test_a_large_document_just_before_the_look_is_no_longer_a_rush_at_the_next():
    assert looks(5_000, 0) == [False, True]
