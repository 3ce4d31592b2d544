"""Find what a path leads to, segment by segment and without regard to case.

A segment ``{name}`` of a path is variable: it matches any text, which is kept as it was sent. A path with fewer variable
segments goes first. Knows no endpoint.
"""

from collections.abc import Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar
from urllib.parse import unquote

T = TypeVar("T")

PATH_VALUE_CHARACTERS_MAX = 200
NO_VALUES: Mapping[str, str] = {}


class PathMatch(NamedTuple, Generic[T]):
    """What a path leads to."""

    targets: tuple[T, ...]
    """One for each set of verbs."""
    values: Mapping[str, str]
    """The values of the variable segments, by name."""


class PathTable(Generic[T]):
    """What paths lead to."""

    def __init__(self, targets: Iterable[tuple[str, T]]) -> None:
        self._fixed: dict[tuple[str, ...], tuple[T, ...]] = {}
        self._as_written: dict[bytes, tuple[T, ...]] = {}
        self._variable: dict[int, list[_VariablePath[T]]] = {}
        by_path: dict[str, list[T]] = {}
        for path, target in targets:
            by_path.setdefault(path, []).append(target)
        for path, own in by_path.items():
            self._add(path, tuple(own))
        for paths in self._variable.values():
            paths.sort(key=lambda one: len(one.names))

    def find(self, path: bytes) -> PathMatch[T] | None:
        """Return what a raw path leads to, or None."""
        own = self._as_written.get(path)
        if own is not None:
            return PathMatch(own, NO_VALUES)
        segments = path_segments(path)
        own = self._fixed.get(segments)
        if own is not None:
            return PathMatch(own, NO_VALUES)
        for one in self._variable.get(len(segments), ()):
            if all(segments[at] == text for at, text in one.fixed):
                sent = sent_segments(path)
                values = {name: sent[at] for at, name in one.names}
                return PathMatch(one.targets, values) if _are_usable(values.values()) else None
        return None

    def _add(self, path: str, own: tuple[T, ...]) -> None:
        names = tuple(
            (at, segment[1:-1])
            for at, segment in enumerate(sent_segments(path.encode()))
            if segment.startswith("{")
        )
        segments = path_segments(path.encode())
        if names:
            variable = {at for at, _ in names}
            fixed = tuple((at, s) for at, s in enumerate(segments) if at not in variable)
            self._variable.setdefault(len(segments), []).append(_VariablePath(fixed, names, own))
            return
        if segments in self._fixed:  # one would hide the other, and its checks
            raise ValueError(f"the path {path} is given twice")
        self._fixed[segments] = self._as_written[path.encode()] = own


class _VariablePath(NamedTuple, Generic[T]):
    fixed: tuple[tuple[int, str], ...]
    names: tuple[tuple[int, str], ...]
    targets: tuple[T, ...]


def path_segments(path: bytes) -> tuple[str, ...]:
    """Return the segments of a raw path in lower case. Slashes at the end and repeated ones make no segments."""
    return tuple(fold_case(segment) for segment in sent_segments(path))


def sent_segments(path: bytes) -> list[str]:
    """Return the segments of a raw path. Each is decoded on its own, so that an encoded slash never splits it."""
    return [unquote(segment) for segment in path.decode("latin-1").split("/") if segment]


def fold_case(text: str) -> str:
    """Return the text in lower case if it is ASCII: other alphabets have letters that fold into ASCII."""
    return text.lower() if text.isascii() else text


def _are_usable(values: Iterable[str]) -> bool:
    """Return whether values of a path can be an id: a database takes no text with a null character."""
    return all(len(one) <= PATH_VALUE_CHARACTERS_MAX and one.isprintable() for one in values)
