"""The status list: the statuses of a site's claims, by day and request id.

Pages continue from the last row (keyset pagination), so the list costs the same at its start and at its end.
Knows no field.
"""

from typing import NamedTuple

from sqlalchemy import bindparam, select, tuple_

from clearlane.store.claims.claims import NOT_ACCEPTED
from clearlane.store.database.database import Tx
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import scoped_select

STATUS_COLUMN = "claims.status"
"""What a claim status is sealed for, beside the claim's request id."""


class StatusListRow(NamedTuple):
    """A claim in the list. ``status`` is sealed."""

    day: str
    claim_number: str
    status: bytes


async def read_page(
    tx: Tx, first: str, last: str, after: tuple[str, str], limit: int
) -> list[StatusListRow]:
    """Return the next claims of these days after a position in the list; ``("", "")`` is its start."""
    day, claim_number = after
    rows = await tx.rows(
        _PAGE, first=max(first, day), last=last, day=day, claim_number=claim_number, limit=limit
    )
    return [StatusListRow(*row) for row in rows]


_PAGE = scoped_select(
    select(claims.c.created_day, claims.c.claim_number, claims.c.status)
    .where(
        # The first of the two conditions on days lets every database start at the right place of the index.
        claims.c.created_day >= bindparam("first"),
        claims.c.created_day <= bindparam("last"),
        tuple_(claims.c.created_day, claims.c.claim_number)
        > tuple_(bindparam("day"), bindparam("claim_number")),
        claims.c.state != NOT_ACCEPTED,
    )
    .order_by(claims.c.created_day, claims.c.claim_number)
    .limit(bindparam("limit")),
    claims,
)
