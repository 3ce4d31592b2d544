"""Read the acknowledgements and statuses of a payer's file, page by page, each matched with the claim it is about.

    async for page in StatementReader(context, file, content, read).pages(): ...

The messages of a file of TA1 and 999 were read when it was identified. Any other file is read in a thread, a page at a
time, so that a large one blocks nothing and memory stays flat. TA1 and 999 name files: the batch that they acknowledge
is opened, and its layout gives the claims. All other sets name their claims. Writes nothing: what follows from a
statement is decided elsewhere.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeAlias

import msgspec

from clearlane.claims.responses import acks
from clearlane.claims.responses.ack_messages import (
    AckMessage,
    ClaimStatusReport,
    InterchangeAck,
    InterchangeReference,
)
from clearlane.claims.responses.claim_parts import AckParts
from clearlane.claims.responses.facts import ClaimKey, Fact, FactKind, FilePosition, UnmatchedFact
from clearlane.claims.responses.inbound_file import InboundFile
from clearlane.claims.write.sent_claims import read_sent_claims
from clearlane.claims.write.sent_layout import SentLayout, read_layout
from clearlane.kernel.tasks import run_by_size
from clearlane.payments.match import NoMatch
from clearlane.payments.model import ClaimPaymentFact
from clearlane.pipeline.filing.filing_leaves import AcknowledgementFile, acknowledgement_leaf
from clearlane.pipeline.inbound.file_items import STATEMENTS, ReportedStatus, Statement
from clearlane.pipeline.inbound.file_payers import FilePayers, control_numbers
from clearlane.pipeline.inbound.reading_process import read_file, read_pages
from clearlane.pipeline.outbound.requeue_refused import envelope_of_file
from clearlane.pipeline.record_facts import ClaimFact
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Tx
from clearlane.store.delivery import batches, inbox
from clearlane.store.delivery.batches import Batch, BatchMember
from clearlane.store.delivery.file_refusals import FileVerdict
from clearlane.store.delivery.inbox import InboxFile

ACKNOWLEDGEMENTS = frozenset({"TA1", "999", "277CA", "277"})
DOCUMENTED = frozenset(
    {FactKind.STATUS, FactKind.CLAIM_REFUSED, FactKind.SET_REFUSED, FactKind.TA1_REFUSED}
)
"""The kinds of facts that become a document, beside payments."""
NOTE_CHARACTERS_MAX = 3


class UnmatchedStatementError(Exception):
    """A statement that is about no known claim was about to be recorded on one."""


class ClaimOwner(Protocol):
    """The id of a claim and of the client it belongs to."""

    @property
    def claim_number(self) -> str: ...
    @property
    def vendor_id(self) -> int: ...
    @property
    def site_id(self) -> int: ...


StatementContent: TypeAlias = Fact | ClaimPaymentFact | UnmatchedFact


@dataclass(frozen=True, slots=True)
class PayerStatement:
    """One statement of a payer, and the claim it is about, or the reason why it matches none."""

    content: StatementContent
    owner: ClaimOwner | str
    part: bytes | None = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """The kind of the fact."""
        return str(self.content.kind)

    def as_claim_fact(self, inbox_id: int, file: AcknowledgementFile) -> ClaimFact:
        """Return the statement as a fact to record on its claim, with the leaf that it adds to the log of filings."""
        owner, fact = self.owner, self.content
        if isinstance(owner, str) or isinstance(fact, UnmatchedFact):
            raise UnmatchedStatementError(self.kind)
        leaf, is_documented = b"", True
        if isinstance(fact, Fact) and self.part is not None:
            is_documented = fact.kind in DOCUMENTED
            leaf = acknowledgement_leaf(file, owner.claim_number, fact.source, self.part)
        return ClaimFact(
            owner.claim_number,
            owner.vendor_id,
            owner.site_id,
            fact,
            self.part if is_documented else None,
            inbox_id,
            leaf=leaf,
        )

    def encode_unmatched(self, reason: str) -> bytes:
        """Encode the statement as it is kept for a person."""
        return msgspec.json.encode(_as_unmatched(self.content, reason))


class StatementReader:
    """Reads one file."""

    def __init__(
        self, context: WorkContext, file: InboxFile, content: bytes, read: InboundFile
    ) -> None:
        self._context = context
        self._payers = FilePayers(context, file)
        self._content = content
        self._read = read
        self.answered: set[FilePosition] = set()
        """The places of answers to questions about claims: these were recorded with the question."""
        self.acknowledged: set[int] = set()
        """The ids of the batches that acknowledgements of the file name."""
        self.verdicts: dict[int, FileVerdict] = {}
        """What TA1s of the file say of batches of claims, by id."""
        self._envelope: tuple[int, str] | None = None
        """The id and the envelope of the batch that was loaded last; None for a batch of inquiries."""
        self._sent_bytes = 0
        self._sent: tuple[object, SentLayout | None, dict[str, BatchMember]] = (None, None, {})

    async def pages(self) -> AsyncIterator[list[PayerStatement]]:
        """Yield the statements of the file."""
        if self._read.identified.kinds & ACKNOWLEDGEMENTS:
            known = self._read.messages
            pages = (
                read_file(self._context.reading_processes, STATEMENTS, self._content)
                if known is None
                else read_pages(_of_files(known), len(self._content))
            )
            async for messages in pages:
                async for page in self._acknowledgement_pages(messages):
                    yield page

    # ---- statements that name their claims ---------------------------------------------------

    async def _match(self, reports: Sequence[ReportedStatus]) -> list[PayerStatement]:
        async with self._context.database.read(inbox.SCOPE) as tx:
            found = await self._payers.match_reports(tx, reports)
        return [
            PayerStatement(
                one.fact, owner.reason if isinstance(owner, NoMatch) else owner, one.part
            )
            for one, owner in zip(reports, found, strict=True)
        ]

    # ---- statements that name files ----------------------------------------------------------

    async def _acknowledgement_pages(
        self, messages: Sequence[Statement]
    ) -> AsyncIterator[list[PayerStatement]]:
        reports = [
            one
            for one in messages
            if isinstance(one, ReportedStatus) and one.fact.where not in self.answered
        ]
        if reports:
            yield await self._match(reports)
        for one in messages:
            if not isinstance(one, ReportedStatus):
                sent, members = await self._batch(
                    one.reference, is_accepted=acks.is_accepted_whole(one)
                )
                if isinstance(one, InterchangeAck) and sent is not None:
                    self._note_verdict(one)
                found = self._acknowledgement_facts(one, sent)
                async for facts in read_pages(found, len(self._content) + self._sent_bytes):
                    yield [
                        PayerStatement(content, _member_or_reason(content, members), part)
                        for content, part in facts
                    ]

    def _note_verdict(self, message: InterchangeAck) -> None:
        if self._envelope is None:
            return
        id, envelope = self._envelope
        before, verdict = self.verdicts.get(id, FileVerdict()), message.verdict
        if verdict.verdict in acks.ACCEPTED:
            self.verdicts[id] = before._replace(accepted=True)
        else:
            self.verdicts[id] = before._replace(
                refused=True, note=_note(verdict.note), envelope=envelope
            )

    def _acknowledgement_facts(
        self, message: AckMessage, sent: SentLayout | None
    ) -> Iterator[tuple[Fact | UnmatchedFact, bytes | None]]:
        parts = AckParts(message)
        for content in acks.derive_facts(message, sent):
            yield content, parts.of(content) if isinstance(content, Fact) else None

    async def _batch(
        self, reference: InterchangeReference, *, is_accepted: bool
    ) -> tuple[SentLayout | None, dict[str, BatchMember]]:
        """Return the acknowledged batch, if it was sent to this payer. The last one is kept.

        Of one that is accepted whole the claims have no places.
        """
        key = (reference, is_accepted)
        if self._sent[0] != key:
            self._sent = (key, *await self._load_batch(reference, is_accepted=is_accepted))
        return self._sent[1], self._sent[2]

    async def _load_batch(
        self, reference: InterchangeReference, *, is_accepted: bool
    ) -> tuple[SentLayout | None, dict[str, BatchMember]]:
        async with self._context.database.read(inbox.SCOPE) as tx:
            batch = await self._find_batch(tx, reference)
            self._envelope = None
            if batch is None:
                return None, {}
            self.acknowledged.add(batch.id)
            content = await batches.read_content(tx, self._context.vault, batch)
            members = {one.claim_number: one for one in await batches.list_members(tx, batch.id)}
        if batch.kind:
            self._envelope = (batch.id, envelope_of_file(content))
        attempts = {number: one.attempt for number, one in members.items()}
        self._sent_bytes = len(content)
        if is_accepted:
            found = await run_by_size(len(content), partial(read_sent_claims, content, attempts))
            if found is not None:
                return found, members
        read = partial(read_layout, content, attempts=attempts, positions=reference.positions)
        return await run_by_size(len(content), read), members

    async def _find_batch(self, tx: Tx, reference: InterchangeReference) -> Batch | None:
        for control in control_numbers(reference):
            batch = await batches.find_by_control(tx, control)
            if batch is not None and self._payers.answers(batch):
                return batch
        return None


def _of_files(messages: Iterable[AckMessage]) -> Iterator[Statement]:
    """Yield messages that were read when the file was identified: none of them is a status of a claim."""
    return (one for one in messages if not isinstance(one, ClaimStatusReport))


def _note(code: str) -> str:
    """Return a note code of a TA1; a payer may have written anything there, and it is shown and counted by."""
    return code if code.isascii() and code.isalnum() and len(code) <= NOTE_CHARACTERS_MAX else "?"


def _member_or_reason(
    content: Fact | UnmatchedFact, members: dict[str, BatchMember]
) -> ClaimOwner | str:
    if isinstance(content, UnmatchedFact):
        return content.reason
    return members.get(content.claim.claim_number) or "The batch does not hold this claim."


def _as_unmatched(content: StatementContent, reason: str) -> UnmatchedFact:
    if isinstance(content, UnmatchedFact):
        return content
    if isinstance(content, Fact):
        return UnmatchedFact(
            reason=reason, kind=content.kind, at=content.at, claim=content.claim, where=content.where,
            source=content.source,
        )  # fmt: skip
    key = ClaimKey(
        claim_number=content.claim_number,
        account_number=content.account_number,
        payer_control_number=content.payer_control_number,
        line_controls=content.line_controls,
    )
    where = FilePosition(
        interchange=content.interchange,
        group=content.group,
        set=content.set,
        position=content.position,
    )
    return UnmatchedFact(
        reason=reason, kind=FactKind.REMIT, at=content.at, claim=key, where=where, source="835"
    )
