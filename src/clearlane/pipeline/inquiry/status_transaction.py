"""Questions about claims as a transaction of the engine: 276 and 277, and what an answer does to its claim.

An answer that names the claim is recorded as a fact, as a 277 in a payer's file is: it never overrules an 835. An answer
that does not is an event and a line of the history alone. A search that failed (D0) is followed by one with other keys. Knows
neither queue nor request.
"""

from clearlane.claims.inquiry import read_277, status_answer, status_inquiry, write_276
from clearlane.claims.inquiry.answer_result import ANSWER, FOR_A_PERSON, AnswerResult
from clearlane.claims.inquiry.status_answer import StatusResult
from clearlane.claims.inquiry.status_inquiry import StatusInquiry, other_keys
from clearlane.events.event import EventActor, NewEvent
from clearlane.inquiry.inquiry_result import CONNECTION
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import VendorId
from clearlane.payers.routes import STATUS_INQUIRY
from clearlane.pipeline.inquiry.inquiry_transaction import (
    AnswerReader,
    InquiryTransaction,
    NewResult,
    PayloadFormat,
    PendingInquiry,
)
from clearlane.pipeline.record_facts import ClaimFact, record_facts, wait_again
from clearlane.store.claims import claim_history, claim_updates, due_claims
from clearlane.store.database.database import Tx
from clearlane.store.vault.vault import Vault


def claim_key(vault: Vault, vendor_id: VendorId, claim_number: str) -> int:
    """Return the keyed hash that finds the questions about one claim."""
    return vault.search_key(vendor_id, "asked claim", claim_number)


def result_of(result: StatusResult) -> AnswerResult:
    """Return what the result of a question says."""
    return result.answer.result if result.answer is not None else AnswerResult.FAILED


def _patient_key(vault: Vault, vendor_id: VendorId, inquiry: StatusInquiry) -> int | None:
    number = inquiry.claim_number
    return claim_key(vault, vendor_id, number) if number else None


def _follow_up(inquiry: StatusInquiry, result: StatusResult) -> StatusInquiry | None:
    """Return the question with other keys, if the payer's search failed."""
    return other_keys(inquiry) if result_of(result) is AnswerResult.SEARCH_FAILED else None


def _claim_number(pending: PendingInquiry) -> str:
    """Return our number of the claim; empty for a sender's own 276, which is answered in its file alone."""
    inquiry = pending.inquiry
    return inquiry.claim_number if isinstance(inquiry, StatusInquiry) else ""


async def _record_fact(tx: Tx, vault: Vault, pending: PendingInquiry, new: NewResult) -> bool:
    """Record what an answer states about its claim; return False if it states nothing new about it.

    If it repeats what is known, the payer has the claim: it waits from now on, and a person no longer has it.
    """
    result, number, scope = new.result, _claim_number(pending), pending.scope
    if not number or result.answer is None or result.answer.is_of_other_claim:
        return False
    fact = read_277.claim_fact(result.x12, number)
    if fact is None:
        return False
    leaf = new.make_leaf(number, fact.source, result.x12)
    recorded = ClaimFact(
        number, scope.vendor, scope.site, fact, result.x12, new.inbox_id, leaf=leaf
    )
    if await record_facts(tx, vault, [recorded], new.now, new.answer_days):
        return True
    await wait_again(tx, vault, number, new.now, new.answer_days)
    return False


async def _record_later(tx: Tx, vault: Vault, pending: PendingInquiry, new: NewResult) -> None:
    """Record a later answer on its claim: the question has ended, and the payer states something new."""
    await _record_fact(tx, vault, pending, new)


async def _record(tx: Tx, vault: Vault, pending: PendingInquiry, new: NewResult) -> None:
    """Record an answer on its claim, with the event that the question was answered or failed."""
    number = _claim_number(pending)
    if not number:
        return
    result, now = new.result, new.now
    scope, error = pending.scope, result.error
    said = result_of(result)
    if not await _record_fact(tx, vault, pending, new):
        await claim_history.note_result(tx, scope, number, to_micros(now), said.value)
    if said in FOR_A_PERSON:
        await due_claims.leave_to_person(tx, number, to_micros(now))
    is_payers = error is None or error.kind != CONNECTION
    tx.add_events(
        [
            NewEvent(
                "claim.answered",
                to_micros(now),
                one.vendor_id,
                one.site_id,
                one.claim_number,
                one.sequence,
                data={"result": said.value, "late": now > pending.deadline},
                actor=EventActor.PAYER if is_payers else EventActor.SYSTEM,
            )
            for one in await claim_updates.count_event(tx, [number])
        ]
    )


CLAIM_STATUS = InquiryTransaction(
    inquiry_set=STATUS_INQUIRY,
    answer_set=ANSWER,
    group="HR",
    subject="claim_status",
    payload=PayloadFormat(
        payer=lambda inquiry: (inquiry.payer_type, inquiry.payer_names[0]),
        under_payer_id=status_inquiry.under_payer_id,
        patient_key=_patient_key,
        encode=status_inquiry.encode,
        decode=status_inquiry.restore,
        write=write_276.write_questions,
    ),
    reader=AnswerReader(
        read=read_277.read,
        trace_number=read_277.trace_number,
        match=read_277.match_answer,
        may_be_resent=read_277.may_be_resent,
        build=read_277.build_answer,
        decode=status_answer.decode_result,
        where=lambda reply: reply.where,
    ),
    record=_record,
    record_later=_record_later,
    follow_up=_follow_up,
    answers_are_statements=True,
)
