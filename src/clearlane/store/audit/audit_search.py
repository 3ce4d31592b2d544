"""Search the audit trail: by person, by claim or other id, by action, newest first.

The trail has no index but its order, so a search walks back from the newest row, and stops after
:data:`ROWS_SEARCHED_MAX` of them: the answer says how far it came. Knows no page.
"""

import json
from dataclasses import dataclass

from sqlalchemy import BigInteger, bindparam, select

from clearlane.store.audit.audit import TRAIL
from clearlane.store.database.database import Database
from clearlane.store.database.schema import audit, audit_head
from clearlane.store.database.sql import Statement

ROWS_AT_ONCE = 2_000
ROWS_SEARCHED_MAX = 40_000
NEWEST = (1 << 62) - 1


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
    """The beginning of the action, such as ``claim``."""

    def matches(self, row: AuditRow) -> bool:
        """Return whether a row is wanted."""
        return (
            self.person.lower() in row.actor.lower()
            and row.action.startswith(self.action)
            and (not self.id or self.id in row.ids or self.id == row.request_id)
        )


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
    at, left = before, ROWS_SEARCHED_MAX
    while left > 0:
        async with database.read(TRAIL) as tx:
            rows = [_row(*row) for row in await tx.rows(_OLDER, before=at, size=ROWS_AT_ONCE)]
        for row in rows:
            at = row.seq
            if wanted.matches(row):
                found.append(row)
                if len(found) == limit:
                    return AuditPage(found, at)
        if len(rows) < ROWS_AT_ONCE:
            return AuditPage(found, None)
        left -= ROWS_AT_ONCE
    return AuditPage(found, at)


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
_LENGTH = Statement(select(audit_head.c.seq).where(audit_head.c.id == 1))
