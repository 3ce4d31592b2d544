"""The lines of an installation with real payers: its active routes."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from clearlane.connect.factory import open_mailbox
from clearlane.connect.port import Mailbox
from clearlane.connect.routes import Line
from clearlane.kernel.clock import Clock
from clearlane.store.routes import Cable, Routes
from clearlane.x12.encode import clean
from clearlane.x12.writer import Envelope

ADDRESS = (
    "sender_id", "receiver_id", "sender_qualifier", "receiver_qualifier", "group_sender",
    "group_receiver", "usage",
)  # fmt: skip
"""Options of a route that a line has by the same name."""

PACE = ("window_seconds", "claims_max", "poll_seconds", "takeover_seconds")


def envelope_for(line: Line, control: int, moment: datetime) -> Envelope:
    """The envelope of a file on a line. Routes take small letters, X12 does not."""
    return Envelope(
        sender=clean(line.sender_id)[0],
        receiver=clean(line.receiver_id)[0],
        control=control,
        moment=moment,
        sender_qualifier=line.sender_qualifier,
        receiver_qualifier=line.receiver_qualifier,
        application_sender=clean(line.group_sender)[0],
        application_receiver=clean(line.group_receiver)[0],
        usage=line.usage,
    )


class RouteLines:
    """Routes as lines, one snapshot."""

    def __init__(self, routes: Routes, clock: Clock) -> None:
        self._routes = routes
        self._clock = clock
        self._cables = {cable.route.id: cable for cable in routes.all_mailboxes()}

    def ways(self, type: str, payer_id: str) -> Sequence[Line]:
        """The active routes that carry files, in their order."""
        return _lines(self._routes.mailboxes(type, payer_id))

    def all(self) -> Sequence[Line]:
        """Every active route that carries files."""
        return _lines(self._cables.values())

    def open(self, line: Line) -> Mailbox:
        """The mailbox of a route."""
        cable = self._cables[line.route_id]
        return open_mailbox(cable.route, cable.secrets, clock=self._clock)


def _lines(cables: Iterable[Cable]) -> list[Line]:
    return [line_of(cable) for cable in cables]


def line_of(cable: Cable) -> Line:
    """A route as a line."""
    route = cable.route
    options: dict[str, Any] = {name: route.text(name) for name in ADDRESS}
    if route.carries_files:
        options |= {name: route.number(name) for name in PACE}
    return Line(
        route_id=route.id,
        payer_id=route.payer_id,
        type=route.type,
        kind=route.kind.value,
        **options,
    )
