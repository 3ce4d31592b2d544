"""Work on a large document in small steps, so that others can run in between.

A stepwise function is a generator that pauses after each piece and returns its result at the end:

    steps = Steps(decode.reading(document))
    for _ in steps: ...                           # let others run
    steps.result

Knows nothing else.
"""

from collections.abc import Generator, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Steps(Generic[T]):
    """The pauses of a stepwise function; afterwards its result."""

    def __init__(self, work: Generator[None, None, T]) -> None:
        self._work = work
        self.result: T

    def __iter__(self) -> Iterator[None]:
        self.result = yield from self._work


def finish(work: Generator[None, None, T]) -> T:
    """The result at once, without a pause."""
    steps = Steps(work)
    for _ in steps:
        pass
    return steps.result
