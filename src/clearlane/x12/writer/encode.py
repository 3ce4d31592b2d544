# ruff: noqa: RUF001 - the table of typographic signs holds characters that look like others
"""Format values as X12 writes them: clean text, amounts, days, periods.

``clean(text)`` makes a text fit to be sent; call it when values come in, not when they are written.
Knows characters and separators; knows no guide and no file.
"""

import re
import unicodedata
from datetime import date
from decimal import Decimal

from clearlane.x12 import pattern
from clearlane.x12.delimiters import CANONICAL, Delimiters

REPAIRS = {
    "case": "small letters became capital letters",
    "accents": "accented letters and typographic signs became plain ones",
    "separators": "characters that separate X12 elements became blanks",
    "controls": "control characters became blanks",
    "blanks": "blanks at the ends and repeated blanks were removed",
    "lost": "characters that X12 cannot carry were left out",
}
"""What ``clean`` may have changed, in words. ``lost`` means that the text is no longer the same."""

_FIT = re.compile(rf"[{pattern.VISIBLE}]+(?: [{pattern.VISIBLE}]+)*|", re.ASCII)
_UNFIT = re.compile(rf"[^{pattern.TEXT}]", re.ASCII)
_SEPARATORS = str.maketrans("*:^~", "    ")
_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")
# Typographic signs with an exact plain equivalent, also as a file in Windows-1252 has them when it is read as Latin-1.
SIGNS = {
    **dict.fromkeys("‘’‚‛′\x91\x92", "'"),
    **dict.fromkeys("“”„‟″\x93\x94", '"'),
    **dict.fromkeys("‐‑‒–—−\x96\x97", "-"),
    **dict.fromkeys("…\x85", "..."),
    **dict.fromkeys("\xa0\u2007\u202f", " "),
}
_WINDOWS = {
    code: sign
    for code in range(0x80, 0xA0)
    if (sign := bytes([code]).decode("cp1252", errors="ignore"))
}
NEXT_LINE = "\x85"
"""An ellipsis in a file, and the end of a line in other texts."""
# What Unicode does not decompose into plain letters.
_PLAIN = str.maketrans({
    **{mark: plain for mark, plain in SIGNS.items() if mark != NEXT_LINE}, "Æ": "AE", "Œ": "OE", "Ø": "O", "Đ": "D", "Ð": "D", "Ł": "L", "Þ": "TH", "ẞ": "SS", "ß": "SS",
    "Ħ": "H", "Ŧ": "T", "Ŋ": "N", "ı": "I", "«": '"', "»": '"', "·": ".", "•": "-", "×": "X", "÷": "/",
    "`": "'", "´": "'", "½": "1/2", "¼": "1/4", "¾": "3/4", "⁄": "/", "©": "(C)", "®": "(R)",
})  # fmt: skip

_TO_PLAIN_SIGNS = str.maketrans(SIGNS)


def plain_signs(text: str) -> str:
    """Return a text with plain signs for typographic ones: quotes, dashes, an ellipsis, blanks that do not break."""
    return text if text.isascii() else text.translate(_TO_PLAIN_SIGNS)


def readable_signs(text: str) -> str:
    """Return a text of a file in Windows-1252, which was read as Latin-1, with the signs that its writer meant."""
    return text if text.isascii() else text.translate(_WINDOWS)


def clean(text: str, delimiters: Delimiters = CANONICAL) -> tuple[str, tuple[str, ...]]:
    """Return a text that X12 can carry, and the repairs it took (keys of ``REPAIRS``).

    Capital letters, plain letters for accented ones, blanks for separators and control characters, single blanks inside and
    none at the ends. Check lengths afterward: a text may have grown.
    """
    if delimiters is CANONICAL and _FIT.fullmatch(text):
        return text, ()
    repairs = []
    for repair, change in _STEPS:
        changed = change(text, delimiters)
        if changed != text:
            repairs.append(repair)
        text = changed
    return text, tuple(repairs)


def _without_accents(text: str, delimiters: Delimiters) -> str:
    if text.isascii() and "`" not in text:
        return text
    spread = unicodedata.normalize("NFKD", text.translate(_PLAIN)).translate(_PLAIN)
    return "".join(c for c in spread if not unicodedata.combining(c)).upper()


def _without_separators(text: str, delimiters: Delimiters) -> str:
    text = text.translate(_SEPARATORS)
    if delimiters is not CANONICAL:
        used = (
            delimiters.element,
            delimiters.component,
            delimiters.repetition,
            delimiters.terminator,
        )
        text = text.translate({ord(c): " " for c in used if c})
    return text


_STEPS = (
    ("case", lambda text, _: text.upper()),
    ("accents", _without_accents),
    ("controls", lambda text, _: text.translate(_CONTROLS)),
    ("separators", _without_separators),
    ("lost", lambda text, _: _UNFIT.sub("", text)),
    ("blanks", lambda text, _: " ".join(text.split())),
)


def format_money(amount: Decimal) -> str:
    """Return an amount without exponent, trailing zeros or needless decimal point."""
    text = str(amount)
    if "E" in text:
        text = f"{amount:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def format_day(value: date) -> str:
    """Return a day as CCYYMMDD."""
    return date.isoformat(value).replace("-", "")


def format_period(first: date, last: date) -> tuple[str, str]:
    """Return the qualifier and text of a period: D8 for one day, RD8 for more."""
    if first == last:
        return "D8", format_day(first)
    return "RD8", f"{format_day(first)}-{format_day(last)}"


def format_element(value: object) -> str:
    """Return one element as canonical text: composites from tuples, repetitions from lists."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ":".join(map(format_element, value)).rstrip(":")
    if isinstance(value, list):
        return "^".join(map(format_element, value))
    if isinstance(value, Decimal):
        return format_money(value)
    if isinstance(value, date):
        return format_day(value)
    return str(value)


def format_segment(*elements: object) -> list[str]:
    """Return a segment from its id and elements, without empty elements at its end."""
    texts = [format_element(value) for value in elements]
    while not texts[-1]:
        texts.pop()
    return texts
