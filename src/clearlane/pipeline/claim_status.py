"""Standing: what is learnt about claims is added to what is known, and where they stand is told anew.

    await ready(vault, told)                      # before the transaction: the clients' keys
    await tell(tx, vault, told, now)              # in a transaction of a System scope

A fact told again counts once, in whatever file and however often it comes; of several reports of one
statement the earliest is kept. So files may come in any order, and a file may be posted again after a crash.
Knows facts and the row of the status list; knows no file, no payer and no mailbox.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TypeAlias

import msgspec

from clearlane.claims import lifecycle
from clearlane.claims.facts import Fact, Kind
from clearlane.claims.lifecycle import Standing, State
from clearlane.kernel import limits
from clearlane.kernel.clock import local, micros
from clearlane.payments.model import Remit
from clearlane.pipeline.load_claim import vendor_claim_id
from clearlane.store import claim_updates, documents, facts
from clearlane.store import claims as claims_store
from clearlane.store.claim_updates import Held, Stood
from clearlane.store.database import Tx
from clearlane.store.documents import StoredDocument
from clearlane.store.facts import FactRow
from clearlane.store.statuses import PLACE
from clearlane.store.vault import Vault

AnyFact: TypeAlias = Fact | Remit

NO_DAY = date(1, 1, 1)
KNOWN_TO_THE_PAYER = frozenset({State.ACKNOWLEDGED, State.PENDING, State.COMPLETE})


@dataclass(frozen=True, slots=True)
class ClaimFact:
    """Something learnt about one claim."""

    request_id: str
    vendor_id: int
    site_id: int
    fact: AnyFact
    x12_part: bytes | None = field(default=None, repr=False)
    """The claim's part of the file it was said in, where that is worth a document."""
    inbox_id: int | None = None


class Shown(msgspec.Struct, frozen=True):
    """What a document is made from when it is asked for."""

    part: bytes
    fact: AnyFact

    def __repr__(self) -> str:
        return f"Shown({len(self.part)} bytes)"


class StatusRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the status list, its fields by the names and in the order of the interface."""

    VendorId: int
    VendorSiteId: str
    ClaimNumber: str
    CurrentState: str
    StateChangeDate: date
    PayerAction: str = ""
    PayerActionDate: date = NO_DAY
    PayerControlNumber: str = ""
    CreateDate: date
    LastUpdateDate: date
    RelatedDocumentType: str = ""
    RelatedDocumentId: str = ""
    TotalClaimAmount: float
    PayerAmount: float = 0
    Adjustments: float = 0
    PatientAmount: float = 0
    PayerName: str | None = None
    PaymentMethod: str | None = None
    PaymentReferenceNumber: str = ""
    PaymentEffectiveDate: date = NO_DAY
    VendorClaimId: str

    def __repr__(self) -> str:
        return f"StatusRow({self.ClaimNumber} {self.CurrentState})"


async def ready(vault: Vault, told: Iterable[ClaimFact]) -> None:
    """Make sure that everything can be sealed; a transaction cannot wait for that."""
    for vendor_id in {one.vendor_id for one in told}:
        await vault.ready(vendor_id)


async def tell(tx: Tx, vault: Vault, told: Sequence[ClaimFact], now: datetime) -> int:
    """Add facts to claims and write where these stand now; how many facts were new.

    A few claims at a time, always in one order: where the database is asked over a connection, others of this
    process have their turn in between.
    """
    ordered = sorted(told, key=lambda one: one.request_id)
    new = 0
    for start in range(0, len(ordered), limits.TOLD_AT_ONCE):
        new += await _tell(tx, vault, ordered[start : start + limits.TOLD_AT_ONCE], now)
    return new


async def restand(tx: Tx, vault: Vault, request_ids: Sequence[str], now: datetime) -> None:
    """Write anew where these claims stand: for rows of a time when nothing was written there."""
    held = await claim_updates.hold(tx, request_ids)
    await _stand(tx, vault, list(held.values()), await _known(tx, vault, list(held)), now)


def first_row(
    *,
    vendor_id: int,
    vendor_site_id: str,
    request_id: str,
    vendor_claim_id: str,
    total_cents: int,
    day: date,
) -> bytes:
    """The row of a claim that was accepted just now."""
    return _JSON.encode(
        StatusRow(
            VendorId=vendor_id,
            VendorSiteId=vendor_site_id,
            ClaimNumber=request_id,
            CurrentState=State.RECEIVED,
            StateChangeDate=day,
            CreateDate=day,
            LastUpdateDate=day,
            TotalClaimAmount=total_cents / 100,
            VendorClaimId=vendor_claim_id,
        )
    )


def status_row(before: StatusRow, standing: Standing, today: date) -> StatusRow:
    """The row of a claim whose standing changed today; what identifies it stays as it was."""
    return msgspec.structs.replace(
        before,
        CurrentState=standing.state.value,
        StateChangeDate=standing.state_changed_day or before.CreateDate,
        PayerAction=standing.payer_action,
        PayerActionDate=standing.payer_action_day or NO_DAY,
        PayerControlNumber=standing.payer_control_number,
        LastUpdateDate=today,
        RelatedDocumentType=standing.document_kind,
        RelatedDocumentId=standing.document_id,
        TotalClaimAmount=standing.total / 100,
        PayerAmount=standing.payer / 100,
        Adjustments=standing.adjustments / 100,
        PatientAmount=standing.patient / 100,
        PayerName=standing.payer_name or None,
        PaymentMethod=standing.payment_method or None,
        PaymentReferenceNumber=standing.payment_reference,
        PaymentEffectiveDate=standing.payment_effective_day or NO_DAY,
    )


def opened_fact(vault: Vault, row: FactRow) -> AnyFact:
    """A stored fact."""
    place = facts.place(row.request_id, row.identity)
    return _FACT.decode(vault.open(row.vendor_id, facts.TABLE, place, row.payload))


def opened_document(vault: Vault, row: StoredDocument) -> Shown:
    """What a stored document is made from."""
    return _SHOWN.decode(vault.open(row.vendor_id, documents.TABLE, row.document_id, row.payload))


_JSON = msgspec.json.Encoder()
_FACT: msgspec.json.Decoder[AnyFact] = msgspec.json.Decoder(Fact | Remit)
_ROW = msgspec.json.Decoder(StatusRow)
# A part is bytes, which JSON would have to spell.
_PACK = msgspec.msgpack.Encoder()
_SHOWN = msgspec.msgpack.Decoder(Shown)

Known: TypeAlias = dict[str, dict[str, AnyFact]]
"""The facts of each claim, by their keyed hashes."""


@dataclass(slots=True)
class _News:
    """What is new in what was told."""

    added: list[FactRow] = field(default_factory=list)
    earlier: list[FactRow] = field(default_factory=list)
    documents: list[StoredDocument] = field(default_factory=list)
    changed: dict[str, None] = field(default_factory=dict)


async def _tell(tx: Tx, vault: Vault, told: Sequence[ClaimFact], now: datetime) -> int:
    """The claims are held first: two who tell one claim something do so in turn, and see what the other said."""
    held = await claim_updates.hold(tx, [one.request_id for one in told])
    known = await _known(tx, vault, list(held))
    news = _news(vault, told, held, known, now)
    if news.added:
        await facts.add(tx, news.added)
    if news.documents:
        await documents.add(tx, news.documents)
    if news.earlier:
        await facts.replace(tx, news.earlier)
    if news.changed:
        await _stand(tx, vault, [held[id] for id in news.changed], known, now)
    return len(news.added)


async def _known(tx: Tx, vault: Vault, request_ids: Sequence[str]) -> Known:
    rows = await facts.of_claims(tx, request_ids)
    await vault.fetch(tx, [row.payload for row in rows])
    known: Known = {request_id: {} for request_id in request_ids}
    for row in rows:
        known[row.request_id][row.identity] = opened_fact(vault, row)
    return known


def _news(
    vault: Vault, told: Sequence[ClaimFact], held: Mapping[str, Held], known: Known, now: datetime
) -> _News:
    """Sort what was told into new statements and earlier reports of known ones; ``known`` learns them."""
    news = _News()
    for one in told:
        claim = held.get(one.request_id)
        if claim is None:
            continue
        owner = (claim.vendor_id, claim.site_id)
        assert owner == (one.vendor_id, one.site_id), "a claim is its own client's"
        fact = _local(one.fact, claim)
        identity = vault.fingerprint(one.vendor_id, "fact", _JSON.encode(fact.identity)).hex()
        mine = known[one.request_id]
        before = mine.get(identity)
        if before is None:
            if one.x12_part is not None:
                fact = msgspec.structs.replace(fact, document=documents.new_id())
                news.documents.append(_document(vault, one, fact, now))
            mine[identity] = fact
            news.added.append(_row(vault, one, fact, identity))
        elif (fact.at, fact.serial) < (before.at, before.serial):
            # The document stays the one that was made of the report that came first.
            fact = mine[identity] = msgspec.structs.replace(fact, document=before.document)
            news.earlier.append(_row(vault, one, fact, identity))
        else:
            continue
        news.changed[one.request_id] = None
    return news


def _local(fact: AnyFact, claim: Held) -> AnyFact:
    """What we say ourselves is said by the client's clock, as its days are counted."""
    if isinstance(fact, Fact) and fact.at.tzinfo is not None:
        at = local(fact.at, claim.time_zone).replace(tzinfo=None)
        return msgspec.structs.replace(fact, at=at)
    return fact


