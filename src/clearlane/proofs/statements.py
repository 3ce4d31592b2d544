"""Statements of the log: that a claim was delivered, that an acknowledgement of it or an answer came; and their leaves.

    leaf = make_leaf(statement)                  # salt and hash: all that the log holds
    leaf_hash_of(salt, statement)                # the hash again, if the statement is known

A leaf is the hash of a random salt and the statement in its canonical form. Without the statement it says nothing, and
without the salt no one can guess the statement. Knows no claim and no patient: parts of files are named by their hashes.
"""

import hashlib
from typing import TypeAlias

import msgspec

from clearlane.kernel.ids import random_bytes
from clearlane.proofs.merkle import HASH_BYTES, leaf_hash

SALT_BYTES = 16
LEAF_BYTES = SALT_BYTES + HASH_BYTES
HASHED_AT_ONCE = 2_000
"""Of longer pieces the hash would give the interpreter away, and wait for it afterwards on a busy node."""


class DeliveryStatement(msgspec.Struct, frozen=True, kw_only=True, tag="delivery"):
    """A file with a claim was delivered."""

    claim_number: str
    payer_id: str
    receiver: str
    """Who got the file: the payer, or the clearinghouse on the way to it."""
    file: str
    file_sha256: str
    part_sha256: str
    """Of the claim's part of the file (``x12.reader.claim_slices``)."""
    delivered_at: str


class AcknowledgementStatement(msgspec.Struct, frozen=True, kw_only=True, tag="acknowledgement"):
    """A file of a payer with an acknowledgement of a claim was received."""

    claim_number: str
    source: str
    """TA1, 999, 277CA or 277."""
    file: str
    file_sha256: str
    part_sha256: str
    """Of the claim's part of the file, a complete interchange."""
    received_at: str


class AnswerStatement(msgspec.Struct, frozen=True, kw_only=True, tag="answer"):
    """A payer answered a question about a claim in real time. There is no file: the answer came back over the same connection."""

    claim_number: str
    source: str
    """277."""
    part_sha256: str
    """Of the answer as it came; of the claim's part of it if it names other claims too."""
    received_at: str


ReceivedStatement: TypeAlias = AcknowledgementStatement | AnswerStatement
"""What a payer sent about a claim."""
Statement: TypeAlias = DeliveryStatement | ReceivedStatement

_ENCODER = msgspec.json.Encoder()


def encode_statement(statement: Statement) -> bytes:
    """Return a statement in its canonical form: compact JSON, the fields in the order of their declaration."""
    return _ENCODER.encode(statement)


def make_leaf(statement: Statement) -> bytes:
    """Return a new leaf: a random salt, and the hash of both."""
    salt = random_bytes(SALT_BYTES)
    return salt + leaf_hash_of(salt, statement)


def leaf_hash_of(salt: bytes, statement: Statement) -> bytes:
    """Return the hash of the leaf of a statement with this salt."""
    return leaf_hash(salt + _ENCODER.encode(statement))


def split_leaves(content: bytes) -> list[tuple[bytes, bytes]]:
    """Return salt and hash of each leaf of an entry."""
    return [
        (content[at : at + SALT_BYTES], content[at + SALT_BYTES : at + LEAF_BYTES])
        for at in range(0, len(content), LEAF_BYTES)
    ]


def part_digest(part: bytes) -> str:
    """Return the SHA-256 of a part of a file."""
    hashed = hashlib.sha256()
    for at in range(0, len(part), HASHED_AT_ONCE):
        hashed.update(part[at : at + HASHED_AT_ONCE])
    return hashed.hexdigest()
