"""Find the cases of each condition in measures, and put them in words: payer, route, since when, why, what waits.

Pure. ``conditions`` is the table that names each of these functions.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from clearlane.claims.lifecycle import ClaimState
from clearlane.engine.backlog import BACKLOG_ROWS_MAX
from clearlane.kernel.clock import from_micros
from clearlane.payers.hops import HOP
from clearlane.pipeline.query.installation.measures import Measures, RoutePolling, UndeliveredClaims
from clearlane.pipeline.retention.purge_runs import PURGE_WORDS, PurgeRun, PurgeState
from clearlane.store.delivery.file_refusals import DUPLICATE_NOTE, payer_may_hold
from clearlane.store.installation.operating_counts import INQUIRY_MINUTES, UNBALANCED_DAYS

UNREACHABLE_MINUTES = 15
NO_ROUTE_MINUTES = 60
CLAIMS_WAITING_HOURS = 4
HELD_HOURS = 24
POLL_OVERDUE_MINUTES = 30
ACKNOWLEDGEMENT_HOURS = 48
STATUS_DAYS, PAYMENT_DAYS = 7, 45
INQUIRIES_MIN, INQUIRY_FAILURES_PERCENT, INQUIRY_SECONDS = 10, 20, 20
OPEN_INQUIRY_MINUTES = 60
LATE_WEBHOOK_MINUTES = 5
WRITE_WAIT_SECONDS, BACKLOG_MINUTES = 5, 10
ANCHOR_BEHIND_SECONDS = 60
CERTIFICATE_DAYS_MIN = 14
BACKUP_HOURS = 48
CHECKPOINT_HOURS = 3
PARTITION_DAYS_MIN = 45


@dataclass(frozen=True, slots=True)
class ConditionCase:
    """One case of a condition: a sentence, and the payer, route or node it is about."""

    sentence: str
    labels: tuple[tuple[str, str], ...] = ()
    """For metrics: names of our own tables only, no values that a caller chooses."""


# ---- words ------------------------------------------------------------------------------------


def one_case(raised: object, sentence: str) -> list[ConditionCase]:
    """Return the one case of a condition that is raised or not."""
    return [ConditionCase(sentence)] if raised else []


def duration(seconds: float) -> str:
    """Return a length of time as people say it: ``3 days``, ``5 hours``, ``20 minutes``."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return counted(int(seconds // length), unit)
    return counted(int(max(0, seconds)), "second")


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, in the plural if it is not one."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def _labels(
    of: UndeliveredClaims | RoutePolling, *, route: bool = True
) -> tuple[tuple[str, str], ...]:
    found = (("payer", of.payer_id), ("type", of.type))
    return (*found, ("route", str(of.route_id))) if route else found


def _payer(of: UndeliveredClaims | RoutePolling) -> str:
    return f"Hop {of.payer_id}" if of.type == HOP else f"Payer {of.payer_id} ({of.type})"


def _over_route(of: UndeliveredClaims | RoutePolling) -> str:
    kind = f" ({of.route_kind})" if of.route_kind else ""
    return f"{_over(of.route_id)}{kind}"


def _over(route_id: int | None) -> str:
    """Return by which route, as a part of a sentence; a simulated payer has none that a person could look up."""
    return f" over route {route_id}" if route_id else ""


def _waiting(of: UndeliveredClaims) -> str:
    if not of.files:
        return f"{counted(of.claims, 'claim')} wait{'s' if of.claims == 1 else ''}."
    return f"{counted(of.files, 'file')} and {counted(of.claims, 'claim')} wait."


# ---- claims to payers -------------------------------------------------------------------------


