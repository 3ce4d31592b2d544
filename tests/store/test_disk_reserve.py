"""A full disk and a failing fsync, with a real file system and a real SQLite database.

The file system is a small tmpfs in a mount namespace of the test's own process; fsync fails by a library that is loaded
before the others. Both need rights or tools that not every machine has.
"""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from clearlane.store.database.disk_reserve import RESERVE_BYTES, RESERVE_NAME, DiskReserve
from tests.patience import PATIENCE_SECONDS

SMALL_DISK_MIB = 48
MOUNT = ("unshare", "--user", "--map-root-user", "--mount")


def may_mount() -> bool:
    """Whether this user may make a file system of its own."""
    if shutil.which("unshare") is None:
        return False
    tried = [*MOUNT, "sh", "-c", "mount -t tmpfs none /mnt"]
    return subprocess.run(tried, check=False, capture_output=True).returncode == 0


# What runs on the small disk: open a database, fill the disk, write, make space, write.
ON_A_FULL_DISK = """
import asyncio, json, os, sys, traceback
from pathlib import Path
from clearlane.kernel.clock import SystemClock
from clearlane.store.database import migrate
from clearlane.store.audit.anchor import Anchor
from clearlane.store.database.database import Actor, DatabaseUnavailable, SystemScope
from clearlane.store.database.disk_reserve import RESERVE_NAME, DiskReserve
from clearlane.store.database.sqlite import SqliteDatabase

SCOPE, ACTOR = SystemScope("test"), Actor("vendor", "ACME")


async def look(tx):
    tx.audit("claims.status", detail="x" * 900)


async def attempt(database, job):
    try:
        await database.write(SCOPE, job, actor=ACTOR)
    except DatabaseUnavailable as fault:
        return type(fault).__name__
    return "stored"


async def run(folder):
    file = folder / "clearlane.db"
    await migrate.upgrade(url="", sqlite_file=file)
    database = SqliteDatabase(file, SystemClock())
    await database.open()
    database.enable_audit(b"k" * 32, Anchor(folder / "audit.anchor", b"k" * 32))
    database.keep_reserve()
    report = {"before": [await attempt(database, look), database.write_fault]}
    filling = folder / "filling"
    with filling.open("wb", buffering=0) as content:
        try:
            while True:
                content.write(b"x" * 4096)
        except OSError:
            pass
    # The first write that finds no space takes the reserve, and it and the many after it are stored.
    reads = []
    while not database.write_fault:
        reads.append(await attempt(database, look))
    for _ in range(2_000):
        reads.append(await attempt(database, look))
    report["reads"] = sorted(set(reads))
    try:
        database.require_space()
    except DatabaseUnavailable as fault:
        report["claims"] = type(fault).__name__
    report["full"] = database.write_fault
    report["reserve"] = (folder / RESERVE_NAME).exists()
    filling.unlink()
    while database.write_fault:
        await attempt(database, look)
        await asyncio.sleep(0.2)
    report["after"] = [await attempt(database, look), (folder / RESERVE_NAME).exists()]
    await database.close()
    print(json.dumps(report))


try:
    asyncio.run(run(Path(sys.argv[1])))
except Exception:
    traceback.print_exc()
    os._exit(1)  # threads of an open database would go on
"""


@pytest.mark.skipif(not may_mount(), reason="needs a file system of its own (user namespaces)")
def test_on_a_full_disk_reads_are_audited_claims_are_refused_and_space_ends_it(tmp_path):
    program = tmp_path / "on_a_full_disk.py"
    program.write_text(ON_A_FULL_DISK)
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size={SMALL_DISK_MIB}m none {disk}"
    command = f"{mount} && exec {sys.executable} {program} {disk}"
    done = subprocess.run(
        [*MOUNT, "sh", "-c", command],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["before"] == ["stored", ""]
    assert report["reads"] == ["stored"]
    assert report["full"] == "the disk is full: reads are answered, claims and files are refused"
    assert report["claims"] == "DiskFull"
    assert report["reserve"] is False
    assert report["after"] == ["stored", True]


FAILING_FSYNC = """
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>
static int fails(void) { return access("fsync-fails", F_OK) == 0; }
int fsync(int fd) { (void)fd; if (fails()) { errno = EIO; return -1; } return 0; }
int fdatasync(int fd) { (void)fd; if (fails()) { errno = EIO; return -1; } return 0; }
"""

WITH_A_FAILING_FSYNC = """
import asyncio, os, traceback
from pathlib import Path
from clearlane.kernel.clock import SystemClock
from clearlane.store.database import migrate
from clearlane.store.audit.anchor import Anchor
from clearlane.store.database.database import Actor, SystemScope
from clearlane.store.database.sqlite import SqliteDatabase


async def look(tx):
    tx.audit("claims.status")


async def run():
    file = Path("clearlane.db")
    await migrate.upgrade(url="", sqlite_file=file)
    database = SqliteDatabase(file, SystemClock())
    await database.open()
    database.enable_audit(b"k" * 32, Anchor(Path("audit.anchor"), b"k" * 32))
    for number in range(3):
        if number == 1:
            Path("fsync-fails").touch()
        await database.write(SystemScope("test"), look, actor=Actor("vendor", "ACME"))
        print("stored", number, flush=True)


try:
    asyncio.run(run())
except Exception:
    traceback.print_exc()
    os._exit(1)
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_failed_fsync_ends_the_process_before_anybody_learns_that_a_write_is_stored(tmp_path):
    (tmp_path / "fsync.c").write_text(FAILING_FSYNC)
    library = tmp_path / "fsync.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", library, tmp_path / "fsync.c"], check=True, cwd=tmp_path
    )
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WITH_A_FAILING_FSYNC)],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"LD_PRELOAD": str(library)},
        timeout=PATIENCE_SECONDS,
    )
    assert (done.returncode, done.stdout) == (os.EX_IOERR, "stored 0\n")
    last = json.loads(done.stderr.splitlines()[-1])
    assert last["reason"] == "a commit could not be made durable: fsync failed"


def test_a_reserve_is_made_used_and_made_again(tmp_path):
    now = [0.0]
    reserve = DiskReserve(tmp_path, lambda: now[0])
    file = tmp_path / RESERVE_NAME
    assert (reserve.use(), file.exists()) == (False, False)
    reserve.keep()
    assert (file.stat().st_size, file.stat().st_mode & 0o777) == (RESERVE_BYTES, 0o600)
    assert (reserve.use(), reserve.is_used, file.exists()) == (True, True, False)
    assert reserve.use() is False
    reserve.regain()  # tried every few seconds only
    assert reserve.is_used
    now[0] = 60.0
    reserve.regain()
    assert (reserve.is_used, file.exists(), reserve.warning) == (False, True, "")


def test_a_reserve_that_cannot_be_made_is_a_warning_and_no_fault():
    reserve = DiskReserve(Path("/dev/null/nowhere"))
    reserve.keep()
    assert reserve.warning == "there is no reserve of disk space: Not a directory"
    assert not reserve.is_used
