"""Master keys, and the installation keys that they wrap.

Knows where a master key may come from (the environment, a command that prints it, or a file only its owner can read)
and how it wraps another key. A master key never enters the database, a backup or a message.
"""

import base64
import binascii
import contextlib
import hashlib
import hmac
import os
import secrets
import shlex
import stat
import subprocess
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import select

from clearlane.store.database.group_commit import OperationRefused, Tx
from clearlane.store.database.schema import installation_keys
from clearlane.store.database.sql import Statement, insert_into
from clearlane.store.vault.private_files import write_private

KEY_BYTES = 32
NONCE_BYTES = 12
KEY_COMMAND_SECONDS_MAX = 30
KEY_COMMAND_BYTES_MAX = 4_096
KEY_COMMAND = "CLEARLANE_MASTER_KEY_COMMAND"
KEY_FORMAT = "32 random bytes in base64, for example from: openssl rand -base64 32"


class KeyRefused(OperationRefused):
    """A master key that is missing, open to others, unreadable or wrong. The text says what to do."""


@dataclass(frozen=True, slots=True)
class MasterKey:
    """A key that wraps others. Its repr shows its id only."""

    secret: bytes = field(repr=False)

    @property
    def id(self) -> str:
        """An id of the key that reveals nothing about it."""
        return hmac.digest(self.secret, b"clearlane master key id", hashlib.sha256)[:6].hex()

    @property
    def text(self) -> str:
        """The key as the file and the environment hold it."""
        return base64.b64encode(self.secret).decode()


def new_master_key() -> MasterKey:
    """Return a fresh master key."""
    return MasterKey(secrets.token_bytes(KEY_BYTES))


def read_keys(text: str, source: str) -> tuple[MasterKey, ...]:
    """Parse keys separated by commas, blanks or lines, newest first."""
    words = text.replace(",", " ").split()
    if not words:
        raise KeyRefused(f"{source} holds no master key: give {KEY_FORMAT}.")
    return tuple(_read_key(word, number, source) for number, word in enumerate(words, 1))


