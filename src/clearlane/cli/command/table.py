"""Tables of every command: columns fitted to a width by wrapping and leaving out, never by cutting.

Pure: columns, rows and a width in, lines out. A table that is too wide first breaks its headings, then wraps its
texts, then leaves columns out, the least important first but those that still fit, and names them; what still does not fit is printed one
value a line. A row that comes later and is wider goes on in the next line. An id, a path or an amount is never broken.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from clearlane.cli.command.terminal import bold, colored

GAP = "  "
TEXT_WIDTH_MIN = 24
"""A wrapped column is not made narrower: sentences of two words a line are unreadable."""

OWN_LINE = "    "
"""The indent of a value that is too long to fit beside its label, and gets a line of its own."""

# Words of states and verdicts. Everything else is printed as it is.
STATE_COLORS = {
    "green": "Accepted Complete complete delivered posted approved fine active up Active applied",
    "yellow": "in_doubt needs_review warning parked unknown_sender test_file submitted slow Suspended suspended paused",
    "red": "NotAccepted Rejected not_accepted rejected quarantined fault error refused down garbage Failed failed disabled",
}
_COLOR_OF = {word: color for color, words in STATE_COLORS.items() for word in words.split()}


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table: its heading, the name of its fact, and what may be done to make it fit."""

    label: str
    name: str = ""
    """The fact of a row that it shows, for `show_list`."""
    drop: int = 0
    """0 is always shown; the highest number is left out first."""
    wrap: bool = False
    """A text, which may be wrapped at its blanks."""
    right: bool = False
    """A number, which is aligned to the right."""
    state: bool = False
    """A state or verdict, which has a color on a terminal."""


def columns_of(header: Iterable["str | TableColumn"]) -> tuple[TableColumn, ...]:
    """Return columns; a bare text is a column that is always shown and never wrapped."""
    return tuple(one if isinstance(one, TableColumn) else TableColumn(one) for one in header)


@dataclass(frozen=True, slots=True)
class TableLayout:
    """How a table is printed at a width: the columns shown, how wide each is, and those left out."""

    columns: tuple[TableColumn, ...]
    widths: tuple[int, ...]
    """One for each column of ``columns``; 0 for one that is left out."""
    width: int | None
    empty: frozenset[int] = frozenset()
    """Columns in which no row has anything."""
    stacked: bool = False
    """Whether each row is printed as a block of one value a line, since no table fits."""

    @property
    def left_out(self) -> list[str]:
        """The headings of the columns that are not shown and hold something."""
        return [
            one.label
            for at, one in enumerate(self.columns)
            if not self.widths[at] and at not in self.empty
        ]

    def head(self) -> Iterator[str]:
        """Yield the heading's lines."""
        if self.stacked:
            return
        labels = [one.label.upper() for one in self.columns]
        for line in self._lines(
            [_broken(text, width) for text, width in zip(labels, self.widths, strict=True)]
        ):
            yield bold(line)

    def row(self, cells: Sequence[str]) -> Iterator[str]:
        """Yield the lines of a row."""
        if self.stacked:
            yield from self._block(cells)
            return
        at = self._overflow(cells)
        if at is not None:
            yield from self._broken_row(cells, at)
            return
        yield from self._lines(self._parts(cells), color=True)

    def _parts(self, cells: Sequence[str]) -> list[list[str]]:
        return [
            _broken(text, width) if column.wrap and width else [text]
            for column, text, width in zip(self.columns, cells, self.widths, strict=True)
        ]

    def _overflow(self, cells: Sequence[str]) -> int | None:
        """Return the first column whose text does not fit: rows that arrive later may be wider than the first."""
        shown = [at for at, width in enumerate(self.widths) if width]
        left = self.width
        if left is None or _total([max(self.widths[at], len(cells[at])) for at in shown]) <= left:
            return None
        for at in shown:
            if len(cells[at]) > self.widths[at] and not self.columns[at].wrap:
                return at
        return None

    def _broken_row(self, cells: Sequence[str], at: int) -> Iterator[str]:
        """Yield a row on several lines: one ends with the wide text, and what follows is printed below its own headings."""
        text, width = cells[at], self.width or 0
        before = [each for each, size in enumerate(self.widths) if size and each < at]
        fits = _total([*(self.widths[each] for each in before), len(text)]) <= width
        first = [cell if each < at + fits else "" for each, cell in enumerate(cells)]
        yield from self._lines(self._parts(first), color=True)
        if not fits:
            yield text.rjust(width)
        rest = ["" if each <= at else cell for each, cell in enumerate(cells)]
        yield from self.row(rest)

    def _lines(self, parts: Sequence[list[str]], *, color: bool = False) -> Iterator[str]:
        for number in range(max(map(len, parts), default=0)):
            shown, colors = [], []
            for column, lines, width in zip(self.columns, parts, self.widths, strict=True):
                if width:
                    text = lines[number] if number < len(lines) else ""
                    shown.append(text.rjust(width) if column.right else text.ljust(width))
                    colors.append(_COLOR_OF.get(text, "") if color and column.state else "")
            shown[-1] = shown[-1].rstrip()
            if "".join(shown).strip():
                yield GAP.join(map(colored, shown, colors)).rstrip()

    def _block(self, cells: Sequence[str]) -> Iterator[str]:
        label_width = max(len(one.label) for one in self.columns)
        for column, text in zip(self.columns, cells, strict=True):
            if text:
                before = column.label.upper().ljust(label_width) + GAP
                yield from wrapped(text, before, self.width)
        yield ""


