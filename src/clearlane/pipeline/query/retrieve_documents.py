"""Retrieve documents of a site by their ids: the claim's part of the payer's file, and the claim. Audited.

Documents are opened a few at a time, so that a caller who asks for many delays no other. Knows no HTTP and no
shape in which a document is shown.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import date

from clearlane.accounts.model import Site
from clearlane.claims.fields import Claim
from clearlane.kernel.clock import from_micros, to_local
from clearlane.pipeline.claim_status import AnyFact, open_document_source
from clearlane.pipeline.load_claim import LoadedClaim, open_claim, sent_line_controls
from clearlane.store import claims, documents
from clearlane.store.claims import StoredClaim
from clearlane.store.database import Actor, Database, Tx
from clearlane.store.documents import StoredDocument
from clearlane.store.vault import Vault

DOCUMENTS_AT_ONCE = 5


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PayerDocument:
    """What a payer stated about a claim, and the claim."""

    document_id: str
    claim_number: str
    """The clearinghouse's: the request id."""
    created_day: date
    """When it was recorded, in the site's time zone."""
    part: bytes
    """The claim's part of the payer's file."""
    fact: AnyFact
    claim: Claim
    line_controls: tuple[str, ...] = ()
    """``REF*6R`` of the claim's lines as sent."""

    def __repr__(self) -> str:
        return f"PayerDocument({self.document_id} of {self.claim_number})"


async def retrieve_documents(
    database: Database, vault: Vault, ids: Sequence[str], *, site: Site, actor: Actor
) -> AsyncIterator[PayerDocument]:
    """Yield the documents of the site in the order of their ids; unknown ids and another site's are left out."""
    scope = site.scope

    async def find(tx: Tx) -> tuple[list[StoredDocument], list[StoredClaim]]:
        found = await documents.find(tx, ids)
        owners = await claims.find_many(tx, sorted({one.request_id for one in found}))
        await vault.load_keys_of(
            tx, [*(one.payload for one in found), *(one.payload for one in owners)]
        )
        tx.audit("documents.read", ids=[one.document_id for one in found])
        return found, owners

    found, owners = await database.write(scope, find, actor=actor)
    position = {id: at for at, id in enumerate(ids)}
    found.sort(key=lambda one: position[one.document_id])
    rows = {row.request_id: row for row in owners}
    for at, one in enumerate(found):
        if at and not at % DOCUMENTS_AT_ONCE:
            await asyncio.sleep(0)
        loaded = open_claim(vault, scope, rows[one.request_id])
        yield _open_document(vault, one, loaded, site.time_zone)


def _open_document(
    vault: Vault, stored: StoredDocument, loaded: LoadedClaim, time_zone: str
) -> PayerDocument:
    source = open_document_source(vault, stored)
    return PayerDocument(
        document_id=stored.document_id,
        claim_number=stored.request_id,
        created_day=to_local(from_micros(stored.created_at), time_zone).date(),
        part=source.part,
        fact=source.fact,
        claim=loaded.claim,
        line_controls=sent_line_controls(loaded),
    )
