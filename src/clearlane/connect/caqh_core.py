"""CAQH CORE C2.2.0: batches as a mailbox, and the real-time request.

Interprets the payer's answers. ``caqh_core_envelope`` reads and checks an answer first;
``caqh_core_http`` sends and receives.
"""

import asyncio
import hashlib
import re
from uuid import NAMESPACE_URL, uuid5

from clearlane.connect import caqh_core_envelope
from clearlane.connect.caqh_core_envelope import CoreEnvelope, CoreOperation, UnreadableEnvelope
from clearlane.connect.caqh_core_http import CoreConnection, CoreHttpResponse
from clearlane.connect.connection_check import ConnectionCheck
from clearlane.connect.file_names import require_incoming_name, require_outgoing_name
from clearlane.connect.port import (
    BeforeArrival,
    Denied,
    IncomingFile,
    Presence,
    RealtimeResult,
    Reply,
    Unreachable,
    no_mark,
)
from clearlane.kernel import limits
from clearlane.payers.routes import PAYLOAD_TYPES, PICKUP_PREFIX

REALTIME_BYTES_MAX = 8 * 1024 * 1024
ENVELOPE_BYTES_MAX = 256 * 1024
ENVELOPE_TEXT_CHARACTERS_MAX = 200
PICKUPS_AT_ONCE_MAX = 20

BATCH_NAMES = "urn:clearlane:core:batch:"

# The role of a file's payload type, by the version in its GS08.
ROLES = {
    "005010X222": "837P",
    "005010X223": "837I",
    "005010X224": "837D",
    "005010X279": "270",
    "005010X212": "276",
    "005010X231": "999",
}
# Acknowledgements are retrieved by an action of their own; everything else is a result.
ACKNOWLEDGEMENTS = frozenset({"999", "TA1"})
# Error codes that ask to try again later. The rule names none, so these are the usual ones.
BUSY_CODES = frozenset({
    "busy", "serverbusy", "systembusy", "servicebusy", "systemunavailable", "serviceunavailable",
    "tryagain", "tryagainlater",
})  # fmt: skip
BUSY_STATUS = frozenset({408, 425, 429, 503})
SUCCESS_STATUS = frozenset({200, 202})
PAYER_FAULT_CODES = frozenset({"receiver", "server"})


