"""Code lists: the meaning of each code, in our own words.

``load(name)`` returns a read-only mapping from code to meaning; an unknown name gives an empty mapping, so a guide may name
a list that is not written yet. A list is read from its text file once, at first use. Knows no guide and no X12 file.

A list is a text file ``lists/<name>.txt``: comment lines that begin with ``#`` and give source and date, then one code per
line: the code, a tab, the meaning, and further columns after further tabs, which ``load_column(name, number)`` reads. Most
lists are closed. If the publisher adds codes every few months, a comment ``# form: <expression>`` makes the list open: it
then contains every code of that form, and codes not written in the file have an empty meaning. ``is_listed(name, code)``
distinguishes the two. A code that ends with ``x`` is a category: it has every code that has another last character there.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

from clearlane.x12.codes import dated_codes
from clearlane.x12.codes.element_lists import HEALTH_CODE_LISTS, LISTS
from clearlane.x12.codes.short_lists import SHORT_LISTS

__all__ = [
    "HEALTH_CODE_LISTS", "LISTS", "CategoryList", "OpenList", "dated_codes", "find_meaning", "find_note", "is_listed", "list_names", "load", "load_column",
]  # fmt: skip

FORM = "# form: "
CATEGORY = "x"
"""The last character of a category, in place of any other."""
SUFFIX = ".txt"

_NOTHING: Mapping[str, str] = MappingProxyType({})


class OpenList(Mapping[str, str]):
    """A list that contains every code of a form; codes not written in the file have an empty meaning."""

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


class CategoryList(Mapping[str, str]):
    """A list of categories, such as ``012x``: a code that is not written in the file has the meaning of its category."""

    __slots__ = ("_words",)

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words

    def __getitem__(self, code: str) -> str:
        return self._words[code] if code in self._words else self._words[code[:-1] + CATEGORY]

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)


@cache
def list_names() -> tuple[str, ...]:
    """Return the names of all lists, sorted."""
    files = (entry.name for entry in resources.files(__package__).joinpath("lists").iterdir())
    return tuple(sorted(file.removesuffix(SUFFIX) for file in files if file.endswith(SUFFIX)))


@cache
def load(name: str) -> Mapping[str, str]:
    """Return the codes of a list and their meanings; empty if there is no such list."""
    words = load_column(name, 1)
    form = next((line.removeprefix(FORM) for line in _lines(name) if line.startswith(FORM)), "")
    if any(code.endswith(CATEGORY) for code in words):
        return CategoryList(words)
    return OpenList(form, words) if form else words


@cache
def load_column(name: str, number: int) -> Mapping[str, str]:
    """Return one column of a list, by code. Column 1 is the meaning; rows without the column are left out."""
    rows = (line.split("\t") for line in _lines(name) if line and line[0] != "#")
    found = {row[0]: row[number] for row in rows if len(row) > number and row[number]}
    return MappingProxyType(found) if found else _NOTHING


def is_listed(name: str, code: str) -> bool:
    """Return whether the code itself is written in the list, open or not."""
    return code in load_column(name, 1)


def find_meaning(segment: str, element: int, code: str, component: int = 0) -> str:
    """Return the meaning of a code in one element, such as CLP02; empty if unknown."""
    place = (segment, element, component)
    name = LISTS.get(place, "")
    return load(name).get(code, "") if name else SHORT_LISTS.get(place, {}).get(code, "")


def find_note(name: str, about: str) -> str:
    """Return what the head of a list says about something, such as its source or its last day; empty if nothing."""
    return dated_codes.note_of(_lines(name), about)


@cache
def _lines(name: str) -> tuple[str, ...]:
    if name not in list_names():
        return ()
    file = resources.files(__package__).joinpath("lists", name + SUFFIX)
    return tuple(file.read_text(encoding="utf-8").splitlines())
