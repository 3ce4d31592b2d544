"""Write a file with patient data: of mode 0600, and there whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from clearlane.cli.command.client_command import usage_error


@contextlib.contextmanager
def private_file(out: Path) -> Iterator[BinaryIO]:
    """Open a file of mode 0600 that gets its name once it is whole."""
    try:
        handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
    except OSError as fault:
        usage_error(f"--out: {out} cannot be written: {fault.strerror}")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(name, out)  # noqa: PTH105
    except OSError as fault:
        usage_error(f"--out: {out} cannot be written: {fault.strerror}")
    finally:
        Path(name).unlink(missing_ok=True)
