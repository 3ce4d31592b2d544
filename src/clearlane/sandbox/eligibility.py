"""A simulated payer that answers eligibility inquiries in real time.

    payer = EligibilityPayer(Profile("TST01", "Sandbox Medical"), clock)
    content = await payer.answer(payload, clock.now())     # a 271, or the 999 or TA1 that refuses

Its only state is when delayed responses are due. Knows inquiries and decisions; knows no connection.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from clearlane.kernel.finding import Finding, SegmentPosition, Stage
from clearlane.sandbox import members, read_270, read_837
from clearlane.sandbox.model import Profile
from clearlane.sandbox.read_270 import GroupRead, InterchangeRead, Patient, SetRead
from clearlane.sandbox.response_delays import InquiryKey, ResponseDelays
from clearlane.sandbox.responses import ack999, answer271, benefits, coverage, ta1
from clearlane.sandbox.responses.envelope import reply_envelope
from clearlane.sandbox.responses.styles import style_of
from clearlane.x12.checker import ack
from clearlane.x12.writer.writer import Envelope

SANDBOX_INQUIRY_AT_ONCE_BYTES = 16 * 1024

DENTAL_PAYERS = frozenset({"TST02"})
NOT_SUPPORTED, INVALID_CHARACTER = "1", "6"
MEMBER_ID = 9

Write = Callable[[Envelope], bytes]


class WaitableClock(Protocol):
    """A clock that can be waited for, such as the sandbox clock."""

    async def wait_until(self, moment: datetime) -> None: ...


class EligibilityPayer:
    """One payer of the sandbox, as it answers in real time.

    The object remembers delays. If each inquiry gets a new payer object, pass ``delays`` that last; payers may
    share them.
    """

    def __init__(
        self, profile: Profile, clock: WaitableClock, *, delays: ResponseDelays | None = None
    ) -> None:
        self.profile = profile
        self._clock = clock
        self._responder = responder_of(profile)
        self._delays = ResponseDelays() if delays is None else delays

    async def answer(self, payload: bytes, now: datetime) -> bytes:
        """Return the interchange that answers this one, after its delay.

        The patients of one request are delayed one after the other. They share the sender and the part of TRN02
        before the last hyphen, ``<request number>-<patient number>``. A repeated inquiry keeps its due time.
        """
        if len(payload) <= SANDBOX_INQUIRY_AT_ONCE_BYTES:
            read = read_270.read(payload)
        else:
            read = await asyncio.to_thread(read_270.read, payload)
        refusals = [self._responder.refusal(one, now) for one in read]
        answered = [one for one, refusal in zip(read, refusals, strict=True) if refusal is None]
        questions = list(_delayed(self.profile, answered, payload))
        due = [self._delays.reserve(question, length, now) for question, length in questions]
        if due:
            await self._clock.wait_until(max(due))
            now = max(now, *due)
            for question, _ in questions:
                self._delays.release(question)
        replies = (
            (refusal or self._responder.write_271(list(one.sets()), now))(
                reply_envelope(one.parties, one.control, now)
            )
            for one, refusal in zip(read, refusals, strict=True)
        )
        return b"".join(replies) or self._unreadable(now)

    def _unreadable(self, now: datetime) -> bytes:
        """Return a TA1 to an unknown receiver, if there is no interchange to answer."""
        unknown = Envelope(
            sender=read_837.party(self.profile.id),
            receiver=read_837.party(""),
            control=1,
            moment=now,
            usage="T",
        )
        segment = ["TA1", "0" * 9, f"{now:%y%m%d}", f"{now:%H%M}", ta1.REFUSED, ta1.CONTENT]
        return ta1.write(segment, unknown)


@dataclass(frozen=True, slots=True)
class InquiryResponder:
    """Answers a payer's inquiries; pure."""

    profile: Profile
    coverage: coverage.CoverageRules

    def refusal(self, one: InterchangeRead, now: datetime) -> Write | None:
        """Return the writer of the TA1 or 999 that rejects an interchange; None if a 271 answers it. Call it once."""
        segment = _ta1(one, now)
        groups = [] if ta1.is_rejection(segment) else _checked_groups(one)
        if not groups:
            return lambda envelope: ta1.write(segment, envelope)
        if any(len(_accepted_sets(group)) < len(group.sets) or not group.sets for group in groups):
            return lambda envelope: _write_999(groups, envelope)
        return None

    def write_271(self, sets: Iterable[SetRead], now: datetime) -> Write:
        """Return the writer of the 271 that answers these sets."""
        responses = [(each, self.coverage.answer(each, now.date())) for each in sets]
        return lambda envelope: answer271.write(
            self.profile, self.coverage.style, responses, envelope
        )

    def response_files(
        self, one: InterchangeRead, now: datetime, note: str
    ) -> Iterator[tuple[str, Write]]:
        """Yield the responses to a file: a TA1 if requested or rejecting, a 999, and a 271 for the accepted sets."""
        segment = _ta1(one, now, note)
        if ta1.is_rejection(segment) or one.wants_ta1:
            yield "TA1", lambda envelope: ta1.write(segment, envelope)
        groups = [] if ta1.is_rejection(segment) else _checked_groups(one)
        if groups:
            yield "999", lambda envelope: _write_999(groups, envelope)
        accepted = [each for group in groups for each in _accepted_sets(group)]
        if accepted:
            yield "271", self.write_271(accepted, now)


