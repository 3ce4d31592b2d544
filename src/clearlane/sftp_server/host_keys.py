"""Make host keys, and choose those that prove the server and those that clients are only given to remember.

A rotation is announced before it happens: OpenSSH's clients learn the next key while the old one still proves the server
(``hostkeys-00@openssh.com``), and know it when it takes over.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import asyncssh

from clearlane.sftp_server.algorithms import AlgorithmSet, public_key_text
from clearlane.store.database.database import Actor, Database
from clearlane.store.installation.sftp_host_keys import HostKey, add_host_keys, load_host_keys
from clearlane.store.vault.vault import Vault

RSA_BITS = 3_072
# What a new installation makes: the second for clients that know no elliptic curves.
MAKERS: Mapping[str, Callable[[], asyncssh.SSHKey]] = {
    "ssh-ed25519": lambda: asyncssh.generate_private_key("ssh-ed25519"),
    "ssh-rsa": lambda: asyncssh.generate_private_key("ssh-rsa", key_size=RSA_BITS),
}


@dataclass(frozen=True, slots=True)
class HostKeyChoice:
    """The host keys of a moment."""

    proving: tuple[HostKey, ...]
    """One of each algorithm, with which the server proves itself."""
    announced: tuple[HostKey, ...]
    """Those that take over later."""

    def pairs(self, algorithms: AlgorithmSet) -> list[asyncssh.SSHKeyPair]:
        """Return the keys as the server offers them; the first of an algorithm proves it."""
        keys = (*self.proving, *self.announced)
        return [
            algorithms.host_key_pair(asyncssh.import_private_key(key.private_key)) for key in keys
        ]


def choose_host_keys(keys: Sequence[HostKey], now: datetime) -> HostKeyChoice:
    """Return which keys prove the server now, and which will; earlier ones have been replaced."""
    proving: dict[str, HostKey] = {}
    for key in sorted(keys, key=lambda key: key.active_from):
        if key.active_from <= now:
            proving[key.algorithm] = key
    later = tuple(key for key in keys if key.active_from > now)
    return HostKeyChoice(tuple(proving.values()), later)


def make_host_keys(active_from: datetime) -> list[HostKey]:
    """Return new keys, one of each algorithm. It takes up to a second of a thread."""
    return [_make(algorithm, active_from) for algorithm in MAKERS]


def _make(algorithm: str, active_from: datetime) -> HostKey:
    key = MAKERS[algorithm]()
    return HostKey(
        fingerprint=key.get_fingerprint(),
        algorithm=algorithm,
        public_key=public_key_text(key),
        private_key=key.export_private_key(),
        active_from=active_from,
    )


async def ensure_host_keys(database: Database, vault: Vault, now: datetime) -> list[HostKey]:
    """Return the host keys of the installation; make the first ones if there are none."""
    found = await load_host_keys(database, vault)
    if found:
        return found
    made = await asyncio.to_thread(make_host_keys, now)
    actor = Actor("node", "sftp")
    await add_host_keys(database, vault, made, only_first=True, now=now, actor=actor)
    return await load_host_keys(database, vault)
