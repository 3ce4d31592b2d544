"""The file of a backup: an archive of the database and a manifest, and what is done with both.

Knows files and SQLite's own copying; what a restore checks and in which order stands in ``backup``.
"""

import contextlib
import hashlib
import hmac
import os
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from clearlane import __version__
from clearlane.kernel import limits
from clearlane.store.group_commit import Refused
from clearlane.store.private_files import sync_directory
from clearlane.store.sqlite import connect, create_private

FORMAT = 1
MANIFEST, CONTENT = "manifest.json", "clearlane.db"
UNREADABLE = (
    zipfile.BadZipFile, zlib.error, msgspec.MsgspecError, EOFError, NotImplementedError, RuntimeError
)  # fmt: skip


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup says of itself. The mac is made with the installation's own key."""

    format: int
    version: str
    created_at: int
    schema: str
    audit_seq: int
    audit_hash: str
    size: int
    sha256: str
    mac: str = ""

    def signed(self, key: bytes) -> str:
        """The mac over everything else."""
        words = msgspec.json.encode(msgspec.structs.replace(self, mac=""))
        return hmac.digest(key, b"backup" + words, hashlib.sha256).hex()


@contextlib.contextmanager
def scratch(directory: Path) -> Iterator[Path]:
    """A private file for a copy of the database, removed with whatever SQLite put beside it."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=directory, prefix=".clearlane-") as made:  # mode 0700
        copy = Path(made) / CONTENT
        create_private(copy)
        yield copy


def copy_database(source: Path, target: Path) -> None:
    """Copy a running database as one moment sees it."""
    with (
        contextlib.closing(connect(source)) as origin,
        contextlib.closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        origin.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it


def described(copy: Path, now: int) -> Manifest:
    """What the manifest says of this copy, not yet signed."""
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        (schema,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        seq, hash = connection.execute("SELECT seq, hash FROM audit_head").fetchone()
    with copy.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    return Manifest(
        format=FORMAT,
        version=__version__,
        created_at=now,
        schema=schema,
        audit_seq=seq,
        audit_hash=hash.hex(),
        size=copy.stat().st_size,
        sha256=sha256,
    )


def pack(copy: Path, manifest: Manifest, target: Path) -> None:
    """Write the backup as a whole, readable by its owner only."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")  # mode 0600
    try:
        with os.fdopen(handle, "wb") as out:
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                archive.writestr(MANIFEST, msgspec.json.encode(manifest))
                archive.write(copy, CONTENT)
            out.flush()
            os.fsync(out.fileno())
        try:
            os.link(name, target)  # never over a file that came meanwhile
        except FileExistsError:
            raise Refused(f"{target} exists already: name another file.") from None
    finally:
        Path(name).unlink()
    sync_directory(target.parent)


def unpack(archive: Path, copy: Path) -> Manifest:
    """Take the database out of a backup; what is not exactly as the manifest says is refused."""
    not_one = f"{archive} is not a backup of Clearlane."
    try:
        with zipfile.ZipFile(archive) as opened:
            if sorted(opened.namelist()) != sorted((MANIFEST, CONTENT)):
                raise Refused(not_one)
            if opened.getinfo(MANIFEST).file_size > limits.BACKUP_MANIFEST_BYTES_MAX:
                raise Refused(not_one)
            manifest = msgspec.json.decode(opened.read(MANIFEST), type=Manifest)
            if manifest.format != FORMAT:
                raise Refused(
                    f"{archive} has the format {manifest.format}; this version reads {FORMAT}."
                )
            with opened.open(CONTENT) as source, copy.open("wb") as out:
                found = _pour(source, out, manifest.size)
    except OSError as fault:
        raise Refused(f"{archive} cannot be read: {fault.strerror}.") from None
    except UNREADABLE:
        raise Refused(f"{not_one} Or it is damaged.") from None
    if found != manifest.sha256:
        raise Refused(f"{archive} is damaged: its content is not what its manifest says.")
    return manifest


def _pour(source: IO[bytes], out: IO[bytes], size: int) -> str:
    """Copy at most this many bytes and hash them; one byte more makes another hash."""
    hashed, left = hashlib.sha256(), size + 1
    while left and (chunk := source.read(min(left, limits.BACKUP_CHUNK_BYTES))):
        hashed.update(chunk)
        out.write(chunk)
        left -= len(chunk)
    return hashed.hexdigest()


def require_sound(copy: Path) -> None:
    """Refuse a damaged database."""
    try:
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
    except sqlite3.DatabaseError as error:
        found, orphans = str(error), []
    if found != "ok":
        raise Refused("The backup holds a damaged database.")
    if orphans:
        raise Refused(f"The backup holds rows without their owner, in {orphans[0][0]}.")


def replace_database(copy: Path, file: Path, kept: Path | None, carried: set[int]) -> None:
    """Write the copy over the running database, and keep the data of before.

    With the first page comes the write lock: what is kept then is exactly what is replaced. Until
    the last page is in, readers see the old data, and so would a start after a crash.
    """
    locked = False

    def on_page(status: int, remaining: int, total: int) -> None:
        nonlocal locked
        if not locked and status == sqlite3.SQLITE_OK:
            locked = True
            if kept is not None:
                _require_carried(file, carried)
                _keep(file, kept)

    with (
        contextlib.closing(connect(file)) as target,
        contextlib.closing(sqlite3.connect(copy)) as origin,
    ):
        origin.backup(target, pages=1, progress=on_page, sleep=limits.BACKUP_LOCK_SECONDS)


def _require_carried(file: Path, carried: set[int]) -> None:
    with contextlib.closing(connect(file)) as live:
        present = {row[0] for row in live.execute("SELECT id FROM data_keys")}
    if present - carried:
        raise Refused(
            "A vendor's first data of the month came in meanwhile. Run the restore again."
        )


def _keep(file: Path, kept: Path) -> None:
    with scratch(file.parent) as copy:
        copy_database(file, copy)
        copy.replace(kept)
    sync_directory(kept.parent)
