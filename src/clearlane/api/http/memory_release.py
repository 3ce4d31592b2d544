"""Give memory that callers made the process use back to the system, once they are gone.

The C library keeps freed memory for later, in one pool for each of many threads: after a flood of connections or large
documents a node would keep its highest use forever. Pools are limited to two at start, and what is free in them is
given back (malloc_trim) in a thread, a few seconds after much was freed. Elsewhere than with glibc nothing is done.
"""

import asyncio
import ctypes
from collections.abc import Callable

ARENAS_MAX = 2
TRIM_AFTER_BYTES = 4 * 1024 * 1024
TRIM_SECONDS = 5.0
# What a connection with TLS holds, roughly.
CONNECTION_BYTES = 64 * 1024
M_ARENA_MAX = -8
"""The number of the option in glibc's ``malloc.h``."""


def limit_arenas() -> None:
    """Let the C library keep two pools of memory at most, whatever the number of threads."""
    set_option = _find("mallopt")
    if set_option is not None:
        set_option(M_ARENA_MAX, ARENAS_MAX)


class FreedMemory:
    """Counts what requests and connections have freed, and gives it back to the system now and then."""

    def __init__(self) -> None:
        self._bytes = 0
        self._trim = _find("malloc_trim")

    def add(self, count: int) -> None:
        """Count freed bytes."""
        self._bytes += count

    async def give_back_regularly(self) -> None:
        """Give freed memory back whenever there is enough of it; runs until it is canceled."""
        while True:
            await asyncio.sleep(TRIM_SECONDS)
            if self._bytes >= TRIM_AFTER_BYTES and self._trim is not None:
                self._bytes = 0
                # In a thread, where ctypes releases the interpreter: it takes some milliseconds.
                await asyncio.to_thread(self._trim, 0)


def _find(name: str) -> Callable[..., int] | None:
    """Return a function of the C library; None if it has no such function."""
    try:
        found: Callable[..., int] = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return None
    return found
