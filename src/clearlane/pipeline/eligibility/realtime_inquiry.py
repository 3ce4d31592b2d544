"""Send one eligibility inquiry to one payer in real time, and read the reply.

    result = await send_inquiry(connection, pending, now)    # FinalResult: store it. RetryLater: send it again

Four classes of failure are distinguished: HTTP, CORE envelope, TA1 or 999, and AAA. An inquiry is sent again soon only
where that is safe: a payer that cannot answer now (AAA 42 and 80, a busy envelope), a connection that was never made,
an answer about another patient. One that may have arrived and was not answered pauses as long as CORE requires.

Knows inquiries and replies; knows no store and no queue.
"""

import asyncio
import zlib
from dataclasses import dataclass
from datetime import datetime

import structlog

from clearlane.connect.connections import RealtimeConnection
from clearlane.connect.port import Denied, Presence, RealtimeOutcome, Reply, Unreachable
from clearlane.eligibility import read_271, write_270
from clearlane.eligibility.benefit_answer import ANSWER, InquiryOutcome
from clearlane.eligibility.model import Inquiry
from clearlane.kernel import limits
from clearlane.kernel.ids import Scope, random_text
from clearlane.pipeline.route_connections import envelope_for

log = structlog.get_logger()

ELIGIBILITY_READ_AT_ONCE_BYTES = 16 * 1024

