"""Metrics of an installation: every row of the table has samples, and payers are bounded.

Also tests `kernel/durations`.
"""

from dataclasses import replace
from datetime import timedelta

from prometheus_client.parser import text_string_to_metric_families

from clearlane.api.operations.installation_metrics import METRICS, OTHERS, PAYER_LABELS_MAX, collect
from clearlane.api.operations.metrics import Metrics
from clearlane.engine.backlog import EngineBacklog
from clearlane.kernel.clock import to_micros
from clearlane.kernel.durations import BOUNDS_SECONDS, Durations
from clearlane.pipeline.query.installation.measures import (
    Measures,
    NodeMeasures,
    RoutePolling,
    UndeliveredClaims,
)
from clearlane.store.database.database import StoreWaits
from clearlane.store.delivery.route_counts import RouteCounts
from clearlane.store.installation.nodes import Node
from clearlane.store.installation.operating_counts import (
    DeliveredFiles,
    InboxCounts,
    InquiryCounts,
    OpenClaims,
    OpenInquiries,
)
from tests.databases import START

NOW = to_micros(START)
HOUR = 3_600_000_000
WRITES = Durations()
for seconds in (0.002, 0.7, 100.0):
    WRITES.count(seconds)

FULL = Measures(
    at=START,
    wall=START,
    open_claims=(
        OpenClaims("sent", "MM001", 5, (4, 3, 0, 0), NOW - 30 * HOUR),
        OpenClaims("sent", "HH001", 1, (0, 0, 0, 0), NOW),
        OpenClaims("pending", "MM001", 2, (2, 2, 2, 2), NOW - 900 * HOUR),
    ),
    claims_last_day=9,
    undelivered=(
        UndeliveredClaims(
            type="Medical", payer_id="MM001", claims=4, files=1, oldest_at=NOW - HOUR,
            failing_since=NOW - HOUR, fault="away", route_id=3, in_doubt=1,
        ),
    ),
    delivered=(DeliveredFiles("Medical", "MM001", 9, 5, 1, 4, NOW - 2 * HOUR, 60_000_000),),
    routes=(RouteCounts("Medical", "MM001", 3, 12, 2, 10, NOW),),
    polls=(RoutePolling(type="Medical", payer_id="MM001", route_id=3, fault="x", passed_over=2),),
    inbox=(InboxCounts("applied", 40, 2),),
    inquiries=(InquiryCounts("Medical", "MM001", 10, 5, 3, 1_500_000, 9_000_000),),
    open_inquiries=(OpenInquiries("Medical", "MM001", 2, NOW),),
    nodes=(Node("n1", "serve", "east", {}, (), -2_000_000),),
    backup_at=NOW - HOUR,
    backup_known=True,
    code_lists={"icd-10-cm": START.date() + timedelta(days=30)},
    node=NodeMeasures(
        anchor_age_seconds=3.0,
        certificate_ends_at=START + timedelta(days=1),
        backlog=EngineBacklog({"post": 4}, NOW // 1_000 - 5_000),
        waits=StoreWaits(6, 0.1, WRITES, Durations()),
    ),
)  # fmt: skip


def samples_of(measures):
    text = Metrics().text(measures).decode()
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


MEADOW = (("payer", "MM001"), ("type", "Medical"))
ROUTE = (("payer", "MM001"), ("route", "3"), ("type", "Medical"))
EXPECTED = {
    ("clearlane_claims", ("age", "under_1h"), ("state", "sent")): 2,
    ("clearlane_claims", ("age", "over_1d"), ("state", "sent")): 3,
    ("clearlane_claims_accepted_last_day",): 9,
    ("clearlane_undelivered_claims", *MEADOW): 4,
    ("clearlane_undelivered_oldest_seconds", *MEADOW): 3_600,
    ("clearlane_failing_seconds", *ROUTE): 3_600,
    ("clearlane_batches_in_doubt", *MEADOW): 1,
    ("clearlane_delivery_attempts_total", *ROUTE): 12,
    ("clearlane_delivery_failures_total", *ROUTE): 2,
    ("clearlane_deliveries_total", *ROUTE): 10,
    ("clearlane_answer_wait_seconds", ("expected", "999"), ("payer", "MM001")): 7_200,
    ("clearlane_answer_wait_seconds", ("expected", "277CA"), ("payer", "MM001")): 108_000,
    ("clearlane_answer_wait_seconds", ("expected", "835"), ("payer", "MM001")): 3_240_000,
    ("clearlane_acknowledgement_seconds", *MEADOW): 60,
    ("clearlane_poll_failing", *ROUTE): 1,
    ("clearlane_files_passed_over", *ROUTE): 2,
    ("clearlane_inbox_files", ("verdict", "applied")): 40,
    ("clearlane_inquiries", ("outcome", "timed_out"), *MEADOW): 3,
    ("clearlane_inquiries", ("outcome", "answered"), *MEADOW): 5,
    ("clearlane_inquiries", ("outcome", "open"), *MEADOW): 2,
    ("clearlane_inquiry_mean_seconds", *MEADOW): 1.5,
    ("clearlane_inquiry_longest_seconds", *MEADOW): 9,
    ("clearlane_open_inquiries", *MEADOW): 2,
    ("clearlane_writes_waiting",): 6,
    ("clearlane_write_seconds_count",): 3,
    ("clearlane_write_seconds_bucket", ("le", "1.0")): 2,
    ("clearlane_write_seconds_bucket", ("le", "+Inf")): 3,
    ("clearlane_read_wait_seconds_count",): 0,
    ("clearlane_engine_backlog", ("queue", "post")): 4,
    ("clearlane_engine_backlog_oldest_seconds",): 5,
    ("clearlane_nodes", ("role", "serve")): 1,
    ("clearlane_node_clock_ahead_seconds", ("host", "east"), ("role", "serve")): -2,
    ("clearlane_anchor_age_seconds",): 3,
    ("clearlane_certificate_remaining_seconds",): 86_400,
    ("clearlane_backup_age_seconds",): 3_600,
    ("clearlane_payments_unbalanced",): 0,
    ("clearlane_code_list_remaining_days", ("list", "icd-10-cm")): 30,
    ("clearlane_measured",): 1,
}


def test_every_metric_says_what_was_measured():
    found = samples_of(FULL)
    assert {key: found.get(key) for key in EXPECTED} == EXPECTED
    shown = {metric.name for metric in collect(FULL) if metric.samples}
    assert shown >= {row.name for row in METRICS}
    assert all(row.help.endswith(".") for row in METRICS)


def test_a_condition_that_is_not_raised_is_zero_so_that_an_alert_ends():
    values = {
        dict(key[1:])["condition"]: value
        for key, value in samples_of(FULL).items()
        if key[0] == "clearlane_condition"
    }
    assert values["payer-unreachable"] == 1
    assert values["no-node"] == 0


def test_payers_are_bounded_and_the_others_are_put_together():
    many = tuple(
        UndeliveredClaims(
            type="Medical", payer_id=f"P{at:04}", claims=at, oldest_at=NOW - at, route_id=at
        )
        for at in range(1_000)
    )
    found = samples_of(replace(FULL, undelivered=many))
    claims = {
        key: value for key, value in found.items() if key[0] == "clearlane_undelivered_claims"
    }
    assert len(claims) == PAYER_LABELS_MAX
    assert sum(claims.values()) == sum(range(1_000))
    others = ("clearlane_undelivered_oldest_seconds", ("payer", OTHERS), ("type", "Medical"))
    assert found[others] == (1_000 - PAYER_LABELS_MAX) / 1_000_000
    failing = [key for key in found if key[0] == "clearlane_failing_seconds"]
    assert len(failing) <= PAYER_LABELS_MAX


def test_without_measures_the_metrics_of_the_process_are_there():
    text = Metrics().text()
    assert b"clearlane_measured 0.0" in text
    assert b"process_resident_memory_bytes" in text
    assert b"clearlane_claims" not in text


def test_durations_are_counted_by_their_upper_bound():
    counted = dict(WRITES.buckets())
    assert list(counted)[:-1] == [str(bound) for bound in BOUNDS_SECONDS]
    assert (counted["0.001"], counted["0.005"], counted["60.0"], counted["+Inf"]) == (0, 1, 2, 3)
    assert WRITES.counted == 3
