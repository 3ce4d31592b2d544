"""The connections of a sandbox: every payer of the directory is reached by loopback; nothing leaves the process.

Knows the payer directory and how ledgers are named. The simulated payers are made by the caller.
"""

import re
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import lru_cache

from clearlane.connect.connections import PayerRoute, RealtimeConnection
from clearlane.connect.loopback import (
    LoopbackMailbox,
    LoopbackRealtime,
    PayerLock,
    SimulatedFilePayer,
    SimulatedRealtimePayer,
)
from clearlane.connect.port import Ledger
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.hops import HOP, Hop
from clearlane.payers.model import Payer
from clearlane.payers.routes import INQUIRIES
from clearlane.payers.samples import SANDBOX_HOP

SANDBOX_POLL_SECONDS = 1

ROUTE_ID = 0
KIND = "loopback"
SENDER = "CLEARLANE"
USAGE = "T"
PARTNER_CHARACTERS_MAX = 15
ROUTES_REMEMBERED_MAX = 1_024


class LoopbackConnections:
    """One mailbox and one real-time connection for each payer, whatever its routes."""

    def __init__(
        self,
        payers: Callable[[], PayerDirectory],
        *,
        file_payer: Callable[[Payer, str], SimulatedFilePayer],
        hop: Callable[[Hop, str], SimulatedFilePayer],
        realtime_payer: Callable[[Payer], SimulatedRealtimePayer],
        ledger: Ledger,
        ledgers_in_use: Callable[[], Collection[str]],
        clock: Clock,
        lock: PayerLock,
        window_seconds: int = limits.SANDBOX_WINDOW_SECONDS,
    ) -> None:
        """``file_payer``, ``hop`` and ``realtime_payer`` make what is simulated; the first two get its ledger's name."""
        self._payers = payers
        self._file_payer = file_payer
        self._hop = hop
        self._realtime_payer = realtime_payer
        self._ledger = ledger
        self._ledgers_in_use = ledgers_in_use
        self._clock = clock
        self._lock = lock
        self._window_seconds = window_seconds
        self._realtime: dict[Payer, RealtimeConnection] = {}

    def mailbox_routes(self, type: str, payer_id: str) -> Sequence[PayerRoute]:
        """Return the loopback route of a payer of the directory."""
        if type == HOP:
            return [self._route(HOP, SANDBOX_HOP.id)] if payer_id == SANDBOX_HOP.id else []
        payer = self._payers().find(payer_id, type)
        return [] if payer is None else [self._route(payer.type, payer.payer_id)]

    def all_mailbox_routes(self) -> Sequence[PayerRoute]:
        """Return the routes on which something was sent: a directory may hold thousands of others."""
        return [self._route(*_split_ledger_name(name)) for name in sorted(self._ledgers_in_use())]

    def open_mailbox(self, route: PayerRoute) -> LoopbackMailbox:
        """Return a payer's mailbox with a new simulated payer: all its memory is in its ledger."""
        name = ledger_name(route.type, route.payer_id)
        simulated = (
            self._hop(SANDBOX_HOP, name)
            if route.hop
            else self._file_payer(self._payer(route), name)
        )
        return LoopbackMailbox(
            simulated,
            name=name,
            ledger=self._ledger,
            clock=self._clock,
            lock=self._lock,
        )

    def hops(self) -> Sequence[Hop]:
        """Return the hop that every sandbox has."""
        return [SANDBOX_HOP]

    def find_hop(self, id: str) -> Hop | None:
        """Return the hop with this id."""
        return SANDBOX_HOP if id == SANDBOX_HOP.id else None

    def realtime_connections(self, type: str, payer_id: str) -> Sequence[RealtimeConnection]:
        """Return the loopback connection of a payer of the directory."""
        payer = self._payers().find(payer_id, type)
        if payer is None:
            return []
        # Made once for each payer, because it remembers the order in which inquiries came.
        connection = self._realtime.get(payer)
        if connection is None:
            connection = self._realtime[payer] = RealtimeConnection(
                route=self._route(payer.type, payer.payer_id),
                timeout_seconds=limits.SANDBOX_DELAY_REMEMBERED_SECONDS,
                realtime=LoopbackRealtime(self._realtime_payer(payer), self._clock),
            )
        return [connection]

    async def busy(self, now: datetime) -> bool:
        """Return whether any payer has files to leave now."""
        for route in self.all_mailbox_routes():
            if await self.open_mailbox(route).busy(now):
                return True
        return False

    async def close(self) -> None:
        """Do nothing: a loopback holds no connection."""

    def _route(self, type: str, payer_id: str) -> PayerRoute:
        return loopback_route(type, payer_id, window_seconds=self._window_seconds)

    def _payer(self, route: PayerRoute) -> Payer:
        # A payer that was sent claims answers them, even if the directory has dropped it since.
        known = self._payers().find(route.payer_id, route.type)
        return known or Payer(route.type, route.payer_id, route.payer_id, route.payer_id)


def ledger_name(type: str, payer_id: str) -> str:
    """Return the name of a payer's ledger: a payer that takes both types of claims has two.

    That of a payer behind the hop is the hop's, which receives its files.
    """
    if SANDBOX_HOP.id_of(type, payer_id):
        return f"{HOP}/{SANDBOX_HOP.id}"
    return f"{type}/{payer_id}"


@lru_cache(maxsize=ROUTES_REMEMBERED_MAX)
def loopback_route(type: str, payer_id: str, *, window_seconds: int) -> PayerRoute:
    """Return the loopback route to a payer, or to the hop that serves it."""
    hop = SANDBOX_HOP if type == HOP or SANDBOX_HOP.id_of(type, payer_id) else None
    plain = re.sub(r"[^A-Za-z0-9]", "", hop.id if hop else payer_id)[:PARTNER_CHARACTERS_MAX]
    return PayerRoute(
        route_id=ROUTE_ID,
        payer_id=payer_id,
        type=type,
        kind=KIND,
        sender_id=SENDER,
        receiver_id=plain or "PAYER",
        usage=USAGE,
        window_seconds=window_seconds,
        poll_seconds=SANDBOX_POLL_SECONDS,
        inquiries=",".join(INQUIRIES),
        receiver_name=hop.name if hop else "",
        hop=hop.id if hop else "",
        hop_payer_id=hop.id_of(type, payer_id) if hop else "",
    )


def _split_ledger_name(name: str) -> tuple[str, str]:
    type, _, payer_id = name.partition("/")
    return type, payer_id
