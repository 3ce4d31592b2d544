"""A proof of filing as a PDF file: what the payer acknowledged on the first page, then the files themselves.

Texts in, pages out. Knows no claim and no signature.
"""

from collections.abc import Sequence
from typing import BinaryIO

from clearlane.pdf.frames import FilingFileHeading, FilingSection
from clearlane.pdf.page_parts import (
    PLAIN,
    SMALL,
    fact_rows,
    notice_rows,
    section_row,
    title_rows,
)
from clearlane.pdf.pages import WHOLE, Pages, Row, row, space

TITLE = "Proof of filing"


def write_filing_pdf(heading: FilingFileHeading, out: BinaryIO) -> int:
    """Write a proof of filing as a PDF file, and return the number of pages."""
    pages = Pages(out, title=TITLE, running=f"{TITLE}: claim {heading.claim_number}")
    pages.add(list(title_rows(TITLE, heading.result, heading.patient, heading.payer)))
    pages.add(notice_rows(heading.notices))
    words = [section for section in heading.sections if not section.is_x12]
    for section in words:
        pages.add(_section_rows(section))
    pages.begin_page()
    for section in heading.sections[len(words) :]:
        pages.add([section_row(section.title), *_segment_rows(section.texts[:1])])
        for one in _segment_rows(section.texts[1:]):
            pages.add([one])
    pages.save()
    return pages.count


def _segment_rows(texts: Sequence[str]) -> list[Row]:
    return [row([(WHOLE, text, SMALL)]) for text in texts]


def _section_rows(section: FilingSection) -> list[Row]:
    return [
        section_row(section.title),
        *fact_rows(section.facts),
        *(row([(WHOLE, text, PLAIN)], after=2) for text in section.texts),
        space(4),
    ]
