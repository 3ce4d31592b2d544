"""Cut a long Markdown page into parts that a browser shows without endless scrolling.

A page is cut at its headings; a section that is too long on its own, such as a table of 300 rows, is cut between
rows or list entries. Heights are estimated for a phone of 360 pixels, where pages are longest. Knows no HTML.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil

PART_PIXELS_MAX = 7_500
"""An estimate: the frame comes on top, and it may be wrong by a quarter."""
HEADING_LEVEL_MAX = 3
LINE_CHARACTERS, LINE_PIXELS = 42, 24
ROW_CHARACTERS, ROW_PADDING_PIXELS = 46, 16
CODE_LINE_PIXELS, CODE_PIXELS_MAX = 20, 640
PICTURE_PIXELS, HEADING_PIXELS, GAP_PIXELS = 320, 64, 10
_HEADING = re.compile(r"^(#{1,3}) +(.+?) *#*$")
_FENCE = re.compile(r"^ *```")
_COMMENT = re.compile(r"^<!--.*-->$")
_TABLE_RULE = re.compile(r"^\|[ :|-]+\|?$")
_ENTRY = re.compile(r"^([*-]|\d+\.) ")
_DRAWN = "mermaid"
"""Diagrams as text, which would need a program of another host; a picture of the same is beside each."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page, and the name by which links find it."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page. The first has no name."""

    name: str
    title: str
    text: str
    headings: tuple[Heading, ...]


@dataclass(slots=True)
class _Piece:
    """Lines that stay together, and the headings among them."""

    heading: Heading | None
    lines: list[str] = field(default_factory=list)
    number: int = 1
    """Counts the pieces of one section."""

    @property
    def pixels(self) -> int:
        return sum(_line_pixels(self.lines))


def cut_page(text: str, pixels_max: int = PART_PIXELS_MAX) -> list[Part]:
    """Return the parts of a page; one part if it is short."""
    sections = list(_sections(_shown_lines(text)))
    if sum(each.pixels for each in sections) <= pixels_max:
        return [_part("", "", sections)]
    pieces = [piece for each in sections for piece in _small_pieces(each, pixels_max)]
    groups: list[list[_Piece]] = [[]]
    for piece in pieces:
        if groups[-1] and sum(each.pixels for each in groups[-1]) + piece.pixels > pixels_max:
            groups.append([])
        groups[-1].append(piece)
    return [
        _part(_name(group[0]) if at else "", _title(group) if at else "", group)
        for at, group in enumerate(groups)
    ]


def plain_text(markdown: str) -> str:
    """Return a heading without its marks."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown).replace("`", "").replace("*", "")


def _shown_lines(text: str) -> Iterator[str]:
    """Return the lines that are shown: no comments, and no diagrams as text."""
    fence = ""
    for line in text.splitlines():
        if not fence and _COMMENT.match(line):
            continue
        if _FENCE.match(line):
            fence, opened = ("", fence) if fence else (line.strip(), line.strip())
            if opened.endswith(_DRAWN):
                continue
        elif fence.endswith(_DRAWN):
            continue
        yield line


def _sections(lines: Iterator[str]) -> Iterator[_Piece]:
    """Return a page cut at its headings, with the anchors that links of Markdown use."""
    used: dict[str, int] = {}
    piece, code = _Piece(None), False
    for line in lines:
        code ^= bool(_FENCE.match(line))
        found = None if code else _HEADING.match(line)
        if found:
            if piece.lines:
                yield piece
            text = plain_text(found[2])
            piece = _Piece(Heading(len(found[1]), text, _anchor(text, used)))
        piece.lines.append(line)
    yield piece


def _anchor(text: str, used: dict[str, int]) -> str:
    """Return the name of a heading; a second heading of the same text gets a number."""
    plain = re.sub(r"[^\w\s-]", "", text).strip().lower()
    anchor = re.sub(r"[-\s]+", "-", plain)
    count = used.get(anchor, 0)
    used[anchor] = count + 1
    return f"{anchor}_{count}" if count else anchor


def _small_pieces(section: _Piece, pixels_max: int) -> Iterator[_Piece]:
    """Return a section whole, or cut between rows of a table, entries of a list, or paragraphs: a branch for each."""
    if section.pixels <= pixels_max:
        yield section
        return
    piece, pixels, code = _Piece(section.heading), 0, False
    head: list[str] = []
    before = ""
    for line, height in zip(section.lines, _line_pixels(section.lines), strict=True):
        code ^= bool(_FENCE.match(line))
        row = line.startswith("|")
        if not row:
            head = []
        elif not head:
            head = [line]
        elif _TABLE_RULE.match(line) and len(head) == 1:
            head.append(line)
        may_cut = not code and (
            (row and len(head) == 2 and not _TABLE_RULE.match(line))
            or _ENTRY.match(line)
            or (not before and not row)
        )
        if may_cut and pixels + height > pixels_max and _has_content(piece.lines):
            yield piece
            piece, pixels = _Piece(section.heading, number=piece.number + 1), 0
            piece.lines += head if row else []
        piece.lines.append(line)
        pixels += height
        before = line
    yield piece


def _has_content(lines: Sequence[str]) -> bool:
    """Return whether lines are more than a heading."""
    return any(line and not _HEADING.match(line) for line in lines)


def _part(name: str, title: str, pieces: Sequence[_Piece]) -> Part:
    own = [each.heading for each in pieces if each.heading and each.number == 1]
    lines = [line for each in pieces for line in each.lines]
    return Part(name, title, "\n".join(lines) + "\n", tuple(own))


def _name(piece: _Piece) -> str:
    anchor = piece.heading.anchor if piece.heading else "start"
    return anchor if piece.number == 1 else f"{anchor}-{piece.number}"


def _title(group: Sequence[_Piece]) -> str:
    """Return the first heading of a part, with the last one if there are several, or the number of a continuation."""
    first, last = group[0], group[-1]
    text = first.heading.text if first.heading else ""
    if first.number > 1:
        text = f"{text}, continued ({first.number})"
    if last.heading and first.heading != last.heading:
        return f"{text} to {last.heading.text}"
    return text


def _line_pixels(lines: Sequence[str]) -> list[int]:
    """Return the estimated height of each line as a phone shows it."""
    heights: list[int] = []
    code, used = False, 0
    for before, line in pairwise(["", *lines]):
        if _FENCE.match(line):
            code, used = not code, 0
            heights.append(GAP_PIXELS)
        elif code:
            height = min(CODE_LINE_PIXELS, max(0, CODE_PIXELS_MAX - used))
            used += height
            heights.append(height)
        elif _TABLE_RULE.match(line):
            heights.append(0)
        elif line.startswith("|"):
            heights.append(_row_pixels(line))
        elif not line:
            heights.append(GAP_PIXELS)
        elif _HEADING.match(line):
            heights.append(HEADING_PIXELS)
        elif line.startswith("!["):
            heights.append(PICTURE_PIXELS)
        else:
            new = not before or bool(_ENTRY.match(line))
            rows = ceil(len(line) / LINE_CHARACTERS) if new else len(line) / LINE_CHARACTERS
            heights.append(ceil(rows * LINE_PIXELS))
    return heights


def _row_pixels(line: str) -> int:
    return ceil(len(line) / ROW_CHARACTERS) * LINE_PIXELS + ROW_PADDING_PIXELS
