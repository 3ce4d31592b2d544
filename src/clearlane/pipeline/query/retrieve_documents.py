"""Retrieve documents of a site by their ids: the claim's part of the payer's file, and the claim. Audited.

A correction brings the reversal that it follows, and what was reversed if the site's software never fetched it, so
that a caller who books each document once ends with the right sum. Each document is marked as fetched,
or as seen where a person reads it.

A caller may ask for all documents of a month: they are read a page at a time and opened a few at a time, so that it
fills no memory and delays no other. Knows no HTTP and no
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
from clearlane.pipeline.load_claim import LoadedClaim, open_claim, sent_line_controls
from clearlane.pipeline.stored_facts import AnyFact, open_document_source
from clearlane.store import claims, documents, occurrences, payments
from clearlane.store.database import Actor, Database, Tx
from clearlane.store.documents import StoredDocument
from clearlane.store.vault import Vault

# Ids that are looked up in one statement, documents that are in memory at a time, and documents that are opened
# before other calls run.
DOCUMENT_IDS_AT_ONCE = 1_000
DOCUMENTS_PAGE_ROWS = 50
DOCUMENTS_AT_ONCE = 5
SOFTWARE = "vendor"
"""The kind of actor that a vendor's software is."""


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


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """The documents of a call, in the order of its ids. Each iterator yields a page at a time, once."""

    payments: AsyncIterator[list[PayerDocument]]
    statuses: AsyncIterator[list[PayerDocument]]


async def retrieve_documents(
    database: Database, vault: Vault, ids: Sequence[str], *, site: Site, actor: Actor, at: datetime
) -> FoundDocuments:
    """Return the documents of the site; unknown ids and another site's are left out, and repeated ones are found once.

    The access is audited in one row, with the count, before the first document is read.
    """
    kinds: dict[str, str] = {}
    for page in _pages(list(dict.fromkeys(ids)), DOCUMENT_IDS_AT_ONCE):
        async with database.read(site.scope) as tx:
            for id, kind in await _with_reversals(tx, vault, page):
                kinds.setdefault(id, kind)
    found = list(kinds)

    async def record(tx: Tx) -> None:
        tx.audit("documents.read", ids=found, count=len(found))
        for page in _pages(found, DOCUMENT_IDS_AT_ONCE):
            await _mark_read(tx, page, to_micros(at), actor)

    await database.write(site.scope, record, actor=actor)

    def of_kind(*, payments: bool) -> AsyncIterator[list[PayerDocument]]:
        wanted = [id for id in found if (kinds[id] == PayerDocumentKind.PAYMENT) is payments]
        return _read_pages(database, vault, wanted, site)

    return FoundDocuments(of_kind(payments=True), of_kind(payments=False))


async def _mark_read(tx: Tx, ids: Sequence[str], at: int, actor: Actor) -> None:
    """Mark documents and their payments as fetched by the vendor's software, or as seen by a person."""
    payment_ids = await occurrences.list_payments_of_documents(tx, ids)
    if actor.kind == SOFTWARE:
        await documents.mark_fetched(tx, ids, at)
        await payments.mark_fetched(tx, payment_ids, at)
    else:
        await documents.mark_seen(tx, ids, at)
        await payments.mark_seen(tx, payment_ids, at)


async def _read_pages(
    database: Database, vault: Vault, ids: Sequence[str], site: Site
) -> AsyncIterator[list[PayerDocument]]:
    for page in _pages(ids, DOCUMENTS_PAGE_ROWS):
        async with database.read(site.scope) as tx:
            stored = {one.document_id: one for one in await documents.find(tx, page)}
            rows = await claims.find_many(tx, sorted({one.request_id for one in stored.values()}))
            sealed = [*(one.payload for one in stored.values()), *(one.payload for one in rows)]
            await vault.load_keys_of(tx, sealed)
        owners = {row.request_id: row for row in rows}
        opened: list[PayerDocument] = []
        # A document that was purged after it was found is left out like one that never was.
        for at, one in enumerate(stored[id] for id in page if id in stored):
            if at and not at % DOCUMENTS_AT_ONCE:
                await asyncio.sleep(0)
            loaded = open_claim(vault, site.scope, owners[one.request_id])
            opened.append(_open_document(vault, one, loaded, site.time_zone))
        if opened:
            yield opened


def _pages(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))


async def _with_reversals(tx: Tx, vault: Vault, ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return id and kind of documents, and before each correction those of the reversals that it follows."""
    heads = await documents.find_heads(tx, ids)
    paid = {head.request_id for head in heads.values() if head.kind == PayerDocumentKind.PAYMENT}
    several = await occurrences.list_reversed_claims(tx, sorted(paid))
    by_claim: dict[str, list[tuple[StoredDocument, RemittanceRole]]] = {}
    fetched: Collection[str] = ()
    if several:
        stored = await documents.list_for_claims(tx, sorted(several))
        await vault.load_keys_of(tx, [one.payload for one in stored])
        fetched = await documents.list_fetched(tx, [one.document_id for one in stored])
        for request_id in several:
            own = [one for one in stored if one.request_id == request_id]
            by_claim[request_id] = _payments_in_order(vault, own)
    ordered: list[tuple[str, str]] = []
    for id in ids:
        if id not in heads:
            continue
        before = _companions(id, by_claim.get(heads[id].request_id, ()), fetched)
        ordered += [(companion.document_id, companion.kind) for companion in before]
        ordered.append((id, heads[id].kind))
    return ordered


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
    asked: str,
    claim_payments: Sequence[tuple[StoredDocument, RemittanceRole]],
    fetched: Collection[str],
) -> Iterator[StoredDocument]:
    """Yield the reversals up to a document, each after what it took back where that was never fetched."""
    places = [document.document_id for document, _ in claim_payments]
    if asked not in places:
        return
    for document, role in claim_payments[: places.index(asked) + 1]:
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
