"""Backup and restore on a running installation: everything is checked, nothing is half done."""

import asyncio
import contextlib
import hashlib
import json
import sqlite3
import stat
import zipfile
from datetime import timedelta

import pytest
from alembic import command
from sqlalchemy import select

from clearlane.kernel.clock import ManualClock
from clearlane.store import audit, key_rotation, migrate, schema
from clearlane.store.archive import CONTENT, MANIFEST, Manifest
from clearlane.store.audit_chain import Anchor
from clearlane.store.backup import Restore, write_backup
from clearlane.store.database import Actor, Refused, System
from clearlane.store.keys import MasterKeys, read_key_file, write_key_file
from clearlane.store.nodes import Nodes
from clearlane.store.sql import Statement
from clearlane.store.vault import Vault
from tests.databases import START, make_site
from tests.patience import until
from tests.store.test_database import CLAIM, a_claim

ALL = System("a test")
OPERATOR = Actor("operator", "nora")
VENDORS = Statement(select(schema.vendors.c.vendor_key).order_by("vendor_key"))
REVISIONS = Statement(select(schema.revisions.c.name, schema.revisions.c.revision))


class House:
    """A running SQLite installation, with what a node has in memory."""

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

    async def verdict(self):
        key = self.vault.audit_key
        return await audit.verify(self.database, key, Anchor(self.place.data / "audit.anchor", key))


@pytest.fixture
async def house(new_place, clock):
    place = await new_place("sqlite")
    database = await place.open(clock)
    made = House(place, database, clock)
    await made.vault.load()
    yield made
    await database.close()


async def test_a_restore_brings_back_what_the_backup_holds_under_running_connections(house):
    first = await make_site(house.database)
    await house.vault.ready(first)
    sealed = house.vault.seal(first, "claims", "r1", b"ROSA")
    row = a_claim("r1") | {"payload": sealed}
    await house.database.write(first, lambda tx: tx.run(CLAIM, **row), actor=OPERATOR)
    before = await house.vendors()
    archive = await house.backup()
    await make_site(house.database)
    assert await house.vendors() != before
    done = await house.restore(archive)
    assert await house.vendors() == before  # through connections that were open all the time
    await make_site(house.database)  # and they can write
    assert len(await house.vendors()) == 2
    assert house.vault.open(first, "claims", "r1", sealed) == b"ROSA"
    verdict = await house.verdict()
    assert not verdict.fault
    assert done.kept.name == "clearlane.db.before-restore"
    with contextlib.closing(sqlite3.connect(done.kept)) as kept:
        assert kept.execute("SELECT count(*) FROM vendors").fetchone() == (2,)


async def test_a_backup_and_what_is_kept_are_for_the_owner_alone_and_hold_no_master_key(house):
    archive = await house.backup()
    done = await house.restore(archive)
    for file in (archive, done.kept, house.place.sqlite_file):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (key,) = read_key_file(house.place.data / "master.key")
    with zipfile.ZipFile(archive) as opened:
        content = b"".join(opened.read(name) for name in opened.namelist())
    assert key.secret not in content
    assert key.text.encode() not in content
    left = sorted(file.name for file in house.place.data.iterdir() if file.name[0] == ".")
    assert left == []  # no scratch files


async def test_backup_and_restore_are_audited_and_the_chain_stays_whole(house):
    await make_site(house.database)
    archive = await house.backup()
    await make_site(house.database)
    await house.restore(archive)
    async with house.database.read(ALL) as tx:
        actions = [row[5] for row in await tx.rows(audit._PAGE, after=0, size=100)]
    assert actions == ["backup.written", "backup.restored"]
    assert not (await house.verdict()).fault


