"""Judge a JSON text before any parser sees it: UTF-8, nesting, numbers beyond every range.

Bytes in, a verdict or nothing out, whatever the chunking. A parser that recurses would have to
survive hostile nesting first; this scan is linear, keeps a few bytes, and stops at the first fault.
"""

import codecs
import re
from itertools import accumulate

from clearlane.kernel import limits


class Unreadable(ValueError):
    """The text cannot be a document. The sentence says why and holds nothing of the text."""


NOT_UTF8 = "The body is not UTF-8 text."
TOO_DEEP = f"The body is nested deeper than {limits.JSON_DEPTH_MAX} levels."
TOO_BIG_A_NUMBER = "The body has a number that is out of range."

# Everything but brackets and quotes goes, in one pass of C.
_DULL = bytes(set(range(256)) - set(b'[]{}"'))
_STEP = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
# Digits look alike, plus signs and dots are gone: then an exponent of three digits is one search.
_NUMBERS = bytes(
    ord("0") if c in b"0123456789" else ord("e") if c in b"eE" else ord(" ") for c in range(256)
)
_BIG_EXPONENT_SHAPE = b"0e000"
# 1.8e308 is the largest number that every parser can hold.
_BIG_EXPONENT = re.compile(rb"[0-9.][eE]\+?0*(?:[1-9][0-9]{3,}|[4-9][0-9]{2}|3[1-9][0-9]|309)")
_STRING = re.compile(rb'"[^"]*(?:"|$)')
_NUMBER_TAIL = re.compile(rb"[0-9eE+.-]{1,64}$")


def judge(text: bytes) -> None:
    """Judge a whole text at once. Most are small, and have fewer brackets than they may have levels."""
    few = text.count(b"[") + text.count(b"{") <= limits.JSON_DEPTH_MAX
    if few and text.isascii() and _BIG_EXPONENT_SHAPE not in text.translate(_NUMBERS, b"+."):
        return
    scan = Scan()
    scan.feed(text)
    scan.finish()


class Scan:
    """Feed it a text piece by piece; it raises :class:`Unreadable` as soon as it knows."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._decoding = False
        self._rest = b""
        self._escaped = False
        self._in_string = False
        self._depth = 0

    def feed(self, chunk: bytes) -> None:
        """Judge the next piece."""
        self._check_utf8(chunk, final=False)
        chunk = self._rest + chunk
        tail = _NUMBER_TAIL.search(chunk, max(0, len(chunk) - 64))
        cut = tail.start() if tail else len(chunk)
        self._rest = chunk[cut:]
        self._scan(chunk[:cut])

    def finish(self) -> None:
        """Judge what the end of the text leaves over."""
        self._check_utf8(b"", final=True)
        self._scan(self._rest)
        self._rest = b""

    def _check_utf8(self, chunk: bytes, *, final: bool) -> None:
        if not self._decoding and chunk.isascii():
            return
        self._decoding = True
        try:
            self._decoder.decode(chunk, final)
        except UnicodeDecodeError:
            raise Unreadable(NOT_UTF8) from None

    def _scan(self, chunk: bytes) -> None:
        chunk = self._without_escapes(chunk)
        opened = b'"' if self._in_string else b""
        skeleton = opened + chunk.translate(None, _DULL)
        self._in_string = skeleton.count(b'"') % 2 == 1
        # Neighbouring quotes close and open strings with nothing outside between them.
        skeleton = skeleton.replace(b'""', b"")
        self._descend(_STRING.sub(b"", skeleton) if b'"' in skeleton else skeleton)
        if _BIG_EXPONENT_SHAPE in chunk.translate(_NUMBERS, b"+.") and _BIG_EXPONENT.search(
            _STRING.sub(b"", opened + chunk)
        ):
            raise Unreadable(TOO_BIG_A_NUMBER)

    def _without_escapes(self, chunk: bytes) -> bytes:
        """The text without escaped quotes and backslashes, so that every quote left is a real one."""
        if self._escaped and chunk:
            chunk, self._escaped = chunk[1:], False
        if b"\\" not in chunk:
            return chunk
        chunk = chunk.replace(b"\\\\", b"")
        if chunk.endswith(b"\\"):
            chunk, self._escaped = chunk[:-1], True
        return chunk.replace(b'\\"', b"")

    def _descend(self, brackets: bytes) -> None:
        steps = memoryview(brackets.translate(_STEP)).cast("b")
        levels = list(accumulate(steps, initial=self._depth))
        if max(levels) > limits.JSON_DEPTH_MAX:
            raise Unreadable(TOO_DEEP)
        # A text that closes more than it opened is no JSON: the parser says so later.
        self._depth = levels[-1]
