"""A real pgbouncer before the tests' PostgreSQL, in transaction mode: each transaction may have another connection."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

import pytest

from tests.patience import PATIENCE_SECONDS, wait_until

PROGRAM = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
# Few connections of the server for many of ours: they change hands all the time.
SERVER_CONNECTIONS = 3
PORT = 6432
CONFIGURATION = """
[databases]
* = host={server} port=5432

[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {place}
auth_type = trust
auth_file = {place}/users.txt
pool_mode = transaction
default_pool_size = {connections}
logfile = {place}/pgbouncer.log
pidfile =
"""


@contextmanager
def open_pooler(server_url: str, *users: str) -> Iterator[str]:
    """Run pgbouncer before a server; yield the same address through it. Skips the test if there is none."""
    [directory] = parse_qs(urlsplit(server_url).query).get("host", [""])
    if PROGRAM is None or not directory:
        pytest.skip(
            "pgbouncer is not installed" if not PROGRAM else "the server is reached over TCP"
        )
    place = Path(tempfile.mkdtemp(prefix="clearlane-pgbouncer-"))
    (place / "users.txt").write_text("".join(f'"{user}" ""\n' for user in ("postgres", *users)))
    (place / "pgbouncer.ini").write_text(
        CONFIGURATION.format(
            server=directory, place=place, port=PORT, connections=SERVER_CONNECTIONS
        )
    )
    account = None
    if os.geteuid() == 0:  # it refuses to run as root
        account = Path(directory).owner()  # who alone may reach a socket of the server
        for one in (place, *place.iterdir()):
            shutil.chown(one, account)
    process = subprocess.Popen([PROGRAM, "-q", place / "pgbouncer.ini"], user=account, cwd="/")
    try:
        wait_until((place / f".s.PGSQL.{PORT}").exists)
        yield through_pooler(server_url, place)
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)
        shutil.rmtree(place)


def through_pooler(url: str, place: Path) -> str:
    """Return the address of a database through the pooler whose socket is in a directory."""
    return urlunsplit(urlsplit(url)._replace(query=f"host={place}&port={PORT}"))
