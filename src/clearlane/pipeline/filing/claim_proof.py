"""Gather the evidence that one claim was filed: what was delivered, acknowledged and answered, and the checkpoints over it.

    found = await load_claim_proof(context, scope, number, actor=actor)
    found.evidence                           # one canonical value; raises ProofRefused if there is nothing to prove yet

The statements are made again from what is stored and found in the log by their hashes: what was changed since is not found,
and left out. Every load is audited.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from clearlane.claims.header import ClaimHeader
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.claims.responses import acks
from clearlane.claims.responses.ack_messages import AckMessage, GroupAck
from clearlane.claims.responses.claim_parts import AckParts
from clearlane.claims.responses.facts import Fact
from clearlane.kernel.clock import moment_text
from clearlane.kernel.ids import Scope
from clearlane.pipeline.filing.checkpoints import next_checkpoint_at
from clearlane.pipeline.filing.filing_leaves import (
    AcknowledgementFile,
    acknowledgement_statement,
    answer_statement,
    delivery_statement,
)
from clearlane.pipeline.load_claim import open_header
from clearlane.pipeline.stored_facts import open_document_source, open_fact
from clearlane.pipeline.work_context import WorkContext
from clearlane.proofs.checkpoint import read_checkpoint
from clearlane.proofs.evidence import CheckpointStamp, FilingEvidence, ProvenStatement
from clearlane.proofs.merkle import leaf_path
from clearlane.proofs.statements import (
    DeliveryStatement,
    Statement,
    leaf_hash_of,
    part_digest,
    split_leaves,
)
from clearlane.store.claims import claim_history, claims, documents, facts
from clearlane.store.claims.claim_history import ClaimSending
from clearlane.store.claims.claims import StoredClaim
from clearlane.store.claims.facts import FactRow
from clearlane.store.database.database import Actor, Tx, require_row
from clearlane.store.delivery import batches, inbox, proof_log, proof_stamps
from clearlane.store.delivery.batches import Batch
from clearlane.store.delivery.inbox import InboxFile
from clearlane.store.delivery.proof_log import ProofEntry
from clearlane.x12.reader.claim_slices import slice_claims

NOT_SENT = "The claim was not sent yet: there is nothing to prove."
NOT_LOGGED = "What was sent of the claim is not in the log of filings, so that nothing can be proven about it."


class ProofRefused(Exception):
    """A claim about which nothing can be proven; says why in a sentence."""


@dataclass(frozen=True, slots=True)
class ClaimProof:
    """What can be proven about a claim, and what identifies it for people."""

    evidence: FilingEvidence = field(repr=False)
    header: ClaimHeader
    waiting: tuple[Statement, ...] = ()
    """Statements whose checkpoint is not signed yet."""


@dataclass(frozen=True, slots=True)
class _LoggedStatement:
    """A statement that was found in the log."""

    statement: Statement
    part: bytes = field(repr=False)
    salt: bytes
    index: int
    """Its place among the leaves of the entry."""
    entry: ProofEntry


@dataclass(frozen=True, slots=True)
class _ClaimRows:
    claim: StoredClaim
    sendings: list[ClaimSending]
    facts: list[tuple[FactRow, Fact]]
    parts: dict[str, bytes]
    """The parts of payers' files, by document."""
    stored_at: dict[str, int]
    """When the documents were stored, which is when an answer in real time came."""


