"""Record payer facts on claims and recompute their status.

    await ensure_keys(vault, claim_facts)               # before the transaction: the vendors' data keys
    await record_facts(tx, vault, claim_facts, now, context.answer_days)     # in a transaction of a system scope

A repeated fact counts once; the earliest report of a statement is kept. So files may arrive in any
order, and a file may be posted again after a crash. Knows facts, and the documents and claim payments that they become; no
file, payer or mailbox.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from clearlane.claims import lifecycle
from clearlane.claims.lifecycle import PayerDocumentKind
from clearlane.claims.responses.facts import Fact
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import to_local, to_micros
from clearlane.kernel.redacted_repr import shows
from clearlane.payments.model import ClaimPaymentFact
from clearlane.payments.payment import ClaimPaymentType, MatchedBy
from clearlane.pipeline.answer_days import AnswerDays
from clearlane.pipeline.claim_events import RecordedFact
from clearlane.pipeline.claim_status import update_statuses
from clearlane.pipeline.claim_succession import is_void_answer, open_status, pass_refused
from clearlane.pipeline.related_claims import list_links, lock_relatives, update_relatives
from clearlane.pipeline.stored_facts import (
    AnyFact,
    DocumentSource,
    KnownFacts,
    load_known_facts,
    open_document_source,
    seal_document_source,
    seal_fact,
)
from clearlane.store.claims import claim_updates, documents, facts
from clearlane.store.claims.claim_updates import ClaimStateRow
from clearlane.store.claims.documents import StoredDocument
from clearlane.store.claims.facts import FactRow
from clearlane.store.database.database import Tx
from clearlane.store.delivery import proof_log
from clearlane.store.payments import claim_payments
from clearlane.store.payments.claim_payments import ClaimPaymentRole, ClaimPaymentRow
from clearlane.store.vault.vault import Vault

CLAIM_FACTS_AT_ONCE = 128

_IDENTITY = msgspec.json.Encoder()


class PaymentPlace(NamedTuple):
    """The place of a claim payment in a payment, and how it found its claim."""

    payment_id: str
    number: int
    """The number of the claim in the payment, from 1."""
    matched_by: MatchedBy


@shows("claim_number", "fact.kind")
class ClaimFact(NamedTuple):
    """A fact about one claim, and the claim it belongs to."""

    claim_number: str
    vendor_id: int
    site_id: int
    fact: AnyFact
    x12_part: bytes | None = None
    """The claim's part of the payer's file, for facts that become a document."""
    inbox_id: int | None = None
    """The payer's file; None for a fact of our own."""
    place: PaymentPlace | None = None
    """For a claim payment: its place in the payment."""
    leaf: bytes = b""
    """For an acknowledgement or an answer: the leaf that it adds to the log of filings, if it is new."""


class ClaimOwnershipError(Exception):
    """A fact was about to be recorded on a claim of another vendor or site."""


async def ensure_keys(vault: Vault, claim_facts: Iterable[ClaimFact]) -> None:
    """Make sure that every site has its data keys, which cannot be created inside a transaction."""
    for owner in {(one.vendor_id, one.site_id) for one in claim_facts}:
        await vault.ensure_key(owner)


async def record_facts(
    tx: Tx,
    vault: Vault,
    claim_facts: Sequence[ClaimFact],
    now: datetime,
    answer_days: AnswerDays,
) -> int:
    """Record facts and update the status of their claims; return how many facts were new.

    Claims are locked a page at a time and in the order of their ids, so that concurrent postings cannot deadlock. What is
    recorded on a void or replacement may close the claim before it, and the reverse: these are recomputed as well.
    """
    links = await list_links(tx, [one.claim_number for one in claim_facts])
    if links:
        claim_facts = await _with_voided_claims(tx, vault, claim_facts, links)
    ordered = sorted(claim_facts, key=lambda one: one.claim_number)
    await lock_relatives(tx, [one.claim_number for one in ordered], links.values())
    new = 0
    for page in _pages(ordered):
        new += await _record_page(tx, vault, page, now, answer_days)
    await update_relatives(tx, vault, list(links), now, answer_days)
    return new


