"""Metrics of the installation, from its measures: claims, deliveries, answers, inquiries, nodes, conditions.

One row of METRICS is one metric. Labels are payers, routes, states and names of our own tables; payers beyond
PAYER_LABELS_MAX are summed up as ``others``, so that the number of series is bounded. No label holds patient data.
"""

import platform
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from clearlane import __version__
from clearlane.claims.lifecycle import ClaimState
from clearlane.kernel.durations import Durations
from clearlane.pipeline.query.installation.conditions import CONDITIONS, raised_conditions
from clearlane.pipeline.query.installation.measures import Measures
from clearlane.store.database.schema import HEAD
from clearlane.store.installation.operating_counts import INQUIRY_MINUTES, UNBALANCED_DAYS

PAYER_LABELS_MAX = 100
OTHERS = "others"
CASE_LABELS = ("payer", "type", "route", "list")
"""What the cases of conditions are about."""

Sample = tuple[tuple[str, ...], float]
"""The values of the labels, and the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationMetric:
    """A metric of the installation: a row of the table."""

    name: str
    help: str
    samples: Callable[[Measures], Iterable[Sample]]
    labels: tuple[str, ...] = ()
    """A first label ``payer`` is bounded."""
    kind: type[GaugeMetricFamily] | type[CounterMetricFamily] = GaugeMetricFamily
    together: Callable[[Iterable[float]], float] = sum
    """How the values of payers that have no label of their own become one."""

    def collect(self, measures: Measures) -> Metric:
        """Return the metric with its samples."""
        metric = self.kind(self.name, self.help, labels=self.labels)
        samples = list(self.samples(measures))
        if self.labels[:1] == ("payer",):
            samples = _bounded(samples, self.together)
        for labels, value in samples:
            metric.add_metric(list(labels), value)
        return metric


def collect(measures: Measures) -> Iterator[Metric]:
    """Yield every metric of an installation."""
    for row in METRICS:
        yield row.collect(measures)
    waits = measures.node.waits
    yield _histogram("clearlane_write_seconds", WRITE_HELP, waits.write_seconds)
    yield _histogram("clearlane_read_wait_seconds", READ_HELP, waits.read_seconds)


WRITE_HELP = "Seconds from a write's start to its durable commit."
READ_HELP = "Seconds until a read has a connection."


def _histogram(name: str, help: str, durations: Durations) -> Metric:
    found = HistogramMetricFamily(name, help)
    found.add_metric([], list(durations.buckets()), durations.total_seconds)
    return found


def _bounded(samples: list[Sample], together: Callable[[Iterable[float]], float]) -> list[Sample]:
    """Keep a label for the payers with the highest values, and put the others together."""
    highest: dict[str, float] = defaultdict(float)
    for labels, value in samples:
        highest[labels[0]] = max(highest[labels[0]], value)
    if len(highest) <= PAYER_LABELS_MAX:
        return samples
    named = set(sorted(highest, key=lambda payer: -highest[payer])[: PAYER_LABELS_MAX - 1])
    kept = [sample for sample in samples if sample[0][0] in named]
    others: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for labels, value in samples:
        if labels[0] not in named:
            # A route is of one payer, so it cannot be named either.
            rest = tuple("" if word.isdigit() else word for word in labels[1:])
            others[(OTHERS, *rest)].append(value)
    return kept + [(labels, together(values)) for labels, values in others.items()]


def _claims(measures: Measures) -> Iterator[Sample]:
    counted: dict[tuple[str, str], int] = defaultdict(int)
    for of in measures.open_claims:
        for age, count in of.by_age().items():
            counted[of.state, age] += count
    yield from ((key, float(count)) for key, count in counted.items())


def _answer_wait(measures: Measures) -> Iterator[Sample]:
    """Yield how long the oldest file waits for its 999, the oldest claim for its 277CA or 835."""
    oldest: dict[tuple[str, str], int] = {}
    for of in measures.delivered:
        if of.waiting_since is not None:
            key = (of.payer_id, "999")
            oldest[key] = min(oldest.get(key, of.waiting_since), of.waiting_since)
    for claims in measures.open_claims:
        expected = EXPECTED.get(claims.state)
        if expected and claims.oldest_at is not None:
            key = (claims.payer_id, expected)
            oldest[key] = min(oldest.get(key, claims.oldest_at), claims.oldest_at)
    yield from ((key, measures.seconds_since(at)) for key, at in oldest.items())


# What a claim in a state waits for.
EXPECTED: dict[str, str] = {
    ClaimState.SENT: "277CA",
    ClaimState.ACKNOWLEDGED: "835",
    ClaimState.PENDING: "835",
}


def _conditions(measures: Measures) -> Iterator[Sample]:
    raised = {each.condition.name: each for each in raised_conditions(measures)}
    for condition in CONDITIONS:
        found = raised.get(condition.name)
        severity = condition.severity.value
        if found is None:
            yield (condition.name, severity, *[""] * len(CASE_LABELS)), 0.0
            continue
        counted: dict[tuple[str, ...], int] = defaultdict(int)
        for case in found.cases:
            labels = dict(case.labels)
            counted[tuple(labels.get(name, "") for name in CASE_LABELS)] += 1
        for key, count in counted.items():
            yield (condition.name, severity, *key), float(count)


def _code_lists(measures: Measures) -> Iterator[Sample]:
    for name, last in sorted(measures.code_lists.items()):
        yield (name,), float((last - measures.at.date()).days)


def _certificate(measures: Measures) -> Iterator[Sample]:
    ends = measures.node.certificate_ends_at
    if ends is not None:
        yield (), (ends - measures.wall).total_seconds()


def _backup(measures: Measures) -> Iterator[Sample]:
    if measures.backup_known and measures.backup_at is not None:
        yield (), measures.wall.timestamp() - measures.backup_at / 1_000_000


def _backlog(measures: Measures) -> Iterator[Sample]:
    backlog = measures.node.backlog
    if backlog is not None:
        yield from (((queue,), float(count)) for queue, count in backlog.waiting.items())


def _backlog_age(measures: Measures) -> Iterator[Sample]:
    backlog = measures.node.backlog
    if backlog is not None:
        at = backlog.oldest_at_millis
        yield (), 0.0 if at is None else measures.wall.timestamp() - at / 1_000


def _nodes(measures: Measures) -> Iterator[Sample]:
    counted: dict[str, int] = defaultdict(int)
    for node in measures.nodes:
        counted[node.role] += 1
    yield from (((role,), float(count)) for role, count in counted.items())


def _clocks(measures: Measures) -> Iterator[Sample]:
    furthest: dict[tuple[str, str], int] = {}
    for node in measures.nodes:
        key = (node.host, node.role)
        furthest[key] = max(furthest.get(key, 0), node.clock_ahead_micros, key=abs)
    yield from ((key, ahead / 1_000_000) for key, ahead in furthest.items())


def _build(measures: Measures) -> Iterator[Sample]:
    mode = "sandbox" if measures.sandbox else "production"
    yield (
        (__version__, platform.python_version(), measures.node.database, HEAD, mode),
        1.0,
    )


def _age(measures: Measures, at: int | None) -> float:
    return 0.0 if at is None else max(0.0, measures.seconds_since(at))


METRICS: tuple[InstallationMetric, ...] = (
    InstallationMetric(
        name="clearlane_build_info",
        help="1, with version, Python, database, schema revision and mode.",
        labels=("version", "python", "database", "schema", "mode"),
        samples=_build,
    ),
    InstallationMetric(
        name="clearlane_condition",
        help="Cases of a condition that is raised; 0 if it is not.",
        labels=("condition", "severity", *CASE_LABELS),
        samples=_conditions,
    ),
    InstallationMetric(
        name="clearlane_code_list_remaining_days",
        help="Days until the last day of a code list; below 0 it is older than the claims it judges.",
        labels=("list",),
        samples=_code_lists,
    ),
    InstallationMetric(
        name="clearlane_claims",
        help="Claims that are not complete, by state and by age since they were accepted.",
        labels=("state", "age"),
        samples=_claims,
    ),
    InstallationMetric(
        name="clearlane_claims_accepted_last_day",
        help="Claims accepted in the last 24 hours.",
        samples=lambda measures: [((), float(measures.claims_last_day))],
    ),
    InstallationMetric(
        name="clearlane_undelivered_claims",
        help="Claims that wait to be delivered, by payer.",
        labels=("payer", "type"),
        samples=lambda measures: (
            ((of.payer_id, of.type), float(of.claims)) for of in measures.undelivered
        ),
    ),
    InstallationMetric(
        name="clearlane_undelivered_oldest_seconds",
        help="Age of the oldest claim or file that waits to be delivered, by payer.",
        labels=("payer", "type"),
        samples=lambda measures: (
            ((of.payer_id, of.type), _age(measures, of.oldest_at)) for of in measures.undelivered
        ),
        together=max,
    ),
    InstallationMetric(
        name="clearlane_failing_seconds",
        help="How long deliveries to a payer have failed, by payer and route; 0 if they do not.",
        labels=("payer", "type", "route"),
        samples=lambda measures: (
            ((of.payer_id, of.type, str(of.route_id or "")), _age(measures, of.failing_since))
            for of in measures.undelivered
        ),
        together=max,
    ),
    InstallationMetric(
        name="clearlane_batches_in_doubt",
        help="Files whose delivery is unconfirmed, by payer.",
        labels=("payer", "type"),
        samples=lambda measures: (
            ((of.payer_id, of.type), float(of.in_doubt)) for of in measures.undelivered
        ),
    ),
    InstallationMetric(
        name="clearlane_delivery_attempts",
        help="Attempts to deliver a file, by route.",
        labels=("payer", "type", "route"),
        kind=CounterMetricFamily,
        samples=lambda measures: (
            ((of.payer_id, of.type, str(of.route_id)), float(of.attempts)) for of in measures.routes
        ),
    ),
    InstallationMetric(
        name="clearlane_delivery_failures",
        help="Attempts to deliver a file that failed, by route.",
        labels=("payer", "type", "route"),
        kind=CounterMetricFamily,
        samples=lambda measures: (
            ((of.payer_id, of.type, str(of.route_id)), float(of.failures)) for of in measures.routes
        ),
    ),
    InstallationMetric(
        name="clearlane_deliveries",
        help="Files delivered, by route.",
        labels=("payer", "type", "route"),
        kind=CounterMetricFamily,
        samples=lambda measures: (
            ((of.payer_id, of.type, str(of.route_id)), float(of.deliveries))
            for of in measures.routes
        ),
    ),
    InstallationMetric(
        name="clearlane_answer_wait_seconds",
        help="Age of the oldest file without a 999, and of the oldest claim without a 277CA or an 835, by payer.",
        labels=("payer", "expected"),
        samples=_answer_wait,
        together=max,
    ),
    InstallationMetric(
        name="clearlane_acknowledgement_seconds",
        help="Seconds from a delivery to its acknowledgement, on average over 30 days, by payer.",
        labels=("payer", "type"),
        samples=lambda measures: (
            ((of.payer_id, of.type), of.acknowledged_after_micros / 1_000_000)
            for of in measures.delivered
            if of.acknowledged_after_micros is not None
        ),
        together=max,
    ),
    InstallationMetric(
        name="clearlane_poll_failing",
        help="1 if the last look into a payer's mailbox failed, by route.",
        labels=("payer", "type", "route"),
        samples=lambda measures: (
            ((of.payer_id, of.type, str(of.route_id)), float(bool(of.fault)))
            for of in measures.polls
        ),
    ),
    InstallationMetric(
        name="clearlane_files_passed_over",
        help="Files in a payer's mailbox with names under which nothing is fetched, by route.",
        labels=("payer", "type", "route"),
        samples=lambda measures: (
            ((of.payer_id, of.type, str(of.route_id)), float(of.passed_over))
            for of in measures.polls
        ),
    ),
    InstallationMetric(
        name="clearlane_inbox_files",
        help="Files of payers, by verdict.",
        labels=("verdict",),
        samples=lambda measures: (((of.state,), float(of.files)) for of in measures.inbox),
    ),
    InstallationMetric(
        name="clearlane_payments_unmatched_claims",
        help="Claims of payments (835) that match none of ours.",
        samples=lambda measures: [((), float(measures.payments.unmatched_claims))],
    ),
    InstallationMetric(
        name="clearlane_payments_unbalanced",
        help=f"Payments (835) of the last {UNBALANCED_DAYS} days that do not balance.",
        samples=lambda measures: [((), float(measures.payments.unbalanced))],
    ),
    InstallationMetric(
        name="clearlane_inquiries",
        help=f"Real-time inquiries of the last {INQUIRY_MINUTES} minutes, by payer and by how they ended.",
        labels=("payer", "type", "outcome"),
        samples=lambda measures: chain.from_iterable(
            (
                ((of.payer_id, of.type, "answered"), float(of.answered)),
                ((of.payer_id, of.type, "timed_out"), float(of.failed)),
                ((of.payer_id, of.type, "open"), float(of.asked - of.answered - of.failed)),
            )
            for of in measures.inquiries
        ),
    ),
    InstallationMetric(
        name="clearlane_inquiry_mean_seconds",
        help=f"Seconds to the answer of an inquiry, on average over {INQUIRY_MINUTES} minutes, by payer.",
        labels=("payer", "type"),
        samples=lambda measures: (
            ((of.payer_id, of.type), of.mean_micros / 1_000_000)
            for of in measures.inquiries
            if of.mean_micros is not None
        ),
        together=max,
    ),
    InstallationMetric(
        name="clearlane_inquiry_longest_seconds",
        help=f"Seconds to the answer of the slowest inquiry of {INQUIRY_MINUTES} minutes, by payer.",
        labels=("payer", "type"),
        samples=lambda measures: (
            ((of.payer_id, of.type), of.longest_micros / 1_000_000)
            for of in measures.inquiries
            if of.longest_micros is not None
        ),
        together=max,
    ),
    InstallationMetric(
        name="clearlane_open_inquiries",
        help="Inquiries without an answer, by payer.",
        labels=("payer", "type"),
        samples=lambda measures: (
            ((of.payer_id, of.type), float(of.inquiries)) for of in measures.open_inquiries
        ),
    ),
    InstallationMetric(
        name="clearlane_writes_waiting",
        help="Writes of this node that wait for the database.",
        samples=lambda measures: [((), float(measures.node.waits.writes_waiting))],
    ),
    InstallationMetric(
        name="clearlane_engine_backlog",
        help="Pieces of durable work that no node has begun, by queue.",
        labels=("queue",),
        samples=_backlog,
    ),
    InstallationMetric(
        name="clearlane_engine_backlog_oldest_seconds",
        help="Age of the oldest durable work that no node has begun; 0 if there is none.",
        samples=_backlog_age,
    ),
    InstallationMetric(
        name="clearlane_work_parked",
        help="Pieces of durable work that wait for a person.",
        samples=lambda measures: [((), float(measures.parked_work))],
    ),
    InstallationMetric(
        name="clearlane_webhooks_disabled",
        help="Webhook endpoints of vendors that failed for too long: nothing is sent to them.",
        samples=lambda measures: [((), float(measures.disabled_webhooks))],
    ),
    InstallationMetric(
        name="clearlane_webhooks_oldest_waiting_seconds",
        help="Age of the oldest delivery to a webhook endpoint that could be made now; 0 if there is none.",
        samples=lambda measures: [((), measures.webhook_wait_seconds)],
    ),
    InstallationMetric(
        name="clearlane_nodes",
        help="Nodes with a recent heartbeat, by role.",
        labels=("role",),
        samples=_nodes,
    ),
    InstallationMetric(
        name="clearlane_node_clock_ahead_seconds",
        help="By how much a node's clock is ahead of the database's, by host and role.",
        labels=("host", "role"),
        samples=_clocks,
    ),
    InstallationMetric(
        name="clearlane_anchor_age_seconds",
        help="How long ago this node saved the anchor of the audit chain.",
        samples=lambda measures: (
            []
            if measures.node.anchor_age_seconds is None
            else [((), measures.node.anchor_age_seconds)]
        ),
    ),
    InstallationMetric(
        name="clearlane_certificate_remaining_seconds",
        help="Seconds until the certificate that this node serves ends.",
        samples=_certificate,
    ),
    InstallationMetric(
        name="clearlane_backup_age_seconds",
        help="Age of the last backup that is known.",
        samples=_backup,
    ),
)
