"""A claim as a plain sheet: its boxes by their numbers, with words of our own, and its service lines as a table.

It is for people to read and compare, and says so on every page: payers take their own forms alone. Texts in, pages out.
Knows no claim and no form.
"""

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from clearlane.pdf.fonts import printable, text_width
from clearlane.pdf.frames import SheetBox, SheetFileHeading
from clearlane.pdf.page_parts import (
    BOLD,
    HEADING,
    PLAIN,
    SMALL,
    notice_rows,
    section_row,
    title_rows,
)
from clearlane.pdf.pages import (
    PADDING,
    WHOLE,
    WIDTH,
    Color,
    Column,
    Pages,
    Row,
    Style,
    row,
    space,
)

NOT_FOR_SUBMISSION = "Not for submission"

_NUMBER, _WORDS, _VALUE = Column(0, 52), Column(52, 190), Column(242, WIDTH - 242)
_LINE_NUMBER_WIDTH = 24.0


def write_sheet_pdf(heading: SheetFileHeading, out: BinaryIO) -> int:
    """Write a claim as a plain sheet, and return the number of pages."""
    title = f"Claim by box, {heading.form}"
    running = f"{NOT_FOR_SUBMISSION}. {title}: claim {heading.claim_number}"
    pages = Pages(out, title=title, running=running)
    pages.add(list(title_rows(title, NOT_FOR_SUBMISSION, heading.patient, heading.claim_number)))
    pages.add(notice_rows(heading.notices))
    names = ((_NUMBER, "Box"), (_WORDS, "What it holds"), (_VALUE, "Value"))
    head = row([(column, text, HEADING) for column, text in names], after=2)
    pages.add([head])
    pages.repeated = (head,)
    for box in heading.boxes:
        pages.add([_box_row(box)])
    pages.repeated = ()
    if heading.lines:
        _add_lines(pages, heading)
    pages.save()
    return pages.count


def _box_row(box: SheetBox) -> Row:
    values = "; ".join(box.texts)
    cells = ((_NUMBER, box.number, BOLD), (_WORDS, box.words, PLAIN), (_VALUE, values, PLAIN))
    return row(cells, rule=Color.RULE, before=1, after=1)


def _add_lines(pages: Pages, heading: SheetFileHeading) -> None:
    """Add the service lines. Boxes that no line fills are left out; those that have the same number are explained below."""
    filled = [
        at for at, _ in enumerate(heading.lines[0]) if any(line[at].texts for line in heading.lines)
    ]
    columns = _columns([[line[at] for line in heading.lines] for at in filled])
    boxes = [heading.lines[0][at] for at in filled]
    legend = " \u00b7 ".join(f"{box.number} {box.words}" for box in boxes)
    head = row(
        [(Column(0, _LINE_NUMBER_WIDTH), "Line", HEADING)]
        + [(column, box.number, HEADING) for column, box in zip(columns, boxes, strict=True)],
        after=2,
    )
    pages.add(
        [space(4), section_row("Service lines"), row([(WHOLE, legend, SMALL)], after=3), head]
    )
    pages.repeated = (head,)
    for number, line in enumerate(heading.lines, 1):
        cells = zip(columns, (line[at] for at in filled), strict=True)
        pages.add(
            [
                row(
                    [(Column(0, _LINE_NUMBER_WIDTH), str(number), BOLD)]
                    + [(column, _line_text(box), PLAIN) for column, box in cells],
                    rule=Color.RULE,
                    before=1,
                    after=1,
                )
            ]
        )
    pages.repeated = ()


def _line_text(box: SheetBox) -> str:
    """Return what a box of a line holds, each text once: a service of one day has the same first and last day."""
    return " ".join(dict.fromkeys(box.texts))


def _columns(boxes: Sequence[Sequence[SheetBox]]) -> list[Column]:
    """Return columns side by side: each takes its longest word, and what is left goes to those with long texts."""
    texts = [[_line_text(each) for each in same] for same in boxes]
    least = [
        max(
            _width(same[0].number, HEADING),
            *(_width(word, PLAIN) for text in held for word in text.split()),
            0,
        )
        for same, held in zip(boxes, texts, strict=True)
    ]
    full = [
        max(least[at], *(_width(text, PLAIN) for text in held)) for at, held in enumerate(texts)
    ]
    available = WIDTH - _LINE_NUMBER_WIDTH
    left_over, wanted = available - sum(least), sum(full) - sum(least)

    def each() -> Iterator[Column]:
        left = _LINE_NUMBER_WIDTH
        for at, small in enumerate(least):
            if left_over < 0:
                width = available * small / sum(least)
            elif wanted <= left_over:
                width = full[at] + (left_over - wanted) / len(least)
            else:
                width = small + left_over * (full[at] - small) / wanted
            yield Column(left, width)
            left += width

    return list(each())


def _width(text: str, style: Style) -> float:
    return text_width(printable(text), style.face, style.size) + 2 * PADDING
