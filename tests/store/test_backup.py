"""Backup and restore of a running installation: everything is checked, and nothing is done by half.

Also tests `store/installation/archive`.
"""

import asyncio
import contextlib
import hashlib
import itertools
import json
import sqlite3
import stat
import zipfile
from datetime import timedelta

import pytest
from sqlalchemy import select

from clearlane.kernel.ids import VendorId
from clearlane.store.audit import audit
from clearlane.store.audit.anchor import Anchor
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, OperationRefused, SystemScope
from clearlane.store.database.sql import Statement
from clearlane.store.delivery.control_numbers import REQUEST_NUMBERS_SKIPPED, next_request_number
from clearlane.store.installation.archive import CONTENT, MANIFEST, Manifest
from clearlane.store.installation.backup import Restore, write_backup
from clearlane.store.installation.nodes import NodeRegistration
from clearlane.store.vault import key_rotation
from clearlane.store.vault.keys import MasterKeys, read_key_file, write_key_file
from clearlane.store.vault.vault import Vault
from tests.databases import START, make_site
from tests.manual_clock import ManualClock
from tests.patience import until
from tests.store.test_database import CLAIM, a_claim

ALL = SystemScope("a test")
OPERATOR = Actor("operator", "nora")
VENDOR = VendorId(1)
VENDORS = Statement(select(schema.vendors.c.vendor_key).order_by("vendor_key"))
REVISIONS = Statement(select(schema.revisions.c.name, schema.revisions.c.revision))


class RunningInstallation:
    """A running SQLite installation, with what a node holds in memory."""

    def __init__(self, place, database, clock):
        self.place, self.database, self.clock = place, database, clock
        self.keys = place.keys()
        self.vault = Vault(database, self.keys, clock)

    async def backup(self, name="a.backup"):
        target = self.place.data / name
        await write_backup(
            self.database, self.vault, file=self.place.sqlite_file, target=target,
            clock=self.clock, actor=OPERATOR,
        )  # fmt: skip
        return target

    async def restore(self, archive, **changed):
        values = {
            "archive": archive, "file": self.place.sqlite_file, "keys": self.place.keys(),
            "anchor": self.place.data / "audit.anchor", "clock": self.clock, "actor": OPERATOR,
        }  # fmt: skip
        return await Restore(**(values | changed)).run()

    async def vendors(self):
        async with self.database.read(ALL) as tx:
            return [key for (key,) in await tx.rows(VENDORS)]

    async def verification(self):
        key = self.vault.audit_key
        return await audit.verify(
            self.database, self.vault, Anchor(self.place.data / "audit.anchor", key)
        )


@pytest.fixture
async def installation(new_place, clock):
    place = await new_place("sqlite")
    database = await place.open(clock)
    made = RunningInstallation(place, database, clock)
    await made.vault.load()
    yield made
    await database.close()


async def test_a_restore_brings_back_what_the_backup_holds_under_running_connections(installation):
    first = await make_site(installation.database)
    await installation.vault.ensure_key(first)
    sealed = installation.vault.seal(first, "claims", "r1", b"ROSA")
    row = a_claim("r1") | {"payload": sealed}
    await installation.database.write(first, lambda tx: tx.run(CLAIM, **row), actor=OPERATOR)
    before = await installation.vendors()
    archive = await installation.backup()
    await make_site(installation.database)
    assert await installation.vendors() != before
    done = await installation.restore(archive)
    assert await installation.vendors() == before  # through connections that were open all the time
    await make_site(installation.database)  # and they can write
    assert len(await installation.vendors()) == 2
    assert installation.vault.open(first, "claims", "r1", sealed) == b"ROSA"
    verified = await installation.verification()
    assert not verified.fault
    assert done.previous.name == "clearlane.db.before-restore-20240305T120000Z"
    with contextlib.closing(sqlite3.connect(done.previous)) as kept:
        assert kept.execute("SELECT count(*) FROM vendors").fetchone() == (2,)


async def test_a_backup_and_what_is_kept_are_for_the_owner_alone_and_hold_no_master_key(
    installation,
):
    archive = await installation.backup()
    done = await installation.restore(archive)
    for file in (archive, done.previous, installation.place.sqlite_file):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (key,) = read_key_file(installation.place.data / "master.key")
    with zipfile.ZipFile(archive) as opened:
        content = b"".join(opened.read(name) for name in opened.namelist())
    assert key.secret not in content
    assert key.text.encode() not in content
    left = sorted(file.name for file in installation.place.data.iterdir() if file.name[0] == ".")
    assert left == []  # no scratch files


async def test_backup_and_restore_are_audited_and_the_chain_stays_whole(installation):
    await make_site(installation.database)
    archive = await installation.backup()
    await make_site(installation.database)
    await installation.restore(archive)
    async with installation.database.read(ALL) as tx:
        actions = [row[5] for row in await tx.rows(audit._PAGE, after=0, size=100)]
    assert actions == ["backup.written", "backup.restored"]
    assert not (await installation.verification()).fault


