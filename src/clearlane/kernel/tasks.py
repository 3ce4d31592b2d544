"""Work in the background: its cancellation, and threads that make way for the event loop."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, ParamSpec, TypeVar

CANCEL_RETRY_SECONDS = 0.5
INTERPRETER_SECONDS_MAX = 0.0005
"""How long a thread in the background keeps the interpreter while another one waits for it; Python's own limit is ten times that."""

READ_HERE_BYTES_MAX = 8_192
"""What is read in the event loop itself: some ten claims of a payer's file, which take less than two milliseconds."""

P = ParamSpec("P")
T = TypeVar("T")


async def cancel_all(tasks: Iterable["asyncio.Task[Any]"]) -> None:
    """Cancel tasks until every one of them has ended.

    One cancellation is not enough: a grouped write that has already been taken returns its outcome instead of
    raising ``CancelledError``, and the task that awaited it continues.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=CANCEL_RETRY_SECONDS)


async def run_by_size(size: int, call: Callable[[], T]) -> T:
    """Run a call that takes as long as ``size`` bytes do: in a thread, or here if handing it over would cost more."""
    if size <= READ_HERE_BYTES_MAX:
        return call()
    return await asyncio.to_thread(call)


async def run_side_by_side(
    jobs: Sequence[Callable[[], Awaitable[T]]],
    at_once: int,
    *,
    passing: tuple[type[Exception], ...] = (),
) -> list[T | Exception]:
    """Run jobs in order, some at a time; return the result of each, or what it raised.

    After an exception that is not of a ``passing`` type no further job begins, and the list ends with the last that began.
    """
    outcomes: dict[int, T | Exception] = {}
    left = iter(enumerate(jobs))
    goes_on = True

    async def work() -> None:
        nonlocal goes_on
        for at, job in left:
            try:
                outcomes[at] = await job()
            except Exception as fault:  # noqa: BLE001  (returned)
                outcomes[at] = fault
                goes_on = goes_on and isinstance(fault, passing)
            if not goes_on:
                return

    async with asyncio.TaskGroup() as group:
        for _ in range(min(at_once, len(jobs))):
            group.create_task(work())
    return [outcomes[at] for at in sorted(outcomes)]


async def run_in_background(work: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> T:
    """Run a long computation in a thread, so that calls that are answered beside it get the interpreter soon.

    A call needs it a dozen times: for each step of the event loop, and after each statement of a connection's thread.
    """
    with _sharing.interpreter():
        return await asyncio.to_thread(work, *arguments, **named)


class _Sharing:
    """Shortens the turns of all threads while at least one computes in the background."""

    def __init__(self) -> None:
        self._changing = Lock()
        self._running = 0
        self._usual = sys.getswitchinterval()

    @contextmanager
    def interpreter(self) -> Iterator[None]:
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        with self._changing:
            self._running += more
            sys.setswitchinterval(INTERPRETER_SECONDS_MAX if self._running else self._usual)


_sharing = _Sharing()
