"""The file of a backup: an archive of the database and a manifest.

Knows files and SQLite's own copying; ``backup`` decides what a restore checks and in which order.
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
from clearlane.store.database.group_commit import OperationRefused
from clearlane.store.database.sqlite_connection import connect, create_private_file
from clearlane.store.vault.private_files import sync_directory

BACKUP_MANIFEST_BYTES_MAX = 64 * 1024
BACKUP_CHUNK_BYTES = 1 << 20
BACKUP_LOCK_SECONDS = 0.05

FORMAT = 1
MANIFEST, CONTENT = "manifest.json", "clearlane.db"
UNREADABLE = (
    zipfile.BadZipFile, zlib.error, msgspec.MsgspecError, EOFError, NotImplementedError, RuntimeError
)  # fmt: skip


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The description of a backup. The mac is made with the installation's own key."""

    format: int
    version: str
    created_at: int
    schema: str
    audit_seq: int
    audit_hash: str
    size: int
    sha256: str
    mac: str = ""

    def mac_for(self, key: bytes) -> str:
        """Return the mac over everything else."""
        words = msgspec.json.encode(msgspec.structs.replace(self, mac=""))
        return hmac.digest(key, b"backup" + words, hashlib.sha256).hex()


@contextlib.contextmanager
def scratch_file(directory: Path) -> Iterator[Path]:
    """Provide a private file for a copy of the database, removed with whatever SQLite put beside it."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=directory, prefix=".clearlane-") as made:  # mode 0700
        copy = Path(made) / CONTENT
        create_private_file(copy)
        yield copy


def copy_database(source: Path, target: Path) -> None:
    """Copy a running database as of one moment."""
    with (
        contextlib.closing(connect(source)) as origin,
        contextlib.closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        origin.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it


def describe(copy: Path, now: int) -> Manifest:
    """Return the manifest of this copy, not yet signed."""
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
    """Write the backup file as a whole, readable by its owner only."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")  # mode 0600
    try:
        with os.fdopen(handle, "wb") as out:
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                archive.writestr(MANIFEST, msgspec.json.encode(manifest))
                archive.write(copy, CONTENT)
            out.flush()
            os.fsync(out.fileno())
        try:
            os.link(name, target)  # never over a file that appeared in between
        except FileExistsError:
            raise OperationRefused(f"{target} exists already: name another file.") from None
    finally:
        Path(name).unlink()
    sync_directory(target.parent)


def unpack(archive: Path, copy: Path) -> Manifest:
    """Extract the database from a backup; refuse what differs from the manifest."""
    not_one = f"{archive} is not a backup of Clearlane."
    try:
        with zipfile.ZipFile(archive) as opened:
            if sorted(opened.namelist()) != sorted((MANIFEST, CONTENT)):
                raise OperationRefused(not_one)
            if opened.getinfo(MANIFEST).file_size > BACKUP_MANIFEST_BYTES_MAX:
                raise OperationRefused(not_one)
            manifest = msgspec.json.decode(opened.read(MANIFEST), type=Manifest)
            if manifest.format != FORMAT:
                raise OperationRefused(
                    f"{archive} has the format {manifest.format}; this version reads {FORMAT}."
                )
            with opened.open(CONTENT) as source, copy.open("wb") as out:
                found = _copy_and_hash(source, out, manifest.size)
    except OSError as fault:
        raise OperationRefused(f"{archive} cannot be read: {fault.strerror}.") from None
    except UNREADABLE:
        raise OperationRefused(f"{not_one} Or it is damaged.") from None
    if found != manifest.sha256:
        raise OperationRefused(f"{archive} is damaged: its content is not what its manifest says.")
    return manifest


def _copy_and_hash(source: IO[bytes], out: IO[bytes], size: int) -> str:
    """Copy at most this many bytes and hash them; one byte more changes the hash."""
    hashed, left = hashlib.sha256(), size + 1
    while left and (chunk := source.read(min(left, BACKUP_CHUNK_BYTES))):
        hashed.update(chunk)
        out.write(chunk)
        left -= len(chunk)
    return hashed.hexdigest()


def require_intact(copy: Path) -> None:
    """Refuse a damaged database."""
    try:
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
    except sqlite3.DatabaseError as error:
        found, orphans = str(error), []
    if found != "ok":
        raise OperationRefused("The backup holds a damaged database.")
    if orphans:
        raise OperationRefused(f"The backup holds rows without their owner, in {orphans[0][0]}.")


def replace_database(copy: Path, file: Path, previous: Path | None, known_keys: set[int]) -> None:
    """Write the copy over the running database, and keep a copy of the previous data.

    The first page takes the write lock, so what is kept is exactly what is replaced. Until
    the last page is written, readers see the old data, and so would a start after a crash.
    """
    locked = False

    def on_page(status: int, remaining: int, total: int) -> None:
        nonlocal locked
        if not locked and status == sqlite3.SQLITE_OK:
            locked = True
            if previous is not None:
                _require_no_new_keys(file, known_keys)
                _keep_previous(file, previous)

    with (
        contextlib.closing(connect(file)) as target,
        contextlib.closing(sqlite3.connect(copy)) as origin,
    ):
        origin.backup(target, pages=1, progress=on_page, sleep=BACKUP_LOCK_SECONDS)


def _require_no_new_keys(file: Path, carried: set[int]) -> None:
    with contextlib.closing(connect(file)) as live:
        present = {row[0] for row in live.execute("SELECT id FROM data_keys")}
    if present - carried:
        raise OperationRefused(
            "A vendor's first data of the month came in during the restore. Run the restore again."
        )


def _keep_previous(file: Path, kept: Path) -> None:
    with scratch_file(file.parent) as copy:
        copy_database(file, copy)
        copy.replace(kept)
    sync_directory(kept.parent)
