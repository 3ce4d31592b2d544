"""List claims and open what lists show of them: label, patient, payer, the reason in one line, and money.

    rows = await list_claim_rows(context, [scope], ClaimListRequest(given={"tab": "needs_you"}, limit=51), actor=actor)
    keys = await find_claims(context, scopes, request, ClaimListKey)     # keys alone, for totals and long worklists

V3's status list, v1, the console, exports and the CLI list claims with this, and only render. Every look is audited.
Knows how claims, facts and payments are sealed; knows no page and no HTTP.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import NamedTuple

from clearlane.accounts.model import Site
from clearlane.claims.awaiting import Awaited
from clearlane.claims.claim_status import ClaimStatus
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import from_micros, moment_text
from clearlane.kernel.formats import last_first
from clearlane.kernel.ids import Scope, SiteId, VendorScope
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.filing_limits import NO_CONTRACT, SiteContract
from clearlane.payers.model import Payer
from clearlane.payments.as_json import money_text
from clearlane.payments.model import ClaimPaymentFact
from clearlane.pipeline.awaited_thing import AwaitedThing, awaited_thing_of
from clearlane.pipeline.claim_label import shown_label
from clearlane.pipeline.filing_limit import ClaimFiling, filing_of
from clearlane.pipeline.load_claim import open_claim, open_header
from clearlane.pipeline.query.claim_filters import ClaimListRequest, list_queries, split_by_day
from clearlane.pipeline.query.claim_reason import (
    ENROLLMENT_REASON,
    ClaimReason,
    explain_label,
    find_next_payer,
    silence_reason,
)
from clearlane.pipeline.stored_facts import open_claim_status, open_claim_statuses, open_fact
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import filing_alarms
from clearlane.store.claims import claim_query, documents, facts, work_items
from clearlane.store.claims.claim_query import (
    ClaimListRow,
    ClaimOrder,
    ClaimQuery,
    Row,
    StatusListRow,
)
from clearlane.store.claims.claims import SHADOWS, StoredClaim
from clearlane.store.claims.documents import StoredDocument
from clearlane.store.claims.facts import FactRow
from clearlane.store.claims.work_items import ClaimWorkItem
from clearlane.store.database.database import Actor, Database, Tx, write_audit
from clearlane.store.vault.vault import Vault

AnyScope = Scope | VendorScope
STATUSES_AT_ONCE = 500
GENERATIONS_MAX = 9
UNPAID_LABELS = frozenset(
    {
        ClaimLabel.REJECTED,
        ClaimLabel.TO_RESEND,
        ClaimLabel.TAKEN_BACK,
        ClaimLabel.VOIDED,
        ClaimLabel.REPLACED,
    }
)
"""Labels of claims on which no payment is in force, whatever was paid before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow:
    """A claim as lists show it; without a repr of patient data. Amounts are cents."""

    site: Site
    stored: ClaimListRow = field(repr=False)
    status: ClaimStatus | None = field(repr=False)
    """None for a claim that was not accepted."""
    number: str
    label: ClaimLabel
    """As it is stored; :attr:`shown_label` is what is shown."""
    awaiting: AwaitedThing | None
    """None for a closed claim."""
    filing: ClaimFiling | None
    """By when it is to be with its payer; None for a closed claim."""
    kind: str
    payer_id: str
    patient: str = field(repr=False)
    born: date | None = field(repr=False)
    member_id: str = field(repr=False)
    vendor_claim_id: str
    service_day: date | None
    bill_type: str
    """Of an institutional claim, with its frequency; empty of every other."""
    reason: ClaimReason
    charge: int
    paid: int | None
    """None before a payer decided."""
    owes: int | None
    changed_at: datetime
    generation: int
    """1 for a first submission, 2 for its correction."""
    is_replaced: bool
    """Whether another claim was sent in its place, and took effect or may still."""
    work: ClaimWorkItem | None = None
    forwarded_to: str = ""
    """The next payer, if this one forwarded the claim: its name, or words for one without a name."""

    @property
    def shown_label(self) -> ClaimLabel:
        """The label that people and programs see."""
        return shown_label(self.label, is_replaced=self.is_replaced)

    @property
    def no_answer(self) -> bool:
        """Whether the payer did not answer in time, and a person is to look at it."""
        return self.label is ClaimLabel.NO_ANSWER

    @property
    def readable_charge(self) -> int | None:
        """The charge; None if the claim was not accepted and has none that could be read."""
        return None if self.label is ClaimLabel.NOT_ACCEPTED and not self.charge else self.charge


class _Answers(NamedTuple):
    """What is loaded beside the rows of claims."""

    facts: Mapping[str, Sequence[FactRow]]
    documents: Mapping[str, StoredDocument]
    generations: Mapping[str, int]
    work: Mapping[str, ClaimWorkItem]
    contracts: Mapping[int, SiteContract]
    payers: PayerDirectory

    def contract_of(self, row: ClaimListRow) -> SiteContract:
        """Return the filing limits of the contract of a claim's site."""
        return self.contracts.get(row.site_id, NO_CONTRACT)

    def payer_of(self, row: ClaimListRow) -> Payer | None:
        """Return the payer of a claim; None if it is not known."""
        return self.payers.find(row.payer_id, KINDS[ClaimKind(row.kind)].payer_type)