async def wait_again(
    tx: Tx, vault: Vault, claim_number: str, now: datetime, answer_days: AnswerDays
) -> None:
    """Let a claim whose payer said again what is known of it wait from now on, as after a new answer."""
    locked = await claim_updates.lock_claims(tx, [claim_number])
    known = await load_known_facts(tx, vault, [claim_number])
    changed: dict[ClaimStateRow, Sequence[RecordedFact] | None] = dict.fromkeys(locked.values(), ())
    await update_statuses(tx, vault, changed, known, now, answer_days, waits_again=True)


async def withdraw_fact(
    tx: Tx,
    vault: Vault,
    claim_number: str,
    identity: str,
    now: datetime,
    answer_days: AnswerDays,
) -> DocumentSource:
    """Take a claim payment back from a claim it does not concern, and recompute the claim's status.

    Returns what its document was rendered from. The fact stays if another claim payment states it as well.
    """
    await lock_relatives(tx, [claim_number], (await list_links(tx, [claim_number])).values())
    locked = await claim_updates.lock_claims(tx, [claim_number])
    known = await load_known_facts(tx, vault, [claim_number])
    document = await documents.find_any(tx, known[claim_number][identity].document_id)
    if document is None:
        raise LookupError(f"a payment of claim {claim_number} has no document")
    await vault.load_keys_of(tx, [document.payload])
    source = open_document_source(vault, document)
    others = await claim_payments.list_for_claims(tx, [claim_number])
    if not any(one.identity == identity for one in others):
        await facts.remove(tx, claim_number, identity)
        await documents.remove(tx, document.document_id)
        del known[claim_number][identity]
        await update_statuses(tx, vault, dict.fromkeys(locked.values()), known, now, answer_days)
        await claim_payments.set_roles(
            tx, list(_claim_payment_roles(claim_number, known[claim_number]))
        )
        await update_relatives(tx, vault, [claim_number], now, answer_days)
    return source


def _pages(claim_facts: Sequence[ClaimFact]) -> Iterator[Sequence[ClaimFact]]:
    for start in range(0, len(claim_facts), CLAIM_FACTS_AT_ONCE):
        yield claim_facts[start : start + CLAIM_FACTS_AT_ONCE]


async def _with_voided_claims(
    tx: Tx, vault: Vault, claim_facts: Sequence[ClaimFact], links: dict[str, ClaimStateRow]
) -> list[ClaimFact]:
    """Return facts with reversals that name a void on the claim that it voids: a void pays nothing to be taken back.

    Adds the links of those claims.
    """
    await vault.load_keys_of(tx, [one.status for one in links.values() if one.status])
    voided = {
        link.claim_number: pass_refused(link.predecessor_id, links)
        for link in links.values()
        if link.predecessor_id and open_status(vault, link).is_void
    }
    earlier = await list_links(tx, sorted(set(voided.values())))
    payers = {id: one.payer_id for id, one in {**earlier, **links}.items()}
    links |= earlier

    def owner(one: ClaimFact) -> str:
        if not isinstance(one.fact, ClaimPaymentFact) or not one.fact.is_reversal:
            return one.claim_number
        before = voided.get(one.claim_number, "")
        return before if payers.get(before) == payers.get(one.claim_number) else one.claim_number

    return [one._replace(claim_number=owner(one)) for one in claim_facts]


@dataclass(slots=True)
class _FactChanges:
    """The rows to write for a page of facts."""

    added: list[FactRow] = field(default_factory=list)
    leaves: dict[int, list[bytes]] = field(default_factory=dict)
    """The leaves of new facts, by the file that they came in."""
    answer_leaves: dict[str, bytes] = field(default_factory=dict)
    """The leaves of new answers in real time, which have no file, by their documents."""
    earlier: list[FactRow] = field(default_factory=list)
    documents: list[StoredDocument] = field(default_factory=list)
    claim_payments: list[ClaimPaymentRow] = field(default_factory=list)
    changed: dict[str, list[RecordedFact]] = field(default_factory=dict)
    """The claims whose status is to be recomputed, each with its new facts."""

    def add_leaf(self, one: ClaimFact, fact: AnyFact) -> None:
        """Add the leaf of a new fact, if it has one: under its file, or under its document."""
        if one.leaf and one.inbox_id is not None:
            self.leaves.setdefault(one.inbox_id, []).append(one.leaf)
        elif one.leaf:
            self.answer_leaves[fact.document_id] = one.leaf


