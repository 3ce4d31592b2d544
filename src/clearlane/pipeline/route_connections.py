"""The connections of an installation with real payers: its active routes.

Knows stored routes and how to open them; does not know claims.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from clearlane.connect.connections import PayerRoute, RealtimeConnection
from clearlane.connect.factory import RouteRealtime, open_mailbox, open_realtime
from clearlane.connect.port import Mailbox
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.store.delivery.routes import ActiveRoutes, RouteWithSecrets
from clearlane.x12.writer.encode import clean
from clearlane.x12.writer.writer import Envelope

ADDRESS_OPTIONS = (
    "sender_id", "receiver_id", "sender_qualifier", "receiver_qualifier", "group_sender",
    "group_receiver", "senders", "usage",
)  # fmt: skip
"""Options of a stored route that ``PayerRoute`` has by the same name."""

PACE_OPTIONS = ("window_seconds", "claims_max", "poll_seconds", "takeover_seconds")
"""The same, for routes that carry files."""

FILE_OPTIONS = ("send_windows", "time_zone", "file_name")
"""The same, for routes that carry files, in words."""


class RouteConnections:
    """Connections of one snapshot of the active routes."""

    def __init__(self, routes: ActiveRoutes, clock: Clock) -> None:
        self._routes = routes
        self._clock = clock
        self._by_id = {stored.route.id: stored for stored in routes.all_file_routes()}
        self._realtime: dict[int, RouteRealtime] = {}

    def mailbox_routes(self, type: str, payer_id: str) -> Sequence[PayerRoute]:
        """Return the active routes for a payer's files, in their order."""
        return _payer_routes(self._routes.file_routes(type, payer_id))

    def all_mailbox_routes(self) -> Sequence[PayerRoute]:
        """Return every active route that carries files."""
        return _payer_routes(self._by_id.values())

    def open_mailbox(self, route: PayerRoute) -> Mailbox:
        """Return the mailbox of a route."""
        stored = self._by_id[route.route_id]
        return open_mailbox(stored.route, stored.secrets, clock=self._clock)

    def realtime_connections(self, type: str, payer_id: str) -> Sequence[RealtimeConnection]:
        """Return the active real-time routes of a payer, in their order."""
        return [self._connection(stored) for stored in self._routes.realtime_routes(type, payer_id)]

    async def close(self) -> None:
        """Close the real-time connections."""
        connections, self._realtime = list(self._realtime.values()), {}
        for connection in connections:
            await connection.close()

    def _connection(self, stored: RouteWithSecrets) -> RealtimeConnection:
        route = stored.route
        # Kept open, so that its http connections are reused from one inquiry to the next.
        if route.id not in self._realtime:
            self._realtime[route.id] = open_realtime(route, stored.secrets, clock=self._clock)
        return RealtimeConnection(
            route=payer_route(stored),
            timeout_seconds=min(route.number("seconds_max"), limits.REALTIME_SECONDS_MAX),
            realtime=self._realtime[route.id],
        )


def envelope_for(route: PayerRoute, control: int, moment: datetime) -> Envelope:
    """Return the envelope of a file on a route, in capitals: routes take small letters, X12 does not."""
    return Envelope(
        sender=clean(route.sender_id)[0],
        receiver=clean(route.receiver_id)[0],
        control=control,
        moment=moment,
        sender_qualifier=route.sender_qualifier,
        receiver_qualifier=route.receiver_qualifier,
        application_sender=clean(route.group_sender)[0],
        application_receiver=clean(route.group_receiver)[0],
        usage=route.usage,
    )


def payer_route(stored: RouteWithSecrets) -> PayerRoute:
    """Return a stored route as the pipeline uses it."""
    route = stored.route
    options: dict[str, Any] = {name: route.text(name) for name in ADDRESS_OPTIONS}
    if route.carries_files:
        options |= {name: route.number(name) for name in PACE_OPTIONS}
        options |= {name: route.text(name) for name in FILE_OPTIONS}
        options["answer_days"] = int(route.options.get("answer_days", 0))
        own = route.options.get("settle_seconds")
        options["settle_seconds"] = None if own is None else int(own)
    return PayerRoute(
        route_id=route.id,
        payer_id=route.payer_id,
        type=route.type,
        kind=route.kind.value,
        **options,
    )


def _payer_routes(routes: Iterable[RouteWithSecrets]) -> list[PayerRoute]:
    return [payer_route(stored) for stored in routes]
