"""Documents: a claim's part of a payer's file, found by an unguessable id.

The payload is sealed for its document. Knows no format of a document.
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import select

from clearlane.kernel import limits
from clearlane.kernel.ids import random_bytes
from clearlane.store.database import Tx
from clearlane.store.schema import documents
from clearlane.store.sql import Statement, among, insert_into, scoped_select

TABLE = "documents"
# base64 with two letters for its last two signs, since nothing decodes it: an id then needs no escaping
# anywhere, and no command takes it for an option.
ID_BYTES = limits.DOCUMENT_ID_CHARACTERS * 6 // 8
ID_MARKS = b"Zz"


class StoredDocument(NamedTuple):
    """A stored document."""

    vendor_id: int
    site_id: int
    document_id: str
    request_id: str
    kind: str
    """payment or status: ``claims.lifecycle.PayerDocumentKind``."""
    created_at: int
    payload: bytes

    def __repr__(self) -> str:
        """Leave out the payload."""
        return f"StoredDocument({self.kind} of {self.request_id})"


def new_id() -> str:
    """Return an id of more than 180 random bits, letters and digits."""
    return b64encode(random_bytes(ID_BYTES), ID_MARKS).decode()


async def add(tx: Tx, rows: Sequence[StoredDocument]) -> None:
    """Add documents of any client; the caller stores the facts they show in the same transaction."""
    await tx.many(_ADD, [row._asdict() for row in rows])


async def find(tx: Tx, ids: Sequence[str]) -> list[StoredDocument]:
    """Return those of these documents that belong to the scope; others look like unknown ones."""
    # PostgreSQL refuses a text with this character, and no id has it.
    found = await tx.rows(_FIND, document_ids=[id for id in ids if "\0" not in id])
    return [StoredDocument(*row) for row in found]


async def find_kinds(tx: Tx, ids: Sequence[str]) -> dict[str, str]:
    """Return the kinds, by id, of those of these documents that belong to the scope."""
    found = await tx.rows(_KINDS, document_ids=[id for id in ids if "\0" not in id])
    return {row[0]: row[1] for row in found}


async def list_for_claim(tx: Tx, request_id: str) -> list[StoredDocument]:
    """Return the documents of one claim of the scope, oldest first."""
    found = await tx.rows(_OF_CLAIM, request_ids=[request_id])
    return [StoredDocument(*row) for row in found]


_COLUMNS = select(*(documents.c[name] for name in StoredDocument._fields))
_FIND = scoped_select(_COLUMNS.where(among(documents.c.document_id, "document_ids")), documents)
_KINDS = scoped_select(
    select(documents.c.document_id, documents.c.kind).where(
        among(documents.c.document_id, "document_ids")
    ),
    documents,
)
_OF_CLAIM = scoped_select(
    _COLUMNS.where(among(documents.c.request_id, "request_ids")).order_by(
        documents.c.created_at, documents.c.document_id
    ),
    documents,
)
_ADD = Statement(insert_into(documents, *StoredDocument._fields[2:]), system=True)
