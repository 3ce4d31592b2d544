"""Claims of shadow files: what would have been sent of them, and what another clearinghouse or its payers said.

The claims themselves are rows of the table of claims, which says that they are never sent. Knows no X12.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlalchemy import BigInteger, bindparam, delete, exists, select

from clearlane.kernel.client_file import FileState
from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import (
    claims,
    client_file_sets,
    file_claims,
    shadow_answers,
    shadow_claims,
)
from clearlane.store.database.sql import (
    Statement,
    among,
    inlined,
    scoped_insert,
    scoped_select,
    select_as,
)
from clearlane.store.files.file_sets import FileSet
from clearlane.store.retention.legal_holds import site_not_held

TABLE = "shadow_claims"


class ShadowX12(NamedTuple):
    """What would have been sent of a claim. ``x12`` is sealed for its claim number."""

    claim_number: str
    x12: bytes


@shows("claim_number")
class ShadowCandidate(NamedTuple):
    """A claim of a shadow file, as statements of others are matched with it. ``header`` and ``payload`` are sealed."""

    claim_number: str
    form: str
    account_key: int
    header: bytes
    payload: bytes
    set_id: str


class ShadowStatement(NamedTuple):
    """A statement about a claim of a shadow file, or about a set of one. Codes only."""

    file_id: str
    """The imported file."""
    position: int
    """Its place among the statements of that file."""
    subject_id: str
    """The claim's number, or the id of a set that was rejected as a whole."""
    type: str
    verdict: str
    codes: str
    day: str
    created_at: int


async def add_x12(tx: Tx, new: Sequence[ShadowX12]) -> None:
    """Keep what would have been sent of claims."""
    if new:
        await tx.many(_ADD_X12, [one._asdict() for one in new])


async def find_x12(tx: Tx, claim_numbers: Collection[str]) -> dict[str, bytes]:
    """Return what would have been sent of claims, sealed, by their numbers."""
    rows = await list_rows(tx, ShadowX12, _X12, claim_numbers=sorted(claim_numbers))
    return {one.claim_number: one.x12 for one in rows}


async def list_candidates(tx: Tx, accounts: Collection[int]) -> list[ShadowCandidate]:
    """Return the claims of shadow files with these account numbers, given as keyed hashes."""
    if not accounts:
        return []
    return await list_rows(tx, ShadowCandidate, _CANDIDATES, accounts=sorted(accounts))


async def list_sets(tx: Tx) -> list[FileSet]:
    """Return the sets of the site's shadow files, newest first."""
    return await list_rows(tx, FileSet, _SETS)


async def list_rejected_sets(
    tx: Tx, types: Collection[str], *, after: str = "", limit: int
) -> list[FileSet]:
    """Return the sets of some types in the site's shadow files that were rejected, oldest first."""
    return await list_rows(
        tx, FileSet, _REJECTED_SETS, types=sorted(types), after=after, limit=limit
    )


async def find_with_claims(tx: Tx, set_ids: Collection[str]) -> set[str]:
    """Return those of these sets whose claims are stored: they were judged one by one."""
    if not set_ids:
        return set()
    return {str(set_id) for (set_id,) in await tx.rows(_WITH_CLAIMS, sets=sorted(set_ids))}


async def add_statements(tx: Tx, new: Sequence[ShadowStatement]) -> None:
    """Add statements about claims of shadow files."""
    if new:
        await tx.many(_ADD_STATEMENT, [one._asdict() for one in new])


async def list_statements(tx: Tx, subject_ids: Collection[str]) -> dict[str, list[ShadowStatement]]:
    """Return the statements about claims and sets, by these, in the order in which they came."""
    found: dict[str, list[ShadowStatement]] = {}
    if subject_ids:
        rows = await list_rows(tx, ShadowStatement, _STATEMENTS, subject_ids=sorted(subject_ids))
        for one in rows:
            found.setdefault(one.subject_id, []).append(one)
    return found


async def purge_sets(tx: Tx, vendor_id: int, before: int, limit: int) -> list[str]:
    """Remove sets of a vendor's shadow files that came before a time and have no claims any more; return their ids."""
    rows = await tx.rows(_OLD_SETS, vendor=vendor_id, before=before, limit=limit)
    ids = [str(set_id) for (set_id,) in rows]
    if ids:
        await tx.run(_PURGE_STATEMENTS, sets=ids)
        await tx.run(_PURGE_SETS, sets=ids)
    return ids


_X, _A = shadow_claims.c, shadow_answers.c
_S = client_file_sets.c
_OLD_SETS = Statement(
    select(_S.set_id)
    .where(
        _S.is_shadow == inlined(1),
        _S.vendor_id == bindparam("vendor", type_=BigInteger),
        _S.created_at < bindparam("before", type_=BigInteger),
        site_not_held(client_file_sets),
        _S.released == 1,
        ~exists().where(
            file_claims.c.vendor_id == _S.vendor_id,
            file_claims.c.site_id == _S.site_id,
            file_claims.c.set_id == _S.set_id,
        ),
    )
    .limit(bindparam("limit")),
    system=True,
)
_PURGE_STATEMENTS = Statement(
    delete(shadow_answers).where(among(_A.subject_id, "sets")), system=True
)
_PURGE_SETS = Statement(delete(client_file_sets).where(among(_S.set_id, "sets")), system=True)
_ADD_X12 = scoped_insert(shadow_claims, *ShadowX12._fields)
_X12 = scoped_select(
    select_as(shadow_claims, ShadowX12).where(among(_X.claim_number, "claim_numbers")),
    shadow_claims,
)
_OF_CLAIM = ("claim_number", "form", "account_key", "header", "payload")
_CANDIDATES = scoped_select(
    select(*(claims.c[name] for name in _OF_CLAIM), file_claims.c.set_id)
    .join_from(claims, file_claims, file_claims.c.claim_number == claims.c.claim_number)
    .where(among(claims.c.account_key, "accounts"), claims.c.is_shadow == inlined(1)),
    claims,
    file_claims,
)
_SETS = scoped_select(
    select_as(client_file_sets, FileSet)
    .where(client_file_sets.c.is_shadow == inlined(1))
    .order_by(client_file_sets.c.file_id.desc(), client_file_sets.c.position),
    client_file_sets,
)
_REJECTED_SETS = scoped_select(
    select_as(client_file_sets, FileSet)
    .where(
        _S.is_shadow == inlined(1),
        _S.state == FileState.REJECTED.value,
        _S.claims > 0,
        among(_S.type, "types"),
        _S.set_id > bindparam("after"),
    )
    .order_by(_S.set_id)
    .limit(bindparam("limit")),
    client_file_sets,
)
_WITH_CLAIMS = scoped_select(
    select(file_claims.c.set_id).where(among(file_claims.c.set_id, "sets")).distinct(), file_claims
)
_ADD_STATEMENT = scoped_insert(shadow_answers, *ShadowStatement._fields, ignore_conflict=True)
_STATEMENTS = scoped_select(
    select_as(shadow_answers, ShadowStatement)
    .where(among(_A.subject_id, "subject_ids"))
    .order_by(_A.file_id, _A.position),
    shadow_answers,
)
