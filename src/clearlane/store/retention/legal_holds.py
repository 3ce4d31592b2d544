"""Legal holds: what must be neither purged nor erased, whatever its age."""

from typing import NamedTuple

from sqlalchemy import BigInteger, ColumnElement, FromClause, bindparam, select, update

from clearlane.store.database.database import Tx, find_row, list_rows, require_row
from clearlane.store.database.schema import legal_holds
from clearlane.store.database.sql import Statement, SystemScope, inlined, insert_into, select_as

SCOPE = SystemScope("legal holds are the operator's")


class LegalHold(NamedTuple):
    """A hold: of a whole site, or of one claim."""

    id: int
    vendor_id: int
    site_id: int
    claim_number: str
    """Empty for a hold of the whole site."""
    matter: str
    placed_by: str
    placed_at: int
    released_by: str
    released_at: int | None
    """None while it is in force."""


async def add(
    tx: Tx, *, vendor_id: int, site_id: int, claim_number: str, matter: str, actor: str, at: int
) -> int:
    """Place a hold; return its id."""
    row = await tx.row(
        _ADD, vendor_id=vendor_id, site_id=site_id, claim_number=claim_number, matter=matter,
        placed_by=actor, placed_at=at, released_by="", released_at=None,
    )  # fmt: skip
    return int(require_row(row, "the hold that was added")[0])


async def find(tx: Tx, id: int) -> LegalHold | None:
    """Return one hold."""
    return await find_row(tx, LegalHold, _FIND, id=id)


async def list_holds(tx: Tx, *, released: bool = False) -> list[LegalHold]:
    """Return the holds in force, or all that there ever were."""
    return await list_rows(tx, LegalHold, _EVER if released else _IN_FORCE)


async def list_of_site(tx: Tx, site_id: int) -> list[LegalHold]:
    """Return the holds in force of a site and of its claims."""
    return await list_rows(tx, LegalHold, _OF_SITE, site_id=site_id)


async def release(tx: Tx, id: int, *, actor: str, at: int) -> None:
    """End a hold that is in force."""
    await tx.run(_RELEASE, hold=id, by=actor, moment=at)


def site_not_held(table: FromClause) -> ColumnElement[bool]:
    """Return the condition that no hold covers the site of a row."""
    return table.c.site_id.notin_(HELD_SITES)


_H = legal_holds.c
_NOT_RELEASED = _H.released_at.is_(None)
HELD_SITES = select(_H.site_id).where(_NOT_RELEASED, _H.claim_number == inlined(""))
"""The sites that are held as a whole."""
HELD_CLAIMS = select(_H.claim_number).where(_NOT_RELEASED, _H.claim_number != inlined(""))
"""The claims that are held by number."""
_NEW = tuple(name for name in LegalHold._fields if name != "id")
_ADD = Statement(insert_into(legal_holds, *_NEW).returning(_H.id))
_ROWS = select_as(legal_holds, LegalHold)
_FIND = Statement(_ROWS.where(_H.id == bindparam("id", type_=BigInteger)))
_IN_FORCE = Statement(_ROWS.where(_NOT_RELEASED).order_by(_H.id))
_EVER = Statement(_ROWS.order_by(_H.id))
_OF_SITE = Statement(
    _ROWS.where(_NOT_RELEASED, _H.site_id == bindparam("site_id", type_=BigInteger)).order_by(_H.id)
)
_RELEASE = Statement(
    update(legal_holds)
    .where(_H.id == bindparam("hold", type_=BigInteger), _NOT_RELEASED)
    .values(released_by=bindparam("by"), released_at=bindparam("moment", type_=BigInteger))
)
