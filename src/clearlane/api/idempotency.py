"""Answer a call once: under the same ``Idempotency-Key`` the stored answer is given again.

The answer is sealed and kept for 24 hours. A call that was refused changed nothing, and a call whose fault left nothing
stored may be sent again: their keys stay free. Knows no endpoint and no version.
"""

from datetime import timedelta
from functools import partial

import msgspec
from starlette.responses import Response

from clearlane.api.endpoint import BodyUse, Call
from clearlane.api.errors import RequestRefusal
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import VendorScope
from clearlane.store import idempotent_answers as store
from clearlane.store.database import CommitOutcomeUnknown
from clearlane.store.idempotent_answers import EarlierCall

IDEMPOTENCY_KEY = "idempotency-key"
IDEMPOTENCY_KEY_CHARACTERS_MAX = 255
ANSWERS_KEPT_HOURS = 24
# Longer than any call that changes something may run: after it the call was cut off.
CALL_SECONDS_MAX = 120

REPLAYED = "Idempotency-Replayed"
KEY_EXPECTED = f"1 to {IDEMPOTENCY_KEY_CHARACTERS_MAX} printable ASCII characters are expected, such as a UUID."
KEY_REUSED = "This Idempotency-Key came with another call. Give every call a key of its own, and repeat a call unchanged."
STILL_RUNNING = "The call with this Idempotency-Key is still running. Repeat it in a moment."


class StoredAnswer(msgspec.Struct, frozen=True):
    """The answer to a call, as it is stored."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def __repr__(self) -> str:
        return f"StoredAnswer({self.status})"


async def answer_once(call: Call) -> Response:
    """Return the answer that is stored under the call's key, or make the call and store its answer."""
    key_hash, request_hash = await _hashes(call)
    context, scope = call.context, VendorScope(call.vendor.id, ())
    now = context.wall.now()
    started_at = to_micros(now)
    begin = partial(
        store.begin,
        key_hash=key_hash,
        request_hash=request_hash,
        now=started_at,
        given_up_before=to_micros(now - timedelta(seconds=CALL_SECONDS_MAX)),
        expired_before=to_micros(now - timedelta(hours=ANSWERS_KEPT_HOURS)),
    )
    await context.vault.ensure_key(scope)
    earlier = await context.database.write(scope, begin, actor=call.actor)
    if earlier is not None:
        return await _replay(call, scope, key_hash, request_hash, earlier)
    try:
        response = await call.endpoint.handler(call)
    except CommitOutcomeUnknown:  # it may be stored: the key must not run it again at once
        raise
    except BaseException:
        await context.database.write(
            scope, partial(store.forget, key_hash=key_hash, started_at=started_at), actor=call.actor
        )
        raise
    answer = StoredAnswer(
        response.status_code, list(response.headers.items()), bytes(response.body)
    )
    sealed = context.vault.seal(scope, store.TABLE, key_hash, _PACK.encode(answer))
    await context.database.write(
        scope,
        partial(store.finish, key_hash=key_hash, started_at=started_at, answer=sealed),
        actor=call.actor,
    )
    return response


async def _hashes(call: Call) -> tuple[str, str]:
    """Return the keyed hashes of the key, and of the call with all that it says."""
    key = call.headers[IDEMPOTENCY_KEY].strip()
    usable = key.isascii() and key.isprintable() and key
    if not usable or len(key) > IDEMPOTENCY_KEY_CHARACTERS_MAX:
        raise RequestRefusal(call.errors.invalid_fields({"Idempotency-Key": [KEY_EXPECTED]}))
    body = await call.body.read_document() if call.endpoint.body_use is BodyUse.JSON else b""
    hashed = call.context.vault.fingerprint
    said = msgspec.json.encode(
        [call.endpoint.name, call.path, call.parameters, call.named_site and call.named_site.id],
        enc_hook=str,
        order="sorted",
    )
    return (
        hashed(call.vendor.id, "idempotency key", key).hex(),
        hashed(call.vendor.id, "idempotent call", said, body).hex(),
    )


async def _replay(
    call: Call, scope: VendorScope, key_hash: str, request_hash: str, earlier: EarlierCall
) -> Response:
    if earlier.request_hash != request_hash:
        raise RequestRefusal(call.errors.message(422, KEY_REUSED))
    if earlier.answer is None:
        wait = {"Retry-After": str(limits.RETRY_SECONDS)}
        raise RequestRefusal(call.errors.message(409, STILL_RUNNING, wait))
    vault = call.context.vault
    async with call.context.database.read(scope) as tx:
        await vault.load_keys_of(tx, [earlier.answer])
    answer = _ANSWER.decode(vault.open(scope, store.TABLE, key_hash, earlier.answer))
    return Response(answer.body, answer.status, {**dict(answer.headers), REPLAYED: "true"})


_PACK = msgspec.msgpack.Encoder()
_ANSWER = msgspec.msgpack.Decoder(StoredAnswer)
