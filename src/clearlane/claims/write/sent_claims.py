"""The claims of a file that was sent, for a 999 that accepts all of them: no place in the file is asked for.

    layout = read_sent_claims(content, attempts) or read_layout(content, attempts=attempts)

Only the segments with a number of a claim or line are looked for, which takes a twentieth of the time of reading the file.
Knows the files that we write; knows no guide.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from clearlane.claims.write.sent_layout import SentClaim, SentLayout, SentSet
from clearlane.x12.delimiters import Delimiters
from clearlane.x12.reader.set_slices import SetSlice, slice_sets

CLAIM_NUMBER, LINE_CONTROL = b"D9", b"6R"
ISA_CONTROL, GROUP_CONTROL, SET_CONTROL = 13, 6, 2


def read_sent_claims(content: bytes, attempts: Mapping[str, int]) -> SentLayout | None:
    """Return the claims of a file with their numbers alone; None if it must be read whole.

    That is a file whose claims are not the ones that were sent in it, each once, or with other letters than ASCII.
    """
    if not content.isascii():
        return None
    slices = list(slice_sets(content))
    sets = [_read_set(content, one, attempts) for one in slices]
    numbers = [claim.number for one in sets for claim in one.claims]
    if len(numbers) != len(attempts) or {*numbers} != attempts.keys():
        return None
    control = _element(slices[0].isa.of(content), ISA_CONTROL, slices[0].delimiters)
    return SentLayout(control=control, sets=tuple(sets))


def _read_set(content: bytes, one: SetSlice, attempts: Mapping[str, int]) -> SentSet:
    # Each claim: its account number, its number, the control numbers of its lines.
    found: list[tuple[str, list[str], list[str]]] = []
    # The search begins with the terminator of the ST.
    segments = _pattern(one.delimiters).finditer(content, one.inner.start - 1, one.inner.end)
    for name, account, qualifier, value in (segment.groups() for segment in segments):
        if name == b"CLM":
            found.append((account.decode(), [], []))
        elif not found:
            continue
        elif name == b"LX":
            found[-1][2].append("")
        elif qualifier == CLAIM_NUMBER:
            found[-1][1].append(value.decode())
        elif found[-1][2] and not found[-1][2][-1]:
            found[-1][2][-1] = value.decode()
    numbered = [
        (account, numbers[0] if numbers else "", lines) for account, numbers, lines in found
    ]
    header = content[one.whole.start : one.inner.start]
    return SentSet(
        group=_element(one.gs.of(content), GROUP_CONTROL, one.delimiters),
        control=_element(header, SET_CONTROL, one.delimiters),
        claims=tuple(
            SentClaim(
                number=number,
                account=account,
                controls=tuple(lines),
                attempt=attempts.get(number, 1),
            )
            for account, number, lines in numbered
        ),
    )


@lru_cache(maxsize=64)
def _pattern(delimiters: Delimiters) -> re.Pattern[bytes]:
    """Return an expression for the segments that begin a claim or line, or have its number."""
    terminator, element = (
        re.escape(one.encode("latin-1")) for one in (delimiters.terminator, delimiters.element)
    )
    value = rb"([^" + terminator + element + rb"]*)"
    return re.compile(
        terminator + rb"\s*(?:(CLM|LX)" + element + value + rb"|"
        rb"REF" + element + rb"(D9|6R)" + element + value + rb")"
    )


def _element(segment: bytes, at: int, delimiters: Delimiters) -> str:
    text = segment.decode("latin-1").rstrip("\r\n").removesuffix(delimiters.terminator)
    parts = text.split(delimiters.element)
    return parts[at].strip() if len(parts) > at else ""
