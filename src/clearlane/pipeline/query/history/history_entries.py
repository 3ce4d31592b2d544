"""The entries of a claim's history, in sentences for a person.

Knows facts, payments and batches, and the sentences for them.
"""

from collections.abc import Callable, Container, Iterator, Sequence

import msgspec

from clearlane.claims import lifecycle
from clearlane.claims.awaiting import AWAITED_WORDS, STEP_WORDS, Awaited, OverdueStep
from clearlane.claims.batch_lifecycle import BatchState
from clearlane.claims.claim_status import ClaimStatus
from clearlane.claims.finding import path_in_claim
from clearlane.claims.inquiry.answer_result import (
    ANSWER,
    RESULT_HEADLINES,
    RESULT_WORDS,
    WITHOUT_CLAIM,
    result_of,
)
from clearlane.claims.kinds import X12
from clearlane.claims.lifecycle import ClaimClosing, ClaimEvent
from clearlane.claims.read.repair_summary import summarize_repairs
from clearlane.claims.responses.facts import Fact, FactKind, StatusVerdict
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.claim_label import LABEL_WORDS, ClaimLabel
from clearlane.kernel.clock import from_micros
from clearlane.kernel.finding import SEVERITY_NOUNS, Severity, errors_first
from clearlane.payers.routes import AS_SENT, CAPITAL
from clearlane.payments import explain
from clearlane.payments.model import ClaimPaymentFact
from clearlane.pipeline.load_claim import LoadedClaim, sent_line_controls
from clearlane.pipeline.query.history.claim_history import HistoryEntry
from clearlane.pipeline.query.history.history_rows import HistoryRows
from clearlane.pipeline.stored_facts import AnyFact, open_document_source, open_fact
from clearlane.store.claims import claim_history, claims
from clearlane.store.claims.claim_history import ClaimSending, FactSource
from clearlane.store.claims.due_claims import TakenStep
from clearlane.store.files.shadow_claims import ShadowStatement
from clearlane.store.vault.vault import Vault
from clearlane.x12 import codes

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


def list_entries(
    vault: Vault, loaded: LoadedClaim, rows: HistoryRows, status: ClaimStatus | None
) -> Iterator[HistoryEntry]:
    """Yield every entry of a claim's history, by what it is about and not in the order of time."""
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
    controls = sent_line_controls(loaded) if rows.facts else ()
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


def _event_entries(rows: HistoryRows) -> Iterator[HistoryEntry]:
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


def _file_sentences(loaded: LoadedClaim, rows: HistoryRows) -> Iterator[str]:
    """Yield where a claim is in the file that it came in, and what goes out otherwise than it came."""
    if loaded.row.form != X12 or not isinstance(claim := loaded.claim, X12Claim):
        return
    # Imported here: it brings the tables of the 837, which claims of other forms do without.
    from clearlane.claims.write.write_x12 import passing_changes

    came_in = rows.came_in
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