async def test_the_anchor_goes_with_the_restored_chain(house):
    archive = await house.backup()

    async def noted(tx):
        tx.audit("something", detail="later than the backup")

    for _ in range(5):
        await house.database.write(ALL, noted, actor=OPERATOR)
    await house.restore(archive)
    assert (await house.verdict()).anchored == 2
    for _ in range(9):
        await house.database.write(ALL, noted, actor=OPERATOR)

    async def anchored():
        return (await house.verdict()).anchored == 11

    await until(anchored)  # the running writer anchors again, from the restored chain on
    assert not (await house.verdict()).fault


async def test_every_revision_moves_so_that_nodes_load_again(house):
    loads = []

    async def load():
        loads.append(1)

    node = Nodes(house.database, id="n1", role="serve", beat_seconds=60, keys=house.keys)
    for name in ("accounts", "payers", "keys"):
        await node.watch(name, load)
    await node.beat()
    archive = await house.backup()
    done = await house.restore(archive)
    assert await node.poll() == ["accounts", "payers", "keys"]
    async with house.database.read(ALL) as tx:
        assert dict(await tx.rows(REVISIONS)) == done.revisions
    assert {"accounts", "keys", "payers", "restore"} <= done.revisions.keys()
    again = await house.restore(archive)
    assert all(again.revisions[name] > old for name, old in done.revisions.items())


async def test_a_key_made_after_the_backup_survives_the_restore(house):
    archive = await house.backup()
    house.clock.advance(timedelta(days=40))
    await house.vault.ready(5)
    await house.restore(archive)
    # A node that has not reloaded yet seals with the key it has; the payload opens ever after.
    sealed = house.vault.seal(5, "claims", 1, b"late")
    fresh = Vault(house.database, house.place.keys(), house.clock)
    await fresh.load()
    assert fresh.open(5, "claims", 1, sealed) == b"late"


async def test_writers_go_on_during_backup_and_restore_and_nothing_acknowledged_is_lost(house):
    stop = False

    async def load():
        count = 0
        while not stop:
            await make_site(house.database)
            count += 1
        return count

    loads = [asyncio.create_task(load()) for _ in range(4)]
    archive = await house.backup()
    done = await house.restore(archive)
    restored = await house.vendors()

    async def go_on():
        return len(await house.vendors()) > len(restored)

    await until(go_on)
    stop = True
    written = sum(await asyncio.gather(*loads))
    with contextlib.closing(sqlite3.connect(done.kept)) as kept:
        before = {key for (key,) in kept.execute("SELECT vendor_key FROM vendors")}
    now = set(await house.vendors())
    assert written == len(before | now)  # each is in what was kept, or in what goes on
    assert now - before
    assert not (await house.verdict()).fault


async def test_a_backup_restores_into_an_empty_directory_with_its_key(house, new_place):
    await make_site(house.database)
    archive = await house.backup()
    empty = await new_place("sqlite", upgraded=False)
    other = {
        "file": empty.sqlite_file,
        "anchor": empty.data / "audit.anchor",
        "keys": empty.keys(),
    }
    with pytest.raises(Refused, match="There is no master key"):
        await house.restore(archive, **other)
    assert not empty.sqlite_file.exists()
    write_key_file(empty.data / "master.key", house.place.keys().held, over=False)
    done = await house.restore(archive, **(other | {"keys": empty.keys()}))
    assert done.kept is None
    opened = await empty.open()
    await opened.close()


async def test_another_installations_backup_waits_until_the_nodes_are_stopped(house, new_place):
    other = await new_place("sqlite")
    stranger = House(other, await other.open(), ManualClock(START))
    await stranger.vault.load()
    archive = await stranger.backup()
    await stranger.database.close()
    keys = MasterKeys([*house.place.keys().held, *other.keys().held])
    node = Nodes(house.database, id="n1", role="serve", beat_seconds=60, keys=house.keys)
    await node.beat()
    with pytest.raises(Refused, match=r"another installation.*n1"):
        await house.restore(archive, keys=keys)
    await node.leave()
    await house.restore(archive, keys=keys)


