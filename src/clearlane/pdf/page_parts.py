"""Parts that every PDF file of payments has: title, facts, sections, notices, and amounts that add up.

Texts and amounts in, rows out. Knows no payment and no page.
"""

from collections.abc import Iterable, Iterator, Sequence

from clearlane.payments import wording
from clearlane.payments.wording import EquationTerm
from clearlane.pdf.fonts import Face
from clearlane.pdf.pages import WHOLE, WIDTH, Align, Color, Column, Row, Style, row

PLAIN = Style()
BOLD = Style(face=Face.BOLD)
SMALL = Style(size=7, leading=9, color=Color.QUIET)
HEADING = Style(face=Face.BOLD, size=7, leading=9, color=Color.QUIET)
WARNING = Style(face=Face.BOLD, size=7, leading=9, color=Color.RED)

_TITLE = Style(face=Face.BOLD, size=15, leading=20)
_AMOUNT = Style(face=Face.BOLD, size=13, leading=20)
_SUBTITLE = Style(face=Face.BOLD, size=10, leading=14)
_BESIDE = Style(size=9, leading=14)
_NOTICE = Style(face=Face.BOLD, size=8, leading=11, color=Color.AMBER)

_LEFT, _RIGHT = Column(0, 320), Column(320, WIDTH - 320, Align.RIGHT)
_FACT_LABEL_WIDTH = 84
_FACTS = (Column(0, 264), Column(270, WIDTH - 270))
_TERM, _TERM_AMOUNT = Column(0, 240), Column(240, 80, Align.RIGHT)


def title_rows(title: str, amount: str, name: str, beside: str) -> tuple[Row, Row]:
    """Return the title with an amount at the right, and below it a name with the text beside it."""
    return (
        row([(_LEFT, title, _TITLE), (_RIGHT, amount, _AMOUNT)]),
        row([(_LEFT, name, _SUBTITLE), (_RIGHT, beside, _BESIDE)], after=4),
    )


def fact_rows(
    facts: Sequence[tuple[str, str]], label_width: float = _FACT_LABEL_WIDTH
) -> Iterator[Row]:
    """Yield labels and values, two pairs a row."""
    for at in range(0, len(facts), 2):
        cells: list[tuple[Column, str, Style]] = []
        for column, (label, value) in enumerate(facts[at : at + 2]):
            left, width, _ = _FACTS[column]
            cells.append((Column(left, label_width), label, SMALL))
            value_column = Column(left + label_width, width - label_width)
            cells.append((value_column, value or "-", PLAIN))
        yield row(cells, rule=Color.RULE if at == 0 else None, before=4 if at == 0 else 0)


def section_row(text: str) -> Row:
    """Return the heading of a part of the file."""
    return row([(WHOLE, text, _SUBTITLE)], before=6, after=3)


def notice_rows(texts: Iterable[str]) -> list[Row]:
    """Return sentences that a reader must not miss."""
    return [
        row([(WHOLE, text, _NOTICE)], ground=Color.AMBER_GROUND, before=3, after=3)
        for text in texts
    ]


def term_rows(terms: Iterable[EquationTerm]) -> list[Row]:
    """Return amounts with their names, one below the other."""
    return [term_row(one.label, wording.money(one.amount), PLAIN) for one in terms]


def term_row(label: str, amount: str, style: Style = BOLD) -> Row:
    """Return one amount with its name; a sum is bold."""
    return row([(_TERM, label, style), (_TERM_AMOUNT, amount, style)])
