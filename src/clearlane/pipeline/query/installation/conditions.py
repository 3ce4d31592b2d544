"""The table of conditions: everything that an operator is warned of, each with its name, its measure, a sentence and what to do.

    raised = raised_conditions(measures)

One row is one condition. The warnings of `/readyz`, `clearlane doctor`, `clearlane status`, the console's home page, the
metric `clearlane_condition`, the alert rules in `deploy/` and the page of the documentation are made from the rows, so
that a new condition is a row here and nothing else. Pure: takes measures, reads nothing. Names payers, routes, files and
nodes; no patient, no vendor's client.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from clearlane.claims.lifecycle import ClaimState
from clearlane.pipeline.query.installation import condition_checks
from clearlane.pipeline.query.installation.condition_checks import (
    ConditionCase,
    counted,
    duration,
    one_case,
)
from clearlane.pipeline.query.installation.measures import (
    NODE_SILENT_SECONDS,
    RESPONSE_FAILURES_MIN,
    Measures,
)
from clearlane.pipeline.retention.purge_runs import LATE_AFTER
from clearlane.store.installation.operating_counts import (
    DELIVERED_DAYS,
    INQUIRY_MINUTES,
    OPEN_CLAIM_DAYS,
    UNBALANCED_DAYS,
)

RAISED_SHOWN_MAX = 20
"""How many of one condition are named, with a label each; the last of them then says how many more there are."""


class ConditionSeverity(StrEnum):
    """How soon a condition needs a person."""

    WARNING = "warning"
    """Within a day or so: work goes on."""
    FAULT = "fault"
    """Now: something does not go out, does not come in, or could be lost."""


class ConditionPart(StrEnum):
    """The part of the installation that a condition is about, as the console's home page names it."""

    DATABASE = "Database"
    NODES = "Nodes"
    AUDIT = "Audit trail"
    DELIVERY = "Claims to payers"
    ANSWERS = "Answers of payers"
    ELIGIBILITY = "Eligibility"
    EVENTS = "Events"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A row of the table."""

    name: str
    part: ConditionPart
    severity: ConditionSeverity
    measured: str
    """What is measured, and when it is raised."""
    do: str
    """What an operator does about it."""
    find: Callable[[Measures], Iterable[ConditionCase]]
    needs_person: bool = True
    """Whether it stays until a person acts; False if it may end by itself."""
    of_node: bool = False
    """Whether each node tells it of itself; a command beside it may not know."""
    alert_minutes: int = 5
    """How long it lasts before the alert rule fires."""


@dataclass(frozen=True, slots=True)
class RaisedCondition:
    """A condition that is raised now, with its cases."""

    condition: Condition
    cases: tuple[ConditionCase, ...]

    @property
    def sentence(self) -> str:
        """Every case, in sentences."""
        return " ".join(each.sentence for each in self.cases)


def raised_conditions(measures: Measures) -> list[RaisedCondition]:
    """Return the conditions that are raised, faults first, each in the order of the table."""
    raised = [
        RaisedCondition(condition, tuple(_limited(condition.find(measures))))
        for condition in CONDITIONS
    ]
    found = [each for each in raised if each.cases]
    return sorted(found, key=lambda each: each.condition.severity is not ConditionSeverity.FAULT)


def _limited(cases: Iterable[ConditionCase]) -> list[ConditionCase]:
    found = list(cases)
    if len(found) <= RAISED_SHOWN_MAX:
        return found
    more = len(found) - RAISED_SHOWN_MAX + 1
    return [
        *found[: RAISED_SHOWN_MAX - 1],
        ConditionCase(f"And {more} more.", (("payer", "others"),)),
    ]


CONDITIONS: tuple[Condition, ...] = (
    Condition(
        name="payer-unreachable",
        part=ConditionPart.DELIVERY,
        severity=ConditionSeverity.FAULT,
        measured=f"Since when deliveries to a payer fail: {condition_checks.UNREACHABLE_MINUTES} minutes or more.",
        do="Test the route: `clearlane route test ID`. Ask the payer. Waiting files can be carried by hand: "
        "`clearlane export-undelivered`. After it works again: `clearlane batch resend ID` sends at once.",
        find=condition_checks.find_unreachable,
        needs_person=False,
    ),
    Condition(
        name="payer-without-route",
        part=ConditionPart.DELIVERY,
        severity=ConditionSeverity.WARNING,
        measured=f"Claims that wait {condition_checks.NO_ROUTE_MINUTES} minutes or more for a payer without an active route.",
        do="Add a route (`clearlane route add`) or activate one (`clearlane route list`).",
        find=condition_checks.find_without_route,
    ),
    Condition(
        name="claims-waiting",
        part=ConditionPart.DELIVERY,
        severity=ConditionSeverity.WARNING,
        measured=f"Age of the oldest claim or file that no attempt was made for: {condition_checks.CLAIMS_WAITING_HOURS} hours or more.",
        do="Is a node running, and does its engine work? `clearlane worker --self-check`. Does the route have a "
        "window in which it sends? `clearlane route list`.",
        find=condition_checks.find_waiting_long,
        needs_person=False,
    ),
    Condition(
        name="payer-paused",
        part=ConditionPart.DELIVERY,
        severity=ConditionSeverity.WARNING,
        measured=f"Since when a person has paused a payer for whom claims wait: {condition_checks.HELD_HOURS} hours or more.",
        do="Resume the payer in the console (Connections) once it takes claims again.",
        find=condition_checks.find_held,
    ),
    Condition(
        name="batch-in-doubt",
        part=ConditionPart.DELIVERY,
        severity=ConditionSeverity.FAULT,
        measured="Files and claims whose delivery is unconfirmed.",
        do="Ask the payer, then `clearlane batch mark-delivered ID` or `clearlane batch resend ID`.",
        find=condition_checks.find_in_doubt,
    ),
    Condition(
        name="file-refused",
        part=ConditionPart.DELIVERY,
        severity=ConditionSeverity.FAULT,
        measured="Files whose whole envelope a payer refused (TA1), with claims that were not replaced since.",
        do="Correct sender, receiver or usage of the route (`clearlane route change ID --option NAME=VALUE`): the claims go "
        "again by themselves in a new file. If the route is right, ask the payer, then `clearlane batch resend ID`. Nothing "
        "goes again by itself if the payer may hold the file: after TA1 note 025, or if it accepted the file before.",
        find=condition_checks.find_refused,
    ),
    Condition(
        name="code-list-old",
        part=ConditionPart.DELIVERY,
        severity=ConditionSeverity.WARNING,
        measured="Code lists that are older than the claims they judge: their last day is before today.",
        do="Import the publisher's next file: `clearlane codes import LIST FILE --from DAY --to DAY`. `clearlane codes status` "
        "shows the days of each list.",
        find=condition_checks.find_old_code_list,
    ),
    Condition(
        name="acknowledgement-late",
        part=ConditionPart.ANSWERS,
        severity=ConditionSeverity.WARNING,
        measured=f"Age of the oldest delivered file of the last {DELIVERED_DAYS} days without TA1, 999 or 277CA, of a payer "
        f"that sends them: {condition_checks.ACKNOWLEDGEMENT_HOURS} hours or more.",
        do="Ask the payer whether it has the file: `clearlane batch show ID` has its name and control number.",
        find=condition_checks.find_acknowledgement_late,
        needs_person=False,
    ),
    Condition(
        name="claim-status-late",
        part=ConditionPart.ANSWERS,
        severity=ConditionSeverity.WARNING,
        measured=f"Age of the oldest claim of the last {OPEN_CLAIM_DAYS} days that was sent and has no claim status (277CA): "
        f"{condition_checks.STATUS_DAYS} days or more.",
        do="Ask the payer. Is its mailbox read? `clearlane inbox list --all`.",
        find=lambda measures: condition_checks.find_late_claims(
            measures, (ClaimState.SENT,), condition_checks.STATUS_DAYS, "a claim status (277CA)"
        ),
        needs_person=False,
    ),
    Condition(
        name="payment-late",
        part=ConditionPart.ANSWERS,
        severity=ConditionSeverity.WARNING,
        measured=f"Age of the oldest claim of the last {OPEN_CLAIM_DAYS} days that was taken and has no payment (835): "
        f"{condition_checks.PAYMENT_DAYS} days or more.",
        do="Ask the payer. Are its 835s for this provider enrolled? `clearlane enrollment list`.",
        find=lambda measures: condition_checks.find_late_claims(
            measures,
            (ClaimState.ACKNOWLEDGED, ClaimState.PENDING),
            condition_checks.PAYMENT_DAYS,
            "a payment (835)",
        ),
        needs_person=False,
    ),
    Condition(
        name="route-not-polled",
        part=ConditionPart.ANSWERS,
        severity=ConditionSeverity.FAULT,
        measured=f"Whether the last look into a payer's mailbox failed, or is overdue by {condition_checks.POLL_OVERDUE_MINUTES} minutes.",
        do="Test the route: `clearlane route test ID`.",
        find=condition_checks.find_not_polled,
        needs_person=False,
        alert_minutes=30,
    ),
    Condition(
        name="files-passed-over",
        part=ConditionPart.ANSWERS,
        severity=ConditionSeverity.WARNING,
        measured="Files in a payer's mailbox with names under which nothing is fetched.",
        do="Look into the mailbox: rename or remove them, or ask the payer to.",
        find=condition_checks.find_passed_over,
    ),
    Condition(
        name="inbox-files",
        part=ConditionPart.ANSWERS,
        severity=ConditionSeverity.FAULT,
        measured="Files of payers that were not posted: in quarantine, of an unknown sender, or marked as tests.",
        do="`clearlane inbox list`, then `clearlane inbox accept ID` (for a test file with `--test-file`), `replay ID` or "
        "`discard ID`.",
        find=condition_checks.find_inbox_files,
    ),
    Condition(
        name="statements-parked",
        part=ConditionPart.ANSWERS,
        severity=ConditionSeverity.WARNING,
        measured="Files with statements that match no claim.",
        do="`clearlane inbox list`, then `clearlane inbox show ID`; `replay ID` once the claim is known, or `discard ID`.",
        find=condition_checks.find_parked,
    ),
    Condition(
        name="payments-unmatched",
        part=ConditionPart.ANSWERS,
        severity=ConditionSeverity.WARNING,
        measured="Claims of payments (835) that match none of ours.",
        do="`clearlane payment list --unmatched`, then `clearlane payment assign`.",
        find=lambda measures: one_case(
            measures.payments.unmatched,
            f"{counted(measures.payments.unmatched_claims, 'claim')} of "
            f"{counted(measures.payments.unmatched, 'payment')} match none of ours.",
        ),
    ),
    Condition(
        name="payments-unbalanced",
        part=ConditionPart.ANSWERS,
        severity=ConditionSeverity.WARNING,
        measured=f"Payments (835) of the last {UNBALANCED_DAYS} days whose amounts do not add up.",
        do="`clearlane payment list --unbalanced`, then ask the payer for a corrected 835.",
        find=condition_checks.find_unbalanced,
    ),
    Condition(
        name="responses-not-written",
        part=ConditionPart.ANSWERS,
        severity=ConditionSeverity.FAULT,
        measured="Acknowledgements and remittances for senders of files that could not be written "
        f"{RESPONSE_FAILURES_MIN} times or more.",
        do="The node's log says why (`response not written`). Others are written; these are tried again every hour.",
        find=lambda measures: one_case(
            measures.failed_responses,
            f"{counted(measures.failed_responses, 'file')} for senders of claims cannot be written.",
        ),
        needs_person=False,
    ),
    Condition(
        name="inquiries-failing",
        part=ConditionPart.ELIGIBILITY,
        severity=ConditionSeverity.WARNING,
        measured=f"Real-time inquiries of the last {INQUIRY_MINUTES} minutes, if there are {condition_checks.INQUIRIES_MIN} or more: "
        f"{condition_checks.INQUIRY_FAILURES_PERCENT} percent without an answer in time, or {condition_checks.INQUIRY_SECONDS} seconds on average.",
        do="Test the route: `clearlane route test ID`. Ask the payer.",
        find=condition_checks.find_inquiries_failing,
        needs_person=False,
    ),
    Condition(
        name="inquiries-waiting",
        part=ConditionPart.ELIGIBILITY,
        severity=ConditionSeverity.WARNING,
        measured=f"Age of the oldest inquiry without an answer: {condition_checks.OPEN_INQUIRY_MINUTES} minutes or more.",
        do="Test the route: `clearlane route test ID`. Is a node running?",
        find=condition_checks.find_inquiries_waiting,
        needs_person=False,
    ),
    Condition(
        name="webhooks-disabled",
        part=ConditionPart.EVENTS,
        severity=ConditionSeverity.WARNING,
        measured="Webhook endpoints of vendors that are disabled, because the last retry of a delivery failed.",
        do="Tell the vendor: it sees why with `clearlane webhook log ID`, and `clearlane webhook enable ID` sends what it "
        "missed. The feed of events has everything.",
        find=lambda measures: one_case(
            measures.disabled_webhooks,
            f"{counted(measures.disabled_webhooks, 'webhook endpoint')} failed for too long: nothing is sent there.",
        ),
    ),
    Condition(
        name="webhooks-late",
        part=ConditionPart.EVENTS,
        severity=ConditionSeverity.WARNING,
        measured="Age of the oldest delivery to an active webhook endpoint that waits for no retry: "
        f"{condition_checks.LATE_WEBHOOK_MINUTES} minutes or more.",
        do="Is a node running? If one vendor's endpoint answers slowly, `clearlane webhook log ID` shows it; the events are kept "
        "and go out in order.",
        find=condition_checks.find_webhooks_late,
        needs_person=False,
    ),
    Condition(
        name="no-node",
        part=ConditionPart.NODES,
        severity=ConditionSeverity.FAULT,
        measured="Nodes with a recent heartbeat: none.",
        do="Start one: `clearlane serve`.",
        find=lambda measures: one_case(
            not measures.nodes, "No node is running: nothing is sent, fetched or answered."
        ),
    ),
    Condition(
        name="node-silent",
        part=ConditionPart.NODES,
        severity=ConditionSeverity.WARNING,
        measured=f"Nodes without a heartbeat for {NODE_SILENT_SECONDS} seconds that did not stop in order.",
        do="Look at the machine and its log. Others took over its work; its row goes after a week.",
        find=condition_checks.find_silent_node,
    ),
    Condition(
        name="node-clock",
        part=ConditionPart.NODES,
        severity=ConditionSeverity.WARNING,
        measured="Difference between a node's clock and the database's: more than 5 seconds.",
        do="Let NTP set the clock.",
        find=condition_checks.find_clock,
    ),
    Condition(
        name="database-not-writable",
        part=ConditionPart.DATABASE,
        severity=ConditionSeverity.FAULT,
        measured="Whether the last commit failed.",
        do="Make space on the disk; look at the database's log.",
        find=lambda measures: one_case(
            measures.node.write_fault,
            f"The database cannot be written: {measures.node.write_fault}.",
        ),
        of_node=True,
        alert_minutes=1,
    ),
    Condition(
        name="database-set-back",
        part=ConditionPart.DATABASE,
        severity=ConditionSeverity.FAULT,
        measured="Whether an older copy of the database took the place of this one (the anchor knows).",
        do="Decide what is in doubt: `clearlane batch list`. It is shown until the node is started again.",
        find=lambda measures: one_case(
            measures.node.set_back,
            f"{measures.node.set_back} What waited is in doubt: see `clearlane batch list`.",
        ),
        of_node=True,
    ),
    Condition(
        name="disk-reserve",
        part=ConditionPart.DATABASE,
        severity=ConditionSeverity.WARNING,
        measured="Whether the node has its reserve of disk space.",
        do="Make space on the disk of the data directory.",
        find=lambda measures: one_case(
            measures.node.reserve_warning, measures.node.reserve_warning
        ),
        of_node=True,
    ),
    Condition(
        name="writes-waiting",
        part=ConditionPart.DATABASE,
        severity=ConditionSeverity.WARNING,
        measured=f"How long the first write waits for the database: {condition_checks.WRITE_WAIT_SECONDS} seconds or more.",
        do="Is the disk slow, or the database's machine busy? See `clearlane_write_seconds`.",
        find=lambda measures: one_case(
            measures.node.waits.oldest_write_seconds >= condition_checks.WRITE_WAIT_SECONDS,
            f"{counted(measures.node.waits.writes_waiting, 'write')} wait for the database, the first for "
            f"{duration(measures.node.waits.oldest_write_seconds)}.",
        ),
        of_node=True,
        needs_person=False,
    ),
    Condition(
        name="engine-backlog",
        part=ConditionPart.NODES,
        severity=ConditionSeverity.WARNING,
        measured=f"Age of the oldest durable work that no node has begun: {condition_checks.BACKLOG_MINUTES} minutes or more.",
        do="Start another node (`clearlane worker`), or see what the nodes' logs say.",
        find=condition_checks.find_backlog,
        needs_person=False,
    ),
    Condition(
        name="work-parked",
        part=ConditionPart.NODES,
        severity=ConditionSeverity.FAULT,
        measured="Durable work that was taken over too often, and stopped.",
        do="See what ended the nodes (their logs, memory); then `clearlane work list` and `clearlane work release WORK`.",
        find=lambda measures: one_case(
            measures.parked_work,
            f"{counted(measures.parked_work, 'piece')} of durable work stopped, because the nodes that did it kept dying.",
        ),
    ),
    Condition(
        name="audit-not-anchored",
        part=ConditionPart.AUDIT,
        severity=ConditionSeverity.FAULT,
        measured=f"Whether the anchor could be saved, and how far it lags behind the chain: {condition_checks.ANCHOR_BEHIND_SECONDS} seconds or "
        "more.",
        do="Is the data directory writable, and the second place of the anchor? `clearlane audit verify`.",
        find=condition_checks.find_not_anchored,
        of_node=True,
    ),
    Condition(
        name="checkpoint-late",
        part=ConditionPart.AUDIT,
        severity=ConditionSeverity.WARNING,
        measured="Age of the oldest delivery or acknowledgement in the log of filings that no signed checkpoint covers: "
        f"{condition_checks.CHECKPOINT_HOURS} hours or more.",
        do="Is a node running, and can it write to the database? Its log says why (`checkpoint signed` is missing, or a fault of "
        "the tick `checkpoints`).",
        find=condition_checks.find_checkpoint_late,
        needs_person=False,
    ),
    Condition(
        name="certificate-ends",
        part=ConditionPart.NODES,
        severity=ConditionSeverity.WARNING,
        measured=f"Days until the certificate that the node serves ends: fewer than {condition_checks.CERTIFICATE_DAYS_MIN}.",
        do="Renew it; a changed file is loaded by itself.",
        find=condition_checks.find_certificate,
        of_node=True,
    ),
    Condition(
        name="backup-old",
        part=ConditionPart.DATABASE,
        severity=ConditionSeverity.WARNING,
        measured=f"Age of the last backup, in production: {condition_checks.BACKUP_HOURS} hours or more. On PostgreSQL only if backups are "
        "recorded.",
        do="`clearlane backup FILE`; on PostgreSQL `pg_dump`, then `clearlane backup --record FILE`.",
        find=condition_checks.find_backup,
    ),
    Condition(
        name="purge-late",
        part=ConditionPart.DATABASE,
        severity=ConditionSeverity.WARNING,
        measured="Whether the last purge of each kind of data failed, and in production how long ago it ended: "
        f"{LATE_AFTER // timedelta(hours=1)} hours or more.",
        do="See Retention in the console. The log of the node that ran it has the fault (`work failed`). Purges run every night "
        "while a node runs; `clearlane retention purge` removes records at once.",
        find=condition_checks.find_purge_late,
        needs_person=False,
    ),
    Condition(
        name="partitions-missing",
        part=ConditionPart.DATABASE,
        severity=ConditionSeverity.WARNING,
        measured="On PostgreSQL in production: days until the last partition of claims or payments ends (fewer than "
        f"{condition_checks.PARTITION_DAYS_MIN}), and tables whose default partition holds rows.",
        do="Run `clearlane db upgrade` with the login that owns the tables; nodes with that login make partitions by "
        "themselves. With a superuser's login it also moves rows out of a default partition; until then they are found and "
        "listed as all others.",
        find=condition_checks.find_partitions,
    ),
)
