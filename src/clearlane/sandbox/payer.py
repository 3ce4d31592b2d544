"""A simulated payer that receives files and responds with files on their days.

    await payer.receive(name, content, now)      # an 837 arrives; the same file again changes nothing
    files = await payer.work(now)                # files to put into the mailbox now
    await payer.confirm_delivered(names)         # they are there

All its state is in its ledger, and each step is written there at once, so a kill between two steps loses nothing
and repeats nothing. ``receive`` may run anywhere at any time; ``work`` for one payer runs on one node at a time.
A file that was handed out and not confirmed is handed out again by a new payer object, with the same name and bytes.

Knows scenarios and responses; knows no connection.
"""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from clearlane.connect.port import Ledger, Presence, Unreachable
from clearlane.kernel.limits import SANDBOX_SLOW_SECONDS
from clearlane.sandbox import payer_ledger, plan, scenarios
from clearlane.sandbox.clock import CALENDAR_DAY, Calendar, real_time_calendar
from clearlane.sandbox.model import (
    COPIES,
    REMITTANCES,
    ZERO,
    Arrival,
    Case,
    Counts,
    Decision,
    File,
    PlannedResponse,
    Profile,
    ResponseStyle,
    ResponseType,
)
from clearlane.sandbox.payer_ledger import LedgerChanges, PayerLedger
from clearlane.sandbox.receive import FileIntake, find_case
from clearlane.sandbox.responses import remit835, status277, status277ca
from clearlane.sandbox.responses.envelope import reply_envelope, with_control_number
from clearlane.x12.writer.writer import Envelope

SANDBOX_STEPS_AT_ONCE = 100

# What a response says of a claim that is decided again.
_REVERSALS = frozenset({ResponseType.CORRECT, ResponseType.REVERSE})
_CORRECTIONS = frozenset({ResponseType.CORRECT, ResponseType.PAY_ANEW})

WEB_PAGE = (
    b"<!DOCTYPE html>\n<html><head><title>503 Service Unavailable</title></head>"
    b"<body><h1>Service Unavailable</h1></body></html>\n"
)
UNREACHABLE = "The sandbox payer is down."


class Mode(StrEnum):
    """Modes of a simulated payer."""

    UP = "up"
    DOWN = "down"
    SLOW = "slow"
    GARBAGE = "garbage"


