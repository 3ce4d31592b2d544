"""Transaction sets of the files that sites send, and the claims that came in them.

A set is accepted or rejected as a whole. Its row has the sender's control numbers and ids, sealed, in which everything
about its claims goes back. Knows no X12.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, select

from clearlane.kernel.client_file import FileState, set_words
from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import SystemScope, Tx, find_row, list_rows
from clearlane.store.database.schema import (
    STATES_WITH_ERRORS,
    claims,
    client_file_sets,
    client_files,
    file_claims,
)
from clearlane.store.database.sql import (
    Statement,
    among,
    inlined,
    scoped_insert,
    scoped_select,
    scoped_update,
    select_as,
)

TABLE = "client_file_sets"
SCOPE = SystemScope("sets of all sites wait to be released")


@shows("set_id", "state")
class FileSet(NamedTuple):
    """A set of claims. ``payload`` is sealed for its id."""

    set_id: str
    file_id: str
    interchange: int
    group_number: int
    position: int
    type: str
    state: str
    claims: int
    accepted: int
    not_accepted: int
    reason: str
    """Why it was not accepted, for people; nothing of what it holds."""
    created_at: int
    released: int
    interchange_key: int
    """Keyed hash of the sender and the control number of its interchange."""
    payload: bytes
    is_shadow: int = 0

    @property
    def words(self) -> str:
        """Its place in its file."""
        return set_words(self.interchange, self.group_number, self.position)


class SetClaim(NamedTuple):
    """A claim of a file: the set that it came in, and its position there."""

    claim_number: str
    set_id: str
    position: int


class UnreleasedSet(NamedTuple):
    """A set of which claims wait to be released."""

    vendor_id: int
    site_id: int
    set_id: str
    file_id: str


async def add(tx: Tx, sets: Sequence[FileSet]) -> None:
    """Add the sets of a file."""
    if sets:
        await tx.many(_ADD, [one._asdict() for one in sets])


async def list_sets(tx: Tx, file_id: str) -> list[FileSet]:
    """Return the sets of a file, in its order."""
    return await list_rows(tx, FileSet, _OF_FILE, file=file_id)


async def find_sets(tx: Tx, set_ids: Sequence[str]) -> dict[str, FileSet]:
    """Return sets by their ids."""
    return {one.set_id: one for one in await list_rows(tx, FileSet, _SOME, sets=list(set_ids))}


async def find_latest(tx: Tx) -> FileSet | None:
    """Return the last set of the scope's site that was not rejected and came in no shadow file; None if there is none."""
    return await find_row(tx, FileSet, _LATEST)


async def find_interchanges(tx: Tx, keys: Sequence[int]) -> set[int]:
    """Return those of these keys under which an interchange of the site came before."""
    return {int(key) for (key,) in await tx.rows(_INTERCHANGES, keys=list(keys))}


async def find_claims(tx: Tx, claim_numbers: Sequence[str]) -> dict[str, SetClaim]:
    """Return the places of those of these claims that came in files, by their numbers."""
    rows = await list_rows(tx, SetClaim, _OF_CLAIMS, claim_numbers=list(claim_numbers))
    return {one.claim_number: one for one in rows}


async def list_claims(
    tx: Tx, set_id: str, *, after: int, limit: int, not_accepted: bool = False
) -> list[SetClaim]:
    """Return the released claims of a set after a position, in its order; all, or those that were not accepted."""
    statement = _NOT_ACCEPTED_OF_SET if not_accepted else _OF_SET
    return await list_rows(tx, SetClaim, statement, set=set_id, after=after, limit=limit)


async def find_filled(tx: Tx, set_ids: Sequence[str], *, not_accepted: bool = False) -> set[str]:
    """Return those of these sets that have released claims; with ``not_accepted``, claims that were not accepted."""
    statement = _WITH_NOT_ACCEPTED if not_accepted else _WITH_CLAIMS
    return {str(set_id) for (set_id,) in await tx.rows(statement, sets=list(set_ids))}


async def add_claims(tx: Tx, new: Sequence[SetClaim]) -> None:
    """Add the places of claims that are released."""
    if new:
        await tx.many(_ADD_CLAIM, [one._asdict() for one in new])


