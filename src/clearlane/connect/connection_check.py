"""Results of testing a connection, one for each step that was tried."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from clearlane.connect.port import Denied, Unreachable


@dataclass(frozen=True, slots=True)
class ConnectionCheck:
    """Result of one step of a connection test."""

    name: str
    passed: bool
    message: str


ConnectionStep = tuple[str, Callable[[], Awaitable[str]]]
"""The name of a step, and the function that tries it: it returns the message of success, or raises."""


async def run_checks(steps: list[ConnectionStep]) -> list[ConnectionCheck]:
    """Run the steps in order and stop at the first failure: later steps would fail for the same reason."""
    results: list[ConnectionCheck] = []
    for what, trial in steps:
        try:
            results.append(ConnectionCheck(what, passed=True, message=await trial()))
        except (Unreachable, Denied) as fault:
            return [*results, ConnectionCheck(what, passed=False, message=str(fault))]
    return results


def describe_waiting(files: int, passed_over: int) -> str:
    """Return how many files wait, and how many are never collected because of their names."""
    odd = f", {passed_over} with names that are not collected" if passed_over else ""
    return f"{files} files to collect{odd}"
