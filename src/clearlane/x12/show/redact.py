"""Remove patient and provider data from a file: same structure and lengths, no names, numbers, addresses or notes.

    pieces = redact(source, key)

Everything is replaced except what is known to be harmless: codes, amounts, counts, control numbers. Each text becomes
another of the same shape, letter for letter and digit for digit, by a keyed permutation: equal texts get the same
pseudonym everywhere in the file and different texts different ones, so that what had to agree or to differ still does.
Check digits are recomputed. Dates move back by the same number of whole weeks.

With the same key the same file gives the same result; without the key it cannot be reversed. Knows segments and guides;
knows no randomness: the key is passed in.
"""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import lru_cache
from hashlib import shake_256
from math import prod

from clearlane.kernel import formats
from clearlane.kernel.limits import VALUES_REMEMBERED_MAX
from clearlane.x12 import codes, grammar, tree
from clearlane.x12.reader import reader
from clearlane.x12.show.describe import find_spec, iter_segments
from clearlane.x12.writer.encode import format_day as x12_day
from clearlane.x12.writer.writer import encode_segments

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALPHABETS = {**dict.fromkeys(UPPER, UPPER), **dict.fromkeys(UPPER.lower(), UPPER.lower()),
             **dict.fromkeys("0123456789", "0123456789")}  # fmt: skip
DIGITS = "0123456789"
ROUNDS = 6
SHIFT_WEEKS_MAX = 52
CODE_CHARACTERS_MAX = 3
"""A value of at most this length in a code element is taken for a code."""

# Text elements that hold public codes or belong to the structure: segment, element, and the components
# (0 for a whole element). Element 0 means every element.
_CODES = "2 3 4 5 6"
KEPT_ELEMENTS: dict[str, dict[int, str]] = {
    "ST": {2: "0", 3: "0"}, "SE": {2: "0"}, "HL": {1: "0", 2: "0"}, "LX": {1: "0"},
    "LS": {1: "0"}, "LE": {1: "0"},
    "AK1": {2: "0", 3: "0"}, "AK2": {2: "0", 3: "0"}, "IK3": {1: "0", 3: "0"},
    "CTX": {1: "1", 2: "0", 4: "0", 6: "1 2"}, "CL1": {0: "0"}, "CLM": {5: "1"},
    "CLP": {8: "0", 9: "0", 11: "0"}, "DN1": {4: "0"}, "DN2": {1: "0"}, "TOO": {2: "0", 3: "1 2 3 4 5"},
    "EB": {13: "1 2 3 4 5 6 8"}, "EQ": {2: "1 2 3 4 5 6"}, "FRM": {1: "0"},
    "HCP": {6: "0", 8: "0", 10: "0"}, "HI": dict.fromkeys(range(1, 13), "2"), "III": {2: "0"},
    "LIN": {3: "0"}, "LQ": {2: "0"}, "MIA": {0: "0"}, "MOA": {0: "0"}, "PRV": {3: "0"},
    "SV1": {1: _CODES, 7: "1 2 3 4"}, "SV2": {1: "0", 2: _CODES},
    "SV3": {1: _CODES, 4: "1 2 3 4 5", 11: "1 2 3 4"}, "SV5": {1: _CODES},
    "SVC": {1: _CODES, 4: "0", 6: _CODES}, "SVD": {3: _CODES, 4: "0"}, "TS3": {2: "0"},
    "GS": {1: "0", 6: "0", 7: "0", 8: "0"}, "GE": {2: "0"}, "IEA": {2: "0"}, "TA1": {1: "0"},
}  # fmt: skip
# Qualifiers of references whose value is a code, a yes or a version.
KEPT_REFERENCES = frozenset({"4N", "BLT", "F2", "F5", "T4"})
# Code elements of the dictionary that reveal where someone lives.
HIDDEN_ELEMENTS = frozenset({("N4", 3), ("N4", 7), ("INS", 14)})
DATE_TYPES = frozenset({"DT", "TP"})
TIMES = frozenset({"TM", "RTM"})
"""Date formats that hold a time of day and no day."""
NUMBER_TYPES = frozenset({"R", "N", "N0", "N2", "TM", "B"})
BANK_ELEMENTS = frozenset({("BPR", 7), ("BPR", 13)})
ROUTING_WEIGHTS = (3, 7, 1, 3, 7, 1, 3, 7, 1)
ISA_HIDDEN = frozenset({2, 4, 6, 8})
ISA_DATE = 9
TEN = 10
YEAR_MIN = 2
KEPT_CHARACTERS_MAX = 12
PIECE_SEGMENTS = 1_000

