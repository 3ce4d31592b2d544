"""Check a JSON text before it is parsed: UTF-8, nesting depth, numbers out of range.

Protects recursive parsers from hostile nesting. The scan is linear, works on chunks of any size, keeps a
few bytes and stops at the first fault. Knows no document.
"""

import codecs
import re
from itertools import accumulate

JSON_DEPTH_MAX = 64


class UnreadableJson(ValueError):
    """A text that cannot be parsed safely. The message does not quote the text."""


NOT_UTF8 = "The body is not UTF-8 text."
TOO_DEEP = f"The body is nested deeper than {JSON_DEPTH_MAX} levels."
NUMBER_OUT_OF_RANGE = "The body has a number that is out of range."

# Bytes that do not change the nesting depth: bytes.translate() deletes them in one pass of C.
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
# Opening brackets become +1, closing ones -1 (as signed bytes), so that a running sum is the depth.
_STEP = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
# All digits become 0, both e become one, plus signs and dots are deleted: an exponent of three digits
# is then found by one substring search.
_NUMBERS = bytes(
    ord("0") if c in b"0123456789" else ord("e") if c in b"eE" else ord(" ") for c in range(256)
)
_BIG_EXPONENT_SHAPE = b"0e000"
# 1.8e308 is the largest number that every parser can hold.
_BIG_EXPONENT = re.compile(rb"[0-9.][eE]\+?0*(?:[1-9][0-9]{3,}|[4-9][0-9]{2}|3[1-9][0-9]|309)")
_STRING = re.compile(rb'"[^"]*(?:"|$)')
_NUMBER_TAIL = re.compile(rb"[0-9eE+.-]{1,64}$")


def check_json(text: bytes) -> None:
    """Check a whole text; raise :class:`UnreadableJson` if it must not be parsed.

    Fast path: a text with no more opening brackets than allowed levels cannot be nested too deep.
    """
    few = text.count(b"[") + text.count(b"{") <= JSON_DEPTH_MAX
    if few and text.isascii() and _BIG_EXPONENT_SHAPE not in text.translate(_NUMBERS, b"+."):
        return
    scanner = JsonScanner()
    scanner.feed(text)
    scanner.finish()


class JsonScanner:
    """Checks a text chunk by chunk; raises :class:`UnreadableJson` at the first fault."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._decoding = False
        self._rest = b""
        self._escaped = False
        self._in_string = False
        self._depth = 0

    def feed(self, chunk: bytes) -> None:
        """Check the next chunk."""
        self._check_utf8(chunk, final=False)
        chunk = self._rest + chunk
        # A number may continue in the next chunk: keep the tail that could belong to one.
        tail = _NUMBER_TAIL.search(chunk, max(0, len(chunk) - 64))
        cut = tail.start() if tail else len(chunk)
        self._rest = chunk[cut:]
        self._scan(chunk[:cut])

    def finish(self) -> None:
        """Check what is left at the end of the text."""
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
            raise UnreadableJson(NOT_UTF8) from None

    def _scan(self, chunk: bytes) -> None:
        chunk = self._without_escapes(chunk)
        open_quote = b'"' if self._in_string else b""
        skeleton = open_quote + chunk.translate(None, _NOT_STRUCTURE)
        self._in_string = skeleton.count(b'"') % 2 == 1
        # Neighboring quotes close and open strings with nothing outside between them.
        skeleton = skeleton.replace(b'""', b"")
        self._descend(_STRING.sub(b"", skeleton) if b'"' in skeleton else skeleton)
        if _BIG_EXPONENT_SHAPE in chunk.translate(_NUMBERS, b"+.") and _BIG_EXPONENT.search(
            _STRING.sub(b"", open_quote + chunk)
        ):
            raise UnreadableJson(NUMBER_OUT_OF_RANGE)

    def _without_escapes(self, chunk: bytes) -> bytes:
        """Return the text without escaped quotes and backslashes, so that every quote left is a delimiter."""
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
        if max(levels) > JSON_DEPTH_MAX:
            raise UnreadableJson(TOO_DEEP)
        # A text that closes more than it opened is not JSON: the parser refuses it later.
        self._depth = levels[-1]
