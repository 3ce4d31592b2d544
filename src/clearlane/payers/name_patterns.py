"""Patterns of file names on a route: how files are called that are sent, and which files are collected.

    outgoing_name("{sender}-{type}-{control}.x12", {"sender": "US", "type": "837P", "control": "000000007"})
    matches_incoming("*.835|*.999", "today.835")

Knows no route and no connection.
"""

import fnmatch
import re
from collections.abc import Mapping

from clearlane.kernel import limits

OUTGOING_DEFAULT = "{sender}-{type}-{control}.x12"
INCOMING_DEFAULT = "*"
SEPARATOR = "|"
INCOMING_PATTERNS_MAX = 20

PLACEHOLDERS: Mapping[str, str] = {
    "sender": "our id (ISA06), letters and digits",
    "receiver": "the payer's id (ISA08), letters and digits",
    "type": "837P, 837D, 837I or 270",
    "control": "the control number, nine digits",
    "date": "the day, YYYYMMDD in UTC",
    "time": "the time, HHMMSS in UTC",
}
# The longest value of a placeholder; ISA06 and ISA08 have 15 places.
PLACEHOLDER_CHARACTERS_MAX = 15
UNIQUE = "control"
"""The placeholder that keeps two files from having one name."""

PARTIAL_SUFFIX = ".part"
"""Suffix of a file that is still being written."""
# How payers may mark a file that is still being written.
UNFINISHED_SUFFIXES = (
    PARTIAL_SUFFIX,
    ".tmp",
    ".temp",
    ".filepart",
    ".partial",
    ".writing",
    ".lock",
)

_PLACEHOLDER = re.compile(r"\{([a-z]*)\}")
_PLAIN = re.compile(r"[A-Za-z0-9._-]*", re.ASCII)


def read_outgoing(text: str) -> str:
    """Read the pattern of names under which files are sent; raise ValueError with what would pass."""
    names = _PLACEHOLDER.findall(text)
    rest = _PLACEHOLDER.sub("", text)
    if not set(names) <= PLACEHOLDERS.keys() or not _PLAIN.fullmatch(rest):
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise ValueError(f"letters, digits, dots, hyphens, underscores and {known}")
    if UNIQUE not in names:
        raise ValueError("a pattern with {control}, so that no two files have one name")
    if text.startswith((".", "-", "_")) or text.lower().endswith(UNFINISHED_SUFFIXES):
        raise ValueError(
            "a name that starts with a letter or digit, and not the ending of an unfinished file"
        )
    if len(rest) + PLACEHOLDER_CHARACTERS_MAX * len(names) > limits.FILE_NAME_CHARACTERS_MAX:
        raise ValueError(f"a name of at most {limits.FILE_NAME_CHARACTERS_MAX} characters")
    return text


def outgoing_name(pattern: str, values: Mapping[str, str]) -> str:
    """Return the name of a file to send, from a pattern that was read."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], pattern)


def read_incoming(text: str) -> str:
    """Read the patterns of files to collect; raise ValueError with what would pass."""
    patterns = [part.strip() for part in text.split(SEPARATOR) if part.strip()]
    good = all(part.isprintable() and not set(part) & {"/", "\\"} for part in patterns)
    if not patterns or not good or len(patterns) > INCOMING_PATTERNS_MAX:
        raise ValueError(
            f"patterns such as *.835 or ERA_*_?.txt, separated by |, at most {INCOMING_PATTERNS_MAX}"
        )
    return SEPARATOR.join(dict.fromkeys(patterns))


def matches_incoming(patterns: str, name: str) -> bool:
    """Return whether a file is one to collect. Capitals and small letters are the same."""
    folded = name.casefold()
    return any(fnmatch.fnmatchcase(folded, each.casefold()) for each in patterns.split(SEPARATOR))
