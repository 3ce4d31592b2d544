"""Check file names: those under which files are sent, and those of files to collect.

A name is never a path. Knows no connection.
"""

import re

from clearlane.connect.port import Denied
from clearlane.kernel import limits
from clearlane.payers.name_patterns import UNFINISHED_SUFFIXES

_OUTGOING_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)


def require_outgoing_name(name: str) -> str:
    """Return a name if a file may be sent under it on any system; raise Denied otherwise."""
    long = len(name) > limits.FILE_NAME_CHARACTERS_MAX
    if long or not _OUTGOING_NAME.fullmatch(name) or name.lower().endswith(UNFINISHED_SUFFIXES):
        raise Denied(
            "A file is sent under a name of letters, digits, dots, hyphens and underscores."
        )
    return name


def require_incoming_name(name: str) -> str:
    """Return a payer's file name if it can be collected; raise Denied for paths and unfinished files."""
    if not is_incoming_name(name):
        raise Denied("No file of that name can be collected: it is hidden, unfinished or a path.")
    return name


def is_odd_name(name: str) -> bool:
    """Return whether a file is never collected because of its name; one still being written will be."""
    return not is_incoming_name(name) and not name.lower().endswith(UNFINISHED_SUFFIXES)


def is_incoming_name(name: str) -> bool:
    """Return whether a file of that name can be collected."""
    if not name or len(name) > limits.FILE_NAME_CHARACTERS_MAX or name.startswith("."):
        return False
    plain = name.isprintable() and not set(name) & {"/", "\\"}
    return plain and not name.lower().endswith(UNFINISHED_SUFFIXES)
