"""What a trial of a connection tells: one line for each thing that was tried."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from clearlane.connect.port import Denied, Unreachable


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was tried, and how it went."""

    what: str
    passed: bool
    words: str


Step = tuple[str, Callable[[], Awaitable[str]]]
"""What is tried, and the trial: it gives the words of a success, or raises."""


async def run_steps(steps: list[Step]) -> list[Check]:
    """Try one after the other; what comes after a failure would fail for the same reason."""
    told: list[Check] = []
    for what, trial in steps:
        try:
            told.append(Check(what, passed=True, words=await trial()))
        except (Unreachable, Denied) as fault:
            return [*told, Check(what, passed=False, words=str(fault))]
    return told
