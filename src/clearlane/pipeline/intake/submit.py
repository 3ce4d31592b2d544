"""Submit: a document of claims is read, judged and stored, and only then accepted.

Load, decide, save. Reading and judging are pure and happen a few claims at a time: a document of thousands
holds nobody else up, and documents that come together are worked on together. Saving is one transaction
with its events and its audit row. Knows no HTTP: a face turns the outcome into an answer.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from clearlane.accounts.model import Site
from clearlane.claims import cob, decode, fields
from clearlane.claims.fields import Claim, ClaimKind
from clearlane.claims.finding import ClaimFinding
from clearlane.claims.rules import RULES, Facts, Judgement, judge
from clearlane.claims.write_837 import account_of
from clearlane.engine import fault_injection
from clearlane.kernel import limits
from clearlane.kernel.clock import local, micros
from clearlane.kernel.finding import Severity
from clearlane.kernel.ids import random_bytes
from clearlane.payers.directory import Payers
from clearlane.payers.model import Payer
from clearlane.pipeline.claim_status import first_row
from clearlane.pipeline.enrollment.enrollment_lookup import Enrolled, look_up
from clearlane.pipeline.intake.microbatch import Turns
from clearlane.pipeline.intake_priority import Rush
from clearlane.pipeline.load_claim import seal
from clearlane.store import claims as store
from clearlane.store.claim_lookup import account_reference
from clearlane.store.claims import NOT_ACCEPTED, RECEIVED, NewClaim, Settled
from clearlane.store.database import Actor, Database, OutcomeUnknown, Together, Tx, Unavailable
from clearlane.store.group_commit import Contended
from clearlane.store.statuses import PLACE
from clearlane.store.vault import Vault

PAYER_TYPES = {ClaimKind.MEDICAL: "Medical", ClaimKind.DENTAL: "Dental"}
DIGITS = "0123456789ABCDEFGHJKLMNPQRSTVWXYZ"
TIME_DIGITS, RANDOM_DIGITS, RANDOM_BYTES = 9, 9, 8
CENT = Decimal("0.01")
ID_IS_FREE = "C107"


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the verb needs of the house, as it stands when the call begins."""

    database: Database
    vault: Vault
    payers: Payers
    sandbox: bool
    counter: "Counter" = field(default_factory=lambda: Counter(Rush()))
    claims_max: int = limits.CLAIMS_PER_DOCUMENT_MAX
    write_seconds_max: float = limits.WRITE_SECONDS_MAX


@dataclass(frozen=True, slots=True)
class Malformed:
    """The document's shape is wrong: every finding at once, nothing stored."""

    findings: tuple[ClaimFinding, ...]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TooMany:
    """More claims than a document may hold."""

    claims_max: int


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of one claim."""

    vendor_claim_id: str
    accepted: bool
    request_id: str
    findings: tuple[ClaimFinding, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Submitted:
    """One answer a claim, in the order of the document."""

    answers: tuple[Answered, ...]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotImported:
    """The write was rolled back or timed out: nothing was stored, and sending again is safe."""


Outcome = Malformed | TooMany | Submitted | NotImported


async def submit(
    desk: Desk, document: bytes, kind: ClaimKind, *, site: Site, actor: Actor, now: datetime
) -> Outcome:
    """Read, judge and store a document. ``Accepted`` is said only after the durable commit."""
    sheaf = decode.open_document(document, kind, claims_max=desk.claims_max)
    if sheaf.count > desk.claims_max:
        return TooMany(desk.claims_max)
    desk.counter.rush.handed(sheaf.count)
    reads = await _reads(desk.counter, sheaf)
    ignored = (*sheaf.ignored, *(path for read in reads for path in read.ignored))
    faults = (*sheaf.findings, *(finding for read in reads for finding in read.findings))
    if faults:
        return Malformed(faults, ignored)
    claims = deque(read.claim for read in reads if read.claim is not None)
    del reads
    enrolled = await look_up(
        desk.database,
        desk.vault,
        desk.payers,
        claims,
        type=PAYER_TYPES[kind],
        scope=site.scope,
        seconds_max=desk.write_seconds_max,
    )
    try:
        if not desk.vault.is_ready(site.scope):
            async with asyncio.timeout(desk.write_seconds_max):
                await desk.vault.ready(site.scope)
        prepared = await _prepared(desk, claims, kind, site, now, enrolled)
        async with asyncio.timeout(desk.write_seconds_max):
            settled = await desk.database.write(
                site.scope, Together(_save, [each.row for each in prepared]), actor=actor
            )
        fault_injection.reached("accepted")
    except OutcomeUnknown:  # perhaps it is stored, so nobody may say that it is not
        raise
    except (TimeoutError, Unavailable, Contended):
        return NotImported()
    return Submitted(tuple(await _answers(prepared, settled)), ignored)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A judged claim and the row it becomes."""

    at: str
    vendor_claim_id: str
    facts: Facts
    judgement: Judgement
    row: NewClaim


