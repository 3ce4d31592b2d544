"""Extract one patient's part of a 271, or one set's part of a 999, as a complete file.

A patient's part includes the levels above it, so that of a dependent includes the subscriber. It leaves other
patients out, because a file is shown to one patient's vendor only.

Knows the levels of a 271 and the loops of a 999; knows no request and no response.
"""

from collections.abc import Iterator
from typing import NamedTuple

from clearlane.x12 import tree, writer
from clearlane.x12.views import benefits

LEVELS = ("2000A", "2000B", "2000C", "2000D")


class PatientLevels(NamedTuple):
    """The levels of one patient. A level that refuses the inquiry has none below it."""

    at: tuple[int, ...]
    """The index of each level's loop in its parent, outermost first."""
    source: benefits.InformationSourceView | None = None
    receiver: benefits.InformationReceiverView | None = None
    subscriber: benefits.MemberView | None = None
    dependent: benefits.MemberView | None = None


def patient_levels(view: benefits.EligibilityView) -> Iterator[PatientLevels]:
    """Yield the levels of every patient in a 271; a source or receiver without patients is yielded alone."""
    if not view.sources:
        yield PatientLevels(())
    for a, source in enumerate(view.sources):
        if not source.receivers:
            yield PatientLevels((a,), source)
        for b, receiver in enumerate(source.receivers):
            if not receiver.subscribers:
                yield PatientLevels((a, b), source, receiver)
            for c, subscriber in enumerate(receiver.subscribers):
                yield from _subscriber_patients(
                    PatientLevels((a, b, c), source, receiver, subscriber), subscriber
                )


def _subscriber_patients(
    levels: PatientLevels, subscriber: benefits.MemberView
) -> Iterator[PatientLevels]:
    """Yield the patients of a subscriber's level.

    Benefits of the subscriber beside one dependent stay with that dependent; beside several they are yielded alone.
    """
    dependents = subscriber.dependents
    has_own = subscriber.benefits or subscriber.refusals
    if not dependents or (has_own and len(dependents) > 1):
        yield levels
    for at, dependent in enumerate(dependents):
        yield levels._replace(at=(*levels.at, at), dependent=dependent)


def count_transaction_refusals(set: tree.TransactionSet, at: tuple[int, ...]) -> int:
    """Return how many AAA segments are in loop 2000A itself, before those in 2100A."""
    sources = [
        item for item in set.root.items if isinstance(item, tree.Loop) and item.node.id == LEVELS[0]
    ]
    if not at or at[0] >= len(sources):
        return 0
    items = sources[at[0]].items
    return sum(not isinstance(item, tree.Loop) and item[0] == "AAA" for item in items)


def extract_patient(set: tree.TransactionSet, at: tuple[int, ...]) -> bytes:
    """Return a file with the one patient at ``at``, its HL segments renumbered."""
    return wrap_in_envelope(set, [*_renumber_levels([*_select_levels(set.root, at)])])


def extract_set_response(set: tree.TransactionSet, nth: int) -> bytes:
    """Return a 999 with its response to one set only, because the errors of others may quote their data."""
    chosen = list(set.root.loops("2000"))[nth]
    segments = [
        segment
        for item in set.root.items
        if not isinstance(item, tree.Loop) or item is chosen
        for segment in (item.all_segments() if isinstance(item, tree.Loop) else [item])
    ]
    return wrap_in_envelope(set, [segment for segment in segments if segment[0] != "SE"])


def wrap_in_envelope(set: tree.TransactionSet, segments: list[tree.Segment]) -> bytes:
    """Return the segments of a set, from ST on, in their original envelope with correct counts."""
    group, interchange = set.group, set.group.interchange
    whole = [
        interchange.header,
        group.header,
        *segments,
        ["SE", str(len(segments) + 1), set.control],
        ["GE", "1", group.control],
        ["IEA", "1", interchange.control],
    ]
    return writer.encode_segments(whole, interchange.delimiters)


def extract_ta1(interchange: tree.Interchange, segment: tree.Segment) -> bytes:
    """Return an interchange that holds one TA1 and nothing else."""
    whole = [interchange.header, segment, ["IEA", "0", interchange.control]]
    return writer.encode_segments(whole, interchange.delimiters)


def _select_levels(loop: tree.Loop, at: tuple[int, ...], depth: int = 0) -> Iterator[tree.Segment]:
    """Yield the segments outside levels and those of the level at each index of ``at``."""
    nth = -1
    for item in loop.items:
        if not isinstance(item, tree.Loop):
            if item[0] != "SE":
                yield item
        elif item.node.id not in LEVELS:
            yield from item.all_segments()
        else:
            nth += 1
            if depth < len(at) and nth == at[depth]:
                yield from _select_levels(item, at, depth + 1)


def _renumber_levels(segments: list[tree.Segment]) -> Iterator[tree.Segment]:
    """Yield the segments with HL numbers from 1, each level a child of the one before."""
    last = sum(segment[0] == "HL" for segment in segments)
    level = 0
    for segment in segments:
        if segment[0] != "HL":
            yield segment
            continue
        level += 1
        parent = str(level - 1) if level > 1 else ""
        yield ["HL", str(level), parent, tree.get_element(segment, 3), "1" if level < last else "0"]
