"""Retrieve: documents of a site by their ids, made from the claim's part of the payer's file. The look is audited.

Knows how documents and claims are sealed; knows no HTTP. A document is made when it is asked for, a few at a
time, so that a caller who asks for many holds nobody else up.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clearlane.accounts.model import Site
from clearlane.claims import documents as made
from clearlane.claims.claim_context import Outgoing
from clearlane.claims.documents import Head
from clearlane.claims.fields import ClaimKind
from clearlane.claims.write_837 import TABLES, case_of, line_controls
from clearlane.kernel import limits
from clearlane.kernel.clock import local, moment
from clearlane.kernel.ids import Scope
from clearlane.payments.model import Remit
from clearlane.pipeline.claim_status import opened_document
from clearlane.pipeline.load_claim import Recalled, opened
from clearlane.store import claims, documents
from clearlane.store.claims import StoredClaim
from clearlane.store.database import Actor, Database, Tx
from clearlane.store.documents import StoredDocument
from clearlane.store.vault import Vault

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The documents that were found, each with its kind, in the order they were asked for."""

    advices: list[JSON] = field(repr=False)
    statuses: list[JSON] = field(repr=False)

    @property
    def body(self) -> JSON:
        """Both lists, as the interface answers them."""
        return made.answer(self.advices, self.statuses)


async def retrieve(
    database: Database, vault: Vault, ids: Sequence[str], *, site: Site, actor: Actor
) -> Retrieved:
    """The documents of the site among these; ids that are unknown or another site's are left out."""
    scope = site.scope

    async def look(tx: Tx) -> tuple[list[StoredDocument], list[StoredClaim]]:
        found = await documents.find(tx, ids)
        owners = await claims.some(tx, sorted({one.request_id for one in found}))
        await vault.fetch(tx, [*(one.payload for one in found), *(one.payload for one in owners)])
        tx.audit("documents.read", ids=[one.document_id for one in found])
        return found, owners

    found, owners = await database.write(scope, look, actor=actor)
    place = {id: at for at, id in enumerate(ids)}
    found.sort(key=lambda one: place[one.document_id])
    rows = {row.request_id: row for row in owners}
    return await _made(vault, scope, found, rows, site.time_zone)


async def _made(
    vault: Vault,
    scope: Scope,
    found: Sequence[StoredDocument],
    rows: Mapping[str, StoredClaim],
    time_zone: str,
) -> Retrieved:
    lists = Retrieved([], [])
    for at, one in enumerate(found):
        if at and not at % limits.DOCUMENTS_AT_ONCE:
            await asyncio.sleep(0)
        recalled = opened(vault, scope, rows[one.request_id])
        shown = show(vault, one, recalled, time_zone)
        (lists.advices if one.kind == "RemittanceAdvice" else lists.statuses).append(shown)
    return lists


def show(vault: Vault, stored: StoredDocument, of: Recalled, time_zone: str) -> JSON:
    """One document as the interface shows it."""
    held = opened_document(vault, stored)
    day = local(moment(stored.created_at), time_zone).date()
    head = Head(
        document_id=stored.document_id,
        vendor_claim_id=of.claim.Svc_VendorClaimId,
        claim_number=stored.request_id,
        create_date=day,
        controls=controls_of(of),
    )
    if isinstance(held.fact, Remit):
        return made.remittance_advice(held.part, head, of.claim)
    return made.claim_status(held.part, head, held.fact, of.claim)


def controls_of(of: Recalled) -> tuple[str, ...]:
    """The line control numbers (``REF*6R``) that the claim went out with."""
    tables = TABLES[ClaimKind(of.row.kind)]
    out = Outgoing(
        claim=of.claim,
        number=of.row.request_id,
        payer_id=of.row.payer_id,
        payer_name="",
        account_as_number=of.row.account_as_number,
    )
    return tuple(line_controls(tables, case_of(tables, out)))
