"""Checkpoints of the log: the root over the leaves of an hour, chained to the checkpoint before it and signed.

    made = sign_checkpoint(seed, number=3, signed_at=..., leaves=hashes, previous=before)
    made.digest                                  # what the next checkpoint names as ``previous``

Whoever keeps a checkpoint can tell later whether a proof, or another checkpoint, belongs to the same log.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime

import msgspec

from clearlane.kernel.clock import moment_text
from clearlane.proofs.merkle import HASH_BYTES, tree_root
from clearlane.proofs.signing import has_signature, signed_content, with_signature

BEFORE_FIRST = bytes(HASH_BYTES).hex()
"""What the first checkpoint of a log names as the one before it."""

_ENCODER = msgspec.json.Encoder()


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A signed checkpoint. Hashes, key and signature are in hexadecimal digits."""

    number: int
    """From 1, without a gap."""
    signed_at: str
    """When the installation signed it, by its own clock."""
    leaves: int
    root: str
    """Over the leaves since the checkpoint before it (RFC 6962)."""
    previous: str
    """The digest of the checkpoint before it."""
    key: str
    """The installation's public key."""
    signature: str = ""

    @property
    def signed_bytes(self) -> bytes:
        """What is signed: compact JSON of everything before the signature."""
        return signed_content(self)

    @property
    def digest(self) -> str:
        """The hash by which the next checkpoint names this one."""
        return hashlib.sha256(self.signed_bytes).hexdigest()

    @property
    def is_signed(self) -> bool:
        """Whether the signature is that of its key."""
        return has_signature(self)


_DECODER = msgspec.json.Decoder(Checkpoint)


def sign_checkpoint(
    seed: bytes, *, number: int, signed_at: datetime, leaves: Sequence[bytes], previous: str
) -> Checkpoint:
    """Return the checkpoint over some hashes of leaves."""
    unsigned = Checkpoint(
        number=number,
        signed_at=moment_text(signed_at),
        leaves=len(leaves),
        root=tree_root(leaves).hex(),
        previous=previous,
        key="",
    )
    return with_signature(seed, unsigned)


def read_checkpoint(content: str | bytes) -> Checkpoint:
    """Return the checkpoint that was kept as one line of JSON."""
    return _DECODER.decode(content)


def encode_checkpoint(checkpoint: Checkpoint) -> bytes:
    """Return a checkpoint as it is kept and published: one line of JSON."""
    return _ENCODER.encode(checkpoint)
