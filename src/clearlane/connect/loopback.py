"""The cable that never leaves: from the mailbox to a simulated payer in the same process.

What the payer has left for us is kept in its ledger until it is dropped, so that a kill between
two steps loses nothing. Knows of the payer only what the two protocols here say.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import Protocol

from clearlane.connect.file_names import require_ours, require_theirs
from clearlane.connect.port import (
    Denied,
    Incoming,
    Ledger,
    Outcome,
    Presence,
    Reply,
    Unreachable,
)
from clearlane.kernel.clock import Clock

ARRIVED, MAIL, INDEX = "loopback/arrived/", "loopback/mail/", "loopback/mail"

Turn = Callable[[str], AbstractAsyncContextManager[None]]
"""Has a payer, by the name of its ledger, for oneself."""


def _alone(_: str) -> AbstractAsyncContextManager[None]:
    """Where nobody else works for the payer."""
    return nullcontext()


class SimulatedPayer(Protocol):
    """Takes files and leaves files."""

    async def receive(self, name: str, content: bytes, now: datetime) -> None:
        """A file arrives. The same name and bytes again change nothing."""
        ...

    async def work(self, now: datetime) -> list[tuple[str, bytes]]:
        """The files due now, to be left in the mailbox; again each time, until they are said to be there."""
        ...

    async def busy(self, now: datetime) -> bool:
        """Whether there is work now."""
        ...

    async def left(self, names: Sequence[str]) -> None:
        """These files are in the mailbox, durably: they need not be handed out again."""
        ...


class AnsweringPayer(Protocol):
    """Answers questions."""

    async def answer(self, payload: bytes, now: datetime) -> bytes:
        """The interchange that answers this one."""
        ...


class LoopbackMailbox:
    """A mailbox of a simulated payer."""

    def __init__(
        self,
        payer: SimulatedPayer,
        *,
        name: str,
        ledger: Ledger,
        clock: Clock,
        turn: Turn = _alone,
    ) -> None:
        self._payer = payer
        self._name = name
        self._ledger = ledger
        self._clock = clock
        self._turn = turn

    async def put(self, name: str, content: bytes) -> None:
        key, mark = ARRIVED + require_ours(name), hashlib.sha256(content).digest()
        before = await self._ledger.get(self._name, key)
        if before == mark:
            return
        if before is not None:
            raise Denied("Another file of this name is there.")
        await self._payer.receive(name, content, self._clock.now())
        await self._ledger.put(self._name, {key: mark})

    async def look(self, name: str) -> Presence:
        found = await self._ledger.get(self._name, ARRIVED + require_ours(name))
        return Presence.ABSENT if found is None else Presence.THERE

    async def waiting(self) -> list[Incoming]:
        now = self._clock.now()
        if await self._payer.busy(now):
            async with self._turn(self._name):
                await self._gather(await self._payer.work(now))
        return [Incoming(name, size) for name, size in (await self._index()).items()]

    async def take(self, name: str) -> bytes:
        content = await self._ledger.get(self._name, MAIL + require_theirs(name))
        if content is None:
            raise Denied("The file is not there.")
        return content

    async def drop(self, name: str) -> None:
        async with self._turn(self._name):
            sizes = await self._index()
            if sizes.pop(require_theirs(name), None) is not None:
                index = json.dumps(sizes).encode()
                await self._ledger.put(self._name, {MAIL + name: None, INDEX: index})

    async def busy(self, now: datetime) -> bool:
        """Whether the payer has work; not where it is down."""
        try:
            return await self._payer.busy(now)
        except Unreachable:
            return False

    async def close(self) -> None:
        """There is nothing to let go of."""

    async def _gather(self, left: Sequence[tuple[str, bytes]]) -> None:
        """Put what the payer hands out beside what waits already."""
        if left:
            sizes = await self._index()
            sizes |= {require_theirs(name): len(content) for name, content in left}
            mail = {MAIL + name: content for name, content in left}
            await self._ledger.put(self._name, {**mail, INDEX: json.dumps(sizes).encode()})
            await self._payer.left([name for name, _ in left])

    async def _index(self) -> dict[str, int]:
        found = await self._ledger.get(self._name, INDEX)
        sizes: dict[str, int] = json.loads(found) if found else {}
        return sizes


class LoopbackRealtime:
    """Questions to a simulated payer."""

    def __init__(self, payer: AnsweringPayer, clock: Clock) -> None:
        self._payer = payer
        self._clock = clock

    async def ask(self, payload: bytes, *, payload_type: str, seconds: float) -> Reply:
        try:
            async with asyncio.timeout(seconds):
                answer = await self._payer.answer(payload, self._clock.now())
        except TimeoutError:
            return Reply(Outcome.TIMEOUT, message="The payer did not answer in time.")
        return Reply(Outcome.ANSWERED, answer, payload_type_of(answer), "Success")


def payload_type_of(answer: bytes) -> str:
    """What CORE would call this interchange."""
    text = answer[:4_000].decode("latin-1")
    if not text.startswith("ISA") or len(text) < 106:
        return ""
    starts = {segment.strip()[:7] for segment in text.split(text[105])}
    for mark, kind in ANSWERS.items():
        if mark.replace("*", text[3]) in starts:
            return kind
    return ANSWERS_ELSE if any(start.startswith("TA1") for start in starts) else ""


# By the first seven characters of a segment.
ANSWERS = {
    "ST*271*": "X12_271_Response_005010X279A1",
    "ST*277*": "X12_277_Response_005010X212",
    "ST*999*": "X12_999_Response_005010X231A1",
}
ANSWERS_ELSE = "X12_TA1_Response_00501X231A1"
