"""Control numbers for the responses to one file, taken from the installation's counter a few at a time."""

from collections import deque

from clearlane.accounts.model import Site
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.delivery.control_numbers import next_control_number

CONTROL_NUMBERS_AT_ONCE = 8


class ControlBlock:
    """Gives control numbers that no other interchange has. Those that are not used are left out for good."""

    def __init__(self, context: WorkContext, site: Site) -> None:
        self._context = context
        self._site = site
        self._left: deque[int] = deque()

    async def next(self) -> int:
        """Return the next control number."""
        return (await self.take(1))[0]

    async def take(self, count: int) -> list[int]:
        """Return as many control numbers, each larger than the one before."""
        if len(self._left) < count:
            more = max(count, CONTROL_NUMBERS_AT_ONCE)
            last = await self._context.database.write(
                self._site.scope,
                lambda tx: next_control_number(tx, skip=more - 1),
                actor=self._context.actor,
            )
            self._left = deque(range(last - more + 1, last + 1))
        return [self._left.popleft() for _ in range(count)]
