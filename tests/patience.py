"""Waiting in tests, with a limit far beyond what a slow and busy machine needs.

The limit ends a test that would hang; it measures nothing.
"""

import asyncio
import inspect
import time

PATIENCE_SECONDS = 120
LOOK_SECONDS = 0.02


async def until(condition):
    """Wait until a condition, plain or awaitable, is true, and return its value."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (value := await _value_of(condition)):  # noqa: ASYNC110  (others make it hold)
            await asyncio.sleep(LOOK_SECONDS)
    return value


def wait_until(condition):
    """Wait until a condition is true, in a test that blocks, and return its value."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError("the condition never became true")
        time.sleep(LOOK_SECONDS)
    return value


async def _value_of(condition):
    value = condition()
    return await value if inspect.isawaitable(value) else value
