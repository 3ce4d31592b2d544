"""How long a test waits for what must come.

Far beyond what a slow and busy machine needs: it ends what would hang, and it measures nothing.
"""

import asyncio
import inspect
import time

PATIENCE_SECONDS = 120
LOOK_SECONDS = 0.02


async def until(condition):
    """Wait until a condition holds, whether it is told at once or awaited; what it told."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (told := await _told(condition)):  # noqa: ASYNC110  (others make it hold)
            await asyncio.sleep(LOOK_SECONDS)
    return told


def wait_until(condition):
    """The same for tests that block."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (told := condition()):
        if time.monotonic() > end:
            raise AssertionError("it never came so far")
        time.sleep(LOOK_SECONDS)
    return told


async def _told(condition):
    told = condition()
    return await told if inspect.isawaitable(told) else told
