"""Rows placed on numbered pages of a PDF file.

    pages = Pages(out, title="Remittance advice", running="Harbor Health, payment 9981")
    pages.add([row([cell("Total", LEFT), cell("12.00", AMOUNT)])])
    pages.save()

Rows that are added together stay together if a page can hold them. ``pages.repeated`` is printed again at the top
of each new page: the headings of a table. The library keeps all pages in memory, some 23 KB each, so their number is
limited. Knows the PDF library; knows no payment.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import BinaryIO, NamedTuple

from reportlab import rl_config
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import letter
from reportlab.pdfgen.canvas import Canvas
from reportlab.pdfgen.textobject import PDFTextObject

from clearlane.pdf import file_limits
from clearlane.pdf.fonts import Face, load_fonts, printable, text_width, wrap

PAGE_WIDTH, PAGE_HEIGHT = letter
MARGIN = 40.0
WIDTH = PAGE_WIDTH - 2 * MARGIN
TOP = PAGE_HEIGHT - 44.0
BOTTOM = 54.0
FOOTER = 30.0
PADDING = 3.0
PAGE_ROWS_HEIGHT = TOP - BOTTOM - 80.0
"""Rows that are higher together may be parted; less than a page, which has headings too."""
_TOTAL = "page_total"

# Binary streams: a fifth smaller than the printable ones that the library writes by default.
rl_config.useA85 = 0
# A page begins with this font; the library's own choice would be one that is not embedded.
rl_config.canvas_basefontname = Face.PLAIN.value


class TooManyPages(Exception):
    """A file that would have more than ``file_limits.PAGES_MAX`` pages."""


class Color(StrEnum):
    """A color of text, rules and grounds."""

    INK = "#16282c"
    QUIET = "#4c5d61"
    RULE = "#c5d1d0"
    GROUND = "#eef3f2"
    RED = "#9c1c1c"
    AMBER = "#7a4b00"
    AMBER_GROUND = "#fff3d6"
    BLUE = "#1a4f8b"
    GREEN = "#0b6b4f"


_COLORS = {one: HexColor(one.value) for one in Color}


class Align(StrEnum):
    """The side of its column to which a text is aligned."""

    LEFT = "left"
    RIGHT = "right"


class Style(NamedTuple):
    """How a text looks."""

    face: Face = Face.PLAIN
    size: float = 7.5
    leading: float = 10.0
    color: Color = Color.INK


class Column(NamedTuple):
    """The place of a text on a page: from the left margin, in points."""

    left: float
    width: float
    align: Align = Align.LEFT


class Placed(NamedTuple):
    """One line of text at its place within a row."""

    x: float
    below: float
    text: str
    style: Style


class Row(NamedTuple):
    """Texts side by side, which a page break never separates."""

    height: float
    texts: tuple[Placed, ...] = ()
    ground: Color | None = None
    rule: Color | None = None
    """The color of a rule above the row."""


def row(
    cells: Iterable[tuple[Column, str, Style]],
    *,
    ground: Color | None = None,
    rule: Color | None = None,
    before: float = 0.0,
    after: float = 0.0,
) -> Row:
    """Return a row of texts, each wrapped in its column; amounts at the right are made smaller instead."""
    texts: list[Placed] = []
    height = 0.0
    for column, text, style in cells:
        top = before
        for line, fitted in _lines(printable(text), column, style):
            x = MARGIN + column.left + PADDING
            if column.align is Align.RIGHT:
                x += column.width - 2 * PADDING - text_width(line, fitted.face, fitted.size)
            # The baseline is below the middle of its line by about a third of the letters' height.
            texts.append(Placed(x, top + style.leading / 2 + style.size * 0.36, line, fitted))
            top += style.leading
        height = max(height, top)
    return Row(height + after, tuple(texts), ground, rule)


def space(height: float) -> Row:
    """Return an empty row."""
    return Row(height)


def _lines(text: str, column: Column, style: Style) -> list[tuple[str, Style]]:
    width = column.width - 2 * PADDING
    if column.align is Align.LEFT:
        return [(line, style) for line in wrap(text, style.face, style.size, width)]
    needed = text_width(text, style.face, style.size)
    fitted = style._replace(size=style.size * width / needed) if needed > width else style
    return [(text, fitted)]


class Pages:
    """The pages of one PDF file, written from the top to the bottom."""

    def __init__(self, out: BinaryIO, *, title: str, running: str) -> None:
        load_fonts()
        # The file is kept in memory until it is saved; nothing is written before.
        self._canvas = Canvas(out, pagesize=letter, pageCompression=1, lang="en-US")
        # The title alone: it says what the file is about, and properties are shown in many places.
        self._canvas.setTitle(title)
        self._canvas.setAuthor("Clearlane")
        self._canvas.setCreator("Clearlane")
        self._running = printable(running)
        self._text: PDFTextObject | None = None
        self._style: Style | None = None
        self._below = TOP
        self._is_fresh = False
        self.count = 0
        self.repeated: tuple[Row, ...] = ()

    def add(self, rows: Sequence[Row]) -> None:
        """Place rows below what is there, on a new page if this one cannot hold them all."""
        together = sum(one.height for one in rows)
        is_too_high = self._below - together < BOTTOM and together <= PAGE_ROWS_HEIGHT
        if self._text is None or (is_too_high and not self._is_fresh):
            self.begin_page()
        for one in rows:
            if self._below - one.height < BOTTOM and not self._is_fresh:
                self.begin_page()
            self._draw(one)
            self._is_fresh = False

    def save(self) -> None:
        """Finish the last page, write the total on every page, and write the file."""
        if self._text is None and not self.count:
            self.begin_page()
        self._finish_page()
        # One drawing that all pages refer to: the total is not known while they are written.
        self._canvas.beginForm(_TOTAL)
        self._canvas.setFont(Face.PLAIN.value, FOOTER_STYLE.size)
        self._canvas.setFillColor(_COLORS[FOOTER_STYLE.color])
        self._canvas.drawString(0, 0, f"{self.count:,}")
        self._canvas.endForm()
        self._canvas.save()

    def begin_page(self) -> None:
        """Finish the page, and place what follows on a new one."""
        self._finish_page()
        if self.count == file_limits.PAGES_MAX:
            raise TooManyPages
        self.count += 1
        self._below = TOP
        self._text = self._canvas.beginText()
        self._is_fresh = True
        if self.count > 1:
            self._draw(row([(WHOLE, self._running, FOOTER_STYLE)], after=4))
        for one in self.repeated:
            self._draw(one)

    def _finish_page(self) -> None:
        if self._text is None:
            return
        number = f"page {self.count:,} of "
        self._write(MARGIN + PADDING, FOOTER, number, FOOTER_STYLE)
        self._canvas.drawText(self._text)
        width = text_width(number, FOOTER_STYLE.face, FOOTER_STYLE.size)
        self._canvas.translate(MARGIN + PADDING + width, FOOTER)
        self._canvas.doForm(_TOTAL)
        self._canvas.showPage()
        self._text = self._style = None

    def _draw(self, one: Row) -> None:
        # Grounds and rules go to the page at once and texts at its end, so that texts are on top.
        if one.ground:
            self._canvas.setFillColor(_COLORS[one.ground])
            self._canvas.rect(MARGIN, self._below - one.height, WIDTH, one.height, stroke=0, fill=1)
        if one.rule:
            self._canvas.setStrokeColor(_COLORS[one.rule])
            self._canvas.setLineWidth(0.6)
            self._canvas.line(MARGIN, self._below, MARGIN + WIDTH, self._below)
        for x, below, text, style in one.texts:
            self._write(x, self._below - below, text, style)
        self._below -= one.height

    def _write(self, x: float, y: float, text: str, style: Style) -> None:
        if self._text is None or not text:
            return
        if style != self._style:
            self._text.setFont(style.face.value, style.size)
            self._text.setFillColor(_COLORS[style.color])
            self._style = style
        self._text.setTextOrigin(x, y)
        self._text.textOut(text)


WHOLE = Column(0, WIDTH)
FOOTER_STYLE = Style(size=7, leading=9, color=Color.QUIET)
