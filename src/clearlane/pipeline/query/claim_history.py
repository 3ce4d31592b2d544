"""Load the history of a claim, from its receipt to its payment, in sentences for a person. The access is audited.

Knows facts, payments and batches, and the sentences for them.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from clearlane.claims import lifecycle
from clearlane.claims.awaiting import AWAITED_WORDS, STEP_WORDS, Awaited, OverdueStep
from clearlane.claims.batch_lifecycle import BatchState
from clearlane.claims.claim_status import ClaimStatus
from clearlane.claims.finding import ClaimFinding
from clearlane.claims.inquiry.answer_result import (
    ANSWER,
    RESULT_HEADLINES,
    RESULT_WORDS,
    WITHOUT_CLAIM,
    result_of,
)
from clearlane.claims.kinds import KINDS, ClaimKind, id_in_claims
from clearlane.claims.lifecycle import ClaimClosing, ClaimEvent
from clearlane.claims.read.repair_summary import summarize_repairs
from clearlane.claims.responses.facts import Fact, FactKind, StatusVerdict
from clearlane.claims.responses.field_lookup import path_in_claim
from clearlane.claims.resubmission import REFUSED_OR_CANCELED
from clearlane.claims.write.write_x12 import passing_changes
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.claim_label import LABEL_WORDS, ClaimLabel
from clearlane.kernel.clock import from_micros, micros_text, moment_text
from clearlane.kernel.finding import SEVERITY_NOUNS, Severity, errors_first
from clearlane.kernel.ids import Scope
from clearlane.payers.routes import AS_SENT, CAPITAL
from clearlane.payments import explain
from clearlane.payments.as_json import claim_payment_object, series_object
from clearlane.payments.claim_series import ClaimSeries, SeriesMember, series_of
from clearlane.payments.model import ClaimPaymentFact
from clearlane.pipeline.claim_succession import open_status
from clearlane.pipeline.load_claim import (
    LoadedClaim,
    find_claim_scope,
    load_claim_in_scope,
    sent_line_controls,
)
from clearlane.pipeline.query.payments import matched_claim_payments
from clearlane.pipeline.stored_facts import AnyFact, open_document_source, open_fact
from clearlane.store.claims import (
    claim_history,
    claims,
    documents,
    due_claims,
    facts,
    rule_overrides,
)
from clearlane.store.claims.claim_history import (
    ClaimSending,
    FactSource,
)
from clearlane.store.claims.claim_updates import ClaimStateRow
from clearlane.store.claims.documents import StoredDocument
from clearlane.store.claims.due_claims import TakenStep
from clearlane.store.claims.facts import FactRow
from clearlane.store.claims.rule_overrides import RuleOverride
from clearlane.store.database.database import Actor, Database, Tx
from clearlane.store.delivery.payers import find_payer
from clearlane.store.files import client_files, file_sets, shadow_claims
from clearlane.store.files.shadow_claims import ShadowStatement
from clearlane.store.payments import claim_payments
from clearlane.store.payments.claim_payments import ClaimPaymentDocument
from clearlane.store.vault.vault import Vault
from clearlane.x12 import codes

if TYPE_CHECKING:
    from clearlane.claims.responses.provenance import Explanation

PAYMENTS_SHOWN_MAX = 200

CHECKED = "Checked"
"""The headline of our own check."""
UNDELIVERED = (
    "The payer could not be reached so far, or did not confirm the file. The operator sees why."
)
PASSED_ON = (
    "The payer's id goes out as {id}, as the map of {hop} has it; {hop} passes the claim on."
)
NOT_THE_PAYER = "It is on its way: the payer has not said that it has the claim."
NAMED = "{hop} has written a report that names the claim. Nothing is read from it."
HEADLINES = {
    FactKind.ACCEPTED_999: "{sender} took the file in",
    FactKind.SEND_AGAIN: "The set was refused because of other claims; this one is sent again",
    FactKind.CLAIM_REFUSED: "Rejected in the 999",
    FactKind.SET_REFUSED: "Rejected with its whole set in the 999",
    FactKind.TA1_REFUSED: "Rejected with the whole interchange in the TA1",
    FactKind.REQUEUED: "Waits to be sent again in a new file",
    FactKind.REPORT: "Named in a report of {sender}",
}


EVENT_HEADLINES = {
    ClaimEvent.HELD.value: "Held: it is not sent until it is released",
    claim_history.HELD_FOR_ENROLLMENT: "Held: it is sent once the payer's enrollment of the billing provider counts",
    ClaimEvent.RELEASED.value: "Released: it waits to be sent",
    ClaimEvent.CANCELED.value: "Canceled: it is not sent",
    claim_history.ASKED: "The payer was asked about the claim (276)",
    **{
        claim_history.ANSWERED_PREFIX
        + result: f"The question ended without an answer about the claim. {words}"
        if result in WITHOUT_CLAIM
        else f"The payer answered as before. {words}"
        for result, words in RESULT_WORDS.items()
    },
}


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One event in the history of a claim."""

    at: datetime
    headline: str
    file: str = ""
    """The payer's file that reported it, or ours that the claim was sent in."""
    document_id: str = ""
    sentences: tuple[str, ...] = ()
    explanations: "tuple[Explanation, ...]" = field(default=(), repr=False)
    operator_sentences: tuple[str, ...] = field(default=(), repr=False)
    """What a payer's machine said of a failed connection: for operators only."""
    severity: Severity = Severity.WARNING
    """That of its findings: what rejected the claim is an error."""

    @property
    def findings(self) -> tuple[ClaimFinding, ...]:
        """What the payer reported about fields of the claim, as findings beside our own."""
        from clearlane.claims.responses.provenance import by_field

        return tuple(
            ClaimFinding(
                rule=f"{explanation.source} {explanation.code}".strip(),
                severity=self.severity,
                location=path,
                message=f"{explanation.happened} {explanation.todo}".strip(),
                act=explanation.act,
            )
            for path, explanation in by_field(self.explanations)
        )


