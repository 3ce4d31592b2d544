"""Claim facts: statements about claims, by whom and when, each stored once.

What a payer wrote is sealed; equal statements are known by their keyed hash. Knows no kind of statement.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, delete, update

from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import claim_facts
from clearlane.store.database.sql import Statement, among, insert_into, scoped_select, select_as

TABLE = "claim_facts"


@shows("kind", "claim_number")
class FactRow(NamedTuple):
    """A stored fact. ``payload`` is sealed for :func:`row_key`."""

    vendor_id: int
    site_id: int
    claim_number: str
    identity: str
    """Keyed hash of what identifies the statement."""
    kind: str
    at: int
    inbox_id: int | None
    """The file that brought it; None for what Clearlane knows itself."""
    document_id: str
    payload: bytes


def row_key(claim_number: str, identity: str) -> str:
    """Return the row key that a fact's payload is sealed for."""
    return f"{claim_number}:{identity}"


async def list_for_claims(tx: Tx, claim_numbers: Sequence[str]) -> list[FactRow]:
    """Return the facts of these claims of any client, in the order they were stored."""
    return await list_rows(tx, FactRow, _OF_CLAIMS, claim_numbers=list(claim_numbers))


async def list_own(tx: Tx, claim_numbers: Sequence[str]) -> list[FactRow]:
    """Return the facts of these claims of the scope, in the order they were stored."""
    return await list_rows(tx, FactRow, _OWN, claim_numbers=list(claim_numbers))


async def list_of_file(
    tx: Tx, inbox_id: int, claim_numbers: Sequence[str]
) -> list[tuple[int, FactRow]]:
    """Return what a payer's file states of these claims of the scope, in the order it was stored, with its place in that order."""
    rows = await tx.rows(_OF_FILE, claim_numbers=list(claim_numbers), inbox=inbox_id)
    return [(row[-1], FactRow(*row[:-1])) for row in rows]


async def add(tx: Tx, rows: Sequence[FactRow]) -> None:
    """Add facts. The caller has locked the claims' rows and checked which facts are new."""
    await tx.many(_ADD, [row._asdict() for row in rows])


async def replace(tx: Tx, rows: Sequence[FactRow]) -> None:
    """Replace a later report of the same statement by an earlier one."""
    values = [
        {
            "claim": row.claim_number,
            "identity_hash": row.identity,
            "new_at": row.at,
            "new_payload": row.payload,
        }
        for row in rows
    ]
    await tx.many(_REPLACE, values)


async def remove(tx: Tx, claim_number: str, identity: str) -> None:
    """Remove a fact that a person had put on the wrong claim."""
    await tx.run(_REMOVE, claim=claim_number, identity_hash=identity)


_COLUMNS = select_as(claim_facts, FactRow).order_by(claim_facts.c.id)
_OF_CLAIMS = Statement(
    _COLUMNS.where(among(claim_facts.c.claim_number, "claim_numbers")), system=True
)
_OWN = scoped_select(
    _COLUMNS.where(among(claim_facts.c.claim_number, "claim_numbers")), claim_facts
)
_OF_FILE = scoped_select(
    _COLUMNS.add_columns(claim_facts.c.id).where(
        among(claim_facts.c.claim_number, "claim_numbers"),
        claim_facts.c.inbox_id == bindparam("inbox"),
    ),
    claim_facts,
)
_ADD = Statement(insert_into(claim_facts, *FactRow._fields[2:]), system=True)
_REPLACE = Statement(
    update(claim_facts)
    .where(
        claim_facts.c.claim_number == bindparam("claim"),
        claim_facts.c.identity == bindparam("identity_hash"),
    )
    .values(at=bindparam("new_at"), payload=bindparam("new_payload")),
    system=True,
)
_REMOVE = Statement(
    delete(claim_facts).where(
        claim_facts.c.claim_number == bindparam("claim"),
        claim_facts.c.identity == bindparam("identity_hash"),
    ),
    system=True,
)