def find_unreachable(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the payers, and the hops to several of them, to which deliveries fail for some time."""
    for of in _by_hop(measures.undelivered):
        if of.failing_since is None or of.held_since is not None:
            continue
        seconds = measures.seconds_since(of.failing_since)
        if seconds >= UNREACHABLE_MINUTES * 60:
            since = f"{from_micros(of.failing_since):%Y-%m-%d %H:%M} UTC"
            yield ConditionCase(
                f"{_payer(of)} cannot be sent anything{_over_route(of)} for {duration(seconds)}, "
                f"since {since}: {of.fault} {_waiting(of)}",
                _labels(of),
            )


def _by_hop(undelivered: Iterable[UndeliveredClaims]) -> Iterator[UndeliveredClaims]:
    """Yield what waits by payer; what fails on the way to one hop as one."""
    failing: dict[tuple[str, int | None], list[UndeliveredClaims]] = {}
    for of in undelivered:
        if of.hop and of.held_since is None:
            failing.setdefault((of.hop, of.route_id), []).append(of)
        else:
            yield of
    for (hop, _), all in failing.items():
        longest = min(all, key=lambda one: one.failing_since or 0)
        yield replace(
            longest,
            type=HOP,
            payer_id=hop,
            claims=sum(one.claims for one in all),
            files=sum(one.files for one in all),
        )


def find_without_route(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the payers whose claims wait for a route."""
    for of in measures.undelivered:
        old = of.oldest_at is not None and (
            measures.seconds_since(of.oldest_at) >= NO_ROUTE_MINUTES * 60
        )
        if not of.has_route and of.claims and old:
            yield ConditionCase(
                f"{_payer(of)} has no active route. {_waiting(of)}", _labels(of, route=False)
            )


def find_waiting_long(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the payers whose claims wait long, though no attempt failed."""
    for of in measures.undelivered:
        if not of.claims or of.oldest_at is None or of.failing_since is not None or of.held_since:
            continue
        seconds = measures.seconds_since(of.oldest_at)
        if of.has_route and seconds >= CLAIMS_WAITING_HOURS * 3_600:
            yield ConditionCase(
                f"{_payer(of)}: nothing was sent for {duration(seconds)}, though no attempt failed. {_waiting(of)}",
                _labels(of),
            )


def find_held(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the payers that a person has paused for some time."""
    for of in measures.undelivered:
        if of.held_since is None or not of.claims:
            continue
        seconds = measures.seconds_since(of.held_since)
        if seconds >= HELD_HOURS * 3_600:
            yield ConditionCase(
                f"{_payer(of)} is paused by a person for {duration(seconds)}. {_waiting(of)}",
                _labels(of, route=False),
            )


def find_in_doubt(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the payers of files and claims that may have arrived."""
    for of in measures.undelivered:
        if of.in_doubt:
            yield ConditionCase(
                f"{_payer(of)}: it is not known whether {counted(of.in_doubt, 'file')} arrived.",
                _labels(of, route=False),
            )
        if of.claims_in_doubt:
            yield ConditionCase(
                f"{_payer(of)}: {counted(of.claims_in_doubt, 'claim')} may have been sent before a restore.",
                _labels(of, route=False),
            )


def find_refused(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the files that payers refused for their envelope, by payer and route: one case for all their claims."""
    for of in measures.refused:
        some = (
            f"{of.accepted:,} of "
            if 0 < of.accepted < of.claims and of.note != DUPLICATE_NOTE
            else ""
        )
        held = f" The payer may hold {some}the claims all the same." if payer_may_hold(of) else ""
        yield ConditionCase(
            f"Payer {of.payer_id} ({of.type}) refused {counted(of.files, 'file')} with {counted(of.claims, 'claim')}"
            f"{_over(of.route_id)} (TA1 {of.note}), the first is batch {of.first_batch_id}.{held}",
            (
                ("payer", of.payer_id),
                ("type", of.type),
                ("route", str(of.route_id)),
                ("note", of.note),
            ),
        )


def find_acknowledgement_late(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the payers that acknowledge files, and have not for long."""
    for of in measures.delivered:
        # A payer that never acknowledged anything sends no 999, as some do.
        if of.waiting_since is None or not of.acknowledged:
            continue
        seconds = measures.seconds_since(of.waiting_since)
        if seconds >= ACKNOWLEDGEMENT_HOURS * 3_600:
            yield ConditionCase(
                f"Payer {of.payer_id} ({of.type}) has not acknowledged a file for {duration(seconds)}; "
                f"{counted(of.files - of.acknowledged, 'file')} without a 999.",
                (("payer", of.payer_id), ("type", of.type)),
            )


def find_late_claims(
    measures: Measures, states: Sequence[ClaimState], days: int, expected: str
) -> Iterator[ConditionCase]:
    """Yield the payers with old claims in these states."""
    oldest: dict[str, tuple[int, int]] = {}
    for of in measures.open_claims:
        if of.state in states and of.oldest_at is not None:
            count, at = oldest.get(of.payer_id, (0, of.oldest_at))
            oldest[of.payer_id] = (count + of.claims, min(at, of.oldest_at))
    for payer_id, (count, at) in sorted(oldest.items()):
        seconds = measures.seconds_since(at)
        if seconds >= days * 86_400:
            yield ConditionCase(
                f"Payer {payer_id}: {counted(count, 'claim')} without {expected}, the oldest for {duration(seconds)}.",
                (("payer", payer_id),),
            )


# ---- answers of payers ------------------------------------------------------------------------


def find_not_polled(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the routes whose mailbox cannot be read."""
    for of in measures.polls:
        overdue = of.overdue_seconds >= POLL_OVERDUE_MINUTES * 60
        if of.fault or overdue:
            why = of.fault or f"no node has looked for {duration(of.overdue_seconds)}."
            yield ConditionCase(
                f"{_payer(of)}: its files cannot be fetched{_over_route(of)}: {why}", _labels(of)
            )


def find_passed_over(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the routes with files that are not fetched."""
    for of in measures.polls:
        if of.passed_over:
            yield ConditionCase(
                f"{_payer(of)}: {counted(of.passed_over, 'file')} with odd names "
                f"{'is' if of.passed_over == 1 else 'are'} left where they are{_over_route(of)}.",
                _labels(of),
            )


# State of inbox files that a person must look at, and what is said of them.
INBOX_SENTENCES = {
    "quarantined": "cannot be read or are addressed to another receiver",
    "unknown_sender": "are of a sender that the route does not know",
    "test_file": "are marked as tests (ISA15 is T) and wait for an operator",
}


def find_inbox_files(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the files of payers that were not posted."""
    for of in measures.inbox:
        if of.files and of.state in INBOX_SENTENCES:
            yield ConditionCase(
                f"{counted(of.files, 'file')} of payers {INBOX_SENTENCES[of.state]}.",
                (("verdict", of.state),),
            )


def find_parked(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the files with statements about no known claim."""
    for of in measures.inbox:
        if of.files and of.state == "parked":
            yield ConditionCase(
                f"{counted(of.files, 'file')} with statements about no known claim."
            )


def find_unbalanced(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the payments that do not add up."""
    count = measures.payments.unbalanced
    if count:
        does = "does" if count == 1 else "do"
        yield ConditionCase(
            f"{counted(count, 'payment')} (835) of the last {UNBALANCED_DAYS} days {does} not balance."
        )


# ---- eligibility ------------------------------------------------------------------------------


def find_inquiries_failing(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the payers that answer inquiries slowly or not at all."""
    for of in measures.inquiries:
        if of.asked < INQUIRIES_MIN:
            continue
        failed = 100 * of.failed // of.asked
        seconds = (of.mean_micros or 0) / 1_000_000
        if failed >= INQUIRY_FAILURES_PERCENT or seconds >= INQUIRY_SECONDS:
            yield ConditionCase(
                f"Payer {of.payer_id} ({of.type}): of {of.asked} inquiries in {INQUIRY_MINUTES} minutes "
                f"{of.failed} got no answer in time; one takes {seconds:.0f} seconds.",
                (("payer", of.payer_id), ("type", of.type)),
            )


def find_inquiries_waiting(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the payers with old inquiries."""
    for of in measures.open_inquiries:
        seconds = measures.seconds_since(of.oldest_at)
        if seconds >= OPEN_INQUIRY_MINUTES * 60:
            yield ConditionCase(
                f"Payer {of.payer_id} ({of.type}): {counted(of.inquiries, 'inquiry', 'inquiries')} "
                f"without an answer, the oldest for {duration(seconds)}.",
                (("payer", of.payer_id), ("type", of.type)),
            )


# ---- events -----------------------------------------------------------------------------------


def find_webhooks_late(measures: Measures) -> Iterator[ConditionCase]:
    """Yield one case if events wait for webhook endpoints that would take them."""
    seconds = measures.webhook_wait_seconds
    if seconds >= LATE_WEBHOOK_MINUTES * 60:
        yield ConditionCase(
            f"Events wait for webhook endpoints, the oldest for {duration(seconds)}."
        )


# ---- nodes, database, audit -------------------------------------------------------------------


def find_silent_node(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the nodes that died."""
    for of in measures.silent_nodes:
        yield ConditionCase(
            f"Node {of.id} ({of.role} on {of.host}) has been silent for {duration(of.silent_micros / 1_000_000)} and did "
            "not stop in order.",
            (("host", of.host), ("role", of.role)),
        )


def find_clock(measures: Measures) -> Iterator[ConditionCase]:
    """Yield the nodes whose clock is wrong."""
    for node in measures.nodes:
        if node.clock_warning:
            yield ConditionCase(node.clock_warning, (("host", node.host), ("role", node.role)))


def find_backlog(measures: Measures) -> Iterator[ConditionCase]:
    """Yield how long durable work waits for a node."""
    backlog = measures.node.backlog
    if backlog is None or backlog.oldest_at_millis is None:
        return
    seconds = (measures.wall - from_micros(backlog.oldest_at_millis * 1_000)).total_seconds()
    if seconds >= BACKLOG_MINUTES * 60:
        more = " or more" if backlog.total >= BACKLOG_ROWS_MAX else ""
        yield ConditionCase(
            f"{counted(backlog.total, 'piece')}{more} of durable work wait for a node, the oldest for {duration(seconds)}."
        )


def find_not_anchored(measures: Measures) -> Iterator[ConditionCase]:
    """Yield why the audit chain is not anchored."""
    node = measures.node
    if node.anchor_fault:
        yield ConditionCase(f"The chain is not anchored: {node.anchor_fault}")
    elif node.anchor_behind_seconds >= ANCHOR_BEHIND_SECONDS:
        yield ConditionCase(
            f"The anchor lags {duration(node.anchor_behind_seconds)} behind the audit chain."
        )


def find_checkpoint_late(measures: Measures) -> list[ConditionCase]:
    """Return the case of a log of filings that is not signed any more."""
    if measures.unsigned_since is None:
        return []
    seconds = measures.seconds_since(measures.unsigned_since)
    return one_case(
        seconds >= CHECKPOINT_HOURS * 3_600,
        f"The log of filings is not signed: what was added {duration(seconds)} ago has no checkpoint, and no proof can be "
        "made of it.",
    )


def find_certificate(measures: Measures) -> Iterator[ConditionCase]:
    """Yield when the certificate ends, if that is soon."""
    ends = measures.node.certificate_ends_at
    if ends is not None and ends - measures.wall < timedelta(days=CERTIFICATE_DAYS_MIN):
        word = "ended" if ends <= measures.wall else "ends"
        yield ConditionCase(f"The certificate {word} on {ends:%Y-%m-%d}.")


def find_old_code_list(measures: Measures) -> Iterator[ConditionCase]:
    """Yield each code list that ends before today."""
    for name, last in sorted(measures.code_lists.items()):
        if last < measures.at.date():
            yield ConditionCase(
                f"The code list {name} ended on {last}: later services are not judged by it.",
                (("list", name),),
            )


def find_partitions(measures: Measures) -> Iterator[ConditionCase]:
    """Yield that partitions end soon, and each table with rows that no partition takes."""
    if measures.partitions is None or measures.sandbox:
        return
    through, stray = measures.partitions
    if through - measures.at < timedelta(days=PARTITION_DAYS_MIN):
        yield ConditionCase(f"There are partitions until {through:%Y-%m-%d} only.")
    for table in stray:
        yield ConditionCase(
            f"The default partition of {table} holds rows: no other partition takes them.",
            (("table", table),),
        )


def find_backup(measures: Measures) -> Iterator[ConditionCase]:
    """Yield how old the last backup is, if it is old."""
    if measures.sandbox or measures.backup_at is None:
        return
    # PostgreSQL is backed up by its own tools: only if they are recorded here, their age is known.
    if measures.node.database != "sqlite" and not measures.backup_known:
        return
    seconds = (measures.wall - from_micros(measures.backup_at)).total_seconds()
    if seconds >= BACKUP_HOURS * 3_600:
        known = f"The last backup is {duration(seconds)} old."
        yield ConditionCase(known if measures.backup_known else "No backup was ever written.")


def find_purge_late(measures: Measures) -> Iterator[ConditionCase]:
    """Yield each purge that failed, and each that has not run for long."""
    for purge, words in PURGE_WORDS.items():
        run = measures.purges.get(purge, PurgeRun())
        state = run.state(since=measures.purges_since, now=measures.wall)
        if state is PurgeState.FAILED and run.failed_at is not None:
            at = f"{from_micros(run.failed_at):%Y-%m-%d %H:%M} UTC"
            yield ConditionCase(f"The purge of {words} failed on {at}: {run.fault}.")
        elif state is PurgeState.LATE:
            when = "never ran"
            if run.ended_at is not None:
                seconds = (measures.wall - from_micros(run.ended_at)).total_seconds()
                when = f"has not run for {duration(seconds)}"
            yield ConditionCase(f"The purge of {words} {when}.")
