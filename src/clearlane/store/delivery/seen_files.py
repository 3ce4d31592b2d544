"""Files as they were last seen in the mailboxes of payers, so that the next visit knows whether they changed.

Any node may make the next visit, so what was seen is stored. Knows no connection and no format.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import BigInteger, SmallInteger, bindparam, delete, func, update

from clearlane.store.database.database import Tx
from clearlane.store.database.schema import seen_files
from clearlane.store.database.sql import Statement, among, insert_into, select_as

RouteKey = tuple[str, str, int]
"""Type of claims, payer and route."""


class SeenFile(NamedTuple):
    """A file in a mailbox as it was last seen."""

    name: str
    bytes: int
    modified_nanos: int
    """By the clock of the machine that stores it; 0 if that is not known."""
    first_seen_at: int
    """Since when it was seen with this size and time, by our clock."""
    inbox_id: int | None = None
    """The inbox file with this content; None before it is stored."""
    earlier_inbox_id: int | None = None
    """The inbox file with what it held before it changed."""
    unfinished: int = 0
    """Whether what was stored lacks the end of an interchange."""


class StoredFile(NamedTuple):
    """A file of a mailbox whose content was stored."""

    file: SeenFile
    inbox_id: int
    unfinished: bool


async def list_seen(tx: Tx, route: RouteKey) -> dict[str, SeenFile]:
    """Return the files of a route as they were last seen, by name."""
    return {row[0]: SeenFile(*row) for row in await tx.rows(_LIST, **_of(route))}


async def record_seen(tx: Tx, route: RouteKey, files: Sequence[SeenFile]) -> None:
    """Record files that are new or have changed. What was stored of one before stays known as its earlier content."""
    type, payer_id, route_id = route
    key = {"type": type, "payer_id": payer_id, "route_id": route_id}
    # In the order of names, so that two nodes that record the same files cannot deadlock.
    ordered = sorted(files)
    values = [{**key, **file._asdict(), "inbox_id": None, "unfinished": 0} for file in ordered]
    if values:
        await tx.many(_RECORD, values)


async def record_stored(tx: Tx, route: RouteKey, files: Sequence[StoredFile]) -> None:
    """Record which inbox files have the content of files, unless they were seen changed since."""
    await tx.many(
        _STORED,
        [
            {
                **_of(route),
                "of_name": one.file.name,
                "of_bytes": one.file.bytes,
                "of_modified": one.file.modified_nanos,
                "to_inbox": one.inbox_id,
                "to_unfinished": int(one.unfinished),
            }
            for one in sorted(files, key=lambda one: one.file.name)
        ],
    )


async def forget(tx: Tx, route: RouteKey, names: Sequence[str]) -> None:
    """Forget files that are no longer in the mailbox."""
    if names:
        await tx.run(_FORGET, **_of(route), names=sorted(names))


def _of(route: RouteKey) -> dict[str, object]:
    return dict(zip(("of_type", "of_payer", "of_route"), route, strict=True))


_THIS_ROUTE = (
    (seen_files.c.type == bindparam("of_type"))
    & (seen_files.c.payer_id == bindparam("of_payer"))
    & (seen_files.c.route_id == bindparam("of_route"))
)
_LIST = Statement(select_as(seen_files, SeenFile).where(_THIS_ROUTE))
_NEW = insert_into(seen_files, "type", "payer_id", "route_id", *SeenFile._fields)
_RECORD = Statement(
    _NEW.on_conflict_do_update(
        index_elements=["type", "payer_id", "route_id", "name"],
        set_={
            "bytes": _NEW.excluded.bytes,
            "modified_nanos": _NEW.excluded.modified_nanos,
            "first_seen_at": _NEW.excluded.first_seen_at,
            "inbox_id": None,
            "earlier_inbox_id": func.coalesce(seen_files.c.inbox_id, seen_files.c.earlier_inbox_id),
            "unfinished": 0,
        },
    )
)
_STORED = Statement(
    update(seen_files)
    .where(
        _THIS_ROUTE,
        seen_files.c.name == bindparam("of_name"),
        seen_files.c.bytes == bindparam("of_bytes", type_=BigInteger),
        seen_files.c.modified_nanos == bindparam("of_modified", type_=BigInteger),
    )
    .values(
        inbox_id=bindparam("to_inbox", type_=BigInteger),
        unfinished=bindparam("to_unfinished", type_=SmallInteger),
    )
)
_FORGET = Statement(delete(seen_files).where(_THIS_ROUTE, among(seen_files.c.name, "names")))
