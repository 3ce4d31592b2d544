"""What is stored can be opened by every later version: the bytes are read here by code of the test's own.

Also tests `store/vault/vault` and `store/vault/keys`.
"""

import base64
import hashlib
import hmac
import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest
import zstandard
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import select

from clearlane.kernel import limits
from clearlane.kernel.retention_kinds import KeyClass
from clearlane.store.database.schema import data_keys, installation_keys
from clearlane.store.database.sql import Statement
from clearlane.store.vault.keys import KeyRefused, MasterKeys, new_master_key, read_keys
from clearlane.store.vault.private_files import write_private
from clearlane.store.vault.vault import SHORT_BYTES_MAX, InvalidSeal, Vault
from tests.store.test_vault import rows

pytestmark = pytest.mark.one_database

OWNER = (7, 3)
COLUMNS = ("id", "vendor_id", "site_id", "month", "retention", "master_id", "wrapped")
KEYS = Statement(select(*(data_keys.c[name] for name in COLUMNS)))
INSTALLATION_KEYS = Statement(select(installation_keys.c.name, installation_keys.c.wrapped))


@pytest.fixture
async def vault(database, place, clock):
    opened = Vault(database, place.keys(), clock)
    await opened.load()
    await opened.ensure_key(OWNER)
    return opened


async def read_by_hand(database, place, sealed, table, row_id):
    """Return the form of a payload, and the payload, by the format alone."""
    text = (place.data / "master.key").read_text(encoding="ascii").split()[0]
    master = AESGCM(base64.b64decode(text))
    key_id = int.from_bytes(sealed[1:9], "big")
    [(*bound, master_id, wrapped)] = [row for row in await rows(database, KEYS) if row[0] == key_id]
    digest = hmac.digest(base64.b64decode(text), b"clearlane master key id", hashlib.sha256)
    assert master_id == digest.hex()[:12]
    binding = ":".join(["data_keys", *map(str, bound)]).encode()
    key = AESGCM(master.decrypt(wrapped[:12], wrapped[12:], binding))
    kind = "n" if isinstance(row_id, int) else "t"
    associated = f"{sealed[0]}\0{OWNER[0]}\0{table}\0{kind}{row_id}".encode()
    packed = key.decrypt(sealed[9:21], sealed[21:], associated)
    return sealed[0], packed if sealed[0] == 2 else zstandard.decompress(packed)


async def test_the_keys_of_an_installation_are_wrapped_as_they_always_were(vault, database, place):
    text = (place.data / "master.key").read_text(encoding="ascii").split()[0]
    master = AESGCM(base64.b64decode(text))
    opened = {
        name: master.decrypt(wrapped[:12], wrapped[12:], f"installation_keys:{name}".encode())
        for name, wrapped in await rows(database, INSTALLATION_KEYS)
    }
    fingerprint = opened.pop("fingerprint")
    assert opened == {"audit": vault.audit_key, "pepper": vault.pepper, "proof": vault.proof_seed}
    hashed = hashlib.blake2b(b"7\0name\0ROSA", key=fingerprint, digest_size=8).digest()
    assert vault.search_key(7, "name", "ROSA") == int.from_bytes(hashed, "big", signed=True)


@pytest.mark.parametrize("row_id", [12, "12"])
@pytest.mark.parametrize("table", ["claims", "client_file_parts", "routes"])
async def test_a_payload_is_sealed_as_it_always_was(vault, database, place, table, row_id):
    for payload in (b"", b"ROSA ARDEN", b"x" * SHORT_BYTES_MAX, b"x" * (SHORT_BYTES_MAX + 1)):
        sealed = vault.seal(OWNER, table, row_id, payload)
        form = 1 if len(payload) > SHORT_BYTES_MAX else 2
        assert await read_by_hand(database, place, sealed, table, row_id) == (form, payload)


async def test_an_owner_has_a_key_of_the_month_for_each_class(vault, database):
    found = {row[4]: row for row in await rows(database, KEYS) if row[1:3] == OWNER}
    assert found.keys() == {one.value for one in KeyClass}
    assert {row[3] for row in found.values()} == {"2024-03"}
    assert all(0 < row[0] < 2**63 for row in found.values())
    assert vault.has_current_key(OWNER)
    assert not vault.has_current_key((7, 4))


async def test_a_new_month_has_no_current_key_yet(vault, clock):
    assert vault.has_current_key(OWNER)
    clock.advance(timedelta(days=31))
    assert not vault.has_current_key(OWNER)


