"""The rule of `make soak`: what grows, and what is noise."""

import random

import pytest

from bench.growth import SAMPLES_MIN, GrowthLimit, has_grown, part_medians

MEMORY = GrowthLimit("memory", "MB", 0.10, 24)
NOISE = random.Random(7)
SAMPLES = 180


def run(rise=0.0, noise=0.0, warm_up=0.0):
    """Samples of a run: a level of 200 that rises in all, noise, and a steep rise in the first third."""
    return [
        200
        + rise * at / SAMPLES
        + NOISE.uniform(-noise, noise)
        + min(warm_up, 3 * warm_up * at / SAMPLES)
        for at in range(SAMPLES)
    ]


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (run(), False),
        (run(noise=60), False),
        (run(warm_up=300), False),
        (run(rise=20), False),  # 13 MB after warm-up
        (run(rise=-100, noise=20), False),
        (run(rise=100), True),
        (run(rise=100, noise=20, warm_up=100), True),
        ([200.0] * 60 + [300.0, 200.0] * 60, False),  # peaks
        ([200.0] * 60 + [200.0] * 40 + [400.0] * 40 + [260.0] * 40, False),  # it comes back
        ([200.0] * 60 + [200.0] * 40 + [230.0] * 40 + [260.0] * 40, True),
        ([200.0] * 60 + [200.0] * 80 + [260.0] * 40, False),  # one step is not steady growth
    ],
)
def test_growth_is_distinguished_from_noise(samples, expected):
    assert has_grown(samples, MEMORY) is expected


def test_share_and_amount_must_both_be_exceeded():
    samples = run(rise=100)
    assert not has_grown(samples, GrowthLimit("memory", "MB", 0.5, 24))
    assert not has_grown(samples, GrowthLimit("memory", "MB", 0.1, 100))


def test_a_run_that_is_too_short_is_refused():
    with pytest.raises(ValueError, match="too few"):
        part_medians([1.0] * (SAMPLES_MIN - 1))
