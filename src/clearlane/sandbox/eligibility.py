"""A simulated payer that answers eligibility questions while one waits.

    payer = EligibilityPayer(Profile("TST01", "Sandbox Medical"), clock)
    content = await payer.answer(payload, clock.now())     # a 271, or the 999 or TA1 that refuses

It keeps nothing but whose turn it is. Knows inquiries and decisions; knows no connection.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from clearlane.kernel.finding import Finding, Spot, Stage
from clearlane.kernel.limits import SANDBOX_INQUIRY_AT_ONCE_BYTES
from clearlane.sandbox import (
    ack999,
    answer271,
    benefits,
    coverage,
    members,
    read_270,
    read_837,
    ta1,
)
from clearlane.sandbox.envelope import envelope
from clearlane.sandbox.model import Profile
from clearlane.sandbox.read_270 import GroupRead, InterchangeRead, Patient, SetRead
from clearlane.sandbox.response_delays import Question, Turns
from clearlane.sandbox.styles import style_of
from clearlane.x12 import ack
from clearlane.x12.writer import Envelope

DENTAL_PAYERS = frozenset({"TST02"})
NOT_SUPPORTED, INVALID_CHARACTER = "1", "6"
MEMBER_ID = 9

Write = Callable[[Envelope], bytes]


class Waiting(Protocol):
    """A clock that can be waited for, such as the sandbox clock."""

    async def wait_until(self, moment: datetime) -> None: ...


class EligibilityPayer:
    """One payer of the sandbox, as it answers in real time.

    Turns are remembered by the object. Where a payer is made anew for each question, hand in turns that last; they
    may be shared with other payers.
    """

    def __init__(self, profile: Profile, clock: Waiting, *, turns: Turns | None = None) -> None:
        self.profile = profile
        self._clock = clock
        self._desk = desk_of(profile)
        self._turns = Turns() if turns is None else turns

    async def answer(self, payload: bytes, now: datetime) -> bytes:
        """The interchange that answers this one, when its turn has come.

        The patients of one request wait for each other: they share who sends, and what stands in TRN02 before the
        last hyphen, ``<request number>-<patient number>``. Whoever gives up and asks again keeps the turn.
        """
        if len(payload) <= SANDBOX_INQUIRY_AT_ONCE_BYTES:
            read = read_270.read(payload)
        else:
            read = await asyncio.to_thread(read_270.read, payload)
        refusals = [self._desk.refusal(one, now) for one in read]
        answered = [one for one, no in zip(read, refusals, strict=True) if no is None]
        questions = list(_delayed(self.profile, answered, payload))
        due = [self._turns.take(question, length, now) for question, length in questions]
        if due:
            await self._clock.wait_until(max(due))
            now = max(now, *due)
            for question, _ in questions:
                self._turns.done(question)
        replies = (
            (no or self._desk.writes(list(one.sets()), now))(
                envelope(one.parties, one.control, now)
            )
            for one, no in zip(read, refusals, strict=True)
        )
        return b"".join(replies) or self._unreadable(now)

    def _unreadable(self, now: datetime) -> bytes:
        """Where there is no interchange, there is nobody known to answer to."""
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
class Desk:
    """Where a payer's inquiries are answered: pure, but for the moment that it is told."""

    profile: Profile
    coverage: coverage.Desk

    def refusal(self, one: InterchangeRead, now: datetime) -> Write | None:
        """The TA1 or 999 that is the whole answer, None where a 271 is. An interchange is judged once."""
        segment = _ta1(one, now)
        groups = [] if ta1.refuses(segment) else _judged(one)
        if not groups:
            return lambda paper: ta1.write(segment, paper)
        if any(len(_taken(group)) < len(group.sets) or not group.sets for group in groups):
            return lambda paper: _nine(groups, paper)
        return None

    def writes(self, sets: Iterable[SetRead], now: datetime) -> Write:
        """The 271 that answers these sets."""
        told = [(each, self.coverage.answer(each, now.date())) for each in sets]
        return lambda paper: answer271.write(self.profile, self.coverage.style, told, paper)

    def files(self, one: InterchangeRead, now: datetime, note: str) -> Iterator[tuple[str, Write]]:
        """What comes back for a file: a TA1 where it is wanted or refuses, a 999, and a 271 for what was taken."""
        segment = _ta1(one, now, note)
        if ta1.refuses(segment) or one.wants_ta1:
            yield "TA1", lambda paper: ta1.write(segment, paper)
        groups = [] if ta1.refuses(segment) else _judged(one)
        if groups:
            yield "999", lambda paper: _nine(groups, paper)
        taken = [each for group in groups for each in _taken(group)]
        if taken:
            yield "271", self.writes(taken, now)


