"""Where the tests write: in memory where the machine has enough, since most of their waiting is for a disk.

What a test writes is thrown away, so nothing is lost by it. Files, locks and mounts behave alike there;
tests of a full disk and of a failing fsync bring a file system and a library of their own.
"""

import os
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")

# Several times what the whole suite holds at once; a container often has 64 MB.
FREE_BYTES_MIN = 4 * 1024**3


def write_to_memory() -> None:
    """Make memory the place of temporary files, unless TMPDIR names one or there is too little."""
    if "TMPDIR" in os.environ or not has_enough(MEMORY):
        return
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def has_enough(folder: Path) -> bool:
    """Tell whether tests can write much below the folder, and start programs there."""
    if not os.access(folder, os.W_OK):
        return False
    state = os.statvfs(folder)
    may_start_programs = not state.f_flag & os.ST_NOEXEC
    return may_start_programs and state.f_bavail * state.f_frsize >= FREE_BYTES_MIN
