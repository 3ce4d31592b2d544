"""Write X12: exact counts, fixed-width ISA, no separators inside data.

* ``write(file)`` returns what ``parse`` read, segment for segment, in the file's own separators.
* ``wrap_sets(envelope, guide, bodies)`` puts ISA, GS, ST and their trailers around the segments of new sets.

Make new sets with ``build`` (plain data) or ``placement`` (tables of fields). Clean texts with ``clean`` when they come in.
Knows no clock: the moment is passed in.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from clearlane.kernel.limits import CONTROL_NUMBER_MAX
from clearlane.x12 import grammar, tree
from clearlane.x12.delimiters import CANONICAL, Delimiters
from clearlane.x12.writer.build import body_texts, build, build_st
from clearlane.x12.writer.encode import (
    clean,
    format_day,
    format_element,
    format_money,
    format_period,
    format_segment,
)

__all__ = [
    "Envelope", "body_texts", "build", "build_isa", "clean", "encode_segments", "encode_text", "format_day",
    "format_element", "format_money", "format_period", "format_segment", "group_segments",
    "interchange_segments", "wrap_sets", "wrap_ta1", "write", "write_interchange",
]  # fmt: skip

BLOCK_CHARACTERS = 64 * 1024
"""The size of the pieces of a large set."""


def write(file: tree.X12File) -> bytes:
    """Return the bytes of a file, each interchange in its own separators."""
    return b"".join(write_interchange(interchange) for interchange in file.interchanges)


def write_interchange(interchange: tree.Interchange) -> bytes:
    """Return the bytes of an interchange in its own separators."""
    return encode_segments(interchange_segments(interchange), interchange.delimiters)


def interchange_segments(interchange: tree.Interchange) -> Iterator[list[str]]:
    """Yield every segment of an interchange, in file order."""
    yield interchange.header
    stray = list(interchange.stray)
    for index, group in enumerate(interchange.groups):
        yield from (segment for at, segment in stray if at == index)
        yield from group_segments(group)
    yield from (segment for at, segment in stray if at >= len(interchange.groups))
    if interchange.trailer is not None:
        yield interchange.trailer


def group_segments(group: tree.FunctionalGroup) -> Iterator[list[str]]:
    """Yield every segment of a group, in file order."""
    yield group.header
    for index, set in enumerate(group.sets):
        yield from (segment for at, segment in group.stray if at == index)
        yield from set.all_segments()
    yield from (segment for at, segment in group.stray if at >= len(group.sets))
    if group.trailer is not None:
        yield group.trailer


def encode_segments(segments: Iterable[list[str]], delimiters: Delimiters = CANONICAL) -> bytes:
    """Return canonical segments as bytes in some separators: one a character, or UTF-8 if a character needs more."""
    return encode_text("".join(["*".join(segment) + "~" for segment in segments]), delimiters)


def encode_text(text: str, delimiters: Delimiters = CANONICAL) -> bytes:
    """Return canonical text as bytes in some separators, as ``encode_segments`` does."""
    text = _to_separators(text, delimiters)
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:  # letters of a payer that was read as UTF-8
        return text.encode()


def _to_separators(text: str, delimiters: Delimiters) -> str:
    if table := delimiters.from_canonical():
        text = text.translate(table)
    if delimiters.line_ending:
        text = text.replace(delimiters.terminator, delimiters.terminator + delimiters.line_ending)
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The values of ISA and GS. Qualifiers and ids come from the trading partner profile."""

    sender: str
    receiver: str
    control: int
    """ISA13, and GS06 unless ``group_control`` is set."""
    moment: datetime
    sender_qualifier: str = "ZZ"
    receiver_qualifier: str = "ZZ"
    application_sender: str = ""
    """GS02; ISA06 if empty. GS03 likewise."""
    application_receiver: str = ""
    group_control: int = 0
    usage: str = "T"
    """ISA15: P production, T test."""
    acknowledge: bool = False
    """ISA14: whether a TA1 is requested."""
    delimiters: Delimiters = CANONICAL
    set_control: int = 1
    """ST02 of the first set."""


def build_isa(envelope: Envelope) -> list[str]:
    """Return the ISA, each element at its fixed width."""
    moment = envelope.moment
    return [
        "ISA", "00", " " * 10, "00", " " * 10,
        f"{envelope.sender_qualifier:<2}", f"{envelope.sender:<15}",
        f"{envelope.receiver_qualifier:<2}", f"{envelope.receiver:<15}",
        f"{moment:%y%m%d}", f"{moment:%H%M}", "^", "00501", f"{envelope.control:09}",
        "1" if envelope.acknowledge else "0", envelope.usage, ":",
    ]  # fmt: skip


