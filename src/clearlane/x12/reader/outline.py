"""Follow a file segment by segment, with the loops that open and close around them, in constant memory.

    for event in iter_outline(source):
        match event:
            case OutlineSegment(segment, loop, position): ...
            case LoopOpened(loop) | LoopClosed(loop): ...
            case SetOpened(set): ...          # and the other events of envelopes, as the reader has them

The reader builds the tree of a set while bytes come in. After each chunk its finished part is handed on and taken out of
the tree, so that only the open loops are kept, however large the set is. Knows trees and the events of a reader; checks
nothing.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from clearlane.x12 import tree
from clearlane.x12.reader import reader


class OutlineSegment(NamedTuple):
    """One segment."""

    segment: tree.Segment
    loop: tree.Loop | None
    """The loop that it is in; None in the envelope. Only its ``node`` is meaningful: its items come and go."""
    interchange: tree.Interchange
    position: int = 0
    """Position in the set, the ST being 1; 0 in the envelope."""


class LoopOpened(NamedTuple):
    """A loop begins; ``loop.items`` has its first segment unless it begins with another loop."""

    loop: tree.Loop


class LoopClosed(NamedTuple):
    """A loop ends."""

    loop: tree.Loop


OutlineEvent: TypeAlias = (
    OutlineSegment | LoopOpened | LoopClosed
    | reader.InterchangeOpened | reader.GroupOpened | reader.SetOpened
    | reader.InterchangeClosed | reader.GroupClosed | reader.SetClosed
)  # fmt: skip


def iter_outline(source: reader.Source) -> Iterator[OutlineEvent]:
    """Yield the segments of a file in order, and what opens and closes around them."""
    reading = reader.Reader(stream=False, check=False)
    follower = _FileFollower()
    for chunk in reader.iter_chunks(source):
        for event in reading.feed(chunk):
            yield from follower.follow(event)
        yield from follower.follow_open_set()
    for event in reading.finish():
        yield from follower.follow(event)


class _FileFollower:
    """A follower of the events of a reader, with the set that is open."""

    def __init__(self) -> None:
        self._set: _SetFollower | None = None

    def follow(self, event: reader.Event) -> Iterator[OutlineEvent]:
        """Yield what an event of the reader completes."""
        match event:
            case reader.InterchangeOpened(interchange):
                yield event
                yield OutlineSegment(interchange.header, None, interchange)
            case reader.GroupOpened(group):
                yield from _strays(group.interchange, group.number)
                yield event
                yield OutlineSegment(group.header, None, group.interchange)
            case reader.SetOpened(set):
                yield from _strays(set.group, set.number)
                yield event
                self._set = _SetFollower(set)
            case reader.SetClosed(set) if self._set is not None:
                yield from self._set.follow(is_closed=True)
                self._set = None
                set.group.sets.clear()
                yield event
            case reader.GroupClosed(group):
                group.interchange.groups.clear()
                yield from _rest_and_trailer(group)
                yield event
            case reader.InterchangeClosed(interchange):
                yield from _rest_and_trailer(interchange)
                yield event

    def follow_open_set(self) -> Iterator[OutlineEvent]:
        """Yield what has been read of the set that is open."""
        if self._set is not None:
            yield from self._set.follow()


class _Frame:
    """An open loop, and how many of its items were handed on."""

    __slots__ = ("done", "loop")

    def __init__(self, loop: tree.Loop) -> None:
        self.loop = loop
        self.done = 0

    @property
    def has_more(self) -> bool:
        return self.done < len(self.loop.items)

    def trim(self) -> None:
        """Take out what was handed on, except the first item, which identifies the loop."""
        if self.done > 1:
            del self.loop.items[1 : self.done]
            self.done = 1


class _SetFollower:
    """A follower of the tree of one set while it grows."""

    def __init__(self, set: tree.TransactionSet) -> None:
        self._interchange = set.group.interchange
        self._frames = [_Frame(set.root)]
        self._position = 0

    def follow(self, *, is_closed: bool = False) -> Iterator[OutlineEvent]:
        """Yield what came into the tree since the last call."""
        frames = self._frames
        while True:
            frame = frames[-1]
            if frame.has_more:
                item = frame.loop.items[frame.done]
                frame.done += 1
                yield self._take(item) if isinstance(item, list) else self._open(item)
            elif len(frames) > 1 and (is_closed or any(outer.has_more for outer in frames)):
                # Something follows in a loop around it, so nothing more comes into this one.
                yield LoopClosed(frames.pop().loop)
                frames[-1].trim()
            else:
                break
        for frame in frames:
            frame.trim()

    def _open(self, loop: tree.Loop) -> LoopOpened:
        self._frames.append(_Frame(loop))
        # The reader counts segments that are too long to be kept, so its position is the right one.
        self._position = loop.position - 1
        return LoopOpened(loop)

    def _take(self, segment: tree.Segment) -> OutlineSegment:
        self._position += 1
        return OutlineSegment(segment, self._frames[-1].loop, self._interchange, self._position)


def _rest_and_trailer(
    part: tree.Interchange | tree.FunctionalGroup,
) -> Iterator[OutlineSegment]:
    """Yield the remaining stray segments of an interchange or group, and its trailer."""
    yield from _strays(part)
    if part.trailer is not None:
        interchange = part if isinstance(part, tree.Interchange) else part.interchange
        yield OutlineSegment(part.trailer, None, interchange)


def _strays(
    part: tree.Interchange | tree.FunctionalGroup, number: int | None = None
) -> Iterator[OutlineSegment]:
    """Yield the stray segments before a group or set of this number, or all that are left."""
    interchange = part if isinstance(part, tree.Interchange) else part.interchange
    while part.stray and (number is None or part.stray[0][0] < number):
        yield OutlineSegment(part.stray.pop(0)[1], None, interchange)
