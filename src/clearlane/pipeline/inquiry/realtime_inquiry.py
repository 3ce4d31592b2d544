"""Send one inquiry to one payer in real time, and read the reply.

    result = await send_inquiry(connection, pending, now)    # InquiryResult: store it. RetryLater: send it again

Four classes of failure are distinguished: HTTP, CORE envelope, TA1 or 999, and AAA. An inquiry is sent again soon only
if that is safe: a payer that cannot answer now (AAA 42 and 80, a busy envelope), a connection that was never made,
an answer about another patient. One that may have arrived and was not answered pauses as long as CORE requires.

Knows inquiries and replies; knows no store and no queue.
"""

import asyncio
import zlib
from dataclasses import dataclass
from datetime import datetime

from clearlane.connect.connections import RealtimeConnection
from clearlane.connect.port import Denied, Presence, RealtimeResult, Reply, Unreachable
from clearlane.inquiry.inquiry_result import (
    CONNECTION,
    AnswerError,
    InquiryResult,
    build_error,
)
from clearlane.inquiry.refusals import FileRefusal
from clearlane.inquiry.response_file import AnswerMatch
from clearlane.kernel.limits import CONTROL_NUMBER_MAX
from clearlane.kernel.log import get_logger
from clearlane.pipeline.inquiry.inquiry_transaction import (
    AnyResult,
    InquiryAnswer,
    PendingInquiry,
)
from clearlane.pipeline.route_connections import envelope_for

log = get_logger()

INQUIRY_READ_AT_ONCE_BYTES = 16 * 1024

# The code and sentence for the caller if a connection brought no answer: ours, since the payer's words are for operators.
REPLY_FAILURES = {
    RealtimeResult.HTTP: (
        "Http",
        "The payer's service answered without an envelope; the operator can see what it said.",
    ),
    RealtimeResult.ENVELOPE: (
        "Envelope",
        "The payer's service refused the envelope; the operator can see what it said.",
    ),
    RealtimeResult.BUSY: ("Busy", "The payer's service is busy."),
    RealtimeResult.TIMEOUT: ("Timeout", "The payer did not answer in time."),
}
UNREACHABLE = ("Unreachable", "The payer could not be reached.")
LOST = ("Lost", "The connection to the payer was lost before an answer came.")
DENIED = ("Denied", "The payer's service refused the connection.")
UNREADABLE = ("Unreadable", "The payer's answer is no X12.")
UNANSWERED = ("Unanswered", "The payer took the inquiry and gave no answer.")
OTHER_PATIENT = (
    "OtherPatient",
    "The payer's answer was about another patient or claim; it was ignored.",
)
OTHER_PAYER = ("OtherPayer", "The answer was another payer's; it was refused.")
NO_ROUTE = ("NoRoute", "There is no active route to the payer.")
MISMATCHES = {
    AnswerMatch.WRONG_PATIENT: OTHER_PATIENT,
    AnswerMatch.WRONG_PAYER: OTHER_PAYER,
}


@dataclass(frozen=True, slots=True)
class RetryLater:
    """An attempt that did not end the inquiry."""

    final: AnyResult
    """Stored when no further attempt is made."""
    soon: bool
    """Whether it may be sent again soon: nothing arrived, or the payer has finished with it."""


AttemptResult = AnyResult | RetryLater