class _Paper(NamedTuple):
    """A claim on its way over the counter, and what is known of it."""

    desk: Desk
    site: Site
    kind: ClaimKind
    now: datetime
    at: str
    claim: Claim
    facts: Facts


def _read(places: Sequence[tuple[decode.Sheaf, int]]) -> list[decode.Read]:
    return [sheaf.read(at, at + 1)[0] for sheaf, at in places]


def _prepare(papers: Sequence[_Paper]) -> list[_Prepared]:
    """Judge claims and make their rows, stage by stage."""
    judged = [judge(paper.claim, paper.facts, at=paper.at) for paper in papers]
    texts = [
        (fields.encode(paper.claim), _content(end))
        for paper, end in zip(papers, judged, strict=True)
    ]
    return [
        _Prepared(
            paper.at, paper.claim.Svc_VendorClaimId, paper.facts, end, _row(paper, end, *text)
        )
        for paper, end, text in zip(papers, judged, texts, strict=True)
    ]


class Counter:
    """Where a node is handed documents. Those that come together are worked on together."""

    def __init__(self, rush: Rush) -> None:
        self.rush = rush
        self.reading = Turns(_read, most=limits.CLAIMS_AT_ONCE)
        self.preparing = Turns(_prepare, most=limits.CLAIMS_AT_ONCE)


async def _reads(counter: Counter, sheaf: decode.Sheaf) -> list[decode.Read]:
    found: list[decode.Read] = []
    for start in range(0, sheaf.count, limits.CLAIMS_AT_ONCE):
        stop = min(start + limits.CLAIMS_AT_ONCE, sheaf.count)
        found += await counter.reading.do([(sheaf, at) for at in range(start, stop)])
    return found


# Claims are let go of a few at a time: thousands at once would hold the others up as long as thousands read.


async def _prepared(
    desk: Desk,
    claims: deque[Claim],
    kind: ClaimKind,
    site: Site,
    now: datetime,
    enrolled: Enrolled | None,
) -> deque[_Prepared]:
    today = local(now, site.time_zone).date()
    facts: dict[str, Facts] = {}
    found: deque[_Prepared] = deque()
    while claims:
        papers: list[_Paper] = []
        while claims and len(papers) < limits.CLAIMS_AT_ONCE:
            claim = claims.popleft()
            payer_id = claim.Svc_PayerId
            if payer_id not in facts:
                facts[payer_id] = _facts(desk, kind, payer_id, today)
            known = facts[payer_id]
            if enrolled is not None and enrolled.has(claim, known.payer):
                known = replace(known, enrolled=True)
            at = f"Claims[{len(found) + len(papers)}]"
            papers.append(_Paper(desk, site, kind, now, at, claim, known))
        found += await desk.counter.preparing.do(papers)
    return found


async def _answers(prepared: deque[_Prepared], settled: Sequence[Settled]) -> list[Answered]:
    answers: list[Answered] = []
    for end in settled:
        if answers and not len(answers) % limits.CLAIMS_ANSWERED_AT_ONCE:
            await asyncio.sleep(0)
        answers.append(_answer(prepared.popleft(), end))
    return answers


