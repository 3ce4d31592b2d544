"""Identities: each its own type, and how new ones are made."""

import secrets
import threading
from dataclasses import dataclass
from typing import NewType

VendorId = NewType("VendorId", int)
SiteId = NewType("SiteId", int)
RequestId = NewType("RequestId", str)
DocumentId = NewType("DocumentId", str)

LETTERS_AND_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose rows a store call may touch. Every call on client rows takes one."""

    vendor: VendorId
    site: SiteId


def random_text(characters: int) -> str:
    """Unguessable letters and digits: 5.95 bits each, so 24 of them carry 142 bits."""
    return "".join(secrets.choice(LETTERS_AND_DIGITS) for _ in range(characters))


class _Entropy(threading.local):
    """Random bytes of the system, fetched in blocks.

    A fetch lets other threads in, and a busy one may keep us waiting far longer than the fetch takes.
    """

    BLOCK_BYTES = 4_096

    def __init__(self) -> None:
        self._block = b""
        self._at = 0

    def take(self, count: int) -> bytes:
        if self._at + count > len(self._block):
            self._block, self._at = secrets.token_bytes(max(count, self.BLOCK_BYTES)), 0
        taken = self._block[self._at : self._at + count]
        self._at += count
        return taken


_entropy = _Entropy()


def random_bytes(count: int) -> bytes:
    """Unguessable bytes, each given once: for nonces and ids that are made by the thousand."""
    return _entropy.take(count)
