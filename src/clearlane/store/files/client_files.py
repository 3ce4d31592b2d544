"""Files of sites: those that they send, and those that they fetch.

A file is created, gets its parts (``file_parts``), and is then finished (it came in) or published (it goes out) in one
transaction; before that no list shows it. One node at a time works on a file, under a lease. Knows no X12.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import BigInteger, Integer, bindparam, case, func, or_, select

from clearlane.kernel.client_file import FileDirection, FileState
from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import SystemScope, Tx, find_row, list_rows
from clearlane.store.database.schema import client_file_parts, client_files
from clearlane.store.database.sql import (
    Statement,
    among,
    inlined,
    scoped_delete,
    scoped_insert,
    scoped_select,
    scoped_update,
    select_as,
)

SCOPE = SystemScope("files of all sites wait to be processed")


class NewFile(NamedTuple):
    """A file whose parts follow."""

    file_id: str
    direction: str
    name: str
    channel: str
    created_at: int
    type: str = ""
    answers: str = ""
    """The file that it responds to."""
    set_id: str = ""
    note: str = ""
    is_shadow: int = 0
    """1 if its claims are judged and never sent."""


@shows("file_id", "direction", "type", "state")
class ClientFile(NamedTuple):
    """A stored file, without its content."""

    file_id: str
    site_id: int
    direction: str
    name: str
    channel: str
    type: str
    state: str
    bytes: int
    digest: str
    created_at: int
    received_at: int | None
    processed_at: int | None
    fetched_at: int | None
    hidden_at: int | None
    claims: int
    accepted: int
    not_accepted: int
    answers: str
    set_id: str
    note: str
    attempts: int
    is_shadow: int


class FileResult(NamedTuple):
    """What became of a file that came in."""

    state: str
    type: str = ""
    claims: int = 0
    accepted: int = 0
    not_accepted: int = 0
    note: str = ""


class WaitingFile(NamedTuple):
    """The first file of a site that waits to be processed."""

    vendor_id: int
    site_id: int
    file_id: str
    bytes: int
    lease_until: int | None
    place: int


async def create(tx: Tx, new: NewFile) -> None:
    """Create a file without parts, which no list shows."""
    await tx.run(_CREATE, **new._asdict(), **_EMPTY)


async def find(tx: Tx, file_id: str) -> ClientFile | None:
    """Return one file, also one that is hidden or not finished."""
    return await find_row(tx, ClientFile, _FIND, file=file_id)


async def find_by_name(tx: Tx, direction: str, name: str) -> ClientFile | None:
    """Return the newest listed file of a name."""
    return await find_row(tx, ClientFile, _BY_NAME, way=direction, called=name)


async def find_upload(tx: Tx, name: str) -> ClientFile | None:
    """Return the newest file that is being uploaded under a name and was not hidden."""
    return await find_row(tx, ClientFile, _UPLOAD, called=name)


async def find_newest_sent(tx: Tx, name: str) -> ClientFile | None:
    """Return the newest file that a sender knows under a name: one that is being uploaded, or one that was received."""
    return await find_row(tx, ClientFile, _NEWEST_SENT, called=name)


async def count_uploads(tx: Tx) -> int:
    """Return how many files are being uploaded."""
    return await find_row(tx, int, _COUNT_UPLOADS) or 0


async def find_same(tx: Tx, file: ClientFile) -> ClientFile | None:
    """Return the first processed file of the site with the same bytes, if it is not this one; for a shadow file among those."""
    return await find_row(
        tx, ClientFile, _SAME, same=file.digest, file=file.file_id, shadow=file.is_shadow
    )


async def list_responses(tx: Tx, file_id: str) -> list[ClientFile]:
    """Return the files that respond to a file, oldest first; also those that were hidden."""
    return await list_rows(tx, ClientFile, _RESPONSES, file=file_id)


async def find_by_keys(tx: Tx, response_keys: Sequence[str]) -> list[tuple[str, ClientFile]]:
    """Return the responses that were written under these keys, each with its key, oldest first."""
    rows = await tx.rows(_BY_KEYS, keys=list(response_keys))
    return [(row[-1], ClientFile(*row[:-1])) for row in rows]


async def list_keys(tx: Tx, answers: str, set_id: str) -> list[str]:
    """Return the keys of the responses to a set of a file."""
    return [
        str(key) for (key,) in await tx.rows(_KEYS_OF_SET, answers=answers, prefix=f"{set_id}:%")
    ]


async def was_written(tx: Tx, response_key: str, site: tuple[int, int]) -> bool:
    """Return whether a response was written under a key for a site, by vendor and site."""
    vendor, id = site
    found = await tx.row(_BY_KEY_OF_SITE, key=response_key, of_vendor=vendor, of_site=id)
    return found is not None


async def finish_upload(
    tx: Tx, file_id: str, *, name: str, digest: str, at: int, day: str, is_shadow: bool = False
) -> ClientFile | None:
    """Give a file that came in its final name, and let it be listed and processed; None if it is not being uploaded.

    ``is_shadow`` makes it a shadow file if it was not begun as one.
    """
    values = {"to_name": name, "to_digest": digest, "to_at": at, "to_day": day}
    done = await tx.run(_FINISH, file=file_id, **values, shadow=int(is_shadow))
    return await find(tx, file_id) if done else None


async def publish(
    tx: Tx, file_id: str, *, response_key: str, digest: str, at: int, day: str
) -> bool:
    """Let a file for a site be listed; False, with nothing changed, if one with this key was published before."""
    if await tx.row(_BY_KEY, key=response_key):
        return False
    return bool(
        await tx.run(
            _PUBLISH, file=file_id, to_key=response_key, to_digest=digest, to_at=at, to_day=day
        )
    )


async def set_note(tx: Tx, file_id: str, note: str) -> None:
    """Say in words what became of a file, after it was processed."""
    await tx.run(_SET_NOTE, file=file_id, to_note=note)


async def mark_fetched(tx: Tx, file_ids: Sequence[str], at: int) -> int:
    """Record the first time at which files were fetched; return how many were not fetched before."""
    return await tx.run(_FETCHED, files=list(file_ids), to_at=at)


async def hide(tx: Tx, file_id: str, at: int) -> bool:
    """Leave a file out of lists from now on; its content stays. False if it is hidden already."""
    return bool(await tx.run(_HIDE, file=file_id, to_at=at))


async def drop_upload(tx: Tx, file_id: str) -> bool:
    """Remove a file that is not finished, with its parts."""
    if await tx.row(_UNFINISHED, file=file_id) is None:
        return False
    await tx.run(_DROP_PARTS, file=file_id)
    return bool(await tx.run(_DROP, file=file_id))


# ---- work on files that came in ------------------------------------------------------------------


async def list_waiting(tx: Tx) -> list[WaitingFile]:
    """Return the file of each site that is to be processed next: the first that arrived."""
    return await list_rows(tx, WaitingFile, _WAITING)


async def has_waiting(tx: Tx, last_day: str) -> bool:
    """Return whether a file of the scope that came until a day, in the time zone of its site, waits to be processed."""
    return await tx.row(_WAITING_UNTIL, day=last_day) is not None


async def take_lease(tx: Tx, file_id: str, holder: str, *, now: int, until: int) -> bool:
    """Let one piece of work process a file for a while; False if another does, or it is processed.

    The same work may take it again, on another node if the first seems dead. Each time is an attempt of its own, and an
    earlier one has lost its lease, even if its node was only slow.
    """
    return bool(await tx.run(_TAKE, file=file_id, who=holder, now=now, to_until=until))


async def renew_lease(tx: Tx, file_id: str, attempt: int, *, until: int) -> bool:
    """Extend the lease of an attempt; False if a later one has taken it over, or the file is processed."""
    return bool(await tx.run(_RENEW, file=file_id, attempt=attempt, to_until=until))


async def record_result(tx: Tx, file_id: str, attempt: int, result: FileResult, *, at: int) -> bool:
    """Record what became of a file; False if a later attempt has taken it over, and then nothing is recorded."""
    values = {f"to_{name}": value for name, value in result._asdict().items()}
    return bool(await tx.run(_RESULT, file=file_id, attempt=attempt, to_at=at, **values))


_F = client_files.c
_EMPTY = {
    "state": FileState.UPLOADING.value,
    "bytes": 0,
    "digest": "",
    "claims": 0,
    "accepted": 0,
    "not_accepted": 0,
    "holder": "",
    "attempts": 0,
}
_CREATE = scoped_insert(client_files, *NewFile._fields, *_EMPTY)
_COLUMNS = select_as(client_files, ClientFile)
_THIS = _F.file_id == bindparam("file")
# Part of the SQL text: a partial index serves no statement with a placeholder.
IS_UPLOADING = _F.state == inlined(FileState.UPLOADING.value)
IS_LISTED = (_F.state != inlined(FileState.UPLOADING.value)) & _F.hidden_at.is_(None)
IS_WAITING = _F.state == inlined(FileState.RECEIVED.value)
_AT = bindparam("to_at", type_=BigInteger)

_FIND = scoped_select(_COLUMNS.where(_THIS), client_files)
_UNFINISHED = scoped_select(
    select(_F.file_id).where(_THIS, IS_UPLOADING).with_for_update(), client_files
)
_BY_NAME = scoped_select(
    _COLUMNS.where(_F.direction == bindparam("way"), _F.name == bindparam("called"), IS_LISTED)
    .order_by(_F.file_id.desc())
    .limit(1),
    client_files,
)
_IS_OPEN_UPLOAD = (_F.direction == FileDirection.IN.value) & IS_UPLOADING & _F.hidden_at.is_(None)
_UPLOAD = scoped_select(
    _COLUMNS.where(_F.name == bindparam("called"), _IS_OPEN_UPLOAD)
    .order_by(_F.file_id.desc())
    .limit(1),
    client_files,
)
_NEWEST_SENT = scoped_select(
    _COLUMNS.where(
        _F.direction == FileDirection.IN.value,
        _F.name == bindparam("called"),
        _F.hidden_at.is_(None),
    )
    .order_by(_F.file_id.desc())
    .limit(1),
    client_files,
)
_COUNT_UPLOADS = scoped_select(
    select(func.count()).select_from(client_files).where(_IS_OPEN_UPLOAD), client_files
)
_SAME = scoped_select(
    _COLUMNS.where(
        _F.digest == bindparam("same"),
        _F.is_shadow == bindparam("shadow"),
        _F.direction == FileDirection.IN.value,
        _F.processed_at.is_not(None),
        _F.file_id != bindparam("file"),
    )
    .order_by(_F.processed_at, _F.file_id)
    .limit(1),
    client_files,
)
_RESPONSES = scoped_select(
    _COLUMNS.where(
        _F.answers == bindparam("file"),
        _F.answers != inlined(""),
        _F.state != inlined(FileState.UPLOADING.value),
    ).order_by(_F.received_at, _F.file_id),
    client_files,
)
_BY_KEY = scoped_select(select(_F.file_id).where(_F.response_key == bindparam("key")), client_files)
_BY_KEY_OF_SITE = Statement(
    select(_F.file_id).where(
        _F.vendor_id == bindparam("of_vendor"),
        _F.site_id == bindparam("of_site"),
        _F.response_key == bindparam("key"),
    ),
    system=True,
)
_BY_KEYS = scoped_select(
    _COLUMNS.add_columns(_F.response_key)
    .where(among(_F.response_key, "keys"))
    .order_by(_F.file_id),
    client_files,
)
_KEYS_OF_SET = scoped_select(
    select(_F.response_key).where(
        _F.answers == bindparam("answers"), _F.response_key.like(bindparam("prefix"))
    ),
    client_files,
)
_FINISH = scoped_update(
    client_files,
    _THIS,
    IS_UPLOADING,
    _F.direction == FileDirection.IN.value,
    state=FileState.RECEIVED.value,
    name=bindparam("to_name"),
    digest=bindparam("to_digest"),
    received_at=_AT,
    received_day=bindparam("to_day"),
    is_shadow=case((_F.is_shadow == 1, 1), else_=bindparam("shadow", type_=Integer)),
)
_PUBLISH = scoped_update(
    client_files,
    _THIS,
    IS_UPLOADING,
    _F.direction == FileDirection.OUT.value,
    state=FileState.READY.value,
    response_key=bindparam("to_key"),
    digest=bindparam("to_digest"),
    received_at=_AT,
    received_day=bindparam("to_day"),
)
_SET_NOTE = scoped_update(client_files, _THIS, note=bindparam("to_note"))
_FETCHED = scoped_update(
    client_files, among(_F.file_id, "files"), _F.fetched_at.is_(None), fetched_at=_AT
)
_HIDE = scoped_update(client_files, _THIS, _F.hidden_at.is_(None), hidden_at=_AT)
_DROP_PARTS = scoped_delete(client_file_parts, client_file_parts.c.file_id == bindparam("file"))
_DROP = scoped_delete(client_files, _THIS, IS_UPLOADING)

_place = func.row_number().over(
    partition_by=(_F.vendor_id, _F.site_id), order_by=(_F.received_at, _F.file_id)
)
_queue = (
    select(_F.vendor_id, _F.site_id, _F.file_id, _F.bytes, _F.lease_until, _place.label("place"))
    .where(IS_WAITING)
    .subquery()
)
_WAITING = Statement(
    select(*(_queue.c[name] for name in WaitingFile._fields)).where(_queue.c.place == 1),
    system=True,
)
_WAITING_UNTIL = scoped_select(
    select(_F.file_id).where(IS_WAITING, _F.received_day <= bindparam("day")).limit(1), client_files
)
_HELD = (_THIS, IS_WAITING, _F.attempts == bindparam("attempt"))
_UNTIL = bindparam("to_until", type_=BigInteger)
_TAKE = scoped_update(
    client_files,
    _THIS,
    IS_WAITING,
    or_(
        _F.lease_until.is_(None),
        _F.lease_until < bindparam("now", type_=BigInteger),
        _F.holder == bindparam("who"),
    ),
    holder=bindparam("who"),
    lease_until=_UNTIL,
    attempts=_F.attempts + 1,
)
_RENEW = scoped_update(client_files, *_HELD, lease_until=_UNTIL)
_RESULT = scoped_update(
    client_files,
    *_HELD,
    holder="",
    lease_until=None,
    processed_at=_AT,
    **{name: bindparam(f"to_{name}") for name in FileResult._fields},
)
