"""List the files of payers, newest first, page by page: batches that went out and inbox files that came in.

    sent = await find_batches(tx, FileQuery(where={"payer": "TST01", "state": UNDELIVERED}, limit=51))
    received = await find_inbox_files(tx, FileQuery(before=sent[-1].id, limit=51))

The console and the CLI list files with this. A new filter is one row of :data:`FILE_FILTERS`. Files concern many clients,
so only operators see them. Knows no X12 and no connection.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from sqlalchemy import ColumnElement, Table, and_, bindparam, select

from clearlane.claims.batch_lifecycle import BatchState
from clearlane.kernel.list_filter import FilterType, ListFilter
from clearlane.payers.hops import HOP
from clearlane.payers.model import PAYER_TYPES
from clearlane.store.database.database import Row, Tx
from clearlane.store.database.schema import INBOX_STATES, batches, inbox
from clearlane.store.database.sql import Statement, among, inlined
from clearlane.store.delivery import batches as sent_files
from clearlane.store.delivery.batches import Batch
from clearlane.store.delivery.inbox import InboxFile

FileFilter = ListFilter[Callable[[Table], ColumnElement[bool]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileQuery:
    """A list of files, the newest first."""

    where: Mapping[str, object] = field(default_factory=dict)
    """Filters, all of which hold: names of :data:`FILE_FILTERS` with their values; ``state`` is one or several."""
    before: int | None = None
    """The last file of the page before."""
    limit: int


async def find_batches(tx: Tx, query: FileQuery) -> list[Batch]:
    """Return a page of batches."""
    return [sent_files.to_batch(*row) for row in await _rows(tx, batches, sent_files.NAMES, query)]


async def find_inbox_files(tx: Tx, query: FileQuery) -> list[InboxFile]:
    """Return a page of inbox files."""
    return [InboxFile(*row) for row in await _rows(tx, inbox, InboxFile._fields, query)]


async def _rows(tx: Tx, table: Table, columns: tuple[str, ...], query: FileQuery) -> Sequence[Row]:
    given = {name: value for name, value in query.where.items() if value is not None}
    if isinstance(given.get("state"), str):
        given["state"] = [given["state"]]
    if query.before is not None:
        given["before"] = query.before
    statement = _list(table, columns, frozenset(given))
    return await tx.rows(statement, **given, limit=query.limit)


@lru_cache
def _list(table: Table, columns: tuple[str, ...], names: frozenset[str]) -> Statement:
    conditions = [_CONDITIONS[name](table) for name in sorted(names)]
    core = select(*(table.c[name] for name in columns)).where(*conditions)
    return Statement(core.order_by(table.c.id.desc()).limit(bindparam("limit")))


def _filters(states: Sequence[str], types: tuple[str, ...]) -> tuple[FileFilter, ...]:
    return (
        FileFilter(
            "payer",
            FilterType.TEXT,
            lambda table: table.c.payer_id == bindparam("payer"),
            "Payer id",
            "The payer id.",
        ),
        FileFilter(
            "type",
            FilterType.CHOICE,
            lambda table: table.c.type == bindparam("type"),
            "Type of payer",
            "The type of the payer.",
            types,
        ),
        FileFilter(
            "state",
            FilterType.CHOICE,
            lambda table: among(table.c.state, "state"),
            "State",
            "The state of the file.",
            tuple(states),
        ),
    )


BATCH_FILTERS = _filters(tuple(BatchState), PAYER_TYPES)
INBOX_FILTERS = _filters(INBOX_STATES, (*PAYER_TYPES, HOP))
_CONDITIONS = {one.name: one.condition for one in BATCH_FILTERS} | {
    "before": lambda table: table.c.id < bindparam("before"),
    # Of batches alone; the second part lets the index serve it.
    "hop": lambda table: and_(table.c.hop == bindparam("hop"), table.c.hop != inlined("")),
}
