"""Load claims as lists show them: label, patient, payer, the reason in one line, and money. Every look is audited.

    keys = await list_claims(tx, query, ClaimListKey)
    rows = await load_claim_rows(context, site, [key.claim_number for key in keys], ...)

Knows how claims, facts and payments are sealed; knows no page.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from clearlane.accounts.model import Site
from clearlane.claims.claim_status import ClaimStatus
from clearlane.claims.fields import Claim, ClaimKind
from clearlane.claims.forms import form_of
from clearlane.claims.responses import provenance
from clearlane.claims.responses.explain_findings import (
    OWN_SOURCE,
    explain_findings,
    finding_reason,
    rule_reason,
)
from clearlane.claims.responses.facts import Fact, FactKind, StatusVerdict
from clearlane.claims.responses.payer_words import short_reason
from clearlane.claims.responses.provenance import Explanation
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import from_micros
from clearlane.kernel.formats import last_first
from clearlane.payments.claim_payment_label import is_denial, is_forwarded
from clearlane.payments.model import ClaimPaymentFact
from clearlane.payments.read_claim_part import read_claim_part
from clearlane.pipeline.answer_days import UsualDays, usual_days
from clearlane.pipeline.load_claim import LoadedClaim, open_claim, sent_line_controls
from clearlane.pipeline.query.list_claims import open_status, stored_claim
from clearlane.pipeline.stored_facts import AnyFact, open_document_source, open_fact
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_query, documents, facts, work_items
from clearlane.store.claims.claim_query import ClaimListRow
from clearlane.store.claims.documents import StoredDocument
from clearlane.store.claims.facts import FactRow
from clearlane.store.claims.work_items import ClaimWorkItem
from clearlane.store.database.database import Actor, Tx
from clearlane.store.vault.vault import Vault

OPEN_LABELS = (ClaimLabel.SENT, ClaimLabel.ACCEPTED, ClaimLabel.IN_PROCESS)
"""Labels of claims that a payer has and has not decided."""
REFUSALS = frozenset({FactKind.CLAIM_REFUSED, FactKind.SET_REFUSED, FactKind.TA1_REFUSED})
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
NEXT_PAYER = "the next payer"
CENTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimReason:
    """Why a claim is where it is: the first thing to fix, or the sentence for it."""

    text: str = field(repr=False)
    """What claims of one cause have in common."""
    detail: str = field(default="", repr=False)
    """What is so with this claim alone; empty if the text says it."""
    cause: str = ""
    """What claims of one cause have in common: source, code and field; empty where there is nothing to fix."""
    explanation: Explanation | None = field(default=None, repr=False)

    @property
    def of_claim(self) -> str:
        """The reason as the row of this claim shows it."""
        return self.detail or self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow:
    """A claim as lists show it; without a repr of patient data. Amounts are cents."""

    site: Site
    number: str
    label: ClaimLabel
    no_answer: bool
    """Whether the payer has been silent for longer than is usual."""
    kind: str
    payer_id: str
    patient: str = field(repr=False)
    born: date | None = field(repr=False)
    member_id: str = field(repr=False)
    vendor_claim_id: str
    service_day: date | None
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
    """The next payer, where this one forwarded the claim: its name, or words for one without a name."""

    @property
    def readable_charge(self) -> int | None:
        """The charge; None if the claim was not accepted and has none that could be read."""
        return None if self.label is ClaimLabel.NOT_ACCEPTED and not self.charge else self.charge


@dataclass(frozen=True, slots=True)
class _PageRows:
    rows: Mapping[str, ClaimListRow]
    facts: Mapping[str, Sequence[FactRow]]
    documents: Mapping[str, StoredDocument]
    generations: Mapping[str, int]
    work: Mapping[str, ClaimWorkItem]


def usual_days_of(context: WorkContext) -> UsualDays:
    """Return within how many days payers usually answer."""
    access = context.payer_access
    default = context.limits.claim_silence_days
    return usual_days(access.payers(), access.connections(), default=default)


async def load_claim_rows(
    context: WorkContext, site: Site, numbers: Sequence[str], *, actor: Actor, action: str
) -> list[ClaimRow]:
    """Load claims of a site in this order; the look is one audit row with their numbers."""
    if not numbers:
        return []

    async def job(tx: Tx) -> _PageRows:
        page = await _load_page(tx, numbers)
        await context.vault.load_keys_of(tx, _sealed(page))
        tx.audit(action, ids=list(page.rows))
        return page

    page = await context.database.write(site.scope, job, actor=actor)
    now, usual = context.clock.now(), usual_days_of(context)
    return [
        _row(context.vault, site, page, page.rows[number], now, usual)
        for number in numbers
        if number in page.rows
    ]


async def _load_page(tx: Tx, numbers: Sequence[str]) -> _PageRows:
    rows = await claim_query.claims_by_number(tx, numbers)
    return _PageRows(
        rows,
        *await load_answers(tx, list(rows)),
        await _generations(tx, rows.values()),
        await work_items.list_items(tx, list(rows)),
    )


async def load_answers(
    tx: Tx, numbers: Sequence[str]
) -> tuple[dict[str, list[FactRow]], dict[str, StoredDocument]]:
    """Return the facts of claims, by claim, and the documents of their answers, by id."""
    by_claim: dict[str, list[FactRow]] = {number: [] for number in numbers}
    for row in await facts.list_own(tx, numbers):
        by_claim[row.claim_number].append(row)
    kept = await documents.list_for_claims(tx, numbers)
    return by_claim, {document.document_id: document for document in kept}


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


def _sealed(page: _PageRows) -> list[bytes]:
    sealed = [row.payload for row in page.rows.values()]
    sealed += [row.status for row in page.rows.values() if row.status is not None]
    sealed += [one.payload for each in page.facts.values() for one in each]
    return sealed + [one.payload for one in page.documents.values()]


def _row(
    vault: Vault, site: Site, page: _PageRows, row: ClaimListRow, now: datetime, usual: UsualDays
) -> ClaimRow:
    loaded = open_claim(vault, site.scope, stored_claim(row))
    status = None
    if row.status is not None:
        status = open_status(vault, site.scope, row.claim_number, row.status)
    label = ClaimLabel(row.label)
    changed_at = from_micros(row.updated_at)
    late = now - timedelta(days=usual.of(row.kind, row.payer_id))
    no_answer = label in OPEN_LABELS and changed_at < late
    known = [open_fact(vault, one) for one in page.facts[row.claim_number]]
    forwarded_to = "" if label in UNPAID_LABELS else find_next_payer(vault, known, page.documents)
    reason = (
        silence_reason(label, changed_at)
        if no_answer
        else explain_label(
            vault,
            label,
            loaded,
            status,
            known,
            page.documents,
            is_replaced=bool(row.is_superseded),
            forwarded_to=forwarded_to,
        )
    )
    decided = status is not None and any(isinstance(fact, ClaimPaymentFact) for fact in known)
    return ClaimRow(
        site=site,
        number=row.claim_number,
        label=label,
        no_answer=no_answer,
        kind=row.kind,
        # A claim to a payer that is not known has the id that its vendor gave.
        payer_id=row.payer_id or loaded.claim.Svc_PayerId,
        patient=patient_name(loaded.claim),
        born=form_of(loaded.claim).patient_birth(loaded.claim),
        member_id=str(loaded.claim.__dict__.get(form_of(loaded.claim).names.member_id) or ""),
        vendor_claim_id=status.vendor_claim_id if status else loaded.claim.Svc_VendorClaimId,
        service_day=date.fromisoformat(row.service_day) if row.service_day else None,
        reason=reason,
        charge=row.total_cents,
        paid=status.payer_cents if status and decided else None,
        owes=status.patient_cents if status and decided else None,
        forwarded_to=forwarded_to,
        changed_at=changed_at,
        generation=page.generations[row.claim_number],
        is_replaced=bool(row.is_superseded),
        work=page.work.get(row.claim_number),
    )


def patient_name(claim: Claim) -> str:
    """Return the patient as ``ARDEN, RUTH``; of a claim for the insured, the insured."""
    (last, insured_last, _), (first, insured_first, _), *_ = form_of(claim).persons
    given = claim.__dict__
    return last_first(
        given.get(last) or given.get(insured_last), given.get(first) or given.get(insured_first)
    )


def explain_label(
    vault: Vault,
    label: ClaimLabel,
    loaded: LoadedClaim,
    status: ClaimStatus | None,
    known: Sequence[AnyFact],
    kept: Mapping[str, StoredDocument],
    *,
    is_replaced: bool = False,
    forwarded_to: str = "",
) -> ClaimReason:
    """Return the reason of a claim's label in one line."""
    if label is ClaimLabel.NOT_ACCEPTED:
        return _own_reason(loaded)
    if label in {ClaimLabel.REJECTED, ClaimLabel.WANTS_RECORDS}:
        return _refusal_reason(loaded, known)
    if label in {ClaimLabel.DENIED, ClaimLabel.PARTLY_DENIED}:
        return _denial_reason(vault, loaded, known, kept)
    text = _plain_reason(label, status, is_replaced=is_replaced)
    if forwarded_to:
        text = f"{text}, forwarded to {forwarded_to}" if text else f"Forwarded to {forwarded_to}"
    return ClaimReason(text=text)


