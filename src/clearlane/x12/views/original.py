"""Values as the file had them, where its separators are not the canonical ones.

Inside the engine a text is in the canonical separators, so a data character that is one of these was
swapped for one of the file's. A view swaps it back once it is built: composites are split apart by then. Texts
that stayed whole, and the segments in ``other``, come back in the file's own separators.

Knows delimiters and the values of views.
"""

from collections.abc import Iterator
from typing import Any, TypeVar

from msgspec.structs import replace

from clearlane.x12.delimiters import Delimiters
from clearlane.x12.views.binding import Value

V = TypeVar("V")


class Originals:
    """Gives back what was swapped in the values of one interchange."""

    __slots__ = ("_table", "needed")

    def __init__(self, delimiters: Delimiters) -> None:
        self._table = delimiters.original()
        self.needed = bool(self._table)

    def restored(self, value: V) -> V:
        """The value with every text as the file had it."""
        return self._map(value) if self.needed else value

    def _map(self, value: Any) -> Any:
        if isinstance(value, str):
            return value.translate(self._table)
        if isinstance(value, (tuple, list)):
            return type(value)(map(self._map, value))
        if isinstance(value, Value):
            return replace(value, **{name: self._map(found) for name, found in _own(value)})
        return value


def _own(value: Value) -> Iterator[tuple[str, Any]]:
    """The filled fields that hold what the file held. The words beside a code are ours."""
    for name in value.__struct_fields__:
        found = getattr(value, name)
        if found and not name.endswith("_words"):
            yield name, found