class IdRelation(StrEnum):
    """What another live claim under the same vendor's claim id is to a claim."""

    SECONDARY_OF = "Secondary of"
    """The claim carries the decision of the other one's payer."""
    ALSO_BILLED_TO = "Also billed to"
    """The other one bills the same services to another payer."""
    SAME_ID = "Same claim id"
    """The other one is about another visit or patient."""


class IneffectiveSuccessor(NamedTuple):
    """A claim that was sent, or was to be sent, in the place of another, and never took effect."""

    claim_number: str
    is_void: bool
    state: str
    """Rejected or Canceled."""

    @property
    def sentence(self) -> str:
        """What became of it, and of the claim before it."""
        which = "void" if self.is_void else "correction"
        return f"Its {which} {self.claim_number} was {self.state.lower()}; the claim stands."


class RelatedClaim(NamedTuple):
    """Another live claim under the same vendor's claim id."""

    relation: IdRelation
    claim_number: str
    payer_id: str


class ClaimFile(NamedTuple):
    """The file of a site that a claim came in, and its place there."""

    file_id: str
    name: str
    """Empty if the file is no longer kept."""
    set_words: str
    position: int
    """Its place in the set, counted from 1."""

    @property
    def sentence(self) -> str:
        """Where the claim came in."""
        which = f"{self.name} (file {self.file_id})" if self.name else f"file {self.file_id}"
        return f"{which}, {self.set_words}, claim {self.position}"


