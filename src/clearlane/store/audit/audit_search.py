"""Search the audit trail: by day, person, claim or other id, action, newest first.

Time and request id have an index; for the rest a search walks back from the newest row, and stops
after :data:`ROWS_SEARCHED_MAX` of them: the answer says how far it came. Knows no page.
"""

import json
from dataclasses import dataclass

from sqlalchemy import BigInteger, bindparam, select

from clearlane.kernel.list_filter import FilterType, ListFilter
from clearlane.store.audit.audit import TRAIL
from clearlane.store.audit.audit_actions import audit_words, is_change
from clearlane.store.database.database import Database, Tx
from clearlane.store.database.schema import audit, audit_cut, audit_head
from clearlane.store.database.sql import Statement

ROWS_AT_ONCE = 2_000
ROWS_SEARCHED_MAX = 40_000
NEWEST = (1 << 62) - 1
ROW_TIMES_APART_MICROS_MAX = 3_600_000_000
"""By how much the time of a row may be ahead of a later row's: nodes have clocks of their own."""

AUDIT_FILTERS: tuple[ListFilter[str], ...] = (
    ListFilter("day_from", FilterType.DAY, "start", "From", "First day.", option="--from"),
    ListFilter("day_to", FilterType.DAY, "end", "To", "Last day, included.", option="--to"),
    ListFilter("changes", FilterType.FLAG, "only_changes", "Only changes", "Only what changed something: no looks, searches, tests and sign-ins."),
    ListFilter("person", FilterType.TEXT, "person", "Person", "Part of the name of a person, vendor or program."),
    ListFilter("id", FilterType.TEXT, "id", "Any id", "A claim by our number, the vendor's claim id or the payer's number; a payment, a file, a request id."),
    ListFilter("action", FilterType.TEXT, "action", "Action", "The beginning of an action, such as claim.read, or words of its sentence."),
)  # fmt: skip
"""The filters of the trail; their conditions are fields of :class:`AuditSearch`."""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One row of the trail, as a person reads it."""

    seq: int
    at: int
    vendor_id: int | None
    site_id: int | None
    actor: str
    action: str
    request_id: str
    ids: tuple[str, ...]
    count: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class AuditSearch:
    """Which rows are wanted; empty means all."""

    person: str = ""
    """Part of the actor."""
    id: str = ""
    """A claim, payment, file or other id that the row names, whole."""
    action: str = ""
    """The beginning of the action, such as ``claim``, or a part of its sentence."""
    claim_numbers: frozenset[str] = frozenset()
    """The claims that the id means beside itself: it may be the vendor's or the payer's."""
    start: int | None = None
    """From this time on."""
    end: int | None = None
    """Before this time."""
    only_changes: bool = False

    def matches(self, row: AuditRow) -> bool:
        """Return whether a row is wanted."""
        return (
            self.person.lower() in row.actor.lower()
            and self._has_action(row.action)
            and (not self.id or self._has_id(row))
            and (self.start is None or row.at >= self.start)
            and (self.end is None or row.at < self.end)
            and (not self.only_changes or is_change(row.action))
        )

    def _has_action(self, action: str) -> bool:
        return action.startswith(self.action) or self.action.lower() in audit_words(action).lower()

    def _has_id(self, row: AuditRow) -> bool:
        is_named = self.id in row.ids or self.id == row.request_id
        return is_named or not self.claim_numbers.isdisjoint(row.ids)

    def is_over(self, row: AuditRow) -> bool:
        """Return whether no row before this one is wanted, by its time."""
        return self.start is not None and row.at < self.start - ROW_TIMES_APART_MICROS_MAX


@dataclass(frozen=True, slots=True)
class AuditPage:
    """The rows that were found, newest first."""

    rows: list[AuditRow]
    next_before: int | None
    """Where the search goes on; None at the beginning of the trail."""


async def search_trail(
    database: Database, wanted: AuditSearch, *, before: int, limit: int
) -> AuditPage:
    """Return matching rows older than ``before``; the search ends early after ROWS_SEARCHED_MAX rows."""
    found: list[AuditRow] = []
    async with database.read(TRAIL) as tx:
        of_request = bool(wanted.id) and await tx.row(
            _OF_REQUEST, id=wanted.id, before=NEWEST, size=1
        )
        at, left = await _first_place(tx, wanted, before), ROWS_SEARCHED_MAX
    while left > 0:
        async with database.read(TRAIL) as tx:
            if of_request:
                read = await tx.rows(_OF_REQUEST, id=wanted.id, before=at, size=ROWS_AT_ONCE)
            else:
                read = await tx.rows(_OLDER, before=at, size=ROWS_AT_ONCE)
        rows = [_row(*row) for row in read]
        for row in rows:
            at = row.seq
            if wanted.matches(row):
                found.append(row)
                if len(found) == limit:
                    return AuditPage(found, at)
        if len(rows) < ROWS_AT_ONCE or wanted.is_over(rows[-1]):
            return AuditPage(found, None)
        left -= ROWS_AT_ONCE
    return AuditPage(found, at)


async def _first_place(tx: Tx, wanted: AuditSearch, before: int) -> int:
    """Return the number from which to walk back: rows from after the wanted time are not read."""
    if wanted.end is None:
        return before
    row = await tx.row(_LAST_BEFORE, end=wanted.end + ROW_TIMES_APART_MICROS_MAX)
    return min(before, row[0] + 1) if row else 0


async def trail_length(database: Database) -> int:
    """Return the number of the newest row."""
    async with database.read(TRAIL) as tx:
        row = await tx.row(_LENGTH)
    return int(row[0]) if row else 0


def _row(
    seq: int,
    at: int,
    vendor_id: int | None,
    site_id: int | None,
    actor: str,
    action: str,
    request_id: str,
    ids: str,
    count: int | None,
    detail: str,
) -> AuditRow:
    return AuditRow(
        seq, at, vendor_id, site_id, actor, action, request_id or "",
        tuple(map(str, json.loads(ids or "[]"))), count, detail or "",
    )  # fmt: skip


_COLUMNS = (
    "seq", "at", "vendor_id", "site_id", "actor", "action", "request_id", "ids", "count", "detail",
)  # fmt: skip
_OLDER = Statement(
    select(*(audit.c[name] for name in _COLUMNS))
    .where(audit.c.seq < bindparam("before", type_=BigInteger))
    .order_by(audit.c.seq.desc())
    .limit(bindparam("size", type_=BigInteger))
)
_OF_REQUEST = Statement(
    select(*(audit.c[name] for name in _COLUMNS))
    .where(
        audit.c.request_id == bindparam("id"),
        audit.c.request_id != "",
        audit.c.seq < bindparam("before", type_=BigInteger),
    )
    .order_by(audit.c.seq.desc())
    .limit(bindparam("size", type_=BigInteger))
)
_LAST_BEFORE = Statement(
    select(audit.c.seq)
    .where(audit.c.at < bindparam("end", type_=BigInteger))
    .order_by(audit.c.at.desc())
    .limit(1)
)
_LENGTH = Statement(
    select(audit_head.c.seq - audit_cut.c.seq).where(audit_head.c.id == 1, audit_cut.c.id == 1)
)
