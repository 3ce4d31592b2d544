"""The ways to ask in a sandbox: every payer of the directory answers by loopback, and nothing ever leaves.

Knows the directory; what stands at the end of a way is made by who opens the house.
"""

from collections.abc import Callable, Sequence

from clearlane.connect.loopback import AnsweringPayer, LoopbackRealtime
from clearlane.connect.loopback_routes import line_to
from clearlane.connect.realtime_routes import Way
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.payers.directory import Payers
from clearlane.payers.model import Payer


class LoopbackQuestions:
    """One way to each payer. A payer is seated once, because it remembers whose turn it is."""

    def __init__(
        self,
        payers: Callable[[], Payers],
        *,
        seat: Callable[[Payer], AnsweringPayer],
        clock: Clock,
    ) -> None:
        self._payers = payers
        self._seat = seat
        self._clock = clock
        self._seated: dict[Payer, Way] = {}

    def ways(self, type: str, payer_id: str) -> Sequence[Way]:
        """The loopback, for every payer there is."""
        payer = self._payers().find(payer_id, type)
        if payer is None:
            return []
        way = self._seated.get(payer)
        if way is None:
            way = self._seated[payer] = Way(
                line=line_to(payer.type, payer.payer_id),
                seconds=limits.SANDBOX_DELAY_REMEMBERED_SECONDS,
                realtime=LoopbackRealtime(self._seat(payer), self._clock),
            )
        return [way]

    async def close(self) -> None:
        """There is nothing to let go of."""
