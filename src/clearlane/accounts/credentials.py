"""Vendor credentials: password hashing, and the Basic header that carries them.

A vendor's password is generated, never chosen: its 142 bits and more allow a fast keyed hash where a chosen one
would need a slow one (NIST SP 800-63B, 5.1.2.2, look-up secrets). Knows no vendor, no clock and no database.
"""

import hmac
from binascii import a2b_base64
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

AUTHORIZATION_CHARACTERS_MAX = 1_024

HASH_BYTES = 32


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a vendor needs for a first call. The repr does not show the password."""

    vendor_key: str
    password: str | None = field(repr=False)
    """None if only its hash is known."""
    vendor_site_id: str = ""


@dataclass(frozen=True, slots=True)
class SecretHash:
    """The hash of a vendor's password or of an API key. Two are live while a rotation overlaps."""

    hash: bytes = field(repr=False)
    expires_at: datetime | None = None

    def is_live(self, now: datetime) -> bool:
        """Return whether the secret is still accepted."""
        return self.expires_at is None or now < self.expires_at


# Compared with the secret of an unknown caller, so that it takes as long as for a known one. No secret has this hash.
NO_SECRET = (SecretHash(bytes(HASH_BYTES)),)


def matches_secret(secrets: Iterable[SecretHash], digest: bytes, now: datetime) -> bool:
    """Return whether a hash is that of a live secret; all are compared, so that the time says nothing."""
    matches = False
    for secret in secrets:
        matches |= hmac.compare_digest(secret.hash, digest) and secret.is_live(now)
    return matches


def hash_password(pepper: bytes, password: bytes) -> bytes:
    """Return the hash of a password to store: useless without the installation's pepper."""
    keyed = _keyed(pepper).copy()
    keyed.update(password)
    return keyed.digest()


@lru_cache(maxsize=8)
def _keyed(pepper: bytes) -> hmac.HMAC:
    """Return the keyed hash, cached: setting it up costs more than hashing."""
    return hmac.new(pepper, digestmod="sha256")


def read_basic(authorization: str | None) -> tuple[bytes, bytes] | None:
    """Read key and password from a Basic header; None if it is not one (RFC 7617).

    Both stay bytes: keys and passwords are ASCII, which is the same in every encoding that clients use, so
    that decoding cannot fail.
    """
    if authorization is None or len(authorization) > AUTHORIZATION_CHARACTERS_MAX:
        return None
    scheme, _, coded = authorization.strip().partition(" ")
    if scheme.lower() != "basic":
        return None
    coded = coded.strip().rstrip("=")
    try:
        # Some clients leave the padding out; everything else is taken strictly.
        pair = a2b_base64(coded + "=" * (-len(coded) % 4), strict_mode=True)
    except ValueError:  # not ASCII, or not base64
        return None
    key, colon, password = pair.partition(b":")
    return (key, password) if colon else None
