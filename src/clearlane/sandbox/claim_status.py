"""Questions about claims, as a simulated payer answers them: in every state, slowly, wrongly, never.

    responder = StatusResponder(profile, ledger)
    await responder.answers(interchange)                    # what it says to each question of an accepted set
    content = await StatusPayer(responder, clock).answer(payload, now)          # in real time

A claim is found by the payer's number, by the clearinghouse's number or the account number with the charge, or by insured,
patient's name and day. What is said of it follows from the answers that were sent; a scenario may say otherwise. Knows the
ledger and the scenarios; knows no connection.
"""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from clearlane.connect.port import Presence, Unreachable
from clearlane.kernel.limits import SANDBOX_SLOW_SECONDS
from clearlane.sandbox import payer_ledger, read_276, scenarios
from clearlane.sandbox.model import (
    REMITTANCES,
    ZERO,
    Case,
    File,
    PlannedResponse,
    Profile,
    ResponseType,
)
from clearlane.sandbox.payer_ledger import PayerLedger
from clearlane.sandbox.read_276 import InterchangeRead, Question
from clearlane.sandbox.responses import answer277
from clearlane.sandbox.responses.answer277 import ClaimSaid, LevelSaid, Said
from clearlane.sandbox.responses.envelope import reply_envelope
from clearlane.sandbox.scenarios import AskedStyle, Scenario

SLOW = timedelta(seconds=SANDBOX_SLOW_SECONDS)
NEVER = timedelta(days=2)
"""A payer that never answers keeps the connection open for so long."""
SLOW_DAYS = 3
"""When the answer to a question in a file comes that is answered slowly."""
LOST = "The sandbox payer does not answer."
OTHER_CLAIM = "OTHER-1"
"""The trace number of an answer about another claim."""

RECEIVED, IN_PROCESS, IN_REVIEW = ("A1", "19", "PR"), ("P1", "20"), ("P2", "46")
PAID, DENIED, NOTHING_TO_PAY, ADJUSTED = ("F1", "65"), ("F2", "585"), ("F4", "104"), ("F3", "101")
NOT_FOUND, SEARCH_FAILED = ("A4", "35"), ("D0", "35")


