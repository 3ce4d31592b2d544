"""Watch a folder: send the files that appear in it, and write the files that come back.

A file is sent under a key made of its bytes and name, so that one that was sent right before a crash is stored once. What
comes back is written under a name with its id first and renamed when it is whole: what a crash left is fetched again.
"""

import hashlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

from clearlane.cli.command.client_command import ClientSession, advice
from clearlane.cli.command.output import show_error, show_json_line, show_text

if TYPE_CHECKING:
    from clearlane.client import FileInfo

SENT, RECEIVED = "sent", "received"
UNFINISHED = (".part", ".tmp", ".filepart")
PART = ".part"


def watch_folder(session: ClientSession, folder: Path, *, every: float, once: bool) -> None:
    """Look at a folder again and again; a service that is away for a while is waited for."""
    from clearlane.client import NotReached, RateLimited, Unavailable

    watch = FolderWatch(session, folder)
    while True:
        try:
            watch.look(settled=once)
        except (NotReached, RateLimited, Unavailable) as fault:
            if once:
                raise
            show_error(" ".join(filter(None, (fault.message, advice(fault)))))
        if once:
            return
        time.sleep(every)


class FolderWatch:
    """A folder that is watched, with how its files were seen in the last look."""

    def __init__(self, session: ClientSession, folder: Path) -> None:
        self._session = session
        self._folder = folder
        self._seen: dict[str, tuple[int, int]] = {}
        for name in (SENT, RECEIVED):
            (folder / name).mkdir(exist_ok=True)

    def look(self, *, settled: bool = False) -> None:
        """Send the files that did not change since the last look, and write what came back.

        ``settled`` takes files as they are at the first look.
        """
        seen = {path.name: _shape(path) for path in self._waiting()}
        for name, shape in seen.items():
            if settled or self._seen.get(name) == shape:
                self._send(self._folder / name)
        self._seen = seen
        self._fetch()

    def _waiting(self) -> list[Path]:
        return sorted(
            path
            for path in self._folder.iterdir()
            if path.is_file()
            and not path.name.startswith(".")
            and not path.name.lower().endswith(UNFINISHED)
        )

    def _send(self, path: Path) -> None:
        content = path.read_bytes()
        key = hashlib.sha256(path.name.encode() + b"\0" + content).hexdigest()
        file = self._session.client.files.send(content, name=path.name, channel="cli", key=key)
        path.replace(_free_name(self._folder / SENT, path.name))
        self._say("sent", file)

    def _fetch(self) -> None:
        """Write the files that wait to be fetched, and those that a crash cut off."""
        target, files = self._folder / RECEIVED, self._session.client.files
        for part in target.glob(f".*{PART}"):
            self._write(files.get(part.name.removeprefix(".").removesuffix(PART)))
        waiting = files.find(direction="out", not_fetched=True, site=self._session.site)
        for file in list(waiting):
            self._write(file)

    def _write(self, file: "FileInfo") -> None:
        target = self._folder / RECEIVED
        part = target / f".{file.file_id}{PART}"
        part.touch()  # the mark that it is not whole here, before the service counts it as fetched
        part.write_bytes(self._session.client.files.content(file.file_id))
        part.replace(_free_name(target, Path(file.name).name or file.file_id))
        self._say("received", file)

    def _say(self, act: str, file: "FileInfo") -> None:
        if self._session.as_json:
            show_json_line({"act": act, **file.raw})
        else:
            show_text(f"{act} {file.name} ({file.file_id}, {file.type or 'type not known yet'})")


def _shape(path: Path) -> tuple[int, int]:
    """Return what changes when a file is written to."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _free_name(folder: Path, name: str) -> Path:
    """Return a path that does not exist yet: the name, with a number if it is taken."""
    path, number = folder / name, 1
    while path.exists():
        number += 1
        path = folder / f"{name}.{number}"
    return path
