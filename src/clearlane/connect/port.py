"""What the house asks of a connection to a payer, and of the memory of a simulated one.

Knows no kind of connection. Each protocol has at least two ends; the one in memory is product code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Presence(StrEnum):
    """Whether a file arrived, as far as the other side lets us know."""

    THERE = "there"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Unreachable(Exception):
    """The other side did not answer, or not in time; nothing is known to have arrived.

    Trying again later may help. The message is a sentence without anything of a payload.
    ``arrival`` is ABSENT where the failure came before anything could have arrived.
    """

    def __init__(self, message: str = "", arrival: Presence = Presence.UNKNOWN) -> None:
        super().__init__(message)
        self.arrival = arrival


class Denied(Exception):
    """The other side answered and refused: credentials, host key, certificate, path.

    A person must look; nothing was taken. The message is a sentence without anything of a payload.
    """


@dataclass(frozen=True, slots=True)
class Incoming:
    """A file that waits for us."""

    name: str
    size: int


class Mailbox(Protocol):
    """Where we leave files for a payer and find those for us."""

    async def put(self, name: str, content: bytes) -> None:
        """Leave a file, whole or not at all; the same name and bytes again change nothing."""
        ...

    async def look(self, name: str) -> Presence:
        """After a crash: did a file of that name arrive?"""
        ...

    async def waiting(self) -> list[Incoming]:
        """The files for us."""
        ...

    async def take(self, name: str) -> bytes:
        """Read one of them; it stays."""
        ...

    async def drop(self, name: str) -> None:
        """It is stored with us: remove or acknowledge it there."""
        ...

    async def close(self) -> None:
        """Let go of the connection."""
        ...


class Outcome(StrEnum):
    """How far a question came. ``ANSWERED`` may still be a TA1 or 999: the payload type tells."""

    ANSWERED = "answered"
    HTTP = "http"
    ENVELOPE = "envelope"
    BUSY = "busy"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back on a question."""

    outcome: Outcome
    payload: bytes = b""
    payload_type: str = ""
    code: str = ""
    message: str = ""
    """Words of the envelope, never of a payload."""

    def __repr__(self) -> str:
        """Without the payload, which holds patient data."""
        return (
            f"Reply({self.outcome.value}, {len(self.payload)} bytes, {self.payload_type!r},"
            f" {self.code!r}, {self.message!r})"
        )


class Realtime(Protocol):
    """A payer that answers while we wait."""

    async def ask(self, payload: bytes, *, payload_type: str, seconds: float) -> Reply:
        """Send one interchange and give what came back within the time."""
        ...


class Ledger(Protocol):
    """Where a simulated payer keeps what it knows; it survives kills and works with two nodes."""

    async def get(self, payer: str, key: str) -> bytes | None:
        """What stands under a key."""
        ...

    async def put(self, payer: str, entries: Mapping[str, bytes | None]) -> None:
        """Write entries, all or nothing; None deletes."""
        ...

    async def due(self, payer: str, now: datetime, most: int) -> list[tuple[str, bytes]]:
        """Entries of the agenda whose time has come, earliest first."""
        ...

    async def plan(self, payer: str, key: str, due: datetime, value: bytes) -> None:
        """Put an entry on the agenda; the same key replaces."""
        ...