@dataclass(frozen=True, slots=True)
class ClaimHistory:
    """A claim and its history, in the order in which events were learned."""

    loaded: LoadedClaim
    status: ClaimStatus | None
    """None for a claim that was not accepted."""
    entries: tuple[HistoryEntry, ...]
    predecessor: str = ""
    """Number of the claim that it took over from under the same vendor's claim id."""
    successor: str = ""
    """Number of the claim that took its place; empty if that one never took effect."""
    ineffective_successor: IneffectiveSuccessor | None = None
    """The claim that was to take its place; None if there is none, or if it took effect or may still."""
    prior_payer_claim: str = ""
    """Number of the claim to an earlier payer whose decision it carries."""
    related: tuple[RelatedClaim, ...] = ()
    """The other live claims under its vendor's claim id."""
    sendings: tuple[ClaimSending, ...] = ()
    documents: tuple[StoredDocument, ...] = ()
    payments: tuple[ClaimPaymentDocument, ...] = ()
    came_in: ClaimFile | None = None
    """None for a claim that came in no file."""
    series: ClaimSeries | None = None
    """The bills of the stay that it bills; None if it is the only one."""

    @property
    def findings(self) -> tuple[ClaimFinding, ...]:
        """What payers reported about fields of the claim, as findings beside our own."""
        return tuple(finding for entry in self.entries for finding in entry.findings)


@dataclass(frozen=True, slots=True)
class _HistoryRows:
    state: ClaimStateRow
    facts: list[FactRow]
    sources: dict[str, FactSource]
    sendings: list[ClaimSending]
    documents: list[StoredDocument]
    payments: list[ClaimPaymentDocument]
    events: list[tuple[int, str]]
    overrides: list[RuleOverride]
    successor: ClaimStateRow | None
    """The last claim that was sent in its place."""
    under_same_id: list[ClaimStateRow]
    came_in: ClaimFile | None
    series: list[SeriesMember]
    overdue_steps: list[TakenStep]
    sent_payer_id: str
    """The payer's id in claims of this kind."""
    imported: list[tuple[ShadowStatement, str]]
    """What another clearinghouse said of a claim of a shadow file, each with the name of the imported file."""


async def load_claim_history(
    database: Database, vault: Vault, claim_number: str, *, actor: Actor
) -> ClaimHistory | None:
    """Load the history of a claim of any client; return None if there is no such claim."""
    scope = await find_claim_scope(database, claim_number)
    if scope is None:
        return None
    return await load_history_in_scope(database, vault, scope, claim_number, actor=actor)


async def load_history_in_scope(
    database: Database, vault: Vault, scope: Scope, claim_number: str, *, actor: Actor
) -> ClaimHistory | None:
    """Load the history of a claim of a known client; return None if it has none of this number."""
    loaded = await load_claim_in_scope(database, vault, scope, claim_number, actor=actor)
    if loaded is None:
        return None
    async with database.read(scope) as tx:
        state = await claim_history.find_state(tx, claim_number)
        if state is None:
            return None
        rows = await _load_rows(tx, state)
        sealed = [row.payload for row in rows.facts] + [row.payload for row in rows.documents]
        sealed += [one.status for one in (state, rows.successor) if one and one.status]
        await vault.load_keys_of(tx, sealed)
    status = open_status(vault, state) if state.status else None
    entries = sorted(_entries(vault, loaded, rows, status), key=lambda one: one.at)
    return ClaimHistory(
        loaded,
        status,
        tuple(entries),
        predecessor=state.predecessor_id or "",
        successor=rows.successor.claim_number if rows.successor and state.is_superseded else "",
        ineffective_successor=_ineffective_successor(vault, rows),
        prior_payer_claim=state.prior_payer_claim or "",
        related=tuple(_related(rows)),
        sendings=tuple(rows.sendings),
        documents=tuple(rows.documents),
        payments=tuple(rows.payments),
        came_in=rows.came_in,
        series=series_of(rows.series),
    )


def check_sentences(
    loaded: LoadedClaim,
    name_field: Callable[[str], str] = path_in_claim,
    *,
    without: Container[str] = (),
) -> Iterator[str]:
    """Yield what our check found and repaired; ``name_field`` names a field by its path.

    Findings with a message in ``without`` are left out: the page says them elsewhere.
    """
    yield "Not accepted." if loaded.row.state in claims.WITH_ERRORS else "Accepted."
    for finding in errors_first(loaded.findings):
        if finding.message in without:
            continue
        severity = SEVERITY_NOUNS[finding.severity].capitalize()
        yield ": ".join(filter(None, (severity, name_field(finding.location), finding.message)))
    yield from summarize_repairs((name_field(path), kind) for path, kind in loaded.repairs)


