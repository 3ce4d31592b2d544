"""Files that only their owner may read: written with mode 0600, atomically and durably."""

import contextlib
import os
import tempfile
from pathlib import Path


def write_private(file: Path, content: bytes, *, over: bool = True) -> None:
    """Write a file of mode 0600 atomically: a reader finds the old content or the new, never a part.

    With ``over=False`` an existing file is left alone and FileExistsError is raised.
    """
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # mkstemp makes 0600
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        if over:
            os.replace(name, file)  # noqa: PTH105
        else:
            os.link(name, file)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)  # noqa: PTH108
    sync_directory(file.parent)


def sync_directory(directory: Path) -> None:
    """Make a rename or a new name in this directory durable."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
