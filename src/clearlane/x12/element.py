"""The slow and exact look at a segment: what is wrong with which element, and what would pass.

Runs only where the place's expression did not match. Messages never hold a value.
Knows guide nodes and values; knows no file, no loop instance and no position.
"""

import re
from collections.abc import Callable, Iterator

from clearlane.kernel import formats as kernel_formats
from clearlane.x12.findings import Flaw, designate, value_kind
from clearlane.x12.grammar import Element, Segment
from clearlane.x12.pattern import MONEY_DIGITS_MAX, MONEY_MAX, TEXT, syntax
from clearlane.x12.value_checks import looks

_BASIC = re.compile(rf"[{TEXT}a-z]*", re.ASCII)
_LOWER = re.compile(r"[a-z]", re.ASCII)
_DECIMAL = re.compile(r"-?(\d*)(?:\.(\d+))?", re.ASCII)
_INTEGER = re.compile(r"-?\d+", re.ASCII)
_TIME = re.compile(r"(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d(?:\d\d?)?)?", re.ASCII)
_SHORT_DATE = re.compile(r"\d{6}", re.ASCII)


def flaws(node: Segment, loop: str, segment: list[str]) -> list[Flaw]:
    """Everything that is wrong with a segment at a place of a guide."""
    found = list(_shape(node, segment))
    previous = ""
    for element, text in zip(node.elements, segment[1:], strict=False):
        found += _element(node, element, text, previous)
        previous = text
    for element in node.elements[len(segment) - 1 :]:
        if element.usage == "R":
            found.append(_missing(node, element))
    found += looks(node, loop, segment)
    return found


def generic(segment: list[str]) -> list[Flaw]:
    """What can be said of a segment that has no place in any guide."""
    found = list(_trailing(segment))
    for number, text in enumerate(segment[1:], 1):
        found += _characters(
            f"{segment[0]}{number:02}", text.replace("^", "").replace(":", ""), number
        )
    return found


def _shape(node: Segment, segment: list[str]) -> Iterator[Flaw]:
    most = len(node.elements)
    if len(segment) == 1 and not _asks(node):
        yield Flaw("SEG-BARE", f"{node.id} must have an element, or be left out")
    if len(segment) - 1 > most:
        yield Flaw("ELM-SURPLUS", f"{node.id} must have at most {most} elements", most + 1)
    yield from _trailing(segment)


def _asks(node: Segment) -> bool:
    """Whether a segment without any element is told of by what it lacks."""
    required = any(element.usage == "R" for element in node.elements)
    return required or any(note.kind == "R" for note in syntax(node))


def _trailing(segment: list[str]) -> Iterator[Flaw]:
    if len(segment) > 1 and not segment[-1]:
        last = len(segment) - 1
        yield Flaw(
            "SEG-TRAILING", f"{segment[0]} must not end with empty elements", last, kind="empty"
        )


def _missing(node: Segment, element: Element, part: Element | None = None, nth: int = 0) -> Flaw:
    return Flaw(
        "ELM-MISSING",
        f"{designate(node, element, part)} is required{_wanted(part or element)}",
        element.number,
        part.number if part else 0,
        nth,
        "empty",
    )


def _element(node: Segment, element: Element, text: str, previous: str) -> Iterator[Flaw]:
    if not text:
        if element.usage == "R":
            yield _missing(node, element)
        return
    if element.usage == "N":
        name = designate(node, element)
        yield Flaw(
            "ELM-UNUSED", f"{name} must be empty here", element.number, kind=value_kind(text)
        )
        return
    occurrences = text.split("^")
    if len(occurrences) > element.repeat:
        most = "only once" if element.repeat == 1 else f"at most {element.repeat} times"
        yield Flaw("ELM-REPEAT", f"{designate(node, element)} may stand {most}", element.number)
    many = len(occurrences) > 1
    for nth, occurrence in enumerate(occurrences, 1):
        if element.components:
            yield from _composite(node, element, occurrence, nth if many else 0)
        else:
            yield from _simple(node, element, occurrence, previous, nth if many else 0)


