"""Waiting in tests, with a limit far beyond what a slow and busy machine needs.

The limit ends a test that would hang; it measures nothing.
"""

import asyncio
import inspect
import time

PATIENCE_SECONDS = 240
LOOK_SECONDS = 0.02
# A look costs the service that is asked more than a pause. Who has waited long can wait a tenth longer.
LOOKS_PER_WAIT = 10


async def until(condition):
    """Wait until a condition, plain or awaitable, is true, and return its value."""
    start = time.monotonic()
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (value := await _value_of(condition)):  # noqa: ASYNC110  (others make it hold)
            await asyncio.sleep(_pause(start))
    return value


def wait_until(condition):
    """Wait until a condition is true, in a test that blocks, and return its value."""
    start = time.monotonic()
    while not (value := condition()):
        if time.monotonic() > start + PATIENCE_SECONDS:
            raise AssertionError("the condition never became true")
        time.sleep(_pause(start))
    return value


def _pause(start: float) -> float:
    return max(LOOK_SECONDS, (time.monotonic() - start) / LOOKS_PER_WAIT)


async def _value_of(condition):
    value = condition()
    return await value if inspect.isawaitable(value) else value
