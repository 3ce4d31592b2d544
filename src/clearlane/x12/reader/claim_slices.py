"""Find the claims of an 837 as bytes: each with the header and the levels that it is sent under.

    for number, part in slice_claims(content): ...

A part is what of a file concerns one claim, byte for byte: ISA, GS, the header of its set, its billing provider, subscriber
and patient, and the claim. Nothing is renumbered and nothing is written again, so that a file gives the same parts each
time it is read. Only the segments that begin a level or a claim are looked for, so that a large file costs one search.

Knows the levels of an 837; knows no guide.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from clearlane.x12.delimiters import Delimiters
from clearlane.x12.reader.set_slices import SetSlice, slice_sets

BILLING, SUBSCRIBER, PATIENT = b"20", b"22", b"23"
"""HL03 of the levels around claims."""
LEVEL_CODE = 3
CLAIM_SET = "837"


def slice_claims(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield each claim of a file: its number (REF*D9), and its part."""
    for one in slice_sets(content):
        if one.transaction == CLAIM_SET:
            yield from _slice_set(content, one)


def _slice_set(content: bytes, one: SetSlice) -> Iterator[tuple[str, bytes]]:
    begins, number_of = _patterns(one.delimiters)
    # The search begins with the terminator of the ST.
    starts = [(found[1], found.start(1)) for found in begins.finditer(content, one.inner.start - 1, one.inner.end)]  # fmt: skip
    if not starts:
        return
    ends = [*(start for _, start in starts[1:]), one.inner.end]
    envelope = b"".join(_with_line_end(content, span.start, span.end) for span in (one.isa, one.gs))
    header = envelope + content[one.whole.start : starts[0][1]]
    separator = one.delimiters.element.encode("latin-1")
    billing = subscriber = patient = b""
    for (name, start), end in zip(starts, ends, strict=True):
        run = content[start:end]
        if name == b"CLM":
            found = number_of.search(run)
            number = found[1].decode("latin-1") if found else ""
            yield number, header + billing + subscriber + patient + run
            continue
        code = run.split(separator, LEVEL_CODE + 1)[LEVEL_CODE][:2]
        if code == BILLING:
            billing, subscriber, patient = run, b"", b""
        elif code == SUBSCRIBER:
            subscriber, patient = run, b""
        elif code == PATIENT:
            patient = run


def _with_line_end(content: bytes, start: int, end: int) -> bytes:
    """Return a segment with the line end after its terminator, if the file has one there."""
    while content[end : end + 1] in (b"\r", b"\n"):
        end += 1
    return content[start:end]


@lru_cache(maxsize=64)
def _patterns(delimiters: Delimiters) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return an expression for the beginning of a level or claim, and one for the number of a claim."""
    terminator, element = (
        re.escape(one.encode("latin-1")) for one in (delimiters.terminator, delimiters.element)
    )
    begins = re.compile(terminator + rb"\s*(HL|CLM)" + element)
    value = rb"([^" + terminator + element + rb"]*)"
    return begins, re.compile(terminator + rb"\s*REF" + element + rb"D9" + element + value)
