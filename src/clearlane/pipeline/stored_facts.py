"""Seal and open what is stored of claims: facts, what documents are rendered from, the payer's number.

Facts are stored as JSON; documents as msgpack, since JSON would write the bytes of a file's part in base64. Knows no file.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import msgspec

from clearlane.claims.claim_status import ClaimStatus, decode_claim_status
from clearlane.claims.responses.facts import Fact
from clearlane.payments.model import ClaimPaymentFact
from clearlane.store.claims import documents, facts
from clearlane.store.claims.claim_query import STATUS_COLUMN
from clearlane.store.claims.documents import StoredDocument
from clearlane.store.claims.facts import FactRow
from clearlane.store.database.database import Tx
from clearlane.store.vault.vault import Owner, Vault

AnyFact: TypeAlias = Fact | ClaimPaymentFact

KnownFacts: TypeAlias = dict[str, dict[str, AnyFact]]
"""The facts of each claim, by their keyed hashes."""


class DocumentSource(msgspec.Struct, frozen=True, gc=False):
    """What a claim document is rendered from when it is retrieved."""

    part: bytes
    fact: AnyFact

    def __repr__(self) -> str:
        return f"DocumentSource({len(self.part)} bytes)"


_JSON = msgspec.json.Encoder()
_FACT: msgspec.json.Decoder[AnyFact] = msgspec.json.Decoder(Fact | ClaimPaymentFact)
_PACK = msgspec.msgpack.Encoder()
_SOURCE = msgspec.msgpack.Decoder(DocumentSource)


def seal_fact(vault: Vault, owner: Owner, claim_number: str, identity: str, fact: AnyFact) -> bytes:
    """Return a fact as it is stored."""
    return vault.seal(owner, facts.TABLE, facts.row_key(claim_number, identity), _JSON.encode(fact))


def seal_document_source(
    vault: Vault, owner: Owner, document_id: str, source: DocumentSource
) -> bytes:
    """Return what a document is rendered from, as it is stored."""
    return vault.seal(owner, documents.TABLE, document_id, _PACK.encode(source))


def open_fact(vault: Vault, row: FactRow) -> AnyFact:
    """Open a stored fact."""
    place = facts.row_key(row.claim_number, row.identity)
    return _FACT.decode(vault.open(row.vendor_id, facts.TABLE, place, row.payload))


def open_document_source(vault: Vault, row: StoredDocument) -> DocumentSource:
    """Open what a stored document is rendered from."""
    return _SOURCE.decode(vault.open(row.vendor_id, documents.TABLE, row.document_id, row.payload))


def open_claim_status(vault: Vault, owner: Owner, claim_number: str, status: bytes) -> ClaimStatus:
    """Open the sealed status of a claim. The caller has loaded its data key."""
    return decode_claim_status(vault.open(owner, STATUS_COLUMN, claim_number, status))


def open_claim_statuses(
    vault: Vault, owner: Owner, rows: Iterable[tuple[str, bytes]]
) -> list[ClaimStatus]:
    """Open the sealed statuses of claims of one owner, each with its claim's number."""
    return [*map(decode_claim_status, vault.open_many(owner, STATUS_COLUMN, rows))]


async def load_known_facts(tx: Tx, vault: Vault, claim_numbers: Sequence[str]) -> KnownFacts:
    """Load and open the facts of claims."""
    rows = await facts.list_for_claims(tx, claim_numbers)
    await vault.load_keys_of(tx, [row.payload for row in rows])
    known: KnownFacts = {claim_number: {} for claim_number in claim_numbers}
    for row in rows:
        known[row.claim_number][row.identity] = open_fact(vault, row)
    return known
