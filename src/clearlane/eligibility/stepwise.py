"""Run long computations in small steps, so that the event loop can run other work in between.

A stepwise function is a generator that pauses after each step and returns its result at the end:

    call = StepwiseCall(decode.decode_stepwise(document))
    for _ in call: ...                            # let other work run
    call.result

Knows nothing else.
"""

from collections.abc import Generator, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class StepwiseCall(Generic[T]):
    """An iterator over the pauses of a stepwise function that holds its result afterward."""

    def __init__(self, steps: Generator[None, None, T]) -> None:
        self._steps = steps
        self.result: T

    def __iter__(self) -> Iterator[None]:
        self.result = yield from self._steps