def _row(paper: _Paper, judgement: Judgement, as_sent: bytes, content: bytes) -> NewClaim:
    """The row a judged claim becomes: what was sent is hashed, what was made of it is sealed."""
    desk, site, kind, now, _, claim, known = paper
    accepted = judgement.accepted
    request_id = new_request_id(now)
    payer = known.payer.payer_id if known.payer else ""
    total = _cents(judgement.claim) if accepted else 0
    return NewClaim(
        request_id=request_id,
        kind=kind.value,
        state=RECEIVED if accepted else NOT_ACCEPTED,
        payer_id=payer,
        vendor_claim=desk.vault.fingerprint(site.scope, kind, claim.Svc_VendorClaimId).hex(),
        content=desk.vault.fingerprint(site.scope, "content", as_sent).hex(),
        reference=_reference(desk, judgement.claim, payer) if accepted else "",
        total_cents=total,
        created_at=micros(now),
        created_day=known.today.isoformat(),
        payload=desk.vault.seal(site.scope, store.TABLE, request_id, content),
        status=_status(desk, claim, site, request_id, total, known.today) if accepted else None,
    )


async def _save(txs: Sequence[Tx], documents: Sequence[Sequence[NewClaim]]) -> list[list[Settled]]:
    """Store documents that wait at the same time as if they were one; each has its own audit row."""
    ends = iter(await store.settle(txs[0], [row for rows in documents for row in rows]))
    settled = [list(islice(ends, len(rows))) for rows in documents]
    for tx, own in zip(txs, settled, strict=True):
        tx.audit("claims.submit", ids=[each.request_id for each in own])
    return settled


def _answer(prepared: _Prepared, settled: Settled) -> Answered:
    """What the caller is told: ours, an earlier one's acceptance again, or why not."""
    findings = tuple(f for f in prepared.judgement.findings if f.severity is Severity.ERROR)
    accepted = prepared.judgement.accepted
    if settled.earlier and not settled.same:
        return Answered(
            prepared.vendor_claim_id,
            accepted=False,
            request_id=prepared.row.request_id,
            findings=_taken(prepared, settled.request_id),
        )
    return Answered(prepared.vendor_claim_id, accepted, settled.request_id, findings)


def _taken(prepared: _Prepared, earlier: str) -> tuple[ClaimFinding, ...]:
    """The rule about ids speaks last, when the index over living claims has decided."""
    facts = replace(prepared.facts, earlier_request_id=earlier)
    return tuple(
        ClaimFinding(rule=ID_IS_FREE, location=f"{prepared.at}.{path}", message=message)
        for path, message in RULES[ID_IS_FREE].check(prepared.judgement.claim, facts)
    )


def _facts(desk: Desk, kind: ClaimKind, payer_id: str, today: date) -> Facts:
    """What the rules are told about the world, looked up once a document and payer."""
    payer: Payer | None = desk.payers.find(payer_id, PAYER_TYPES[kind])
    others = [type for of, type in PAYER_TYPES.items() if of is not kind]
    return Facts(
        today=today,
        sandbox=desk.sandbox,
        payer=payer,
        payer_of_other_type=payer is None
        and any(desk.payers.find(payer_id, type) is not None for type in others),
    )


def _reference(desk: Desk, claim: Claim, payer_id: str) -> str:
    """The keyed hash of the account number, where it can be CLM01."""
    account = account_of(claim)
    return account_reference(desk.vault, payer_id, account) if account else ""


def _status(
    desk: Desk, claim: Claim, site: Site, request_id: str, total: int, today: date
) -> bytes:
    """The claim's first row of the status list, sealed."""
    row = first_row(
        vendor_id=site.vendor_id,
        vendor_site_id=site.vendor_site_id,
        request_id=request_id,
        vendor_claim_id=claim.Svc_VendorClaimId,
        total_cents=total,
        day=today,
    )
    return desk.vault.seal(site.scope, PLACE, request_id, row)


def _cents(claim: Claim) -> int:
    return int(cob.charge_of(claim).quantize(CENT) * 100)


def _content(judgement: Judgement) -> bytes:
    return seal(fields.encode(judgement.claim), judgement.repairs, judgement.findings)


def new_request_id(now: datetime) -> str:
    """A claim's number: time first, so that rows lie in order, then chance. 19 characters."""
    chance = int.from_bytes(random_bytes(RANDOM_BYTES), "big")
    return f"C{_time_digits(micros(now) // 1_000)}{_digits(chance, RANDOM_DIGITS)}"


@lru_cache(maxsize=8)
def _time_digits(milliseconds: int) -> str:
    """The claims of a document, and of those that come with it, share their moment."""
    return _digits(milliseconds, TIME_DIGITS)


def _digits(number: int, count: int) -> str:
    found = ""
    for _ in range(count):
        number, digit = divmod(number, len(DIGITS))
        found = DIGITS[digit] + found
    return found
