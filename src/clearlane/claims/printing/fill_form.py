"""FormPlace a claim on its form: the texts of each page with their places, and what does not fit.

    filled = fill_form(form_of(claim).view(claim), made_on=today)
    filled.pages[0].texts[0].x
    filled.left_out[0].sentence

Nothing is cut in silence: a text that is too long, and a value for which the form has no place, are named. A sentence
about them holds no value.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import NamedTuple

from clearlane.claims.kinds import ClaimKind
from clearlane.claims.printing import ada_boxes, cms1500_boxes, ub04_boxes
from clearlane.claims.printing.form_notation import plain
from clearlane.claims.printing.printed_form import (
    Box,
    FormPage,
    FormPlace,
    LineBox,
    OnPages,
    PrintedForm,
)
from clearlane.claims.view import ClaimView
from clearlane.kernel.redacted_repr import redact_repr

PRINTED_FORMS = {
    ClaimKind.MEDICAL: cms1500_boxes.FORM,
    ClaimKind.DENTAL: ada_boxes.FORM,
    ClaimKind.INSTITUTIONAL: ub04_boxes.FORM,
}
"""The form that claims of each kind are printed on."""
MARK = "X"
SEVERAL_LINES = 2
_NUMBER = re.compile(r"\d+")


@redact_repr
@dataclass(frozen=True, slots=True)
class PlacedText:
    """A text at its place on the page, in points from the left and bottom edges."""

    number: str
    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What the form does not show of the claim; holds no value."""

    number: str
    words: str
    why: str
    line: int | None = None

    @property
    def sentence(self) -> str:
        """Name the box and say why."""
        at = f", line {self.line}" if self.line else ""
        return f"Box {self.number}{at} ({self.words}): {self.why}"


@redact_repr
@dataclass(frozen=True, slots=True)
class StatedBox:
    """A box with all that the claim states for it, whether it fits or not."""

    number: str
    words: str
    texts: tuple[str, ...]


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class FilledPage:
    """A page of the form."""

    texts: tuple[PlacedText, ...]


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class FilledForm:
    """A claim on its form."""

    form: PrintedForm
    pages: tuple[FilledPage, ...]
    boxes: tuple[StatedBox, ...]
    """The boxes that the claim fills, in the order of their numbers."""
    lines: tuple[tuple[StatedBox, ...], ...]
    """The boxes of each service line, filled or not."""
    left_out: tuple[LeftOut, ...]

    @property
    def left_out_sentences(self) -> list[str]:
        """Name what the form does not show, each box once: what several lines share is one sentence."""
        lines: dict[LeftOut, list[int]] = {}
        for one in self.left_out:
            found = lines.setdefault(replace(one, line=None), [])
            if one.line:
                found.append(one.line)
        return [_left_out_sentence(one, at) for one, at in lines.items()]


def _left_out_sentence(one: LeftOut, lines: Sequence[int]) -> str:
    if len(lines) < SEVERAL_LINES:
        return replace(one, line=lines[0] if lines else None).sentence
    *first, last = map(str, lines)
    return f"Box {one.number}, lines {', '.join(first)} and {last} ({one.words}): {one.why}"


def fill_form(view: ClaimView, *, made_on: date) -> FilledForm:
    """FormPlace a claim on the form of its kind."""
    form = PRINTED_FORMS[view.form.kind]
    starts = range(0, max(len(view.lines), 1), form.rows)
    groups = [view.lines[at : at + form.rows] for at in starts]
    pages = [
        FormPage(view=view, lines=lines, number=number, count=len(groups), made_on=made_on)
        for number, lines in enumerate(groups, 1)
    ]
    filling = _Filling(form)
    for page in pages:
        filling.add(page)
    return FilledForm(
        form=form,
        pages=tuple(FilledPage(texts=tuple(texts)) for texts in filling.pages),
        boxes=tuple(sorted(_stated(form.boxes, pages), key=_order)),
        lines=tuple(
            _stated_line(form, page, at) for page in pages for at in range(len(page.lines))
        ),
        left_out=tuple(dict.fromkeys(filling.left_out)),
    )