class CoreMailbox:
    """A mailbox over CORE batch actions.

    CORE cannot list files, so ``waiting`` retrieves them and keeps them until they are dropped. A
    batch is sent under an id made from its name, so that the payer recognizes a repetition. Asking
    whether a batch arrived would consume its acknowledgement, so ``look`` returns UNKNOWN. A file is one message, so it is
    whole when it is seen.
    """

    files_are_whole = True
    files_at_once = 1

    def __init__(self, connection: CoreConnection) -> None:
        self._connection = connection
        self._route = connection.route
        self._bytes_max = connection.route.number("bytes_max")
        self.passed_over = 0
        self._files: dict[str, tuple[str, bytes]] = {}
        self._dropped: set[str] = set()

    async def put(self, name: str, content: bytes, before_arrival: BeforeArrival = no_mark) -> None:
        require_outgoing_name(name)
        if len(content) > self._bytes_max:
            raise Denied(f"The file is larger than {self._bytes_max} bytes.")
        envelope = self._connection.envelope(
            self._route.payload_type(role_of(content)),
            payload_id=self._batch_id(name),
            payload=content,
        )
        await before_arrival()  # one request carries and hands over the file
        await self._send(caqh_core_envelope.SUBMIT, envelope, size=len(content))

    async def look(self, name: str) -> Presence:
        require_outgoing_name(name)
        return Presence.UNKNOWN

    async def waiting(self) -> list[IncomingFile]:
        faults: list[Unreachable | Denied] = []
        for role in filter(None, self._route.text("pickups").split(",")):
            try:
                await self._pick_up(role)
            except (Unreachable, Denied) as fault:  # one kind of file does not hold up the others
                faults.append(fault)
        if faults and not self._files:
            raise faults[0]
        return [IncomingFile(name, len(content)) for name, (_, content) in self._files.items()]

    async def take(self, name: str) -> bytes:
        require_incoming_name(name)
        if name not in self._files:
            await self.waiting()
        if name not in self._files:
            raise Denied("The payer offers no file of that name any more.")
        return self._files[name][1]

    async def drop(self, name: str, seen: IncomingFile | None = None) -> None:
        file = self._files.get(require_incoming_name(name))
        if file is None:
            return
        if self._route.text("acknowledge") == "receipt":
            kind = self._route.payload_type("receipt")
            await self._send(
                caqh_core_envelope.ACKNOWLEDGE,
                self._connection.envelope(kind, payload_id=file[0]),
                size=0,
            )
        self._dropped.add(name)
        del self._files[name]

    async def close(self) -> None:
        self._files.clear()
        await self._connection.close()

    async def check(self) -> list[ConnectionCheck]:
        """Test the connection; nothing is sent."""
        return await self._connection.check()

    def _batch_id(self, name: str) -> str:
        parties = f"{self._route.text('sender_id')}/{self._route.text('receiver_id')}"
        return str(uuid5(NAMESPACE_URL, f"{BATCH_NAMES}{parties}/{name}"))

    async def _pick_up(self, role: str) -> None:
        """Retrieve files of one kind until there is none, or the same one comes again."""
        operation = (
            caqh_core_envelope.GET_ACKNOWLEDGEMENT
            if role in ACKNOWLEDGEMENTS
            else caqh_core_envelope.GET_RESULTS
        )
        for _ in range(PICKUPS_AT_ONCE_MAX):
            asked = self._connection.envelope(self._route.payload_type(PICKUP_PREFIX + role))
            got = await self._send(operation, asked, size=0)
            if got is None or got.payload is None or "NoBatch" in got.payload_type:
                return
            name = _file_name(role, got)
            kept_bytes = sum(len(content) for _, content in self._files.values())
            if name in self._files or name in self._dropped or kept_bytes > self._bytes_max:
                return
            self._files[name] = (got.payload_id, got.payload)

    async def _send(
        self, operation: CoreOperation, envelope: CoreEnvelope, *, size: int
    ) -> CoreEnvelope | None:
        """Send an envelope and return the answer's; None if HTTP 202 alone confirmed the batch."""
        silence = self._route.number("seconds_max")
        seconds = silence + size / limits.TRANSFER_BYTES_PER_SECOND_MIN
        # Base64 makes three bytes four, and lines of it a few more.
        response_bytes_max = self._bytes_max * 3 // 2 + ENVELOPE_BYTES_MAX
        try:
            answer = await self._connection.send(
                operation, envelope, seconds=seconds, bytes_max=response_bytes_max
            )
        except TimeoutError:
            raise Unreachable(f"The payer did not answer in {seconds:.0f} seconds.") from None
        if answer.status == 202 and not answer.body.strip():
            return None
        try:
            got = await asyncio.to_thread(caqh_core_envelope.read, answer.content_type, answer.body)
        except UnreadableEnvelope as garbled:
            raise _http_fault(answer, str(garbled)) from None
        if got.error_code and got.error_code != caqh_core_envelope.SUCCESS:
            raise _envelope_fault(got)
        if answer.status not in SUCCESS_STATUS:
            raise _http_fault(answer, "")
        return got


class CoreRealtime:
    """The CORE real-time connection."""

    def __init__(self, connection: CoreConnection) -> None:
        self._connection = connection

    async def ask(self, payload: bytes, *, payload_type: str, seconds: float) -> Reply:
        """Send one interchange and return the reply. ``payload_type`` may also be a role such as ``270``."""
        route = self._connection.route
        kind = route.payload_type(payload_type) if payload_type in PAYLOAD_TYPES else payload_type
        envelope = self._connection.envelope(kind, payload=payload)
        most = min(REALTIME_BYTES_MAX, route.number("bytes_max")) * 3 // 2
        try:
            answer = await self._connection.send(
                caqh_core_envelope.REALTIME,
                envelope,
                seconds=min(seconds, limits.REALTIME_SECONDS_MAX),
                bytes_max=most + ENVELOPE_BYTES_MAX,
            )
        except TimeoutError:
            return Reply(RealtimeResult.TIMEOUT, message="The payer did not answer in time.")
        return await asyncio.to_thread(_reply, answer, payload)

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    async def check(self) -> list[ConnectionCheck]:
        """Test the connection; nothing is sent."""
        return await self._connection.check()