async def find_claims(
    context: WorkContext, scopes: Iterable[AnyScope], request: ClaimListRequest, row_type: type[Row]
) -> list[tuple[AnyScope, Row]]:
    """Return one page of the claims of several scopes, each with its scope, in the order of the list.

    Each vendor has its own queries, because what is found by keyed hash is hashed with its key.
    """
    column, descends = request.chosen_order.value
    found: list[tuple[AnyScope, Row]] = []
    seen: set[str] = set()
    for scope in split_by_day(context, scopes):
        async with context.database.read(scope) as tx:
            for query in list_queries(context, scope, request):
                rows = await claim_query.list_claims(tx, query, row_type)
                found += [(scope, row) for row in rows if row.claim_number not in seen]
                seen.update(row.claim_number for row in rows)
        found.sort(key=lambda one: (getattr(one[1], column), one[1].claim_number), reverse=descends)
        del found[request.limit :]
    return found


async def list_claim_rows(
    context: WorkContext, scopes: Sequence[AnyScope], request: ClaimListRequest, *, actor: Actor
) -> list[ClaimRow]:
    """Return one page of claims for programs. The search is audited in each scope, with the filters' names."""
    detail = " ".join(sorted(name for name, value in request.given.items() if value is not None))
    for scope in scopes:
        await write_audit(context.database, scope, "claims.search", detail=detail, actor=actor)
    found = await find_claims(context, scopes, request, ClaimListRow)
    opened: dict[str, ClaimRow] = {}
    for scope in dict.fromkeys(scope for scope, _ in found):
        async with context.database.read(scope) as tx:
            own = [row for of, row in found if of == scope]
            rows = await _open(tx, context, own, context.accounts().sites)
        opened |= {row.number: row for row in rows}
    return [opened[row.claim_number] for _, row in found]


async def find_claim(context: WorkContext, claim_number: str, scope: AnyScope) -> ClaimRow | None:
    """Return one claim of the scope, for a caller that audits what it does with it."""
    async with context.database.read(scope) as tx:
        return await find_claim_within(tx, context, claim_number)


async def find_claim_within(tx: Tx, context: WorkContext, claim_number: str) -> ClaimRow | None:
    """Return one claim of the scope of a transaction, as the transaction sees it."""
    found = await claim_query.claims_by_number(tx, [claim_number])
    opened = await _open(tx, context, list(found.values()), context.accounts().sites)
    return opened[0] if opened else None


async def load_claim_rows(
    context: WorkContext, site: Site, numbers: Sequence[str], *, actor: Actor, action: str
) -> list[ClaimRow]:
    """Load claims of a site in this order, for people; the look is one audit row with their numbers."""
    if not numbers:
        return []

    async def job(tx: Tx) -> list[ClaimRow]:
        rows = await claim_query.claims_by_number(tx, numbers)
        tx.audit(action, ids=list(rows))
        shown = [rows[number] for number in numbers if number in rows]
        return await _open(tx, context, shown, [site])

    return await context.database.write(site.scope, job, actor=actor)


async def list_statuses(
    database: Database,
    vault: Vault,
    first: date,
    last: date,
    *,
    scope: Scope,
    actor: Actor,
) -> AsyncIterator[list[ClaimStatus]]:
    """Yield pages of the statuses of claims created on these days, both included; the last may be empty."""
    days = {"created_day_from": first.isoformat(), "created_day_to": last.isoformat()}
    await write_audit(
        database, scope, "claims.status", detail="..".join(days.values()), actor=actor
    )
    query = ClaimQuery(where=days, order=ClaimOrder.OLDEST_FIRST, limit=STATUSES_AT_ONCE)
    while True:
        async with database.read(scope) as tx:
            page = await claim_query.list_claims(tx, query, StatusListRow)
            await vault.load_keys_of(tx, [row.status for row in page])
        yield open_claim_statuses(vault, scope, [(row.claim_number, row.status) for row in page])
        if len(page) < STATUSES_AT_ONCE:
            return
        query = replace(query, after=page[-1].position)


def claim_object(row: ClaimRow) -> dict[str, object]:
    """Return a claim as v1 and `claim list --json` show it."""
    stored, status = row.stored, row.status
    return {
        "id": row.number,
        "claim_number": row.number,
        "vendor_claim_id": row.vendor_claim_id,
        "site": row.site.vendor_site_id,
        "kind": row.kind,
        "bill_type": row.bill_type or None,
        "state": stored.state,
        "label": row.shown_label,
        "reason": row.reason.of_claim,
        "payer_id": row.payer_id,
        "payer_control_number": (status and status.payer_control_number) or None,
        "awaiting": row.awaiting.as_json() if row.awaiting else None,
        "filing_limit": row.filing.as_json() if row.filing else None,
        "charge": money_text(row.charge),
        "paid": money_text(row.paid),
        "patient": money_text(row.owes),
        "adjustments": money_text(status.adjustment_cents if status else 0),
        "document_id": (status and status.document_id) or None,
        "created_at": moment_text(from_micros(stored.created_at)),
        "changed_at": moment_text(row.changed_at),
        "predecessor": stored.predecessor_id,
        "successor": stored.successor_id,
        "prior_payer_claim": stored.prior_payer_claim,
        "shadow": stored.state in SHADOWS,
    }