def _row(vault: Vault, one: ClaimFact, fact: AnyFact, identity: str) -> FactRow:
    place = facts.place(one.request_id, identity)
    return FactRow(
        vendor_id=one.vendor_id,
        site_id=one.site_id,
        request_id=one.request_id,
        identity=identity,
        kind=str(fact.kind),
        at=micros(fact.at.replace(tzinfo=UTC)),
        inbox_id=one.inbox_id,
        document_id=fact.document,
        payload=vault.seal(one.vendor_id, facts.TABLE, place, _JSON.encode(fact)),
    )


def _document(vault: Vault, one: ClaimFact, fact: AnyFact, now: datetime) -> StoredDocument:
    remitted = isinstance(fact, Remit)
    content = _PACK.encode(Shown(one.x12_part or b"", fact))
    return StoredDocument(
        vendor_id=one.vendor_id,
        site_id=one.site_id,
        document_id=fact.document,
        request_id=one.request_id,
        kind=lifecycle.REMITTANCE_ADVICE if remitted else lifecycle.CLAIM_STATUS,
        created_at=micros(now),
        payload=vault.seal(one.vendor_id, documents.TABLE, fact.document, content),
    )


async def _stand(
    tx: Tx, vault: Vault, changed: Sequence[Held], known: Known, now: datetime
) -> None:
    """Write where these claims stand, with everything that follows from it."""
    await vault.fetch(tx, [one.status for one in changed if one.status])
    rows: list[Stood] = []
    moved: list[tuple[Held, str]] = []
    refused: list[Held] = []
    for held in changed:
        told = known[held.request_id].values()
        standing = lifecycle.fold(told, total=held.total_cents)
        before = await _before(tx, vault, held)
        after = status_row(before, standing, local(now, held.time_zone).date())
        state = standing.state.value
        if before.CurrentState != state:
            moved.append((held, state))
            if standing.state is State.REJECTED:
                refused.append(held)
            # The caller has sent the claim anew, and only one may live; the list tells the truth of both.
            elif held.state == State.REJECTED and await claim_updates.replaced(tx, held):
                state = held.state
        elif held.state != state:
            state = held.state
        sealed = vault.seal(held.vendor_id, PLACE, held.request_id, _JSON.encode(after))
        waits = _waits(held, before, standing, told)
        rows.append(Stood(held.request_id, state, waits, micros(now), sealed))
    await claim_updates.stand(tx, rows)
    if moved:
        await claim_updates.note(tx, moved, micros(now))
    if refused:
        await claim_updates.give_back(tx, refused)


def _waits(held: Held, before: StatusRow, standing: Standing, told: Iterable[AnyFact]) -> int:
    """Whether the claim waits to be put into a batch."""
    if standing.send_again:
        again = max(
            (one.attempt for one in told if isinstance(one, Fact) and one.kind is Kind.SEND_AGAIN),
            default=0,
        )
        # It may be in a new batch already, and that one not yet be delivered.
        return 1 if again >= held.sendings else held.waits
    refused = standing.state is State.REJECTED and before.CurrentState != State.REJECTED
    return 0 if refused or standing.state in KNOWN_TO_THE_PAYER else held.waits


async def _before(tx: Tx, vault: Vault, held: Held) -> StatusRow:
    """The row as it was; made from the claim itself where it was stored before there were rows."""
    if held.status is not None:
        return _ROW.decode(vault.open(held.vendor_id, PLACE, held.request_id, held.status))
    sealed = await claim_updates.payload(tx, held.request_id)
    await vault.fetch(tx, [sealed])
    content = vault.open(held.vendor_id, claims_store.TABLE, held.request_id, sealed)
    return _ROW.decode(
        first_row(
            vendor_id=held.vendor_id,
            vendor_site_id=held.vendor_site_id,
            request_id=held.request_id,
            vendor_claim_id=vendor_claim_id(content),
            total_cents=held.total_cents,
            day=date.fromisoformat(held.created_day),
        )
    )