class WaitableClock(Protocol):
    """A clock that can be waited for, such as the sandbox clock."""

    async def wait_until(self, moment: datetime) -> None: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said to one question, and how."""

    question: Question
    said: Said
    style: AskedStyle


class StatusResponder:
    """Finds claims and says where they are."""

    def __init__(self, profile: Profile, ledger: PayerLedger) -> None:
        self.profile = profile
        self._ledger = ledger

    async def answers(self, one: InterchangeRead) -> list[list[Answer]]:
        """Return what is said to the questions of each accepted set."""
        return [[await self._answer(question) for question in set] for set in one.sets]

    async def _answer(self, question: Question) -> Answer:
        scenario = scenarios.scenario_of(question.member)
        style = scenario.asked
        if style is AskedStyle.REFUSED:
            said: Said = LevelSaid(level="19", code=("E0", "24", "1P"))
        elif style is AskedStyle.DOWN:
            said = LevelSaid(level="21", code=("E2", "0"))
        else:
            said = await self._about_claim(question, scenario)
        if style is AskedStyle.WRONG:
            question = replace(question, trace=OTHER_CLAIM)
        return Answer(question, said, style)

    async def _about_claim(self, question: Question, scenario: Scenario) -> ClaimSaid:
        has_numbers = question.payer_number or question.number or question.account
        if scenario.asked is AskedStyle.BY_DAYS_ALONE and has_numbers:
            return ClaimSaid(code=SEARCH_FAILED)
        number = await self._find(question)
        found = payer_ledger.locate_claim(number)
        file = await self._ledger.get(payer_ledger.file_key(found[0]), File) if found else None
        if file is None or found is None:
            return ClaimSaid(code=SEARCH_FAILED if not has_numbers else NOT_FOUND)
        case = file.cases[found[1]]
        state = await self._state(case, file, scenario)
        is_decided = state[0].startswith("F")
        code = state if is_decided or not scenario.said else scenario.said
        if code == NOT_FOUND:
            return ClaimSaid(code=code)
        known = ClaimSaid(
            code=code,
            charge=case.claim.charge,
            number=case.number,
            account=case.claim.account,
            clearinghouse_number=case.claim.number,
        )
        if code[0] in {"F1", "F2", "F4"} and case.decision is not None:
            known = replace(known, paid=case.decision.paid)
        return known

    async def _find(self, question: Question) -> str:
        """Return the payer's number of the claim that a question is about; empty if it is not found."""
        if question.payer_number:
            return question.payer_number
        for key in payer_ledger.question_keys(question.number, question.account):
            if number := await self._ledger.get(key, str):
                return number
        if question.number or question.account or question.first is None:
            return ""
        key = payer_ledger.day_key(question.member, question.last_name, question.first)
        return await self._ledger.get(key, str) or ""

    async def _state(self, case: Case, file: File, scenario: Scenario) -> tuple[str, ...]:
        """Return where a claim is, by the answers that were sent about it."""
        if case.decision is None and not case.refusals:
            return NOT_FOUND  # the payer lost it
        if await self._ledger.get(payer_ledger.replaced_key(case.number), str) is not None:
            return ADJUSTED
        sent = {
            one.type
            for one in scenario.responses
            if await self._was_sent(file, one.day, one.type, scenario)
        }
        if case.refusals and ResponseType.ACKNOWLEDGE in sent:
            first = case.refusals[0]
            return tuple(filter(None, (first.category, first.status, first.entity)))
        if sent & REMITTANCES and case.decision is not None:
            if case.decision.denied:
                return DENIED
            return PAID if case.decision.paid > ZERO else NOTHING_TO_PAY
        if ResponseType.PEND in sent:
            return IN_REVIEW
        return IN_PROCESS if ResponseType.ACKNOWLEDGE in sent else RECEIVED

    async def _was_sent(self, file: File, day: int, type: ResponseType, scenario: Scenario) -> bool:
        """Return whether a planned answer is no longer on the agenda."""
        group = scenario.id if scenario.own_files else ""
        planned = PlannedResponse(file=file.number, type=type, at=file.received, file_group=group)
        key = payer_ledger.response_key(file.number, day, planned)
        return not await self._ledger.is_planned(key)


class StatusPayer:
    """One payer of the sandbox, as it answers questions about claims in real time."""

    def __init__(self, responder: StatusResponder, clock: WaitableClock) -> None:
        self._responder = responder
        self._clock = clock

    async def answer(self, payload: bytes, now: datetime) -> bytes:
        """Return the interchange that answers this one, after its delay. Raise Unreachable if there is never one."""
        replies = []
        read = await asyncio.to_thread(_read, payload, now)
        for one in read:
            if one.is_refused or one.refused_sets:
                replies.append(one.ta1 if one.is_refused else one.ack_999)
                continue
            answers = await self._responder.answers(one)
            styles = {each.style for set in answers for each in set}
            if AskedStyle.NEVER in styles:
                await self._clock.wait_until(now + NEVER)
                raise Unreachable(LOST, Presence.UNKNOWN)
            if AskedStyle.SLOW in styles:
                await self._clock.wait_until(now + SLOW)
                now += SLOW
            replies.append(self._write(one, answers, now))
        return b"".join(replies)

    def _write(self, one: InterchangeRead, answers: list[list[Answer]], now: datetime) -> bytes:
        control = int(one.control) if one.control.isascii() and one.control.isdigit() else 1
        envelope = reply_envelope(one.parties, control, now)
        return answer277.write(self._responder.profile, said_in(answers), envelope)


def _read(payload: bytes, now: datetime) -> list[InterchangeRead]:
    return list(read_276.read(payload, now))


def said_in(answers: list[list[Answer]]) -> list[list[tuple[Question, Said]]]:
    """Return what a 277 says, set by set."""
    return [[(one.question, one.said) for one in set] for set in answers]