INQUIRY_SET = "270"
CONTROL_MAX = 999_999_999
# The code and sentence for the caller if a connection brought no 271: ours, since the payer's words are for operators.
REPLY_FAILURES = {
    RealtimeOutcome.HTTP: (
        "Http",
        "The payer's service answered without an envelope; the operator can see what it said.",
    ),
    RealtimeOutcome.ENVELOPE: (
        "Envelope",
        "The payer's service refused the envelope; the operator can see what it said.",
    ),
    RealtimeOutcome.BUSY: ("Busy", "The payer's service is busy."),
    RealtimeOutcome.TIMEOUT: ("Timeout", "The payer did not answer in time."),
}
UNREACHABLE = ("Unreachable", "The payer could not be reached.")
LOST = ("Lost", "The connection to the payer was lost before an answer came.")
DENIED = ("Denied", "The payer's service refused the connection.")
UNREADABLE = ("Unreadable", "The payer's answer is no X12.")
UNANSWERED = ("Unanswered", "The payer took the inquiry and gave no answer.")
OTHER_PATIENT = ("OtherPatient", "The payer's answer was about another patient; it was ignored.")
OTHER_PAYER = ("OtherPayer", "The answer was another payer's; it was refused.")
NO_ROUTE = ("NoRoute", "There is no active route to the payer.")
MISMATCHES = {
    read_271.AnswerMatch.WRONG_PATIENT: OTHER_PATIENT,
    read_271.AnswerMatch.WRONG_PAYER: OTHER_PAYER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingInquiry:
    """One patient of a request whose inquiry is being sent."""

    scope: Scope
    eligibility_request_id: int
    request_number: int
    """V3's ``RequestId``."""
    number: int
    attempts: int
    created_at: int
    payer_id: str
    inquiry: Inquiry

    @property
    def key(self) -> tuple[int, int]:
        """Request id and number of the patient."""
        return self.eligibility_request_id, self.number

    @property
    def trace(self) -> str:
        """The trace number (TRN02), by which an answer is matched."""
        return f"{self.eligibility_request_id}-{self.number}"


@dataclass(frozen=True, slots=True)
class FinalResult:
    """The final result of an inquiry."""

    kind: str
    """271, 999, TA1 or Connection."""
    outcome: InquiryOutcome


@dataclass(frozen=True, slots=True)
class RetryLater:
    """An attempt that did not result the inquiry."""

    final: FinalResult
    """Stored when no further attempt is made."""
    soon: bool
    """Whether it may be sent again soon: nothing arrived, or the payer has finished with it."""


AttemptResult = FinalResult | RetryLater


async def send_inquiry(
    connection: RealtimeConnection, pending: PendingInquiry, now: datetime
) -> AttemptResult:
    """Send an inquiry once, and return its result."""
    envelope = envelope_for(connection.route, control_number(pending), now)
    payload = write_270.write_inquiry(pending.inquiry, envelope, trace=pending.trace)
    try:
        reply = await connection.realtime.ask(
            payload, payload_type=INQUIRY_SET, seconds=connection.timeout_seconds
        )
    except Unreachable as fault:
        absent = fault.arrival is Presence.ABSENT
        return RetryLater(result_of_failure(pending, UNREACHABLE if absent else LOST), soon=absent)
    except Denied:
        return result_of_failure(pending, DENIED)
    if reply.outcome is not RealtimeOutcome.ANSWERED:
        return _unanswered(pending, reply)
    if len(reply.payload) <= ELIGIBILITY_READ_AT_ONCE_BYTES:
        return read_reply(pending, reply.payload, now)
    return await asyncio.to_thread(read_reply, pending, reply.payload, now)


def read_reply(pending: PendingInquiry, content: bytes, now: datetime) -> AttemptResult:
    """Return the result of an inquiry from the payer's reply, which should be about nothing else."""
    found = read_271.read(content)
    mismatches = []
    for answer in found.answers:
        match = read_271.match_answer(answer, pending.inquiry, pending.trace)
        if match is read_271.AnswerMatch.MATCHED:
            result = result_of_271(pending, answer, now)
            return RetryLater(result, soon=True) if read_271.may_be_resent(answer) else result
        mismatches.append(MISMATCHES[match])
        log.warning("answer of another inquiry", request=pending.eligibility_request_id, number=pending.number, mismatch=match.value)  # fmt: skip
    for refusal in found.refusals:
        return result_of_refusal(pending, refusal)
    if mismatches:
        return RetryLater(result_of_failure(pending, mismatches[0]), soon=True)
    if found.is_x12:
        return RetryLater(result_of_failure(pending, UNANSWERED), soon=False)
    return result_of_failure(pending, UNREADABLE)


def result_of_271(
    pending: PendingInquiry, answer: read_271.PatientAnswer, now: datetime
) -> FinalResult:
    """Return the result of a 271 about the patient."""
    built = read_271.build_answer(
        answer,
        pending.inquiry,
        document_id=random_text(limits.DOCUMENT_ID_CHARACTERS),
        created_at=now,
        trace=pending.trace,
    )
    return FinalResult(ANSWER, InquiryOutcome(answer=built, x12=answer.content))


def result_of_refusal(pending: PendingInquiry, refusal: read_271.FileRefusal) -> FinalResult:
    """Return the result of a TA1 or 999 that refuses the file of the inquiry."""
    error = read_271.build_refusal(refusal, pending.inquiry)
    return FinalResult(error.kind, InquiryOutcome(error=error, x12=refusal.content))


def result_of_failure(
    pending: PendingInquiry, failure: tuple[str, str], payer_text: str = ""
) -> FinalResult:
    """Return the result if the payer was not reached or sent no usable reply; ``payer_text`` is for operators."""
    error = read_271.build_connection_error(pending.inquiry, *failure, payer_text)
    return FinalResult(error.kind, InquiryOutcome(error=error))


def control_number(pending: PendingInquiry) -> int:
    """Return ISA13: another number for each attempt."""
    mark = f"{pending.trace}/{pending.attempts}".encode()
    return zlib.crc32(mark) % CONTROL_MAX + 1


def _unanswered(pending: PendingInquiry, reply: Reply) -> AttemptResult:
    text = " ".join(filter(None, (reply.code, reply.message)))
    result = result_of_failure(pending, REPLY_FAILURES[reply.outcome], text)
    if reply.outcome is RealtimeOutcome.BUSY:
        return RetryLater(result, soon=True)
    return RetryLater(result, soon=False) if reply.outcome is RealtimeOutcome.TIMEOUT else result
