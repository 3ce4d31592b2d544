"""An instance of a vendor's software at a client: which texts name one.

Knows no token, no clock and no database.
"""

import re

from clearlane.kernel import limits


def read_instance(text: str) -> str | None:
    """The GUID in the one form that is kept, or None for a text that is none.

    It is written with or without braces and in any case; the groups and their hyphens are the document's.
    """
    found = _GUID.fullmatch(text.strip())
    return (found[1] or found[2]).lower() if found else None


def label(text: str) -> str:
    """An instance's free text as it is kept: visible characters, and no more than a list can show."""
    seen = "".join(letter if letter.isprintable() else " " for letter in text)
    return seen.strip()[: limits.ACCOUNT_NAME_CHARACTERS_MAX]


_GROUPS = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_GUID = re.compile(rf"({_GROUPS})|\{{({_GROUPS})\}}", re.ASCII | re.IGNORECASE)