def _composite(node: Segment, element: Element, text: str, nth: int) -> Iterator[Flaw]:
    parts = text.split(":")
    most = len(element.components)
    number, name = element.number, designate(node, element)
    if len(parts) > most:
        yield Flaw(
            "ELM-COMPONENTS", f"{name} must have at most {most} components", number, most + 1, nth
        )
    if len(parts) > 1 and not parts[-1]:
        yield Flaw(
            "ELM-TRAILING", f"{name} must not end with empty components", number, len(parts), nth
        )
    previous = ""
    for at, part in enumerate(element.components):
        value = parts[at] if at < len(parts) else ""
        if not value:
            if part.usage == "R":
                yield _missing(node, element, part, nth)
        elif part.usage == "N":
            message = f"{designate(node, element, part)} must be empty here"
            yield Flaw("ELM-UNUSED", message, number, part.number, nth, value_kind(value))
        else:
            for flaw in value_flaws(designate(node, element, part), part, value, previous):
                yield flaw._replace(element=number, component=part.number, repetition=nth)
        previous = value


def _simple(node: Segment, element: Element, text: str, previous: str, nth: int) -> Iterator[Flaw]:
    name = designate(node, element)
    if ":" in text:
        yield Flaw("ELM-COMPONENTS", f"{name} has no components: it must not hold the component separator",
                   element.number, 2, nth)  # fmt: skip
        return
    for flaw in value_flaws(name, element, text, previous):
        yield flaw._replace(element=element.number, repetition=nth)


def value_flaws(name: str, part: Element, text: str, previous: str = "") -> Iterator[Flaw]:
    """What is wrong with one filled value. ``previous`` is the element before: a period's qualifier."""
    kind = value_kind(text)
    bare = text.strip(" ")
    if bare != text:
        yield Flaw("ELM-BLANKS", f"{name} must not begin or end with blanks", kind=kind)
    for flaw in _characters(name, text, 0):
        yield flaw._replace(kind=kind)
    if part.codes:
        if bare not in part.codes:
            yield Flaw("ELM-CODE", f"{name} must be {_one_of(part.codes)}", kind=kind)
        return
    for rule, message in _TYPES.get(part.type, _text_type)(part, bare, previous):
        yield Flaw(rule, f"{name} {message}", kind=kind)


def _characters(name: str, text: str, number: int) -> Iterator[Flaw]:
    if not _BASIC.fullmatch(text):
        yield Flaw("ELM-CHARACTER", f"{name} must hold only characters of the X12 basic and extended sets",
                   number, kind="text")  # fmt: skip
    if _LOWER.search(text):
        yield Flaw("ELM-CASE", f"{name} should be in capital letters", number, kind="text")


Type = Callable[[Element, str, str], Iterator[tuple[str, str]]]


def _text_type(part: Element, text: str, previous: str) -> Iterator[tuple[str, str]]:
    yield from _length(part, len(text), "characters")


def _length(part: Element, size: int, unit: str) -> Iterator[tuple[str, str]]:
    if size < part.min:
        yield "ELM-SHORT", f"must have at least {part.min} {unit}"
    if size > part.max:
        yield "ELM-LONG", f"must have at most {part.max} {unit}"


def _decimal_type(part: Element, text: str, previous: str) -> Iterator[tuple[str, str]]:
    found = _DECIMAL.fullmatch(text)
    if found is None or not (found[1] or found[2]):
        yield "ELM-NUMBER", "must be a plain number such as 100 or 8.25"
        return
    whole, fraction = found[1], found[2] or ""
    if len(whole) > 1 and whole[0] == "0":
        yield "ELM-ZEROS", "should have no leading zeros"
        whole = whole.lstrip("0")
    if part.max == MONEY_MAX:
        if len(fraction) > 2:
            yield "ELM-CENTS", "must have at most two decimals"
        if len(whole) + 2 > MONEY_DIGITS_MAX:
            yield "ELM-AMOUNT", f"must have at most {MONEY_DIGITS_MAX} digits, cents included"
        return
    yield from _length(part, len(whole) + len(fraction), "digits")