def fit(
    columns: Sequence[TableColumn], rows: Sequence[Sequence[str]], width: int | None
) -> TableLayout:
    """Return the layout of a table at a width; None is a width without limit."""
    columns = tuple(columns)
    cells = [[len(row[at]) for row in rows] for at in range(len(columns))]
    full = [max([len(one.label), *lengths]) for one, lengths in zip(columns, cells, strict=True)]
    if width is None or _total(full) <= width:
        return TableLayout(columns, tuple(full), width)
    # With headings broken at their blanks a column is as wide as its content.
    narrow = [
        max([len(one.label) if one.wrap else _broken_width(one.label), *lengths])
        for one, lengths in zip(columns, cells, strict=True)
    ]
    least = [
        _wrapped_width([row[at] for row in rows], size) if one.wrap else size
        for at, (one, size) in enumerate(zip(columns, narrow, strict=True))
    ]
    empty = frozenset(at for at, lengths in enumerate(cells) if not any(lengths))
    shown, left_out = set(range(len(columns))), _drop_order(columns, empty)
    dropped: list[int] = []
    while _total([least[at] for at in shown]) > width:
        if len(dropped) == len(left_out):
            return TableLayout(columns, tuple(full), width, stacked=True)
        dropped.append(left_out[len(dropped)])
        shown.discard(dropped[-1])
    for at in reversed(dropped):  # a narrow one may fit where a wide one did not
        if at not in empty and _total([least[each] for each in {*shown, at}]) <= width:
            shown.add(at)
    return TableLayout(columns, _spread(shown, least, narrow, full, width), width, empty)


def wrapped(text: str, before: str, width: int | None, indent: int | None = None) -> list[str]:
    """Return a text in lines of a width, with a prefix on the first, and blanks before the others.

    There are as many blanks as the prefix is long, unless ``indent`` says otherwise.
    """
    if width is None:
        return [f"{before}{text}".rstrip()]
    longest = _longest_word(text)
    if len(before) + longest > width >= len(OWN_LINE) + longest and len(before) > len(OWN_LINE):
        return [before.rstrip(), *wrapped(text, OWN_LINE, width)]
    blanks = len(before) if indent is None else indent
    return textwrap.wrap(
        text,
        max(width, blanks + TEXT_WIDTH_MIN),
        initial_indent=before,
        subsequent_indent=" " * blanks,
        break_on_hyphens=False,
        break_long_words=False,
    ) or [before.rstrip()]


def _spread(
    shown: set[int], least: Sequence[int], narrow: Sequence[int], full: Sequence[int], width: int
) -> tuple[int, ...]:
    """Return widths: each column its least, then what is left to those that want more, from the left."""
    widths = [least[at] if at in shown else 0 for at in range(len(least))]
    for at in sorted(shown):
        left = width - _total([widths[each] for each in shown])
        widths[at] += min(narrow[at] - widths[at], left)
    for at in sorted(shown):  # a heading on one line, if the whole of it fits
        left = width - _total([widths[each] for each in shown])
        widths[at] = full[at] if full[at] - widths[at] <= left else widths[at]
    return tuple(widths)


def _drop_order(columns: Sequence[TableColumn], empty: frozenset[int]) -> list[int]:
    """Return the columns that may be left out, those to drop first at the front: empty ones."""
    droppable = [at for at, one in enumerate(columns) if one.drop or at in empty]
    return sorted(droppable, key=lambda at: (at not in empty, -columns[at].drop))


def _wrapped_width(texts: Sequence[str], size: int) -> int:
    """Return the least width of a column whose texts may be wrapped: that of the longest word."""
    return min(size, max([TEXT_WIDTH_MIN, *map(_longest_word, texts)])) if texts else size


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * max(len(widths) - 1, 0)


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _broken_width(label: str) -> int:
    """Return how wide a heading is on two lines at most."""
    words = label.split()
    splits = ((" ".join(words[:at]), " ".join(words[at:])) for at in range(1, max(len(words), 2)))
    return min(max(map(len, both)) for both in splits)


def _broken(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, max(width, 1), break_long_words=False, break_on_hyphens=False) or [
        ""
    ]