def silence_reason(label: ClaimLabel, since: datetime) -> ClaimReason:
    """Return the reason of a claim whose payer is silent."""
    words = {ClaimLabel.SENT: "Sent", ClaimLabel.ACCEPTED: "Accepted"}.get(label, "In process")
    text = f"{words} {since:%b} {since.day}, nothing since"
    return ClaimReason(text=text, cause="no answer")


def find_refusal(known: Sequence[AnyFact]) -> Fact | None:
    """Return the last statement by which a payer refused a claim, or asked for something."""
    refusals = [
        fact
        for fact in known
        if isinstance(fact, Fact)
        and (
            fact.kind in REFUSALS
            or (
                fact.kind is FactKind.STATUS
                and (fact.verdict is StatusVerdict.REJECTED or _wants_records(fact))
            )
        )
    ]
    return max(refusals, key=lambda fact: (fact.at, fact.serial), default=None)


def _wants_records(fact: Fact) -> bool:
    return any(code.category.startswith("R") for code in fact.codes)


def _refusal_reason(loaded: LoadedClaim, known: Sequence[AnyFact]) -> ClaimReason:
    refusal = find_refusal(known)
    if refusal is None:
        return ClaimReason(text="The payer refused it.")
    controls = sent_line_controls(loaded)
    found = list(provenance.explain_complaints(refusal, loaded.claim, controls))
    # What names a field can be fixed here, so it stands first.
    found.sort(key=lambda one: not one.fields)
    return to_reason(found[0]) if found else ClaimReason(text="The payer refused it.")


