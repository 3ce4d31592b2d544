"""Identifier types, and functions that make new random identifiers."""

import secrets
import threading
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import NewType

from clearlane.kernel.clock import from_micros, to_micros

VendorId = NewType("VendorId", int)
SiteId = NewType("SiteId", int)
RequestId = NewType("RequestId", str)
DocumentId = NewType("DocumentId", str)

NO_VENDOR = VendorId(0)
"""Owner of keyed hashes and sealed values that belong to the installation and to no vendor."""

LETTERS_AND_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# No I, O and U: read aloud or copied by hand, an id stays what it is.
NUMBER_DIGITS = "0123456789ABCDEFGHJKLMNPQRSTVWXYZ"
_DIGIT_PAIRS = tuple(first + second for first in NUMBER_DIGITS for second in NUMBER_DIGITS)
NUMBER_TIME_DIGITS, NUMBER_RANDOM_DIGITS, NUMBER_RANDOM_BYTES = 9, 9, 8


@dataclass(frozen=True, slots=True)
class Scope:
    """The vendor and site whose rows a store call may touch. Every call on client rows takes one."""

    vendor: VendorId
    site: SiteId


@dataclass(frozen=True, slots=True)
class VendorScope:
    """The sites of one vendor whose rows a store call may read together. A change names one site: a :class:`Scope`."""

    vendor: VendorId
    sites: tuple[SiteId, ...]


def random_text(characters: int) -> str:
    """Return unguessable letters and digits: 5.95 bits each, so 24 of them carry 142 bits."""
    return "".join(secrets.choice(LETTERS_AND_DIGITS) for _ in range(characters))


class _Entropy(threading.local):
    """Random bytes of the system, fetched in blocks.

    A fetch releases the interpreter lock, and a busy thread may then delay us far longer than the fetch takes.
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
    """Return unguessable bytes, each block given out once: for nonces and ids that are made by the thousand."""
    return _entropy.take(count)


def new_number(now: datetime, *, letter: str = "C") -> str:
    """Return a new number of 19 characters, for a claim unless another letter is given: a letter, the time, random digits.

    The time comes first, so that rows lie in the order in which they were made.
    """
    number = int.from_bytes(random_bytes(NUMBER_RANDOM_BYTES), "big")
    time = _time_digits(to_micros(now) // 1_000)
    return f"{letter}{time}{format_digits(number, NUMBER_RANDOM_DIGITS)}"


def first_number(moment: datetime, *, letter: str = "C") -> str:
    """Return a text that sorts before every number made at this moment or later, and after those made before it."""
    return f"{letter}{_time_digits(to_micros(moment) // 1_000)}"


def number_moment(number: str) -> datetime:
    """Return the moment at which a number was made."""
    return from_micros(parse_digits(number[1 : 1 + NUMBER_TIME_DIGITS]) * 1_000)


@lru_cache(maxsize=8)  # all claims of a document have the same time
def _time_digits(milliseconds: int) -> str:
    return format_digits(milliseconds, NUMBER_TIME_DIGITS)


def format_digits(number: int, count: int) -> str:
    """Return a number in a fixed count of the digits that ids have, so that texts sort as the numbers do."""
    found, base = "", len(_DIGIT_PAIRS)
    for _ in range((count + 1) // 2):  # two digits at a time: every claim has a number
        number, pair = divmod(number, base)
        found = _DIGIT_PAIRS[pair] + found
    return found[-count:]


def parse_digits(text: str) -> int:
    """Return the number that digits of an id represent; raise ValueError if one is not such a digit."""
    number = 0
    for digit in text:
        number = number * len(NUMBER_DIGITS) + NUMBER_DIGITS.index(digit)
    return number
