"""Master keys: where they come from, what is refused, and changing one while nodes serve.

Also tests `store/vault/key_rotation` and `store/vault/private_files`.
"""

import asyncio
import base64
import json
import os
import shlex
import stat
import sys
from pathlib import Path

import pytest
from sqlalchemy import select

from clearlane.kernel.retention_kinds import KeyClass
from clearlane.store.database.database import Actor, OperationRefused, SystemScope
from clearlane.store.database.schema import audit
from clearlane.store.database.sql import Statement
from clearlane.store.installation.nodes import NodeRegistration
from clearlane.store.vault import key_rotation
from clearlane.store.vault.keys import (
    KeyRefused,
    MasterKeys,
    kept_key_file,
    load_master_keys,
    new_master_key,
    read_key_file,
    read_keys,
    write_key_file,
)
from clearlane.store.vault.vault import Vault

OPERATOR = Actor("operator", "nora")
EVERYTHING = SystemScope("a test")
ACTIONS = Statement(select(audit.c.action, audit.c.ids).order_by(audit.c.seq))
REWRAPPED = Statement(
    select(audit.c.count, audit.c.detail)
    .where(audit.c.action == "keys.rewrapped")
    .order_by(audit.c.seq)
)


def test_a_key_is_read_back_as_written_and_prints_its_id_only(tmp_path):
    file = tmp_path / "deep" / "master.key"
    keys = [new_master_key(), new_master_key()]
    write_key_file(file, keys, over=False)
    assert read_key_file(file) == tuple(keys)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert keys[0].text not in repr(keys[0])
    assert base64.b64encode(keys[0].secret).decode() not in repr(MasterKeys(keys))
    assert keys[0].id != keys[1].id


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o610])
def test_a_key_file_that_others_can_open_is_refused(tmp_path, mode):
    file = tmp_path / "master.key"
    write_key_file(file, [new_master_key()], over=False)
    file.chmod(mode)
    with pytest.raises(KeyRefused, match="chmod 600"):
        read_key_file(file)


def test_a_key_file_of_another_user_is_refused(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    file = tmp_path / "master.key"
    write_key_file(file, [new_master_key()], over=False)
    os.chown(file, 12345, -1)
    with pytest.raises(KeyRefused, match="belongs to another user"):
        read_key_file(file)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "short",
        "x" * 44,
        base64.b64encode(b"x" * 31).decode(),
        f"!{base64.b64encode(b'x' * 32).decode()}",
    ],
)
def test_an_invalid_key_is_refused_without_being_shown(tmp_path, text):
    with pytest.raises(KeyRefused) as caught:
        read_keys(text, "CLEARLANE_MASTER_KEY")
    assert "openssl rand -base64 32" in str(caught.value)
    assert not text.strip() or text not in str(caught.value)


def test_a_file_of_other_bytes_is_refused_as_no_key(tmp_path):
    file = tmp_path / "master.key"
    file.write_bytes(b"\xff" * 44)
    file.chmod(0o600)
    with pytest.raises(KeyRefused, match="Master key 1"):
        read_key_file(file)


def test_the_key_that_another_process_made_first_stays(tmp_path, monkeypatch):
    file, other = tmp_path / "master.key", new_master_key()

    def made_too_late():
        write_key_file(file, [other], over=False)
        return new_master_key()

    monkeypatch.setattr("clearlane.store.vault.keys.new_master_key", made_too_late)
    assert MasterKeys(file=file, may_create=True).wrapping_key() == other
    assert read_key_file(file) == (other,)


def test_a_directory_is_no_key_file(tmp_path):
    with pytest.raises(KeyRefused, match="is not a regular file"):
        read_key_file(tmp_path)
    opened = {os.path.realpath(each) for each in Path("/proc/self/fd").iterdir()}
    assert str(tmp_path) not in opened


def test_the_folder_of_a_key_file_is_made_for_its_owner_alone(tmp_path):
    file = tmp_path / "new" / "deep" / "master.key"
    write_key_file(file, [new_master_key()], over=False)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [each.name for each in file.parent.iterdir()] == ["master.key"]


def test_the_environment_wins_and_its_first_key_wraps(tmp_path):
    new, old = new_master_key(), new_master_key()
    keys = load_master_keys(text=f"{new.text}, {old.text}", file=tmp_path / "no", may_create=True)
    assert keys.ids == (new.id, old.id)
    assert keys.wrapping_key() == new
    assert not (tmp_path / "no").exists()
    url_safe = new.text.replace("+", "-").replace("/", "_")
    assert read_keys(url_safe, "x") == (new,)
    with pytest.raises(KeyRefused, match="Master key 1 of CLEARLANE_MASTER_KEY cannot be used"):
        load_master_keys(text="nonsense", file=tmp_path / "no", may_create=True)