def _own_reason(loaded: LoadedClaim) -> ClaimReason:
    """Return the first error of our own check; those of fields come first, because they can be fixed."""
    found = explain_findings(ClaimKind(loaded.row.kind), loaded.findings)
    found.sort(key=lambda one: not one.fields)
    return to_reason(found[0]) if found else ClaimReason(text="Clearlane did not accept it.")


def payment_in_force(known: Sequence[AnyFact]) -> ClaimPaymentFact | None:
    """Return the latest claim payment that takes nothing back."""
    paid = [fact for fact in known if isinstance(fact, ClaimPaymentFact) and not fact.is_reversal]
    return max(paid, key=lambda fact: (fact.at, fact.serial, fact.order), default=None)


def find_next_payer(
    vault: Vault, known: Sequence[AnyFact], kept: Mapping[str, StoredDocument]
) -> str:
    """Return to whom the payer forwarded a claim, by name or in words; empty where it did not. Opens only what says so."""
    payment = payment_in_force(known)
    if payment is None or not is_forwarded(payment.status_code):
        return ""
    document = kept.get(payment.document_id)
    if document is None:
        return NEXT_PAYER
    _, paid = read_claim_part(open_document_source(vault, document).part)
    return (paid.forwarded_to.name if paid.forwarded_to else "") or NEXT_PAYER


