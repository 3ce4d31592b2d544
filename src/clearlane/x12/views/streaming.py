"""Stream views while a file is read: each unit as soon as the reader has closed its loop.

Loops come from the reader, so a streamed view is equal to the one built from the tree of the same set. A unit is dropped
by the reader when its loop closes, so memory stays constant.

Knows the events of a reader and view builders; reports no findings: that is the checker's work.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from clearlane.kernel import limits
from clearlane.x12 import tree
from clearlane.x12.reader import reader
from clearlane.x12.views.binding import View, ViewBuilder
from clearlane.x12.views.original import SeparatorRestorer

PART, UNIT, END = "part", "unit", "end"


class StreamEvent(NamedTuple):
    """One event of a stream: a view that is complete."""

    event: str
    """PART: a loop around units, before its first unit; UNIT; END: the whole set without both."""
    value: Any
    kind: str
    """The set's kind, such as 835; empty if its guide is unknown."""
    control: str
    """ST02."""


class TooManySegmentsError(ValueError):
    """More segments belong to one unit than are kept in memory."""


BuilderChooser: TypeAlias = Callable[[str], ViewBuilder | None]
"""Returns the view builder of a set by kind, None to skip the set; the empty kind is that of an unknown guide."""


def stream_sets(source: reader.Source, choose_builder: BuilderChooser) -> Iterator[StreamEvent]:
    """Yield the views of a file while it is read. Raises TooManySegmentsError if one unit is too large."""
    stream: _SetStream | None = None
    for event in reader.read(source, check=False):
        if event.__class__ is reader.UnitClosed and stream is not None:
            if event.parents[-1] is not stream.parent:
                yield from stream.parts_around(event)
            yield stream.unit(event)
        elif event.__class__ is reader.ParentClosed and stream is not None:
            yield from stream.close_parent(event)
        elif event.__class__ is reader.SetOpened:
            stream = _open_stream(event.set, choose_builder)
        elif event.__class__ is reader.SetClosed and stream is not None:
            yield stream.end(event.set)
            stream = None


def _open_stream(set: tree.TransactionSet, choose_builder: BuilderChooser) -> "_SetStream | None":
    kind = set.guide.kind if set.guide else ""
    builder = choose_builder(kind)
    return None if builder is None else _SetStream(set, kind, builder)


class _SetStream:
    """The views of one set while it is read."""

    def __init__(self, set: tree.TransactionSet, kind: str, builder: ViewBuilder) -> None:
        self._kind = kind
        self._control = set.control
        self._builder = builder
        self._restore = SeparatorRestorer(set.group.interchange.delimiters).restore
        self._parts: list[tuple[tree.Loop, View]] = []
        """The open loops, the root first, that were emitted before their first unit, with these views."""
        self.parent: tree.Loop | None = None
        """The innermost of these loops."""
        self._unit_builder = builder
        """The builder of the units in it."""

    def parts_around(self, event: reader.UnitClosed) -> Iterator[StreamEvent]:
        """Yield the loops around a unit that were not emitted yet."""
        chain = (*event.parents, event.loop)
        self.parent, self._unit_builder = event.parents[-1], self._builder_at(chain)
        for depth, (loop, child) in enumerate(pairwise(chain)):
            if depth < len(self._parts) and self._parts[depth][0] is loop:
                continue
            builder = self._builder_at(chain[: depth + 1])
            view = self._view(builder, loop, [*loop.heading(child.node.id)])
            self._parts[depth:] = [(loop, view)]
            yield self._event(PART, view)

    def unit(self, event: reader.UnitClosed) -> StreamEvent:
        """Return a unit."""
        return self._event(UNIT, self._view(self._unit_builder, event.loop, event.loop.items))

    def close_parent(self, event: reader.ParentClosed) -> Iterator[StreamEvent]:
        """Yield a loop around units at its end, unless it was emitted as it is."""
        depth, loop = len(event.parents), event.loop
        view = self._view(self._builder_at((*event.parents, loop)), loop, loop.items)
        emitted = [one for _, one in self._parts[depth:]]
        del self._parts[depth:]
        self.parent = None
        if [view] != emitted[:1]:
            yield self._event(PART, view)

    def end(self, set: tree.TransactionSet) -> StreamEvent:
        """Return the set without the units and the loops around them."""
        return self._event(END, self._view(self._builder, set.root, set.root.items))

    def _builder_at(self, chain: Sequence[tree.Loop]) -> ViewBuilder:
        builder = self._builder
        for loop in chain[1:]:
            builder = builder.loops[loop.node.id].builder
        return builder

    def _view(self, builder: ViewBuilder, loop: tree.Loop, items: Sequence[tree.Item]) -> View:
        # Units that were dropped one by one have a node; what was dropped to save memory has none.
        if loop.dropped and any(drop.node is None for drop in loop.dropped):
            where = "belong to one unit" if self._kind else "are in a set without a guide"
            raise TooManySegmentsError(f"more than {limits.SEGMENTS_HELD_MAX} segments {where}")
        view: View = builder.build(items)
        return view

    def _event(self, event: str, view: View) -> StreamEvent:
        return StreamEvent(event, self._restore(view), self._kind, self._control)
