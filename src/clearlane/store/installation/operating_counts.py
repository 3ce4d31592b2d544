"""Counts of what flows and what waits in an installation, for its operator: no row of a client, no patient data.

Every statement is answered from an index alone or reads few rows, so that it stays cheap beside millions of claims:
complete claims are in none of them, and what was delivered, received or asked is counted from a moment on. Knows no
limit beyond which a count needs attention.
"""

from dataclasses import dataclass

from sqlalchemy import BigInteger, ColumnElement, bindparam, func, select

from clearlane.kernel import limits
from clearlane.kernel.clock import from_micros
from clearlane.kernel.ids import first_number
from clearlane.store.database.database import SystemScope, Tx, find_row, list_rows
from clearlane.store.database.schema import (
    BACKUP_ACTION,
    COMPLETE_STATE,
    NEVER_SENT_STATES,
    SHADOW_STATES,
    audit,
    batches,
    claims,
    inbox,
    inquiries,
    inquiry_requests,
    nodes,
    payments,
    takeovers,
)
from clearlane.store.database.sql import Statement, database_now, inlined
from clearlane.store.payments.payments import PAYMENT_LETTER

SCOPE = SystemScope("counts of the whole installation, for its operator")

HOUR = 3_600_000_000
DAY = 24 * HOUR
"""In microseconds, as all stored times."""

AGE_BOUNDS = {"1h": HOUR, "1d": DAY, "7d": 7 * DAY, "30d": 30 * DAY}
"""Ages of claims by the word that metrics use: older than one of these, or younger than the first."""
DELIVERED_DAYS, OPEN_CLAIM_DAYS, UNBALANCED_DAYS = 30, 90, 30
"""How far back deliveries are counted, open claims are expected to be answered, and 835s that do not balance matter."""
INQUIRY_MINUTES = 15
SILENT_NODE_DAYS = 7
"""A node that is silent for longer is no longer missed."""


@dataclass(frozen=True, slots=True)
class OpenClaims:
    """The claims to one payer in one state that are not complete."""

    state: str
    payer_id: str
    claims: int
    older: tuple[int, ...]
    """How many are older than each of AGE_BOUNDS."""
    oldest_at: int | None
    """When the oldest of the last OPEN_CLAIM_DAYS was accepted."""

    def by_age(self) -> dict[str, int]:
        """Return how many there are by age, each counted once."""
        steps = [self.claims, *self.older, 0]
        names = [f"under_{next(iter(AGE_BOUNDS))}", *(f"over_{name}" for name in AGE_BOUNDS)]
        return {name: steps[at] - steps[at + 1] for at, name in enumerate(names)}


@dataclass(frozen=True, slots=True)
class DeliveredFiles:
    """The files of claims that one payer was sent in the last DELIVERED_DAYS."""

    type: str
    payer_id: str
    files: int
    acknowledged: int
    files_last_day: int
    claims_last_day: int
    waiting_since: int | None
    """When the oldest file without an acknowledgement was delivered."""
    acknowledged_after_micros: int | None
    """How long an acknowledgement took, on average."""


@dataclass(frozen=True, slots=True)
class InboxCounts:
    """The files of payers in one state."""

    state: str
    files: int
    files_last_day: int


@dataclass(frozen=True, slots=True)
class PaymentCounts:
    """Payments (835) that came lately, and those that a person must look at."""

    last_day: int = 0
    unmatched: int = 0
    """Payments with claims that match none of ours."""
    unmatched_claims: int = 0
    unbalanced: int = 0
    """Payments of the last UNBALANCED_DAYS that do not add up, as a whole or in one of their claims."""


@dataclass(frozen=True, slots=True)
class InquiryCounts:
    """Real-time inquiries to one payer in the last INQUIRY_MINUTES."""

    type: str
    payer_id: str
    asked: int
    answered: int
    """Inquiries that were answered while the call waited."""
    failed: int
    """Inquiries that were not: the payer could not be reached, or answered later. Others are still open."""
    mean_micros: int | None
    longest_micros: int | None


@dataclass(frozen=True, slots=True)
class OpenInquiries:
    """Inquiries to one payer that have no answer yet."""

    type: str
    payer_id: str
    inquiries: int
    oldest_at: int


@dataclass(frozen=True, slots=True)
class SilentNode:
    """A node that neither lives nor stopped in order."""

    id: str
    role: str
    host: str
    silent_micros: int


async def count_open_claims(tx: Tx, now: int) -> list[OpenClaims]:
    """Count the claims that are not complete by state and payer, from an index alone.

    If a claim was corrected, replaced or sent again, only the last is counted.
    """
    bounds = {f"before_{name}": now - age for name, age in AGE_BOUNDS.items()}
    rows = await tx.rows(_OPEN_CLAIMS, since=now - OPEN_CLAIM_DAYS * DAY, **bounds)
    return [
        OpenClaims(state, payer_id, count, tuple(older), oldest)
        for state, payer_id, count, oldest, *older in rows
    ]


