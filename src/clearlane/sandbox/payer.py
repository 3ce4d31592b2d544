"""A simulated payer: files arrive, and answers are left on their days.

    await payer.receive(name, content, now)      # an 837 comes; the same file again changes nothing
    files = await payer.work(now)                # what is to be left in the mailbox now
    await payer.left(names)                      # it is there

Everything it knows is in its ledger, and each step is written there at once, so a kill between two steps loses
nothing and tells nothing twice. ``receive`` may run anywhere at any time; ``work`` for one payer runs on one node
at a time. A file that was handed out and not confirmed by ``left`` is handed out again by a payer object that has
not done so, with the same name and bytes.

Knows scenarios and answers; knows no connection.
"""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from clearlane.connect.port import Ledger, Presence, Unreachable
from clearlane.kernel.limits import SANDBOX_SLOW_SECONDS, SANDBOX_STEPS_AT_ONCE
from clearlane.sandbox import payer_ledger, plan, remit835, scenarios, status277, status277ca
from clearlane.sandbox.clock import COUNTED_DAY, Calendar, day_by_day
from clearlane.sandbox.envelope import envelope
from clearlane.sandbox.model import (
    Arrival,
    Case,
    Counts,
    File,
    Manner,
    Profile,
    Say,
    Step,
)
from clearlane.sandbox.payer_ledger import Books, Changes
from clearlane.sandbox.receive import Intake, find
from clearlane.x12.writer import Envelope

PAGE = (
    b"<!DOCTYPE html>\n<html><head><title>503 Service Unavailable</title></head>"
    b"<body><h1>Service Unavailable</h1></body></html>\n"
)
UNREACHABLE = "The sandbox payer is down."