def rewritten(archive, target, change):
    """The same archive with changed members; the hash of the content made right."""
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
async def test_a_changed_backup_is_refused_and_the_data_stay(house, change, sentence):
    await make_site(house.database)
    archive = await house.backup()
    before = await house.vendors()
    changed = archive.with_name("changed.backup")
    rewritten(archive, changed, change)
    with pytest.raises(Refused, match=sentence):
        await house.restore(changed)
    assert await house.vendors() == before
    assert not (await house.verdict()).fault
    assert not archive.with_name("clearlane.db.before-restore").exists()


def edited(statement, *, signed=False):
    """A backup whose database was edited, with hash and size made right."""

    def change(house, archive):
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
                manifest["mac"] = Manifest(**manifest).signed(house.vault.audit_key)

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
        (edited("UPDATE installation_keys SET wrapped = x'00'", signed=True), "was changed"),
        (edited("UPDATE data_keys SET wrapped = x'00'", signed=True), "was changed"),
        (edited("UPDATE sites SET vendor_id = 77", signed=True), "without their owner"),
    ],
    ids=["unsigned", "audit", "head", "schema", "keys", "data keys", "orphans"],
)
async def test_an_edited_database_in_a_backup_is_refused(house, change, sentence):
    await make_site(house.database)
    await house.vault.ready(1)
    archive = await house.backup()
    before = await house.vendors()
    target = change(house, archive)
    with pytest.raises(Refused, match=sentence):
        await house.restore(target)
    assert await house.vendors() == before


async def test_a_backup_of_an_older_schema_is_moved_forward_in_the_copy(house):
    await make_site(house.database)
    archive = await house.backup()
    before = await house.vendors()
    target = archive.with_name("old.backup")
    rewritten(archive, target, as_of_the_first_schema(house))
    done = await house.restore(target)
    assert done.manifest.schema == "0001"
    assert await house.database.revision() == schema.HEAD
    assert await house.vendors() == before


def as_of_the_first_schema(house):
    """The same rows in a database that only the first step has made."""

    def change(members, manifest):
        new, old = (house.place.data / name for name in ("new.db", "old.db"))
        new.write_bytes(members[CONTENT])

        def first_step(connection):
            config = migrate._config()
            config.attributes["connection"] = connection
            command.upgrade(config, "0001")

        migrate._on_sqlite(old, first_step)
        with contextlib.closing(sqlite3.connect(old, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute(f"ATTACH '{new}' AS new")
            connection.execute("DELETE FROM audit_head")
            tables = connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")
            for (name,) in tables.fetchall():
                if name not in {"alembic_version", "sqlite_sequence"}:
                    connection.execute(f"INSERT INTO {name} SELECT * FROM new.{name}")
        members[CONTENT] = old.read_bytes()
        manifest |= {
            "schema": "0001",
            "sha256": hashlib.sha256(members[CONTENT]).hexdigest(),
            "size": len(members[CONTENT]),
        }
        manifest["mac"] = Manifest(**manifest).signed(house.vault.audit_key)

    return change


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really", b"x" * 5_000])
async def test_what_is_no_backup_is_refused(house, content):
    file = house.place.data / "no.backup"
    file.write_bytes(content)
    with pytest.raises(Refused, match="not a backup"):
        await house.restore(file)
    with pytest.raises(Refused, match="cannot be read"):
        await house.restore(house.place.data / "missing")


async def test_a_backup_is_never_written_over_a_file(house):
    archive = await house.backup()
    with pytest.raises(Refused, match="exists already"):
        await house.backup(archive.name)


async def test_a_backup_of_a_rotated_key_needs_the_old_one(house):
    archive = await house.backup()
    (old,) = read_key_file(house.place.data / "master.key")
    await key_rotation.rotate(house.database, house.place.keys(), OPERATOR)
    with pytest.raises(Refused, match=old.id):
        await house.restore(archive)
    (new,) = read_key_file(house.place.data / "master.key")
    write_key_file(house.place.data / "master.key", [new, old], over=True)
    await house.restore(archive)
