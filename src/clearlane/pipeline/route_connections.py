"""The connections of an installation with real payers: its active routes.

Knows stored routes, how to open them and who receives their files; knows no claim.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from clearlane.claims.write.write_837 import TradingPartner
from clearlane.connect.connections import Connections, PayerRoute, RealtimeConnection
from clearlane.connect.factory import RouteRealtime, open_mailbox, open_realtime
from clearlane.connect.port import Mailbox
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.hops import HOP, Hop
from clearlane.payers.routes import ELIGIBILITY_INQUIRY
from clearlane.store.delivery.routes import ActiveRoutes, RouteWithSecrets
from clearlane.x12.writer.encode import clean
from clearlane.x12.writer.writer import Envelope

ADDRESS_OPTIONS = (
    "sender_id", "receiver_id", "sender_qualifier", "receiver_qualifier", "group_sender",
    "group_receiver", "senders", "usage", "inquiries",
)  # fmt: skip
"""Options of a stored route that ``PayerRoute`` has by the same name."""

PACE_OPTIONS = ("window_seconds", "claims_max", "poll_seconds", "takeover_seconds")
"""The same, for routes that carry files."""

STATUS_OPTIONS = ("status_after_days", "status_every_days")
"""The same, for questions about claims."""

FILE_OPTIONS = ("send_windows", "time_zone", "file_name", "receiver_name", "letters")
"""The same, for routes that carry files, in words."""


class RouteConnections:
    """Connections of one snapshot of the active routes."""

    def __init__(self, routes: ActiveRoutes, clock: Clock) -> None:
        self._routes = routes
        self._clock = clock
        self._by_id = {stored.route.id: stored for stored in routes.all_file_routes()}
        self._realtime: dict[int, RouteRealtime] = {}

    def mailbox_routes(self, type: str, payer_id: str) -> Sequence[PayerRoute]:
        """Return the active routes for a payer's files, in their order; those over a hop name the payer and the hop."""
        stored = self._routes.file_routes(type, payer_id)
        return [self._route_to(one, type, payer_id) for one in stored]

    def all_mailbox_routes(self) -> Sequence[PayerRoute]:
        """Return every active route that carries files."""
        return [payer_route(stored) for stored in self._by_id.values()]

    def hops(self) -> Sequence[Hop]:
        """Return the hops that are in use."""
        return list(self._routes.hops.values())

    def find_hop(self, id: str) -> Hop | None:
        """Return a hop, also if its route is disabled or removed."""
        return self._routes.find_hop(id)

    def open_mailbox(self, route: PayerRoute) -> Mailbox:
        """Return the mailbox of a route."""
        stored = self._by_id[route.route_id]
        return open_mailbox(stored.route, stored.secrets, clock=self._clock)

    def realtime_connections(self, type: str, payer_id: str) -> Sequence[RealtimeConnection]:
        """Return the active real-time routes of a payer, in their order; those over a hop name the payer and the hop."""
        stored = self._routes.realtime_routes(type, payer_id)
        return [self._connection(one, type, payer_id) for one in stored]

    async def close(self) -> None:
        """Close the real-time connections."""
        connections, self._realtime = list(self._realtime.values()), {}
        for connection in connections:
            await connection.close()

    def _route_to(self, stored: RouteWithSecrets, type: str, payer_id: str) -> PayerRoute:
        route, hop = payer_route(stored), self._routes.hop_of(stored.route)
        if hop is None or type == HOP:
            return route
        own = hop.id_of(type, payer_id)
        return replace(route, type=type, payer_id=payer_id, hop_payer_id=own)

    def _connection(self, stored: RouteWithSecrets, type: str, payer_id: str) -> RealtimeConnection:
        route = stored.route
        # Kept open, so that its http connections are reused from one inquiry to the next.
        if route.id not in self._realtime:
            self._realtime[route.id] = open_realtime(route, stored.secrets, clock=self._clock)
        return RealtimeConnection(
            route=self._route_to(stored, type, payer_id),
            timeout_seconds=min(route.number("seconds_max"), limits.REALTIME_SECONDS_MAX),
            realtime=self._realtime[route.id],
        )


def inquiry_file_routes(
    connections: Connections, type: str, payer_id: str, inquiry_set: str
) -> list[PayerRoute]:
    """Return the routes for inquiries of a transaction set by file."""
    routes = connections.mailbox_routes(type, payer_id)
    return [one for one in routes if one.takes(inquiry_set)]


def inquiry_connections(
    connections: Connections, type: str, payer_id: str, inquiry_set: str
) -> list[RealtimeConnection]:
    """Return the real-time connections for inquiries of a transaction set."""
    found = connections.realtime_connections(type, payer_id)
    return [one for one in found if one.route.takes(inquiry_set)]


def inquiry_routes(
    connections: Connections, type: str, payer_id: str, inquiry_set: str
) -> list[PayerRoute]:
    """Return the routes on which a payer can be asked, those in real time first."""
    wanted = (connections, type, payer_id, inquiry_set)
    return [*(one.route for one in inquiry_connections(*wanted)), *inquiry_file_routes(*wanted)]


def takes_inquiries(
    connections: Connections, type: str, payer_id: str, inquiry_set: str = ELIGIBILITY_INQUIRY
) -> bool:
    """Return whether a payer can be asked, in real time or by file. Claims may go where inquiries cannot."""
    return bool(inquiry_routes(connections, type, payer_id, inquiry_set))


def receiver_of(payers: PayerDirectory, route: PayerRoute) -> TradingPartner:
    """Return who receives the files of a route (1000B): the payer, or the hop that passes them on."""
    payer = payers.find(route.payer_id, route.type)
    name = route.receiver_name or route.hop or (payer.name if payer else route.payer_id)
    return TradingPartner(name=name, id=route.group_receiver or route.receiver_id)


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
    if route.type == HOP and "inquiries" not in route.options:
        options["inquiries"] = ""  # a hop carries claims; what else it takes must be said
    options |= {name: route.number(name) for name in STATUS_OPTIONS}
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
        hop=route.payer_id if route.type == HOP else "",
        **options,
    )