async def load_claim_proof(
    context: WorkContext, scope: Scope, claim_number: str, *, actor: Actor
) -> ClaimProof | None:
    """Return the proof of a claim; None if the client has no such claim. Raises :class:`ProofRefused`."""
    rows = await _load_rows(context, scope, claim_number, actor)
    if rows is None:
        return None
    if not any(one.delivered_at is not None for one in rows.sendings):
        raise ProofRefused(NOT_SENT)
    logged = await _find_statements(context, claim_number, rows)
    if not logged:
        raise ProofRefused(NOT_LOGGED)
    signed = [one for one in logged if one.entry.checkpoint is not None]
    if not signed:
        at = next_checkpoint_at(min(one.entry.at for one in logged))
        raise ProofRefused(
            f"Its checkpoint is signed after the full hour, at {at:%Y-%m-%d %H:%M} UTC. Ask again then."
        )
    numbers = sorted({one.entry.checkpoint for one in signed if one.entry.checkpoint})
    async with context.database.read(proof_log.SCOPE) as tx:
        # What is under a checkpoint never changes, so this need not be the transaction of the statements.
        under = {number: await proof_log.list_under(tx, number) for number in numbers}
        stored = await proof_log.find_checkpoints(tx, numbers)
        stamps = await proof_stamps.find_stamps(tx, numbers)
    proven = await asyncio.to_thread(_prove, signed, under)
    payer_type = KINDS[ClaimKind(rows.claim.kind)].payer_type
    found = context.payer_access.payers().find(rows.claim.payer_id, payer_type)
    evidence = FilingEvidence(
        made_at=moment_text(context.clock.now()),
        claim_number=claim_number,
        payer_id=rows.claim.payer_id,
        payer_name=found.name if found else "",
        statements=tuple(sorted(proven, key=_time)),
        checkpoints=tuple(read_checkpoint(one.content) for one in stored),
        stamps=tuple(
            CheckpointStamp(checkpoint=one.number, response=one.content.hex()) for one in stamps
        ),
    )
    waiting = tuple(one.statement for one in logged if one.entry.checkpoint is None)
    header = open_header(context.vault, scope, claim_number, rows.claim.header)
    return ClaimProof(evidence, header, waiting)


async def _load_rows(
    context: WorkContext, scope: Scope, claim_number: str, actor: Actor
) -> _ClaimRows | None:
    vault = context.vault

    async def load(tx: Tx) -> _ClaimRows | None:
        claim = await claims.find(tx, claim_number)
        if claim is None:
            return None
        fact_rows = await facts.list_own(tx, [claim_number])
        stored = await documents.list_for_claims(tx, [claim_number])
        payloads = [row.payload for row in fact_rows] + [one.payload for one in stored]
        await vault.load_keys_of(tx, [claim.header, *payloads])
        tx.audit("claim.proof", ids=[claim_number])
        # A fact of our own has neither a file nor a document.
        of_payers = [row for row in fact_rows if row.inbox_id is not None or row.document_id]
        opened = [(row, open_fact(vault, row)) for row in of_payers]
        return _ClaimRows(
            claim,
            await claim_history.list_sendings(tx, claim_number),
            [(row, fact) for row, fact in opened if isinstance(fact, Fact)],
            {one.document_id: open_document_source(vault, one).part for one in stored},
            {one.document_id: one.created_at for one in stored},
        )

    return await context.database.write(scope, load, actor=actor)


async def _find_statements(
    context: WorkContext, claim_number: str, rows: _ClaimRows
) -> list[_LoggedStatement]:
    """Return the deliveries and acknowledgements of a claim that are in the log.

    Each file is read in a short transaction of its own, and taken apart in a thread after it: neither a large batch nor a
    large 999 holds a reader of the database, or the loop.
    """
    database, vault = context.database, context.vault
    found: list[_LoggedStatement] = []
    delivered = [one.batch_id for one in rows.sendings if one.delivered_at is not None]
    async with database.read(proof_log.SCOPE) as tx:
        entries = await proof_log.find_of_batches(tx, delivered)
    for batch_id, entry in entries.items():
        async with database.read(proof_log.SCOPE) as tx:
            batch = await batches.find(tx, batch_id)
            content = await batches.read_content(tx, vault, batch) if batch else b""
        if batch is not None and batch.delivered_at is not None:
            found += await asyncio.to_thread(_delivery, batch, content, claim_number, entry)
    answered = {row.document_id: fact for row, fact in rows.facts if row.inbox_id is None}
    async with database.read(proof_log.SCOPE) as tx:
        answers = await proof_log.find_of_documents(tx, list(answered)) if answered else {}
    for document_id, entry in answers.items():
        found += _answer(claim_number, answered[document_id], document_id, rows, entry)
    inbox_ids = [row.inbox_id for row, _ in rows.facts if row.inbox_id is not None]
    for inbox_id in dict.fromkeys(inbox_ids):
        async with database.read(proof_log.SCOPE) as tx:
            file = await inbox.find(tx, inbox_id)
            logged = await proof_log.list_of_file(tx, file.id) if file else []
            content = await inbox.read_content(tx, vault, file) if file and logged else b""
        if file is not None and logged:
            found += await asyncio.to_thread(
                _acknowledgements, file, content, claim_number, rows, logged
            )
    return found


