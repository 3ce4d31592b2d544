"""Retrieve documents of a site by their ids: the claim's part of the payer's file, and the claim. Audited.

A correction brings the reversal that it follows, and what was reversed if the site's software never fetched it, so
that a caller who books each document once ends with the right sum. Each document is marked as fetched.

Documents are opened a few at a time, so that a caller who asks for many delays no other. Knows no HTTP and no
shape in which a document is shown.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from msgspec.structs import replace

from clearlane.accounts.model import Site
from clearlane.claims.fields import Claim
from clearlane.claims.lifecycle import PayerDocumentKind, RemittanceRole, remittance_roles
from clearlane.kernel.clock import from_micros, to_local, to_micros
from clearlane.payments.model import ClaimPayment
from clearlane.pipeline.claim_status import AnyFact, open_document_source
from clearlane.pipeline.load_claim import LoadedClaim, open_claim, sent_line_controls
from clearlane.store import claims, documents, occurrences, payments
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
    database: Database, vault: Vault, ids: Sequence[str], *, site: Site, actor: Actor, at: datetime
) -> AsyncIterator[PayerDocument]:
    """Yield the documents of the site in the order of their ids; unknown ids and another site's are left out."""
    scope = site.scope

    async def find(tx: Tx) -> tuple[list[StoredDocument], list[StoredClaim]]:
        found = await documents.find(tx, ids)
        position = {id: number for number, id in enumerate(ids)}
        found.sort(key=lambda one: position[one.document_id])
        found = await _with_reversals(tx, vault, found)
        owners = await claims.find_many(tx, sorted({one.request_id for one in found}))
        await vault.load_keys_of(
            tx, [*(one.payload for one in found), *(one.payload for one in owners)]
        )
        shown = [one.document_id for one in found]
        tx.audit("documents.read", ids=shown)
        await documents.mark_fetched(tx, shown, to_micros(at))
        payments_of = await occurrences.list_payments_of_documents(tx, shown)
        await payments.mark_fetched(tx, payments_of, to_micros(at))
        return found, owners

    found, owners = await database.write(scope, find, actor=actor)
    rows = {row.request_id: row for row in owners}
    for number, one in enumerate(found):
        if number and not number % DOCUMENTS_AT_ONCE:
            await asyncio.sleep(0)
        loaded = open_claim(vault, scope, rows[one.request_id])
        yield _open_document(vault, one, loaded, site.time_zone)


async def _with_reversals(
    tx: Tx, vault: Vault, found: Sequence[StoredDocument]
) -> list[StoredDocument]:
    """Return documents with, before each correction, the reversals that it follows."""
    paid = {one.request_id for one in found if one.kind == PayerDocumentKind.PAYMENT}
    several = await occurrences.list_reversed_claims(tx, sorted(paid))
    if not several:
        return list(found)
    stored = await documents.list_for_claims(tx, sorted(several))
    await vault.load_keys_of(tx, [one.payload for one in stored])
    fetched = await documents.list_fetched(tx, [one.document_id for one in stored])
    by_claim: dict[str, list[tuple[StoredDocument, RemittanceRole]]] = {}
    for request_id in several:
        by_claim[request_id] = _payments_in_order(
            vault, [one for one in stored if one.request_id == request_id]
        )
    ordered: dict[str, StoredDocument] = {}
    for one in found:
        for companion in _companions(one, by_claim.get(one.request_id, ()), fetched):
            ordered.setdefault(companion.document_id, companion)
        ordered.setdefault(one.document_id, one)
    return list(ordered.values())


def _payments_in_order(
    vault: Vault, stored: Sequence[StoredDocument]
) -> list[tuple[StoredDocument, RemittanceRole]]:
    by_id = {one.document_id: one for one in stored}
    facts = [open_document_source(vault, one).fact for one in stored]
    ids = [
        replace(fact, document_id=one.document_id)
        for one, fact in zip(stored, facts, strict=True)
        if isinstance(fact, ClaimPayment)
    ]
    return [(by_id[role.remittance.document_id], role) for role in remittance_roles(ids)]


def _companions(
    asked: StoredDocument,
    claim_payments: Sequence[tuple[StoredDocument, RemittanceRole]],
    fetched: Collection[str],
) -> Iterator[StoredDocument]:
    """Yield the reversals up to a document, each after what it took back where that was never fetched."""
    places = [document.document_id for document, _ in claim_payments]
    if asked.document_id not in places:
        return
    for document, role in claim_payments[: places.index(asked.document_id) + 1]:
        if not role.remittance.is_reversal:
            continue
        if role.reverses is not None and role.reverses.document_id not in fetched:
            yield next(
                one for one, _ in claim_payments if one.document_id == role.reverses.document_id
            )
        yield document


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
