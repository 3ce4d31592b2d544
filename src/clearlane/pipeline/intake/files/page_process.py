"""Decide whether a page of a large file goes to a second process, which judges it while the first one reads on.

    with_help = PageProcesses(settings, node)
    process = with_help.take(bytes_left, seconds_alone)     # None: judge it here

Reading a claim takes the process of a file a third of the time of judging it, and one interpreter runs on one processor. A
file with much left to read starts this process, which is the same program, while no one else calls the installation. When
others do, it gets no more pages, and if they go on it ends: its processor and its memory are for them.
"""

import time

import msgspec

from clearlane.kernel.processors import count_processors
from clearlane.pipeline.helper_process import HelperOpening, HelperProcess

MODULE = "clearlane.programs.page_program"
PAGES_AT_ONCE = 2
"""One that is judged, and the next one, so that the process need not wait for it."""
PAGES_BEFORE_START = 8
"""As many writes of this process have seen by then whether others write."""
START_BYTES_MIN = 1024 * 1024
"""What is left to read when the process starts, some two thousand claims: it takes a second or two of a processor to start."""
CALM_SECONDS_MIN = 2.0
"""How long ago the fourth last write of another process is before pages are handed over."""
BUSY_SECONDS_MAX = 5.0
"""How long others may write before the process ends. What a node does by itself takes less."""
PROCESSORS_MIN = 2


class PageProcesses:
    """The process that judges pages beside the process of a file, if there is one."""

    def __init__(
        self,
        settings: bytes,
        node: str,
        *,
        pages_before_start: int = PAGES_BEFORE_START,
        start_bytes_min: int = START_BYTES_MIN,
        busy_seconds_max: float = BUSY_SECONDS_MAX,
        processors_min: int = PROCESSORS_MIN,
    ) -> None:
        """``settings`` are those of the service, in JSON."""
        self._opening = msgspec.json.encode(HelperOpening(msgspec.Raw(settings), node))
        self._pages_before_start = pages_before_start
        self._start_bytes_min = start_bytes_min
        self._busy_seconds_max = busy_seconds_max
        self._processors_min = processors_min
        self.process: HelperProcess | None = None
        """The process that gets pages, if there is one."""
        self._started: list[HelperProcess] = []
        self._pages = 0
        self._busy_since = 0.0

    def take(self, bytes_left: int, seconds_alone: float) -> HelperProcess | None:
        """Return the process that takes the next page now. ``bytes_left`` is what is not read of the file."""
        self._pages += 1
        if seconds_alone < CALM_SECONDS_MIN:
            self._end_if_busy()
            return None
        self._busy_since = 0.0
        process = self.process
        if process is None:
            self._start(bytes_left)
            return None
        # One that died is not replaced: the next one would die as well.
        is_free = process.is_ready and not process.has_ended and process.orders < PAGES_AT_ONCE
        return process if is_free else None

    async def close(self) -> None:
        """End every process, and wait for that."""
        for process in self._started:
            await process.close()

    def _start(self, bytes_left: int) -> None:
        if self._pages <= self._pages_before_start or bytes_left < self._start_bytes_min:
            return
        if count_processors() >= self._processors_min:
            self.process = HelperProcess(MODULE)
            self._started.append(self.process)
            self.process.start(self._opening)

    def _end_if_busy(self) -> None:
        now = time.monotonic()
        self._busy_since = self._busy_since or now
        if self.process is not None and now - self._busy_since > self._busy_seconds_max:
            self.process.retire()
            self.process = None
