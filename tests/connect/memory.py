"""In-memory implementations of the ports of connections, for tests and measurements."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from clearlane.connect.file_names import require_incoming_name, require_outgoing_name
from clearlane.connect.port import BeforeArrival, Denied, IncomingFile, Presence, Reply, no_mark


class MemoryMailbox:
    """A mailbox in memory."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self.sent: dict[str, bytes] = {}
        """Files sent to the payer."""
        self.files: dict[str, bytes] = dict(files or {})
        """Files from the payer that wait to be collected."""
        self.files_are_whole = True
        self.files_at_once = 4
        self.passed_over = 0
        self.trouble: Exception | None = None
        """Raised by every call while it is set."""

    async def put(self, name: str, content: bytes, before_arrival: BeforeArrival = no_mark) -> None:
        self._meet_trouble()
        if self.sent.get(require_outgoing_name(name)) != content:
            await before_arrival()
        if self.sent.setdefault(name, content) != content:
            raise Denied("Another file of this name is there.")

    async def look(self, name: str) -> Presence:
        self._meet_trouble()
        return Presence.THERE if require_outgoing_name(name) in self.sent else Presence.ABSENT

    async def waiting(self) -> list[IncomingFile]:
        self._meet_trouble()
        return [IncomingFile(name, len(content)) for name, content in sorted(self.files.items())]

    async def take(self, name: str) -> bytes:
        self._meet_trouble()
        if require_incoming_name(name) not in self.files:
            raise Denied("The file is not there.")
        return self.files[name]

    async def drop(self, name: str, seen: IncomingFile | None = None) -> None:
        self._meet_trouble()
        self.files.pop(require_incoming_name(name), None)

    async def close(self) -> None:
        """Do nothing: memory holds no connection."""

    def _meet_trouble(self) -> None:
        if self.trouble is not None:
            raise self.trouble


class MemoryRealtime:
    """A real-time connection that answers from a function."""

    def __init__(self, answer: Callable[[bytes, str], Reply]) -> None:
        self._answer = answer

    async def ask(self, payload: bytes, *, payload_type: str, seconds: float) -> Reply:
        return self._answer(payload, payload_type)


class MemoryLedger:
    """A ledger in memory.

    Keys are one space: a planned entry stays on the agenda until it is written with ``put`` or deleted.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], tuple[bytes, datetime | None]] = {}

    async def get(self, payer: str, key: str) -> bytes | None:
        found = self._entries.get((payer, key))
        return found and found[0]

    async def get_many(self, payer: str, keys: Sequence[str]) -> dict[str, bytes]:
        wanted = {key: self._entries.get((payer, key)) for key in keys}
        return {key: found[0] for key, found in wanted.items() if found}

    async def put(self, payer: str, entries: Mapping[str, bytes | None]) -> None:
        for key, value in entries.items():
            if value is None:
                self._entries.pop((payer, key), None)
            else:
                self._entries[payer, key] = (value, None)

    async def due(self, payer: str, now: datetime, most: int) -> list[tuple[str, bytes]]:
        found = [
            (due, key, value)
            for (of, key), (value, due) in self._entries.items()
            if of == payer and due is not None and due <= now
        ]
        return [(key, value) for _, key, value in sorted(found)[:most]]

    async def plan(self, payer: str, key: str, due: datetime, value: bytes) -> None:
        self._entries[payer, key] = (value, due)
