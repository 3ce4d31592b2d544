"""CAQH CORE C2.2.0: batches as a mailbox, and one question with its answer.

Knows what the payer's words mean for us. Nothing of an answer is believed before
``core_envelope`` has read it; the https side is in ``core_line``.
"""

import hashlib
import re
from uuid import NAMESPACE_URL, uuid5

from clearlane.connect import caqh_core_envelope as rule
from clearlane.connect.caqh_core_envelope import Envelope, Garbled, Operation
from clearlane.connect.caqh_core_http import Answer, CoreLine
from clearlane.connect.connection_test import Check
from clearlane.connect.file_names import require_ours, require_theirs
from clearlane.connect.port import Denied, Incoming, Outcome, Presence, Reply, Unreachable
from clearlane.kernel import limits
from clearlane.payers.routes import PAYLOAD_TYPES, PICKUP_PREFIX

BATCH_NAMES = "urn:clearlane:core:batch:"

# The sort of file, by the version in its GS08, and so the role of its payload type.
ROLES = {
    "005010X222": "837P",
    "005010X223": "837I",
    "005010X224": "837D",
    "005010X279": "270",
    "005010X212": "276",
    "005010X231": "999",
}
# Acknowledgements have an action of their own; everything else that is asked for is a result.
ACKNOWLEDGEMENTS = frozenset({"999", "TA1"})
# Words of envelopes that ask to come again. The rule names none, so these are the usual ones.
BUSY_CODES = frozenset({
    "busy", "serverbusy", "systembusy", "servicebusy", "systemunavailable", "serviceunavailable",
    "tryagain", "tryagainlater",
})  # fmt: skip
BUSY_STATUS = frozenset({408, 425, 429, 503})
TAKEN_STATUS = frozenset({200, 202})
THEIR_FAULTS = frozenset({"receiver", "server"})


class CoreMailbox:
    """Batches. CORE has no list of files, so what waits is asked for, held, and then taken.

    A batch is sent under an id made from its name, so that the payer can tell a repetition. Whether
    a batch arrived cannot be asked without taking its acknowledgement away, so ``look`` does not know.
    """

    def __init__(self, line: CoreLine) -> None:
        self._line = line
        self._route = line.route
        self._bytes_max = line.route.number("bytes_max")
        self._held: dict[str, tuple[str, bytes]] = {}
        self._dropped: set[str] = set()

    async def put(self, name: str, content: bytes) -> None:
        require_ours(name)
        if len(content) > self._bytes_max:
            raise Denied(f"The file is larger than {self._bytes_max} bytes.")
        envelope = self._line.envelope(
            self._route.payload_type(role_of(content)),
            payload_id=self._batch_id(name),
            payload=content,
        )
        await self._send(rule.SUBMIT, envelope, size=len(content))

    async def look(self, name: str) -> Presence:
        require_ours(name)
        return Presence.UNKNOWN

    async def waiting(self) -> list[Incoming]:
        faults: list[Unreachable | Denied] = []
        for role in filter(None, self._route.text("pickups").split(",")):
            try:
                await self._pick_up(role)
            except (Unreachable, Denied) as fault:  # one sort of file does not hold up the others
                faults.append(fault)
        if faults and not self._held:
            raise faults[0]
        return [Incoming(name, len(content)) for name, (_, content) in self._held.items()]

    async def take(self, name: str) -> bytes:
        require_theirs(name)
        if name not in self._held:
            await self.waiting()
        if name not in self._held:
            raise Denied("The payer gives no file of that name any more.")
        return self._held[name][1]

    async def drop(self, name: str) -> None:
        held = self._held.get(require_theirs(name))
        if held is None:
            return
        if self._route.text("acknowledge") == "receipt":
            kind = self._route.payload_type("receipt")
            await self._send(
                rule.ACKNOWLEDGE, self._line.envelope(kind, payload_id=held[0]), size=0
            )
        self._dropped.add(name)
        del self._held[name]

    async def close(self) -> None:
        self._held.clear()
        await self._line.close()

    async def check(self) -> list[Check]:
        """Try the line; nothing is sent."""
        return await self._line.check()

    def _batch_id(self, name: str) -> str:
        parties = f"{self._route.text('sender_id')}/{self._route.text('receiver_id')}"
        return str(uuid5(NAMESPACE_URL, f"{BATCH_NAMES}{parties}/{name}"))

    async def _pick_up(self, role: str) -> None:
        """Ask for files of one sort until there is none, or the same one comes again."""
        operation = rule.GET_ACKNOWLEDGEMENT if role in ACKNOWLEDGEMENTS else rule.GET_RESULTS
        for _ in range(limits.PICKUPS_AT_ONCE_MAX):
            asked = self._line.envelope(self._route.payload_type(PICKUP_PREFIX + role))
            got = await self._send(operation, asked, size=0)
            if got is None or got.payload is None or "NoBatch" in got.payload_type:
                return
            name = _file_name(role, got)
            held = sum(len(content) for _, content in self._held.values())
            if name in self._held or name in self._dropped or held > self._bytes_max:
                return
            self._held[name] = (got.payload_id, got.payload)

    async def _send(
        self, operation: Operation, envelope: Envelope, *, size: int
    ) -> Envelope | None:
        """The answer's envelope; None where http alone said that the batch was taken."""
        silence = self._route.number("seconds_max")
        seconds = silence + size / limits.TRANSFER_BYTES_PER_SECOND_MIN
        # Base64 makes three bytes four, and lines of it a few more.
        room = self._bytes_max * 3 // 2 + limits.ENVELOPE_BYTES_MAX
        try:
            answer = await self._line.send(operation, envelope, seconds=seconds, bytes_max=room)
        except TimeoutError:
            raise Unreachable(f"The payer did not answer in {seconds:.0f} seconds.") from None
        if answer.status == 202 and not answer.body.strip():
            return None
        try:
            got = rule.read(answer.content_type, answer.body)
        except Garbled as garbled:
            raise _http_fault(answer, str(garbled)) from None
        if got.error_code and got.error_code != rule.SUCCESS:
            raise _envelope_fault(got)
        if answer.status not in TAKEN_STATUS:
            raise _http_fault(answer, "")
        return got


