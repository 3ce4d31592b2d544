"""The ways to ask the payers of an installation with real ones: its active real-time routes."""

from collections.abc import Sequence

from clearlane.connect.factory import OpenRealtime, open_realtime
from clearlane.connect.realtime_routes import Way
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.pipeline.routes import line_of
from clearlane.store.routes import Cable, Routes


class RouteQuestions:
    """Routes as ways, one snapshot. A connection is kept while it is used."""

    def __init__(self, routes: Routes, clock: Clock) -> None:
        self._routes = routes
        self._clock = clock
        self._open: dict[int, OpenRealtime] = {}

    def ways(self, type: str, payer_id: str) -> Sequence[Way]:
        """The active real-time routes, in their order."""
        return [self._way(cable) for cable in self._routes.realtime(type, payer_id)]

    async def close(self) -> None:
        """Let go of every connection."""
        opened, self._open = list(self._open.values()), {}
        for one in opened:
            await one.close()

    def _way(self, cable: Cable) -> Way:
        route = cable.route
        if route.id not in self._open:
            self._open[route.id] = open_realtime(route, cable.secrets, clock=self._clock)
        return Way(
            line=line_of(cable),
            seconds=min(route.number("seconds_max"), limits.REALTIME_SECONDS_MAX),
            realtime=self._open[route.id],
        )
