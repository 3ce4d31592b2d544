"""``clearlane x12 html``: write a file as one page for a browser."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from clearlane.cli.x12.x12_files import STANDARD, display_name, open_failure, read_or_stop, stop
from clearlane.kernel.limits import CHUNK_BYTES
from clearlane.x12.show.page import UnreadablePageError, write_page
from clearlane.x12.show.redact import Redactor

REDACTED_TITLE = "X12 file, redacted"
"""The title of a redacted page: a file's name may be a patient's."""

OpenFile = Callable[[], Iterator[bytes]]
"""Yields the bytes of a file from its beginning, as often as it is called."""


def write_html(name: str, out: str, *, redact: bool, key: str) -> None:
    """Write the page of a file to the file ``out``, or to standard output if that is empty."""
    if not out and sys.stdout.isatty():
        stop("name the page with -o, or send the output to a file: a terminal shows no page")
    if out and name != STANDARD and os.path.realpath(out) == os.path.realpath(name):
        stop(f"{out}: the page cannot take the place of the file it shows")
    with _reopenable(name, quiet=None if not out else False) as open_file:
        redactor = Redactor(_key(open_file, key)) if redact else None
        title = REDACTED_TITLE if redact else Path(display_name(name)).name
        pieces = write_page(open_file, title=title, redactor=redactor)
        try:
            if out:
                _write_file(Path(out), pieces)
            else:
                _write(sys.stdout.buffer, pieces)
        except UnreadablePageError as error:
            stop(f"{display_name(name)}: {error}")


def _key(open_file: OpenFile, key: str) -> bytes:
    """Return the key of the pseudonyms: the same as that of ``clearlane x12 redact``."""
    digest = sha256(key.encode())
    for chunk in open_file() if not key else ():
        digest.update(chunk)
    return digest.digest()


@contextmanager
def _reopenable(name: str, *, quiet: bool | None) -> Iterator[OpenFile]:
    """Open a file that is read several times. Standard input is kept in a file without a name for that time."""
    if name != STANDARD:
        yield lambda: read_or_stop(name, quiet=quiet)
        return
    with tempfile.TemporaryFile() as kept:
        for chunk in read_or_stop(name, quiet=quiet):
            kept.write(chunk)

        def rewound() -> Iterator[bytes]:
            kept.seek(0)
            while chunk := kept.read(CHUNK_BYTES):
                yield chunk

        yield rewound


def _write_file(path: Path, pieces: Iterable[str]) -> None:
    """Write a page whole or not at all, readable by its owner alone: it may hold patient data."""
    try:
        handle, written = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        stop(f"{path}: it cannot be written: {error.strerror or 'the system gives no reason'}")
    try:
        with os.fdopen(handle, "wb") as file:
            _write(file, pieces)
        Path(written).replace(path)
    except OSError as error:
        stop(f"{path}: {open_failure(error)}")
    finally:
        Path(written).unlink(missing_ok=True)


def _write(file: BinaryIO, pieces: Iterable[str]) -> None:
    file.writelines(piece.encode() for piece in pieces)