@pytest.mark.slow
async def test_the_anchor_goes_with_the_restored_chain(installation):
    archive = await installation.backup()

    async def noted(tx):
        tx.audit("something", detail="later than the backup")

    for _ in range(5):
        await installation.database.write(ALL, noted, actor=OPERATOR)
    await installation.restore(archive)
    assert (await installation.verification()).anchored == 2
    for _ in range(9):
        await installation.database.write(ALL, noted, actor=OPERATOR)

    async def anchored():
        return (await installation.verification()).anchored == 11

    await until(anchored)  # the running writer anchors again, from the restored chain on
    assert not (await installation.verification()).fault


async def test_every_revision_moves_so_that_nodes_load_again(installation):
    loads = []

    async def load():
        loads.append(1)

    node = NodeRegistration(
        installation.database, id="n1", role="serve", heartbeat_seconds=60, keys=installation.keys
    )
    for name in ("accounts", "payers", "keys"):
        await node.watch(name, load)
    await node.heartbeat()
    archive = await installation.backup()
    done = await installation.restore(archive)
    assert await node.reload_changed() == ["accounts", "payers", "keys"]
    async with installation.database.read(ALL) as tx:
        assert dict(await tx.rows(REVISIONS)) == done.revisions
    assert {"accounts", "keys", "payers", "restore"} <= done.revisions.keys()
    again = await installation.restore(archive)
    assert all(again.revisions[name] > old for name, old in done.revisions.items())


@pytest.mark.safe_default(7)
async def test_request_numbers_are_not_given_again_after_the_same_backup_is_restored_twice(
    installation,
):
    async def number():
        return await installation.database.write(
            ALL, lambda tx: next_request_number(tx, VENDOR), actor=OPERATOR
        )

    given = [await number()]
    archive = await installation.backup()
    for _ in range(3):
        given.append(await number())
        await installation.restore(archive)
    given.append(await number())
    steps = [after - before for before, after in itertools.pairwise(given)]
    assert steps[0] == 1
    assert min(steps[1:]) > REQUEST_NUMBERS_SKIPPED


async def test_a_key_made_after_the_backup_survives_the_restore(installation):
    archive = await installation.backup()
    installation.clock.advance(timedelta(days=40))
    await installation.vault.ensure_key(5)
    await installation.restore(archive)
    # A node that has not reloaded yet seals with the key it has; the payload opens ever after.
    sealed = installation.vault.seal(5, "claims", 1, b"late")
    fresh = Vault(installation.database, installation.place.keys(), installation.clock)
    await fresh.load()
    assert fresh.open(5, "claims", 1, sealed) == b"late"


async def test_writers_go_on_during_backup_and_restore_and_nothing_acknowledged_is_lost(
    installation,
):
    stop = False

    async def load():
        count = 0
        while not stop:
            await make_site(installation.database)
            count += 1
        return count

    loads = [asyncio.create_task(load()) for _ in range(4)]
    archive = await installation.backup()
    done = await installation.restore(archive)
    restored = await installation.vendors()

    async def go_on():
        return len(await installation.vendors()) > len(restored)

    await until(go_on)
    stop = True
    written = sum(await asyncio.gather(*loads))
    with contextlib.closing(sqlite3.connect(done.previous)) as kept:
        before = {key for (key,) in kept.execute("SELECT vendor_key FROM vendors")}
    now = set(await installation.vendors())
    assert written == len(before | now)  # each is in what was kept, or in what goes on
    assert now - before
    assert not (await installation.verification()).fault


async def test_a_backup_restores_into_an_empty_directory_with_its_key(installation, new_place):
    await make_site(installation.database)
    archive = await installation.backup()
    empty = await new_place("sqlite", upgraded=False)
    other = {
        "file": empty.sqlite_file,
        "anchor": empty.data / "audit.anchor",
        "keys": empty.keys(),
    }
    with pytest.raises(OperationRefused, match="There is no master key"):
        await installation.restore(archive, **other)
    assert not empty.sqlite_file.exists()
    write_key_file(empty.data / "master.key", installation.place.keys().keys, over=False)
    done = await installation.restore(archive, **(other | {"keys": empty.keys()}))
    assert done.previous is None
    opened = await empty.open()
    await opened.close()


async def test_a_backup_of_before_a_rotation_is_restored_with_the_key_that_was_kept(installation):
    archive = await installation.backup()
    await key_rotation.rotate(installation.database, installation.place.keys(), OPERATOR)
    kept = [*installation.place.data.glob("master.key.*")]
    assert len(kept) == 1
    moved = kept[0].rename(installation.place.data / "elsewhere")
    with pytest.raises(OperationRefused, match="which is not among those given"):
        await installation.restore(archive)
    moved.rename(kept[0])
    await installation.restore(archive)
    await installation.vault.load()
    assert not (await installation.verification()).fault


