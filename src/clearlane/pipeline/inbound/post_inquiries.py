"""Post files that answer batches of inquiries, inquiry by inquiry.

    posting = await post_inquiry_answers(context, file, content, read)     # None: not about inquiries

An answer is matched with its inquiry by our trace number, and must be of the payer that the file came from. What
matches no inquiry is parked for a person. Of a second answer only what it states about a claim is recorded. Knows no claim.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import msgspec

from clearlane.claims.responses.ack_messages import AckMessage, GroupAck, InterchangeAck
from clearlane.claims.responses.facts import ClaimKey, FactKind, FilePosition, UnmatchedFact
from clearlane.claims.responses.inbound_file import InboundFile
from clearlane.inquiry import refusals
from clearlane.inquiry.refusals import FileRefusal
from clearlane.inquiry.response_file import AnswerMatch
from clearlane.kernel import limits
from clearlane.kernel.formats import parse_control_number
from clearlane.kernel.log import get_logger
from clearlane.pipeline.filing.filing_leaves import AcknowledgementFile, acknowledgement_leaf
from clearlane.pipeline.inbound.file_payers import FilePayers
from clearlane.pipeline.inquiry.inquiry_runner import StoredAs, open_inquiry, store_result
from clearlane.pipeline.inquiry.inquiry_transaction import (
    AnyResult,
    AnyTransaction,
    InquiryAnswer,
    PendingInquiry,
)
from clearlane.pipeline.inquiry.inquiry_transactions import TRANSACTIONS
from clearlane.pipeline.inquiry.realtime_inquiry import result_of_answer, result_of_refusal
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import inquiries
from clearlane.store.delivery import batches, inbox
from clearlane.store.delivery.inbox import InboxFile, InboxResult, ParkedStatement
from clearlane.store.vault.vault import Vault

log = get_logger()

NO_INQUIRY_FOUND = "{count} answers are for no inquiry that was sent to this payer."
NO_TRACE = "The answer has no trace number of an inquiry."
NO_INQUIRY = "No inquiry with this trace number was sent to this payer."
NO_FILE = "No file of inquiries with this control number was sent to this payer."
MISMATCHES = {
    AnswerMatch.WRONG_PATIENT: "The answer is about another patient than the inquiry.",
    AnswerMatch.WRONG_PAYER: "The answer names another payer than the inquiry.",
}


@dataclass(slots=True)
class InquiryPosting:
    """What was applied of a file, and what was parked."""

    file: InboxFile
    vault: Vault
    kinds: frozenset[str]
    applied: int = 0
    parked: int = 0
    answered: set[FilePosition] = field(default_factory=set)
    """The places of answers that were recorded with an inquiry: they are not posted as statements again."""
    sha256: str = ""
    """Of the file."""
    parked_rows: list[ParkedStatement] = field(default_factory=list)
    """The parked statements that are stored; the rest is only counted."""

    def park(self, kind: str, reason: str, number: str, at: datetime) -> None:
        """Park a statement for a person, under the number that it has."""
        self.parked += 1
        if len(self.parked_rows) < limits.PARKED_PER_FILE_MAX:
            # Parked statements have the kinds of claim facts; a status is the nearest.
            statement = UnmatchedFact(
                reason=reason,
                kind=FactKind.STATUS,
                at=at,
                claim=ClaimKey(claim_number=number),
                source=kind,
            )
            payload = self.vault.seal(
                inbox.OWNER, inbox.PARKED_TABLE, self.file.id, msgspec.json.encode(statement)
            )
            self.parked_rows.append(ParkedStatement(kind, reason, payload))

    @property
    def result(self) -> InboxResult:
        """The result of a file that has nothing but statements about inquiries."""
        return InboxResult(
            state=inbox.PARKED if self.parked else inbox.APPLIED,
            kinds=",".join(sorted(self.kinds)),
            reason=NO_INQUIRY_FOUND.format(count=self.parked) if self.parked else "",
            applied=self.applied,
            parked=self.parked,
        )


async def post_inquiry_answers(
    context: WorkContext, file: InboxFile, content: bytes, read: InboundFile
) -> InquiryPosting | None:
    """Apply the statements of a file about inquiries; return None if it has none."""
    kinds, messages = read.identified.kinds, read.messages or ()
    posting = InquiryPosting(file, context.vault, kinds)
    answering = [one for one in TRANSACTIONS.values() if one.answer_set in kinds]
    refused: Sequence[FileRefusal] = ()
    if not answering:
        if not await _answers_inquiries(context, messages):
            return None
        refused = await asyncio.to_thread(lambda: tuple(_refusals(messages)))
    else:
        posting.sha256 = (await asyncio.to_thread(hashlib.sha256, content)).hexdigest()
    for transaction in answering:
        found = await asyncio.to_thread(transaction.reader.read, content)
        others = [
            answer
            for answer in found.answers
            if not await _record_answer(context, transaction, answer, posting)
        ]
        # The answer about the claim itself may follow one about another claim of the patient, so these come last.
        for answer in others:
            await _record_answer(context, transaction, answer, posting, is_last=True)
        refused = found.refusals  # of the whole file, so the same for each transaction
    # A refusal of no inquiries may be one of claims, which is posted with their statements.
    parks = not any(one.answers_are_statements for one in answering)
    for refusal in refused:
        await _record_refusal(context, refusal, posting, parks=parks)
    return posting


async def _record_answer(
    context: WorkContext,
    transaction: AnyTransaction,
    answer: InquiryAnswer,
    posting: InquiryPosting,
    *,
    is_last: bool = False,
) -> bool:
    """Record an answer on its inquiry, or park it; return False for one about another claim, unless it is the last."""
    number = transaction.reader.trace_number(answer)
    pending, match = await _find_inquiry(context, posting.file, transaction, answer, number)
    now = context.clock.now()
    if not isinstance(pending, str):
        is_other = match is AnswerMatch.OTHER_CLAIM
        if is_other and not is_last:
            return False
        result = await asyncio.to_thread(result_of_answer, pending, answer, now)
        await _store_result(context, pending, result, posting)
        where = transaction.reader.where(answer)
        if where is not None and not is_other:  # another claim's status is posted as a statement
            posting.answered.add(where)
        posting.applied += 1
    elif not transaction.answers_are_statements:
        posting.park(transaction.answer_set, pending, number, now)
    return True


async def _find_inquiry(
    context: WorkContext,
    file: InboxFile,
    transaction: AnyTransaction,
    answer: InquiryAnswer,
    trace_number: str,
) -> tuple[PendingInquiry | str, AnswerMatch | None]:
    """Return the inquiry that an answer of this payer, or of a hop, belongs to, or why there is none, and how it matches."""
    key = inquiries.parse_trace(trace_number)
    if key is None:
        return NO_TRACE, None
    async with context.database.read(inquiries.SCOPE) as tx:
        found = await inquiries.find_inquiry(tx, *key)
        payers = FilePayers(context, file)
        if found is None or not (
            found.transaction_set == transaction.inquiry_set and payers.has(found.payer_id)
        ):
            return NO_INQUIRY, None
        await context.vault.load_keys_of(tx, [found.inquiry])
    pending = open_inquiry(context.vault, found)
    sent = pending.over(payers.id_there(pending.payer_type, pending.payer_id))
    match = transaction.reader.match(answer, sent, pending.trace)
    return MISMATCHES.get(match, pending), match


async def _record_refusal(
    context: WorkContext, refusal: FileRefusal, posting: InquiryPosting, *, parks: bool
) -> None:
    """Record a refusal on every inquiry of the refused file, or of the refused set in it."""
    batch, rows = None, []
    async with context.database.read(inquiries.SCOPE) as tx:
        control = parse_control_number(refusal.control_number)
        if control is not None:
            batch = await batches.find_by_control(tx, control)
            rows = await inquiries.list_for_batch(tx, batch.id) if batch else []
        await context.vault.load_keys_of(tx, [one.inquiry for one in rows])
    if batch is None or not FilePayers(context, posting.file).answers(batch) or not rows:
        if parks:
            posting.park(refusal.kind, NO_FILE, refusal.control_number, context.clock.now())
        return
    if (at := parse_control_number(refusal.set_control_number)) is not None:
        rows = rows[at - 1 : at]
    for one in rows:
        pending = open_inquiry(context.vault, one)
        await _store_result(context, pending, result_of_refusal(pending, refusal), posting)
        posting.applied += 1


async def _store_result(
    context: WorkContext, pending: PendingInquiry, result: AnyResult, posting: InquiryPosting
) -> None:
    file = posting.file
    named = AcknowledgementFile(file.name, posting.sha256, file.received_at)
    runner, now = context.payer_access.inquiry_runner, context.clock.now()
    stored = await store_result(
        context.database,
        context.vault,
        pending,
        result,
        now,
        context.actor,
        context.answer_days,
        inbox_id=file.id,
        make_leaf=partial(acknowledgement_leaf, named),
    )
    if runner and stored is StoredAs.ANSWER:
        runner.pending_calls.count_answer(pending.inquiry_request_id)


async def _answers_inquiries(context: WorkContext, messages: Sequence[AckMessage]) -> bool:
    """Return whether one of the acknowledgements of a file answers a batch of inquiries."""
    groups = {one.group for one in TRANSACTIONS.values()}
    if any(one.verdict.function in groups for one in messages if isinstance(one, GroupAck)):
        return True
    numbers = [one.reference.number for one in messages if isinstance(one, InterchangeAck)]
    parsed = map(parse_control_number, numbers)
    controls = [control for control in parsed if control is not None]
    if not controls:
        return False
    async with context.database.read(inquiries.SCOPE) as tx:
        found = [await batches.find_by_control(tx, control) for control in controls]
        return any([bool(await inquiries.list_for_batch(tx, one.id)) for one in found if one])


def _refusals(messages: Sequence[AckMessage]) -> Iterator[FileRefusal]:
    """Yield the refusals in acknowledgements; those of whole interchanges first, since the first one is recorded."""
    for one in messages:
        if isinstance(one, InterchangeAck):
            yield from refusals.ta1_refusals(one.interchange, one.segment, one.verdict)
    for one in messages:
        if isinstance(one, GroupAck):
            yield from refusals.group_refusals(one.set, one.verdict, one.responses)
