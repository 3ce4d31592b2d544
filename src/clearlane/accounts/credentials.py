"""A vendor's password: how it is kept, and how a Basic header carries it.

A password is made by the service, never chosen: its 142 bits and more allow a fast keyed hash
where a chosen one would need a slow one (NIST SP 800-63B, 5.1.2.2, look-up secrets). Knows no
vendor, no clock and no database.
"""

import hmac
from binascii import a2b_base64
from dataclasses import dataclass, field
from functools import lru_cache

from clearlane.kernel import limits

HASH_BYTES = 32


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a vendor needs for a first call. The password never prints by accident."""

    vendor_key: str
    password: str | None = field(repr=False)
    """None where only its hash is known any more."""
    vendor_site_id: str = ""


def hash_password(pepper: bytes, password: bytes) -> bytes:
    """What the database keeps of a password: useless without the installation's pepper."""
    keyed = _keyed(pepper).copy()
    keyed.update(password)
    return keyed.digest()


@lru_cache(maxsize=8)
def _keyed(pepper: bytes) -> hmac.HMAC:
    """The hash with its key taken in: looking for the algorithm anew costs more than the hash."""
    return hmac.new(pepper, digestmod="sha256")


def read_basic(authorization: str | None) -> tuple[bytes, bytes] | None:
    """Key and password of a Basic header, or None for anything that is not one (RFC 7617).

    Both stay bytes: keys and passwords are ASCII, which is the same in every encoding that
    clients use, so nothing needs decoding and nothing can fail to decode.
    """
    if authorization is None or len(authorization) > limits.AUTHORIZATION_CHARACTERS_MAX:
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
