"""Protocols of connections to payers, and of the ledger of a simulated payer.

Knows no kind of connection. Each protocol has at least two implementations; the in-memory one is product code.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Presence(StrEnum):
    """Whether a file arrived, as far as the payer's side shows."""

    THERE = "there"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Unreachable(Exception):
    """The payer did not answer, or not in time; trying again later may help.

    The message is a sentence without anything of a payload. ``arrival`` is ABSENT if the
    failure came before anything could have arrived.
    """

    def __init__(self, message: str = "", arrival: Presence = Presence.UNKNOWN) -> None:
        super().__init__(message)
        self.arrival = arrival


class FileChanged(Unreachable):
    """A file that waits is not as it was seen: it is still being written, or was replaced. A later visit looks at it again."""


class Denied(Exception):
    """The payer answered and refused: credentials, host key, certificate, path.

    Nothing was accepted, and an operator must act. The message is a sentence without anything of a payload.
    """


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file from a payer that waits to be collected.

    A payer may still be writing it, unless the mailbox says that its files appear whole.
    """

    name: str
    size: int
    modified_nanos: int = 0
    """When it was last changed, by the clock of the machine that stores it; 0 if the mailbox does not say."""
    age_seconds: float | None = None
    """How long ago that was at least, by that same clock; None if that clock cannot be read.

    This machine's clock says nothing here: the payer's server may be minutes ahead or behind.
    """


BeforeArrival = Callable[[], Awaitable[None]]
"""Called directly before the step after which a payer has a file; if it raises, the file is not sent."""


async def no_mark() -> None:
    """Record nothing before a file arrives."""


class Mailbox(Protocol):
    """A payer's mailbox: files to the payer, and files from it.

    To collect, ``waiting`` is called once in a visit. If ``files_are_whole``, each file is taken, stored and dropped in
    the same visit. Otherwise it is taken when it was seen unchanged twice or is old enough by the clock that stamped it,
    and dropped in a later visit, with what was seen then: ``drop`` must leave a file that differs.
    """

    files_are_whole: bool
    """Whether a file that waits is complete. False if the payer may still be writing it: directories of any sort."""
    files_at_once: int
    """How many files may be taken or dropped side by side."""
    passed_over: int
    """How many files the last look at those that wait passed over, because of their names."""

    async def put(self, name: str, content: bytes, before_arrival: BeforeArrival = no_mark) -> None:
        """Send a file, whole or not at all; the same name and bytes again change nothing."""
        ...

    async def look(self, name: str) -> Presence:
        """Return whether a file of that name arrived; asked after a crash."""
        ...

    async def waiting(self) -> list[IncomingFile]:
        """Return the files that wait to be collected."""
        ...

    async def take(self, name: str) -> bytes:
        """Read a waiting file; it stays there. Raises :class:`FileChanged` if it grew while it was read."""
        ...

    async def drop(self, name: str, seen: IncomingFile | None = None) -> None:
        """Remove or acknowledge a file that is stored here by now.

        Raises :class:`FileChanged`, and leaves the file, if its size or time is not that of ``seen``, nor its size that of
        what was taken.
        """
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...


class RealtimeResult(StrEnum):
    """Outcome of a real-time exchange. ``ANSWERED`` may still be a TA1 or 999: see the payload type."""

    ANSWERED = "answered"
    HTTP = "http"
    ENVELOPE = "envelope"
    BUSY = "busy"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply to a real-time request."""

    result: RealtimeResult
    payload: bytes = b""
    payload_type: str = ""
    code: str = ""
    message: str = ""
    """Text of the envelope, never of a payload."""

    def __repr__(self) -> str:
        """Leave out the payload, which holds patient data."""
        return (
            f"Reply({self.result.value}, {len(self.payload)} bytes, {self.payload_type!r},"
            f" {self.code!r}, {self.message!r})"
        )


class Realtime(Protocol):
    """A real-time connection to a payer."""

    async def ask(self, payload: bytes, *, payload_type: str, seconds: float) -> Reply:
        """Send one interchange and return what came back within the time."""
        ...


class Ledger(Protocol):
    """Durable storage of a simulated payer, shared by all nodes."""

    async def get(self, payer: str, key: str) -> bytes | None:
        """Return the value of a key."""
        ...

    async def get_many(self, payer: str, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the values of those of these keys that have one."""
        ...

    async def put(self, payer: str, entries: Mapping[str, bytes | None]) -> None:
        """Write entries, all or nothing; None deletes."""
        ...

    async def due(self, payer: str, now: datetime, most: int) -> list[tuple[str, bytes]]:
        """Return entries of the agenda that are due, earliest first."""
        ...

    async def plan(self, payer: str, key: str, due: datetime, value: bytes) -> None:
        """Put an entry on the agenda; the same key replaces."""
        ...