async def lock_unreleased(tx: Tx, set_id: str) -> FileSet | None:
    """Return a set and lock it until the transaction ends; None if all its claims are released."""
    return await find_row(tx, FileSet, _LOCK, set=set_id)


async def mark_released(tx: Tx, set_id: str) -> None:
    """Record that all claims of a set are released."""
    await tx.run(_RELEASED, set=set_id)


async def list_unreleased(tx: Tx, limit: int) -> list[UnreleasedSet]:
    """Return sets of all sites of which claims wait to be released, oldest first."""
    return await list_rows(tx, UnreleasedSet, _UNRELEASED, limit=limit)


async def has_unreleased(tx: Tx, last_day: str) -> bool:
    """Return whether claims of a file of the scope that came until a day, in the time zone of its site, wait to be released."""
    return await tx.row(_UNRELEASED_UNTIL, day=last_day) is not None


async def list_unreleased_of_site(tx: Tx) -> list[str]:
    """Return the sets of the scope's site of which claims wait to be released, oldest first."""
    return [str(set_id) for (set_id,) in await tx.rows(_UNRELEASED_OF_SITE)]


_S, _C = client_file_sets.c, file_claims.c
_COLUMNS = select_as(client_file_sets, FileSet)
_THIS = _S.set_id == bindparam("set")
# Part of the SQL text: a partial index serves no statement with a placeholder.
_IS_UNRELEASED = _S.released == inlined(0)
_ADD = scoped_insert(client_file_sets, *FileSet._fields)
_OF_FILE = scoped_select(
    _COLUMNS.where(_S.file_id == bindparam("file")).order_by(
        _S.interchange, _S.group_number, _S.position
    ),
    client_file_sets,
)
_SOME = scoped_select(_COLUMNS.where(among(_S.set_id, "sets")), client_file_sets)
# Ids of files sort by their time.
_LATEST = scoped_select(
    _COLUMNS.where(_S.state != FileState.REJECTED.value, _S.is_shadow == 0)
    .order_by(_S.file_id.desc(), _S.interchange.desc())
    .limit(1),
    client_file_sets,
)
_INTERCHANGES = scoped_select(
    select(_S.interchange_key).where(among(_S.interchange_key, "keys")).distinct(),
    client_file_sets,
)
_OF_CLAIMS = scoped_select(
    select_as(file_claims, SetClaim).where(among(_C.claim_number, "claim_numbers")), file_claims
)
_OF_SET_AFTER = (
    select_as(file_claims, SetClaim)
    .where(_C.set_id == bindparam("set"), _C.position > bindparam("after"))
    .order_by(_C.position)
    .limit(bindparam("limit"))
)
_OF_SET = scoped_select(_OF_SET_AFTER, file_claims)
_OF_SETS = select(_C.set_id).where(among(_C.set_id, "sets")).distinct()
_WITH_CLAIMS = scoped_select(_OF_SETS, file_claims)
_NOT_ACCEPTED_OF_SET, _WITH_NOT_ACCEPTED = (
    scoped_select(
        core.join_from(file_claims, claims, claims.c.claim_number == _C.claim_number).where(
            claims.c.state.in_([inlined(one) for one in STATES_WITH_ERRORS])
        ),
        file_claims,
        claims,
    )
    for core in (_OF_SET_AFTER, _OF_SETS)
)
_ADD_CLAIM = scoped_insert(file_claims, *SetClaim._fields)
_LOCK = scoped_select(_COLUMNS.where(_THIS, _IS_UNRELEASED).with_for_update(), client_file_sets)
_RELEASED = scoped_update(client_file_sets, _THIS, released=1)
_UNRELEASED_OF_SITE = scoped_select(
    select(_S.set_id).where(_IS_UNRELEASED).order_by(_S.created_at, _S.set_id), client_file_sets
)
_UNRELEASED_UNTIL = scoped_select(
    select(_S.set_id)
    .join_from(client_file_sets, client_files, client_files.c.file_id == _S.file_id)
    .where(_IS_UNRELEASED, client_files.c.received_day <= bindparam("day"))
    .limit(1),
    client_file_sets,
    client_files,
)
_UNRELEASED = Statement(
    select(_S.vendor_id, _S.site_id, _S.set_id, _S.file_id)
    .where(_IS_UNRELEASED)
    .order_by(_S.created_at, _S.set_id)
    .limit(bindparam("limit")),
    system=True,
)
