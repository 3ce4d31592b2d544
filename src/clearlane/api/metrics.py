"""Counters for operators: calls by route and status, durations, failed logins. No values of callers.

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
# The moment each counter was made doubles the page and helps nobody.
disable_created_metrics()  # type: ignore[no-untyped-call]
ANSWERS_KEPT = 1_000
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The counters of one process."""

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
        self._answers: list[tuple[str, int, float]] = []

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count one answer. Counters are slow, so that they are moved when somebody looks."""
        self._answers.append((route, status, seconds))
        if len(self._answers) >= ANSWERS_KEPT:
            self._count()

    def _count(self) -> None:
        answers, self._answers = self._answers, []
        for route, status, seconds in answers:
            self._calls.labels(route, str(status)).inc()
            self._seconds.labels(route).observe(seconds)

    def login_failed(self) -> None:
        self._failed_logins.inc()

    def broken(self, reason: str) -> None:
        """Count a connection that ended before there was a call to answer."""
        self._broken.labels(reason).inc()

    def connected(self, count: int) -> None:
        """Note how many connections are open."""
        self._connections.set(count)

    def text(self) -> bytes:
        """All of them in the exposition format."""
        self._count()
        return generate_latest(self.registry)
