"""What an operator needs to set up an SSH login: a key pair of our own, and the key that the server shows.

Nothing is logged in to, and nothing is stored.
"""

import asyncio
from typing import NamedTuple

import asyncssh

from clearlane.connect.address_guard import Lookup, query_name_server, resolve
from clearlane.connect.port import Denied, Unreachable
from clearlane.kernel import limits

KEY_ALGORITHM = "ssh-ed25519"
KEY_COMMENT = "clearlane"


class SshKeyPair(NamedTuple):
    """A key pair as text."""

    private_key: str
    """In the form of OpenSSH. A secret."""
    public_key: str
    """One line, for the payer."""

    def __repr__(self) -> str:
        return f"SshKeyPair({self.public_key})"


class ShownHostKey(NamedTuple):
    """The key by which a server proves itself."""

    algorithm: str
    fingerprint: str
    """SHA256, as OpenSSH writes it."""


def make_key_pair() -> SshKeyPair:
    """Make a key pair that is used for one route alone."""
    key = asyncssh.generate_private_key(KEY_ALGORITHM, comment=KEY_COMMENT)
    return SshKeyPair(key.export_private_key().decode(), _public_text(key))


def public_key_of(private_key: str) -> str:
    """Return the public half of a key without a passphrase; empty for one that cannot be read without it."""
    try:
        return _public_text(asyncssh.import_private_key(private_key))
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError, ValueError):
        return ""


async def read_host_key(
    host: str, port: int, *, allow_internal: bool, lookup: Lookup = query_name_server
) -> ShownHostKey:
    """Return the host key that a server shows. Whether it is the payer's, only the payer can say."""
    seconds = limits.CONNECT_SECONDS_MAX
    address = await resolve(
        host, port, allow_internal=allow_internal, seconds=seconds, lookup=lookup
    )
    try:
        async with asyncio.timeout(seconds):
            key = await asyncssh.get_server_host_key(address, port, config=None)
    except TimeoutError:
        raise Unreachable(f"{host}:{port} did not answer in {seconds} seconds.") from None
    except asyncssh.KeyExchangeFailed:
        raise Denied(f"{host}:{port} offers no acceptable host key or cipher.") from None
    except (asyncssh.Error, OSError):
        raise Unreachable(f"{host}:{port} cannot be reached, or is no SSH server.") from None
    if key is None:
        raise Denied(f"{host}:{port} showed no host key.")
    return ShownHostKey(key.get_algorithm(), key.get_fingerprint())


def _public_text(key: asyncssh.SSHKey) -> str:
    return key.export_public_key().decode().strip()