def explain_payment(
    vault: Vault, loaded: LoadedClaim, payment: ClaimPaymentFact, kept: Mapping[str, StoredDocument]
) -> list[Explanation]:
    """Return the adjustments of a claim payment in words, denials first."""
    document = kept.get(payment.document_id)
    if document is None:
        return []
    _, paid = read_claim_part(open_document_source(vault, document).part)
    found = provenance.explain_adjustments(paid, loaded.claim, sent_line_controls(loaded))
    return sorted(found, key=lambda one: not is_denied(one))


def is_denied(explanation: Explanation) -> bool:
    """Return whether an adjustment denies payment."""
    group, _, reason = explanation.code.partition("-")
    return is_denial(group, reason, int((explanation.amount or 0) * CENTS))


def _denial_reason(
    vault: Vault,
    loaded: LoadedClaim,
    known: Sequence[AnyFact],
    kept: Mapping[str, StoredDocument],
) -> ClaimReason:
    payment = payment_in_force(known)
    found = explain_payment(vault, loaded, payment, kept) if payment else []
    return to_reason(found[0]) if found else ClaimReason(text="The payer gave no reason.")


def to_reason(explanation: Explanation) -> ClaimReason:
    """Return an explanation as the reason in one line: the box and its name, then what is wrong."""
    place = explanation.fields[0] if explanation.fields else None
    field_name = place.path.rpartition(".")[2] if place else ""
    is_own = explanation.source == OWN_SOURCE
    if is_own:
        field_name = field_name.partition("[")[0]  # one rule about any of the values
    return ClaimReason(
        text=rule_reason(explanation) if is_own else short_reason(explanation),
        detail=finding_reason(explanation) if is_own else "",
        cause=" ".join(filter(None, (explanation.source, explanation.code, field_name))),
        explanation=explanation,
    )


def _plain_reason(label: ClaimLabel, status: ClaimStatus | None, *, is_replaced: bool) -> str:
    """Return the sentence of a claim with nothing to fix."""
    if status is None:
        return ""
    day = status.decided_day or status.state_changed_day
    on_day = f"{day:%b} {day.day}"
    sentences = {
        ClaimLabel.RECEIVED: "Leaves with the next file",
        ClaimLabel.HELD: "Kept back until it is released",
        ClaimLabel.CANCELED: f"Taken back {on_day}, never sent",
        ClaimLabel.SENT: f"Sent {on_day}",
        ClaimLabel.TO_RESEND: f"The payer refused the whole file {on_day}: the operator sees to it, nothing to do",
        ClaimLabel.ACCEPTED: f"Accepted {on_day}",
        ClaimLabel.IN_PROCESS: f"In process since {on_day}",
        ClaimLabel.TAKEN_BACK: f"The payment was taken back {on_day}"
        + ("" if is_replaced else "; no correction yet"),
        ClaimLabel.PREDETERMINED: "An estimate: nothing was billed",
        ClaimLabel.NOTHING_DUE: "Nothing is due from anyone",
        ClaimLabel.VOIDED: "The payer canceled the earlier claim, as asked"
        if status.is_void
        else "The payer canceled it, as asked",
        ClaimLabel.REPLACED: "The payer decided on the claim that replaces it",
        ClaimLabel.PAID_DIFFERS: "The payer's figures do not add up",
        ClaimLabel.PATIENT_OWES: f"Patient owes {_money(status.patient_cents)}: not a denial",
    }
    if label is ClaimLabel.PAID:
        if status.payer_cents == status.total_cents:
            return "Paid in full"
        less = (
            f" less write-off {_money(status.adjustment_cents)}" if status.adjustment_cents else ""
        )
        return f"Paid{less}"
    return sentences.get(label, "")


def _money(cents: int) -> str:
    return f"{cents // CENTS:,}.{cents % CENTS:02}"
