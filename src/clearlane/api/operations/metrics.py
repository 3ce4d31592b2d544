"""Prometheus metrics for operators: those of this process, and those of the installation beside them.

Requests by endpoint and status, durations, failed logins are counted here; ``installation_metrics`` has what the
database knows. Labels are names from our own tables, so their number is bounded and none can hold patient data.
"""

from collections import Counter as CountedBy
from collections.abc import Iterator

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
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from clearlane.api.operations.installation_metrics import collect
from clearlane.pipeline.query.installation.measures import Measures

SECONDS_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
# The creation time of each metric would double the page and is of no use.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no types for it
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
            "Requests answered, by endpoint and status.",
            ["endpoint", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "clearlane_request_seconds",
            "Seconds from the request's headers to the end of the answer, by endpoint.",
            ["endpoint"],
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
        self._measured = Gauge(
            "clearlane_measured",
            "1 if the metrics of the installation could be measured.",
            registry=self.registry,
        )
        self._responses: list[tuple[str, int, float]] = []

    def count_response(self, endpoint: str, status: int, seconds: float) -> None:
        """Record one response. Updating counters is slow, so responses are buffered and counted on reading."""
        self._responses.append((endpoint, status, seconds))
        if len(self._responses) >= RESPONSES_BUFFERED_MAX:
            self._count_buffered()

    def _count_buffered(self) -> None:
        responses, self._responses = self._responses, []
        for (name, status), count in CountedBy(
            (name, status) for name, status, _ in responses
        ).items():
            self._calls.labels(name, str(status)).inc(count)
        observers = {name: self._seconds.labels(name).observe for name, _, _ in responses}
        for name, _, seconds in responses:
            observers[name](seconds)

    def count_failed_login(self) -> None:
        """Count a call without valid credentials."""
        self._failed_logins.inc()

    def count_broken_connection(self, reason: str) -> None:
        """Count a connection that ended before a request could be read."""
        self._broken.labels(reason).inc()

    def set_open_connections(self, count: int) -> None:
        """Record how many connections are open."""
        self._connections.set(count)

    def text(self, measures: Measures | None = None) -> bytes:
        """Return all metrics in the exposition format; those of the installation if it could be measured."""
        self._count_buffered()
        self._measured.set(measures is not None)
        own = generate_latest(self.registry)
        if measures is None:
            return own
        of_installation = CollectorRegistry()
        of_installation.register(_MeasuredMetrics(measures))
        return own + generate_latest(of_installation)


class _MeasuredMetrics(Collector):
    """The metrics of the installation, as the library asks for them."""

    def __init__(self, measures: Measures) -> None:
        self._measures = measures

    def collect(self) -> Iterator[Metric]:
        yield from collect(self._measures)
