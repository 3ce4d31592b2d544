"""What the name of a schema revision means.

Released revisions are ``r0001``, ``r0002``, ...: one for each release that changes the schema. A revision whose changes do not
disturb programs of an earlier revision names the earliest of them, as in ``r0003.r0002``: an older node reads
there that it may go on, so that nodes can be replaced one after the other.
"""

import re

RELEASED = re.compile(r"r(\d{4})(?:\.r(\d{4}))?")
# Those of development before the first release, which no migration starts from.
UNRELEASED = re.compile(r"000\d|v\d{4}[a-z]?")


def is_unreleased(revision: str) -> bool:
    """Return whether a revision is one of a development version."""
    return UNRELEASED.fullmatch(revision) is not None


def is_supported(revision: str, *, head: str) -> bool:
    """Return whether a newer revision says that a program of revision ``head`` can work with it."""
    newer, own = RELEASED.fullmatch(revision), RELEASED.fullmatch(head)
    if newer is None or own is None or newer[2] is None:
        return False
    return int(newer[2]) <= int(own[1]) < int(newer[1])
