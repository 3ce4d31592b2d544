"""Ending what runs beside us, for good."""

import asyncio
from collections.abc import Iterable
from typing import Any

from clearlane.kernel import limits


async def end_all(tasks: Iterable["asyncio.Task[Any]"]) -> None:
    """Cancel tasks until each of them has ended.

    Once is not enough: a write that its group has taken already gives its outcome instead of giving up, and the
    task that waited for it goes on.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=limits.CANCEL_AGAIN_SECONDS)