def test_a_wrapped_key_unwraps_only_with_its_binding_and_unchanged():
    keys = MasterKeys([new_master_key()])
    id, wrapped = keys.wrap(b"s" * 32, "data_keys:1")
    assert keys.unwrap(id, wrapped, "data_keys:1") == b"s" * 32
    for changed, place in (
        (wrapped, "data_keys:2"),
        (wrapped[:-1] + bytes([wrapped[-1] ^ 1]), "data_keys:1"),
        (b"", "x"),
    ):
        with pytest.raises(KeyRefused, match="was changed"):
            keys.unwrap(id, changed, place)


async def test_the_first_start_makes_a_key_and_later_starts_need_it(place):
    file = place.data / "master.key"
    await (await place.open()).close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = file.read_bytes()
    await (await place.open()).close()
    assert file.read_bytes() == kept
    file.unlink()
    with pytest.raises(KeyRefused, match="Put the installation's key file back"):
        await place.open()
    assert not file.exists()  # an installation that lost its key gets no new one
    write_key_file(file, [new_master_key()], over=False)
    with pytest.raises(KeyRefused, match="give that key"):
        await place.open()
    file.write_bytes(kept)
    await (await place.open()).close()


async def test_production_makes_no_key_by_itself(place):
    from clearlane.kernel.clock import SystemClock
    from clearlane.store.database.database import open_database

    keys = load_master_keys(text="", file=place.data / "master.key", may_create=False)
    with pytest.raises(KeyRefused, match="clearlane keys create"):
        await open_database(
            url=place.url, sqlite_file=place.sqlite_file, connections=2, keys=keys,
            anchor=place.data / "anchor", clock=SystemClock(),
        )  # fmt: skip


async def test_nodes_that_start_together_share_one_set_of_keys(place):
    databases = await asyncio.gather(*(place.open(anchor=f"anchor-{n}") for n in range(3)))
    peppers = set()
    for database in databases:
        vault = Vault(database, place.keys(), place_clock())
        await vault.load()
        peppers.add(vault.pepper)
        await database.close()
    assert len(peppers) == 1


def place_clock():
    from tests.databases import START
    from tests.manual_clock import ManualClock

    return ManualClock(START)


class Serving:
    """A node with its own keys and vault, polling as a running one does."""

    def __init__(self, place, database, clock):
        self.keys = place.keys()
        self.vault = Vault(database, self.keys, clock)
        self.nodes = NodeRegistration(
            database, id="n1", role="serve", heartbeat_seconds=60, keys=self.keys
        )

    async def __aenter__(self):
        await self.nodes.watch("keys", self.vault.load)
        await self.nodes.heartbeat()
        self._task = asyncio.create_task(self._poll())
        return self

    async def __aexit__(self, *exc):
        # A fault of a poll that the end of the test cuts off is nobody's.
        self._task.add_done_callback(lambda task: task.cancelled() or task.exception())
        self._task.cancel()

    async def _poll(self):
        while True:
            await self.nodes.reload_changed()
            await asyncio.sleep(0.01)


async def test_a_rotation_rewraps_everything_while_a_node_serves(place, database, clock):
    file = place.data / "master.key"
    (old,) = read_key_file(file)
    async with Serving(place, database, clock) as node:
        for vendor in range(5):
            await node.vault.ensure_key(vendor)
        before = node.vault.seal(1, "claims", "r1", b"before")
        print_before = node.vault.fingerprint(1, "claim", "x")
        pepper = node.vault.pepper
        serving = asyncio.create_task(seal_all_the_time(node.vault))
        done = await key_rotation.rotate(database, place.keys(), OPERATOR)
        serving.cancel()
        assert done.rewrapped >= 8
        assert done.dropped == (old.id,)
        [kept] = done.kept
        assert (kept.name, kept.stat().st_mode & 0o777) == (f"master.key.{old.id}", 0o600)
        assert read_key_file(kept) == (old,)
        assert read_key_file(file)[0].id == done.master_id != old.id
        assert len(read_key_file(file)) == 1
        assert set(await key_rotation.count_wrapped_keys(database)) == {done.master_id}
        # The running node goes on: old payloads open, new ones are sealed, hashes stay the same.
        assert node.vault.open(1, "claims", "r1", before) == b"before"
        await node.vault.ensure_key(77)
        assert node.vault.fingerprint(1, "claim", "x") == print_before
    fresh = Vault(database, place.keys(), clock)
    await fresh.load()
    assert fresh.open(1, "claims", "r1", before) == b"before"
    assert (fresh.pepper, fresh.fingerprint(1, "claim", "x")) == (pepper, print_before)
    assert set(await key_rotation.count_wrapped_keys(database)) == {done.master_id}
    async with database.read(EVERYTHING) as tx:
        audited = [(action, json.loads(ids)) for action, ids in await tx.rows(ACTIONS)]
    assert [each for each in audited if each[0] in {"keys.new", "keys.rotated"}] == [
        ("keys.new", [done.master_id]),
        ("keys.rotated", [done.master_id]),
    ]