async def _record_page(
    tx: Tx,
    vault: Vault,
    claim_facts: Sequence[ClaimFact],
    now: datetime,
    answer_days: AnswerDays,
) -> int:
    """Record one page. The claims are locked before their facts are read, so concurrent postings serialize."""
    locked = await claim_updates.lock_claims(tx, [one.claim_number for one in claim_facts])
    known = await load_known_facts(tx, vault, list(locked))
    await vault.load_keys_of(tx, [one.status for one in locked.values() if one.status])
    changes = _sort_facts(vault, claim_facts, locked, known, now)
    if changes.added:
        await facts.add(tx, changes.added)
    for inbox_id, leaves in changes.leaves.items():
        await proof_log.add_acknowledgements(tx, inbox_id, leaves, to_micros(now))
    for document_id, leaf in changes.answer_leaves.items():
        await proof_log.add_answer(tx, document_id, leaf, to_micros(now))
    if changes.documents:
        await documents.add(tx, changes.documents)
    if changes.earlier:
        await facts.replace(tx, changes.earlier)
    if changes.claim_payments:
        await claim_payments.add(tx, changes.claim_payments)
    if changes.changed:
        claims = {locked[id]: new for id, new in changes.changed.items()}
        await update_statuses(tx, vault, claims, known, now, answer_days)
    if roles := _changed_roles(changes, known):
        await claim_payments.set_roles(tx, roles)
    return len(changes.added)


def _sort_facts(
    vault: Vault,
    claim_facts: Sequence[ClaimFact],
    locked: Mapping[str, ClaimStateRow],
    known: KnownFacts,
    now: datetime,
) -> _FactChanges:
    """Sort facts into new ones and earlier reports of known ones, and add them to ``known``."""
    changes = _FactChanges()
    for one in claim_facts:
        claim = locked.get(one.claim_number)
        if claim is None:
            continue
        if (claim.vendor_id, claim.site_id) != (one.vendor_id, one.site_id):
            raise ClaimOwnershipError(one.claim_number)
        fact = _as_answer(vault, _in_site_time(one.fact, claim), claim)
        identity = vault.fingerprint(one.vendor_id, "fact", _IDENTITY.encode(fact.identity)).hex()
        claim_known = known[one.claim_number]
        before = claim_known.get(identity)
        if before is not None and one.place is not None:
            changes.claim_payments.append(_claim_payment(one, before, identity))
        if before is None:
            if one.x12_part is not None:
                fact = msgspec.structs.replace(fact, document_id=documents.new_id())
                changes.documents.append(_document(vault, one, fact, now))
            claim_known[identity] = fact
            changes.added.append(_row(vault, one, fact, identity))
            changes.add_leaf(one, fact)
            changes.changed.setdefault(one.claim_number, []).append(_recorded(one, fact))
            if one.place is not None:
                changes.claim_payments.append(_claim_payment(one, fact, identity))
        elif (fact.at, fact.serial) < (before.at, before.serial):
            # Keep the document of the report that arrived first: its id may have been given out.
            fact = claim_known[identity] = msgspec.structs.replace(
                fact, document_id=before.document_id
            )
            changes.earlier.append(_row(vault, one, fact, identity))
        else:
            continue
        changes.changed.setdefault(one.claim_number, [])
    return changes


def _recorded(one: ClaimFact, fact: AnyFact) -> RecordedFact:
    by_person = one.place is not None and one.place.matched_by is MatchedBy.PERSON
    return RecordedFact(
        fact,
        payment_id=one.place.payment_id if one.place else "",
        # A fact of our own has neither a file nor a part of one; an answer in real time has no file.
        from_payer=(one.inbox_id is not None or one.x12_part is not None) and not by_person,
        has_document=one.x12_part is not None,
    )


def _in_site_time(fact: AnyFact, claim: ClaimStateRow) -> AnyFact:
    """Return a fact of our own in the site's local time, in which its days are counted."""
    if isinstance(fact, Fact) and fact.at.tzinfo is not None:
        at = to_local(fact.at, claim.time_zone).replace(tzinfo=None)
        return msgspec.structs.replace(fact, at=at)
    return fact


