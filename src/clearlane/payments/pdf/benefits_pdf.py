"""The benefits of patients as a PDF file: of each the verdict, what is left, then service by service.

Texts in, pages out: they are those of the sheet that console and commands show. Knows no eligibility.
"""

from collections.abc import Sequence
from typing import BinaryIO

from clearlane.payments.pdf.frames import BenefitsFileHeading, PatientBenefits
from clearlane.payments.pdf.page_parts import (
    BOLD,
    HEADING,
    PLAIN,
    fact_rows,
    notice_rows,
    section_row,
    title_rows,
)
from clearlane.payments.pdf.pages import WHOLE, WIDTH, Align, Color, Column, Pages, Row, row, space

TITLE = "Benefits"
SERVICE_WIDTH = 130
BALANCE_WIDTH = 150
"""For the names of what is left, such as "Out of pocket, individual, in network"."""
AMOUNT_CHARACTERS = 11
"""The least width of a column of figures."""
WORDS = {"Network": 11, "Level": 13}
"""Columns of words, with their widths in characters; all others are figures."""


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
    service, columns = _columns(one.columns)
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


def _columns(names: tuple[str, ...]) -> tuple[Column, list[Column]]:
    """Return the column of the service, and those of the others, which share the rest by the length of their heads."""
    shares = [
        WORDS.get(name, max(AMOUNT_CHARACTERS, *(len(line) + 2 for line in _two_lines(name))))
        for name in names
    ]
    found: list[Column] = []
    left = float(SERVICE_WIDTH)
    for name, share in zip(names, shares, strict=True):
        width = (WIDTH - SERVICE_WIDTH) * share / sum(shares)
        found.append(Column(left, width, Align.LEFT if name in WORDS else Align.RIGHT))
        left += width
    return Column(0, SERVICE_WIDTH), found
