"""Retrieve documents of a site by their ids: the claim's part of the payer's file, and the claim. Audited.

Any document of a claim brings all remittances of the claim, in the order in which they count: original, reversal,
correction. So a caller who books each document id once ends with the right sum, whatever was read before. Each document
is marked as fetched, or as seen if a person reads it; the marks are information and decide nothing.

A caller may ask for all documents of a month: they are read a page at a time and opened a few at a time, so that it
fills no memory and delays no other. Knows no HTTP and no
shape in which a document is shown.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from clearlane.accounts.model import Site
from clearlane.claims.fields import Claim
from clearlane.claims.lifecycle import PayerDocumentKind, remittance_roles
from clearlane.kernel.clock import from_micros, to_local, to_micros
from clearlane.kernel.redacted_repr import shows
from clearlane.payments.model import ClaimPaymentFact
from clearlane.pipeline.load_claim import LoadedClaim, open_claim, sent_line_controls
from clearlane.pipeline.stored_facts import AnyFact, open_document_source, open_fact
from clearlane.store.claims import claims, documents, facts
from clearlane.store.claims.documents import StoredDocument
from clearlane.store.database.database import Actor, Database, Tx
from clearlane.store.payments import claim_payments, payments
from clearlane.store.vault.vault import Vault

# Ids that are looked up in one statement, documents that are in memory at a time, and documents that are opened
# before other calls run.
DOCUMENT_IDS_AT_ONCE = 1_000
DOCUMENTS_PAGE_ROWS = 50
DOCUMENTS_AT_ONCE = 5
SOFTWARE = "vendor"
"""The kind of actor that a vendor's software is."""


@shows("document_id", "claim_number")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PayerDocument:
    """What a payer stated about a claim, and the claim."""

    document_id: str
    claim_number: str
    """The clearinghouse's number of the claim."""
    created_day: date
    """When it was recorded, in the site's time zone."""
    part: bytes
    """The claim's part of the payer's file."""
    fact: AnyFact
    claim: Claim
    line_controls: tuple[str, ...] = ()
    """``REF*6R`` of the claim's lines as sent."""


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
            for id, kind in await _with_remittances(tx, vault, page):
                kinds.setdefault(id, kind)
    found = list(kinds)
    await record_documents_read(database, found, site=site, actor=actor, at=at)

    def of_kind(*, payments: bool) -> AsyncIterator[list[PayerDocument]]:
        wanted = [id for id in found if (kinds[id] == PayerDocumentKind.PAYMENT) is payments]
        return _read_pages(database, vault, wanted, site)

    return FoundDocuments(of_kind(payments=True), of_kind(payments=False))


async def record_documents_read(
    database: Database, ids: Sequence[str], *, site: Site, actor: Actor, at: datetime
) -> None:
    """Audit in one row that documents of the site are read, and mark them and their payments as fetched or seen."""
    by_software = actor.kind == SOFTWARE

    async def record(tx: Tx) -> None:
        tx.audit("documents.read", ids=list(ids), count=len(ids))
        for page in _pages(ids, DOCUMENT_IDS_AT_ONCE):
            payment_ids = await claim_payments.list_payments_of_documents(tx, page)
            await documents.mark_read(tx, page, to_micros(at), by_software=by_software)
            await payments.mark_read(tx, payment_ids, to_micros(at), by_software=by_software)

    await database.write(site.scope, record, actor=actor)


async def _read_pages(
    database: Database, vault: Vault, ids: Sequence[str], site: Site
) -> AsyncIterator[list[PayerDocument]]:
    for page in _pages(ids, DOCUMENTS_PAGE_ROWS):
        async with database.read(site.scope) as tx:
            stored = {one.document_id: one for one in await documents.find(tx, page)}
            rows = await claims.find_many(tx, sorted({one.claim_number for one in stored.values()}))
            sealed = [*(one.payload for one in stored.values()), *(one.payload for one in rows)]
            await vault.load_keys_of(tx, sealed)
        owners = {row.claim_number: row for row in rows}
        opened: list[PayerDocument] = []
        # A document that was purged after it was found is left out like one that never was.
        for at, one in enumerate(stored[id] for id in page if id in stored):
            if at and not at % DOCUMENTS_AT_ONCE:
                await asyncio.sleep(0)
            loaded = open_claim(vault, site.scope, owners[one.claim_number])
            opened.append(_open_document(vault, one, loaded, site.time_zone))
        if opened:
            yield opened


def _pages(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))


async def _with_remittances(tx: Tx, vault: Vault, ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return id and kind of documents, each with all remittances of its claim, in the order in which they count."""
    heads = await documents.find_heads(tx, ids)
    chains = await _remittances(tx, vault, sorted({head.claim_number for head in heads.values()}))
    ordered: list[tuple[str, str]] = []
    for id in ids:
        if id in heads:
            chain = chains.get(heads[id].claim_number, ())
            ordered += [(other, PayerDocumentKind.PAYMENT.value) for other in chain]
            ordered.append((id, heads[id].kind))
    return ordered


async def _remittances(
    tx: Tx, vault: Vault, claim_numbers: Sequence[str]
) -> dict[str, Sequence[str]]:
    """Return the ids of the remittances of claims, in order. Facts are opened only of claims that have several."""
    chains: dict[str, Sequence[str]] = {}
    for id, claim_number in await documents.list_of_kind(
        tx, PayerDocumentKind.PAYMENT, claim_numbers
    ):
        chains[claim_number] = (*chains.get(claim_number, ()), id)
    several = [claim_number for claim_number, chain in chains.items() if len(chain) > 1]
    if not several:
        return chains
    payments: dict[str, list[ClaimPaymentFact]] = {claim_number: [] for claim_number in several}
    rows = await facts.list_own(tx, several)
    await vault.load_keys_of(tx, [row.payload for row in rows])
    for row in rows:
        fact = open_fact(vault, row)
        if isinstance(fact, ClaimPaymentFact):
            payments[row.claim_number].append(fact)
    for claim_number, own in payments.items():
        found = (role.remittance.document_id for role in remittance_roles(own))
        chains[claim_number] = [id for id in found if id in chains[claim_number]]
    return chains


def _open_document(
    vault: Vault, stored: StoredDocument, loaded: LoadedClaim, time_zone: str
) -> PayerDocument:
    source = open_document_source(vault, stored)
    return PayerDocument(
        document_id=stored.document_id,
        claim_number=stored.claim_number,
        created_day=to_local(from_micros(stored.created_at), time_zone).date(),
        part=source.part,
        fact=source.fact,
        claim=loaded.claim,
        line_controls=sent_line_controls(loaded),
    )
