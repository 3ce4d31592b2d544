"""Signatures of webhooks by the Standard Webhooks specification 1.0 (symmetric, ``v1``).

    sign(secret, message_id="E13LQTH9RNTH", timestamp=1_700_000_000, body=b"{}")      # "v1,K5oZ..."

Knows no clock and no HTTP.
"""

import base64
import hashlib
import hmac
import secrets

SECRET_PREFIX = "whsec_"  # noqa: S105  (the beginning of every secret, no secret)
SECRET_BYTES = 32
VERSION = "v1"
ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER = (
    "webhook-id", "webhook-timestamp", "webhook-signature",
)  # fmt: skip


def new_secret() -> str:
    """Return a new secret of an endpoint, as its owner sees it."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(secret: str, *, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of one message: over its id, the time in seconds, and the body as sent."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.digest(key, signed, hashlib.sha256)
    return f"{VERSION},{base64.b64encode(digest).decode()}"


def signed_headers(
    valid_secrets: list[str], *, message_id: str, timestamp: int, body: bytes
) -> dict[str, str]:
    """Return the headers of a message, signed with every secret that is valid now."""
    signatures = [
        sign(one, message_id=message_id, timestamp=timestamp, body=body) for one in valid_secrets
    ]
    return {
        ID_HEADER: message_id,
        TIMESTAMP_HEADER: str(timestamp),
        SIGNATURE_HEADER: " ".join(signatures),
    }