class Mode(StrEnum):
    """What a payer is made to do."""

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
        calendar: Calendar = day_by_day,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.profile = profile
        self._books = Books(ledger, profile.books or profile.id)
        self._calendar = calendar
        self._sleep = sleep
        self._turn = asyncio.Lock()
        self._handed: set[str] = set()

    async def receive(self, name: str, content: bytes, now: datetime) -> None:
        """A file arrives; it is looked at when the payer works."""
        await self._meet_the_mode()
        key = payer_ledger.arrival_key(name, content)
        if await self._books.get(payer_ledger.seen_key(key), bool) is None:
            due = self._calendar(now)
            await self._books.arrive(key, due, Arrival(at=now, calendar=due, content=content))

    async def work(self, now: datetime) -> list[tuple[str, bytes]]:
        """Do what is due, and hand out the files that are to be left."""
        garbled = await self._meet_the_mode() is Mode.GARBAGE
        async with self._turn:
            calendar = self._calendar(now)
            while entries := await self._due(calendar):
                for key, value in entries:
                    if key.startswith(payer_ledger.ARRIVED):
                        await self._take_in(key, msgspec.msgpack.decode(value, type=Arrival))
                    else:
                        step = msgspec.msgpack.decode(value, type=Step)
                        await self._answer(key, step, now, garbled=garbled)
            return await self._hand_out()

    async def left(self, names: Iterable[str]) -> None:
        """These files are in the mailbox: they need not be kept any longer."""
        async with self._turn:
            gone, changes = set(names), Changes()
            waiting = await self._books.waiting()
            for name in gone.intersection(waiting):
                changes.forget(f"{payer_ledger.OUT}/{name}")
            if changes.entries:
                changes.put(payer_ledger.OUT, [name for name in waiting if name not in gone])
            await self._books.write(changes)
            self._handed -= gone

    async def busy(self, now: datetime) -> bool:
        """Whether anything is due or waits to be left; a payer that is down cannot be asked."""
        await self._meet_the_mode(wait=False)
        if await self._books.due(self._calendar(now), 1):
            return True
        return any(name not in self._handed for name in await self._books.waiting())

    async def mode(self) -> Mode:
        """What the payer is made to do."""
        return Mode(await self._books.get(payer_ledger.MODE, str) or Mode.UP)

    async def set_mode(self, mode: Mode) -> None:
        """Make it do something else, on every node."""
        changes = Changes()
        changes.put(payer_ledger.MODE, mode.value)
        await self._books.write(changes)

    async def taken(self) -> list[str]:
        """The clearinghouse's numbers (``REF*D9``) of all claims that were ever taken in, in order."""
        counts = await self._books.counts()
        files = [
            await self._books.get(payer_ledger.file_key(at), File)
            for at in range(1, counts.files + 1)
        ]
        return [case.claim.number for file in files if file for case in file.cases]

    async def _meet_the_mode(self, *, wait: bool = True) -> Mode:
        mode = await self.mode()
        if mode is Mode.DOWN:
            raise Unreachable(UNREACHABLE, Presence.ABSENT)
        if mode is Mode.SLOW and wait:
            await self._sleep(SANDBOX_SLOW_SECONDS)
        return mode

    async def _due(self, calendar: datetime) -> list[tuple[str, bytes]]:
        entries = await self._books.due(calendar, SANDBOX_STEPS_AT_ONCE)
        return [
            entry
            for entry in entries
            if entry[0].startswith((payer_ledger.ARRIVED, payer_ledger.STEP))
        ]

    async def _take_in(self, key: str, arrival: Arrival) -> None:
        """Read a file. The steps are planned before the file is done with: planned twice, they are the same."""
        counts = await self._books.counts()
        taken = await Intake(self.profile, self._books, arrival.at, counts).take(
            key, arrival.content
        )
        for day, step in taken.steps:
            due = arrival.calendar + day * COUNTED_DAY
            await self._books.plan(payer_ledger.step_key(step.file, day, step), due, step)
        await self._books.write(taken.changes)

    async def _answer(self, key: str, step: Step, now: datetime, *, garbled: bool) -> None:
        changes = Changes()
        counts = await self._books.counts()
        if garbled:
            await self._books.plan(key, self._calendar(now) + COUNTED_DAY, step)
            name, content, counts = self._page(counts)
        else:
            name, content, counts = await self._written(step, min(now, step.at), counts, changes)
            changes.forget(key)
        if content:
            changes.leave(await self._books.waiting(), name, content)
        changes.put(payer_ledger.COUNTS, counts)
        await self._books.write(changes)

    async def _written(
        self, step: Step, at: datetime, counts: Counts, changes: Changes
    ) -> tuple[str, bytes, Counts]:
        """The file that a step leaves, and the numbers after it."""
        if step.say is Say.READY:
            return step.name, step.content, counts
        if step.manner is Manner.PAGE:
            return self._page(counts)
        if step.manner is Manner.AGAIN:
            kept = await self._books.get(payer_ledger.kept_key(step), tuple[str, bytes])
            changes.forget(payer_ledger.kept_key(step))
            return (f"{kept[0]}.AGAIN", kept[1], counts) if kept else ("", b"", counts)
        file = await self._books.get(payer_ledger.file_key(step.file), File)
        assert file is not None, "a step is worked after its file was taken in"
        after = replace(counts, interchanges=counts.interchanges + 1)
        paper = envelope(file.parties, after.interchanges, at)
        cases = [file.cases[one] for one in step.cases]
        if step.say is Say.ACKNOWLEDGE:
            content = await asyncio.to_thread(status277ca.write, self.profile, file, cases, paper)
        elif step.say is Say.PEND:
            content = await asyncio.to_thread(status277.write, self.profile, file, cases, paper)
        else:
            content, after = await self._remitted(step, file, cases, paper, after, changes)
        name = self._name(after.interchanges, "835" if step.say is Say.CORRECT else step.say.value)
        if step.kept:
            changes.put(payer_ledger.kept_key(step), (name, content))
        if step.manner is Manner.CUT:
            content = content[: len(content) // 2]
        return name, content, after

    async def _remitted(
        self,
        step: Step,
        file: File,
        cases: list[Case],
        paper: Envelope,
        counts: Counts,
        changes: Changes,
    ) -> tuple[bytes, Counts]:
        told = [one for case in cases for one in await self._told(step, file, case)]
        owed = {provider.id: await self._books.owed(provider.id) for provider in file.providers}
        payments = remit835.gather(file, told, owed)
        content = await asyncio.to_thread(
            remit835.write, self.profile, payments, paper, counts.checks + 1
        )
        for payment in payments:
            id = payment.provider.id
            # What was owed is settled by the payment that can be read.
            if payment.owed != owed[id] and step.manner is not Manner.CUT:
                changes.put(payer_ledger.owed_key(id), payment.owed)
        return content, replace(counts, checks=counts.checks + len(payments))

    async def _told(self, step: Step, file: File, case: Case) -> list[remit835.Told]:
        """A claim as its payment tells it, after what it takes back."""
        assert case.decision is not None, "only decided claims are remitted"
        told = remit835.Told(case.claim, case.number, case.decision, file.received)
        if step.say is Say.CORRECT:
            assert case.corrected is not None, "only a second look corrects"
            return [
                dataclasses.replace(told, reverses=True),
                dataclasses.replace(told, decision=case.corrected, original=case.number),
            ]
        if case.replaces:
            earlier = await find(self._books, case.replaces)
            assert earlier is not None, "what a claim replaces was found when it was taken in"
            assert earlier.decision is not None, "and had been decided"
            claim = replace(earlier.claim, provider=case.claim.provider)
            back = remit835.Told(claim, earlier.number, earlier.decision, file.received, True)
            return [back, dataclasses.replace(told, original=earlier.number)]
        if scenarios.scenario_of(case.claim.member).interest:
            interest = plan.cents(case.decision.paid * scenarios.INTEREST)
            return [dataclasses.replace(told, interest=interest)]
        return [told]

    def _page(self, counts: Counts) -> tuple[str, bytes, Counts]:
        """A web page in place of an answer; each is another file."""
        after = replace(counts, interchanges=counts.interchanges + 1)
        mark = f"<!-- {after.interchanges} -->\n".encode()
        return self._name(after.interchanges, "HTML"), PAGE + mark, after

    def _name(self, control: int, kind: str) -> str:
        return f"{self.profile.file_stem}.{control:09}.{kind}"

    async def _hand_out(self) -> list[tuple[str, bytes]]:
        files = []
        for name in await self._books.waiting():
            if name not in self._handed:
                content = await self._books.content(name)
                assert content is not None, "a file that waits is kept"
                files.append((name, content))
        self._handed.update(name for name, _ in files)
        return files
