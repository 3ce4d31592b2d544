"""What a file holds and what a view holds, each as a bag of values, taken by ways of their own.

Numbers are compared as numbers and days as their eight digits, so that ``100`` and ``Decimal("100.00")`` are the
same. The forms of dates (D8, RD8) are not counted: a view implies them by its types.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from clearlane.x12.views.binding import View

FORMS = {"D8", "RD8"}
NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)", re.ASCII)
PERIOD = re.compile(r"(\d{8})-(\d{8})", re.ASCII)


def header(data: bytes) -> tuple[str, list[str]]:
    """The text from its first ISA on, and the elements of that, the last with all that follows it."""
    text = data.decode("latin-1")
    text = text[text.index("ISA") :]
    return text, text.split(text[3], 16)


def segments(data: bytes) -> Iterator[list[str]]:
    """The segments of a file by bare splitting; for files with one set of separators."""
    text, isa = header(data)
    for one in text.split(isa[16][1]):
        if bare := one.strip("\r\n \t\x1a\x00"):
            yield bare.split(text[3])


def separators(data: bytes) -> tuple[str, str]:
    """The separators of components and of repetitions."""
    _, isa = header(data)
    # Before version 00402 the eleventh element named a standard: U.
    return isa[16][0], isa[11] if len(isa[11]) == 1 and not isa[11].isalnum() else ""


def file_values(data: bytes) -> Counter[str]:
    """Every value of the file."""
    component, repetition = separators(data)
    found: Counter[str] = Counter()
    for segment in segments(data):
        for number, text in enumerate(segment):
            if not number:
                continue
            if segment[0] == "ISA":
                found.update(normal(text.strip()))
                continue
            for part in re.split(f"[{re.escape(component + repetition)}]", text):
                found.update(normal(part))
    return found


def view_values(value: object, component: str = ":", repetition: str = "^") -> Counter[str]:
    """Every value of a view, those of the segments in ``other`` too."""
    found: Counter[str] = Counter()
    _collect(value, found, component + repetition)
    return found


def _collect(value: object, found: Counter[str], inner: str) -> None:
    if isinstance(value, View):
        for name in value.__struct_fields__:
            if name.endswith("_words"):
                continue
            held = getattr(value, name)
            if name == "other":
                for segment in held:
                    for text in segment[1:]:
                        _text(text, found, inner)
            else:
                _collect(held, found, inner)
    elif isinstance(value, tuple | list):
        for one in value:
            _collect(one, found, inner)
    elif isinstance(value, str):
        _text(value, found, inner)
    elif isinstance(value, date):
        found.update(
            normal(f"{value:%Y%m%d}" if value.year > 999 else f"{value.year:04}{value:%m%d}")
        )
    elif isinstance(value, Decimal):
        found.update(normal(f"{value:f}"))


def _text(text: str, found: Counter[str], inner: str) -> None:
    if len(text) == 1:
        found.update(normal(text))
        return
    for part in re.split(f"[{re.escape(inner)}]", text):
        found.update(normal(part))


def normal(text: str) -> list[str]:
    """A value as both sides write it."""
    if not text or text in FORMS:
        return []
    period = PERIOD.fullmatch(text)
    if period:
        return [*normal(period[1]), *normal(period[2])]
    if NUMBER.fullmatch(text):
        number = Decimal(text)
        return [f"{number.normalize():f}" if number else "0"]
    return [text]
