"""Receive a file: decide its claims and plan the responses.

Each claim is decided when it is read; the responses follow on their days. Knows the ledger and the scenarios; writes
nothing itself.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from msgspec.structs import replace

from clearlane.kernel.limits import CLAIMS_AT_ONCE
from clearlane.sandbox import (
    checks,
    facility_plan,
    payer_ledger,
    plan,
    read_270,
    read_276,
    read_837,
    scenarios,
)
from clearlane.sandbox.claim_status import SLOW_DAYS, StatusResponder, said_in
from clearlane.sandbox.eligibility import InquiryResponder, responder_of
from clearlane.sandbox.model import (
    COPIES,
    Case,
    Claim,
    Counts,
    Decision,
    File,
    Member,
    Parties,
    PlannedResponse,
    PlanUsage,
    Profile,
    ResponseStyle,
    ResponseType,
    SetHeader,
)
from clearlane.sandbox.payer_ledger import LedgerChanges, PayerLedger
from clearlane.sandbox.responses import ack999, answer277, relay, ta1
from clearlane.sandbox.responses.envelope import reply_envelope
from clearlane.sandbox.scenarios import AskedStyle, CorrectionTask, Scenario

SANDBOX_CLAIMS_REMEMBERED_PER_MEMBER_MAX = 1_000

ANSWERED_BY_FILE = {
    0: frozenset(AskedStyle) - {AskedStyle.SLOW, AskedStyle.NEVER},
    SLOW_DAYS: frozenset({AskedStyle.SLOW}),
}
"""After how many days questions in files are answered, by how their scenario answers."""
REPLACEMENT, REOPENING, VOID, ORIGINAL = "7", "Q", "8", "1"
REPLACEMENTS = frozenset({REPLACEMENT, REOPENING})
"""Frequencies of claims that take the place of an earlier one: Medicare reopens a claim after its filing limit."""


@dataclass(slots=True)
class FileResult:
    """Ledger changes and planned responses of a received file."""

    changes: LedgerChanges = field(default_factory=LedgerChanges)
    responses: list[tuple[int, PlannedResponse]] = field(default_factory=list)
    """Each after its number of days."""


class FileIntake:
    """Receives one file."""

    def __init__(self, profile: Profile, ledger: PayerLedger, at: datetime, counts: Counts) -> None:
        self._profile = profile
        self._ledger = ledger
        self._at = at
        self._counts = counts
        self._outcome = FileResult()
        self._members: dict[str, Member] = {}
        """The members whose claims were decided, to be stored."""
        self._known_members: dict[str, Member] = {}
        """The stored members of the current set."""
        self._replaced: set[str] = set()
        self._first_values: dict[str, str] = {}

    async def take(self, key: str, content: bytes) -> FileResult:
        """Read a file and decide its claims."""
        group = read_270.functional_group(content)
        if group == read_276.GROUP:
            await self._questions(content, key)
        elif group == read_270.GROUP:
            responder = responder_of(self._profile)
            for inquiry_file in await asyncio.to_thread(read_270.read, content):
                await self._inquiries(responder, inquiry_file, key)
        else:
            async for interchange in read_837.read(content):
                await self._interchange(interchange, key)
        changes = self._outcome.changes
        for member, known in self._members.items():
            changes.put(member, known)
        changes.put(payer_ledger.COUNTS, self._counts)
        changes.put(payer_ledger.seen_key(key), True)
        changes.delete(key)
        return self._outcome

    async def _interchange(self, one: read_837.InterchangeRead, key: str) -> None:
        self._counts = replace(self._counts, files=self._counts.files + 1)
        number = self._counts.files
        verdict = ta1.ta1_segment(one, self._at, await self._refusal_note(one, key))
        if ta1.is_rejection(verdict) or one.wants_ta1:
            control = self._next()
            content = ta1.write(verdict, reply_envelope(one.parties, control, self._at))
            self._add_written(number, control, "TA1", content)
        if ta1.is_rejection(verdict):
            return
        groups = ack999.acknowledged_groups(one.groups)
        for group in groups:
            ack999.add_payer_objections(group)
        if groups:
            control = self._next()
            content = ack999.write(groups, reply_envelope(one.parties, control, self._at))
            self._add_written(number, control, "999", content)
        accepted = [one for group in groups for one in ack999.accepted_sets(group)]
        await self._file(number, one, accepted)

    async def _inquiries(
        self, responder: InquiryResponder, one: read_270.InterchangeRead, key: str
    ) -> None:
        """Answer the inquiries of a 270 file by files, at once."""
        self._counts = replace(self._counts, files=self._counts.files + 1)
        used = await self._control_number_used(one.parties, one.source.control, key)
        note = ta1.USED_BEFORE if used else ""
        for kind, write in responder.response_files(one, self._at, note):
            control = self._next()
            content = await asyncio.to_thread(write, reply_envelope(one.parties, control, self._at))
            self._add_written(self._counts.files, control, kind, content)

    async def _questions(self, content: bytes, key: str) -> None:
        """Answer the questions of a 276 file by files: at once, some days later, or never."""
        responder = StatusResponder(self._profile, self._ledger)
        first = self._counts.interchanges + 1
        read = await asyncio.to_thread(lambda: list(read_276.read(content, self._at, first)))
        # A TA1 and a 999 of each interchange have a number, sent or not.
        self._counts = replace(self._counts, interchanges=first - 1 + 2 * len(read))
        for at, one in enumerate(read):
            self._counts = replace(self._counts, files=self._counts.files + 1)
            number = self._counts.files
            await self._control_number_used(one.parties, one.control, key)
            if one.is_refused or one.wants_ta1:
                self._add_written(number, first + 2 * at, "TA1", one.ta1)
            if one.ack_999:
                self._add_written(number, first + 2 * at + 1, "999", one.ack_999)
            answers = await responder.answers(one)
            for day, styles in ANSWERED_BY_FILE.items():
                said = [[each for each in set if each.style in styles] for set in answers]
                if any(said):
                    control = self._next()
                    envelope = reply_envelope(one.parties, control, self._at)
                    written = answer277.write(self._profile, said_in(said), envelope)
                    self._add_written(number, control, "277", written, day)

    async def _control_number_used(self, parties: Parties, control: str, key: str) -> bool:
        """Return whether a control number was used before."""
        used = payer_ledger.interchange_key(parties.sender, control)
        before = await self._ledger.get(used, str)
        if before is not None or used in self._outcome.changes.entries:
            return True
        self._outcome.changes.put(used, key)
        return False

    async def _refusal_note(self, one: read_837.InterchangeRead, key: str) -> str:
        """Return the note with which the payer itself refuses an interchange; empty if it does not."""
        if await self._control_number_used(one.parties, one.source.control, key):
            return ta1.USED_BEFORE
        refused = any(claim.member == scenarios.REFUSED_IN_TA1 for claim in one.claims())
        return ta1.CONTENT if refused else ""

    async def _file(
        self, number: int, one: read_837.InterchangeRead, accepted: list[read_837.SetRead]
    ) -> None:
        heads: list[SetHeader] = []
        cases: list[Case] = []
        for each in accepted:
            await self._load_members(each.claims)
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
        self._outcome.changes.put(payer_ledger.file_key(number), file)
        self._index(file)
        if self._profile.served:
            await self._pass_on(file)
        self._plan_responses(file)

    def _index(self, file: File) -> None:
        """Note how each claim is found that is asked about. Of several that fit the last one counts."""
        for case in file.cases:
            claim, changes = case.claim, self._outcome.changes
            for key in payer_ledger.question_keys(claim.number, claim.account):
                changes.put(key, case.number)
            if claim.days:
                last_name = (claim.patient or claim.subscriber).last
                key = payer_ledger.day_key(claim.member, last_name, claim.days[0])
                changes.put(key, case.number)

    async def _pass_on(self, file: File) -> None:
        """Answer as an upstream clearinghouse does, before the payer: by a 277CA of its own, and a report in words."""
        control = self._next()
        envelope = reply_envelope(file.parties, control, self._at)
        content = await asyncio.to_thread(relay.acknowledge, self._profile, file, envelope)
        self._add_written(file.number, control, "277CA", content)
        self._add_written(file.number, control, "TXT", relay.report(self._profile, file, self._at))

    async def _case(self, claim: Claim, number: str, provider: str) -> Case:
        scenario = scenarios.scenario_of(claim.member)
        if claim.frequency == VOID and scenario.decide is not None:
            return await self._void(claim, number)
        if facility_plan.is_notice(claim) and scenario.refusal is None:
            refusals = checks.refusals(claim, self._profile, self._at.date())
            return Case(claim=claim, number=number, refusals=tuple(refusals))
        if scenario.task is not None:
            return await self._by_task(claim, number, provider, scenario)
        if scenario.refusal is not None:
            return Case(claim=claim, number=number, refusals=(scenario.refusal,))
        if scenario.decide is not None:
            corrected = scenario.correct(claim) if scenario.correct else None
            return await self._decided(claim, number, scenario.decide(claim), corrected)
        if not scenario.responses:
            return Case(claim=claim, number=number)
        return await self._by_plan(claim, number, provider)

    async def _void(self, claim: Claim, number: str) -> Case:
        """Cancel an earlier claim, whatever its scenario: what was paid for it is taken back."""
        earlier = await self._earlier(claim)
        if earlier is None:
            return Case(claim=claim, number=number, refusals=(checks.ORIGINAL_NOT_FOUND,))
        self._mark_replaced(earlier, number)
        decision = _void_decision(claim)
        return Case(claim=claim, number=number, decision=decision, replaces=earlier.number)

    async def _decided(
        self, claim: Claim, number: str, decision: Decision, corrected: Decision | None = None
    ) -> Case:
        """Decide a claim of a scenario; a replacement takes back what was paid for the claim that it names."""
        case = Case(claim=claim, number=number, decision=decision, corrected=corrected)
        if claim.frequency not in REPLACEMENTS:
            return case
        earlier = await self._earlier(claim)
        if earlier is None:
            return Case(claim=claim, number=number, refusals=(checks.ORIGINAL_NOT_FOUND,))
        self._mark_replaced(earlier, number)
        return replace(case, replaces=earlier.number)

    def _mark_replaced(self, earlier: Case, number: str) -> None:
        self._replaced.add(earlier.number)
        self._outcome.changes.put(payer_ledger.replaced_key(earlier.number), number)

    async def _by_task(self, claim: Claim, number: str, provider: str, scenario: Scenario) -> Case:
        """Let a claim fail until it is corrected as its scenario says."""
        if scenario.decide is None:
            raise LookupError(
                f"scenario {scenario.id} does not say how a corrected claim is decided"
            )
        if scenario.task is CorrectionTask.ANOTHER_BIRTH_DATE:
            if scenario.refusal and await self._was_refused_before(claim, provider):
                return Case(claim=claim, number=number, refusals=(scenario.refusal,))
            return await self._decided(claim, number, scenario.decide(claim))
        earlier = await self._earlier(claim) if claim.frequency in REPLACEMENTS else None
        if claim.frequency in REPLACEMENTS and earlier is None:
            return Case(claim=claim, number=number, refusals=(checks.ORIGINAL_NOT_FOUND,))
        if earlier is None or _same_services(claim, earlier.claim):
            decide = scenario.before_correction or scenario.decide
            return Case(claim=claim, number=number, decision=decide(claim))
        self._mark_replaced(earlier, number)
        decision = scenario.decide(claim)
        return Case(claim=claim, number=number, decision=decision, replaces=earlier.number)

    async def _was_refused_before(self, claim: Claim, provider: str) -> bool:
        """Return whether a birth date is the first that came for this patient, which is the wrong one."""
        key = payer_ledger.task_key(claim, provider)
        first = self._first_values.get(key) or await self._ledger.get(key, str)
        if first is None:
            first = self._first_values[key] = str(claim.birth)
            self._outcome.changes.put(key, first)
        return first == str(claim.birth)

    async def _by_plan(self, claim: Claim, number: str, provider: str) -> Case:
        today = self._at.date()
        refusals = checks.refusals(claim, self._profile, today)
        names_another = claim.frequency in {*REPLACEMENTS, VOID}
        earlier = await self._earlier(claim) if names_another else None
        if names_another and earlier is None:
            refusals.append(checks.ORIGINAL_NOT_FOUND)
        if refusals:
            return Case(claim=claim, number=number, refusals=tuple(refusals))
        key = payer_ledger.member_key(claim)
        member = self._member(key)
        if earlier is not None:
            self._mark_replaced(earlier, number)
            member = _without_case(member, earlier)
        like = payer_ledger.duplicate_key(claim, provider)
        repeated = like in member.claims and claim.frequency == ORIGINAL
        used = PlanUsage()
        if claim.frequency == VOID:
            decision = _void_decision(claim)
        elif repeated and not claim.predetermination:
            decision = scenarios.duplicate(claim)
        else:
            decision, used = plan.decide(claim, member, today)
        if not claim.predetermination and claim.frequency != VOID:
            member = _with_usage(member, used)
            if not decision.denied:
                member = _with_claim(member, like, number)
        self._members[key] = member
        replaces = earlier.number if earlier else ""
        return Case(claim=claim, number=number, decision=decision, usage=used, replaces=replaces)

    async def _load_members(self, claims: Sequence[Claim]) -> None:
        """Load the members of a set at once: one query for each would cost more than to decide its claim."""
        keys = set(map(payer_ledger.member_key, claims))
        self._known_members = await self._ledger.get_many(sorted(keys), Member)

    def _member(self, key: str) -> Member:
        if key not in self._members:
            self._members[key] = self._known_members.get(key) or Member()
        return self._members[key]

    async def _earlier(self, claim: Claim) -> Case | None:
        """Return the claim that another replaces: of this payer and member, decided and not replaced before."""
        found = await find_case(self._ledger, claim.original)
        if found is None or found.decision is None or found.claim.member != claim.member:
            return None
        gone = claim.original in self._replaced
        known = await self._ledger.get(payer_ledger.replaced_key(claim.original), str)
        return None if gone or known is not None else found

    def _plan_responses(self, file: File) -> None:
        """Plan the responses; claims of one day and file group share theirs."""
        found: dict[tuple[int, ResponseType, ResponseStyle, str], list[int]] = {}
        repeated: set[tuple[ResponseType, str]] = set()
        for at, case in enumerate(file.cases):
            scenario = scenarios.scenario_of(case.claim.member)
            is_void = case.claim.frequency == VOID and scenario.decide is not None
            responses = scenarios.USUAL if is_void else scenario.responses
            # A notice is accepted or refused, and never paid.
            if case.refusals or facility_plan.is_notice(case.claim):
                responses = tuple(
                    response for response in responses if response.type is ResponseType.ACKNOWLEDGE
                )
            file_group = scenario.id if scenario.own_files else ""
            for response in responses:
                found.setdefault(
                    (response.day, response.type, response.style, file_group), []
                ).append(at)
                if response.style in COPIES:
                    repeated.add((response.type, file_group))
        for (day, type, style, file_group), cases in found.items():
            planned = PlannedResponse(
                file=file.number,
                type=type,
                style=style,
                file_group=file_group,
                cases=tuple(cases),
                at=self._at + timedelta(days=day),
                keep_copy=(type, file_group) in repeated and style is ResponseStyle.PLAIN,
            )
            self._outcome.responses.append((day, planned))

    def _add_written(
        self, number: int, control: int, kind: str, content: bytes, day: int = 0
    ) -> None:
        name = f"{self._profile.file_stem}.{control:09}.{kind}"
        planned = PlannedResponse(
            file=number, type=ResponseType.READY, at=self._at, name=name, content=content
        )
        self._outcome.responses.append((day, planned))

    def _next(self) -> int:
        self._counts = replace(self._counts, interchanges=self._counts.interchanges + 1)
        return self._counts.interchanges


async def find_case(ledger: PayerLedger, number: str) -> Case | None:
    """Return the case of a payer claim number."""
    place = payer_ledger.locate_claim(number)
    file = await ledger.get(payer_ledger.file_key(place[0]), File) if place else None
    if place is None or file is None or place[1] >= len(file.cases):
        return None
    return file.cases[place[1]]


def _same_services(one: Claim, other: Claim) -> bool:
    """Return whether two claims have the same codes, modifiers, days and charges."""
    return payer_ledger.duplicate_key(one, "") == payer_ledger.duplicate_key(other, "")


def _void_decision(claim: Claim) -> Decision:
    lines = tuple(plan.denied_line(line.charge, "OA", "96") for line in claim.lines)
    return Decision(code=plan.processed_code(claim), lines=lines, remarks=("MA67",))


def _with_usage(member: Member, used: PlanUsage, sign: int = 1) -> Member:
    spent = plan.add_usage(
        PlanUsage(years=member.years, service_counts=member.service_counts), used, sign
    )
    return replace(member, years=spent.years, service_counts=spent.service_counts)


def _without_case(member: Member, case: Case) -> Member:
    """Return the member as if a claim had never been decided."""
    claims = {like: number for like, number in member.claims.items() if number != case.number}
    return replace(_with_usage(member, case.usage, -1), claims=claims)


def _with_claim(member: Member, like: str, number: str) -> Member:
    """Return the member with one more claim; the oldest are forgotten if there are too many."""
    claims = {**member.claims, like: number}
    for old in list(claims)[: len(claims) - SANDBOX_CLAIMS_REMEMBERED_PER_MEMBER_MAX]:
        del claims[old]
    return replace(member, claims=claims)
