"""Documents: a claim's part of a payer's file, found by an id that nobody can guess.

The payload is sealed for its document. Knows no shape of a document.
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import select

from clearlane.kernel import limits
from clearlane.kernel.ids import random_bytes
from clearlane.store.database import Tx
from clearlane.store.schema import documents
from clearlane.store.sql import Statement, among, insertion, mine

TABLE = "documents"
# Nobody reads the bits back, so two letters may stand for the last two signs as well: an id then needs no
# escape anywhere, and to no command does it look like an option.
ID_BYTES = limits.DOCUMENT_ID_CHARACTERS * 6 // 8
ID_MARKS = b"Zz"


class StoredDocument(NamedTuple):
    """A document as it stands in the database."""

    vendor_id: int
    site_id: int
    document_id: str
    request_id: str
    kind: str
    """RemittanceAdvice or ClaimStatus."""
    created_at: int
    payload: bytes

    def __repr__(self) -> str:
        """Without the payload."""
        return f"StoredDocument({self.kind} of {self.request_id})"


def new_id() -> str:
    """An id of more than 180 random bits, letters and digits."""
    return b64encode(random_bytes(ID_BYTES), ID_MARKS).decode()


async def add(tx: Tx, rows: Sequence[StoredDocument]) -> None:
    """Add documents of any client; the caller stores the facts they show in the same transaction."""
    await tx.many(_ADD, [row._asdict() for row in rows])


async def find(tx: Tx, ids: Sequence[str]) -> list[StoredDocument]:
    """The documents of the scope among these; others are left out, and look like unknown ones."""
    # PostgreSQL refuses a statement with this character in a text, and no id of ours has it.
    found = await tx.rows(_FIND, document_ids=[id for id in ids if "\0" not in id])
    return [StoredDocument(*row) for row in found]


async def of_claim(tx: Tx, request_id: str) -> list[StoredDocument]:
    """The documents of one claim of the scope, in the order of their making."""
    found = await tx.rows(_OF_CLAIM, request_ids=[request_id])
    return [StoredDocument(*row) for row in found]


_COLUMNS = select(*(documents.c[name] for name in StoredDocument._fields))
_FIND = Statement(_COLUMNS.where(mine(documents), among(documents.c.document_id, "document_ids")))
_OF_CLAIM = Statement(
    _COLUMNS.where(mine(documents), among(documents.c.request_id, "request_ids")).order_by(
        documents.c.created_at, documents.c.document_id
    )
)
_ADD = Statement(insertion(documents, *StoredDocument._fields[2:]), system=True)
