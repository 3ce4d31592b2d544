"""One question to one payer: the 270 goes out, and what comes back is an end or a reason to ask again later.

    told = await ask(way, question, now)      # Ended: to be kept. Later: to be asked again, or kept when given up

Four classes of outcome are kept apart: http, envelope, TA1 or 999, and AAA. Only what is safe is asked again: a payer
that says that it cannot answer now (AAA 42 and 80, a busy envelope), a connection that never was, an answer that was
for somebody else. A question that may have arrived and was not answered rests for as long as CORE wants.

Knows questions and answers; knows no store and no lane.
"""

import asyncio
import zlib
from dataclasses import dataclass
from datetime import datetime

import msgspec
import structlog

from clearlane.connect.port import Denied, Outcome, Presence, Reply, Unreachable
from clearlane.connect.realtime_routes import Way
from clearlane.eligibility import answer as response
from clearlane.eligibility import read_271, write_270
from clearlane.eligibility.model import Inquiry
from clearlane.kernel import limits
from clearlane.kernel.ids import Scope, random_text
from clearlane.pipeline.routes import envelope_for

log = structlog.get_logger()

ROLE = "270"
CONTROL_MAX = 999_999_999
ANSWER, CONNECTION = "271", "Connection"
# What a caller is told where a connection brought no 271: a code, and a sentence.
TOLD = {
    Outcome.HTTP: ("Http", "The payer's service answered with http {code} and no envelope."),
    Outcome.ENVELOPE: ("Envelope", "The payer's service refused the envelope: {code}. {message}"),
    Outcome.BUSY: ("Busy", "The payer's service is busy: {code}."),
    Outcome.TIMEOUT: ("Timeout", "The payer did not answer in time."),
}
UNREACHABLE = ("Unreachable", "The payer could not be reached.")
LOST = ("Lost", "The connection to the payer was lost before an answer came.")
DENIED = ("Denied", "The payer's service refused the connection.")
UNREADABLE = ("Unreadable", "The payer's answer is no X12.")
UNANSWERED = ("Unanswered", "The payer took the question and gave no answer.")
OTHER_PATIENT = ("OtherPatient", "The payer's answer was about another patient; it was ignored.")
OTHER_PAYER = ("OtherPayer", "The answer was another payer's; it was refused.")
NO_WAY = ("NoRoute", "There is no active route to the payer.")
MISTAKES = {read_271.Match.WRONG_PATIENT: OTHER_PATIENT, read_271.Match.WRONG_PAYER: OTHER_PAYER}


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept of an answer: elements of the response as JSON, and the file they are from."""

    response: bytes = b""
    error: bytes = b""
    status: bytes = b""
    x12: bytes = b""

    def __repr__(self) -> str:
        return "Kept()"

    def encoded(self) -> bytes:
        """As it is sealed."""
        return msgspec.msgpack.encode(self)


def kept(content: bytes) -> Kept:
    """The inverse of :meth:`Kept.encoded`."""
    return msgspec.msgpack.decode(content, type=Kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A patient of a request, in the hands of who asks."""

    scope: Scope
    request_id: int
    number: int
    attempts: int
    created_at: int
    payer_id: str
    inquiry: Inquiry

    @property
    def key(self) -> tuple[int, int]:
        """What it is known by."""
        return self.request_id, self.number

    @property
    def trace(self) -> str:
        """Our trace number."""
        return f"{self.request_id}-{self.number}"


@dataclass(frozen=True, slots=True)
class Ended:
    """What is kept as the response."""

    kind: str
    """271, 999, TA1 or Connection."""
    kept: Kept


@dataclass(frozen=True, slots=True)
class Later:
    """It is worth asking again."""

    last: Ended
    """What is kept once nobody asks any more."""
    soon: bool
    """Whether it is known that nothing arrived, or that the payer is done with the question."""


Told = Ended | Later


async def ask(way: Way, question: Question, now: datetime) -> Told:
    """Ask once."""
    envelope = envelope_for(way.line, control_of(question), now)
    payload = write_270.write_inquiry(question.inquiry, envelope, trace=question.trace)
    try:
        reply = await way.realtime.ask(payload, payload_type=ROLE, seconds=way.seconds)
    except Unreachable as fault:
        absent = fault.arrival is Presence.ABSENT
        return Later(unreached(question, UNREACHABLE if absent else LOST), soon=absent)
    except Denied:
        return unreached(question, DENIED)
    if reply.outcome is not Outcome.ANSWERED:
        return _unanswered(question, reply)
    if len(reply.payload) <= limits.ELIGIBILITY_READ_AT_ONCE_BYTES:
        return heard(question, reply.payload, now)
    return await asyncio.to_thread(heard, question, reply.payload, now)


def heard(question: Question, content: bytes, now: datetime) -> Told:
    """What a file says to a question, which is all that it should speak of."""
    found = read_271.read(content)
    mistakes = []
    for answer in found.answers:
        match = read_271.match(answer, question.inquiry, question.trace)
        if match is read_271.Match.OURS:
            end = answered(question, answer, now)
            return Later(end, soon=True) if read_271.may_be_asked_again(answer) else end
        mistakes.append(MISTAKES[match])
        log.warning("answer not ours", request=question.request_id, number=question.number, what=match.value)  # fmt: skip
    for refusal in found.refusals:
        return refused(question, refusal)
    if mistakes:
        return Later(unreached(question, mistakes[0]), soon=True)
    if found.readable:
        return Later(unreached(question, UNANSWERED), soon=False)
    return unreached(question, UNREADABLE)


def answered(question: Question, answer: read_271.Answer, now: datetime) -> Ended:
    """A 271 that speaks of the patient."""
    element = read_271.respond(
        answer,
        question.inquiry,
        document_id=random_text(limits.DOCUMENT_ID_CHARACTERS),
        created=now,
        trace=question.trace,
    )
    return Ended(ANSWER, Kept(response=response.keep(element), x12=answer.content))


def refused(question: Question, refusal: read_271.Refusal) -> Ended:
    """A TA1 or 999 that refuses the file with the question."""
    error = read_271.refuse(refusal, question.inquiry)
    return Ended(
        refusal.kind,
        Kept(
            error=response.keep(error),
            status=response.keep(refusal.status),
            x12=refusal.content,
        ),
    )


def unreached(question: Question, told: tuple[str, str]) -> Ended:
    """The payer was not asked, or not heard."""
    code, message = told
    return Ended(
        CONNECTION,
        Kept(error=response.keep(read_271.unreachable(question.inquiry, code, message))),
    )


def control_of(question: Question) -> int:
    """ISA13: another one each time that a question is asked."""
    mark = f"{question.trace}/{question.attempts}".encode()
    return zlib.crc32(mark) % CONTROL_MAX + 1


def _unanswered(question: Question, reply: Reply) -> Told:
    code, message = TOLD[reply.outcome]
    words = message.format(code=reply.code, message=reply.message).strip()
    end = unreached(question, (code, words))
    if reply.outcome is Outcome.BUSY:
        return Later(end, soon=True)
    return Later(end, soon=False) if reply.outcome is Outcome.TIMEOUT else end
