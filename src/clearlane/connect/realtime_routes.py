"""The ways to payers that answer while one waits, whatever they are made of.

Knows no kind of connection and no table: routes and the sandbox each have an end of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from clearlane.connect.port import Realtime
from clearlane.connect.routes import Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to ask one payer."""

    line: Line
    """Who we are to the payer, and who it is to us."""
    seconds: float
    """How long its answer is waited for."""
    realtime: Realtime


class Questions(Protocol):
    """Every way there is."""

    def ways(self, type: str, payer_id: str) -> Sequence[Way]:
        """The ways to ask a payer, the first choice first; empty where it takes files only."""
        ...

    async def close(self) -> None:
        """Let go of connections; nobody is asked any more."""
        ...
