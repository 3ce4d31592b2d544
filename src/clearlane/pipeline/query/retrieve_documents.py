"""Retrieve documents of a site by their ids, rendered from the claim's part of the payer's file. Audited.

Documents are rendered a few at a time, so that a caller who asks for many delays no other. Knows no HTTP.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clearlane.accounts.model import Site
from clearlane.claims import documents as made
from clearlane.claims.documents import DocumentHeader
from clearlane.kernel import limits
from clearlane.kernel.clock import from_micros, to_local
from clearlane.kernel.ids import Scope
from clearlane.payments.model import ClaimPayment
from clearlane.pipeline.claim_status import open_document_source
from clearlane.pipeline.load_claim import LoadedClaim, open_claim, sent_line_controls
from clearlane.store import claims, documents
from clearlane.store.claims import StoredClaim
from clearlane.store.database import Actor, Database, Tx
from clearlane.store.documents import StoredDocument
from clearlane.store.vault import Vault

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentLists:
    """The documents that were found, in the order in which they were asked for."""

    advices: list[JSON] = field(repr=False)
    statuses: list[JSON] = field(repr=False)

    @property
    def body(self) -> JSON:
        """Both lists, as V3 returns them."""
        return made.response_body(self.advices, self.statuses)


async def retrieve_documents(
    database: Database, vault: Vault, ids: Sequence[str], *, site: Site, actor: Actor
) -> DocumentLists:
    """Return the documents of the site; ids that are unknown or another site's are left out."""
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
    return await _render(vault, scope, found, rows, site.time_zone)


async def _render(
    vault: Vault,
    scope: Scope,
    found: Sequence[StoredDocument],
    rows: Mapping[str, StoredClaim],
    time_zone: str,
) -> DocumentLists:
    lists = DocumentLists([], [])
    for at, one in enumerate(found):
        if at and not at % limits.DOCUMENTS_AT_ONCE:
            await asyncio.sleep(0)
        loaded = open_claim(vault, scope, rows[one.request_id])
        rendered = render_document(vault, one, loaded, time_zone)
        (lists.advices if one.kind == "RemittanceAdvice" else lists.statuses).append(rendered)
    return lists


def render_document(
    vault: Vault, stored: StoredDocument, loaded: LoadedClaim, time_zone: str
) -> JSON:
    """Render one document as V3 shows it."""
    source = open_document_source(vault, stored)
    day = to_local(from_micros(stored.created_at), time_zone).date()
    head = DocumentHeader(
        document_id=stored.document_id,
        vendor_claim_id=loaded.claim.Svc_VendorClaimId,
        claim_number=stored.request_id,
        create_date=day,
        controls=sent_line_controls(loaded),
    )
    if isinstance(source.fact, ClaimPayment):
        return made.remittance_advice(source.part, head, loaded.claim)
    return made.claim_status(source.part, head, source.fact, loaded.claim)