async def count_claims_since(tx: Tx, since: int) -> int:
    """Count the claims accepted since a moment: all that came, whose ids are in the order of time, less the others."""
    first = first_number(from_micros(since))
    row = await tx.row(_CLAIMS_SINCE, first=first)
    refused = await tx.row(_NEVER_SENT_SINCE, since=since)
    return (int(row[0]) if row else 0) - (int(refused[0]) if refused else 0)


async def count_delivered(tx: Tx, now: int) -> list[DeliveredFiles]:
    """Count the delivered files of claims by payer."""
    rows = await tx.rows(_DELIVERED, since=now - DELIVERED_DAYS * DAY, day=now - DAY)
    return [
        DeliveredFiles(type, payer, files, acknowledged, day, int(sent or 0), waiting, _whole(took))
        for type, payer, files, acknowledged, day, sent, waiting, took in rows
    ]


async def count_inbox(tx: Tx, now: int) -> list[InboxCounts]:
    """Count the files of payers by state, from an index alone."""
    return await list_rows(tx, InboxCounts, _INBOX, day=now - DAY)


async def count_payments(tx: Tx, now: int) -> PaymentCounts:
    """Count payments that came lately, and those with something for a person."""
    day = first_number(from_micros(now - DAY), letter=PAYMENT_LETTER)
    month = first_number(from_micros(now - UNBALANCED_DAYS * DAY), letter=PAYMENT_LETTER)
    last_day = await tx.row(_PAYMENTS_SINCE, first=day)
    unmatched = await tx.row(_UNMATCHED)
    unbalanced = await tx.row(_UNBALANCED, first=month)
    return PaymentCounts(
        last_day=int(last_day[0]) if last_day else 0,
        unmatched=int(unmatched[0]) if unmatched else 0,
        unmatched_claims=int(unmatched[1] or 0) if unmatched else 0,
        unbalanced=int(unbalanced[0]) if unbalanced else 0,
    )


async def count_inquiries(tx: Tx, now: int) -> list[InquiryCounts]:
    """Count the real-time inquiries of the last minutes by payer."""
    wait = limits.INQUIRY_WAIT_SECONDS_MAX * 1_000_000
    since = now - INQUIRY_MINUTES * 60_000_000
    rows = await tx.rows(_INQUIRIES, since=since, wait=wait, waited=now - wait)
    return [
        InquiryCounts(type, payer, asked, answered, failed, _whole(mean), _whole(longest))
        for type, payer, asked, answered, failed, mean, longest in rows
    ]


async def count_open_inquiries(tx: Tx) -> list[OpenInquiries]:
    """Count the inquiries without an answer by payer."""
    return await list_rows(tx, OpenInquiries, _OPEN_INQUIRIES)


async def count_parked_work(tx: Tx) -> int:
    """Count the pieces of durable work that wait for a person."""
    return await find_row(tx, int, _PARKED_WORK) or 0


async def list_silent_nodes(tx: Tx, silent_micros: int) -> list[SilentNode]:
    """Return the nodes that were last seen longer ago than this, and did not stop in order."""
    return await list_rows(
        tx, SilentNode, _SILENT, silent=silent_micros, forgotten=SILENT_NODE_DAYS * DAY
    )


async def last_backup_at(tx: Tx) -> int | None:
    """Return when the last backup was written; None if there is none."""
    return await find_row(tx, int, _LAST_BACKUP)


async def first_audited_at(tx: Tx, *, after: int = 0) -> int | None:
    """Return the time of the first audit row, or of the first after another; None if there is none."""
    return await find_row(tx, int, _FIRST_AUDITED, after=after)


def _whole(number: object) -> int | None:
    return None if number is None else int(number)  # type: ignore[call-overload]  # a sum, which drivers give as different numbers


def _moment(name: str) -> ColumnElement[int]:
    return bindparam(name, type_=BigInteger)