def responder_of(profile: Profile) -> InquiryResponder:
    """Return the responder of a payer, with the plan and style of its id."""
    dental = profile.dental or profile.id in DENTAL_PAYERS
    plan = benefits.DENTAL if dental else benefits.MEDICAL
    return InquiryResponder(profile, coverage.CoverageRules(profile, plan, style_of(profile.id)))


def _ta1(one: InterchangeRead, now: datetime, note: str = "") -> list[str]:
    segment = ack.build_ta1(one.source, now)
    if note and not ta1.is_rejection(segment):
        segment[ta1.CODE], segment[ta1.NOTE] = ta1.REFUSED, note
    return segment


def _checked_groups(one: InterchangeRead) -> list[GroupRead]:
    """Return the groups to answer, with the payer's own objections: an acknowledgement is never acknowledged."""
    groups = [group for group in one.groups if group.verdict.functional_id != ack.ACKNOWLEDGEMENT]
    for group in groups:
        for each in group.sets:
            each.verdict.findings.extend(_objections(each))
    return groups


def _accepted_sets(group: GroupRead) -> list[SetRead]:
    """Return the sets that are answered."""
    if not group.verdict.accepted:
        return []
    return [one for one in group.sets if one.verdict.code != ack999.REFUSED]


def _write_999(groups: Iterable[GroupRead], envelope: Envelope) -> bytes:
    return ack999.write([read_837.GroupRead(group.verdict) for group in groups], envelope)


def _objections(one: SetRead) -> Iterator[Finding]:
    if not one.known:
        yield Finding(
            rule="ST-SUPPORTED",
            message="The payer takes eligibility inquiries only.",
            stage=Stage.FILE,
            position=SegmentPosition(segment=1, segment_id="ST"),
            syntax_error=NOT_SUPPORTED,
        )
    for patient in one.subscribers():
        if members.scenario_of(patient.member).rejected_by_999:
            yield Finding(
                rule="PAYER-MEMBER",
                message="The payer cannot read the member id.",
                stage=Stage.FILE,
                position=SegmentPosition(
                    segment=patient.at, loop="2100C", segment_id="NM1", element=MEMBER_ID
                ),
                syntax_error=INVALID_CHARACTER,
            )


def _delayed(
    profile: Profile, read: Iterable[InterchangeRead], payload: bytes
) -> Iterator[tuple[InquiryKey, timedelta]]:
    """Yield the patients whose response is delayed, by their request."""
    for one in read:
        for each in one.sets():
            for subscriber in each.subscribers():
                seconds = members.scenario_of(subscriber.member).delay_seconds
                for patient in _inquired_patients(subscriber) if seconds else ():
                    name = _trace_number(patient) or each.reference or _digest(payload)
                    request = name.rpartition("-")[0] or name
                    question = (
                        f"{profile.id}/{one.parties.sender}/{request}",
                        f"{name}/{patient.at}",
                    )
                    yield question, timedelta(seconds=seconds)


def _inquired_patients(subscriber: Patient) -> Iterator[Patient]:
    if subscriber.is_inquired:
        yield subscriber
    yield from subscriber.dependents


def _trace_number(patient: Patient) -> str:
    """Return the trace number of the form request-patient, else the first."""
    numbers = [trace[0] for trace in patient.traces]
    formed = (one for one in numbers if one.rpartition("-")[2].isdigit())
    return next(formed, numbers[0] if numbers else "")


def _digest(payload: bytes) -> str:
    return hashlib.sha256(payload).hexdigest()