def wrap_sets(
    envelope: Envelope,
    guide: grammar.Guide,
    bodies: Iterable[Iterable[str]],
    *,
    is_exact: bool = False,
) -> Iterator[bytes]:
    """Yield an interchange with one group, piece by piece. Each body is what comes between ST and SE.

    A body is an iterable of canonical texts, each one segment or several joined by ``~``. Raises ValueError if an id does not
    fit the ISA or a text contains one of the separators in use. With ``is_exact`` the texts are in canonical separators as a
    reader gives them: a separator of this interchange stands for a canonical one in a value.
    """
    _check_envelope(envelope)
    control = envelope.group_control or envelope.control
    yield _encode_checked(
        "*".join(build_isa(envelope)) + "~" + "*".join(_gs(envelope, guide, control)) + "~",
        envelope,
    )
    sets = 0
    for body in bodies:
        number = f"{envelope.set_control + sets:04}"
        sets += 1
        count = 2
        yield _encode_checked("*".join(build_st(guide, number)) + "~", envelope, is_exact=is_exact)
        for block in _blocks(body):
            count += block.count("~")
            yield _encode_checked(block, envelope, is_exact=is_exact)
        yield _encode_checked(f"SE*{count}*{number}~", envelope, is_exact=is_exact)
    yield _encode_checked(f"GE*{sets}*{control}~IEA*1*{envelope.control:09}~", envelope)


def _blocks(body: Iterable[str]) -> Iterator[str]:
    """Yield the segments of a body, terminated, in blocks: a set of thousands of claims is never one text."""
    texts: list[str] = []
    size = 0
    for text in body:
        if size >= BLOCK_CHARACTERS:
            yield "~".join(texts) + "~"
            texts, size = [], 0
        texts.append(text)
        size += len(text)
    if last := "~".join(texts).rstrip("~"):
        yield last + "~"


def wrap_ta1(envelope: Envelope, segments: Iterable[list[str]]) -> bytes:
    """Return an interchange without a group, as a TA1 needs it."""
    _check_envelope(envelope)
    whole = [build_isa(envelope), *segments, ["IEA", "0", f"{envelope.control:09}"]]
    return _encode_checked("".join("*".join(one) + "~" for one in whole), envelope)


def _gs(envelope: Envelope, guide: grammar.Guide, control: int) -> list[str]:
    return [
        "GS", guide.functional_id, envelope.application_sender or envelope.sender,
        envelope.application_receiver or envelope.receiver, f"{envelope.moment:%Y%m%d}",
        f"{envelope.moment:%H%M}", str(control), "X", guide.id,
    ]  # fmt: skip


# Minimum and maximum lengths of ISA and GS elements.
_LENGTHS = (
    ("sender", 2, 15),
    ("receiver", 2, 15),
    ("sender_qualifier", 2, 2),
    ("receiver_qualifier", 2, 2),
    ("application_sender", 2, 15),
    ("application_receiver", 2, 15),
)


def _check_envelope(envelope: Envelope) -> None:
    for name, least, most in _LENGTHS:
        text = getattr(envelope, name)
        absent = not text and name.startswith("application")
        if not absent and (not least <= len(text) <= most or clean(text)[0] != text):
            raise ValueError(f"{name} must be {least} to {most} capital letters, digits or signs")
    own, group = envelope.control, envelope.group_control
    if not 0 < own <= CONTROL_NUMBER_MAX or not 0 <= group <= CONTROL_NUMBER_MAX:
        raise ValueError(f"a control number must be 1 to {CONTROL_NUMBER_MAX}")
    if envelope.usage not in {"P", "T"}:
        raise ValueError("usage must be P or T")


def _encode_checked(text: str, envelope: Envelope, *, is_exact: bool = False) -> bytes:
    delimiters = envelope.delimiters
    table = delimiters.to_canonical()
    if table and not is_exact:
        # Translation is exact for files that were read; new text must not contain the target's separators.
        separators = [chr(c) for c in table if chr(c) not in "*:^~"]
        if any(c in text for c in separators):
            raise ValueError(
                "a text holds a separator of this interchange: clean it with its delimiters"
            )
    return _to_separators(text, delimiters).encode("ascii")
