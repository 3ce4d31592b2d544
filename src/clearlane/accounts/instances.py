"""Ids and labels of instances of a vendor's software at a client.

Knows no token, no clock and no database.
"""

import re

from clearlane.kernel import limits


def parse_instance_id(text: str) -> str | None:
    """Return a GUID in the one form that is stored, or None for any other text.

    Braces and case do not matter; groups and hyphens must be as the interface document has them.
    """
    found = _GUID.fullmatch(text.strip())
    return (found[1] or found[2]).lower() if found else None


def clean_label(text: str) -> str:
    """Return an instance's free text as it is stored: printable characters, and no more than a list can show."""
    seen = "".join(letter if letter.isprintable() else " " for letter in text)
    return seen.strip()[: limits.ACCOUNT_NAME_CHARACTERS_MAX]


_GROUPS = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_GUID = re.compile(rf"({_GROUPS})|\{{({_GROUPS})\}}", re.ASCII | re.IGNORECASE)
