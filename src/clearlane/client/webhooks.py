"""Verify webhooks in a vendor's program (Standard Webhooks, ``v1``).

::

    event = webhooks.verify(request.body, request.headers, secret)

Verify the body as it came, byte by byte, before anything reads it. A webhook may come more than once: remember the ids
of events, or the ``sequence`` of each claim.
"""

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping, Sequence

import msgspec

from clearlane.client import limits
from clearlane.client.errors import SignatureRefused
from clearlane.client.events import Event, read_event

PREFIX = "whsec_"
VERSION = "v1"


def verify(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    now: float | None = None,
) -> Event:
    """Return the event of a webhook; raise :class:`SignatureRefused` if it is not from Clearlane or too old.

    ``secret`` may be several while a secret is rotated. ``now`` is the time in seconds, by default that of this machine.
    """
    content = body.encode() if isinstance(body, str) else bytes(body)
    given = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, timestamp = given["webhook-id"], given["webhook-timestamp"]
        signatures = given["webhook-signature"].split()
    except KeyError as missing:
        raise SignatureRefused(f"The header {missing} is missing.") from None
    _check_age(timestamp, time.time() if now is None else now)
    signed = f"{message_id}.{timestamp}.".encode() + content
    secrets = [secret] if isinstance(secret, str) else list(secret)
    expected = [_signature(one, signed) for one in secrets]
    if not any(hmac.compare_digest(one, each) for one in expected for each in signatures):
        raise SignatureRefused("No signature is that of the secret.")
    try:
        return read_event(msgspec.json.decode(content))
    except (msgspec.MsgspecError, TypeError):
        raise SignatureRefused("The body is signed but holds no event.") from None


def _check_age(timestamp: str, now: float) -> None:
    try:
        age = now - int(timestamp)
    except ValueError:
        raise SignatureRefused("webhook-timestamp is not a number.") from None
    if abs(age) > limits.WEBHOOK_TOLERANCE_SECONDS:
        raise SignatureRefused("The webhook is too old, or the clock of this machine is wrong.")


def _signature(secret: str, signed: bytes) -> str:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(
            f"The secret is not a secret of a webhook: it begins with {PREFIX}."
        ) from None
    return f"{VERSION},{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}"
