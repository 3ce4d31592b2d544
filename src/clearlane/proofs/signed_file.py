"""A PDF with the evidence inside, and a signature over every byte of it.

    content = seal_pdf(pdf, evidence, seed)      # evidence attached, then signed
    found = open_file(content)                   # the evidence of a PDF or of a JSON file, and whether the PDF is as signed

The evidence is attached as PDF defines it (an embedded file in an incremental update, ISO 32000-1, 7.5.6 and 7.11.4), so that
any viewer can save it. It is not compressed: it can be found without a PDF library. The signature is in a comment; what is
signed is the file without the digits of the signature. Knows the form of a PDF file; knows no text on its pages.
"""

import re
from dataclasses import dataclass

from clearlane.proofs.evidence import BEGINNING, EvidenceFault
from clearlane.proofs.signing import SIGNATURE_BYTES, is_signed, sign

PDF_BEGINNING = b"%PDF-"
ATTACHMENT_NAME = "evidence.json"
MARK = b"%clearlane-proof ed25519 "
SIGNATURE_DIGITS = 2 * SIGNATURE_BYTES
_STREAM, _END_STREAM = b">>\nstream\n", b"\nendstream"
_TRAILER = re.compile(rb"trailer\s*<<(.*?)>>\s*startxref\s*(\d+)\s*%%EOF\s*$", re.DOTALL)
_SIGNATURE = re.compile(rb"[0-9a-f]{%d}" % SIGNATURE_DIGITS)


class PdfFormFault(Exception):
    """A PDF that is not in the form in which our own library writes it."""


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """The evidence in a file, and the signature over the file if it is a PDF."""

    evidence: bytes
    signature: bytes | None = None
    """Of the PDF; None for a file of evidence alone."""
    signed: bytes = b""

    def is_signed_by(self, public_key: bytes) -> bool:
        """Return whether every byte of a PDF is as it was signed with a key."""
        return self.signature is None or is_signed(public_key, self.signature, self.signed)


def seal_pdf(pdf: bytes, evidence: bytes, seed: bytes) -> bytes:
    """Attach the evidence to a PDF and sign the whole."""
    unsigned = _attach(pdf, evidence)
    at = _signature_at(unsigned)
    signature = sign(seed, unsigned[:at] + unsigned[at + SIGNATURE_DIGITS :]).hex().encode()
    return unsigned[:at] + signature + unsigned[at + SIGNATURE_DIGITS :]


def open_file(content: bytes) -> OpenedFile:
    """Find the evidence of a file. Raises EvidenceFault if it has none, or a PDF is not signed."""
    if not content.startswith(PDF_BEGINNING):
        return OpenedFile(content)
    start = content.rfind(_STREAM + BEGINNING)
    end = content.find(_END_STREAM, start) if start >= 0 else -1
    if end < 0:
        raise EvidenceFault("The PDF holds no evidence of a filing.")
    at = _signature_at(content)
    digits = content[at : at + SIGNATURE_DIGITS]
    if not _SIGNATURE.fullmatch(digits):
        raise EvidenceFault("The signature of the PDF is damaged.")
    return OpenedFile(
        content[start + len(_STREAM) : end],
        bytes.fromhex(digits.decode()),
        content[:at] + content[at + SIGNATURE_DIGITS :],
    )


def _signature_at(content: bytes) -> int:
    """Return where the digits of the signature begin; there is one."""
    if content.count(MARK) != 1:
        raise EvidenceFault("The PDF is not signed.")
    return content.index(MARK) + len(MARK)


def _attach(pdf: bytes, evidence: bytes) -> bytes:
    """Return a PDF with the evidence attached, and space for a signature."""
    if MARK in pdf:
        raise PdfFormFault("it is signed already")
    found = _TRAILER.search(pdf)
    if found is None:
        raise PdfFormFault("no trailer")
    trailer, previous = found[1], int(found[2])
    root, size = (_number(trailer, name) for name in (rb"/Root (\d+) 0 R", rb"/Size (\d+)"))
    name = ATTACHMENT_NAME.encode()
    names = b"/Names << /EmbeddedFiles << /Names [(%s) %d 0 R] >> >>" % (name, size + 1)
    objects = {
        root: _catalog(pdf, root)[: -len(b">>")] + names + b"\n>>",
        size: b"<< /Type /EmbeddedFile /Subtype /application#2Fjson /Length %d " % len(evidence)
        + _STREAM + evidence + _END_STREAM,
        size + 1: b"<< /Type /Filespec /F (%s) /UF (%s) /AFRelationship /Data /EF << /F %d 0 R >> >>"
        % (name, name, size),
    }  # fmt: skip
    out = bytearray(pdf)
    starts = {}
    for number, content in objects.items():
        starts[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    out += MARK + b"0" * SIGNATURE_DIGITS + b"\n"
    begin = len(out)
    out += b"xref\n"
    for number, start in starts.items():
        out += b"%d 1\n%010d 00000 n \n" % (number, start)
    kept = b" ".join(re.findall(rb"/Info \d+ 0 R|/ID\s*\[[^\]]*\]", trailer))
    out += b"trailer\n<< /Size %d /Root %d 0 R /Prev %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (
        size + 2, root, previous, kept, begin,
    )  # fmt: skip
    return bytes(out)


def _number(text: bytes, pattern: bytes) -> int:
    found = re.search(pattern, text)
    if found is None:
        raise PdfFormFault("a trailer without its entries")
    return int(found[1])


def _catalog(pdf: bytes, root: int) -> bytes:
    found = re.search(rb"\n%d 0 obj\s*(<<.*?>>)\s*endobj" % root, pdf, re.DOTALL)
    if found is None or b"/Names" in found[1]:
        raise PdfFormFault("a catalog of another form")
    return found[1]
