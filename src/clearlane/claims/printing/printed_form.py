"""A form to be printed on: its boxes, where each is on the page, and the rows for service lines.

    Box("1a", "Insured's member ID", value, FormPlace(8, 50, 29))

Places are counted as a printer at 10 characters and 6 lines per inch counts them: line and column from 1. A form whose
boxes lie between these has fractions. Knows no claim.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from clearlane.claims.view import ClaimView, LineView
from clearlane.kernel.redacted_repr import redact_repr

CHARACTER_WIDTH, LINE_HEIGHT = 7.2, 12.0
"""In points, of which an inch has 72."""
PAGE_WIDTH, PAGE_HEIGHT = 612.0, 792.0

Texts = Sequence[str | None]
"""What a box states: a text for each of its places. A blank leaves its place empty."""


class FormPlace(NamedTuple):
    """Where a text begins: line, column, and how many characters fit."""

    line: float
    column: float
    width: int = 1


class PageSide(StrEnum):
    """The side of its place to which a text is aligned."""

    LEFT = "left"
    RIGHT = "right"


class OnPages(StrEnum):
    """The pages of a claim that show a box."""

    EVERY = "every"
    LAST = "last"
    BEFORE_LAST = "before the last"


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class FormPage:
    """One page of a claim on its form: what its boxes read."""

    view: ClaimView
    lines: tuple[LineView, ...]
    """The service lines of the page."""
    number: int
    count: int
    made_on: date


@dataclass(frozen=True, slots=True)
class Box:
    """A box of the form outside the service lines."""

    number: str
    """The number of the box or locator."""
    words: str
    """What it holds, in words of our own."""
    value: Callable[[FormPage], Texts]
    places: Sequence[FormPlace] = ()
    marks: Mapping[str, FormPlace] = field(default_factory=lambda: MappingProxyType({}))
    """Where an X says which value is meant, for a box that is ticked."""
    mark_words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What the values of a ticked box mean."""
    side: PageSide = PageSide.LEFT
    is_prose: bool = False
    """Whether the beginning of a text that is too long is still of use; part of a number or code is not."""
    pages: OnPages = OnPages.EVERY
    is_one_value: bool = False
    """Whether its texts are parts of one value, such as a telephone number."""


@dataclass(frozen=True, slots=True)
class LineBox:
    """A box of the rows for service lines; its line is counted from the first line of the row."""

    number: str
    words: str
    value: Callable[[LineView, FormPage], Texts]
    places: Sequence[FormPlace]
    side: PageSide = PageSide.LEFT
    is_prose: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedForm:
    """A form with its boxes."""

    name: str
    boxes: Sequence[Box]
    line_boxes: Sequence[LineBox]
    first_row: float
    """The line of the page on which the first service line begins."""
    row_lines: float
    """From one service line to the next."""
    rows: int
    """Service lines of a page."""
    left: float
    """From the edge of the page to column 1, in points."""
    top: float
    """From the edge of the page to the line above line 1, in points."""

    def position(self, place: FormPlace, text: str, side: PageSide) -> tuple[float, float]:
        """Return where a text begins, in points from the left and bottom edges of the page."""
        blank = place.width - len(text) if side is PageSide.RIGHT else 0
        x = self.left + CHARACTER_WIDTH * (place.column - 1 + blank)
        return x, PAGE_HEIGHT - self.top - LINE_HEIGHT * place.line


def places(lines: Sequence[float], columns: Sequence[float], width: int) -> tuple[FormPlace, ...]:
    """Return the places of a table of boxes, row by row."""
    return tuple(FormPlace(line, column, width) for line in lines for column in columns)
