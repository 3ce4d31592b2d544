"""Story: a claim from its coming to its payment, in words, for a person who may see it. The look is audited.

Knows facts, remittances, batches and the words for them; knows no face.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from clearlane.claims import lifecycle, provenance
from clearlane.claims.documents import paid_in
from clearlane.claims.facts import Fact, Kind
from clearlane.claims.finding import ClaimFinding
from clearlane.claims.provenance import Told
from clearlane.kernel.clock import moment
from clearlane.kernel.finding import Severity
from clearlane.kernel.ids import Scope
from clearlane.payments import explain as money
from clearlane.payments.model import Remit
from clearlane.pipeline.claim_status import AnyFact, opened_document, opened_fact
from clearlane.pipeline.load_claim import Recalled, recall_in, scope_of
from clearlane.pipeline.query.retrieve_documents import controls_of
from clearlane.store import claim_history, claims, documents, facts
from clearlane.store.claim_history import Ground, Sending, Source
from clearlane.store.database import Actor, Database, Tx
from clearlane.store.facts import FactRow
from clearlane.store.statuses import PLACE
from clearlane.store.vault import Vault

HEADLINES = {
    Kind.ACCEPTED_999: "The payer's system took the file in",
    Kind.SEND_AGAIN: "The set was refused because of other claims; this one is sent again",
    Kind.CLAIM_REFUSED: "Refused in the 999",
    Kind.SET_REFUSED: "Refused with its whole set in the 999",
    Kind.TA1_REFUSED: "Refused with the whole interchange in the TA1",
}


@dataclass(frozen=True, slots=True)
class Chapter:
    """One thing that happened."""

    at: datetime
    headline: str
    file: str = ""
    """The payer's file that said it, or ours that carried it."""
    document_id: str = ""
    sentences: tuple[str, ...] = ()
    told: tuple[Told, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Story:
    """A claim and everything that happened to it, in the order we learnt of it."""

    recalled: Recalled
    status: dict[str, Any] = field(repr=False)
    """The row of the status list; empty for a claim that was not accepted."""
    chapters: tuple[Chapter, ...]

    @property
    def findings(self) -> tuple[ClaimFinding, ...]:
        """What payers said of single fields, as findings beside our own."""
        return tuple(
            ClaimFinding(
                rule=f"{told.source} {told.code}".strip(),
                # An error of our own means that nothing was sent; these came because it was.
                severity=Severity.INFO if told.source == "835" else Severity.WARNING,
                location=at.path,
                message=f"{told.happened} {told.todo}".strip(),
            )
            for chapter in self.chapters
            for told in chapter.told
            for at in told.fields
        )


@dataclass(frozen=True, slots=True)
class _Kept:
    ground: Ground | None
    facts: list[FactRow]
    sources: dict[str, Source]
    sendings: list[Sending]
    documents: list[documents.StoredDocument]
    events: list[tuple[int, str]]


async def tell_story(
    database: Database, vault: Vault, request_id: str, *, actor: Actor
) -> Story | None:
    """The story of a claim of any client; None where there is no such claim."""
    scope = await scope_of(database, request_id)
    if scope is None:
        return None
    recalled = await recall_in(database, vault, scope, request_id, actor=actor)
    if recalled is None:
        return None
    async with database.read(scope) as tx:
        kept = await _kept(tx, request_id)
        sealed = [row.payload for row in kept.facts] + [row.payload for row in kept.documents]
        await vault.fetch(tx, filter(None, [*sealed, _status(kept)]))
    chapters = sorted(_chapters(vault, recalled, kept), key=lambda one: one.at)
    return Story(recalled, _opened_status(vault, scope, request_id, kept), tuple(chapters))


async def _kept(tx: Tx, request_id: str) -> _Kept:
    return _Kept(
        await claim_history.ground(tx, request_id),
        await facts.of_claim(tx, request_id),
        await claim_history.sources(tx, request_id),
        await claim_history.sendings(tx, request_id),
        await documents.of_claim(tx, request_id),
        await claims.events(tx, request_id),
    )


def _status(kept: _Kept) -> bytes | None:
    return kept.ground.status if kept.ground else None


def _opened_status(vault: Vault, scope: Scope, request_id: str, kept: _Kept) -> dict[str, Any]:
    sealed = _status(kept)
    if sealed is None:
        return {}
    return msgspec.json.decode(vault.open(scope, PLACE, request_id, sealed), type=dict[str, Any])


def _chapters(vault: Vault, recalled: Recalled, kept: _Kept) -> Iterator[Chapter]:
    created = moment(recalled.row.created_at)
    yield Chapter(created, "Received")
    yield Chapter(created, "Checked", sentences=tuple(_checked(recalled)))
    for sending in kept.sendings:
        yield from _sent(sending)
    controls = controls_of(recalled)
    parts = {row.document_id: row for row in kept.documents}
    for row in kept.facts:
        source = kept.sources.get(row.identity)
        if source is None:
            continue  # ours: the sending tells it
        fact = opened_fact(vault, row)
        part = parts.get(row.document_id)
        content = opened_document(vault, part).part if part else b""
        yield _said(fact, source, recalled, controls, content)


def _checked(recalled: Recalled) -> Iterator[str]:
    if recalled.row.state == "NotAccepted":
        yield "Not accepted."
    else:
        yield "Accepted."
    for finding in recalled.findings:
        yield f"{finding.location}: {finding.message}"
    for path, kind in recalled.repairs:
        yield f"{path} was put right: {kind}."


def _sent(sending: Sending) -> Iterator[Chapter]:
    which = f"batch {sending.batch_id} of {sending.claims} claims, control number {sending.control}"
    again = "" if sending.attempt == 1 else f", sending {sending.attempt}"
    yield Chapter(moment(sending.created_at), f"Put into {which}{again}", sending.name)
    if sending.delivered_at is not None:
        yield Chapter(
            moment(sending.delivered_at), f"Sent in batch {sending.batch_id}", sending.name
        )
    elif sending.fault or sending.state == "InDoubt":
        yield Chapter(
            moment(sending.created_at),
            f"Not delivered yet: batch {sending.batch_id} is {sending.state}",
            sending.name,
            sentences=(sending.fault,) if sending.fault else (),
        )


def _said(
    fact: AnyFact,
    source: Source,
    recalled: Recalled,
    controls: Sequence[str],
    part: bytes,
) -> Chapter:
    at = moment(source.received_at)
    if isinstance(fact, Remit):
        told = tuple(provenance.decision(paid_in(part)[1], recalled.claim, controls))
        return Chapter(
            at,
            f"Remittance: {fact.action or fact.code}",
            source.name,
            fact.document,
            (money.claim(fact), money.payment(fact.payment)),
            told,
        )
    told = tuple(provenance.refusal(fact, recalled.claim, controls))
    return Chapter(at, _headline(fact), source.name, fact.document, (), told)


def _headline(fact: Fact) -> str:
    if fact.kind is not Kind.STATUS:
        return HEADLINES[fact.kind]
    day = f" as of {fact.day}" if fact.day else ""
    return f"{fact.source}: {fact.verdict.value}, {lifecycle.action(fact.codes)}{day}"
