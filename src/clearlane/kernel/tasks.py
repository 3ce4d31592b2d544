"""Cancellation of background tasks."""

import asyncio
from collections.abc import Iterable
from typing import Any

CANCEL_RETRY_SECONDS = 0.5


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
