"""The fonts of PDF files, and text fitted to them.

The fonts are Bitstream Vera, which the PDF library brings and which may be embedded in files. They have all letters
of Western European languages. A letter that they lack is printed without its accent, any other character as ``?``,
and what a reader could not see (control characters, marks that turn the direction of writing) as a blank.
"""

import unicodedata
from enum import StrEnum
from functools import cache, lru_cache

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

WRAPPED_TEXTS_MAX = 20_000
"""Texts whose lines are remembered: reasons repeat from claim to claim."""


class Face(StrEnum):
    """A font by the name that the PDF library knows it by."""

    PLAIN = "ClearlanePlain"
    BOLD = "ClearlaneBold"


_FILES = {Face.PLAIN: "Vera.ttf", Face.BOLD: "VeraBd.ttf"}


@cache
def load_fonts() -> frozenset[int]:
    """Register the fonts and return the characters that all of them have."""
    characters: list[frozenset[int]] = []
    for face, file in _FILES.items():
        font = TTFont(face.value, file)
        pdfmetrics.registerFont(font)
        characters.append(frozenset(font.face.charToGlyph))
    return frozenset.intersection(*characters)


@lru_cache(WRAPPED_TEXTS_MAX)
def printable(text: str) -> str:
    """Return a text in characters that the fonts have."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_printable_character, unicodedata.normalize("NFC", text)))


def _printable_character(character: str) -> str:
    if not character.isprintable():
        return " "
    known = load_fonts()
    if ord(character) in known:
        return character
    if unicodedata.combining(character):
        return ""
    bare = "".join(c for c in unicodedata.normalize("NFKD", character) if ord(c) in known)
    return bare or "?"


def text_width(text: str, face: Face, size: float) -> float:
    """Return the width of a printable text in points."""
    return sum(map(_character_widths(face).__getitem__, text)) * size


@lru_cache(WRAPPED_TEXTS_MAX)
def wrap(text: str, face: Face, size: float, width: float) -> tuple[str, ...]:
    """Return a printable text as lines that fit a width, broken at blanks, and within words that fit no line."""
    if text_width(text, face, size) <= width:
        return (text,)
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if text_width(longer, face, size) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        *full, line = _broken(word, face, size, width)
        lines += full
    return (*lines, line) if line else tuple(lines)


def _broken(word: str, face: Face, size: float, width: float) -> list[str]:
    """Return a word in parts that each fit a width; mostly the word alone."""
    parts: list[str] = [""]
    for character in word:
        if parts[-1] and text_width(parts[-1] + character, face, size) > width:
            parts.append("")
        parts[-1] += character
    return parts


class _CharacterWidths(dict[str, float]):
    """The widths of characters at one point, measured on first use."""

    def __init__(self, face: Face) -> None:
        super().__init__()
        self._face = face

    def __missing__(self, character: str) -> float:
        self[character] = width = pdfmetrics.stringWidth(character, self._face.value, 1)
        return width


@cache
def _character_widths(face: Face) -> _CharacterWidths:
    load_fonts()
    return _CharacterWidths(face)
