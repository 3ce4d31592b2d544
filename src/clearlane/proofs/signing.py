"""Ed25519 signatures of an installation: its seed is wrapped by the master key, its public key is in every proof.

A struct that carries its own signature has the fields ``key`` and ``signature`` in hexadecimal digits; what is signed is
its compact JSON with an empty signature.
"""

import hashlib
from typing import Any, TypeVar

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_ENCODER = msgspec.json.Encoder()
SignedT = TypeVar("SignedT", bound=msgspec.Struct)
KEY_BYTES, SIGNATURE_BYTES = 32, 64
FINGERPRINT_DIGITS = 32


def public_key_of(seed: bytes) -> bytes:
    """Return the public key of an installation."""
    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


def sign(seed: bytes, content: bytes) -> bytes:
    """Sign content for an installation."""
    return Ed25519PrivateKey.from_private_bytes(seed).sign(content)


def is_signed(public_key: bytes, signature: bytes, content: bytes) -> bool:
    """Return whether a signature of content was made with a key."""
    if len(public_key) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True


def signed_content(signed: msgspec.Struct) -> bytes:
    """Return what the signature in a struct is of."""
    return _ENCODER.encode(msgspec.structs.replace(signed, signature=""))


def with_signature(seed: bytes, unsigned: SignedT) -> SignedT:
    """Return a struct with the installation's public key and its signature."""
    own = msgspec.structs.replace(unsigned, key=public_key_of(seed).hex(), signature="")
    return msgspec.structs.replace(own, signature=sign(seed, signed_content(own)).hex())


def has_signature(signed: Any) -> bool:
    """Return whether the signature in a struct is that of the key that it names."""
    try:
        key, signature = decode_hex(signed.key), decode_hex(signed.signature)
    except ValueError:
        return False
    return is_signed(key, signature, signed_content(signed))


def fingerprint(public_key: bytes) -> str:
    """Return the fingerprint of a public key, by which people compare it: half of its SHA-256, in groups of four."""
    digits = hashlib.sha256(public_key).hexdigest()[:FINGERPRINT_DIGITS]
    return ":".join(digits[at : at + 4] for at in range(0, FINGERPRINT_DIGITS, 4))


def decode_hex(text: str) -> bytes:
    """Return the bytes of hexadecimal digits. Raises ValueError for any other writing of them: each byte of a file counts."""
    found = bytes.fromhex(text)
    if found.hex() != text:
        raise ValueError("not in small hexadecimal digits")
    return found
