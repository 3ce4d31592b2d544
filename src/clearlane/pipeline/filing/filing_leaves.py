"""Make the leaves that deliveries, acknowledgements and answers in real time add to the log of filings.

The statements behind the leaves are not stored. They are made of rows that never change, so that a proof makes them again.
"""

from collections.abc import Iterable
from typing import NamedTuple

from clearlane.kernel.clock import micros_text
from clearlane.proofs.statements import (
    AcknowledgementStatement,
    AnswerStatement,
    DeliveryStatement,
    make_leaf,
    part_digest,
)
from clearlane.store.delivery.batches import Batch


class AcknowledgementFile(NamedTuple):
    """A payer's file, as far as statements about it name it."""

    name: str
    sha256: str
    received_at: int


def delivery_leaves(batch: Batch, parts: Iterable[tuple[str, bytes]], at: int) -> list[bytes]:
    """Return a leaf for each claim of a batch; ``parts`` are the claims with the SHA-256 of their parts of the file."""
    return [
        make_leaf(delivery_statement(batch, claim_number, digest.hex(), at))
        for claim_number, digest in parts
    ]


def delivery_statement(batch: Batch, claim_number: str, digest: str, at: int) -> DeliveryStatement:
    """Return what the log says of one claim of a batch that was delivered."""
    return DeliveryStatement(
        claim_number=claim_number,
        payer_id=batch.payer_id,
        receiver=batch.hop or batch.payer_id,
        file=batch.name,
        file_sha256=batch.digest,
        part_sha256=digest,
        delivered_at=micros_text(at) or "",
    )


def acknowledgement_leaf(
    file: AcknowledgementFile, claim_number: str, source: str, part: bytes
) -> bytes:
    """Return the leaf of one acknowledgement."""
    return make_leaf(acknowledgement_statement(file, claim_number, source, part))


def acknowledgement_statement(
    file: AcknowledgementFile, claim_number: str, source: str, part: bytes
) -> AcknowledgementStatement:
    """Return what the log says of one acknowledgement."""
    return AcknowledgementStatement(
        claim_number=claim_number,
        source=source,
        file=file.name,
        file_sha256=file.sha256,
        part_sha256=part_digest(part),
        received_at=micros_text(file.received_at) or "",
    )


def answer_leaf(received_at: int, claim_number: str, source: str, part: bytes) -> bytes:
    """Return the leaf of a payer's answer in real time."""
    return make_leaf(answer_statement(received_at, claim_number, source, part))


def answer_statement(
    received_at: int, claim_number: str, source: str, part: bytes
) -> AnswerStatement:
    """Return what the log says of a payer's answer in real time."""
    return AnswerStatement(
        claim_number=claim_number,
        source=source,
        part_sha256=part_digest(part),
        received_at=micros_text(received_at) or "",
    )
