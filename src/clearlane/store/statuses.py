"""The status list: the ready rows of a site's claims, in the order of their days and numbers.

A page ends where the next begins, so the list costs the same at its start and at its end. Knows no field.
"""

from typing import NamedTuple

from sqlalchemy import bindparam, select, tuple_

from clearlane.store.claims import NOT_ACCEPTED
from clearlane.store.database import Tx
from clearlane.store.schema import claims
from clearlane.store.sql import Statement, mine

PLACE = "claims.status"
"""What a ready row is sealed for, beside the claim's number."""


class Listed(NamedTuple):
    """A claim in the list. ``status`` is sealed."""

    day: str
    request_id: str
    status: bytes | None
    """None for a claim that was stored before rows were kept."""


async def page(tx: Tx, first: str, last: str, after: tuple[str, str], most: int) -> list[Listed]:
    """The next claims of these days behind a place in the list; ``("", "")`` is its start."""
    day, request_id = after
    rows = await tx.rows(
        _PAGE, first=max(first, day), last=last, day=day, request_id=request_id, most=most
    )
    return [Listed(*row) for row in rows]


_PAGE = Statement(
    select(claims.c.created_day, claims.c.request_id, claims.c.status)
    .where(
        mine(claims),
        # The first of the two conditions on days lets every database start at the right place of the index.
        claims.c.created_day >= bindparam("first"),
        claims.c.created_day <= bindparam("last"),
        tuple_(claims.c.created_day, claims.c.request_id)
        > tuple_(bindparam("day"), bindparam("request_id")),
        claims.c.state != NOT_ACCEPTED,
    )
    .order_by(claims.c.created_day, claims.c.request_id)
    .limit(bindparam("most"))
)
