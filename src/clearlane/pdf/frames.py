"""What is sent to the process that makes a PDF file: one heading, then claim payments one by one, then an end.

    frame(heading), frame(claim_payment), ..., END       # written by the caller
    read_heading(source), read_claim_payments(source)    # read by the process

A frame is its length in four bytes and a value in MessagePack. The end is a frame of length 0: if it is missing
the input was cut, and no file may be made of it.
"""

from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from clearlane.payments.model import PaymentStruct
from clearlane.payments.payment import ClaimPayment, Payment, ProviderAdjustment

FRAME_BYTES_MAX = 32 * 1024 * 1024
"""Far more than a claim of 999 lines, or a payment with thousands of provider adjustments, takes."""
END = bytes(4)


class PaymentFileHeading(PaymentStruct, frozen=True, tag="payment"):
    """A payment whose claim payments follow."""

    payment: Payment
    adjustments: tuple[ProviderAdjustment, ...] = ()


class ClaimFileHeading(PaymentStruct, frozen=True, tag="claim"):
    """The payments of one claim. As many claim payments follow, one for each."""

    payments: tuple[Payment, ...]


class FilingSection(PaymentStruct, frozen=True):
    """A part of a proof of filing: facts with their labels, and sentences or segments below them."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    texts: tuple[str, ...] = ()
    is_x12: bool = False
    """Whether the texts are segments of a file; the first such section begins a page."""


class FilingFileHeading(PaymentStruct, frozen=True, tag="filing"):
    """A proof of filing, in words. Nothing follows."""

    result: str
    """What it proves, in a few words."""
    patient: str
    payer: str
    claim_number: str
    notices: tuple[str, ...] = ()
    sections: tuple[FilingSection, ...] = ()


class FormText(PaymentStruct, frozen=True, array_like=True):
    """A text of a pre-printed form, in points from the left and bottom edges of the page."""

    x: float
    y: float
    text: str


class FormFileHeading(PaymentStruct, frozen=True, tag="form"):
    """The texts of a claim for the pages of its pre-printed form. Nothing follows."""

    form: str
    pages: tuple[tuple[FormText, ...], ...]


class SheetBox(PaymentStruct, frozen=True, array_like=True):
    """A box of a claim with its number, what it holds, and its texts."""

    number: str
    words: str
    texts: tuple[str, ...] = ()


class SheetFileHeading(PaymentStruct, frozen=True, tag="sheet"):
    """A claim as a plain sheet, box by box. Nothing follows."""

    form: str
    patient: str
    claim_number: str
    notices: tuple[str, ...] = ()
    boxes: tuple[SheetBox, ...] = ()
    lines: tuple[tuple[SheetBox, ...], ...] = ()
    """The boxes of each service line, the same for all."""


class BenefitsOfService(PaymentStruct, frozen=True):
    """The benefits of one service: a row of texts for each network and level."""

    service: str
    coverage: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


class PatientBenefits(PaymentStruct, frozen=True):
    """The sheet of one patient's benefits, in texts."""

    patient: str
    verdict: str
    facts: tuple[tuple[str, str], ...] = ()
    notices: tuple[str, ...] = ()
    balances: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    groups: tuple[BenefitsOfService, ...] = ()
    without_figures: tuple[tuple[str, str], ...] = ()
    """Services of which the payer states the coverage alone, by coverage."""
    notes: tuple[str, ...] = ()


class BenefitsFileHeading(PaymentStruct, frozen=True, tag="benefits"):
    """The benefits that a payer states, patient by patient. Nothing follows."""

    number: str
    asked: str
    notices: tuple[str, ...] = ()
    patients: tuple[PatientBenefits, ...] = ()


FileHeading = (
    PaymentFileHeading
    | ClaimFileHeading
    | FilingFileHeading
    | FormFileHeading
    | SheetFileHeading
    | BenefitsFileHeading
)


class FrameFault(ValueError):
    """Input that is cut, too large, or not what a file is made of. Says where, never what."""


_encoder = msgspec.msgpack.Encoder()
_headings: msgspec.msgpack.Decoder[FileHeading] = msgspec.msgpack.Decoder(FileHeading)
_claim_payments = msgspec.msgpack.Decoder(ClaimPayment)


def frame(value: FileHeading | ClaimPayment) -> bytes:
    """Return a value as a frame."""
    content = _encoder.encode(value)
    if len(content) > FRAME_BYTES_MAX:
        raise FrameFault(f"a frame is longer than {FRAME_BYTES_MAX} bytes")
    return len(content).to_bytes(4) + content


def read_heading(source: BinaryIO) -> FileHeading:
    """Return the heading, which is the first frame."""
    content = _read_frame(source)
    if content is None:
        raise FrameFault("the input ends before its heading")
    return _headings.decode(content)


def read_claim_payments(source: BinaryIO) -> Iterator[ClaimPayment]:
    """Yield the claim payments up to the end, which must be there."""
    while (content := _read_frame(source)) is not None:
        yield _claim_payments.decode(content)


def _read_frame(source: BinaryIO) -> bytes | None:
    """Return the content of the next frame, or None at the end."""
    length = int.from_bytes(_read_exactly(source, len(END)))
    if length > FRAME_BYTES_MAX:
        raise FrameFault(f"a frame is longer than {FRAME_BYTES_MAX} bytes")
    return _read_exactly(source, length) if length else None


def _read_exactly(source: BinaryIO, count: int) -> bytes:
    content = source.read(count)
    if len(content) != count:
        raise FrameFault("the input was cut")
    return content
