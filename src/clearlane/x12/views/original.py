"""Restore the original characters of a file whose separators are not the canonical ones.

Inside the engine texts use the canonical separators, so a data character equal to one of these was exchanged with one of
the file's. A finished view exchanges it back; composites are already split then. Texts that stayed whole, and the segments
in ``other``, get the file's own separators again.

Knows delimiters and views.
"""

from collections.abc import Iterator
from typing import Any, TypeVar

from msgspec.structs import replace

from clearlane.x12.delimiters import Delimiters
from clearlane.x12.views.binding import View

V = TypeVar("V")


class SeparatorRestorer:
    """A restorer of the original characters in the views of one interchange."""

    __slots__ = ("_table", "needed")

    def __init__(self, delimiters: Delimiters) -> None:
        self._table = delimiters.from_canonical()
        self.needed = bool(self._table)

    def restore(self, value: V) -> V:
        """Return the value with every text as it was in the file."""
        return self._map(value) if self.needed else value

    def _map(self, value: Any) -> Any:
        if isinstance(value, str):
            return value.translate(self._table)
        if isinstance(value, (tuple, list)):
            return type(value)(map(self._map, value))
        if isinstance(value, View):
            return replace(value, **{name: self._map(found) for name, found in _file_fields(value)})
        return value


def _file_fields(value: View) -> Iterator[tuple[str, Any]]:
    """Yield the filled fields with data of the file, not the meanings added beside codes."""
    for name in value.__struct_fields__:
        found = getattr(value, name)
        if found and not name.endswith("_words"):
            yield name, found