def _integer_type(part: Element, text: str, previous: str) -> Iterator[tuple[str, str]]:
    if not _INTEGER.fullmatch(text):
        yield "ELM-NUMBER", "must be a whole number"
        return
    digits = text.lstrip("-")
    if part.min == 1 and len(digits) > 1 and digits[0] == "0":
        yield "ELM-ZEROS", "should have no leading zeros"
    yield from _length(part, len(digits), "digits")


def _date_type(part: Element, text: str, previous: str) -> Iterator[tuple[str, str]]:
    short = part.max == 6 or (part.min == 6 and len(text) == 6)
    if not (is_short_date(text) if short else kernel_formats.x12_date(text)):
        form = "YYMMDD" if short else "CCYYMMDD"
        yield "ELM-DATE", f"must be a day of the calendar, {form}"


def _time_type(part: Element, text: str, previous: str) -> Iterator[tuple[str, str]]:
    if not _TIME.fullmatch(text) or not part.min <= len(text) <= part.max:
        yield (
            "ELM-TIME",
            "must be a time of the day, HHMM" + ("" if part.max == 4 else " or HHMMSS"),
        )


def _period_type(part: Element, text: str, previous: str) -> Iterator[tuple[str, str]]:
    known = PERIOD_FORMS.get(previous)
    if known is None:
        yield from _text_type(part, text, previous)
    elif not known[1](text):
        yield "ELM-PERIOD", f"must be {known[0]}, as its qualifier {previous} says"


def is_short_date(text: str) -> bool:
    """A real day written YYMMDD. The century is not told, so the 29th of February is in leap years
    of either."""
    return _SHORT_DATE.fullmatch(text) is not None and any(
        kernel_formats.x12_date(century + text) for century in ("19", "20")
    )


def is_time(text: str) -> bool:
    """HHMM, HHMMSS, or with tenths or hundredths of a second."""
    return _TIME.fullmatch(text) is not None


def _is_day(text: str) -> bool:
    return kernel_formats.x12_date(text) is not None


def _is_range(text: str) -> bool:
    first, hyphen, last = text.partition("-")
    return bool(hyphen) and _is_day(first) and _is_day(last)


def _is_moment(text: str) -> bool:
    return _is_day(text[:8]) and is_time(text[8:])


def _is_moment_range(text: str) -> bool:
    first, hyphen, last = text.partition("-")
    return bool(hyphen) and _is_moment(first) and _is_moment(last)


# Date and time formats (data element 1250): in words, and how each is recognised.
PERIOD_FORMS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "D8": ("a day of the calendar, CCYYMMDD", _is_day),
    "RD8": ("two days of the calendar, CCYYMMDD-CCYYMMDD", _is_range),
    "D6": ("a day of the calendar, YYMMDD", is_short_date),
    "DT": ("a day and a time, CCYYMMDDHHMM", _is_moment),
    "RDT": ("two moments, CCYYMMDDHHMM-CCYYMMDDHHMM", _is_moment_range),
    "TM": ("a time of the day, HHMM", is_time),
}

_TYPES: dict[str, Type] = {
    "R": _decimal_type,
    "N0": _integer_type,
    "N2": _integer_type,
    "DT": _date_type,
    "TM": _time_type,
    "TP": _period_type,
}


def _wanted(part: Element) -> str:
    return f": {_one_of(part.codes)}" if part.codes else ""


def _one_of(codes: tuple[str, ...]) -> str:
    if len(codes) == 1:
        return codes[0]
    shown = codes[:CODES_SHOWN_MAX]
    more = "" if len(codes) == len(shown) else f" ({len(codes)} codes in all)"
    return f"one of {', '.join(shown)}{more}"


CODES_SHOWN_MAX = 12
