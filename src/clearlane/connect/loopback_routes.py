"""The lines of a sandbox: every payer of the directory is reached by loopback, and nothing ever leaves.

Knows the directory and the ledger's names; what stands at the end of a line is made by who opens the house.
"""

import re
from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from clearlane.connect.loopback import LoopbackMailbox, SimulatedPayer, Turn
from clearlane.connect.port import Ledger
from clearlane.connect.routes import Line
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.payers.directory import Payers
from clearlane.payers.model import Payer

ROUTE_ID = 0
KIND = "loopback"
SENDER = "CLEARLANE"
USAGE = "T"
PARTNER_CHARACTERS_MAX = 15


class LoopbackLines:
    """One line to each payer, whatever its routes."""

    def __init__(
        self,
        payers: Callable[[], Payers],
        *,
        seat: Callable[[Payer, str], SimulatedPayer],
        ledger: Ledger,
        used: Callable[[], Collection[str]],
        clock: Clock,
        turn: Turn,
    ) -> None:
        """``seat`` makes the payer at the end of a line; ``used`` names the ledgers that hold something."""
        self._payers = payers
        self._seat = seat
        self._ledger = ledger
        self._used = used
        self._clock = clock
        self._turn = turn

    def ways(self, type: str, payer_id: str) -> Sequence[Line]:
        """The loopback, for every payer there is."""
        payer = self._payers().find(payer_id, type)
        return [] if payer is None else [line_to(payer.type, payer.payer_id)]

    def all(self) -> Sequence[Line]:
        """The lines on which something was sent: a directory may hold thousands of others."""
        return [line_to(*_named(name)) for name in sorted(self._used())]

    def open(self, line: Line) -> LoopbackMailbox:
        """The mailbox of a payer, with a payer of its own: it remembers nothing but its ledger."""
        name = ledger_name(line.type, line.payer_id)
        return LoopbackMailbox(
            self._seat(self._payer(line), name),
            name=name,
            ledger=self._ledger,
            clock=self._clock,
            turn=self._turn,
        )

    async def busy(self, now: datetime) -> bool:
        """Whether any payer has something to do."""
        for line in self.all():
            if await self.open(line).busy(now):
                return True
        return False

    def _payer(self, line: Line) -> Payer:
        # Who was sent claims answers them, even where the directory has dropped it since.
        known = self._payers().find(line.payer_id, line.type)
        return known or Payer(line.type, line.payer_id, line.payer_id, line.payer_id)


def ledger_name(type: str, payer_id: str) -> str:
    """The name of a payer's ledger: a payer that takes both types is two payers."""
    return f"{type}/{payer_id}"


def _named(ledger: str) -> tuple[str, str]:
    type, _, payer_id = ledger.partition("/")
    return type, payer_id


def line_to(type: str, payer_id: str) -> Line:
    """The line to a payer."""
    plain = re.sub(r"[^A-Za-z0-9]", "", payer_id)[:PARTNER_CHARACTERS_MAX]
    return Line(
        route_id=ROUTE_ID,
        payer_id=payer_id,
        type=type,
        kind=KIND,
        sender_id=SENDER,
        receiver_id=plain or "PAYER",
        usage=USAGE,
        window_seconds=limits.SANDBOX_WINDOW_SECONDS,
        poll_seconds=limits.SANDBOX_POLL_SECONDS,
    )
