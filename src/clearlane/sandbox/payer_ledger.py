"""A payer's books: what it keeps in its ledger, and under which keys.

Changes are collected and written together, all or nothing. Names and member numbers stand in no key, because a
ledger may show its keys. Knows the ledger's port; decides nothing.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

import msgspec

from clearlane.connect.port import Ledger
from clearlane.sandbox.model import ZERO, Arrival, Claim, Counts, Step

ARRIVED, STEP = "in/", "step/"
COUNTS, OUT, MODE = "counts", "out", "mode"

T = TypeVar("T")


class Books:
    """The ledger of one payer."""

    def __init__(self, ledger: Ledger, payer: str) -> None:
        self._ledger = ledger
        self._payer = payer

    async def get(self, key: str, kind: type[T]) -> T | None:
        """What stands under a key."""
        kept = await self._ledger.get(self._payer, key)
        return None if kept is None else msgspec.msgpack.decode(kept, type=kind)

    async def due(self, calendar: datetime, most: int) -> list[tuple[str, bytes]]:
        """What is to be done by now, earliest first."""
        return await self._ledger.due(self._payer, calendar, most)

    async def arrive(self, key: str, due: datetime, arrival: Arrival) -> None:
        """A file has come."""
        await self._ledger.plan(self._payer, key, due, msgspec.msgpack.encode(arrival))

    async def plan(self, key: str, due: datetime, step: Step) -> None:
        """An answer is to be given."""
        await self._ledger.plan(self._payer, key, due, msgspec.msgpack.encode(step))

    async def write(self, changes: "Changes") -> None:
        """Write what was collected."""
        if changes.entries:
            await self._ledger.put(self._payer, changes.entries)

    async def content(self, name: str) -> bytes | None:
        """A file that waits to be left."""
        return await self._ledger.get(self._payer, f"{OUT}/{name}")

    async def waiting(self) -> list[str]:
        """The names of the files that wait to be left."""
        return await self.get(OUT, list[str]) or []

    async def counts(self) -> Counts:
        """The numbers given so far."""
        return await self.get(COUNTS, Counts) or Counts()

    async def owed(self, provider: str) -> Decimal:
        """What is to be withheld from a provider's next payment."""
        return await self.get(owed_key(provider), Decimal) or ZERO


class Changes:
    """Entries to be written together."""

    def __init__(self) -> None:
        self.entries: dict[str, bytes | None] = {}

    def put(self, key: str, value: object) -> None:
        """Keep a value."""
        self.entries[key] = msgspec.msgpack.encode(value)

    def forget(self, key: str) -> None:
        """Keep it no longer; an entry of the agenda is done."""
        self.entries[key] = None

    def leave(self, names: list[str], name: str, content: bytes) -> list[str]:
        """Have a file wait to be left, beside those that wait already."""
        found = names if name in names else [*names, name]
        self.entries[f"{OUT}/{name}"] = content
        self.put(OUT, found)
        return found


def arrival_key(name: str, content: bytes) -> str:
    """The same for the same name and bytes."""
    return ARRIVED + _mark([name.encode(), content])


def seen_key(arrival: str) -> str:
    """That a file was looked at."""
    return "seen/" + arrival.removeprefix(ARRIVED)


def interchange_key(sender: str, control: str) -> str:
    """That a control number was used."""
    return "isa/" + _mark([sender.encode(), control.encode()])


def file_key(number: int) -> str:
    """A file that was taken in."""
    return f"file/{number:06}"


def kept_key(step: Step) -> str:
    """An answer that is to be given again."""
    return f"kept/{step.file:06}/{step.lane}/{step.say}"


def step_key(number: int, day: int, step: Step) -> str:
    """An answer on the agenda."""
    return f"{STEP}{number:06}/{day:02}/{step.say}/{step.lane}/{step.name}"


def owed_key(provider: str) -> str:
    """What a provider owes."""
    return "owed/" + _mark([provider.encode()])


def member_key(claim: Claim) -> str:
    """A patient: the insured's number and, for a dependent, the dependent's own name and birth."""
    patient = claim.patient
    own = () if patient is None else (patient.last, patient.first, str(claim.birth))
    return "member/" + _mark(text.encode() for text in (claim.member, *own))


def likeness(claim: Claim, provider: str) -> str:
    """What makes two claims of a patient the same: who bills which services of which days at which charge."""
    lines = sorted(
        "|".join(
            [line.code, *line.modifiers, str(line.first), str(line.charge.normalize()), *line.teeth]
        )
        for line in claim.lines
    )
    return _mark(text.encode() for text in (claim.kind, provider, *lines))[:16]


def claim_number(file: int, at: int) -> str:
    """The payer's number of a claim, which leads back to it."""
    return f"S{file:06}{at:05}"


def place_of(number: str) -> tuple[int, int] | None:
    """The file and the place in it that a number of ours names."""
    digits = number[1:]
    if number[:1] != "S" or len(digits) != 11 or not (digits.isascii() and digits.isdigit()):
        return None
    return int(digits[:6]), int(digits[6:])


def _mark(parts: Iterable[bytes]) -> str:
    mark = hashlib.sha256()
    for part in parts:
        mark.update(len(part).to_bytes(8, "big") + part)
    return mark.hexdigest()
