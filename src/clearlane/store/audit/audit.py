"""Verify the audit chain and export it.

Knows the rows, the head and the anchor. Jobs decide what is written to the trail.
"""

import hmac
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from sqlalchemy import BigInteger, bindparam, select

from clearlane.store.audit.anchor import (
    Anchor,
    AnchorFault,
    AnchorNote,
    AnchorVerdict,
    compare,
    missing_sentence,
)
from clearlane.store.audit.audit_chain import COLUMNS, GENESIS, ChainHead, digest
from clearlane.store.audit.trail_cut import CutFault, TrailCut, TrailKeys, read_cut
from clearlane.store.database.database import Database, Row, SystemScope
from clearlane.store.database.group_commit import StatementFault
from clearlane.store.database.schema import RESTORE_ACTIONS, audit, audit_head
from clearlane.store.database.sql import Statement

AUDIT_PAGE_ROWS = 2_000
CALLS_SHOWN_MAX = 50

TRAIL = SystemScope("the audit trail belongs to the installation")
BEFORE_ALL = -(1 << 63)


@dataclass(frozen=True, slots=True)
class ChainVerification:
    """The result of a verification."""

    rows: int
    """The last good row. Those up to ``cut`` are not there."""
    fault: str = ""
    """What is wrong with the first bad row; empty for an intact chain."""
    seq: int | None = None
    """The number of the first bad row, if it is known."""
    anchored: int | None = None
    """The row in the anchor, None if this node has no anchor."""
    anchored_at: int | None = None
    """When the anchor was saved: rows that were written later may be missing without a trace."""
    cut: int = 0
    """The last of the old rows that were removed, as a signed record says; 0 if the first row is there."""
    cut_until: str = ""
    """When that row was written."""
    restores: tuple[int, ...] = ()
    """The rows that record that an older database took the place of this one."""


class _ChainFault(Exception):
    def __init__(self, seq: int | None, fault: str) -> None:
        super().__init__(fault)
        self.seq = seq


async def verify(
    database: Database,
    keys: TrailKeys,
    anchor: Anchor | None,
    progress: Callable[[int, int], None] | None = None,
) -> ChainVerification:
    """Walk the whole chain and name the first bad row. Without an anchor the chain alone is verified.

    The anchor is read first, and the head together with the last page: rows that are added
    during the walk are part of the chain, never a fault.
    """
    walk = _ChainWalk(keys.audit_key)
    noted: AnchorNote | None = None
    try:
        noted = await _anchored(database, anchor) if anchor else None
        walk.anchor = noted.head if noted else None
        full = True
        while full:
            rows, stated, full = await _page(database, walk, keys)
            for row in rows:
                walk.step(row)
            if progress is not None:
                progress(walk.head.seq, stated[0] if stated else 0)
        walk.end(stated)
    except _ChainFault as bad:
        return walk.result(noted, str(bad), bad.seq)
    return walk.result(noted)


async def _page(
    database: Database, walk: "_ChainWalk", keys: TrailKeys
) -> tuple[list[Row], Row | None, bool]:
    """Return the next rows with the head of the same moment, and whether more may follow.

    Rows that were removed before that moment are passed over if a signed record says so.

    A row the driver cannot even decode is found by reading one row at a time.
    """
    for size in (AUDIT_PAGE_ROWS, 1):
        try:
            async with database.read(TRAIL) as tx:
                walk.pass_over(await read_cut(tx, keys))
                rows = await tx.rows(_PAGE, after=walk.last_seen, size=size)
                return rows, await tx.row(_HEAD), len(rows) == size
        except StatementFault:
            continue
        except CutFault as fault:
            raise _ChainFault(1, str(fault)) from None
    raise _ChainFault(walk.head.seq + 1, f"Row {walk.head.seq + 1} was changed: it cannot be read.")


async def read_between(
    database: Database, start: int, end: int
) -> AsyncIterator[dict[str, int | str | bytes | None]]:
    """Yield the rows from one time (included) to another (not included), oldest first."""
    after = 0
    while True:
        async with database.read(TRAIL) as tx:
            rows = await tx.rows(_BETWEEN, after=after, start=start, end=end)
        for row in rows:
            yield dict(zip(COLUMNS, row, strict=True))
        if len(rows) < AUDIT_PAGE_ROWS:
            return
        after = rows[-1][0]


async def find_by_request(
    database: Database, request_id: str
) -> list[dict[str, int | str | bytes | None]]:
    """Return what the calls with a request id changed or read, newest first, at most one page.

    A caller may send the same request id with several calls.
    """
    async with database.read(TRAIL) as tx:
        rows = await tx.rows(_OF_REQUEST, request_id=request_id)
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