def desk_of(profile: Profile) -> Desk:
    """The desk of a payer: its plan and its manner follow from who it is."""
    dental = profile.dental or profile.id in DENTAL_PAYERS
    plan = benefits.DENTAL if dental else benefits.MEDICAL
    return Desk(profile, coverage.Desk(profile, plan, style_of(profile.id)))


def _ta1(one: InterchangeRead, now: datetime, note: str = "") -> list[str]:
    segment = ack.ta1(one.source, now)
    if note and not ta1.refuses(segment):
        segment[ta1.CODE], segment[ta1.NOTE] = ta1.REFUSED, note
    return segment


def _judged(one: InterchangeRead) -> list[GroupRead]:
    """The groups that are answered, with the payer's own objections: an acknowledgement is never acknowledged."""
    groups = [group for group in one.groups if group.verdict.functional != ack.ACKNOWLEDGEMENT]
    for group in groups:
        for each in group.sets:
            each.verdict.findings.extend(_objections(each))
    return groups


def _taken(group: GroupRead) -> list[SetRead]:
    """The sets that are answered."""
    if not group.verdict.accepted:
        return []
    return [one for one in group.sets if one.verdict.code != ack999.REFUSED]


def _nine(groups: Iterable[GroupRead], paper: Envelope) -> bytes:
    return ack999.write([read_837.GroupRead(group.verdict) for group in groups], paper)


def _objections(one: SetRead) -> Iterator[Finding]:
    if not one.known:
        yield Finding(
            rule="ST-SUPPORTED",
            message="The payer takes eligibility inquiries only.",
            stage=Stage.FILE,
            spot=Spot(segment=1, segment_id="ST"),
            syntax_error=NOT_SUPPORTED,
        )
    for patient in one.subscribers():
        if members.scenario_of(patient.member).syntax:
            yield Finding(
                rule="PAYER-MEMBER",
                message="The payer cannot read the member id.",
                stage=Stage.FILE,
                spot=Spot(segment=patient.at, loop="2100C", segment_id="NM1", element=MEMBER_ID),
                syntax_error=INVALID_CHARACTER,
            )


def _delayed(
    profile: Profile, read: Iterable[InterchangeRead], payload: bytes
) -> Iterator[tuple[Question, timedelta]]:
    """The patients whose answer takes time, by the request they belong to."""
    for one in read:
        for each in one.sets():
            for subscriber in each.subscribers():
                seconds = members.scenario_of(subscriber.member).seconds
                for patient in _asked(subscriber) if seconds else ():
                    name = _number(patient) or each.reference or _mark(payload)
                    request = name.rpartition("-")[0] or name
                    question = (
                        f"{profile.id}/{one.parties.sender}/{request}",
                        f"{name}/{patient.at}",
                    )
                    yield question, timedelta(seconds=seconds)


def _asked(subscriber: Patient) -> Iterator[Patient]:
    if subscriber.asked:
        yield subscriber
    yield from subscriber.dependents


def _number(patient: Patient) -> str:
    """The trace number of the form that names a request and a patient, else the first."""
    numbers = [trace[0] for trace in patient.traces]
    formed = (one for one in numbers if one.rpartition("-")[2].isdigit())
    return next(formed, numbers[0] if numbers else "")


def _mark(payload: bytes) -> str:
    return hashlib.sha256(payload).hexdigest()
