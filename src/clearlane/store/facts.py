"""Facts about claims: what was said of each, by whom and when, each statement once.

What a payer wrote is sealed; equal statements are known by their keyed hash. Knows no kind of statement.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, select, update

from clearlane.store.database import Tx
from clearlane.store.schema import claim_facts
from clearlane.store.sql import Statement, among, insertion, mine

TABLE = "claim_facts"


class FactRow(NamedTuple):
    """A fact as it stands in the database. ``payload`` is sealed for :func:`place`."""

    vendor_id: int
    site_id: int
    request_id: str
    identity: str
    """Keyed hash of what is equal for the same statement."""
    kind: str
    at: int
    inbox_id: int | None
    """The file that brought it; None for what we know ourselves."""
    document_id: str
    payload: bytes

    def __repr__(self) -> str:
        """Without the payload."""
        return f"FactRow({self.kind} of {self.request_id})"


def place(request_id: str, identity: str) -> str:
    """What a fact's payload is bound to."""
    return f"{request_id}:{identity}"


async def of_claims(tx: Tx, request_ids: Sequence[str]) -> list[FactRow]:
    """The facts of these claims, whoever's they are, in the order of their coming."""
    found = await tx.rows(_OF_CLAIMS, request_ids=list(request_ids))
    return [FactRow(*row) for row in found]


async def of_claim(tx: Tx, request_id: str) -> list[FactRow]:
    """The facts of one claim of the scope, in the order of their coming."""
    found = await tx.rows(_OF_CLAIM, request_id=request_id)
    return [FactRow(*row) for row in found]


async def add(tx: Tx, rows: Sequence[FactRow]) -> None:
    """Add facts. Whoever adds holds the claims' rows, and has looked which facts are new."""
    await tx.many(_ADD, [row._asdict() for row in rows])


async def replace(tx: Tx, rows: Sequence[FactRow]) -> None:
    """Put an earlier report of the same statement in the place of a later one."""
    values = [
        {"of": row.request_id, "same": row.identity, "earlier": row.at, "said": row.payload}
        for row in rows
    ]
    await tx.many(_REPLACE, values)


_COLUMNS = select(*(claim_facts.c[name] for name in FactRow._fields)).order_by(claim_facts.c.id)
_OF_CLAIMS = Statement(_COLUMNS.where(among(claim_facts.c.request_id, "request_ids")), system=True)
_OF_CLAIM = Statement(
    _COLUMNS.where(mine(claim_facts), claim_facts.c.request_id == bindparam("request_id"))
)
_ADD = Statement(insertion(claim_facts, *FactRow._fields[2:]), system=True)
_REPLACE = Statement(
    update(claim_facts)
    .where(claim_facts.c.request_id == bindparam("of"), claim_facts.c.identity == bindparam("same"))
    .values(at=bindparam("earlier"), payload=bindparam("said")),
    system=True,
)
