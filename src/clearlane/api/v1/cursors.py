"""Cursors of lists: an opaque text that says where a page ended. It names positions, never rights.

encode_cursor("claims", "C0123")          # what a page gives as `next`
decode_cursor("claims", text, parts=1)    # ["C0123"], or a ParameterFault
cursor_number("17")                       # 17, for parts that are numbers
"""

import base64
import binascii

import msgspec

from clearlane.api.frame.errors import ParameterFault

CURSOR_CHARACTERS_MAX = 400
NUMBER_DIGITS_MAX = 18
CURSOR_EXPECTED = "Pass the `next` of the page before, as it came, to the same list."


def encode_cursor(of_list: str, *parts: str) -> str:
    """Return the cursor of a list whose page ended at this position."""
    packed = msgspec.json.encode([of_list, *parts])
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def decode_cursor(of_list: str, text: str, *, parts: int) -> list[str]:
    """Return the position that a cursor of this list holds."""
    if len(text) > CURSOR_CHARACTERS_MAX:
        raise ParameterFault(CURSOR_EXPECTED)
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        name, *found = msgspec.json.decode(packed, type=list[str])
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise ParameterFault(CURSOR_EXPECTED) from None
    if name != of_list or len(found) != parts or not all(each.isprintable() for each in found):
        raise ParameterFault(CURSOR_EXPECTED)
    return found


def cursor_number(part: str, digits_max: int = NUMBER_DIGITS_MAX) -> int:
    """Return a part of a cursor that is a number."""
    if not (part.isascii() and part.isdecimal() and len(part) <= digits_max):
        raise ParameterFault(CURSOR_EXPECTED)
    return int(part)
