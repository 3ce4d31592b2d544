"""Answer a call once: under the same ``Idempotency-Key`` the stored answer is given again.

The answer is sealed, stored in the transaction of what the call changes, and kept for 24 hours: a call that was cut off
has changed nothing and its key is free, or it is answered. A call that was refused changed nothing either. Of calls
under one key at the same time one is carried out, and all get its answer. Knows no endpoint and no version.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Generic, TypeVar

import msgspec
from starlette.responses import Response

from clearlane.api.frame.endpoint import BodyUse, Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.engine import fault_injection
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import VendorScope
from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import Job, Tx
from clearlane.store.installation import idempotent_answers
from clearlane.store.installation.idempotent_answers import (
    ANSWERS_KEPT_HOURS,
    AnswerKey,
    EarlierCall,
    KeyTaken,
)

IDEMPOTENCY_KEY = "idempotency-key"
IDEMPOTENCY_KEY_CHARACTERS_MAX = 255

REPLAYED = "Idempotency-Replayed"
KEY_EXPECTED = f"1 to {IDEMPOTENCY_KEY_CHARACTERS_MAX} printable ASCII characters are expected, such as a UUID."
KEY_REUSED = "This Idempotency-Key came with another call. Give every call a key of its own, and repeat a call unchanged."

T = TypeVar("T")


@shows("status")
class StoredAnswer(msgspec.Struct, frozen=True):
    """The answer to a call, as it is stored."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


class RecordedResponse(Generic[T]):
    """The response to a call that changes something, made and stored in the transaction of the change.

        recorded = RecordedResponse(call, respond)
        await verb(..., extend=recorded.extend)
        return recorded.response

    ``respond`` makes the response from the verb's result; a refusal that it raises undoes the change.
    """

    def __init__(self, call: Call, respond: Callable[[Tx, T], Awaitable[Response]]) -> None:
        self._call = call
        self._respond = respond
        self._response: Response | None = None

    @property
    def response(self) -> Response:
        """The response, once the verb has run."""
        if self._response is None:
            raise LookupError("the verb has not run its transaction")
        return self._response

    def extend(self, job: Job[T]) -> Job[T]:
        """Return a job that also stores the response under the call's key, if it has one."""

        async def run(tx: Tx) -> T:
            key = self._call.answer_key
            if key is not None:
                await idempotent_answers.reserve(tx, key)
            result = await job(tx)
            self._response = await self._respond(tx, result)
            if key is not None:
                fault_injection.crash_point("changed")
                await idempotent_answers.store_answer(
                    tx, key, _seal(self._call, key, self._response)
                )
                self._call.is_answer_stored = True
            return result

        return run


async def answer_once(call: Call) -> Response:
    """Return the answer that is stored under the call's key, or make the call, which stores its answer."""
    key, scope = await _answer_key(call), VendorScope(call.vendor.id, ())
    await call.context.vault.ensure_key(scope)
    is_streamed = call.endpoint.body_use is BodyUse.STREAM
    earlier = None if is_streamed else await _find(call, scope, key)
    if earlier is not None:
        return _replay(call, scope, key, earlier)
    call.answer_key = key
    try:
        response = await call.endpoint.handler(call)
        if not call.is_answer_stored:  # it changed nothing, such as a dry run
            await _store_alone(call, scope, response)
    except (KeyTaken, RequestRefusal):
        # Another call under this key may have been carried out in between; a refusal is then due to that.
        key = call.answer_key  # of a streamed body it was completed by the handler
        stored = await _find(call, scope, key)
        if stored is None:
            raise
        return _replay(call, scope, key, stored)
    return response


async def find_streamed_answer(call: Call, digest: str) -> Response | None:
    """Return the answer to an earlier call with this key and body, once all of a streamed body came; None if there is none.

    Only then it is known whether the call is the same as the earlier one. From here on the key stands for the body too.
    """
    if call.answer_key is None:
        return None
    scope = VendorScope(call.vendor.id, ())
    said = call.context.vault.fingerprint(
        call.vendor.id, "idempotent body", call.answer_key.request_hash, digest
    )
    call.answer_key = call.answer_key._replace(request_hash=said.hex())
    earlier = await _find(call, scope, call.answer_key)
    return _replay(call, scope, call.answer_key, earlier) if earlier is not None else None


async def _answer_key(call: Call) -> AnswerKey:
    """Return the key of a call, with the hash of all that the call says."""
    key = call.headers[IDEMPOTENCY_KEY].strip()
    usable = key.isascii() and key.isprintable() and key
    if not usable or len(key) > IDEMPOTENCY_KEY_CHARACTERS_MAX:
        raise RequestRefusal(call.errors.invalid_fields({"Idempotency-Key": [KEY_EXPECTED]}))
    body = await call.body.read_document() if call.endpoint.body_use is BodyUse.JSON else b""
    hashed = call.context.vault.fingerprint
    # An answer is given again to callers for the same sites only.
    sites = sorted(call.api_key.sites) if call.api_key and call.api_key.sites else None
    site = call.named_site and call.named_site.id
    said = msgspec.json.encode(
        [call.endpoint.name, call.path, call.parameters, site, sites],
        enc_hook=str,
        order="sorted",
    )
    now = call.context.wall.now()
    return AnswerKey(
        hashed(call.vendor.id, "idempotency key", key).hex(),
        hashed(call.vendor.id, "idempotent call", said, body).hex(),
        to_micros(now),
        to_micros(now - timedelta(hours=ANSWERS_KEPT_HOURS)),
    )


async def _find(call: Call, scope: VendorScope, key: AnswerKey) -> EarlierCall | None:
    async with call.context.database.read(scope) as tx:
        found = await idempotent_answers.find(tx, key)
        if found is not None:
            await call.context.vault.load_keys_of(tx, [found.answer])
    return found


async def _store_alone(call: Call, scope: VendorScope, response: Response) -> None:
    """Store the answer of a call that changed nothing."""

    async def respond(tx: Tx, result: None) -> Response:
        return response

    async def nothing(tx: Tx) -> None:
        pass

    job = RecordedResponse(call, respond).extend(nothing)
    await call.context.database.write(scope, job, actor=call.actor)


def _seal(call: Call, key: AnswerKey, response: Response) -> bytes:
    headers = list(response.headers.items())
    answer = StoredAnswer(response.status_code, headers, bytes(response.body))
    return call.context.vault.seal(
        call.vendor.id, idempotent_answers.TABLE, key.key_hash, _PACK.encode(answer)
    )


def _replay(call: Call, scope: VendorScope, key: AnswerKey, earlier: EarlierCall) -> Response:
    if earlier.request_hash != key.request_hash:
        raise RequestRefusal(call.errors.message(422, KEY_REUSED))
    opened = call.context.vault.open(scope, idempotent_answers.TABLE, key.key_hash, earlier.answer)
    answer = _ANSWER.decode(opened)
    return Response(answer.body, answer.status, {**dict(answer.headers), REPLAYED: "true"})


_PACK = msgspec.msgpack.Encoder()
_ANSWER = msgspec.msgpack.Decoder(StoredAnswer)
