"""Documents: a claim's part of a payer's file, found by an unguessable id.

The payload is sealed for its document. Knows no format of a document.
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select

from clearlane.kernel import limits
from clearlane.kernel.ids import random_bytes
from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import Tx, find_row, list_rows
from clearlane.store.database.schema import documents
from clearlane.store.database.sql import (
    Statement,
    among,
    insert_into,
    scoped_select,
    scoped_update,
    select_as,
)

TABLE = "documents"
# base64 with two letters for its last two signs, since nothing decodes it: an id then needs no escaping
# anywhere, and no command takes it for an option.
ID_BYTES = limits.DOCUMENT_ID_CHARACTERS * 6 // 8
ID_MARKS = b"Zz"


@shows("kind", "claim_number")
class StoredDocument(NamedTuple):
    """A stored document."""

    vendor_id: int
    site_id: int
    document_id: str
    claim_number: str
    kind: str
    """payment or status: ``claims.lifecycle.PayerDocumentKind``."""
    created_at: int
    payload: bytes


def new_id() -> str:
    """Return an id of more than 180 random bits, letters and digits."""
    return b64encode(random_bytes(ID_BYTES), ID_MARKS).decode()


async def add(tx: Tx, rows: Sequence[StoredDocument]) -> None:
    """Add documents of any client; the caller stores the facts they show in the same transaction."""
    await tx.many(_ADD, [row._asdict() for row in rows])


async def find(tx: Tx, ids: Sequence[str]) -> list[StoredDocument]:
    """Return those of these documents that belong to the scope; others look like unknown ones."""
    # PostgreSQL refuses a text with this character, and no id has it.
    return await list_rows(
        tx, StoredDocument, _FIND, document_ids=[id for id in ids if "\0" not in id]
    )


class DocumentHead(NamedTuple):
    """What is known of a document without its content."""

    kind: str
    claim_number: str


async def find_heads(tx: Tx, ids: Sequence[str]) -> dict[str, DocumentHead]:
    """Return kind and claim, by id, of those of these documents that belong to the scope."""
    found = await tx.rows(_HEADS, document_ids=[id for id in ids if "\0" not in id])
    return {row[0]: DocumentHead(row[1], row[2]) for row in found}


async def list_for_claims(tx: Tx, claim_numbers: Sequence[str]) -> list[StoredDocument]:
    """Return the documents of these claims of the scope, oldest first."""
    return await list_rows(tx, StoredDocument, _OF_CLAIM, claim_numbers=list(claim_numbers))


async def list_of_kind(tx: Tx, kind: str, claim_numbers: Sequence[str]) -> list[tuple[str, str]]:
    """Return id and claim of the documents of one kind about these claims of the scope, oldest first."""
    if not claim_numbers:
        return []
    found = await tx.rows(_OF_KIND, kind=kind, claim_numbers=list(claim_numbers))
    return [(str(id), str(claim_number)) for id, claim_number in found]


async def list_created(tx: Tx, ids: Sequence[str]) -> list[int]:
    """Return when these documents of any client were stored, in microseconds."""
    return [int(at) for (at,) in await tx.rows(_CREATED, document_ids=list(ids))]


async def mark_read(tx: Tx, ids: Sequence[str], at: int, *, by_software: bool) -> None:
    """Record when documents of the scope were first read: fetched by the vendor's software, or seen by a person."""
    if ids:
        await tx.run(_MARK_READ[by_software], document_ids=list(ids), at=at)


async def find_any(tx: Tx, document_id: str) -> StoredDocument | None:
    """Return a document of any client."""
    return await find_row(tx, StoredDocument, _FIND_ANY, document_id=document_id)


async def remove(tx: Tx, document_id: str) -> None:
    """Remove the document of a fact that was taken back from its claim."""
    await tx.run(_REMOVE, of=document_id)


_COLUMNS = select_as(documents, StoredDocument)
_FIND = scoped_select(_COLUMNS.where(among(documents.c.document_id, "document_ids")), documents)
_HEADS = scoped_select(
    select(documents.c.document_id, documents.c.kind, documents.c.claim_number).where(
        among(documents.c.document_id, "document_ids")
    ),
    documents,
)
_OF_CLAIM = scoped_select(
    _COLUMNS.where(among(documents.c.claim_number, "claim_numbers")).order_by(
        documents.c.created_at, documents.c.document_id
    ),
    documents,
)
_ADD = Statement(insert_into(documents, *StoredDocument._fields[2:]), system=True)
_FIND_ANY = Statement(
    _COLUMNS.where(documents.c.document_id == bindparam("document_id")), system=True
)
_REMOVE = Statement(
    delete(documents).where(documents.c.document_id == bindparam("of")), system=True
)
_OF_KIND = scoped_select(
    select(documents.c.document_id, documents.c.claim_number)
    .where(among(documents.c.claim_number, "claim_numbers"), documents.c.kind == bindparam("kind"))
    .order_by(documents.c.created_at, documents.c.document_id),
    documents,
)
_CREATED = Statement(
    select(documents.c.created_at).where(among(documents.c.document_id, "document_ids")),
    system=True,
)
_MARK_READ = {
    by_software: scoped_update(
        documents,
        among(documents.c.document_id, "document_ids"),
        documents.c[column].is_(None),
        **{column: bindparam("at")},
    )
    for by_software, column in ((True, "fetched_at"), (False, "seen_at"))
}