class CoreRealtime:
    """One question, one answer, while somebody waits."""

    def __init__(self, line: CoreLine) -> None:
        self._line = line

    async def ask(self, payload: bytes, *, payload_type: str, seconds: float) -> Reply:
        """Send one interchange. A payload type may also be one of the roles, such as ``270``."""
        route = self._line.route
        kind = route.payload_type(payload_type) if payload_type in PAYLOAD_TYPES else payload_type
        envelope = self._line.envelope(kind, payload=payload)
        most = min(limits.REALTIME_BYTES_MAX, route.number("bytes_max")) * 3 // 2
        try:
            answer = await self._line.send(
                rule.REALTIME,
                envelope,
                seconds=min(seconds, limits.REALTIME_SECONDS_MAX),
                bytes_max=most + limits.ENVELOPE_BYTES_MAX,
            )
        except TimeoutError:
            return Reply(Outcome.TIMEOUT, message="The payer did not answer in time.")
        return _reply(answer, payload)

    async def close(self) -> None:
        """Let go of kept connections."""
        await self._line.close()

    async def check(self) -> list[Check]:
        """Try the line; nothing is sent."""
        return await self._line.check()


def role_of(content: bytes) -> str:
    """Which sort of file this is, by its first GS08."""
    text = content[:4_000].decode("latin-1")
    if text.startswith("ISA") and len(text) > 106:
        for segment in text.split(text[105]):
            elements = segment.strip().split(text[3])
            if elements[0] == "GS" and len(elements) > 8 and elements[8][:10] in ROLES:
                return ROLES[elements[8][:10]]
    raise Denied("CORE has no payload type for this sort of file.")


def _reply(answer: Answer, asked: bytes) -> Reply:
    try:
        got = rule.read(answer.content_type, answer.body)
    except Garbled as garbled:
        if answer.status != 200:
            return Reply(Outcome.HTTP, code=str(answer.status), message=f"http {answer.status}")
        return Reply(Outcome.ENVELOPE, code="Garbled", message=str(garbled))
    if got.error_code and got.error_code != rule.SUCCESS:
        busy = got.error_code.lower() in BUSY_CODES
        return Reply(
            Outcome.BUSY if busy else Outcome.ENVELOPE,
            payload_type=_code(got.payload_type),
            code=_code(got.error_code),
            message=words_of(got.error_message, asked),
        )
    if answer.status != 200:
        return Reply(Outcome.HTTP, code=str(answer.status), message=f"http {answer.status}")
    if got.payload is None:
        return Reply(Outcome.ENVELOPE, code="NoPayload", message="The envelope is empty.")
    return Reply(Outcome.ANSWERED, got.payload, _code(got.payload_type), _code(got.error_code))


def words_of(message: str, asked: bytes) -> str:
    """The envelope's words, short; withheld when they repeat anything of what we asked."""
    words = "".join(c if c.isprintable() else " " for c in message)
    short = " ".join(words.split())[: limits.ENVELOPE_WORDS_CHARACTERS_MAX]
    _, _, inside = asked.decode("latin-1").partition("BHT")
    said = {
        word
        for word in re.findall(r"\w{3,}", inside.upper())
        if not word.isalpha() or len(word) > 3
    }
    if said & set(re.findall(r"\w{3,}", words.upper())):
        return "(withheld: it quotes the question)"
    return short


def _http_fault(answer: Answer, why: str) -> Unreachable | Denied:
    if answer.status in TAKEN_STATUS:
        return Unreachable(why)
    words = f"The payer answered with http {answer.status}."
    if answer.status in BUSY_STATUS:
        return Unreachable(words, Presence.ABSENT)
    return Denied(words) if 300 <= answer.status < 500 else Unreachable(words)


def _envelope_fault(got: Envelope) -> Unreachable | Denied:
    code = _code(got.error_code)
    if code.lower() in BUSY_CODES:
        return Unreachable(f"The payer is busy: {code}.", Presence.ABSENT)
    if got.fault and code.lower() in THEIR_FAULTS:
        return Unreachable(f"The payer's service failed: {code}.")
    return Denied(f"The payer refused the envelope: {code}.")


def _code(text: str) -> str:
    """A code of the envelope, fit for a message; anything else is not repeated."""
    return text if re.fullmatch(r"[A-Za-z0-9_.:-]{0,100}", text, re.ASCII) else "unreadable"


def _file_name(role: str, got: Envelope) -> str:
    content = hashlib.sha256(got.payload or b"").hexdigest()[:24]
    id = re.sub(r"[^A-Za-z0-9-]", "", got.payload_id)[:60]
    return f"{role}-{id}-{content}.x12" if id else f"{role}-{content}.x12"
