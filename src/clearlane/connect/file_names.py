"""Names of files: which we give, and which of the other side's we touch.

A name is never a path. Knows no connection.
"""

import re

from clearlane.connect.port import Denied
from clearlane.kernel import limits

PART = ".part"
"""The end of a name while its file is still being written."""

# What those who send to us may call a file that is not yet whole.
UNFINISHED = (PART, ".tmp", ".temp", ".filepart", ".partial", ".writing", ".lock")

_OURS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)


def require_ours(name: str) -> str:
    """A name that we may give to a file: plain on every system there is."""
    long = len(name) > limits.FILE_NAME_CHARACTERS_MAX
    if long or not _OURS.fullmatch(name) or name.lower().endswith(UNFINISHED):
        raise Denied(
            "A file is sent under a name of letters, digits, dots, hyphens and underscores."
        )
    return name


def require_theirs(name: str) -> str:
    """A name of a file for us: theirs to choose, as long as it is no path."""
    if not is_theirs(name):
        raise Denied("There is no file for us of that name: it is hidden, unfinished or a path.")
    return name


def is_theirs(name: str) -> bool:
    """Whether a file of that name can be for us."""
    if not name or len(name) > limits.FILE_NAME_CHARACTERS_MAX or name.startswith("."):
        return False
    plain = name.isprintable() and not set(name) & {"/", "\\"}
    return plain and not name.lower().endswith(UNFINISHED)