async def read_head(database: Database) -> ChainHead:
    """Return the head of the chain as the database has it."""
    async with database.read(TRAIL) as tx:
        found = await tx.row(_HEAD)
    return ChainHead(*found) if found else ChainHead(0, GENESIS)


class _ChainWalk:
    """One pass over the chain."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.head = ChainHead(0, GENESIS)
        self.last_seen = BEFORE_ALL
        self.anchor: ChainHead | None = None
        self._cut: TrailCut | None = None
        self._restores: list[int] = []

    def pass_over(self, cut: TrailCut | None) -> None:
        """Go on behind the rows that were removed; while one walks, more may go."""
        if cut is not None and cut.seq > self.head.seq:
            self.head, self._cut = cut.head, cut

    def result(
        self, noted: AnchorNote | None, fault: str = "", seq: int | None = None
    ) -> ChainVerification:
        """Return the result, with what the anchor holds."""
        return ChainVerification(
            self.head.seq,
            fault,
            seq,
            noted.head.seq if noted else None,
            noted.at if noted else None,
            self._cut.seq if self._cut else 0,
            self._cut.until if self._cut else "",
            tuple(self._restores),
        )

    def step(self, row: Row) -> None:
        """Check the next row."""
        expected = self.head.seq + 1
        try:
            self._check(row, expected)
        except TypeError:  # SQLite keeps any type in any column
            raise _ChainFault(expected, f"Row {expected} was changed.") from None
        self.head, self.last_seen = ChainHead(row[0], row[11]), row[0]
        if row[5] in RESTORE_ACTIONS:
            self._restores.append(row[0])

    def _check(self, row: Row, expected: int) -> None:
        seq, prev, hash = row[0], row[10], row[11]
        if seq < expected:
            raise _ChainFault(seq, f"Row {seq} was put before the first row.")
        if seq > expected:
            raise _ChainFault(
                expected, f"Row {expected} is missing: it was deleted, or row {seq} was moved."
            )
        if not hmac.compare_digest(digest(self._key, row), hash):
            raise _ChainFault(
                seq, f"Row {seq} was changed, put in, or moved here from another place."
            )
        if prev != self.head.hash:
            raise _ChainFault(seq, f"Row {seq} does not follow row {seq - 1}.")
        if self.anchor is not None and self.anchor.seq == seq and self.anchor.hash != hash:
            raise _ChainFault(
                seq, f"Row {seq} is not the one the anchor remembers: the chain was rewritten."
            )

    def end(self, found: Row | None) -> None:
        """Check where the chain ends."""
        following = self.head.seq + 1
        if found is None:
            raise _ChainFault(None, "The head of the chain is missing.")
        stated = ChainHead(*found)
        if stated.seq > self.head.seq:
            raise _ChainFault(following, f"Row {following} is missing: the tail was cut.")
        if self.anchor is not None and self.anchor.seq > self.head.seq:
            raise _ChainFault(
                following,
                f"Row {following} is missing: the tail was cut. The anchor remembers row {self.anchor.seq}.",
            )
        if stated.seq < self.head.seq:
            raise _ChainFault(stated.seq + 1, f"Row {stated.seq + 1} was added behind the head.")
        if stated.hash != self.head.hash:
            raise _ChainFault(self.head.seq, f"The head does not match row {self.head.seq}.")


async def _anchored(database: Database, anchor: Anchor) -> AnchorNote | None:
    """Return what the anchor holds; None if there is none yet, or a restore came after it."""
    try:
        async with database.read(TRAIL) as tx:
            verdict, note = await compare(tx, anchor, shared=database.dialect == "postgresql")
    except AnchorFault as broken:
        raise _ChainFault(None, str(broken)) from None
    if verdict is AnchorVerdict.MISSING:
        raise _ChainFault(None, missing_sentence(anchor))
    return None if verdict is AnchorVerdict.RESTORED else note


_HEAD = Statement(select(audit_head.c.seq, audit_head.c.hash).where(audit_head.c.id == 1))
_ROW = select(*(audit.c[name] for name in COLUMNS)).order_by(audit.c.seq)
_OF_REQUEST = Statement(
    select(*(audit.c[name] for name in COLUMNS))
    .where(audit.c.request_id == bindparam("request_id"), audit.c.request_id != "")
    .order_by(audit.c.seq.desc())
    .limit(CALLS_SHOWN_MAX)
)
_PAGE = Statement(
    _ROW.where(audit.c.seq > bindparam("after")).limit(bindparam("size", type_=BigInteger))
)
_BETWEEN = Statement(
    _ROW.where(
        audit.c.seq > bindparam("after"),
        audit.c.at >= bindparam("start"),
        audit.c.at < bindparam("end"),
    ).limit(AUDIT_PAGE_ROWS)
)