def is_shown(box: Box, page: FormPage) -> bool:
    """Return whether a page shows a box."""
    is_last = page.number == page.count
    return box.pages is OnPages.EVERY or is_last is (box.pages is OnPages.LAST)


class _Texts(NamedTuple):
    """The texts of one box, with what is needed to place them."""

    box: Box | LineBox
    texts: Sequence[str | None]
    below: float = 0.0
    """The line of the page that the lines of the places are added to."""
    line: int | None = None


@dataclass(slots=True)
class _Filling:
    """The pages of a claim while they are filled."""

    form: PrintedForm
    pages: list[list[PlacedText]] = field(default_factory=list, repr=False)
    left_out: list[LeftOut] = field(default_factory=list)

    def add(self, page: FormPage) -> None:
        """Add a page with its boxes and service lines."""
        self.pages.append([])
        for box in self.form.boxes:
            if is_shown(box, page):
                self._place(_Texts(box, box.value(page)))
        first = (page.number - 1) * self.form.rows + 1
        for row, line in enumerate(page.lines):
            below = self.form.first_row + row * self.form.row_lines
            for line_box in self.form.line_boxes:
                self._place(_Texts(line_box, line_box.value(line, page), below, first + row))

    def _place(self, stated: _Texts) -> None:
        box = stated.box
        if isinstance(box, Box) and box.marks:
            self._mark(box, stated.texts)
            return
        for at, text in enumerate(stated.texts):
            if text and at < len(box.places):
                self._write(stated, box.places[at], text)
        if any(stated.texts[len(box.places) :]):
            count = sum(1 for text in stated.texts if text)
            why = f"the claim states {count} and the form has space for {len(box.places)}; the rest is left out."
            self._leave_out(stated, why)

    def _mark(self, box: Box, texts: Sequence[str | None]) -> None:
        for text in filter(None, texts):
            if place := box.marks.get(text):
                self._write(_Texts(box, ()), place, MARK)
            else:
                self._leave_out(_Texts(box, ()), "the form has no box to tick for this value.")

    def _write(self, stated: _Texts, place: FormPlace, text: str) -> None:
        box = stated.box
        if len(text) > place.width:
            is_prose = box.is_prose
            text = text[: place.width].rstrip() if is_prose else ""
            shown = f"the first {place.width} are printed" if is_prose else "the box is left empty"
            self._leave_out(
                stated, f"longer than the {place.width} characters of the box; {shown}."
            )
        if text:
            moved = place._replace(line=place.line + stated.below)
            x, y = self.form.position(moved, text, box.side)
            self.pages[-1].append(PlacedText(box.number, x, y, str(text)))

    def _leave_out(self, stated: _Texts, why: str) -> None:
        self.left_out.append(LeftOut(stated.box.number, stated.box.words, why, stated.line))


def _stated(boxes: Iterable[Box], pages: Sequence[FormPage]) -> Iterator[StatedBox]:
    """Yield the boxes with what they state on the last page that shows them."""
    for box in boxes:
        shown = [page for page in pages if is_shown(box, page)]
        texts = tuple(filter(None, box.value(shown[-1]))) if shown else ()
        if texts:
            words = tuple(box.mark_words.get(text, plain(text)) for text in texts)
            stated = (" ".join(words),) if box.is_one_value else words
            yield StatedBox(box.number, box.words, stated)


def _order(box: StatedBox) -> tuple[int, str]:
    """Return where a box is among the others; one without a number comes first."""
    found = _NUMBER.search(box.number)
    return (int(found[0]), box.number) if found else (0, "")


def _stated_line(form: PrintedForm, page: FormPage, at: int) -> tuple[StatedBox, ...]:
    return tuple(
        StatedBox(
            box.number, box.words, tuple(map(plain, filter(None, box.value(page.lines[at], page))))
        )
        for box in form.line_boxes
    )