CODE = re.compile(r"[A-Z0-9.-]+", re.ASCII)
CLIA = re.compile(r"\d{2}D\d{7}", re.ASCII)
ROUTING = re.compile(r"\d{9}", re.ASCII)
SHORT_DAY = re.compile(r"\d{6}", re.ASCII)
DAYS = re.compile(r"\d{8}(?:\d{4,6})?(?:-\d{8}(?:\d{4,6})?)?", re.ASCII)
SEGMENT_ID = re.compile(r"[A-Z][A-Z0-9]{1,2}", re.ASCII)


def redact(source: reader.Source, key: bytes) -> Iterator[bytes]:
    """Yield the redacted file piece by piece; memory stays constant."""
    redaction = Redactor(key)
    pending: list[tree.Segment] = []
    current: tree.Interchange | None = None
    for loop, segment, interchange in iter_segments(source):
        if current is not None and (interchange is not current or len(pending) >= PIECE_SEGMENTS):
            yield encode_segments(pending, current.delimiters)
            pending = []
        current = interchange
        pending.append(redaction.segment(segment, loop.node if loop else None))
    if current is not None:
        yield encode_segments(pending, current.delimiters)


class Redactor:
    """A redactor that replaces equal values equally."""

    def __init__(self, key: bytes) -> None:
        self._pseudonyms = Pseudonyms(key)

    def segment(self, segment: tree.Segment, loop: grammar.LoopSpec | None) -> tree.Segment:
        """Return the segment without identifying values."""
        id = segment[0]
        if id == "ISA":
            return [self._isa(at, text) for at, text in enumerate(segment)]
        node = find_spec(loop, segment)
        elements = node.elements if node else ()
        kept = id if SEGMENT_ID.fullmatch(id) else self._pseudonyms.text(id)
        out = [kept]
        before = ""
        if tree.get_element(segment, 1) in KEPT_REFERENCES and _is_code(segment):
            return segment
        for number, text in enumerate(segment[1:], 1):
            element = elements[number - 1] if number <= len(elements) else None
            is_time = before in TIMES and element is not None and element.type in DATE_TYPES
            out.append(text if is_time else self._element(id, number, text, element))
            before = text
        return out

    def _isa(self, at: int, text: str) -> str:
        if at in ISA_HIDDEN:
            return self._pseudonyms.text(text)
        return self._pseudonyms.days(text) or text if at == ISA_DATE else text

    def _element(self, id: str, number: int, text: str, element: grammar.ElementSpec | None) -> str:
        if not text:
            return text
        return "^".join(self._whole(id, number, one, element) for one in text.split("^"))

    def _whole(self, id: str, number: int, text: str, element: grammar.ElementSpec | None) -> str:
        if element is None or not element.components:
            return self._atom((id, number, 0), text, element)
        parts = element.components
        return ":".join(
            self._atom((id, number, at), one, parts[at - 1] if at <= len(parts) else None)
            for at, one in enumerate(text.split(":"), 1)
        )

    def _atom(
        self, at: tuple[str, int, int], text: str, element: grammar.ElementSpec | None
    ) -> str:
        if element is None:
            return self._pseudonyms.text(text)
        if element.type in DATE_TYPES:
            return self._pseudonyms.days(text) or self._pseudonyms.text(text)
        if at[:2] not in HIDDEN_ELEMENTS and _is_harmless(at, text, element):
            return text
        if at[:2] in BANK_ELEMENTS:
            return self._pseudonyms.bank(text)
        return self._pseudonyms.text(text)


def _is_code(segment: tree.Segment) -> bool:
    """Return whether a reference holds one short code."""
    return segment[0] == "REF" and len(segment) == 3 and CODE.fullmatch(segment[2]) is not None


def _is_harmless(at: tuple[str, int, int], text: str, element: grammar.ElementSpec) -> bool:
    """Return whether a text is a code, a number or part of the structure."""
    text = text.strip()
    if text in element.codes or (element.code_list and text in codes.load(element.code_list)):
        return True
    if element.type in NUMBER_TYPES and formats.parse_money(text) is not None:
        return True
    if len(text) > KEPT_CHARACTERS_MAX or not CODE.fullmatch(text):
        return False
    id, number, component = at
    places = KEPT_ELEMENTS.get(id, {})
    if str(component) in places.get(number, places.get(0, "")).split():
        return True
    return element.type == "ID" and len(text) <= CODE_CHARACTERS_MAX