def _related(rows: _HistoryRows) -> Iterator[RelatedClaim]:
    own = rows.state
    for other in rows.under_same_id:
        if other.claim_number in (own.predecessor_id, own.successor_id):
            continue
        same_services = (other.patient_key, other.service_day) == (own.patient_key, own.service_day)
        if own.prior_payer_claim == other.claim_number:
            relation = IdRelation.SECONDARY_OF
        elif other.prior_payer_claim == own.claim_number or (
            same_services and other.payer_id != own.payer_id
        ):
            relation = IdRelation.ALSO_BILLED_TO
        else:
            relation = IdRelation.SAME_ID
        yield RelatedClaim(relation, other.claim_number, other.payer_id)


def _ineffective_successor(vault: Vault, rows: _HistoryRows) -> IneffectiveSuccessor | None:
    after = rows.successor
    if after is None or rows.state.is_superseded:
        return None
    is_void = after.status is not None and open_status(vault, after).is_void
    return IneffectiveSuccessor(after.claim_number, is_void, after.state)


async def _find_successor(tx: Tx, state: ClaimStateRow) -> ClaimStateRow | None:
    """Return the last claim that was sent in the place of one; those between them never took effect."""
    last = None
    while state.successor_id and (last is None or state.is_superseded):
        found = await claim_history.find_state(tx, state.successor_id)
        if found is None:
            break
        last = state = found
        if found.state not in REFUSED_OR_CANCELED:
            break
    return last


async def _load_rows(tx: Tx, state: ClaimStateRow) -> _HistoryRows:
    number = state.claim_number
    return _HistoryRows(
        state,
        await facts.list_own(tx, [number]),
        await claim_history.list_sources(tx, number),
        await claim_history.list_sendings(tx, number),
        await documents.list_for_claims(tx, [number]),
        await claim_payments.list_own_of_claim(tx, number, limit=PAYMENTS_SHOWN_MAX),
        await claims.list_events(tx, number),
        await rule_overrides.list_of_claim(tx, number),
        await _find_successor(tx, state),
        await claim_history.list_under_same_id(tx, state),
        await _find_file(tx, number),
        await claim_history.list_series(tx, number)
        if KINDS[ClaimKind(state.kind)].has_series
        else [],
        await due_claims.list_steps(tx, number),
        await _find_sent_payer_id(tx, state),
        await _list_imported(tx, number) if state.state in claims.SHADOWS else [],
    )


async def _find_sent_payer_id(tx: Tx, state: ClaimStateRow) -> str:
    """Return the id that the payer of a claim has in claims of its kind."""
    kind = ClaimKind(state.kind)
    payer = await find_payer(tx, state.payer_id, KINDS[kind].payer_type)
    return id_in_claims(payer, kind) if payer else state.payer_id


async def _find_file(tx: Tx, number: str) -> ClaimFile | None:
    """Return the file that a claim came in."""
    place = (await file_sets.find_claims(tx, [number])).get(number)
    if place is None:
        return None
    found = (await file_sets.find_sets(tx, [place.set_id]))[place.set_id]
    file = await client_files.find(tx, found.file_id)
    return ClaimFile(found.file_id, file.name if file else "", found.words, place.position)


async def _list_imported(tx: Tx, number: str) -> list[tuple[ShadowStatement, str]]:
    """Return what was imported about a claim of a shadow file and about its set."""
    place = (await file_sets.find_claims(tx, [number])).get(number)
    subjects = [place.set_id, number] if place else [number]
    found = await shadow_claims.list_statements(tx, subjects)
    imported = [one for subject in subjects for one in found.get(subject, ())]
    names: dict[str, str] = {}
    for file_id in {one.file_id for one in imported}:
        file = await client_files.find(tx, file_id)
        names[file_id] = file.name if file and file.name else file_id
    return [(one, names[one.file_id]) for one in imported]


