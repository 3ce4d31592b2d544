"""Check file names: those under which files are sent, and those of files to collect.

A payer may call its files anything, so a file to collect is known here under an escaped name, from which the payer's own
is found again. Knows no connection.
"""

import os
import re

from clearlane.connect.port import Denied
from clearlane.kernel import limits
from clearlane.payers.name_patterns import UNFINISHED_SUFFIXES

# The longest name that file systems have; escaped, each byte of it may take three characters.
INCOMING_NAME_BYTES_MAX = 255
INCOMING_NAME_CHARACTERS_MAX = 3 * INCOMING_NAME_BYTES_MAX

_OUTGOING_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)
_PLAIN_SIGNS = frozenset("._- +=,@()#:")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ +=,@()#:-]*", re.ASCII)
_ESCAPED = re.compile(r"(?:%[0-9A-F]{2})+", re.ASCII)


def require_outgoing_name(name: str) -> str:
    """Return a name if a file may be sent under it on any system; raise Denied otherwise."""
    long = len(name) > limits.FILE_NAME_CHARACTERS_MAX
    if long or not _OUTGOING_NAME.fullmatch(name) or name.lower().endswith(UNFINISHED_SUFFIXES):
        raise Denied(
            "A file is sent under a name of letters, digits, dots, hyphens and underscores."
        )
    return name


def escape_incoming_name(name: str) -> str:
    """Return the name under which a payer's file is known here: safe to print, to store and to type.

    Letters, digits and plain punctuation stay. Everything else, and a hyphen at the start, is written as ``%`` and
    two hexadecimal digits for each of its bytes: control characters, slashes, quotes, signs of a shell, bytes that are no
    UTF-8. A percent sign is one of these, so no two files have one name, and :func:`require_incoming_name` finds the
    payer's own name again.
    """
    if _PLAIN_NAME.fullmatch(name):
        return name
    return "".join(
        sign if (sign.isalnum() or sign in _PLAIN_SIGNS) and (at or sign != "-") else _escaped(sign)
        for at, sign in enumerate(name)
    )


def require_incoming_name(name: str) -> str:
    """Return the payer's own name of a file that is known by this one; raise Denied if none can be collected."""
    own = _ESCAPED.sub(lambda run: os.fsdecode(bytes.fromhex(run[0].replace("%", ""))), name)
    if not is_incoming_name(own) or escape_incoming_name(own) != name:
        raise Denied(
            "No file of that name can be collected: it is hidden, unfinished, too long or a path."
        )
    return own


def is_odd_name(name: str) -> bool:
    """Return whether a file is never collected because of its name; one still being written will be."""
    return not is_incoming_name(name) and not name.lower().endswith(UNFINISHED_SUFFIXES)


def is_incoming_name(name: str) -> bool:
    """Return whether a payer's file of that name can be collected: it is finished, and stays in its directory."""
    # Hidden files are the server's own, or copies that a program such as rsync has not finished.
    if (
        not name
        or name.startswith(".")
        or "\0" in name
        or name.lower().endswith(UNFINISHED_SUFFIXES)
    ):
        return False
    # A server may list a path instead of a name. A path with steps upwards is never fetched.
    steps = name.split("/")
    inside = not {"", ".", ".."}.intersection(steps)
    return inside and len(os.fsencode(name)) <= INCOMING_NAME_BYTES_MAX


def _escaped(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in os.fsencode(sign))