async def test_another_installations_backup_waits_until_the_nodes_are_stopped(
    installation, new_place
):
    other = await new_place("sqlite")
    stranger = RunningInstallation(other, await other.open(), ManualClock(START))
    await stranger.vault.load()
    archive = await stranger.backup()
    await stranger.database.close()
    keys = MasterKeys([*installation.place.keys().keys, *other.keys().keys])
    node = NodeRegistration(
        installation.database, id="n1", role="serve", heartbeat_seconds=60, keys=installation.keys
    )
    await node.heartbeat()
    with pytest.raises(OperationRefused, match=r"another installation.*n1"):
        await installation.restore(archive, keys=keys)
    await node.deregister()
    await installation.restore(archive, keys=keys)


def rewritten(archive, target, change):
    """Write the same archive with changed members."""
    with zipfile.ZipFile(archive) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    manifest = json.loads(members[MANIFEST])
    change(members, manifest)
    members[MANIFEST] = json.dumps(manifest).encode()
    with zipfile.ZipFile(target, "w") as out:
        for name, content in members.items():
            out.writestr(name, content)


def flip(members, manifest):
    content = bytearray(members[CONTENT])
    content[5000] ^= 255
    members[CONTENT] = bytes(content)


def damage(members, manifest):
    members[CONTENT] = members[CONTENT][:4096] + b"\x55" * (len(members[CONTENT]) - 4096)
    manifest["sha256"] = hashlib.sha256(members[CONTENT]).hexdigest()


def longer(members, manifest):
    members[CONTENT] += b"x" * 100


def extra(members, manifest):
    members["../../etc/passwd"] = b"x"


def older_head(members, manifest):
    manifest["audit_seq"] -= 1


def other_format(members, manifest):
    manifest["format"] = 99


def no_field(members, manifest):
    del manifest["sha256"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (flip, "damaged"), (damage, "damaged"), (longer, "damaged"), (extra, "not a backup"),
        (older_head, "manifest was changed"), (other_format, "format 99"), (no_field, "not a backup"),
    ],
)  # fmt: skip
async def test_a_changed_backup_is_refused_and_the_data_stay(installation, change, sentence):
    await make_site(installation.database)
    archive = await installation.backup()
    before = await installation.vendors()
    changed = archive.with_name("changed.backup")
    rewritten(archive, changed, change)
    with pytest.raises(OperationRefused, match=sentence):
        await installation.restore(changed)
    assert await installation.vendors() == before
    assert not (await installation.verification()).fault
    assert not [*archive.parent.glob("clearlane.db.before-restore*")]


def edited(statement, *, signed=False):
    """Return a change that edits the database in a backup and corrects hash and size."""

    def change(installation, archive):
        target, copy = archive.with_name("edited.backup"), archive.with_name("edited.db")
        with zipfile.ZipFile(archive) as opened:
            copy.write_bytes(opened.read(CONTENT))
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            for trigger in ("audit_no_update", "audit_no_delete"):
                connection.execute(f"DROP TRIGGER {trigger}")
            connection.execute(statement)
            connection.commit()

        def replaced(members, manifest):
            members[CONTENT] = copy.read_bytes()
            manifest["sha256"] = hashlib.sha256(members[CONTENT]).hexdigest()
            manifest["size"] = len(members[CONTENT])
            if signed:
                manifest["mac"] = Manifest(**manifest).mac_for(installation.vault.audit_key)

        rewritten(archive, target, replaced)
        return target

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (edited("UPDATE audit SET actor = 'operator:other'"), "manifest was changed"),
        (edited("UPDATE audit SET actor = 'x'", signed=True), "audit chain is not whole: Row 1"),
        (edited("UPDATE audit_head SET seq = 0", signed=True), "audit chain is not whole"),
        (edited("UPDATE alembic_version SET version_num = '9999'", signed=True), "newer version"),
        (
            edited("UPDATE alembic_version SET version_num = '0007'", signed=True),
            "development version",
        ),
        (edited("UPDATE installation_keys SET wrapped = x'00'", signed=True), "was changed"),
        (edited("UPDATE data_keys SET wrapped = x'00'", signed=True), "was changed"),
        (edited("UPDATE sites SET vendor_id = 77", signed=True), "without their owner"),
    ],
    ids=[
        "unsigned",
        "audit",
        "head",
        "newer schema",
        "unreleased schema",
        "keys",
        "data keys",
        "orphans",
    ],
)
async def test_an_edited_database_in_a_backup_is_refused(installation, change, sentence):
    await make_site(installation.database)
    await installation.vault.ensure_key(1)
    archive = await installation.backup()
    before = await installation.vendors()
    target = change(installation, archive)
    with pytest.raises(OperationRefused, match=sentence):
        await installation.restore(target)
    assert await installation.vendors() == before


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really", b"x" * 5_000])
async def test_what_is_no_backup_is_refused(installation, content):
    file = installation.place.data / "no.backup"
    file.write_bytes(content)
    with pytest.raises(OperationRefused, match="not a backup"):
        await installation.restore(file)
    with pytest.raises(OperationRefused, match="cannot be read"):
        await installation.restore(installation.place.data / "missing")


async def test_a_backup_is_never_written_over_a_file(installation):
    archive = await installation.backup()
    with pytest.raises(OperationRefused, match="exists already"):
        await installation.backup(archive.name)