def _read_key(word: str, number: int, source: str) -> MasterKey:
    try:
        secret = base64.b64decode(word.translate({ord("-"): "+", ord("_"): "/"}), validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if len(secret) != KEY_BYTES:
        raise KeyRefused(f"Master key {number} of {source} cannot be used: give {KEY_FORMAT}.")
    return MasterKey(secret)


def read_key_file(file: Path) -> tuple[MasterKey, ...]:
    """Read the keys of a file, which must be ours and closed to everyone else."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise KeyRefused(f"The key file {file} cannot be read: {error.strerror}.") from None
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise KeyRefused(f"The key file {file} is not a regular file.")
    with os.fdopen(handle, "r", encoding="ascii", errors="replace") as opened:
        if status.st_uid != os.geteuid():
            raise KeyRefused(
                f"The key file {file} belongs to another user: chown it to the service."
            )
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise KeyRefused(f"The key file {file} is open to others: run chmod 600 {file}.")
        return read_keys(opened.read(), f"the file {file}")


def write_key_file(file: Path, keys: Iterable[MasterKey], *, over: bool) -> None:
    """Write the keys, newest first, durably before anything is wrapped with them."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    content = "".join(f"{key.text}\n" for key in keys)
    write_private(file, content.encode("ascii"), over=over)


def kept_key_file(file: Path, key_id: str) -> Path:
    """Return the file in which a rotation keeps an old key, beside the key file."""
    return file.with_name(f"{file.name}.{key_id}")


class MasterKeys:
    """The master keys of this process, newest first."""

    def __init__(
        self, keys: Sequence[MasterKey] = (), *, file: Path | None = None, may_create: bool = False
    ) -> None:
        self._keys = tuple(keys)
        self._file = file
        self._may_create = may_create

    @property
    def file(self) -> Path | None:
        """The key file, or None when the keys come from the environment or a command."""
        return self._file

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the keys, the wrapping one first."""
        return tuple(key.id for key in self._keys)

    @property
    def keys(self) -> tuple[MasterKey, ...]:
        """The keys themselves, newest first."""
        return self._keys

    def reload(self) -> None:
        """Read the key file again, if there is one."""
        if self._file is not None and (found := read_key_file(self._file)):
            self._keys = found

    def wrapping_key(self) -> MasterKey:
        """Return the key that wraps. On the first start of a sandbox it is made here."""
        self.reload()
        if not self._keys and self._file is not None and self._may_create:
            self._create(self._file)
        if not self._keys:
            raise KeyRefused(self._missing_key_text())
        return self._keys[0]

    def wrap(self, secret: bytes, bound_to: str) -> tuple[str, bytes]:
        """Return the id of the wrapping key, and the secret wrapped for this binding."""
        key, nonce = self.wrapping_key(), secrets.token_bytes(NONCE_BYTES)
        return key.id, nonce + AESGCM(key.secret).encrypt(nonce, secret, bound_to.encode())

    def unwrap(self, master_id: str, wrapped: bytes, bound_to: str) -> bytes:
        """Return the secret; an unknown key is looked up in the file once more."""
        key = self._find(master_id)
        if key is None:
            self.reload()
            key = self._find(master_id) or self._find_kept(master_id)
        if key is None and not self._keys:
            raise KeyRefused(self._missing_key_text())
        if key is None:
            raise KeyRefused(
                f"The database was wrapped with the master key {master_id}, which is not among those "
                f"given ({', '.join(self.ids)}): give that key."
            )
        nonce, sealed = wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:]
        try:
            return AESGCM(key.secret).decrypt(nonce, sealed, bound_to.encode())
        except (InvalidTag, ValueError):
            raise KeyRefused(f"The key of {bound_to} was changed in the database.") from None

    def _find(self, master_id: str) -> MasterKey | None:
        return next((key for key in self._keys if hmac.compare_digest(key.id, master_id)), None)

    def _find_kept(self, master_id: str) -> MasterKey | None:
        """Return a key that a rotation kept beside the key file: a restored backup may need it."""
        if self._file is None or not master_id.isalnum():
            return None
        found = read_key_file(kept_key_file(self._file, master_id))
        return next((key for key in found if hmac.compare_digest(key.id, master_id)), None)

    def _create(self, file: Path) -> None:
        with contextlib.suppress(FileExistsError):  # another process was first
            write_key_file(file, [new_master_key()], over=False)
        self.reload()

    def _missing_key_text(self) -> str:
        if self._file is None:
            return f"There is no master key: set CLEARLANE_MASTER_KEY to {KEY_FORMAT}."
        return (
            f"There is no master key in {self._file}. Put the installation's key file back, "
            "or for a new installation run: clearlane keys create"
        )


def read_key_command(command: str) -> tuple[MasterKey, ...]:
    """Run a command and read the keys that it prints. Its error output goes where ours goes; its output is never shown."""
    try:
        words = shlex.split(command)
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    except ValueError:
        raise KeyRefused(f"{KEY_COMMAND} cannot be read: a quote is not closed.") from None
    except OSError as fault:
        raise KeyRefused(f"{KEY_COMMAND} cannot be run: {words[0]}: {fault.strerror}.") from None
    timer = threading.Timer(KEY_COMMAND_SECONDS_MAX, process.kill)
    timer.start()
    with process, process.stdout or contextlib.nullcontext() as pipe:
        printed = pipe.read(KEY_COMMAND_BYTES_MAX + 1) if pipe else b""
        if len(printed) > KEY_COMMAND_BYTES_MAX:
            process.kill()
        status = process.wait()
    in_time = timer.is_alive()
    timer.cancel()
    if len(printed) > KEY_COMMAND_BYTES_MAX:
        raise KeyRefused(f"{KEY_COMMAND} prints more than {KEY_COMMAND_BYTES_MAX} bytes.")
    if not in_time:
        raise KeyRefused(f"{KEY_COMMAND} took longer than {KEY_COMMAND_SECONDS_MAX} seconds.")
    if status:
        raise KeyRefused(f"{KEY_COMMAND} failed with status {status}: {words[0]}.")
    return read_keys(printed.decode("ascii", errors="replace"), KEY_COMMAND)


def load_master_keys(*, text: str, file: Path, may_create: bool, command: str = "") -> MasterKeys:
    """Return the master keys from the text of the environment, else from a command, else from the file.

    With ``may_create`` a missing file is made when the first key is wrapped, never when one must
    be unwrapped: an installation that lost its key does not start with a new one.
    """
    if text.strip():
        if command.strip():
            raise KeyRefused(f"CLEARLANE_MASTER_KEY and {KEY_COMMAND} are both set: give one.")
        return MasterKeys(read_keys(text, "CLEARLANE_MASTER_KEY"))
    if command.strip():
        return MasterKeys(read_key_command(command))
    return MasterKeys(read_key_file(file), file=file, may_create=may_create)


@dataclass(frozen=True, slots=True)
class InstallationKeys:
    """Keys made once for an installation. Rotating the master key does not change them."""

    audit: bytes = field(repr=False)
    """Chains the audit trail."""
    fingerprint: bytes = field(repr=False)
    """Hashes what must be found again without being readable."""
    pepper: bytes = field(repr=False)
    """Hashes vendor secrets."""
    proof: bytes = field(repr=False)
    """The seed of the Ed25519 key that signs proofs of filing."""


INSTALLATION_KEY_NAMES = ("audit", "fingerprint", "pepper", "proof")
_FIND = Statement(
    select(installation_keys.c.name, installation_keys.c.master_id, installation_keys.c.wrapped)
)
_ADD = Statement(
    insert_into(
        installation_keys, "name", "master_id", "wrapped", "created_at"
    ).on_conflict_do_nothing(index_elements=["name"])
)


def installation_key_binding(name: str) -> str:
    """Return what a wrapped installation key is bound to."""
    return f"installation_keys:{name}"


async def load_installation_keys(tx: Tx, keys: MasterKeys) -> InstallationKeys | None:
    """Return the installation's keys, or None if there are none yet."""
    found = {name: (master, wrapped) for name, master, wrapped in await tx.rows(_FIND)}
    if not found:
        return None
    return InstallationKeys(
        **{
            name: keys.unwrap(*found[name], installation_key_binding(name))
            for name in INSTALLATION_KEY_NAMES
        }
    )


async def ensure_installation_keys(tx: Tx, keys: MasterKeys, now: int) -> InstallationKeys:
    """Return the installation's keys, made here on the first start of the first node."""
    present = await load_installation_keys(tx, keys)
    if present is None:
        for name in INSTALLATION_KEY_NAMES:
            master_id, wrapped = keys.wrap(
                secrets.token_bytes(KEY_BYTES), installation_key_binding(name)
            )
            await tx.run(_ADD, name=name, master_id=master_id, wrapped=wrapped, created_at=now)
        present = await load_installation_keys(tx, keys)
    assert present is not None
    return present