async def test_a_payload_of_the_largest_size_is_sealed(vault, monkeypatch):
    monkeypatch.setattr(limits, "PAYLOAD_BYTES_MAX", 5_000)
    sealed = vault.seal(OWNER, "claims", 1, b"x" * 5_000)
    assert vault.open(OWNER, "claims", 1, sealed) == b"x" * 5_000
    with pytest.raises(ValueError, match="at most 5000 bytes"):
        vault.seal(OWNER, "claims", 1, b"x" * 5_001)


@pytest.mark.parametrize("sealed", [b"", b"\x02", b"\x02" + b"0" * 19, b"\x03" + b"0" * 40])
async def test_what_was_never_sealed_is_said_to_be_that(vault, sealed):
    with pytest.raises(InvalidSeal, match="not a sealed payload"):
        vault.open(OWNER, "claims", 1, sealed)


async def test_hashes_are_made_as_they_always_were(vault):
    key = vault._secrets.fingerprint
    words = [b"7", b"member", b"W123", "Ärzte".encode()]
    text = b"".join(len(word).to_bytes(4, "big") + word for word in words)
    expected = hashlib.blake2b(text, key=key, digest_size=32).digest()
    assert vault.fingerprint(7, "member", "W123", "Ärzte") == expected
    long = [b"7", b"claim", b"x" * 9_000]
    text = b"".join(len(word).to_bytes(4, "big") + word for word in long)
    expected = hashlib.blake2b(text, key=key, digest_size=32).digest()
    assert vault.fingerprint(7, "claim", b"x" * 9_000) == expected
    searched = hashlib.blake2b(b"7\0name\0ROSA\0ARDEN", key=key, digest_size=8).digest()
    assert vault.search_key(7, "name", "ROSA", "ARDEN") == int.from_bytes(
        searched, "big", signed=True
    )
    # A column of 64 bits has a sign, which every other hash needs.
    assert min(vault.search_key(7, "name", str(number)) for number in range(64)) < 0


def test_keys_are_read_in_either_base64_and_numbered_from_one():
    key = new_master_key()
    url_safe = base64.urlsafe_b64encode(key.secret).decode()
    assert read_keys(f"{key.text}, {url_safe}\n", "a test") == (key, key)
    with pytest.raises(KeyRefused, match="Master key 2 of a test"):
        read_keys(f"{key.text} nonsense", "a test")
    with pytest.raises(KeyRefused, match="Master key 1 of a test"):
        read_keys(f"{key.text[:-4]}!{key.text[-3:]}", "a test")
    every_sign = b"\xfb\xff" * 16  # in base64 with each of the signs that differ
    assert {*"+/"} <= {*base64.b64encode(every_sign).decode()}
    for written in (base64.b64encode(every_sign), base64.urlsafe_b64encode(every_sign)):
        assert read_keys(written.decode(), "a test")[0].secret == every_sign


async def test_a_kept_key_opens_what_an_older_backup_has(place, database):
    file = place.data / "master.key"
    (new,) = place.keys().keys
    old = new_master_key()
    id, wrapped = MasterKeys([old]).wrap(b"s" * 32, "a test")
    keys = MasterKeys([new], file=file)
    with pytest.raises(KeyRefused, match=id):
        keys.unwrap(id, wrapped, "a test")
    with pytest.raises(KeyRefused, match="give that key"):
        keys.unwrap("../secret", wrapped, "a test")
    with pytest.raises(KeyRefused, match="give that key"):  # keys of the environment have no file
        MasterKeys([new]).unwrap(id, wrapped, "a test")
    write_private(file.with_name(f"master.key.{id}"), old.text.encode())
    assert keys.unwrap(id, wrapped, "a test") == b"s" * 32


def test_a_private_file_is_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "key"
    write_private(file, b"one")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        write_private(file, b"two", over=False)
    assert file.read_bytes() == b"one"
    write_private(file, b"three")
    assert file.read_bytes() == b"three"
    assert [each.name for each in tmp_path.iterdir()] == ["key"]


@pytest.mark.parametrize("over", [True, False])
def test_a_private_file_is_on_disk_before_it_has_its_name(tmp_path, monkeypatch, over):
    file, steps = tmp_path / "key", []
    sync = os.fsync

    def record(handle):
        status = os.fstat(handle)
        what = "folder" if stat.S_ISDIR(status.st_mode) else status.st_size
        steps.append((what, file.exists()))
        sync(handle)

    monkeypatch.setattr(os, "fsync", record)
    write_private(file, b"content", over=over)
    assert steps == [(len(b"content"), False), ("folder", True)]
    opened = [os.path.realpath(each) for each in Path("/proc/self/fd").iterdir()]
    assert not [name for name in opened if name.startswith(str(tmp_path))]