_IS_OPEN = claims.c.state != inlined(COMPLETE_STATE)
# Not an equation, which the larger partial index of labels would answer with a look at every row.
_NOT_SUPERSEDED = claims.c.is_superseded < inlined(1)
# By the state, which the index of open claims holds.
_IS_REAL = claims.c.state.not_in([inlined(state) for state in SHADOW_STATES])
_OPEN_CLAIMS = Statement(
    select(
        claims.c.state,
        claims.c.payer_id,
        func.count(),
        func.min(claims.c.created_at).filter(claims.c.created_at >= _moment("since")),
        *(
            func.count().filter(claims.c.created_at < _moment(f"before_{name}"))
            for name in AGE_BOUNDS
        ),
    )
    .where(_IS_OPEN, _NOT_SUPERSEDED, _IS_REAL)
    .group_by(claims.c.state, claims.c.payer_id),
    system=True,
)
_CLAIMS_SINCE = Statement(
    select(func.count()).select_from(claims).where(claims.c.claim_number >= bindparam("first")),
    system=True,
)
# From the index of open claims: an installation accepts most claims.
_NEVER_SENT_SINCE = Statement(
    select(func.count())
    .select_from(claims)
    .where(
        _IS_OPEN,
        claims.c.state.in_([inlined(state) for state in NEVER_SENT_STATES]),
        claims.c.created_at >= _moment("since"),
    ),
    system=True,
)
_ACKNOWLEDGED = batches.c.acknowledged_at.is_not(None)
_LAST_DAY = batches.c.delivered_at >= _moment("day")
_DELIVERED = Statement(
    select(
        batches.c.type,
        batches.c.payer_id,
        func.count(),
        func.count().filter(_ACKNOWLEDGED),
        func.count().filter(_LAST_DAY),
        func.sum(batches.c.claims).filter(_LAST_DAY),
        func.min(batches.c.delivered_at).filter(batches.c.acknowledged_at.is_(None)),
        func.avg(batches.c.acknowledged_at - batches.c.delivered_at).filter(_ACKNOWLEDGED),
    )
    .where(batches.c.delivered_at >= _moment("since"), batches.c.claims > 0)
    .group_by(batches.c.type, batches.c.payer_id)
)
_INBOX = Statement(
    select(
        inbox.c.state, func.count(), func.count().filter(inbox.c.received_at >= _moment("day"))
    ).group_by(inbox.c.state)
)
_PAYMENTS_SINCE = Statement(
    select(func.count()).select_from(payments).where(payments.c.payment_id >= bindparam("first"))
)
_UNMATCHED = Statement(
    select(func.count(), func.sum(payments.c.unmatched)).where(payments.c.unmatched > inlined(0))
)
_UNBALANCED = Statement(
    select(func.count())
    .select_from(payments)
    .where(
        payments.c.payment_id >= bindparam("first"),
        (payments.c.balanced == 0) | (payments.c.unbalanced_claims > 0),
        payments.c.complete == 1,
        payments.c.duplicate_of.is_(None),
    )
)
_TOOK = inquiries.c.answered_at - inquiry_requests.c.created_at
_NO_ANSWER = inquiries.c.answer == inlined("Connection")
_IN_TIME = (_moment("wait") >= _TOOK) & ~_NO_ANSWER
_TOO_LATE = (
    _NO_ANSWER
    | (_moment("wait") < _TOOK)
    | (inquiries.c.answered_at.is_(None) & (inquiry_requests.c.created_at < _moment("waited")))
)
_INQUIRIES = Statement(
    select(
        inquiries.c.type,
        inquiries.c.payer_id,
        func.count(),
        func.count().filter(_IN_TIME),
        func.count().filter(_TOO_LATE),
        func.avg(_TOOK),
        func.max(_TOOK),
    )
    .join_from(
        inquiry_requests,
        inquiries,
        inquiries.c.inquiry_request_id == inquiry_requests.c.id,
    )
    .where(
        inquiry_requests.c.created_at >= _moment("since"),
        inquiries.c.batch_id.is_(None),
    )
    .group_by(inquiries.c.type, inquiries.c.payer_id),
    system=True,
)
_OPEN_INQUIRIES = Statement(
    select(
        inquiries.c.type,
        inquiries.c.payer_id,
        func.count(),
        func.min(inquiry_requests.c.created_at),
    )
    .join_from(
        inquiries,
        inquiry_requests,
        inquiries.c.inquiry_request_id == inquiry_requests.c.id,
    )
    .where(inquiries.c.state == inlined("Open"))
    .group_by(inquiries.c.type, inquiries.c.payer_id),
    system=True,
)
_PARKED_WORK = Statement(
    select(func.count()).select_from(takeovers).where(takeovers.c.parked == inlined(1))
)
_SILENCE = database_now() - nodes.c.seen_at
_SILENT = Statement(
    select(nodes.c.id, nodes.c.role, nodes.c.host, _SILENCE).where(
        _moment("silent") < _SILENCE, _moment("forgotten") > _SILENCE
    )
)
_LAST_BACKUP = Statement(
    select(audit.c.at)
    .where(audit.c.action == inlined(BACKUP_ACTION))
    .order_by(audit.c.seq.desc())
    .limit(1)
)
_FIRST_AUDITED = Statement(
    select(audit.c.at).where(audit.c.seq > _moment("after")).order_by(audit.c.seq).limit(1)
)
