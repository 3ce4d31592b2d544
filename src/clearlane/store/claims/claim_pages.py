"""Read the claims of all clients in the order of their numbers, a page at a time: for work that goes through a year of them."""

from typing import NamedTuple

from sqlalchemy import Integer, bindparam, func, select

from clearlane.kernel.redacted_repr import shows
from clearlane.store.claims.claims import IS_NOT_SUPERSEDED, IS_REAL
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement, select_as


@shows("claim_number")
class PageClaim(NamedTuple):
    """A claim of a page. ``payload`` is sealed."""

    claim_number: str
    vendor_id: int
    site_id: int
    kind: str
    form: str
    state: str
    payer_id: str
    payload: bytes


async def list_page(tx: Tx, *, after: str, before: str, limit: int) -> list[PageClaim]:
    """Return the next claims whose numbers are between two, without those that another superseded and those of shadow files."""
    return await list_rows(tx, PageClaim, _PAGE, after=after, before=before, limit=limit)


async def count_between(tx: Tx, *, after: str, before: str) -> int:
    """Return how many claims are on these pages."""
    row = await tx.row(_COUNT, after=after, before=before)
    return int(row[0]) if row else 0


_BETWEEN = (
    IS_NOT_SUPERSEDED,
    IS_REAL,
    claims.c.claim_number > bindparam("after"),
    claims.c.claim_number < bindparam("before"),
)
_PAGE = Statement(
    select_as(claims, PageClaim)
    .where(*_BETWEEN)
    .order_by(claims.c.claim_number)
    .limit(bindparam("limit", type_=Integer)),
    system=True,
)
_COUNT = Statement(select(func.count()).select_from(claims).where(*_BETWEEN), system=True)
