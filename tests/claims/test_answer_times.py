"""Delays of payers are estimated with what is still unanswered, step by step."""

from datetime import date

import pytest

from clearlane.claims.answer_times import (
    AnswerFigure,
    TimedFact,
    answer_delays,
    coming_answer,
    estimate,
)
from clearlane.claims.awaiting import Awaited
from clearlane.claims.responses.facts import FactKind

MONDAY = date(2026, 8, 3)


def facts(*kinds_and_days):
    return [
        TimedFact(id, kind, MONDAY.replace(day=day))
        for id, (kind, day) in enumerate(kinds_and_days, 1)
    ]


def test_each_answer_is_counted_from_the_one_before_it():
    known = facts(
        (FactKind.SENT, 3), (FactKind.ACCEPTED_999, 4), (FactKind.STATUS, 10), (FactKind.STATUS, 12),
        (FactKind.REMIT, 24),
    )  # fmt: skip
    days = [MONDAY.replace(day=day) for day in (3, 4, 10)]
    every = [
        (Awaited.ACK_999, days[0], 1, True), (Awaited.ACK_277CA, days[1], 4, True),
        (Awaited.DECISION, days[2], 10, True),
    ]  # fmt: skip
    assert list(answer_delays(known, 0)) == every
    # Facts that were counted before are not counted again.
    assert list(answer_delays(known, 3)) == every[2:]


def test_what_was_passed_over_did_not_come():
    known = facts((FactKind.SENT, 3), (FactKind.REMIT, 17))
    assert list(answer_delays(known, 0)) == [
        (Awaited.ACK_999, MONDAY, 10, False), (Awaited.ACK_277CA, MONDAY, 10, False),
        (Awaited.DECISION, MONDAY, 10, True),
    ]  # fmt: skip
    assert list(answer_delays(facts((FactKind.REMIT, 17)), 0)) == []


@pytest.mark.parametrize(
    ("answered", "unanswered", "figure"),
    [
        ({0: 40, 1: 9}, {0: 30}, None),  # too few
        ({0: 40, 1: 60}, {}, AnswerFigure(1, 100)),
        # An average of the answered says 2 days; but half of the claims, or a tenth, have waited for 9.
        ({2: 50}, {9: 50}, None),
        ({2: 70, 4: 20}, {9: 10}, AnswerFigure(5, 100)),
        ({2: 50, 20: 45}, {9: 5}, AnswerFigure(26, 100)),
        # What was lost makes no answer slower: nine tenths of those that come, come within 3 days.
        ({2: 80, 3: 11, 9: 4}, {40: 5}, AnswerFigure(4, 100)),
        # Claims that were sent yesterday say little of a payer that takes five days.
        ({5: 60}, {1: 500}, AnswerFigure(6, 560)),
        # It does not give this answer.
        ({}, {15: 50}, AnswerFigure(None, 50)),
        ({1: 10}, {30: 90}, AnswerFigure(None, 100)),
        ({2: 60}, {3: 500}, None),
        ({}, {3: 500}, None),
    ],
)
def test_a_figure_includes_the_unanswered(answered, unanswered, figure):
    assert estimate(answered, unanswered) == figure


def test_an_answer_that_a_payer_does_not_give_is_not_awaited():
    key = ("medical", "MM001")
    none = {(*key, "999"): None, (*key, "277CA"): None}
    assert coming_answer(Awaited.ACK_999, *key, none) is Awaited.DECISION
    assert coming_answer(Awaited.ACK_999, *key, {(*key, "999"): None}) is Awaited.ACK_277CA
    assert coming_answer(Awaited.ACK_999, *key, {(*key, "999"): 1}) is Awaited.ACK_999
    assert coming_answer(Awaited.PAYMENT, *key, none) is Awaited.PAYMENT
    assert coming_answer(Awaited.CORRECTION, *key, none) is Awaited.CORRECTION


def test_a_step_that_most_claims_pass_over_does_not_come():
    # No 999 comes: the 277CA of the next day came instead, so that no claim waited long.
    assert estimate({}, {1: 60}, passed_over=60) == AnswerFigure(None, 60)
    assert estimate({1: 20}, {1: 60}, passed_over=60) == AnswerFigure(None, 80)
    assert estimate({1: 2_000}, {2: 60}, passed_over=60).days == 1
