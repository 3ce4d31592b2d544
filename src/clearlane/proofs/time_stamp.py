"""Time stamps (RFC 3161) of checkpoints: an authority outside of the installation says that a checkpoint existed at a time.

    question = ask_for_stamp(checkpoint)             # bytes for the authority
    read_stamp(response, checkpoint).at              # raises StampFault unless it is a stamp of this checkpoint
    verify_stamp(response, checkpoint, roots)        # raises StampFault unless one of these authorities signed it

Knows no network and no database.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography.x509 import Certificate, load_der_x509_certificate, load_pem_x509_certificates
from rfc3161_client import (
    TimestampRequestBuilder,
    TimeStampResponse,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)
from rfc3161_client.tsp import PKIStatus

from clearlane.proofs.checkpoint import Checkpoint, encode_checkpoint

STAMP_BYTES_MAX = 64 * 1024
DIGESTS = {"2.16.840.1.101.3.4.2.1": hashlib.sha256, "2.16.840.1.101.3.4.2.3": hashlib.sha512}
"""The hash functions of stamps, by their object identifiers."""


class StampFault(Exception):
    """A stamp that is not one of this checkpoint, or of no known authority. The text says why."""


@dataclass(frozen=True, slots=True)
class TimeStamp:
    """What a stamp says."""

    at: datetime
    authority: str
    """The subject of the certificate that signed it, as the stamp names it."""


def ask_for_stamp(checkpoint: Checkpoint) -> bytes:
    """Return a request for a stamp of a checkpoint as it is published."""
    return TimestampRequestBuilder().data(encode_checkpoint(checkpoint)).build().as_bytes()


def read_stamp(response: bytes, checkpoint: Checkpoint) -> TimeStamp:
    """Return what a stamp says of a checkpoint. Who signed it is not checked: :func:`verify_stamp` does that."""
    found = _decode(response)
    imprint = found.tst_info.message_imprint
    digest = DIGESTS.get(imprint.hash_algorithm.dotted_string)
    if digest is None or digest(encode_checkpoint(checkpoint)).digest() != imprint.message:
        raise StampFault("It is the stamp of something else.")
    return TimeStamp(found.tst_info.gen_time.astimezone(UTC), _signer_name(found))


def verify_stamp(response: bytes, checkpoint: Checkpoint, roots: Sequence[Certificate]) -> None:
    """Check that a stamp is of a checkpoint, and signed by a certificate for time stamps that leads to one of these roots."""
    verifier = VerifierBuilder(roots=list(roots)).build()
    try:
        verifier.verify_message(_decode(response), encode_checkpoint(checkpoint))
    except (VerificationError, ValueError):
        raise StampFault(
            "None of the authorities that were given signed it, or it was changed."
        ) from None


def read_roots(content: bytes) -> list[Certificate]:
    """Read the certificates of authorities from a file in PEM. Raises StampFault."""
    try:
        return load_pem_x509_certificates(content)
    except ValueError:
        raise StampFault("The file holds no certificates in PEM.") from None


def _decode(response: bytes) -> TimeStampResponse:
    if len(response) > STAMP_BYTES_MAX:
        raise StampFault("It is too long to be a stamp.")
    try:
        found = decode_timestamp_response(response)
        if found.status != PKIStatus.GRANTED:
            raise StampFault("The authority granted no stamp.")
        _ = (found.tst_info.gen_time, found.signed_data.certificates)
    except ValueError:
        raise StampFault("It cannot be read: it is damaged, or no stamp.") from None
    return found


def _signer_name(found: TimeStampResponse) -> str:
    """Return the name of the certificate that a stamp says it is signed with; empty if it is not in the stamp."""
    signers = {(one.issuer, one.serial_number) for one in found.signed_data.signer_infos}
    certificates = map(load_der_x509_certificate, found.signed_data.certificates)
    names = (
        one.subject.rfc4514_string()
        for one in certificates
        if (one.issuer, one.serial_number) in signers
    )
    return next(names, "")
