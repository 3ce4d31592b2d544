"""The table of conditions: each row is raised by what it measures, says whom it is about, and ends with it.

Also tests `pipeline/query/installation/conditions`, `pipeline/query/installation/condition_checks` and `pipeline/query/installation/health`.
"""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from clearlane.engine.backlog import EngineBacklog
from clearlane.kernel.clock import to_micros
from clearlane.kernel.durations import Durations
from clearlane.pipeline.query.installation import condition_checks
from clearlane.pipeline.query.installation.conditions import (
    CONDITIONS,
    RAISED_SHOWN_MAX,
    ConditionSeverity,
    raised_conditions,
)
from clearlane.pipeline.query.installation.health import health
from clearlane.pipeline.query.installation.measures import (
    Measures,
    NodeMeasures,
    RoutePolling,
    UndeliveredClaims,
)
from clearlane.pipeline.retention.purge_runs import Purge, PurgeRun
from clearlane.store.database.database import StoreWaits
from clearlane.store.database.schema.partitions import PartitionState
from clearlane.store.delivery.file_refusals import RefusedFiles
from clearlane.store.installation.nodes import Node
from clearlane.store.installation.operating_counts import (
    DeliveredFiles,
    InboxCounts,
    InquiryCounts,
    OpenClaims,
    OpenInquiries,
    PaymentCounts,
    SilentNode,
)
from tests.databases import START

DAY = 86_400_000_000
YESTERDAY = (START - timedelta(days=1)).date()
NODE = Node("n1", "serve", "east", {}, ())


def ago(**lengths):
    return to_micros(START - timedelta(**lengths))


WELL = Measures(at=START, wall=START, nodes=(NODE,), backup_at=ago(hours=1), backup_known=True)


def waiting(**facts):
    return replace(
        WELL, undelivered=(UndeliveredClaims(type="Medical", payer_id="MM001", **facts),)
    )


def node(**facts):
    return replace(WELL, node=NodeMeasures(**facts))


def delivered(acknowledged, **waits):
    return replace(
        WELL, delivered=(DeliveredFiles("Medical", "MM001", 9, acknowledged, 0, 0, ago(**waits), None),)
    )  # fmt: skip


def sent(state, **waits):
    return replace(
        WELL, open_claims=(OpenClaims(state, "MM001", 12, (12, 12, 12, 0), ago(**waits)),)
    )


def asked(failed, mean):
    return replace(
        WELL, inquiries=(InquiryCounts("Medical", "MM001", 20, 20 - failed, failed, mean, mean),)
    )


def polled(**facts):
    poll = RoutePolling(type="Medical", payer_id="MM001", route_id=3, route_kind="sftp", **facts)
    return replace(WELL, polls=(poll,))


def counted(state):
    return replace(WELL, inbox=(InboxCounts(state, 2, 1),))


def purged(**facts):
    """Every purge has run yesterday, but for that of files."""
    runs = {one: PurgeRun(ended_at=ago(days=1)) for one in Purge}
    return replace(WELL, used_since=ago(days=400), purges=runs | {Purge.FILES: PurgeRun(**facts)})


def waits(seconds):
    return node(waits=StoreWaits(7, seconds, Durations(), Durations()))


