"""Events of a reader, in file order.

Each ``Opened`` event comes when a header has been read; the matching ``Closed`` event carries the same object with all
its findings.
"""

from typing import NamedTuple, TypeAlias

from clearlane.x12 import tree


class InterchangeOpened(NamedTuple):
    """An ISA was read."""

    interchange: tree.Interchange


class GroupOpened(NamedTuple):
    """A GS was read."""

    group: tree.FunctionalGroup


class SetOpened(NamedTuple):
    """An ST was read and its guide chosen."""

    set: tree.TransactionSet


class UnitClosed(NamedTuple):
    """One unit of a set is complete: usually a claim."""

    loop: tree.Loop
    parents: tuple[tree.Loop, ...]
    """The loops around it, the set's root first."""
    set: tree.TransactionSet

    def parent(self, *ids: str) -> tree.Loop | None:
        """Return the nearest loop around the unit with one of these ids, or None."""
        return next((loop for loop in reversed(self.parents) if loop.node.id in ids), None)


class ParentClosed(NamedTuple):
    """A loop around units is complete; its units came before and are no longer in it."""

    loop: tree.Loop
    parents: tuple[tree.Loop, ...]
    """The loops around it, the set's root first."""
    set: tree.TransactionSet


class SetClosed(NamedTuple):
    """A set is complete: all its findings are in ``set.findings``."""

    set: tree.TransactionSet


class GroupClosed(NamedTuple):
    """A group is complete; ``group.findings`` holds those of GS and GE."""

    group: tree.FunctionalGroup


class InterchangeClosed(NamedTuple):
    """An interchange is complete; ``interchange.findings`` holds those of ISA and IEA."""

    interchange: tree.Interchange


class FileClosed(NamedTuple):
    """The end of the file: ``file.findings`` holds what concerns no interchange."""

    file: tree.X12File


Event: TypeAlias = (
    InterchangeOpened | GroupOpened | SetOpened | UnitClosed | ParentClosed
    | SetClosed | GroupClosed | InterchangeClosed | FileClosed
)  # fmt: skip