def role_of(content: bytes) -> str:
    """Return the role of a file by its first GS08; raise Denied if CORE has none."""
    text = content[:4_000].decode("latin-1")
    if text.startswith("ISA") and len(text) > 106:
        for segment in text.split(text[105]):
            elements = segment.strip().split(text[3])
            if elements[0] == "GS" and len(elements) > 8 and elements[8][:10] in ROLES:
                return ROLES[elements[8][:10]]
    raise Denied("CORE has no payload type for this kind of file.")


def _reply(answer: CoreHttpResponse, asked: bytes) -> Reply:
    try:
        got = caqh_core_envelope.read(answer.content_type, answer.body)
    except UnreadableEnvelope as garbled:
        if answer.status != 200:
            return Reply(
                RealtimeResult.HTTP, code=str(answer.status), message=f"http {answer.status}"
            )
        return Reply(RealtimeResult.ENVELOPE, code="Garbled", message=str(garbled))
    if got.error_code and got.error_code != caqh_core_envelope.SUCCESS:
        busy = got.error_code.lower() in BUSY_CODES
        return Reply(
            RealtimeResult.BUSY if busy else RealtimeResult.ENVELOPE,
            payload_type=_code(got.payload_type),
            code=_code(got.error_code),
            message=safe_message(got.error_message, asked),
        )
    if answer.status != 200:
        return Reply(RealtimeResult.HTTP, code=str(answer.status), message=f"http {answer.status}")
    if got.payload is None:
        return Reply(RealtimeResult.ENVELOPE, code="NoPayload", message="The envelope is empty.")
    return Reply(
        RealtimeResult.ANSWERED, got.payload, _code(got.payload_type), _code(got.error_code)
    )


def safe_message(message: str, asked: bytes) -> str:
    """Return an envelope's message, shortened; withheld when it repeats anything of the request."""
    text = "".join(c if c.isprintable() else " " for c in message)
    short = " ".join(text.split())[:ENVELOPE_TEXT_CHARACTERS_MAX]
    _, _, inside = asked.decode("latin-1").partition("BHT")
    sent_words = {
        word
        for word in re.findall(r"\w{3,}", inside.upper())
        if not word.isalpha() or len(word) > 3
    }
    if sent_words & set(re.findall(r"\w{3,}", text.upper())):
        return "(withheld: it quotes the request)"
    return short


def _http_fault(answer: CoreHttpResponse, why: str) -> Unreachable | Denied:
    if answer.status in SUCCESS_STATUS:
        return Unreachable(why)
    message = f"The payer answered with http {answer.status}."
    if answer.status in BUSY_STATUS:
        return Unreachable(message, Presence.ABSENT)
    return Denied(message) if 300 <= answer.status < 500 else Unreachable(message)


def _envelope_fault(got: CoreEnvelope) -> Unreachable | Denied:
    code = _code(got.error_code)
    if code.lower() in BUSY_CODES:
        return Unreachable(f"The payer is busy: {code}.", Presence.ABSENT)
    if got.fault and code.lower() in PAYER_FAULT_CODES:
        return Unreachable(f"The payer's service failed: {code}.")
    return Denied(f"The payer refused the envelope: {code}.")


def _code(text: str) -> str:
    """Return a code of the envelope if it is plain enough for a message."""
    return text if re.fullmatch(r"[A-Za-z0-9_.:-]{0,100}", text, re.ASCII) else "unreadable"


def _file_name(role: str, got: CoreEnvelope) -> str:
    content = hashlib.sha256(got.payload or b"").hexdigest()[:24]
    id = re.sub(r"[^A-Za-z0-9-]", "", got.payload_id)[:60]
    return f"{role}-{id}-{content}.x12" if id else f"{role}-{content}.x12"
