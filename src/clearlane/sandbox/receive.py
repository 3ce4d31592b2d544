"""A file that arrived: what of it is taken in, what is answered at once, and what is to be answered when.

The decision on each claim is made here, when it is read, and told on its days. Knows the books and the scenarios;
writes nothing itself.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from msgspec.structs import replace

from clearlane.kernel.limits import CLAIMS_AT_ONCE, SANDBOX_CLAIMS_REMEMBERED_PER_MEMBER_MAX
from clearlane.sandbox import ack999, checks, payer_ledger, plan, read_270, read_837, scenarios, ta1
from clearlane.sandbox.eligibility import Desk, desk_of
from clearlane.sandbox.envelope import envelope
from clearlane.sandbox.model import (
    Case,
    Claim,
    Counts,
    Decision,
    File,
    Manner,
    Member,
    Parties,
    Profile,
    Say,
    SetHead,
    Step,
    Used,
)
from clearlane.sandbox.payer_ledger import Books, Changes

REPLACEMENT, VOID, ORIGINAL = "7", "8", "1"


@dataclass(slots=True)
class Taken:
    """What comes of a file."""

    changes: Changes = field(default_factory=Changes)
    steps: list[tuple[int, Step]] = field(default_factory=list)
    """Each with the number of days until then."""


class Intake:
    """One file while it is taken in."""

    def __init__(self, profile: Profile, kept: Books, at: datetime, counts: Counts) -> None:
        self._profile = profile
        self._books = kept
        self._at = at
        self._counts = counts
        self._taken = Taken()
        self._members: dict[str, Member] = {}
        self._replaced: set[str] = set()

    async def take(self, key: str, content: bytes) -> Taken:
        """Read a file and decide on it."""
        if read_270.is_inquiry(content):
            desk = desk_of(self._profile)
            for asked in await asyncio.to_thread(read_270.read, content):
                await self._inquiries(desk, asked, key)
        else:
            async for interchange in read_837.read(content):
                await self._interchange(interchange, key)
        changes = self._taken.changes
        for member, known in self._members.items():
            changes.put(member, known)
        changes.put(payer_ledger.COUNTS, self._counts)
        changes.put(payer_ledger.seen_key(key), True)
        changes.forget(key)
        return self._taken

    async def _interchange(self, one: read_837.InterchangeRead, key: str) -> None:
        self._counts = replace(self._counts, files=self._counts.files + 1)
        number = self._counts.files
        verdict = ta1.verdict(one, self._at, await self._ground(one, key))
        if ta1.refuses(verdict) or one.wants_ta1:
            control = self._next()
            content = ta1.write(verdict, envelope(one.parties, control, self._at))
            self._ready(number, control, "TA1", content)
        if ta1.refuses(verdict):
            return
        groups = ack999.answered(one.groups)
        for group in groups:
            ack999.object_to(group)
        if groups:
            control = self._next()
            content = ack999.write(groups, envelope(one.parties, control, self._at))
            self._ready(number, control, "999", content)
        taken = [one for group in groups for one in ack999.taken(group)]
        await self._file(number, one, taken)

    async def _inquiries(self, desk: Desk, one: read_270.InterchangeRead, key: str) -> None:
        """Questions that come as a file are answered by files, at once."""
        self._counts = replace(self._counts, files=self._counts.files + 1)
        used = await self._used(one.parties, one.source.control, key)
        note = ta1.USED_BEFORE if used else ""
        for kind, write in desk.files(one, self._at, note):
            control = self._next()
            content = await asyncio.to_thread(write, envelope(one.parties, control, self._at))
            self._ready(self._counts.files, control, kind, content)

    async def _used(self, parties: Parties, control: str, key: str) -> bool:
        """Whether a control number was used before."""
        used = payer_ledger.interchange_key(parties.sender, control)
        before = await self._books.get(used, str)
        if before is not None or used in self._taken.changes.entries:
            return True
        self._taken.changes.put(used, key)
        return False

    async def _ground(self, one: read_837.InterchangeRead, key: str) -> str:
        """Why the payer itself refuses an interchange: a note, or nothing."""
        if await self._used(one.parties, one.source.control, key):
            return ta1.USED_BEFORE
        refused = any(claim.member == scenarios.REFUSED_IN_TA1 for claim in one.claims())
        return ta1.CONTENT if refused else ""

    async def _file(
        self, number: int, one: read_837.InterchangeRead, taken: list[read_837.SetRead]
    ) -> None:
        heads: list[SetHead] = []
        cases: list[Case] = []
        for each in taken:
            for claim in each.claims:
                if not len(cases) % CLAIMS_AT_ONCE:
                    await asyncio.sleep(0)
                claim = replace(claim, set=len(heads))
                provider = one.providers[claim.provider].id
                cases.append(
                    await self._case(claim, payer_ledger.claim_number(number, len(cases)), provider)
                )
            heads.append(each.head)
        if not cases:
            return
        file = File(
            number=number,
            received=self._at,
            parties=one.parties,
            sets=tuple(heads),
            providers=tuple(one.providers),
            cases=tuple(cases),
        )
        self._taken.changes.put(payer_ledger.file_key(number), file)
        self._agenda(file)

    async def _case(self, claim: Claim, number: str, provider: str) -> Case:
        scenario = scenarios.scenario_of(claim.member)
        if scenario.refusal is not None:
            return Case(claim=claim, number=number, refusals=(scenario.refusal,))
        if scenario.decide is not None:
            corrected = scenario.correct(claim) if scenario.correct else None
            return Case(
                claim=claim, number=number, decision=scenario.decide(claim), corrected=corrected
            )
        if not scenario.acts:
            return Case(claim=claim, number=number)
        return await self._by_plan(claim, number, provider)

    async def _by_plan(self, claim: Claim, number: str, provider: str) -> Case:
        today = self._at.date()
        refusals = checks.refusals(claim, self._profile, today)
        earlier = await self._earlier(claim) if claim.frequency in {REPLACEMENT, VOID} else None
        if claim.frequency in {REPLACEMENT, VOID} and earlier is None:
            refusals.append(checks.NOT_OURS)
        if refusals:
            return Case(claim=claim, number=number, refusals=tuple(refusals))
        key = payer_ledger.member_key(claim)
        member = await self._member(key)
        if earlier is not None:
            self._replaced.add(earlier.number)
            self._taken.changes.put(_void_key(earlier.number), number)
            member = _without(member, earlier)
        like = payer_ledger.likeness(claim, provider)
        repeated = like in member.claims and claim.frequency == ORIGINAL
        used = Used()
        if claim.frequency == VOID:
            decision = _voided(claim)
        elif repeated and not claim.predetermination:
            decision = scenarios.duplicate(claim)
        else:
            decision, used = plan.decide(claim, member, today)
        if not claim.predetermination and claim.frequency != VOID:
            member = _remembering(_with(member, used), like, number)
        self._members[key] = member
        replaces = earlier.number if earlier else ""
        return Case(claim=claim, number=number, decision=decision, used=used, replaces=replaces)

    async def _member(self, key: str) -> Member:
        if key not in self._members:
            self._members[key] = await self._books.get(key, Member) or Member()
        return self._members[key]

    async def _earlier(self, claim: Claim) -> Case | None:
        """The claim that another replaces: one of ours, of the same member, decided and not replaced before."""
        found = await find(self._books, claim.original)
        if found is None or found.decision is None or found.claim.member != claim.member:
            return None
        gone = claim.original in self._replaced
        known = await self._books.get(_void_key(claim.original), str)
        return None if gone or known is not None else found

    def _agenda(self, file: File) -> None:
        """The answers, those of one day and lane together."""
        found: dict[tuple[int, Say, Manner, str], list[int]] = {}
        again: set[tuple[Say, str]] = set()
        for at, case in enumerate(file.cases):
            scenario = scenarios.scenario_of(case.claim.member)
            acts = scenario.acts
            if case.refusals:
                acts = tuple(act for act in acts if act.say is Say.ACKNOWLEDGE)
            lane = scenario.id if scenario.own_files else ""
            for act in acts:
                found.setdefault((act.day, act.say, act.manner, lane), []).append(at)
                if act.manner is Manner.AGAIN:
                    again.add((act.say, lane))
        for (day, say, manner, lane), cases in found.items():
            step = Step(
                file=file.number,
                say=say,
                manner=manner,
                lane=lane,
                cases=tuple(cases),
                at=self._at + timedelta(days=day),
                kept=(say, lane) in again and manner is Manner.PLAIN,
            )
            self._taken.steps.append((day, step))

    def _ready(self, number: int, control: int, kind: str, content: bytes) -> None:
        name = f"{self._profile.file_stem}.{control:09}.{kind}"
        step = Step(file=number, say=Say.READY, at=self._at, name=name, content=content)
        self._taken.steps.append((0, step))

    def _next(self) -> int:
        self._counts = replace(self._counts, interchanges=self._counts.interchanges + 1)
        return self._counts.interchanges


async def find(kept: Books, number: str) -> Case | None:
    """The case that a claim number of this payer leads to."""
    place = payer_ledger.place_of(number)
    file = await kept.get(payer_ledger.file_key(place[0]), File) if place else None
    if place is None or file is None or place[1] >= len(file.cases):
        return None
    return file.cases[place[1]]


def _voided(claim: Claim) -> Decision:
    lines = tuple(plan.turned_down(line.charge, "OA", "96") for line in claim.lines)
    return Decision(code=plan.processed(claim), lines=lines, remarks=("MA67",))


def _with(member: Member, used: Used, sign: int = 1) -> Member:
    spent = plan.plus(Used(years=member.years, times=member.times), used, sign)
    return replace(member, years=spent.years, times=spent.times)


def _without(member: Member, case: Case) -> Member:
    """As if a claim had never been decided."""
    claims = {like: number for like, number in member.claims.items() if number != case.number}
    return replace(_with(member, case.used, -1), claims=claims)


def _remembering(member: Member, like: str, number: str) -> Member:
    """The oldest claims are forgotten where there are too many."""
    claims = {**member.claims, like: number}
    for old in list(claims)[: len(claims) - SANDBOX_CLAIMS_REMEMBERED_PER_MEMBER_MAX]:
        del claims[old]
    return replace(member, claims=claims)


def _void_key(number: str) -> str:
    return f"void/{number}"