def _entries(
    vault: Vault, loaded: LoadedClaim, rows: _HistoryRows, status: ClaimStatus | None
) -> Iterator[HistoryEntry]:
    created = from_micros(loaded.row.created_at)
    before = rows.state.predecessor_id
    takes_over = (f"It takes over from {before} under the same claim id.",) if before else ()
    yield HistoryEntry(created, "Received", sentences=(*_file_sentences(loaded, rows), *takes_over))
    yield HistoryEntry(created, CHECKED, sentences=tuple(check_sentences(loaded)))
    if rows.overrides:
        headline = f"Sent anyway: {rows.overrides[0].actor} decided so; the notes say why"
        rules = tuple(f"{one.rule}: {_rule_sentence(one.rule)}" for one in rows.overrides)
        yield HistoryEntry(from_micros(rows.overrides[0].at), headline, sentences=rules)
    for sending in rows.sendings:
        yield from _delivery_entries(sending)
    for one, file in rows.imported:
        yield _imported_entry(one, file)
    yield from _event_entries(rows)
    yield from _step_entries(rows.overdue_steps)
    controls = sent_line_controls(loaded)
    parts = {row.document_id: row for row in rows.documents}
    for row in rows.facts:
        source, part = rows.sources.get(row.identity), parts.get(row.document_id)
        if source is None and part is None:
            continue  # a fact of our own: the sending shows it
        if source is None:  # an answer to a question of ours, which came in no file
            source = FactSource(row.identity, "", part.created_at if part else 0)
        fact = open_fact(vault, row)
        content = open_document_source(vault, part).part if part else b""
        is_voided = status is not None and status.closing is ClaimClosing.VOIDED
        yield _payer_entry(fact, source, loaded, controls, content, is_voided=is_voided)


def _event_entries(rows: _HistoryRows) -> Iterator[HistoryEntry]:
    """Yield what people and the service did with a claim."""
    superseded = [at for at, event in rows.events if event == claims.SUPERSEDED]
    for at, event in rows.events:
        if event == claims.SUPERSEDED:
            # Of several the last one stayed; the others were canceled.
            sentence = f"{rows.state.successor_id} took over its claim id."
            sentences = (sentence,) if at == superseded[-1] else ()
            yield HistoryEntry(from_micros(at), "Sent again", sentences=sentences)
        if event in EVENT_HEADLINES:
            yield HistoryEntry(from_micros(at), EVENT_HEADLINES[event])
        if event.startswith(claim_history.FILING_NEAR_PREFIX):
            day, stage = event.removeprefix(claim_history.FILING_NEAR_PREFIX).split()
            headline = f"The filing limit is near: {day} (alarm of {stage} days before)"
            yield HistoryEntry(from_micros(at), headline)


def _imported_entry(one: ShadowStatement, file: str) -> HistoryEntry:
    # Here, because it brings the lists of codes: other claims need none.
    from clearlane.claims.responses.status_sentence import code_words

    is_payment = one.type == "835"
    verdict = LABEL_WORDS[ClaimLabel(one.verdict)].lower() if is_payment else one.verdict
    reasons = (": ".join(filter(None, (code, code_words(code)))) for code in one.codes.split())
    return HistoryEntry(
        from_micros(one.created_at),
        f"Imported, {one.type} of another clearinghouse: {verdict} as of {one.day}",
        file,
        sentences=tuple(reasons),
    )


def _step_entries(taken: Sequence[TakenStep]) -> Iterator[HistoryEntry]:
    """Yield what the service did by itself about a claim whose answer was overdue."""
    for one in taken:
        what = AWAITED_WORDS[Awaited(one.awaiting)]
        words = STEP_WORDS[OverdueStep(one.step)].format(what=what)
        yield HistoryEntry(from_micros(one.at), words)


