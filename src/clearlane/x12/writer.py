"""Trees to bytes: exact counts, fixed-width ISA, guarded separators.

* ``write(file)`` gives back what ``parse`` read, segment for segment, in the file's own separators.
* ``seal(envelope, guide, bodies)`` puts ISA, GS, ST and their ends around the segments of sets.

New sets come from ``build`` (plain data) or ``place`` (tables of fields). Texts are cleaned with
``clean`` when they come in. Knows no clock: the moment is passed in.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from clearlane.x12 import grammar, tree
from clearlane.x12.build import body, build, set_header
from clearlane.x12.delimiters import CANONICAL, Delimiters
from clearlane.x12.encode import clean, day, element_text, money, period, segment

__all__ = [
    "Envelope", "answer", "body", "build", "clean", "day", "element_text", "encode",
    "group_segments", "interchange_segments", "isa", "money", "period", "seal", "segment", "write",
    "write_interchange",
]  # fmt: skip


def write(file: tree.File) -> bytes:
    """The bytes of a file, each interchange in its own separators."""
    return b"".join(write_interchange(interchange) for interchange in file.interchanges)


def write_interchange(interchange: tree.Interchange) -> bytes:
    """The bytes of an interchange in its own separators."""
    return encode(interchange_segments(interchange), interchange.delimiters)


def interchange_segments(interchange: tree.Interchange) -> Iterator[list[str]]:
    """Every segment of an interchange, in file order."""
    yield interchange.header
    stray = list(interchange.stray)
    for index, group in enumerate(interchange.groups):
        yield from (segment for at, segment in stray if at == index)
        yield from group_segments(group)
    yield from (segment for at, segment in stray if at >= len(interchange.groups))
    if interchange.trailer is not None:
        yield interchange.trailer


def group_segments(group: tree.Group) -> Iterator[list[str]]:
    """Every segment of a group, in file order."""
    yield group.header
    for index, set in enumerate(group.sets):
        yield from (segment for at, segment in group.stray if at == index)
        yield from set.walk()
    yield from (segment for at, segment in group.stray if at >= len(group.sets))
    if group.trailer is not None:
        yield group.trailer


def encode(segments: Iterable[list[str]], delimiters: Delimiters = CANONICAL) -> bytes:
    """Canonical segments as bytes in some separators."""
    text = "".join(["*".join(segment) + "~" for segment in segments])
    return _swap(text, delimiters).encode("latin-1")


def _swap(text: str, delimiters: Delimiters) -> str:
    text = text.translate(delimiters.original())
    if delimiters.ending:
        text = text.replace(delimiters.terminator, delimiters.terminator + delimiters.ending)
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What stands in ISA and GS. Qualifiers and ids come from the trading partner's profile."""

    sender: str
    receiver: str
    control: int
    """ISA13, and GS06 unless ``group_control`` says otherwise."""
    moment: datetime
    sender_qualifier: str = "ZZ"
    receiver_qualifier: str = "ZZ"
    application_sender: str = ""
    """GS02; ISA06 where empty. The same for GS03."""
    application_receiver: str = ""
    group_control: int = 0
    usage: str = "T"
    """ISA15: P production, T test."""
    acknowledge: bool = False
    """ISA14: whether a TA1 is asked for."""
    delimiters: Delimiters = CANONICAL
    set_control: int = 1
    """ST02 of the first set."""


def isa(envelope: Envelope) -> list[str]:
    """The ISA, each element at its fixed width."""
    moment = envelope.moment
    return [
        "ISA", "00", " " * 10, "00", " " * 10,
        f"{envelope.sender_qualifier:<2}", f"{envelope.sender:<15}",
        f"{envelope.receiver_qualifier:<2}", f"{envelope.receiver:<15}",
        f"{moment:%y%m%d}", f"{moment:%H%M}", "^", "00501", f"{envelope.control:09}",
        "1" if envelope.acknowledge else "0", envelope.usage, ":",
    ]  # fmt: skip


def seal(
    envelope: Envelope, guide: grammar.Guide, bodies: Iterable[Iterable[str]]
) -> Iterator[bytes]:
    """An interchange with one group, piece by piece: each body is what stands between ST and SE.

    A body is an iterable of canonical texts, each one segment or several joined by ``~``. Raises
    ValueError where an id does not fit the ISA or a text holds one of the separators in use.
    """
    _judge(envelope)
    control = envelope.group_control or envelope.control
    yield _guarded(
        "*".join(isa(envelope)) + "~" + "*".join(_gs(envelope, guide, control)) + "~", envelope
    )
    sets = 0
    for inside in bodies:
        number = f"{envelope.set_control + sets:04}"
        sets += 1
        text = "~".join(inside).rstrip("~")
        count = text.count("~") + 1 + 2 if text else 2
        start = "*".join(set_header(guide, number))
        between = f"{text}~" if text else ""
        yield _guarded(f"{start}~{between}SE*{count}*{number}~", envelope)
    yield _guarded(f"GE*{sets}*{control}~IEA*1*{envelope.control:09}~", envelope)


def answer(envelope: Envelope, segments: Iterable[list[str]]) -> bytes:
    """An interchange without a group: a TA1 stands so."""
    _judge(envelope)
    whole = [isa(envelope), *segments, ["IEA", "0", f"{envelope.control:09}"]]
    return _guarded("".join("*".join(one) + "~" for one in whole), envelope)


def _gs(envelope: Envelope, guide: grammar.Guide, control: int) -> list[str]:
    return [
        "GS", guide.functional, envelope.application_sender or envelope.sender,
        envelope.application_receiver or envelope.receiver, f"{envelope.moment:%Y%m%d}",
        f"{envelope.moment:%H%M}", str(control), "X", guide.id,
    ]  # fmt: skip


# What ISA and GS have room for, and no less than they ask for.
_LENGTHS = (
    ("sender", 2, 15),
    ("receiver", 2, 15),
    ("sender_qualifier", 2, 2),
    ("receiver_qualifier", 2, 2),
    ("application_sender", 2, 15),
    ("application_receiver", 2, 15),
)


def _judge(envelope: Envelope) -> None:
    for name, least, most in _LENGTHS:
        text = getattr(envelope, name)
        absent = not text and name.startswith("application")
        if not absent and (not least <= len(text) <= most or clean(text)[0] != text):
            raise ValueError(f"{name} must be {least} to {most} capital letters, digits or signs")
    if not 0 < envelope.control <= 999_999_999 or not 0 <= envelope.group_control <= 999_999_999:
        raise ValueError("a control number must be 1 to 999999999")
    if envelope.usage not in {"P", "T"}:
        raise ValueError("usage must be P or T")


def _guarded(text: str, envelope: Envelope) -> bytes:
    delimiters = envelope.delimiters
    swapped = delimiters.canonical()
    if swapped:
        # Swapping is exact for files that were read; new text must not hold the other separators.
        foreign = [chr(c) for c in swapped if chr(c) not in "*:^~"]
        if any(c in text for c in foreign):
            raise ValueError(
                "a text holds a separator of this interchange: clean it with its delimiters"
            )
    return _swap(text, delimiters).encode("ascii")
