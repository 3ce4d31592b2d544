"""Copies of checkpoints outside the database, one a line: beside the anchor, and in the anchor's second place.

Whoever holds a copy can tell later whether the log was rewritten. Nothing is ever taken out of one: after a restore, what was
signed before it stays. Knows files; knows no database.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from clearlane.proofs.checkpoint import Checkpoint
from clearlane.store.audit.anchor import Anchor

COPIES_NAME = "proof.checkpoints"
COPY_SUFFIX = ".checkpoints"
LINE_BYTES_MAX = 4_096

_LINE = msgspec.json.Decoder(Checkpoint)


class CheckpointCopies:
    """The files in which a node keeps checkpoints."""

    def __init__(self, anchor: Anchor) -> None:
        self._anchor = anchor
        self.places: list[Path] = [anchor.file.with_name(COPIES_NAME)]
        if anchor.copy is not None:
            self.places.append(anchor.copy.with_name(anchor.copy.name + COPY_SUFFIX))

    def last(self, place: Path) -> Checkpoint | None:
        """Return the last checkpoint of a copy; None if it has none, or its end was cut."""
        try:
            with place.open("rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - LINE_BYTES_MAX))
                lines = file.read().split(b"\n")
        except FileNotFoundError:
            return None
        for line in reversed(lines):
            try:
                return _LINE.decode(line)
            except msgspec.MsgspecError:
                continue
        return None

    def append(
        self, place: Path, lines: Sequence[bytes], *, after: Checkpoint | None = None
    ) -> None:
        """Append lines durably, unless another process has since ``after`` was the last. Blocks."""
        with self._anchor.locked():
            if self.last(place) != after:
                return
            handle = os.open(place, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                # A line that a crash cut gets an end of its own.
                size = os.fstat(handle).st_size
                is_cut = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
                os.write(handle, b"\n" * is_cut + b"".join(line + b"\n" for line in lines))
                os.fsync(handle)
            finally:
                os.close(handle)
        if place == self.places[0]:
            self._anchor.note_in_syslog([line.decode() for line in lines])
