"""The levels (HL) of a sender's own inquiry: as they go to the payer, and as the answer to the sender is made of them.

    level_texts(levels, payer_id, foreign)                    # what is sent, numbered again
    write_levels(envelope, guide, heading, chains, shared=2)  # one set with the answers of several payers

An answer about one patient or claim is a chain of levels, outermost first. Neighbors share levels as far as they are equal.
Knows levels of segments; knows no transaction.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from clearlane.x12 import grammar, tree
from clearlane.x12.tree import Segment, get_element
from clearlane.x12.writer.writer import Envelope, clean, wrap_sets

LEVELS = ("2000A", "2000B", "2000C", "2000D", "2000E")
Level: TypeAlias = list[Segment]
"""The segments of one level, HL first."""
SentLevels: TypeAlias = tuple[tuple[Segment, ...], ...]
"""The levels of a sender's inquiry, outermost first."""


def own_segments(level: tree.Loop, without: Collection[str] = ()) -> Iterator[Segment]:
    """Yield the segments of a level, HL first, without the levels below and without some of its loops."""
    for item in level.items:
        if isinstance(item, list):
            yield item
        elif item.id not in LEVELS and item.id not in without:
            yield from own_segments(item, without)


def first_segment(level: Sequence[Segment], id: str) -> Segment:
    """Return the first segment of a level with an id; an empty one if there is none."""
    return next((segment for segment in level if segment[0] == id), [])


def level_numbers(level: Sequence[Segment]) -> list[str]:
    """Return the numbers of the party that a level names: NPI, tax id or one of the payer's."""
    names = (segment for segment in level if segment[0] == "NM1")
    return [number for name in names if (number := get_element(name, 9).strip())]


def level_texts(levels: SentLevels, payer_id: str, foreign: Mapping[int, str]) -> Iterator[str]:
    """Yield the segments of a sender's levels, numbered again, with the directory's id of the payer, without trace numbers.

    ``foreign`` is what stands for a usual separator in its texts, if it uses others; see ``Delimiters.blank_foreign``.
    """
    last, payer = len(levels), first_segment(levels[0], "NM1")
    for number, level in enumerate(levels, start=1):
        parent = str(number - 1) if number > 1 else ""
        # A level that can have none below does not say whether there are any.
        below = int(number < last) if get_element(level[0], 4) else ""
        yield f"HL*{number}*{parent}*{get_element(level[0], 3)}*{below}".rstrip("*")
        for segment in level[1:]:
            if segment[0] == "TRN":
                continue
            is_payer = number == 1 and segment is payer
            sent = [*segment[:8], "PI", payer_id, *segment[10:]] if is_payer else segment
            texts = (text.translate(foreign) for text in sent)
            yield "*".join(map(clean_element, texts)).rstrip("*")


def with_payer_id(texts: Sequence[str], payer_id: str) -> tuple[str, ...]:
    """Return the segments of a sender's levels, as ``level_texts`` wrote them, with another id of the payer."""
    at = next((at for at, text in enumerate(texts) if text.startswith("NM1*")), None)
    if at is None:
        return tuple(texts)
    parts = texts[at].split("*")
    parts[9] = payer_id
    return (*texts[:at], "*".join(parts), *texts[at + 1 :])


def restore_payer(source: Level, sent: Segment) -> None:
    """Give the payer of an answer the id that the sender has for it, whatever the payer or a hop calls itself."""
    for segment in source:
        if segment[0] == "NM1" and get_element(segment, 9):
            segment[8:10] = sent[8:10]


def clean_element(text: str) -> str:
    """Return an X12 element in the characters that X12 can carry; its components and repetitions stay."""
    return "^".join(":".join(clean(part)[0] for part in one.split(":")) for one in text.split("^"))


def answer_levels(set: tree.TransactionSet) -> Iterator[Level]:
    """Yield the levels of a payer's answer about one patient or claim, in the usual separators."""
    foreign = set.group.interchange.delimiters.blank_foreign()
    loop: tree.Loop | None = set.root
    while loop is not None and (loop := loop.loop(*LEVELS)) is not None:
        yield [[text.translate(foreign) for text in segment] for segment in own_segments(loop)]


def write_levels(
    envelope: Envelope,
    guide: grammar.Guide,
    heading: Segment,
    chains: Iterable[Sequence[Level]],
    *,
    shared: int,
) -> bytes:
    """Return a set with the answers of some chains; neighbors may share the first ``shared`` levels."""
    foreign = envelope.delimiters.blank_foreign()
    body = (
        "*".join(map(_plain, segment)).translate(foreign).rstrip("*")
        for segment in (heading, *_numbered(_merged(chains, shared)))
    )
    return b"".join(wrap_sets(envelope, guide, [body]))


def _plain(text: str) -> str:
    """Return an element as it is if it is ASCII, which is all that an answer holds; else in plain letters."""
    return text if text.isascii() else clean_element(text)


@dataclass(slots=True, repr=False)
class _Node:
    """A level with those below it."""

    segments: Level
    below: list["_Node"] = field(default_factory=list)


def _merged(chains: Iterable[Sequence[Level]], shared: int) -> list[_Node]:
    """Return the levels as trees: a chain shares those that are equal with the chain before."""
    roots: list[_Node] = []
    for chain in chains:
        beside = roots
        for depth, level in enumerate(chain):
            is_last = depth == len(chain) - 1
            before = beside[-1] if beside and depth < shared else None
            # A level that refuses has none below; it is said once for all below it.
            if before is None or before.segments[1:] != level[1:] or bool(before.below) is is_last:
                beside.append(_Node(level))
            beside = beside[-1].below
    return roots


def _numbered(roots: Iterable[_Node]) -> Iterator[Segment]:
    """Yield the segments of all levels, with their numbers, parents and whether there are levels below."""
    count = 0

    def walk(nodes: Iterable[_Node], parent: str) -> Iterator[Segment]:
        nonlocal count
        for node in nodes:
            count += 1
            number, code = str(count), get_element(node.segments[0], 3)
            below = str(int(bool(node.below))) if get_element(node.segments[0], 4) else ""
            yield ["HL", number, parent, code, below]
            yield from node.segments[1:]
            yield from walk(node.below, number)

    return walk(roots, "")
