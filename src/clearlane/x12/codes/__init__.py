"""Code lists: what each code means, in our own words.

``load(name)`` answers a read-only mapping from code to words; a name without a list answers an
empty one, so that a guide may point at a list nobody has written yet. A list is read from its
text file once, when it is first asked for. Knows no guide and no file of the trade.

A list is a text file ``lists/<name>.txt``: comment lines that begin with ``#`` and tell source and
date, then one code a line: the code, a tab, the words, and further columns after further tabs, which
``column(name, number)`` reads. Most lists are closed. Where the publisher adds codes every few months
a comment ``# form: <expression>`` makes the list open: it then holds every code of that form, and the
codes nobody has written down here have no words. ``written(name, code)`` tells the two apart.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

from clearlane.x12.codes import icd10
from clearlane.x12.codes.places import LISTS

__all__ = ["LISTS", "OpenList", "column", "icd10", "load", "meaning", "names", "written"]

FORM = "# form: "
SUFFIX = ".txt"

_NOTHING: Mapping[str, str] = MappingProxyType({})


class OpenList(Mapping[str, str]):
    """A list that holds every code of a form; the codes nobody has written down have no words."""

    __slots__ = ("_form", "_words")

    def __init__(self, form: str, words: Mapping[str, str]) -> None:
        self._form = re.compile(form, re.ASCII)
        self._words = words

    def __contains__(self, code: object) -> bool:
        return code in self._words or (
            isinstance(code, str) and self._form.fullmatch(code) is not None
        )

    def __getitem__(self, code: str) -> str:
        if code in self._words:
            return self._words[code]
        if code in self:
            return ""
        raise KeyError(code)

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)


@cache
def names() -> tuple[str, ...]:
    """Every list there is, in alphabetical order."""
    files = (entry.name for entry in resources.files(__package__).joinpath("lists").iterdir())
    return tuple(sorted(file.removesuffix(SUFFIX) for file in files if file.endswith(SUFFIX)))


@cache
def load(name: str) -> Mapping[str, str]:
    """The codes of a list and what they mean; empty where there is no such list."""
    words = column(name, 1)
    form = next((line.removeprefix(FORM) for line in _lines(name) if line.startswith(FORM)), "")
    return OpenList(form, words) if form else words


@cache
def column(name: str, number: int) -> Mapping[str, str]:
    """One column of a list, by code. Column 1 holds the words; rows without the column are left out."""
    rows = (line.split("\t") for line in _lines(name) if line and line[0] != "#")
    found = {row[0]: row[number] for row in rows if len(row) > number and row[number]}
    return MappingProxyType(found) if found else _NOTHING


def written(name: str, code: str) -> bool:
    """Whether the code itself stands in the list, open or not."""
    return code in column(name, 1)


def meaning(segment: str, element: int, code: str, component: int = 0) -> str:
    """What a code at one place of a segment means, such as CLP02; empty where nobody can tell."""
    name = LISTS.get((segment, element, component), "")
    return load(name).get(code, "") if name else ""


@cache
def _lines(name: str) -> tuple[str, ...]:
    if name not in names():
        return ()
    file = resources.files(__package__).joinpath("lists", name + SUFFIX)
    return tuple(file.read_text(encoding="utf-8").splitlines())
