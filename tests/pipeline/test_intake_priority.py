"""Callers who submit claims go first, for a while."""

from clearlane.pipeline.intake.intake_priority import (
    INTAKE_PRIORITY_CLAIMS_PER_SECOND,
    INTAKE_PRIORITY_SECONDS_MAX,
    IntakePriority,
)


class Seconds:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


MANY = 2 * (INTAKE_PRIORITY_CLAIMS_PER_SECOND + 1)


def asks(*submitted: int, beside_large_file: bool = False) -> list[bool]:
    """Whether batching may run, asked every two seconds after so many claims each time."""
    seconds = Seconds()
    priority = IntakePriority(seconds)
    allowed = []
    for claims in submitted:
        seconds.now += 2
        priority.record_claims(claims)
        allowed.append(priority.allows_batching(beside_large_file=beside_large_file))
    return allowed


def test_with_few_claims_batching_runs():
    assert asks(0, 1, 2 * INTAKE_PRIORITY_CLAIMS_PER_SECOND) == [True] * 3


def test_while_many_claims_arrive_batching_waits():
    assert asks(MANY, MANY, 0, MANY) == [False, False, True, False]


def test_when_claims_do_not_stop_arriving_batching_runs_now_and_then():
    rounds = INTAKE_PRIORITY_SECONDS_MAX // 2 + 1
    assert asks(*[MANY] * 2 * rounds) == ([False] * (rounds - 1) + [True]) * 2


def test_beside_a_large_file_batching_runs_now_and_then():
    rounds = INTAKE_PRIORITY_SECONDS_MAX // 2 + 1
    expected = [False] * (rounds - 1) + [True]
    assert asks(*[0] * rounds, beside_large_file=True) == expected


def test_one_large_document_delays_batching_once():
    assert asks(5_000, 0) == [False, True]


def test_claims_that_arrive_now_are_asked_about_without_counting_them_again():
    seconds = Seconds()
    priority = IntakePriority(seconds)
    assert priority.is_calm
    priority.record_claims(MANY)
    seconds.now += 1
    assert not priority.is_calm
    seconds.now += 1
    assert not priority.allows_batching(), "the claims still count"
    assert priority.is_calm