def _delivery(
    batch: Batch, content: bytes, claim_number: str, entry: ProofEntry
) -> list[_LoggedStatement]:
    """Return the delivery of a claim in a batch, if it is in the log."""
    part = _part_of(content, claim_number)
    at = require_row(batch.delivered_at, "the time of a delivery")
    statement = delivery_statement(batch, claim_number, part_digest(part), at)
    return _find_logged(statement, part, [entry])


def _answer(
    claim_number: str, fact: Fact, document_id: str, rows: _ClaimRows, entry: ProofEntry
) -> list[_LoggedStatement]:
    """Return a payer's answer in real time, if it is in the log as it is stored."""
    part, at = rows.parts.get(document_id), rows.stored_at.get(document_id)
    if part is None or at is None:
        return []
    return _find_logged(answer_statement(at, claim_number, fact.source, part), part, [entry])


def _acknowledgements(
    file: InboxFile,
    content: bytes,
    claim_number: str,
    rows: _ClaimRows,
    entries: Sequence[ProofEntry],
) -> list[_LoggedStatement]:
    """Return the acknowledgements of a claim in one file that are in the log. The file is read once for all facts."""
    found: list[_LoggedStatement] = []
    named = AcknowledgementFile(file.name, hashlib.sha256(content).hexdigest(), file.received_at)
    messages: list[AckMessage] | None = None
    for row, fact in rows.facts:
        if row.inbox_id != file.id:
            continue
        stored = rows.parts.get(row.document_id)
        if stored is None and messages is None:
            messages = list(acks.read(content))
        parts = [stored] if stored is not None else _verdicts_on_sets(messages or (), fact)
        for part in parts:
            statement = acknowledgement_statement(named, claim_number, fact.source, part)
            found += _find_logged(statement, part, entries)
    return found


def _part_of(content: bytes, claim_number: str) -> bytes:
    return next((part for number, part in slice_claims(content) if number == claim_number), b"")


def _verdicts_on_sets(messages: Iterable[AckMessage], fact: Fact) -> Iterator[bytes]:
    """Yield the verdicts of a 999 on each set that it answers, as a claim of the set gets them: one of them was logged."""
    for message in messages:
        if isinstance(message, GroupAck):
            for loop in message.responses:
                where = msgspec.structs.replace(fact.where, position=loop.position)
                yield AckParts(message).of(msgspec.structs.replace(fact, where=where))


def _find_logged(
    statement: Statement, part: bytes, entries: Iterable[ProofEntry]
) -> list[_LoggedStatement]:
    """Return a statement with its place in the log, if it is there."""
    for entry in entries:
        for index, (salt, hash) in enumerate(split_leaves(entry.content)):
            if leaf_hash_of(salt, statement) == hash:
                return [_LoggedStatement(statement, part, salt, index, entry)]
    return []


def _prove(
    logged: Sequence[_LoggedStatement], under: Mapping[int, Sequence[ProofEntry]]
) -> list[ProvenStatement]:
    """Return statements with their paths to the root of their checkpoints, from the entries under each of these."""
    proven = []
    for number, entries in under.items():
        hashes = [hash for entry in entries for _, hash in split_leaves(entry.content)]
        first = {}
        count = 0
        for entry in entries:
            first[entry.id] = count
            count += entry.leaves
        for one in logged:
            if one.entry.checkpoint == number:
                position = first[one.entry.id] + one.index
                path = leaf_path(hashes, position)
                proven.append(
                    ProvenStatement(
                        statement=one.statement,
                        part=one.part.decode("latin-1"),
                        salt=one.salt.hex(),
                        checkpoint=number,
                        position=position,
                        path=tuple(each.hex() for each in path),
                    )
                )
    return proven


def _time(one: ProvenStatement) -> str:
    stated = one.statement
    return stated.delivered_at if isinstance(stated, DeliveryStatement) else stated.received_at
