"""Prometheus metrics for operators: requests by endpoint and status, durations, failed logins.

Labels are names from our own tables, so their number is bounded and none can hold patient data.
"""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

SECONDS_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
# The creation time of each metric would double the page and helps nobody.
disable_created_metrics()  # type: ignore[no-untyped-call]
RESPONSES_BUFFERED_MAX = 1_000
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The metrics of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._calls = Counter(
            "clearlane_requests",
            "Requests answered, by route and status.",
            ["route", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "clearlane_request_seconds",
            "Seconds from the request's headers to the end of the answer, by route.",
            ["route"],
            buckets=SECONDS_BUCKETS,
            registry=self.registry,
        )
        self._failed_logins = Counter(
            "clearlane_failed_logins", "Calls without right credentials.", registry=self.registry
        )
        self._broken = Counter(
            "clearlane_broken_connections",
            "Connections ended below the calls, by reason.",
            ["reason"],
            registry=self.registry,
        )
        self._connections = Gauge(
            "clearlane_connections", "Open connections.", registry=self.registry
        )
        self._responses: list[tuple[str, int, float]] = []

    def count_response(self, route: str, status: int, seconds: float) -> None:
        """Record one response. Updating counters is slow, so responses are buffered and counted on reading."""
        self._responses.append((route, status, seconds))
        if len(self._responses) >= RESPONSES_BUFFERED_MAX:
            self._count_buffered()

    def _count_buffered(self) -> None:
        responses, self._responses = self._responses, []
        for route, status, seconds in responses:
            self._calls.labels(route, str(status)).inc()
            self._seconds.labels(route).observe(seconds)

    def count_failed_login(self) -> None:
        """Count a call without valid credentials."""
        self._failed_logins.inc()

    def count_broken_connection(self, reason: str) -> None:
        """Count a connection that ended before a request could be read."""
        self._broken.labels(reason).inc()

    def set_open_connections(self, count: int) -> None:
        """Record how many connections are open."""
        self._connections.set(count)

    def text(self) -> bytes:
        """Return all metrics in the exposition format."""
        self._count_buffered()
        return generate_latest(self.registry)