def _file_sentences(loaded: LoadedClaim, rows: _HistoryRows) -> Iterator[str]:
    """Yield where a claim is in the file that it came in, and what goes out otherwise than it came."""
    claim, came_in = loaded.claim, rows.came_in
    if not isinstance(claim, X12Claim):
        return
    numbers = [number for number in claim.parts[-1].segment_numbers() if number]
    where = came_in.sentence if came_in else f"an {claim.transaction} file"
    yield f"It came in {where}: segments {numbers[0]} to {numbers[-1]}."
    if loaded.row.state in claims.SHADOWS:
        yield "It is a shadow file: its claims are judged and never sent."
    if loaded.row.state not in claims.WITH_ERRORS:
        # What a hop gets in place of the payer's id is said where it was sent.
        over_hop = any(sending.hop for sending in rows.sendings)
        yield from passing_changes(
            claim,
            "" if over_hop else rows.sent_payer_id,
            is_capital=any(_letters_of(sending) == CAPITAL for sending in rows.sendings),
            is_shadow=loaded.row.state in claims.SHADOWS,
        )


def _letters_of(sending: ClaimSending) -> str:
    """Return how letters of claims from files go out by the route of a batch."""
    facts = msgspec.json.decode(sending.route_facts) if sending.route_facts else {}
    return str(facts.get("letters", AS_SENT))


def _rule_sentence(id: str) -> str:
    # Imported here: few claims were sent anyway, and showing the others needs no rules.
    from clearlane.claims.rules import RULES

    return RULES[id].sentence if id in RULES else "A rule that is no longer there."


def _delivery_entries(sending: ClaimSending) -> Iterator[HistoryEntry]:
    claims = "1 claim" if sending.claims == 1 else f"{sending.claims} claims"
    which = f"batch {sending.batch_id} of {claims}, control number {sending.control}"
    again = "" if sending.attempt == 1 else f", sending {sending.attempt}"
    yield HistoryEntry(from_micros(sending.created_at), f"Put into {which}{again}", sending.name)
    if sending.delivered_at is not None:
        to_hop = f" to {sending.hop}" if sending.hop else ""
        passed_on = PASSED_ON.format(id=sending.hop_payer_id, hop=sending.hop)
        yield HistoryEntry(
            from_micros(sending.delivered_at),
            f"Sent{to_hop} in batch {sending.batch_id}",
            sending.name,
            sentences=(passed_on,) if sending.hop else (),
        )
    elif sending.fault or sending.state == BatchState.IN_DOUBT:
        yield HistoryEntry(
            from_micros(sending.created_at),
            f"Not delivered yet: batch {sending.batch_id} is {sending.state}",
            sending.name,
            sentences=(UNDELIVERED,),
            operator_sentences=(sending.fault,) if sending.fault else (),
        )


def _payer_entry(
    fact: AnyFact,
    source: FactSource,
    loaded: LoadedClaim,
    controls: Sequence[str],
    part: bytes,
    *,
    is_voided: bool,
) -> HistoryEntry:
    # Here, because they bring the tables and the reader of X12: a claim that no payer has answered needs neither.
    from clearlane.claims.responses import provenance

    at = from_micros(source.received_at)
    if isinstance(fact, ClaimPaymentFact):
        from clearlane.payments.read_claim_part import read_claim_part

        explanations = tuple(
            provenance.explain_adjustments(read_claim_part(part)[1], loaded.claim, controls)
        )
        return HistoryEntry(
            at,
            f"Remittance: {codes.load('claim_payment_statuses').get(fact.status_code, fact.status_code)}",
            source.name,
            fact.document_id,
            (
                explain.describe_claim_payment(fact, is_voided=is_voided),
                explain.describe_payment(fact.payment),
            ),
            explanations,
            severity=Severity.INFO,
        )
    explanations = tuple(provenance.explain_complaints(fact, loaded.claim, controls))
    sentences = tuple(_sentences(fact, source))
    headline = _headline(fact, source)
    severity = Severity.ERROR if _rejects(fact) else Severity.WARNING
    return HistoryEntry(
        at, headline, source.name, fact.document_id, sentences, explanations, severity=severity
    )


