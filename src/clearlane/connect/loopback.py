"""Mailbox and real-time connection to a simulated payer in the same process.

Files from the payer are kept in its ledger until they are dropped, so that a kill between two
steps loses nothing. Knows of the payer only the two protocols defined here.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import Protocol

from clearlane.connect.file_names import require_incoming_name, require_outgoing_name
from clearlane.connect.port import (
    BeforeArrival,
    Denied,
    IncomingFile,
    Ledger,
    Presence,
    RealtimeResult,
    Reply,
    Unreachable,
    no_mark,
)
from clearlane.kernel.clock import Clock

RECEIVED_PREFIX, FILE_PREFIX, FILE_INDEX = "loopback/arrived/", "loopback/mail/", "loopback/mail"

PayerLock = Callable[[str], AbstractAsyncContextManager[None]]
"""Locks a payer, by the name of its ledger, against other nodes."""


def _no_lock(_: str) -> AbstractAsyncContextManager[None]:
    """Lock nothing: for a payer that only this process uses."""
    return nullcontext()


class SimulatedFilePayer(Protocol):
    """A simulated payer that receives files and answers with files."""

    async def receive(self, name: str, content: bytes, now: datetime) -> None:
        """Accept a file. The same name and bytes again change nothing."""
        ...

    async def work(self, now: datetime) -> list[tuple[str, bytes]]:
        """Return the files due now, again each time until ``confirm_delivered``."""
        ...

    async def busy(self, now: datetime) -> bool:
        """Return whether anything is due now."""
        ...

    async def confirm_delivered(self, names: Sequence[str]) -> None:
        """Record that files are durably in the mailbox: they are not handed out again."""
        ...


class SimulatedRealtimePayer(Protocol):
    """A simulated payer that answers in real time."""

    async def answer(self, payload: bytes, now: datetime) -> bytes:
        """Return the interchange that answers this one."""
        ...


class LoopbackMailbox:
    """The mailbox of a simulated payer. A file is put there in one write, so it is whole when it is seen."""

    files_are_whole = True
    files_at_once = 1

    def __init__(
        self,
        payer: SimulatedFilePayer,
        *,
        name: str,
        ledger: Ledger,
        clock: Clock,
        lock: PayerLock = _no_lock,
    ) -> None:
        self.passed_over = 0
        self._payer = payer
        self._name = name
        self._ledger = ledger
        self._clock = clock
        self._lock = lock

    async def put(self, name: str, content: bytes, before_arrival: BeforeArrival = no_mark) -> None:
        key, mark = RECEIVED_PREFIX + require_outgoing_name(name), hashlib.sha256(content).digest()
        before = await self._ledger.get(self._name, key)
        if before == mark:
            return
        if before is not None:
            raise Denied("Another file of this name is there.")
        await before_arrival()
        await self._payer.receive(name, content, self._clock.now())
        await self._ledger.put(self._name, {key: mark})

    async def look(self, name: str) -> Presence:
        found = await self._ledger.get(self._name, RECEIVED_PREFIX + require_outgoing_name(name))
        return Presence.ABSENT if found is None else Presence.THERE

    async def waiting(self) -> list[IncomingFile]:
        now = self._clock.now()
        if await self._payer.busy(now):
            async with self._lock(self._name):
                await self._store_files(await self._payer.work(now))
        return [IncomingFile(name, size) for name, size in (await self._index()).items()]

    async def take(self, name: str) -> bytes:
        content = await self._ledger.get(self._name, FILE_PREFIX + require_incoming_name(name))
        if content is None:
            raise Denied("The file is not there.")
        return content

    async def drop(self, name: str, seen: IncomingFile | None = None) -> None:
        async with self._lock(self._name):
            sizes = await self._index()
            if sizes.pop(require_incoming_name(name), None) is not None:
                index = json.dumps(sizes).encode()
                await self._ledger.put(self._name, {FILE_PREFIX + name: None, FILE_INDEX: index})

    async def busy(self, now: datetime) -> bool:
        """Return whether the payer has anything due; False if it is down."""
        try:
            return await self._payer.busy(now)
        except Unreachable:
            return False

    async def close(self) -> None:
        """Do nothing: a loopback holds no connection."""

    async def _store_files(self, left: Sequence[tuple[str, bytes]]) -> None:
        """Store files from the payer beside those that wait already."""
        if left:
            sizes = await self._index()
            sizes |= {require_incoming_name(name): len(content) for name, content in left}
            mail = {FILE_PREFIX + name: content for name, content in left}
            await self._ledger.put(self._name, {**mail, FILE_INDEX: json.dumps(sizes).encode()})
            await self._payer.confirm_delivered([name for name, _ in left])

    async def _index(self) -> dict[str, int]:
        found = await self._ledger.get(self._name, FILE_INDEX)
        sizes: dict[str, int] = json.loads(found) if found else {}
        return sizes


class LoopbackRealtime:
    """The real-time connection to a simulated payer."""

    def __init__(self, payer: SimulatedRealtimePayer, clock: Clock) -> None:
        self._payer = payer
        self._clock = clock

    async def ask(self, payload: bytes, *, payload_type: str, seconds: float) -> Reply:
        try:
            async with asyncio.timeout(seconds):
                answer = await self._payer.answer(payload, self._clock.now())
        except TimeoutError:
            return Reply(RealtimeResult.TIMEOUT, message="The payer did not answer in time.")
        return Reply(RealtimeResult.ANSWERED, answer, payload_type_of(answer), "Success")


def payload_type_of(answer: bytes) -> str:
    """Return the CAQH CORE payload type of an interchange; empty if it has none."""
    text = answer[:4_000].decode("latin-1")
    if not text.startswith("ISA") or len(text) < 106:
        return ""
    starts = {segment.strip()[:7] for segment in text.split(text[105])}
    for mark, kind in PAYLOAD_TYPE_BY_SEGMENT.items():
        if mark.replace("*", text[3]) in starts:
            return kind
    return TA1_PAYLOAD_TYPE if any(start.startswith("TA1") for start in starts) else ""


# By the first seven characters of a segment.
PAYLOAD_TYPE_BY_SEGMENT = {
    "ST*271*": "X12_271_Response_005010X279A1",
    "ST*277*": "X12_277_Response_005010X212",
    "ST*999*": "X12_999_Response_005010X231A1",
}
TA1_PAYLOAD_TYPE = "X12_TA1_Response_00501X231A1"
