"""Losses are found in time and at the right step, few other claims reach a person, and none is sent twice.

Tests `bench/replay` with a tenth of its claims; `python -m bench replay` has them all.
"""

from bench.replay import Replay


def test_losses_are_found_and_few_others_reach_a_person():
    found = Replay(500, seed=4, measured_every=5).run()
    assert found.claims == 500
    assert found.lost > 20
    assert found.found_share >= 0.95, found
    assert found.false_share < 0.02, found
    assert found.sent_twice == 0
    # Fewer looks than a plain worklist after 30 days has, and questions where there is one to ask.
    assert found.touches < found.plain_touches / 3
    assert 0 < found.questions < found.claims
