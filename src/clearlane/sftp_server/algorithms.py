"""The algorithms that the server agrees to: those of today, and older ones at a port of their own.

Client and server agree on algorithms before the client says who it is. Older ones therefore have their own port, at which
only accounts that need them may sign in: no one can talk another account down to them.
"""

from dataclasses import dataclass

import asyncssh
from asyncssh.kex import get_kex_algs
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

SHA1_SIGNATURES = frozenset({b"ssh-rsa", b"ssh-rsa-sha1", b"rsa1024-sha1"})
RSA_BITS_MIN = 2_048

_WANTED_KEY_EXCHANGES = (
    "mlkem768x25519-sha256", "sntrup761x25519-sha512@openssh.com",
    "curve25519-sha256", "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256", "ecdh-sha2-nistp384",
    "ecdh-sha2-nistp521", "diffie-hellman-group-exchange-sha256", "diffie-hellman-group16-sha512",
    "diffie-hellman-group18-sha512", "diffie-hellman-group14-sha256",
)  # fmt: skip
# Those against quantum computers need libraries that not every machine has.
_KEY_EXCHANGES = tuple(each for each in _WANTED_KEY_EXCHANGES if each.encode() in get_kex_algs())
_CIPHERS = (
    "chacha20-poly1305@openssh.com", "aes256-gcm@openssh.com", "aes128-gcm@openssh.com", "aes256-ctr", "aes192-ctr",
    "aes128-ctr",
)  # fmt: skip
_MACS = (
    "hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512",
)  # fmt: skip
_SIGNATURES = (
    "ssh-ed25519", "sk-ssh-ed25519@openssh.com", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
    "sk-ecdsa-sha2-nistp256@openssh.com", "rsa-sha2-512", "rsa-sha2-256",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AlgorithmSet:
    """What a port agrees to."""

    key_exchanges: tuple[str, ...]
    ciphers: tuple[str, ...]
    macs: tuple[str, ...]
    signatures: tuple[str, ...]
    allows_sha1_signatures: bool = False

    def limit_key(self, key: asyncssh.SSHKey) -> None:
        """Let a client's key prove itself only by signatures that the port agrees to."""
        if not self.allows_sha1_signatures:
            key.all_sig_algorithms = set(key.all_sig_algorithms) - SHA1_SIGNATURES

    def host_key_pair(self, key: asyncssh.SSHKey) -> asyncssh.SSHKeyPair:
        """Return a host key that is offered with the signatures that the port agrees to."""
        (pair,) = asyncssh.load_keypairs([key])
        if not self.allows_sha1_signatures:
            pair.host_key_algorithms = [
                each for each in pair.host_key_algorithms if each not in SHA1_SIGNATURES
            ]
            if pair.algorithm in SHA1_SIGNATURES:  # an RSA key that is announced must be proved too
                pair.set_sig_algorithm(b"rsa-sha2-512")
        return pair


CURRENT_ALGORITHMS = AlgorithmSet(_KEY_EXCHANGES, _CIPHERS, _MACS, _SIGNATURES)
OLDER_ALGORITHMS = AlgorithmSet(
    (*_KEY_EXCHANGES, "diffie-hellman-group14-sha1", "diffie-hellman-group-exchange-sha1"),
    (*_CIPHERS, "aes256-cbc", "aes192-cbc", "aes128-cbc"),
    (*_MACS, "hmac-sha1-etm@openssh.com", "hmac-sha1"),
    (*_SIGNATURES, "ssh-rsa"),
    allows_sha1_signatures=True,
)


class UnusableKey(Exception):
    """A public key that cannot be used. The text says what would pass."""


def read_public_key(text: str) -> tuple[str, str]:
    """Return fingerprint and text of a public key, without comment and options; raise UnusableKey."""
    if "PRIVATE KEY" in text:
        raise UnusableKey(
            "It is a private key, which should not leave its owner. Give the public key, which ends in .pub."
        )
    try:
        key = asyncssh.import_public_key(text)
    except (asyncssh.KeyImportError, ValueError):
        raise UnusableKey(
            "It is not a public key. Give the file that ends in .pub, as `ssh-keygen -t ed25519` writes it."
        ) from None
    if key.algorithm == b"ssh-dss":
        raise UnusableKey("DSA keys are not accepted. Make one with `ssh-keygen -t ed25519`.")
    if isinstance(key.pyca_key, RSAPublicKey) and key.pyca_key.key_size < RSA_BITS_MIN:
        raise UnusableKey(f"An RSA key needs at least {RSA_BITS_MIN} bits.")
    return key.get_fingerprint(), public_key_text(key)


def public_key_text(key: asyncssh.SSHKey) -> str:
    """Return a public key as one line, without its comment."""
    return " ".join(key.export_public_key().decode().split()[:2])
