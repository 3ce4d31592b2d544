"""What a reader tells of a file, in file order.

Each ``Opened`` event comes when a header has been read; the matching ``Closed`` event carries the same
object with everything found in it.
"""

from typing import NamedTuple, TypeAlias

from clearlane.x12 import tree


class InterchangeOpened(NamedTuple):
    """An ISA was read."""

    interchange: tree.Interchange


class GroupOpened(NamedTuple):
    """A GS was read."""

    group: tree.Group


class SetOpened(NamedTuple):
    """An ST was read and its guide chosen."""

    set: tree.Set


class Unit(NamedTuple):
    """One unit of a set is complete: a claim, as a rule."""

    loop: tree.Loop
    parents: tuple[tree.Loop, ...]
    """The loops around it, the set's root first."""
    set: tree.Set

    def parent(self, *ids: str) -> tree.Loop | None:
        """The nearest loop around the unit with one of these ids."""
        return next((loop for loop in reversed(self.parents) if loop.node.id in ids), None)


class SetClosed(NamedTuple):
    """A set is complete: all its findings are in ``set.findings``."""

    set: tree.Set


class GroupClosed(NamedTuple):
    """A group is complete; ``group.findings`` holds those of GS and GE."""

    group: tree.Group


class InterchangeClosed(NamedTuple):
    """An interchange is complete; ``interchange.findings`` holds those of ISA and IEA."""

    interchange: tree.Interchange


class FileClosed(NamedTuple):
    """The end: ``file.findings`` holds what concerns no interchange."""

    file: tree.File


Event: TypeAlias = (
    InterchangeOpened | GroupOpened | SetOpened | Unit
    | SetClosed | GroupClosed | InterchangeClosed | FileClosed
)  # fmt: skip
