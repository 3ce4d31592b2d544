"""A file patient by patient: who is spoken of, and the part that speaks of the patient.

A patient's part has the levels above it, so that of a dependent tells of the subscriber too. Other patients are left out.

Knows the levels of a 271 and the parts of a 999; knows no request and no response.
"""

from collections.abc import Iterator
from typing import NamedTuple

from clearlane.x12 import tree, writer
from clearlane.x12.views import benefits

LEVELS = ("2000A", "2000B", "2000C", "2000D")


class Spoken(NamedTuple):
    """The levels around one patient. A level that refuses has nothing below."""

    at: tuple[int, ...]
    """Which of its loops each level is, outermost first."""
    source: benefits.Source | None = None
    receiver: benefits.Receiver | None = None
    subscriber: benefits.Member | None = None
    dependent: benefits.Member | None = None


def patients(view: benefits.Eligibility) -> Iterator[Spoken]:
    """Everybody a 271 speaks of; a source or receiver without patients stands for whoever was asked about."""
    if not view.sources:
        yield Spoken(())
    for a, source in enumerate(view.sources):
        if not source.receivers:
            yield Spoken((a,), source)
        for b, receiver in enumerate(source.receivers):
            if not receiver.subscribers:
                yield Spoken((a, b), source, receiver)
            for c, subscriber in enumerate(receiver.subscribers):
                yield from _family(Spoken((a, b, c), source, receiver, subscriber), subscriber)


def _family(alone: Spoken, subscriber: benefits.Member) -> Iterator[Spoken]:
    """The patients of a subscriber's level. Of several each is told alone; what the subscriber is told of one
    dependent stays with it."""
    dependents = subscriber.dependents
    own = subscriber.benefits or subscriber.refusals
    if not dependents or (own and len(dependents) > 1):
        yield alone
    for at, dependent in enumerate(dependents):
        yield alone._replace(at=(*alone.at, at), dependent=dependent)


def refusals_above(set: tree.Set, at: tuple[int, ...]) -> int:
    """How many refusals of the source stand in its level itself, before those beside its name."""
    sources = [
        item for item in set.root.items if isinstance(item, tree.Loop) and item.node.id == LEVELS[0]
    ]
    if not at or at[0] >= len(sources):
        return 0
    own = sources[at[0]].items
    return sum(not isinstance(item, tree.Loop) and item[0] == "AAA" for item in own)


def content(set: tree.Set, at: tuple[int, ...]) -> bytes:
    """The set with one loop of each level only, levels counted anew."""
    return sealed(set, [*_levelled([*_only(set.root, at)])])


def verdict(set: tree.Set, nth: int) -> bytes:
    """A 999 with its verdict on one set only: the errors of others may quote what stood in them."""
    kept = list(set.root.loops("2000"))[nth]
    inside = [
        segment
        for item in set.root.items
        if not isinstance(item, tree.Loop) or item is kept
        for segment in (item.walk() if isinstance(item, tree.Loop) else [item])
    ]
    return sealed(set, [segment for segment in inside if segment[0] != "SE"])


def sealed(set: tree.Set, inside: list[tree.Segment]) -> bytes:
    """Segments of a set, the ST among them, in the envelope they came in, counts made right."""
    group, interchange = set.group, set.group.interchange
    whole = [
        interchange.header,
        group.header,
        *inside,
        ["SE", str(len(inside) + 1), set.control],
        ["GE", "1", group.control],
        ["IEA", "1", interchange.control],
    ]
    return writer.encode(whole, interchange.delimiters)


def receipt(interchange: tree.Interchange, segment: tree.Segment) -> bytes:
    """An interchange with one TA1 and nothing else."""
    whole = [interchange.header, segment, ["IEA", "0", interchange.control]]
    return writer.encode(whole, interchange.delimiters)


def _only(loop: tree.Loop, at: tuple[int, ...], depth: int = 0) -> Iterator[tree.Segment]:
    """Segments outside levels, and of the levels below the one that is wanted."""
    nth = -1
    for item in loop.items:
        if not isinstance(item, tree.Loop):
            if item[0] != "SE":
                yield item
        elif item.node.id not in LEVELS:
            yield from item.walk()
        else:
            nth += 1
            if depth < len(at) and nth == at[depth]:
                yield from _only(item, at, depth + 1)


def _levelled(segments: list[tree.Segment]) -> Iterator[tree.Segment]:
    """Levels counted anew, each below the one before."""
    last = sum(segment[0] == "HL" for segment in segments)
    level = 0
    for segment in segments:
        if segment[0] != "HL":
            yield segment
            continue
        level += 1
        parent = str(level - 1) if level > 1 else ""
        yield ["HL", str(level), parent, tree.element(segment, 3), "1" if level < last else "0"]
