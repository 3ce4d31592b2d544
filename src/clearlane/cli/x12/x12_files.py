"""Files of ``clearlane x12``: names, folders and patterns to open, bytes in chunks, and the progress of reading them.

Progress is one line on standard error, only on a terminal: none of it gets into a pipe or a file.
"""

import glob
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, BinaryIO, NamedTuple, NoReturn, TextIO, TypeVar

import typer

from clearlane.cli.command.output import printable
from clearlane.kernel.limits import CHUNK_BYTES

PROGRESS_AFTER_SECONDS = 0.5
PROGRESS_EVERY_SECONDS = 0.2
PROGRESS_NAME_CHARACTERS_MAX = 30
FILES_PER_RUN_MAX = 100_000
BYTES_PER_MB = 1_000_000

T = TypeVar("T")

STANDARD = "-"
FINE, FAULTY, UNREADABLE = 0, 1, 2
"""Exit statuses."""
ERASE_LINE = "\r\x1b[K"
INTERCHANGE_START = b"ISA"
# Messages for files that cannot be opened.
REFUSALS: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file",
    IsADirectoryError: "this is a directory; name the files in it",
    PermissionError: "this user may not read it",
}

Files = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILE", help="Files to read; - or none for standard input."),
]
File = Annotated[
    str, typer.Argument(metavar="FILE", help="The file to read; - or none for standard input.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]


class FileList(NamedTuple):
    """The files that names, folders and patterns select."""

    names: list[str]
    """Each once, in the order named; those of a folder or pattern sorted."""
    left_out: list[str]
    """Files of folders that hold no X12, such as a README."""
    refusals: list[str]
    """A sentence for each folder or pattern without any file."""


def find_files(names: Iterable[str]) -> FileList:
    """Return the files of names, folders (with those in them, hidden files left out) and glob patterns."""
    found: dict[str, None] = {}
    left_out: list[str] = []
    refusals: list[str] = []
    for name in names:
        if name == STANDARD or not (Path(name).is_dir() or _is_pattern(name)):
            found[name] = None
        elif Path(name).is_dir():
            inside = {file: _may_hold_x12(file) for file in _files_in(name)}
            found.update(dict.fromkeys(file for file, fits in inside.items() if fits))
            left_out += (file for file, fits in inside.items() if not fits)
            if not inside:
                refusals.append(f"{name}: there is no file in this folder")
        else:
            matched = sorted(filter(os.path.isfile, glob.iglob(name, recursive=True)))  # noqa: PTH207
            found.update(dict.fromkeys(matched))
            if not matched:
                refusals.append(f"{name}: no file matches this pattern")
        if len(found) > FILES_PER_RUN_MAX:
            stop(f"more than {FILES_PER_RUN_MAX} files: name fewer at a time")
    return FileList(list(found), left_out, refusals)


def _is_pattern(name: str) -> bool:
    """Return whether a name is a glob pattern, and no file that happens to have such characters in its name."""
    return glob.has_magic(name) and not Path(name).exists()


def _files_in(folder: str) -> Iterator[str]:
    """Yield the files below a folder, sorted; links to folders are not followed."""
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            file = os.path.join(path, name)  # noqa: PTH118 - "./a" stays as the caller wrote it
            if not name.startswith(".") and Path(file).is_file():
                yield file


def _may_hold_x12(name: str) -> bool:
    """Return whether a file is empty, unreadable or has an ISA near its beginning: all of these are worth a report."""
    try:
        with Path(name).open("rb") as file:
            head = file.read(CHUNK_BYTES)
    except OSError:
        return True
    return not head or INTERCHANGE_START in head


class ReadProgress:
    """A line on a terminal that shows how far the reading of files has come: files, MB, segments, time left."""

    def __init__(
        self,
        names: Iterable[str],
        *,
        screen: TextIO | None = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Measure the files; ``screen`` is None if there is no terminal, and nothing is written then."""
        sizes = [_size(name) for name in names]
        self.files_total = len(sizes)
        self.bytes_total = sum(filter(None, sizes))
        self._is_known = None not in sizes
        self._screen = screen
        self._seconds = seconds
        self._began = self._written = seconds()
        self._shown = False
        self._name = ""
        self.files = self.bytes = self.segments = 0
        self._segments_before = 0

    def open(self, name: str) -> None:
        """Note the file that is read now."""
        self._name = printable(Path(name).name)[-PROGRESS_NAME_CHARACTERS_MAX:]

    def advance(self, bytes: int, segments: int = 0) -> None:
        """Note bytes that were read, and how many segments of this file there were so far."""
        self.bytes += bytes
        self.segments = self._segments_before + segments
        now = self._seconds()
        since = now - (self._written if self._shown else self._began)
        wait = PROGRESS_EVERY_SECONDS if self._shown else PROGRESS_AFTER_SECONDS
        if self._screen is not None and since >= wait:
            self._shown, self._written = True, now
            # A line that wraps could not be erased.
            width = shutil.get_terminal_size().columns - 1
            self._screen.write(ERASE_LINE + self.line(now - self._began)[:width])
            self._screen.flush()

    def close(self) -> None:
        """Note that a file was read, and erase the line, so that results can be printed."""
        self.files += 1
        self._segments_before = self.segments
        self.erase()

    def erase(self) -> None:
        """Erase the line until the next one is written."""
        if self._shown and self._screen is not None:
            self._screen.write(ERASE_LINE)
            self._screen.flush()

    def line(self, elapsed: float) -> str:
        """Return the line after some seconds of reading."""
        size = megabytes(self.bytes)
        if self._is_known:
            size += f" of {megabytes(self.bytes_total)}"
        parts = [f"{size} MB"]
        if self.files_total > 1:
            parts.insert(0, f"{self.files + 1} of {self.files_total} files")
        if self.segments:
            parts.append(f"{self.segments:,} segments")
        if self._is_known and self.bytes:
            left = elapsed * max(self.bytes_total - self.bytes, 0) / self.bytes
            parts.append(f"{duration(left)} left")
        return "  ".join((*parts, self._name))


def terminal() -> TextIO | None:
    """Return standard error if it is a terminal, else None."""
    return sys.stderr if sys.stderr.isatty() else None


def _size(name: str) -> int | None:
    """Return the bytes of a file; None if they are not known before it is read."""
    path = Path(name)
    try:
        return path.stat().st_size if name != STANDARD and path.is_file() else None
    except OSError:
        return None


def megabytes(bytes: int) -> str:
    """Return a number of bytes in MB with one decimal."""
    return f"{bytes / BYTES_PER_MB:,.1f}"


def duration(seconds: float) -> str:
    """Return seconds as ``m:ss`` or ``h:mm:ss``, rounded up."""
    whole = int(seconds) + (seconds > int(seconds))
    hours, minutes = divmod(whole // 60, 60)
    tail = f"{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
    return f"{hours}:{tail}" if hours else tail


def read_chunks(name: str) -> Iterator[bytes]:
    """Yield the bytes of a file in chunks; raise OSError if it cannot be opened."""
    if name == STANDARD:
        if sys.stdin.isatty():
            typer.echo("Reading standard input; end it with Ctrl-D.", err=True)
        yield from _chunks(sys.stdin.buffer)
        return
    with Path(name).open("rb") as file:
        yield from _chunks(file)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def read_or_stop(name: str, *, quiet: bool | None = None) -> Iterator[bytes]:
    """Yield the bytes of a file; end the command if it cannot be opened.

    Shows progress unless ``quiet``, by default if the output goes elsewhere: on the same terminal it shows it itself.
    """
    quiet = sys.stdout.isatty() if quiet is None else quiet
    progress = ReadProgress([name], screen=None if quiet else terminal())
    progress.open(name)
    try:
        for chunk in read_chunks(name):
            yield chunk
            progress.advance(len(chunk))
    except OSError as error:
        stop(f"{display_name(name)}: {open_failure(error)}")
    finally:
        progress.erase()


def open_failure(error: OSError) -> str:
    """Return why a file cannot be opened."""
    known = next((words for kind, words in REFUSALS.items() if isinstance(error, kind)), "")
    return known or f"it cannot be read: {error.strerror or 'the system gives no reason'}"


def nonempty(name: str, out: Iterable[T]) -> Iterator[T]:
    """Yield items unchanged; end the command if there is none, because the file is not X12."""
    nothing = True
    for one in out:
        nothing = False
        yield one
    if nothing:
        stop(f"{display_name(name)}: cannot be read as X12")


def stop(message: str, status: int = UNREADABLE) -> NoReturn:
    """Print a message and end the command."""
    typer.echo(f"clearlane: {message}", err=True)
    raise typer.Exit(status)


def display_name(name: str) -> str:
    """Return how messages name a file."""
    return "standard input" if name == STANDARD else name