async def load_answers(
    tx: Tx, numbers: Sequence[str]
) -> tuple[dict[str, list[FactRow]], dict[str, StoredDocument]]:
    """Return the facts of claims, by claim, and the documents of their answers, by id."""
    by_claim: dict[str, list[FactRow]] = {number: [] for number in numbers}
    for row in await facts.list_own(tx, numbers):
        by_claim[row.claim_number].append(row)
    kept = await documents.list_for_claims(tx, numbers)
    return by_claim, {document.document_id: document for document in kept}


def stored_claim(row: ClaimListRow) -> StoredClaim:
    """Return a listed claim as it is opened."""
    return StoredClaim(
        row.claim_number,
        row.kind,
        row.form,
        row.state,
        row.payer_id,
        bool(row.account_as_number),
        row.created_at,
        row.prior_payer_claim,
        row.payload,
        row.header,
    )


async def _generations(tx: Tx, rows: Iterable[ClaimListRow]) -> dict[str, int]:
    """Count how often each claim was submitted under its vendor's claim id."""
    found = {row.claim_number: 1 for row in rows}
    before: dict[str, str | None] = {
        row.claim_number: row.predecessor_id for row in rows if row.predecessor_id
    }
    for _ in range(GENERATIONS_MAX):
        if not before:
            break
        for number in before:
            found[number] += 1
        parents = await claim_query.list_predecessors(tx, [id for id in before.values() if id])
        before = {n: parents.get(id) for n, id in before.items() if id and parents.get(id)}
    return found


async def _open(
    tx: Tx, context: WorkContext, rows: Sequence[ClaimListRow], sites: Iterable[Site]
) -> list[ClaimRow]:
    """Open claims of the scope of a transaction, with what lists show of them."""
    numbers = [row.claim_number for row in rows]
    answers = _Answers(
        *await load_answers(tx, numbers),
        await _generations(tx, rows),
        await work_items.list_items(tx, numbers),
        await filing_alarms.load_contracts(tx),
        context.payer_access.payers(),
    )
    sealed = [sealed for row in rows for sealed in (row.payload, row.header)]
    sealed += [row.status for row in rows if row.status is not None]
    sealed += [one.payload for each in answers.facts.values() for one in each]
    await context.vault.load_keys_of(
        tx, sealed + [one.payload for one in answers.documents.values()]
    )
    by_id = {site.id: site for site in sites}
    now = context.clock.now()
    return [_row(context.vault, by_id[SiteId(row.site_id)], answers, row, now) for row in rows]


def _row(vault: Vault, site: Site, answers: _Answers, row: ClaimListRow, now: datetime) -> ClaimRow:
    """Return what lists show of a claim. A branch for each part that only some states have, such as what was paid."""
    header = open_header(vault, site.scope, row.claim_number, row.header)
    status = None
    if row.status is not None:
        status = open_claim_status(vault, site.scope, row.claim_number, row.status)
    label = ClaimLabel(row.label)
    changed_at = from_micros(row.updated_at)
    known = [open_fact(vault, one) for one in answers.facts[row.claim_number]]
    forwarded_to = (
        "" if label in UNPAID_LABELS else find_next_payer(vault, known, answers.documents)
    )
    reason = (
        silence_reason(row.state, changed_at)
        if label is ClaimLabel.NO_ANSWER
        else ENROLLMENT_REASON
        if label is ClaimLabel.HELD and row.awaiting == Awaited.ENROLLMENT
        else explain_label(
            vault,
            label,
            lambda: open_claim(vault, site.scope, stored_claim(row)),
            status,
            known,
            answers.documents,
            is_replaced=bool(row.is_superseded),
            forwarded_to=forwarded_to,
        )
    )
    decided = status is not None and any(isinstance(fact, ClaimPaymentFact) for fact in known)
    return ClaimRow(
        site=site,
        stored=row,
        status=status,
        number=row.claim_number,
        label=label,
        awaiting=awaited_thing_of(row, now),
        filing=None
        if row.is_superseded
        else filing_of(header, label, status, answers.payer_of(row), answers.contract_of(row)),
        kind=row.kind,
        # A claim to a payer that is not known has the id that its vendor gave.
        payer_id=row.payer_id or header.payer_id,
        patient=last_first(header.last_name, header.first_name),
        born=header.birth,
        member_id=header.member_id,
        vendor_claim_id=header.vendor_claim_id,
        service_day=date.fromisoformat(row.service_day) if row.service_day else None,
        bill_type=row.bill_type or "",
        reason=reason,
        charge=row.total_cents,
        paid=status.payer_cents if status and decided else None,
        owes=status.patient_cents if status and decided else None,
        forwarded_to=forwarded_to,
        changed_at=changed_at,
        generation=answers.generations[row.claim_number],
        is_replaced=bool(row.is_superseded),
        work=answers.work.get(row.claim_number),
    )