class SandboxPayer:
    """One payer of the sandbox."""

    def __init__(
        self,
        profile: Profile,
        ledger: Ledger,
        *,
        calendar: Calendar = real_time_calendar,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.profile = profile
        self._ledger = PayerLedger(ledger, profile.ledger or profile.id)
        self._calendar = calendar
        self._sleep = sleep
        self._lock = asyncio.Lock()
        self._handed_out: set[str] = set()

    async def receive(self, name: str, content: bytes, now: datetime) -> None:
        """Accept a file; ``work`` reads it."""
        await self._apply_mode()
        key = payer_ledger.arrival_key(name, content)
        if await self._ledger.get(payer_ledger.seen_key(key), bool) is None:
            due = self._calendar(now)
            await self._ledger.plan_arrival(
                key, due, Arrival(at=now, calendar=due, content=content)
            )

    async def work(self, now: datetime) -> list[tuple[str, bytes]]:
        """Do what is due and return the files to put into the mailbox."""
        garbled = await self._apply_mode() is Mode.GARBAGE
        async with self._lock:
            calendar = self._calendar(now)
            while entries := await self._due(calendar):
                for key, value in entries:
                    if key.startswith(payer_ledger.ARRIVAL_PREFIX):
                        await self._read_arrival(key, msgspec.msgpack.decode(value, type=Arrival))
                    else:
                        response = msgspec.msgpack.decode(value, type=PlannedResponse)
                        await self._answer(key, response, now, garbled=garbled)
            return await self._hand_out()

    async def confirm_delivered(self, names: Iterable[str]) -> None:
        """Forget files that are in the mailbox by now."""
        async with self._lock:
            gone, changes = set(names), LedgerChanges()
            waiting = await self._ledger.outgoing_names()
            for name in gone.intersection(waiting):
                changes.delete(f"{payer_ledger.OUTGOING}/{name}")
            if changes.entries:
                changes.put(payer_ledger.OUTGOING, [name for name in waiting if name not in gone])
            await self._ledger.write(changes)
            self._handed_out -= gone

    async def busy(self, now: datetime) -> bool:
        """Return whether anything is due or waits to be handed out; raise Unreachable if the payer is down."""
        await self._apply_mode(wait=False)
        if await self._ledger.due(self._calendar(now), 1):
            return True
        return any(name not in self._handed_out for name in await self._ledger.outgoing_names())

    async def mode(self) -> Mode:
        """Return the payer's mode."""
        return Mode(await self._ledger.get(payer_ledger.MODE, str) or Mode.UP)

    async def set_mode(self, mode: Mode) -> None:
        """Set the payer's mode, for every node."""
        changes = LedgerChanges()
        changes.put(payer_ledger.MODE, mode.value)
        await self._ledger.write(changes)

    async def _apply_mode(self, *, wait: bool = True) -> Mode:
        mode = await self.mode()
        if mode is Mode.DOWN:
            raise Unreachable(UNREACHABLE, Presence.ABSENT)
        if mode is Mode.SLOW and wait:
            await self._sleep(SANDBOX_SLOW_SECONDS)
        return mode

    async def _due(self, calendar: datetime) -> list[tuple[str, bytes]]:
        entries = await self._ledger.due(calendar, SANDBOX_STEPS_AT_ONCE)
        return [
            entry
            for entry in entries
            if entry[0].startswith((payer_ledger.ARRIVAL_PREFIX, payer_ledger.RESPONSE_PREFIX))
        ]

    async def _read_arrival(self, key: str, arrival: Arrival) -> None:
        """Read a file and plan its responses.

        Responses are planned before the file is marked as read; planned twice, they are the same.
        """
        counts = await self._ledger.counts()
        result = await FileIntake(self.profile, self._ledger, arrival.at, counts).take(
            key, arrival.content
        )
        for day, response in result.responses:
            due = arrival.calendar + day * CALENDAR_DAY
            await self._ledger.plan_response(
                payer_ledger.response_key(response.file, day, response), due, response
            )
        await self._ledger.write(result.changes)

    async def _answer(
        self, key: str, response: PlannedResponse, now: datetime, *, garbled: bool
    ) -> None:
        changes = LedgerChanges()
        counts = await self._ledger.counts()
        if garbled:
            await self._ledger.plan_response(key, self._calendar(now) + CALENDAR_DAY, response)
            name, content, counts = self._web_page(counts)
        else:
            name, content, counts = await self._written(
                response, min(now, response.at), counts, changes
            )
            changes.delete(key)
        if content:
            changes.add_outgoing_file(await self._ledger.outgoing_names(), name, content)
        changes.put(payer_ledger.COUNTS, counts)
        await self._ledger.write(changes)

    async def _written(
        self, response: PlannedResponse, at: datetime, counts: Counts, changes: LedgerChanges
    ) -> tuple[str, bytes, Counts]:
        """Return the name and content of a response, and the numbers given after it."""
        if response.type is ResponseType.READY:
            return response.name, response.content, counts
        if response.style is ResponseStyle.WEB_PAGE:
            return self._web_page(counts)
        if response.style in COPIES:
            return await self._sent_again(response, counts, changes)
        file = await self._ledger.get(payer_ledger.file_key(response.file), File)
        assert file is not None, "a file is stored before its responses are planned"
        after = replace(counts, interchanges=counts.interchanges + 1)
        envelope = reply_envelope(file.parties, after.interchanges, at)
        cases = [file.cases[one] for one in response.cases]
        # A file to an upstream clearinghouse has claims of one payer.
        payer = self.profile.payer_of(file.cases[0].claim.payer)
        if response.type is ResponseType.ACKNOWLEDGE:
            content = await asyncio.to_thread(status277ca.write, payer, file, cases, envelope)
        elif response.type is ResponseType.PEND:
            content = await asyncio.to_thread(status277.write, payer, file, cases, envelope)
        else:
            content, after = await self._write_835(response, file, cases, envelope, after, changes)
            if not content:
                return "", b"", counts
        is_remittance = response.type in REMITTANCES
        name = self._name(after.interchanges, "835" if is_remittance else response.type.value)
        if response.keep_copy:
            changes.put(payer_ledger.copy_key(response), (name, content))
        if response.style is ResponseStyle.TRUNCATED:
            content = content[: len(content) // 2]
        return name, content, after

    async def _sent_again(
        self, response: PlannedResponse, counts: Counts, changes: LedgerChanges
    ) -> tuple[str, bytes, Counts]:
        """Return what was delivered before: the same file under another name, or its sets in another interchange."""
        copy = await self._ledger.get(payer_ledger.copy_key(response), tuple[str, bytes])
        changes.delete(payer_ledger.copy_key(response))
        if not copy:
            return "", b"", counts
        name, content = copy
        if response.style is ResponseStyle.REPEATED:
            return f"{name}.AGAIN", content, counts
        after = replace(counts, interchanges=counts.interchanges + 1)
        content = with_control_number(content, after.interchanges)
        return self._name(after.interchanges, "835"), content, after

    async def _write_835(
        self,
        response: PlannedResponse,
        file: File,
        cases: list[Case],
        envelope: Envelope,
        counts: Counts,
        changes: LedgerChanges,
    ) -> tuple[bytes, Counts]:
        claims = [
            one
            for case in cases
            for one in await self._claim_payments(response, file, case, changes)
        ]
        if not claims:
            return b"", counts
        owed = {provider.id: await self._ledger.owed(provider.id) for provider in file.providers}
        payments = remit835.gather(file, claims, owed)
        content = await asyncio.to_thread(
            remit835.write,
            self.profile.payer_of(file.cases[0].claim.payer),
            payments,
            envelope,
            counts.checks + 1,
        )
        for payment in payments:
            id = payment.provider.id
            # Only a payment that can be read reduces what is owed.
            if payment.owed != owed[id] and response.style is not ResponseStyle.TRUNCATED:
                changes.put(payer_ledger.owed_key(id), payment.owed)
        return content, replace(counts, checks=counts.checks + len(payments))

    async def _claim_payments(
        self, response: PlannedResponse, file: File, case: Case, changes: LedgerChanges
    ) -> list[remit835.ClaimPayment]:
        """Return a claim's entries in the 835, a reversal before its correction."""
        assert case.decision is not None, "only decided claims are remitted"
        payment = remit835.ClaimPayment(case.claim, case.number, case.decision, file.received)
        if response.type in _REVERSALS | _CORRECTIONS:
            return await self._second_look(response, case, payment, changes)
        scenario = scenarios.scenario_of(case.claim.member)
        payment = dataclasses.replace(payment, interest=_interest(case, case.decision))
        if case.replaces:
            back = await self._taken_back(case, file)
            return [*back, dataclasses.replace(payment, original=case.replaces)]
        return [
            dataclasses.replace(payment, withheld=scenario.withheld, misstated=scenario.misstated)
        ]

    async def _second_look(
        self,
        response: PlannedResponse,
        case: Case,
        payment: remit835.ClaimPayment,
        changes: LedgerChanges,
    ) -> list[remit835.ClaimPayment]:
        """Return the reversal and the correction of a claim; nothing if it was voided in the meantime."""
        assert case.corrected is not None, "only a second look corrects"
        if await self._ledger.get(payer_ledger.replaced_key(case.number), str) is not None:
            return []
        changes.put(payer_ledger.review_key(case.number), response.type.value)
        back = dataclasses.replace(payment, reverses=True)
        correction = dataclasses.replace(payment, decision=case.corrected, original=case.number)
        parts = ((back, _REVERSALS), (correction, _CORRECTIONS))
        return [part for part, types in parts if response.type in types]

    async def _taken_back(self, case: Case, file: File) -> list[remit835.ClaimPayment]:
        """Return the reversal of what is in force of the claim that a case replaces or voids, with its interest."""
        earlier = await find_case(self._ledger, case.replaces)
        assert earlier is not None, "what a claim replaces was found when it was received"
        reviewed = await self._ledger.get(payer_ledger.review_key(earlier.number), str)
        if reviewed == ResponseType.REVERSE.value:
            return []  # taken back before, and the correction was not sent yet
        decision = earlier.corrected if reviewed else earlier.decision
        assert decision is not None, "and had been decided"
        claim = replace(earlier.claim, provider=case.claim.provider)
        interest = ZERO if reviewed else -_interest(earlier, decision)
        back = remit835.ClaimPayment(claim, earlier.number, decision, file.received, True)
        return [dataclasses.replace(back, interest=interest)]

    def _web_page(self, counts: Counts) -> tuple[str, bytes, Counts]:
        """Return a web page instead of a response; each is a different file."""
        after = replace(counts, interchanges=counts.interchanges + 1)
        mark = f"<!-- {after.interchanges} -->\n".encode()
        return self._name(after.interchanges, "HTML"), WEB_PAGE + mark, after

    def _name(self, control: int, kind: str) -> str:
        return f"{self.profile.file_stem}.{control:09}.{kind}"

    async def _hand_out(self) -> list[tuple[str, bytes]]:
        files = []
        for name in await self._ledger.outgoing_names():
            if name not in self._handed_out:
                content = await self._ledger.outgoing_file(name)
                assert content is not None, "an outgoing file is stored"
                files.append((name, content))
        self._handed_out.update(name for name, _ in files)
        return files


def _interest(case: Case, decision: Decision) -> Decimal:
    """Return the interest that a claim's scenario pays with its first payment."""
    pays = scenarios.scenario_of(case.claim.member).interest
    return plan.cents(decision.paid * scenarios.INTEREST) if pays else ZERO