def _as_answer(vault: Vault, fact: AnyFact, claim: ClaimStateRow) -> AnyFact:
    """Return a claim payment on a void as what it is: carried out, whatever reason the payer gives for paying nothing."""
    is_answer = isinstance(fact, ClaimPaymentFact) and not fact.is_reversal and is_void_answer(fact)
    if is_answer and claim.status is not None and open_status(vault, claim).is_void:
        return msgspec.structs.replace(fact, label=ClaimLabel.VOIDED)
    return fact


def _row(vault: Vault, one: ClaimFact, fact: AnyFact, identity: str) -> FactRow:
    return FactRow(
        vendor_id=one.vendor_id,
        site_id=one.site_id,
        claim_number=one.claim_number,
        identity=identity,
        kind=str(fact.kind),
        at=to_micros(fact.at.replace(tzinfo=UTC)),
        inbox_id=one.inbox_id,
        document_id=fact.document_id,
        payload=seal_fact(vault, (one.vendor_id, one.site_id), one.claim_number, identity, fact),
    )


def _document(vault: Vault, one: ClaimFact, fact: AnyFact, now: datetime) -> StoredDocument:
    is_payment = isinstance(fact, ClaimPaymentFact)
    source = DocumentSource(one.x12_part or b"", fact)
    return StoredDocument(
        vendor_id=one.vendor_id,
        site_id=one.site_id,
        document_id=fact.document_id,
        claim_number=one.claim_number,
        kind=(PayerDocumentKind.PAYMENT if is_payment else PayerDocumentKind.STATUS).value,
        created_at=to_micros(now),
        payload=seal_document_source(vault, (one.vendor_id, one.site_id), fact.document_id, source),
    )


def _claim_payment(one: ClaimFact, fact: AnyFact, identity: str) -> ClaimPaymentRow:
    """Return the row of a claim payment, in the role that it has if it is the only one."""
    if one.place is None or not isinstance(fact, ClaimPaymentFact):
        raise ClaimOwnershipError("only a claim payment has a place in a payment")
    type = ClaimPaymentType.REVERSAL if fact.is_reversal else ClaimPaymentType.ORIGINAL
    return ClaimPaymentRow(
        vendor_id=one.vendor_id,
        site_id=one.site_id,
        payment_id=one.place.payment_id,
        number=one.place.number,
        claim_number=one.claim_number,
        identity=identity,
        reverses="",
        type=type.value,
        label=fact.label.value,
        matched_by=one.place.matched_by.value,
        in_force=int(not fact.is_reversal),
        replaced=0,
        charge_cents=fact.charged,
        paid_cents=fact.paid,
        patient_cents=fact.patient,
        balanced=int(fact.balanced),
        document_id=fact.document_id,
        paid_day=(fact.effective_date or fact.day).isoformat(),
        reasons=msgspec.json.encode(fact.reasons).decode(),
    )


def _changed_roles(changes: _FactChanges, known: KnownFacts) -> list[ClaimPaymentRole]:
    """Return the roles of the claim payments of claims with several payments; a single one has its role already."""
    concerned = dict.fromkeys(
        [*changes.changed, *(one.claim_number for one in changes.claim_payments)]
    )
    return [
        role
        for claim_number in concerned
        if len(known[claim_number]) > 1
        for role in _claim_payment_roles(claim_number, known[claim_number])
    ]


def _claim_payment_roles(
    claim_number: str, claim_known: Mapping[str, AnyFact]
) -> Iterator[ClaimPaymentRole]:
    """Yield the role of each claim payment of a claim that has more than one."""
    identities = {
        id(fact): identity
        for identity, fact in claim_known.items()
        if isinstance(fact, ClaimPaymentFact)
    }
    if len(identities) < 2:
        return
    payments = [fact for fact in claim_known.values() if isinstance(fact, ClaimPaymentFact)]
    for role in lifecycle.remittance_roles(payments):
        type = (
            ClaimPaymentType.REVERSAL
            if role.remittance.is_reversal
            else ClaimPaymentType.CORRECTION
            if role.is_correction
            else ClaimPaymentType.ORIGINAL
        )
        yield ClaimPaymentRole(
            claim_number=claim_number,
            identity=identities[id(role.remittance)],
            reverses=identities[id(role.reverses)] if role.reverses is not None else "",
            type=type.value,
            in_force=int(role.in_force),
            replaced=int(role.replaced),
        )