class Pseudonyms:
    """Keyed pseudonyms of texts."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._weeks = 1 + self._number(b"weeks", SHIFT_WEEKS_MAX)
        self.text = lru_cache(VALUES_REMEMBERED_MAX)(self._text)

    def days(self, text: str) -> str:
        """Return the days in a text moved back; empty if it is not a day, period or moment."""
        if SHORT_DAY.fullmatch(text):
            return self._shift("20" + text)[2:]
        if not DAYS.fullmatch(text):
            return ""
        moved = [self._shift(part) for part in text.split("-")]
        return "-".join(moved) if all(moved) else ""

    def bank(self, text: str) -> str:
        """Return a pseudonym of a bank routing number, with a valid check digit."""
        if not is_routing(text):
            return self.text(text)
        head = self._permute(text[:8])
        return next(head + last for last in DIGITS if is_routing(head + last))

    def _shift(self, text: str) -> str:
        day = formats.parse_x12_date(text[:8])
        if day is None or day.year <= YEAR_MIN:
            return ""
        return x12_day(day - timedelta(weeks=self._weeks)) + text[8:]

    def _text(self, text: str) -> str:
        if formats.is_npi(text):
            head = text[0] + self._permute(text[1:9])
            return next(head + last for last in DIGITS if formats.is_npi(head + last))
        if CLIA.fullmatch(text):
            digits = self._permute(text[:2] + text[3:])
            return digits[:2] + text[2] + digits[2:]
        # Telephone numbers and TRN03 have ten characters; the first of area code and exchange must stay valid.
        if len(text) == TEN and text.isalnum():
            rest = self._permute(text[1:3] + text[4:])
            return text[0] + rest[:2] + text[3] + rest[2:]
        return self._permute(text)

    def _permute(self, text: str) -> str:
        """Return another text of the same shape. No text becomes itself, and no two become the same."""
        positions = [at for at, c in enumerate(text) if c in ALPHABETS]
        out = [c if c.isascii() else "X" for c in text]
        if not positions:
            return "".join(out)
        alphabets = [ALPHABETS[text[at]] for at in positions]
        feistel = _Feistel(self._number, alphabets)
        # encrypt, add one, decrypt: a permutation without a fixed point, so no text stays itself.
        stepped = feistel.decrypt(
            feistel.next(feistel.encrypt(feistel.split([text[at] for at in positions])))
        )
        for at, character in zip(positions, feistel.join(stepped), strict=True):
            out[at] = character
        return "".join(out)

    def _number(self, about: bytes, below: int) -> int:
        size = below.bit_length() // 8 + 9
        return int.from_bytes(shake_256(self._key + about).digest(size)) % below


class _Feistel:
    """A keyed permutation of the texts of one shape, as pairs of numbers.

    A Feistel network with modular addition instead of XOR: it permutes any two ranges of numbers, not only powers of two, so
    the pseudonym of four digits is again four digits.
    """

    def __init__(self, number: Callable[[bytes, int], int], alphabets: list[str]) -> None:
        self._number = number
        self._alphabets = alphabets
        self._middle = len(alphabets) // 2
        self._sizes = (
            prod(map(len, alphabets[: self._middle])),
            prod(map(len, alphabets[self._middle :])),
        )
        self._shape = "".join(alphabet[0] for alphabet in alphabets)

    def split(self, characters: list[str]) -> tuple[int, int]:
        """Return the two halves of a text as numbers in mixed radix."""
        left = _rank(characters[: self._middle], self._alphabets[: self._middle])
        return left, _rank(characters[self._middle :], self._alphabets[self._middle :])

    def join(self, pair: tuple[int, int]) -> list[str]:
        """Return the characters of two numbers; the inverse of ``split``."""
        left = _unrank(pair[0], self._alphabets[: self._middle])
        return left + _unrank(pair[1], self._alphabets[self._middle :])

    def encrypt(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Apply the permutation."""
        left, right = pair
        for at in range(ROUNDS):
            left = (left + self._mix(at, "l", right, self._sizes[0])) % self._sizes[0]
            right = (right + self._mix(at, "r", left, self._sizes[1])) % self._sizes[1]
        return left, right

    def decrypt(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Apply the inverse permutation."""
        left, right = pair
        for at in reversed(range(ROUNDS)):
            right = (right - self._mix(at, "r", left, self._sizes[1])) % self._sizes[1]
            left = (left - self._mix(at, "l", right, self._sizes[0])) % self._sizes[0]
        return left, right

    def next(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return the pair that follows in counting order."""
        left, right = pair
        place = (left * self._sizes[1] + right + 1) % (self._sizes[0] * self._sizes[1])
        return divmod(place, self._sizes[1])

    def _mix(self, at: int, side: str, value: int, below: int) -> int:
        return self._number(f"{at}{side}{self._shape}:{value}".encode(), below)


def _rank(characters: list[str], alphabets: list[str]) -> int:
    rank = 0
    for character, alphabet in zip(characters, alphabets, strict=True):
        rank = rank * len(alphabet) + alphabet.index(character)
    return rank


def _unrank(rank: int, alphabets: list[str]) -> list[str]:
    out = []
    for alphabet in reversed(alphabets):
        rank, at = divmod(rank, len(alphabet))
        out.append(alphabet[at])
    return out[::-1]


def is_routing(text: str) -> bool:
    """Return whether a text is nine digits with the check digit of a US bank routing number."""
    if not ROUTING.fullmatch(text):
        return False
    return sum(int(c) * weight for c, weight in zip(text, ROUTING_WEIGHTS, strict=True)) % 10 == 0
