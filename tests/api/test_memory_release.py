"""Freed memory is counted, and given back when there is enough of it."""

import asyncio
from pathlib import Path

from clearlane.api.http.memory_release import TRIM_AFTER_BYTES, FreedMemory, limit_arenas
from tests.patience import until

MIB = 1024 * 1024


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


async def test_what_a_flood_has_used_goes_back_to_the_system(monkeypatch):
    """Pieces just below the size from which each has a mapping of its own, and one of them kept at the end."""
    monkeypatch.setattr("clearlane.api.http.memory_release.TRIM_SECONDS", 0.01)
    limit_arenas()
    freed = FreedMemory()
    giving_back = asyncio.create_task(freed.give_back_regularly())
    pieces = [bytes(100_000) + b"x" for _ in range(1_000)]
    highest = resident_bytes()
    last = pieces.pop()
    pieces.clear()
    freed.add(TRIM_AFTER_BYTES)
    await until(lambda: resident_bytes() < highest - 60 * MIB)
    assert len(last) == 100_001
    giving_back.cancel()