async def send_inquiry(
    connection: RealtimeConnection, pending: PendingInquiry, now: datetime
) -> AttemptResult:
    """Send an inquiry once, and return its result."""
    envelope = envelope_for(connection.route, control_number(pending), now)
    transaction, hop_payer_id = pending.transaction, connection.route.hop_payer_id
    sent = (pending.over(hop_payer_id), pending.trace)
    payload = b"".join(transaction.payload.write([sent], envelope))
    try:
        reply = await connection.realtime.ask(
            payload, payload_type=transaction.inquiry_set, seconds=connection.timeout_seconds
        )
    except Unreachable as fault:
        absent = fault.arrival is Presence.ABSENT
        return RetryLater(result_of_failure(pending, UNREACHABLE if absent else LOST), soon=absent)
    except Denied:
        return result_of_failure(pending, DENIED)
    if reply.result is not RealtimeResult.ANSWERED:
        return _unanswered(pending, reply)
    if len(reply.payload) <= INQUIRY_READ_AT_ONCE_BYTES:
        return read_reply(pending, reply.payload, now, hop_payer_id)
    return await asyncio.to_thread(read_reply, pending, reply.payload, now, hop_payer_id)


def read_reply(
    pending: PendingInquiry, content: bytes, now: datetime, hop_payer_id: str = ""
) -> AttemptResult:
    """Return the result of an inquiry from the payer's reply, which should be about nothing else.

    ``hop_payer_id`` is the payer's id at the hop that the inquiry went over, if there is one.
    """
    reader, sent = pending.transaction.reader, pending.over(hop_payer_id)
    found = reader.read(content)
    mismatches: list[tuple[str, str]] = []
    others: list[InquiryAnswer] = []
    for answer in found.answers:
        match = reader.match(answer, sent, pending.trace)
        if match is AnswerMatch.MATCHED:
            result = result_of_answer(pending, answer, now)
            return RetryLater(result, soon=True) if reader.may_be_resent(answer) else result
        if match is AnswerMatch.OTHER_CLAIM:
            others.append(answer)
        else:
            mismatches.append(MISMATCHES[match])
        log.warning("answer of another inquiry", request=pending.inquiry_request_id, number=pending.number, mismatch=match.value)  # fmt: skip
    for answer in others:  # the first of them, for a person to look at
        return result_of_answer(pending, answer, now)
    for refusal in found.refusals:
        return result_of_refusal(pending, refusal)
    if mismatches:
        return RetryLater(result_of_failure(pending, mismatches[0]), soon=True)
    if found.is_x12:
        return RetryLater(result_of_failure(pending, UNANSWERED), soon=False)
    return result_of_failure(pending, UNREADABLE)


def result_of_answer(pending: PendingInquiry, answer: InquiryAnswer, now: datetime) -> AnyResult:
    """Return the result of an answer to the inquiry."""
    transaction = pending.transaction
    built = transaction.reader.build(answer, pending.inquiry, pending.trace, now)
    return InquiryResult(answer=built, x12=answer.content)


def result_of_refusal(pending: PendingInquiry, refusal: FileRefusal) -> AnyResult:
    """Return the result of a TA1 or 999 that refuses the file of the inquiry."""
    error = build_error(refusal.kind, pending.inquiry, refusal.errors, refusal.status)
    return InquiryResult(error=error, x12=refusal.content)


def result_of_failure(
    pending: PendingInquiry, failure: tuple[str, str], payer_text: str = ""
) -> AnyResult:
    """Return the result if the payer was not reached or sent no usable reply; ``payer_text`` is for operators."""
    code, message = failure
    reason = AnswerError(code=code, message=message, payer_text=payer_text)
    error = build_error(CONNECTION, pending.inquiry, (reason,))
    return InquiryResult(error=error)


def control_number(pending: PendingInquiry) -> int:
    """Return ISA13: another number for each attempt."""
    mark = f"{pending.trace}/{pending.attempts}".encode()
    return zlib.crc32(mark) % CONTROL_NUMBER_MAX + 1


def _unanswered(pending: PendingInquiry, reply: Reply) -> AttemptResult:
    text = " ".join(filter(None, (reply.code, reply.message)))
    result = result_of_failure(pending, REPLY_FAILURES[reply.result], text)
    if reply.result is RealtimeResult.BUSY:
        return RetryLater(result, soon=True)
    return RetryLater(result, soon=False) if reply.result is RealtimeResult.TIMEOUT else result
