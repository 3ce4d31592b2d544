"""The benefits of patients as a PDF file: of each the verdict, what is left, then service by service.

Texts in, pages out: they are those of the sheet that console and commands show. Knows no eligibility.
"""

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from clearlane.pdf.fonts import printable, text_width
from clearlane.pdf.frames import BenefitsFileHeading, PatientBenefits
from clearlane.pdf.page_parts import (
    BOLD,
    HEADING,
    PLAIN,
    fact_rows,
    notice_rows,
    section_row,
    title_rows,
)
from clearlane.pdf.pages import (
    PADDING,
    WHOLE,
    WIDTH,
    Align,
    Color,
    Column,
    Pages,
    Row,
    row,
    space,
)

TITLE = "Benefits"
SERVICE_WIDTH = 130
BALANCE_WIDTH = 150
"""For the names of what is left, such as "Out of pocket, individual, in network"."""
WORDS = {"Network": 52.0, "Level": 62.0}
"""Columns of words, which wrap, with their greatest widths; all others are figures."""


def write_benefits_pdf(heading: BenefitsFileHeading, out: BinaryIO) -> int:
    """Write the benefits of patients as a PDF file, and return the number of pages. No running title names a patient."""
    pages = Pages(out, title=TITLE, running=f"{TITLE}: question {heading.number}")
    pages.add(notice_rows(heading.notices))
    for one in heading.patients:
        pages.add(list(title_rows(TITLE, one.verdict, one.patient, heading.asked)))
        pages.add([*fact_rows(one.facts), space(4)])
        pages.add(notice_rows(one.notices))
        if one.balances:
            balances = fact_rows(one.balances, BALANCE_WIDTH)
            pages.add([section_row("Left"), *balances, space(4)])
        _add_groups(pages, one)
        for coverage, services in one.without_figures:
            pages.add([row([(WHOLE, f"{coverage}: {services}.", PLAIN)], after=2)])
        if one.notes:
            pages.add([section_row("Messages of the payer")])
            for note in one.notes:
                pages.add([row([(WHOLE, note, PLAIN)], after=2)])
        pages.add([space(10)])
    pages.save()
    return pages.count


def _add_groups(pages: Pages, one: PatientBenefits) -> None:
    if not one.groups:
        return
    service, columns = _columns(one)
    head = _head([(service, "Service"), *zip(columns, one.columns, strict=True)])
    first: list[Row] = [section_row("Service by service"), *head]
    for group in one.groups:
        title = f"{group.service} ({group.coverage})" if group.coverage else group.service
        for at, texts in enumerate(group.rows):
            cells = [(service, "" if at else title, BOLD)]
            cells += [(column, text, PLAIN) for column, text in zip(columns, texts, strict=True)]
            pages.add([*first, row(cells, rule=None if at else Color.RULE, before=1, after=1)])
            first = []
            pages.repeated = head
    pages.repeated = ()
    pages.add([space(4)])


def _head(names: Sequence[tuple[Column, str]]) -> tuple[Row, ...]:
    """Return the heads of a table, those of several words on two lines; the last line of each is above its figures."""
    lines = [(column, *_two_lines(name)) for column, name in names]
    upper = [(column, first, HEADING) for column, first, _ in lines]
    lower = [(column, last, HEADING) for column, _, last in lines]
    return (
        (row(upper), row(lower, after=2))
        if any(first for _, first, _ in lines)
        else (row(lower, after=2),)
    )


def _two_lines(name: str) -> tuple[str, str]:
    """Return a name without its last word, and that word."""
    first, _, last = name.rpartition(" ")
    return first, last


def _columns(one: PatientBenefits) -> tuple[Column, list[Column]]:
    """Return the column of the service, and those of the others, which share the rest by what they hold."""
    needed = [
        min(
            WORDS.get(name, WIDTH),
            max(_text_widths(name, [texts[at] for group in one.groups for texts in group.rows])),
        )
        for at, name in enumerate(one.columns)
    ]
    found: list[Column] = []
    left = float(SERVICE_WIDTH)
    for name, width in zip(one.columns, needed, strict=True):
        share = (WIDTH - SERVICE_WIDTH) * width / sum(needed)
        found.append(Column(left, share, Align.LEFT if name in WORDS else Align.RIGHT))
        left += share
    return Column(0, SERVICE_WIDTH), found


def _text_widths(name: str, texts: Sequence[str]) -> Iterator[float]:
    """Yield the widths of a column's head and texts, with the space around them."""
    for line in _two_lines(name):
        yield text_width(line, HEADING.face, HEADING.size) + 2 * PADDING
    for text in texts:
        yield text_width(printable(text), PLAIN.face, PLAIN.size) + 2 * PADDING