def _rejects(fact: Fact) -> bool:
    by_status = fact.kind is FactKind.STATUS and fact.verdict is StatusVerdict.REJECTED
    return by_status or lifecycle.SENDING_EVENTS.get(fact.kind) is ClaimEvent.REFUSED


def _sentences(fact: Fact, source: FactSource) -> Iterator[str]:
    """Yield what is said of a step on the way to the payer."""
    if fact.source == ANSWER:
        yield RESULT_WORDS[result_of(lifecycle.first_category(fact.codes))]
    if fact.kind is FactKind.REPORT:
        yield NAMED.format(hop=source.hop)
        yield from fact.note.splitlines()
    elif fact.is_passed_on or (fact.kind is FactKind.ACCEPTED_999 and source.hop):
        yield NOT_THE_PAYER


def _headline(fact: Fact, source: FactSource) -> str:
    if fact.kind is not FactKind.STATUS:
        return HEADLINES[fact.kind].format(sender=source.hop or "The payer's system")
    if fact.is_passed_on:
        return f"Taken by {fact.payer or source.hop or 'a clearinghouse'} to be passed on (277CA)"
    day = f" as of {fact.day}" if fact.day else ""
    category = lifecycle.first_category(fact.codes)
    words = codes.load("status_categories").get(category, "")
    reason = ": ".join(filter(None, (category, words)))
    by = f" by {fact.payer}" if fact.by_clearinghouse and fact.payer else ""
    said = fact.verdict.value
    if fact.source == ANSWER and category:
        said = RESULT_HEADLINES[result_of(category)]
    return f"{fact.source}: {said}{by}{day}" + (f" ({reason})" if reason else "")


# ---- as programs see it, over the service and on its machine --------------------------------------


async def details_object(
    database: Database, vault: Vault, history: ClaimHistory
) -> dict[str, object]:
    """Return what one claim shows beside what lists show of it."""
    paid = await matched_claim_payments(database, vault, history.payments)
    return {
        "also_billed_as": [
            one.claim_number for one in history.related if one.relation is IdRelation.ALSO_BILLED_TO
        ],
        "series": series_object(history.series),
        "findings": [finding_object(one) for one in (*history.loaded.findings, *history.findings)],
        "history": [history_object(one) for one in history.entries],
        "batches": [
            {
                "id": one.batch_id,
                "batch_id": one.batch_id,
                "file": one.name,
                "state": one.state,
                "created_at": micros_text(one.created_at),
                "delivered_at": micros_text(one.delivered_at),
            }
            for one in history.sendings
        ],
        "documents": [document_object(one) for one in history.documents],
        "payments": [
            claim_payment_object(one) | {"payment_id": row.claim_payment.payment_id}
            for row, one in zip(history.payments, paid, strict=True)
        ],
    }


def finding_object(finding: ClaimFinding) -> dict[str, object]:
    """Return a finding; its field is that of the claim, wherever the claim was in its document."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "field": path_in_claim(finding.location),
        "message": finding.message,
        "act": finding.act or None,
    }


def history_object(entry: HistoryEntry) -> dict[str, object]:
    """Return one entry of a claim's history."""
    return {
        "happened_at": moment_text(entry.at),
        "event": entry.headline,
        "file": entry.file or None,
        "document_id": entry.document_id or None,
        "sentences": list(entry.sentences),
        "findings": [finding_object(one) for one in entry.findings],
    }


def document_object(document: StoredDocument) -> dict[str, object]:
    """Return a payer's answer about a claim, as lists show it."""
    return {
        "id": document.document_id,
        "document_id": document.document_id,
        "type": document.kind,
        "claim_number": document.claim_number,
        "created_at": moment_text(from_micros(document.created_at)),
    }
