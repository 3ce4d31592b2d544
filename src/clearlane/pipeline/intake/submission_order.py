"""What the service and its submission process write to each other: a document to be submitted, and what became of it."""

from datetime import datetime

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.forms import AnyForm
from clearlane.kernel.finding import Severity
from clearlane.pipeline.intake.read import MalformedDocument, TooManyClaims
from clearlane.pipeline.intake.submission_result import (
    SubmissionNotStored,
    SubmissionReceipt,
    SubmissionResult,
)
from clearlane.store.database.database import Actor


class SubmissionOrder(msgspec.Struct, frozen=True):
    """A document, and who sends it. The site is looked up in the process's own snapshot of accounts."""

    document: bytes
    form: str
    vendor_id: int
    site_id: int
    actor: Actor
    now: datetime
    listed: tuple[Severity, ...]


class SubmissionAnswer(msgspec.Struct, frozen=True):
    """What became of a document: the name of the result's type, and the result."""

    type: str
    result: msgspec.Raw = msgspec.Raw(b"\x80")


NOT_TAKEN, UNKNOWN, FAILED = "not_taken", "unknown", "failed"
"""Answers that are no result: it was not begun; it may be stored; something unexpected was raised and logged."""
_RESULTS: dict[str, type[SubmissionResult]] = {
    "receipt": SubmissionReceipt,
    "malformed": MalformedDocument,
    "too_many": TooManyClaims,
    "not_stored": SubmissionNotStored,
}
_NAMES = {type: name for name, type in _RESULTS.items()}
_DECODERS = {name: msgspec.msgpack.Decoder(type) for name, type in _RESULTS.items()}
_ENCODER = msgspec.msgpack.Encoder()
_ORDER = msgspec.msgpack.Decoder(SubmissionOrder)
_ANSWER = msgspec.msgpack.Decoder(SubmissionAnswer)


def encode_order(
    document: bytes,
    form: AnyForm,
    site: Site,
    actor: Actor,
    now: datetime,
    listed: tuple[Severity, ...],
) -> bytes:
    """Return a document as it is handed over."""
    return _ENCODER.encode(
        SubmissionOrder(document, form.name, site.vendor_id, site.id, actor, now, listed)
    )


def decode_order(content: bytes) -> SubmissionOrder:
    """Return what :func:`encode_order` was given."""
    return _ORDER.decode(content)


def encode_result(result: SubmissionResult) -> bytes:
    """Return the answer that has a result."""
    own = msgspec.Raw(_ENCODER.encode(result))
    return _ENCODER.encode(SubmissionAnswer(_NAMES[type(result)], own))


def encode_refusal(type: str) -> bytes:
    """Return the answer that has none: ``NOT_TAKEN``, ``UNKNOWN`` or ``FAILED``."""
    return _ENCODER.encode(SubmissionAnswer(type))


def decode_answer(content: bytes) -> SubmissionResult | str:
    """Return the result of an answer, or why it has none."""
    answer = _ANSWER.decode(content)
    decoder = _DECODERS.get(answer.type)
    return answer.type if decoder is None else decoder.decode(answer.result)
