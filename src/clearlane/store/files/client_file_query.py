"""List the files of sites by any of the filters of one table, page by page.

    query = ClientFileQuery(where={"direction": "out", "type": "835"}, limit=51)
    files = await find_page(tx, query)

v1, the console, the CLI and the SFTP server list files with this. A new filter is a row of
``kernel/client_file.CLIENT_FILE_FILTERS`` and a condition here. Files that are not finished or hidden are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache

from sqlalchemy import ColumnElement, bindparam

from clearlane.kernel.client_file import CLIENT_FILE_FILTERS
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import client_files
from clearlane.store.database.sql import Statement, inlined, scoped_select, select_as
from clearlane.store.files.client_files import IS_LISTED, ClientFile

STATEMENTS_KEPT_MAX = 256
AFTER = "after"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFileQuery:
    """A list of files, the newest first."""

    where: Mapping[str, object] = field(default_factory=dict)
    """Filters, all of which hold: names of :data:`CLIENT_FILE_FILTERS` with their values. None and False are left out."""
    after: str | None = None
    """The last file of the page before."""
    limit: int
    oldest_first: bool = False
    """For those who fetch files in the order in which they came."""


async def find_page(tx: Tx, query: ClientFileQuery) -> list[ClientFile]:
    """Return a page of files in the transaction's scope: a site, or sites of a vendor."""
    given = {
        _CONDITION_OF[name]: value
        for name, value in query.where.items()
        if value not in (None, False)
    }
    values = {
        name: str(value) if isinstance(value, date) else value
        for name, value in given.items()
        if value is not True
    }
    if query.after is not None:
        values[AFTER] = query.after
    statement = _list(frozenset({*given, *values}), query.oldest_first)
    return await list_rows(tx, ClientFile, statement, **values, limit=query.limit)


@lru_cache(maxsize=STATEMENTS_KEPT_MAX)
def _list(names: frozenset[str], oldest_first: bool) -> Statement:  # noqa: FBT001  (a key of the cache)
    id = client_files.c.file_id
    conditions = [_CONDITIONS[name] for name in sorted(names - {AFTER})]
    if AFTER in names:
        conditions.append(id > bindparam(AFTER) if oldest_first else id < bindparam(AFTER))
    core = select_as(client_files, ClientFile).where(IS_LISTED, *conditions)
    ordered = core.order_by(id if oldest_first else id.desc())
    return scoped_select(ordered.limit(bindparam("limit")), client_files)


_F = client_files.c
_CONDITIONS: Mapping[str, ColumnElement[bool]] = {
    **{name: _F[name] == bindparam(name) for name in ("direction", "state", "type", "name")},
    "received_day_from": _F.received_day >= bindparam("received_day_from"),
    "received_day_to": _F.received_day <= bindparam("received_day_to"),
    "answers": (_F.answers == bindparam("answers")) & (_F.answers != inlined("")),
    "not_fetched": _F.fetched_at.is_(None),
    "shadow": _F.is_shadow == inlined(1),
}
_CONDITION_OF = {one.name: one.condition for one in CLIENT_FILE_FILTERS}
