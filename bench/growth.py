"""Whether a figure that was sampled over a long run grows: the rule of `make soak`.

The first third of the samples is warm-up and does not count. The rest is cut into three parts of equal length, and the
median of each is taken, so that single peaks do not matter. A figure grows when the medians rise from part to part, and
the last is above the first by more than a share *and* by more than an amount: noise moves medians up and down by a
little, a leak moves them up every time. Pure: knows no process.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

WARM_UP_SHARE = 1 / 3
PARTS = 3
SAMPLES_MIN = 18


@dataclass(frozen=True, slots=True)
class GrowthLimit:
    """How much a figure may rise over the run after warm-up: both must be exceeded to fail."""

    name: str
    unit: str
    share: float
    amount: float


def part_medians(samples: Sequence[float]) -> list[float]:
    """Return the medians of the parts after warm-up; raise ValueError for too short a run."""
    if len(samples) < SAMPLES_MIN:
        raise ValueError(f"{len(samples)} samples are too few to tell: {SAMPLES_MIN} are needed")
    rest = samples[int(len(samples) * WARM_UP_SHARE) :]
    size = len(rest) // PARTS
    return [median(rest[at * size : (at + 1) * size]) for at in range(PARTS)]


def has_grown(samples: Sequence[float], limit: GrowthLimit) -> bool:
    """Return whether a figure grows by the rule."""
    medians = part_medians(samples)
    rise = medians[-1] - medians[0]
    steady = all(before < after for before, after in pairwise(medians))
    return steady and rise > limit.amount and rise > limit.share * medians[0]
