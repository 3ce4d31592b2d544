"""The evidence about one claim as one canonical file: statements with their parts, paths and checkpoints.

    content = write_evidence(evidence, seed)     # compact JSON, signed; any other byte is another file
    evidence = read_evidence(content)            # raises EvidenceFault if it is not one

It holds patient data of this claim alone: the claim's part of each file. Knows no database and no PDF.
"""

from typing import TypeAlias

import msgspec

from clearlane.kernel.redacted_repr import show_filled
from clearlane.proofs.checkpoint import Checkpoint
from clearlane.proofs.signing import signed_content, with_signature
from clearlane.proofs.statements import Statement, encode_statement

FORMAT = 1
EVIDENCE_BYTES_MAX = 64 * 1024 * 1024
BEGINNING = b'{"clearlane_proof":'


class EvidenceFault(Exception):
    """A file that is not evidence in its canonical form. The text says why."""


class ProvenStatement(msgspec.Struct, frozen=True, kw_only=True):
    """A statement with what proves that it is in the log."""

    statement: Statement
    part: str
    """The claim's part of the file that it is about, each byte as the character of that number (Latin-1)."""
    salt: str
    checkpoint: int
    """The number of the checkpoint over its leaf."""
    position: int
    """The position of its leaf among those of the checkpoint, from 0."""
    path: tuple[str, ...]
    """From its leaf to the root of the checkpoint (RFC 6962)."""

    __repr__ = show_filled

    @property
    def part_bytes(self) -> bytes:
        """The part as it is in the file. Raises EvidenceFault if a character is not a byte."""
        try:
            return self.part.encode("latin-1")
        except UnicodeEncodeError:
            raise EvidenceFault("A part holds characters that no file of ours holds.") from None


class CheckpointStamp(msgspec.Struct, frozen=True, kw_only=True):
    """A time stamp of a checkpoint by an authority outside of the installation."""

    checkpoint: int
    response: str
    """The authority's response (RFC 3161) in hexadecimal digits."""


class FilingEvidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The evidence about one claim."""

    clearlane_proof: int = FORMAT
    made_at: str
    claim_number: str
    payer_id: str
    payer_name: str
    statements: tuple[ProvenStatement, ...]
    """In the order of their time."""
    checkpoints: tuple[Checkpoint, ...]
    stamps: tuple[CheckpointStamp, ...] = ()
    """At most one of each checkpoint; none if no authority stamps them."""
    key: str = ""
    """The installation's public key."""
    signature: str = ""
    """Of everything else, with an empty signature."""

    __repr__ = show_filled

    @property
    def signed_bytes(self) -> bytes:
        """What is signed."""
        return signed_content(self)


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(FilingEvidence)
Content: TypeAlias = bytes


def write_evidence(evidence: FilingEvidence, seed: bytes) -> Content:
    """Return the evidence as a file, signed by the installation."""
    return _ENCODER.encode(with_signature(seed, evidence))


def read_evidence(content: Content) -> FilingEvidence:
    """Read a file of evidence. What is not in the canonical form is refused, so that every byte of it counts."""
    if len(content) > EVIDENCE_BYTES_MAX:
        raise EvidenceFault("The evidence is too long to be about one claim.")
    try:
        found = _DECODER.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise EvidenceFault(
            "The evidence cannot be read: it is damaged, or not evidence of a filing."
        ) from None
    if found.clearlane_proof != FORMAT:
        raise EvidenceFault(
            f"The evidence has the format {found.clearlane_proof}; this version reads {FORMAT}."
        )
    if _ENCODER.encode(found) != content:
        raise EvidenceFault("The evidence is not in its canonical form: it was changed.")
    return found


def statement_key(one: ProvenStatement) -> tuple[int, bytes]:
    """Return what tells a statement from others: a file has each once."""
    return one.checkpoint, encode_statement(one.statement)
