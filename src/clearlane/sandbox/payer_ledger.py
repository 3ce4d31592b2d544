"""The ledger of a simulated payer: its entries and their keys.

Changes are collected and written together, all or nothing. No key contains a name or member number, because a
ledger may show its keys. Knows the ledger's port; decides nothing.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TypeVar

import msgspec

from clearlane.connect.port import Ledger
from clearlane.sandbox.model import ZERO, Arrival, Claim, Counts, PlannedResponse

ARRIVAL_PREFIX, RESPONSE_PREFIX = "in/", "step/"
COUNTS, OUTGOING, MODE = "counts", "out", "mode"

T = TypeVar("T")


class PayerLedger:
    """Typed access to the ledger of one payer."""

    def __init__(self, ledger: Ledger, payer: str) -> None:
        self._ledger = ledger
        self._payer = payer

    async def get(self, key: str, kind: type[T]) -> T | None:
        """Return the value of a key."""
        stored = await self._ledger.get(self._payer, key)
        return None if stored is None else msgspec.msgpack.decode(stored, type=kind)

    async def get_many(self, keys: Sequence[str], kind: type[T]) -> dict[str, T]:
        """Return the values of those of these keys that have one."""
        stored = await self._ledger.get_many(self._payer, keys)
        return {key: msgspec.msgpack.decode(value, type=kind) for key, value in stored.items()}

    async def is_planned(self, key: str) -> bool:
        """Return whether an entry is on the agenda, or was put under the key of one."""
        return await self._ledger.get(self._payer, key) is not None

    async def due(self, calendar: datetime, most: int) -> list[tuple[str, bytes]]:
        """Return the agenda entries that are due, earliest first."""
        return await self._ledger.due(self._payer, calendar, most)

    async def plan_arrival(self, key: str, due: datetime, arrival: Arrival) -> None:
        """Put an arrived file on the agenda."""
        await self._ledger.plan(self._payer, key, due, msgspec.msgpack.encode(arrival))

    async def plan_response(self, key: str, due: datetime, response: PlannedResponse) -> None:
        """Put a response on the agenda."""
        await self._ledger.plan(self._payer, key, due, msgspec.msgpack.encode(response))

    async def write(self, changes: "LedgerChanges") -> None:
        """Write collected changes."""
        if changes.entries:
            await self._ledger.put(self._payer, changes.entries)

    async def outgoing_file(self, name: str) -> bytes | None:
        """Return the content of a file that waits to be delivered."""
        return await self._ledger.get(self._payer, f"{OUTGOING}/{name}")

    async def outgoing_names(self) -> list[str]:
        """Return the names of the files that wait to be delivered."""
        return await self.get(OUTGOING, list[str]) or []

    async def counts(self) -> Counts:
        """Return the numbers given so far."""
        return await self.get(COUNTS, Counts) or Counts()

    async def owed(self, provider: str) -> Decimal:
        """Return the amount to withhold from a provider's next payment."""
        return await self.get(owed_key(provider), Decimal) or ZERO


class LedgerChanges:
    """Entries to be written together."""

    def __init__(self) -> None:
        self.entries: dict[str, bytes | None] = {}

    def put(self, key: str, value: object) -> None:
        """Set a value."""
        self.entries[key] = msgspec.msgpack.encode(value)

    def delete(self, key: str) -> None:
        """Delete an entry, also one of the agenda."""
        self.entries[key] = None

    def add_outgoing_file(self, names: list[str], name: str, content: bytes) -> list[str]:
        """Add a file to those that wait to be delivered; return all their names."""
        found = names if name in names else [*names, name]
        self.entries[f"{OUTGOING}/{name}"] = content
        self.put(OUTGOING, found)
        return found


def arrival_key(name: str, content: bytes) -> str:
    """Return the key of an arrived file, the same for the same name and bytes."""
    return ARRIVAL_PREFIX + _digest([name.encode(), content])


def seen_key(arrival: str) -> str:
    """Return the key which marks that a file was read."""
    return "seen/" + arrival.removeprefix(ARRIVAL_PREFIX)


def interchange_key(sender: str, control: str) -> str:
    """Return the key which marks that a control number was used."""
    return "isa/" + _digest([sender.encode(), control.encode()])


def file_key(number: int) -> str:
    """Return the key of a received file."""
    return f"file/{number:06}"


def copy_key(response: PlannedResponse) -> str:
    """Return the key of a response that is repeated later."""
    return f"kept/{response.file:06}/{response.file_group}/{response.type}"


def response_key(number: int, day: int, response: PlannedResponse) -> str:
    """Return the agenda key of a response."""
    return f"{RESPONSE_PREFIX}{number:06}/{day:02}/{response.type}/{response.file_group}/{response.name}"


def replaced_key(number: str) -> str:
    """Return the key which marks that a claim was replaced or voided; its value is the claim that did it."""
    return f"void/{number}"


def review_key(number: str) -> str:
    """Return the key of the last response of a second look at a claim, which says what of it is in force."""
    return f"review/{number}"


def owed_key(provider: str) -> str:
    """Return the key of what a provider owes."""
    return "owed/" + _digest([provider.encode()])


def member_key(claim: Claim) -> str:
    """Return the key of a patient: the insured's number and, for a dependent, the own name and birth date."""
    patient = claim.patient
    own = () if patient is None else (patient.last, patient.first, str(claim.birth))
    return "member/" + _digest(text.encode() for text in (claim.member, *own))


def task_key(claim: Claim, provider: str) -> str:
    """Return the key of what a patient's claims must correct: by insured's number, patient's name and provider."""
    person = claim.patient or claim.subscriber
    texts = (claim.member, claim.payer, person.last, person.first, provider)
    return "task/" + _digest(text.encode() for text in texts)


def duplicate_key(claim: Claim, provider: str) -> str:
    """Return a key that is equal for duplicates: same provider, services, days and charges."""
    lines = sorted(
        "|".join(
            [line.code, *line.modifiers, str(line.first), str(line.charge.normalize()), *line.teeth]
        )
        for line in claim.lines
    )
    return _digest(text.encode() for text in (claim.kind, provider, *lines))[:16]


def question_keys(number: str, account: str) -> list[str]:
    """Return the keys by which a claim is found that is asked about by its numbers: the clearinghouse's, then the account number."""
    return ["asked/" + _digest([text.encode()]) for text in (number, account) if text]


def day_key(member: str, last_name: str, day: date) -> str:
    """Return the key by which a claim is found that is asked about by insured, patient and first day."""
    texts = (member, last_name, day.isoformat())
    return "asked/" + _digest(text.encode() for text in texts)


def claim_number(file: int, at: int) -> str:
    """Return the payer's claim number, which encodes the file and the position in it."""
    return f"S{file:06}{at:05}"


def locate_claim(number: str) -> tuple[int, int] | None:
    """Return the file and the position in it that a payer claim number encodes."""
    digits = number[1:]
    if number[:1] != "S" or len(digits) != 11 or not (digits.isascii() and digits.isdigit()):
        return None
    return int(digits[:6]), int(digits[6:])


def _digest(parts: Iterable[bytes]) -> str:
    mark = hashlib.sha256()
    for part in parts:
        mark.update(len(part).to_bytes(8, "big") + part)
    return mark.hexdigest()