# Name of the condition, what raises it, words that its sentence has, and what is close and does not raise it.
AWAY = {
    "claims": 480,
    "files": 12,
    "fault": "The line is dead.",
    "route_id": 3,
    "route_kind": "sftp",
}
CASES = [
    (
        # A simulated payer has no route that a person could look up.
        "payer-unreachable",
        waiting(failing_since=ago(days=3), oldest_at=ago(days=3), **AWAY | {"route_id": 0, "route_kind": ""}),
        "Payer MM001 (Medical) cannot be sent anything for 3 days, since 2024-03-02 12:00 UTC: "
        "The line is dead. 12 files and 480 claims wait.",
        waiting(failing_since=ago(minutes=14), oldest_at=ago(minutes=20), **AWAY),
    ),
    (
        "payer-unreachable",
        waiting(failing_since=ago(days=3), oldest_at=ago(days=3), **AWAY),
        "Payer MM001 (Medical) cannot be sent anything over route 3 (sftp) for 3 days, since 2024-03-02 12:00 UTC: "
        "The line is dead. 12 files and 480 claims wait.",
        waiting(failing_since=ago(minutes=14), oldest_at=ago(minutes=20), **AWAY),
    ),
    (
        "payer-without-route",
        waiting(claims=1, oldest_at=ago(hours=2), has_route=False),
        "Payer MM001 (Medical) has no active route. 1 claim waits.",
        waiting(claims=1, oldest_at=ago(minutes=5), has_route=False),
    ),
    (
        "claims-waiting",
        waiting(claims=2, oldest_at=ago(hours=5)),
        "Payer MM001 (Medical): nothing was sent for 5 hours",
        waiting(claims=2, oldest_at=ago(hours=3)),
    ),
    (
        "payer-paused",
        waiting(claims=2, files=1, oldest_at=ago(days=2), held_since=ago(days=2)),
        "Payer MM001 (Medical) is paused by a person for 2 days. 1 file and 2 claims wait.",
        waiting(claims=2, oldest_at=ago(days=2), held_since=ago(hours=2)),
    ),
    (
        "file-refused",
        replace(WELL, refused=(RefusedFiles("Medical", "MM001", 3, "006", 1, 12, 0, 7, ago(hours=1)),)),
        "Payer MM001 (Medical) refused 1 file with 12 claims over route 3 (TA1 006), the first is batch 7.",
        WELL,
    ),
    ("batch-in-doubt", waiting(in_doubt=2), "whether 2 files arrived", WELL),
    ("batch-in-doubt", waiting(claims_in_doubt=2), "2 claims may have been sent", WELL),
    (
        "acknowledgement-late",
        delivered(5, days=3),
        "Payer MM001 (Medical) has not acknowledged a file for 3 days; 4 files without a 999.",
        delivered(0, days=3),
    ),
    (
        "claim-status-late",
        sent("sent", days=8),
        "Payer MM001: 12 claims without a claim status (277CA), the oldest for 8 days.",
        sent("sent", days=6),
    ),
    ("payment-late", sent("pending", days=50), "payment (835)", sent("acknowledged", days=40)),
    (
        "route-not-polled",
        polled(fault="The password is wrong."),
        "fetched over route 3 (sftp): The password is wrong.",
        polled(overdue_seconds=60),
    ),
    ("route-not-polled", polled(overdue_seconds=7_200), "no node has looked for 2 hours", polled()),
    ("files-passed-over", polled(passed_over=1), "1 file with odd names is left", polled()),
    ("inbox-files", counted("quarantined"), "2 files of payers cannot be read", counted("applied")),
    ("inbox-files", counted("test_file"), "marked as tests", WELL),
    ("inbox-files", counted("unknown_sender"), "sender that the route does not know", WELL),
    ("statements-parked", counted("parked"), "2 files with statements", counted("discarded")),
    (
        "payments-unmatched",
        replace(WELL, payments=PaymentCounts(5, 1, 3, 0)),
        "3 claims of 1 payment match none",
        replace(WELL, payments=PaymentCounts(5, 0, 0, 0)),
    ),
    (
        "payments-unbalanced",
        replace(WELL, payments=PaymentCounts(5, 0, 0, 1)),
        "1 payment (835) of the last 30 days does not balance.",
        WELL,
    ),
    ("inquiries-failing", asked(5, 1_000_000), "5 got no answer in time", asked(3, 1_000_000)),
    ("inquiries-failing", asked(0, 25_000_000), "takes 25 seconds", asked(0, 19_000_000)),
    (
        "inquiries-waiting",
        replace(WELL, open_inquiries=(OpenInquiries("Medical", "MM001", 2, ago(hours=2)),)),
        "2 inquiries without an answer, the oldest for 2 hours",
        replace(WELL, open_inquiries=(OpenInquiries("Medical", "MM001", 2, ago(minutes=9)),)),
    ),
    ("no-node", replace(WELL, nodes=()), "No node is running", WELL),
    (
        "node-silent",
        replace(WELL, silent_nodes=(SilentNode("n2", "worker", "west", 900_000_000),)),
        "Node n2 (worker on west) has been silent for 15 minutes",
        WELL,
    ),
    (
        "node-clock",
        replace(WELL, nodes=(Node("n1", "serve", "east", {}, (), -90_000_000),)),
        "node n1 is 90 seconds behind",
        replace(WELL, nodes=(Node("n1", "serve", "east", {}, (), 1_000_000),)),
    ),
    ("database-not-writable", node(write_fault="the disk is full"), "the disk is full", WELL),
    ("database-set-back", node(set_back="It is older."), "It is older. What waited is", WELL),
    ("disk-reserve", node(reserve_warning="there is no reserve"), "no reserve", WELL),
    ("writes-waiting", waits(6.0), "7 writes wait for the database, the first for 6 sec", waits(4.0)),
    (
        "engine-backlog",
        node(backlog=EngineBacklog({"post": 4}, ago(minutes=20) // 1_000)),
        "4 pieces of durable work wait for a node, the oldest for 20 minutes",
        node(backlog=EngineBacklog({"post": 4}, ago(minutes=2) // 1_000)),
    ),
    (
        "code-list-old",
        replace(WELL, code_lists={"hcpcs": YESTERDAY, "icd-10-cm": START.date()}),
        "The code list hcpcs ended on 2024-03-04: later services are not judged by it.",
        replace(WELL, code_lists={"hcpcs": START.date()}),
    ),
    (
        "webhooks-late",
        replace(WELL, webhook_due_at=to_micros(WELL.wall) - 400_000_000),
        "the oldest for 6 minutes",
        replace(WELL, webhook_due_at=to_micros(WELL.wall) - 60_000_000),
    ),
    (
        "webhooks-disabled",
        replace(WELL, disabled_webhooks=2),
        "2 webhook endpoints failed for too long",
        WELL,
    ),
    ("responses-not-written", replace(WELL, failed_responses=2), "2 files for senders", WELL),
    ("work-parked", replace(WELL, parked_work=1), "1 piece of durable work stopped", WELL),
    ("audit-not-anchored", node(anchor_fault="No space."), "not anchored: No space.", WELL),
    (
        "audit-not-anchored",
        node(anchor_behind_seconds=120.0),
        "lags 2 minutes",
        node(anchor_behind_seconds=2.0),
    ),
    (
        "checkpoint-late",
        replace(WELL, unsigned_since=to_micros(START - timedelta(hours=4))),
        "added 4 hours ago has no checkpoint",
        replace(WELL, unsigned_since=to_micros(START - timedelta(hours=1))),
    ),
    (
        "certificate-ends",
        node(certificate_ends_at=START + timedelta(days=3)),
        "The certificate ends on 2024-03-08.",
        node(certificate_ends_at=START + timedelta(days=30)),
    ),
    ("certificate-ends", node(certificate_ends_at=START - timedelta(days=3)), "ended on", WELL),
    (
        "purge-late",
        purged(failed_at=ago(hours=1), fault="DiskFull", ended_at=ago(days=1)),
        "The purge of files that sites send and fetch failed on 2024-03-05 11:00 UTC: DiskFull.",
        purged(ended_at=ago(days=1)),
    ),
    (
        "purge-late",
        purged(ended_at=ago(days=3)),
        "The purge of files that sites send and fetch has not run for 3 days.",
        replace(purged(ended_at=ago(days=3)), sandbox=True),
    ),
    (
        "purge-late",
        replace(WELL, used_since=ago(days=2)),
        "The purge of files that sites send and fetch never ran.",
        replace(WELL, used_since=ago(days=1)),
    ),
    (
        "partitions-missing",
        replace(WELL, partitions=PartitionState(START + timedelta(days=44), ())),
        "There are partitions until 2024-04-18 only.",
        replace(WELL, partitions=PartitionState(START + timedelta(days=46), ())),
    ),
    (
        "partitions-missing",
        replace(WELL, partitions=PartitionState(START + timedelta(days=90), ("claims",))),
        "The default partition of claims holds rows: no other partition takes them.",
        replace(WELL, sandbox=True, partitions=PartitionState(START, ("claims",))),
    ),
    (
        "backup-old",
        replace(WELL, backup_at=ago(days=4)),
        "The last backup is 4 days old.",
        replace(WELL, backup_at=ago(days=4), sandbox=True),
    ),
    (
        "backup-old",
        replace(WELL, backup_at=ago(days=4), backup_known=False),
        "No backup was ever written.",
        replace(
            WELL,
            backup_at=ago(days=4),
            backup_known=False,
            node=NodeMeasures(database="postgresql"),
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "measures", "words", "close"), CASES, ids=lambda x: x if isinstance(x, str) and "-" in x[:20] and " " not in x else "")  # fmt: skip
def test_a_condition_is_raised_with_its_sentence_and_not_by_what_is_close(
    name, measures, words, close
):
    raised = {each.condition.name: each for each in raised_conditions(measures)}
    assert list(raised) == [name]
    assert words in raised[name].sentence
    assert raised_conditions(close) == []


def test_every_condition_has_a_case_and_all_its_words():
    names = [condition.name for condition in CONDITIONS]
    assert sorted(names) == sorted({name for name, *_ in CASES})
    for condition in CONDITIONS:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", condition.name)
        for text in (condition.measured, condition.do):
            assert text[0] == "`" or text[0].isupper(), text
            assert text.endswith((".", "?")), text


def test_faults_come_first_and_many_cases_are_cut():
    many = tuple(
        UndeliveredClaims(
            type="Medical", payer_id=f"P{at:03}", claims=1, oldest_at=0, has_route=False
        )
        for at in range(50)
    )
    raised = raised_conditions(replace(WELL, undelivered=many, nodes=()))
    assert [each.condition.severity for each in raised] == [
        ConditionSeverity.FAULT,
        ConditionSeverity.WARNING,
    ]
    assert len(raised[1].cases) == RAISED_SHOWN_MAX
    assert raised[1].sentence.endswith(f"And {50 - RAISED_SHOWN_MAX + 1} more.")


def test_the_home_page_shows_each_part_and_what_is_wrong_with_it():
    assert all(part.healthy for part in health(WELL))
    assert [part.name for part in health(WELL)][:2] == ["Database", "Nodes"]
    _, away, sentence, _ = CASES[0]
    parts = {part.name: part for part in health(replace(away, nodes=()))}
    assert (parts["Claims to payers"].healthy, parts["Claims to payers"].detail) == (
        False,
        sentence,
    )
    assert parts["Nodes"].detail.startswith("No node is running")
    assert parts["Database"].healthy


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-1, "0 seconds"), (1, "1 second"), (61, "1 minute"), (7_300, "2 hours"), (200_000, "2 days")],
)
def test_lengths_of_time_are_said_as_people_say_them(seconds, words):
    assert condition_checks.duration(seconds) == words