async def seal_all_the_time(vault):
    vendor = 100
    while True:
        vendor += 1
        await vault.ensure_key(vendor)
        sealed = vault.seal(vendor, "claims", 1, b"payload")
        assert vault.open(vendor, "claims", 1, sealed) == b"payload"
        await asyncio.sleep(0)


async def test_an_interrupted_rotation_continues_with_the_same_new_key(place, database):
    file = place.data / "master.key"
    (old,) = read_key_file(file)
    new = new_master_key()
    write_key_file(file, [new, old], over=True)
    write_key_file(kept_key_file(file, old.id), [old], over=True)  # it had come that far
    done = await key_rotation.rotate(database, place.keys(), OPERATOR)
    assert done.master_id == new.id
    assert read_key_file(file) == (new,)


async def test_a_node_without_the_new_key_stops_the_rotation(place, database, monkeypatch):
    from clearlane.kernel import limits

    monkeypatch.setattr(limits, "NODES_WAIT_SECONDS_MAX", 0.1)
    (old,) = read_key_file(place.data / "master.key")
    far = NodeRegistration(
        database, id="far", role="serve", heartbeat_seconds=60, keys=MasterKeys(place.keys().keys)
    )
    await far.heartbeat()
    with pytest.raises(OperationRefused, match=f"far.*Give them the file {place.data}/master.key"):
        await key_rotation.rotate(database, place.keys(), OPERATOR)
    assert await key_rotation.count_wrapped_keys(database) == {old.id: 4}
    assert len(read_key_file(place.data / "master.key")) == 2
    of_environment = MasterKeys([new_master_key(), old])
    with pytest.raises(
        OperationRefused, match=r"far.*Give them CLEARLANE_MASTER_KEY as it is here"
    ):
        await key_rotation.rotate(database, of_environment, OPERATOR)


async def test_with_a_key_of_the_environment_rotate_says_what_to_do_and_then_does_it(
    place, database, clock
):
    (old,) = read_key_file(place.data / "master.key")
    with pytest.raises(OperationRefused, match="NEW,OLD"):
        await key_rotation.rotate(database, MasterKeys([old]), OPERATOR)
    new = new_master_key()
    vault = Vault(database, MasterKeys([old]), clock)
    await vault.ensure_key(7)
    done = await key_rotation.rotate(database, MasterKeys([new, old]), OPERATOR)
    assert (done.master_id, done.rewrapped, done.dropped) == (new.id, 4 + len(KeyClass), (old.id,))
    assert done.kept == ()
    assert await key_rotation.count_wrapped_keys(database) == {new.id: done.rewrapped}
    async with database.read(EVERYTHING) as tx:
        assert await tx.rows(REWRAPPED) == [(4, "installation_keys"), (len(KeyClass), "data_keys")]
    await Vault(database, MasterKeys([new]), clock).load()


@pytest.mark.server
def test_a_command_may_print_the_keys_newest_first(tmp_path):
    new, old = new_master_key(), new_master_key()
    command = shlex.join([sys.executable, "-c", f"print('{new.text}\\n{old.text}')"])
    keys = load_master_keys(text="", command=command, file=tmp_path / "no", may_create=True)
    assert (keys.ids, keys.file) == ((new.id, old.id), None)


@pytest.mark.server
@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("print()", "CLEARLANE_MASTER_KEY_COMMAND holds no master key"),
        ("print('SECRETTEXT')", "Master key 1 of CLEARLANE_MASTER_KEY_COMMAND cannot be used"),
        ("print('SECRETTEXT'); raise SystemExit(3)", "COMMAND failed with status 3"),
        ("print('SECRETTEXT' * 10_000)", "COMMAND prints more than 4096 bytes"),
        ("import time; time.sleep(600)", "COMMAND took longer than 1 seconds"),
    ],
)
def test_a_command_that_prints_no_key_is_a_sentence_without_what_it_printed(
    program, sentence, monkeypatch, tmp_path
):
    monkeypatch.setattr(
        "clearlane.store.vault.keys.KEY_COMMAND_SECONDS_MAX", 1 if "sleep" in program else 60
    )
    command = shlex.join([sys.executable, "-c", program])
    with pytest.raises(KeyRefused, match=sentence) as refused:
        load_master_keys(text="", command=command, file=tmp_path / "no", may_create=True)
    assert "SECRETTEXT" not in str(refused.value)


@pytest.mark.server
@pytest.mark.parametrize(
    ("text", "command", "sentence"),
    [
        ("", "/nowhere/prints-keys --now", "cannot be run: /nowhere/prints-keys: No such file"),
        ("", "prints 'keys", "a quote is not closed"),
        ("x", "prints keys", "are both set: give one"),
    ],
)
def test_a_command_that_cannot_be_run_is_a_sentence(text, command, sentence, tmp_path):
    with pytest.raises(KeyRefused, match=sentence):
        load_master_keys(text=text, command=command, file=tmp_path / "no", may_create=False)
