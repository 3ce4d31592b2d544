"""The exact check of a segment: what is wrong with which element, and what would pass.

Runs only if the regular expression of the place did not match. Messages never contain a value, but may name a character.
Knows guide nodes and values; knows no file, no loop instance and no position.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator

from clearlane.kernel import formats
from clearlane.kernel.finding import Severity
from clearlane.x12.checker.findings import ElementFinding, classify_value, name_element
from clearlane.x12.checker.standard_codes import is_x12_code
from clearlane.x12.checker.value_checks import check_values
from clearlane.x12.grammar import ElementSpec, SegmentSpec
from clearlane.x12.pattern import (
    MONEY_DIGITS_MAX,
    MONEY_MAX,
    TEXT,
    UNITS_DECIMALS_MAX,
    UNITS_MAX,
    open_syntax_notes,
)
from clearlane.x12.writer.encode import plain_signs

_BASIC = re.compile(rf"[{TEXT}a-z]*", re.ASCII)
# Letters of other languages that X12 knows (its extended set), as latin-1 or as UTF-8 read byte by byte.
_NATIONAL = re.compile(
    r"\xc3[\x80-\x96\x98-\xb6\xb8-\xbf]|\xc2[\xa1\xbf]|[\xa1\xbf\xc0-\xd6\xd8-\xf6\xf8-\xff]"
)
_LOWER = re.compile(r"[a-z]", re.ASCII)
_DECIMAL = re.compile(r"-?(\d*)(?:\.(\d+))?", re.ASCII)
_INTEGER = re.compile(r"-?\d+", re.ASCII)
_TIME = re.compile(r"(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d(?:\d\d?)?)?", re.ASCII)
# The element with the name of the entity that NM101 or N101 names.
PAYER_NAMES = {"NM1": 3, "N1": 2}
PAYER = "PR"
FREE_TEXT = frozenset({
    "Address or number", "Description", "Description of the condition", "Free text", "Message", "More on the condition",
    "Plan description", "Purpose of a round trip", "Purpose of the stretcher", "Text", "Text answer",
})  # fmt: skip
"""Names of elements that people read and no program compares: small letters there are information only."""
CONTACT_NUMBERS = frozenset({"Contact number", "Second contact number", "Third contact number"})
WEB_OR_MAIL = frozenset({"EM", "UR"})
"""Qualifiers of a contact number that is a mail or web address, which people write in small letters."""
NOT_USED_BY_GUIDE = "I6"
"""IK403 for a code that X12 has and the guide does not."""
_SHORT_DATE = re.compile(r"\d{6}", re.ASCII)


def check_segment(node: SegmentSpec, loop: str, segment: list[str]) -> list[ElementFinding]:
    """Return everything that is wrong with a segment at a place of a guide."""
    findings = list(_shape(node, segment))
    previous = ""
    for element, text in zip(node.elements, segment[1:], strict=False):
        found = _element(node, element, text, previous)
        if _is_payer_name(segment, element.number):
            found = (finding for finding in found if finding.rule != "ELM-CASE")
        findings += found
        previous = text
    for element in node.elements[len(segment) - 1 :]:
        if element.usage == "R":
            findings.append(_missing(node, element))
    findings += check_values(node, loop, segment)
    return findings


def check_unplaced_segment(segment: list[str]) -> list[ElementFinding]:
    """Return what is wrong with a segment that has no place in the guide."""
    findings = list(_trailing(segment))
    for number, text in enumerate(segment[1:], 1):
        findings += _characters(
            f"{segment[0]}{number:02}", text.replace("^", "").replace(":", ""), number
        )
    return findings


def _shape(node: SegmentSpec, segment: list[str]) -> Iterator[ElementFinding]:
    limit = len(node.elements)
    if len(segment) == 1 and not _requires_elements(node):
        yield ElementFinding("SEG-BARE", f"{node.id} must have an element, or be left out")
    if len(segment) - 1 > limit:
        yield ElementFinding(
            "ELM-SURPLUS", f"{node.id} must have at most {limit} elements", limit + 1
        )
    yield from _trailing(segment)


def _is_payer_name(segment: list[str], number: int) -> bool:
    """Return whether an element is the name of a payer, which many write in lower case and no one matches."""
    return PAYER_NAMES.get(segment[0]) == number and segment[1] == PAYER


def _requires_elements(node: SegmentSpec) -> bool:
    """Return whether a segment without any element is already reported by what it lacks."""
    required = any(element.usage == "R" for element in node.elements)
    return required or any(note.kind == "R" for note in open_syntax_notes(node))


def _trailing(segment: list[str]) -> Iterator[ElementFinding]:
    if len(segment) > 1 and not segment[-1]:
        last = len(segment) - 1
        yield ElementFinding(
            "SEG-TRAILING", f"{segment[0]} must not end with empty elements", last, kind="empty"
        )


def _missing(
    node: SegmentSpec, element: ElementSpec, part: ElementSpec | None = None, repetition: int = 0
) -> ElementFinding:
    return ElementFinding(
        "ELM-MISSING",
        f"{name_element(node, element, part)} is required{_allowed_codes(part or element)}",
        element.number,
        part.number if part else 0,
        repetition,
        "empty",
    )


def _element(
    node: SegmentSpec, element: ElementSpec, text: str, previous: str
) -> Iterator[ElementFinding]:
    if not text:
        if element.usage == "R":
            yield _missing(node, element)
        return
    if element.usage == "N":
        name = name_element(node, element)
        yield ElementFinding(
            "ELM-UNUSED", f"{name} must be empty here", element.number, kind=classify_value(text)
        )
        return
    occurrences = text.split("^")
    if len(occurrences) > element.repeat:
        limit = "only once" if element.repeat == 1 else f"at most {element.repeat} times"
        yield ElementFinding(
            "ELM-REPEAT", f"{name_element(node, element)} may occur {limit}", element.number
        )
    many = len(occurrences) > 1
    for repetition, occurrence in enumerate(occurrences, 1):
        if element.components:
            yield from _composite(node, element, occurrence, repetition if many else 0)
        else:
            yield from _simple(node, element, occurrence, previous, repetition if many else 0)


def _composite(
    node: SegmentSpec, element: ElementSpec, text: str, repetition: int
) -> Iterator[ElementFinding]:
    parts = text.split(":")
    limit = len(element.components)
    number, name = element.number, name_element(node, element)
    if len(parts) > limit:
        yield ElementFinding(
            "ELM-COMPONENTS",
            f"{name} must have at most {limit} components",
            number,
            limit + 1,
            repetition,
        )
    if len(parts) > 1 and not parts[-1]:
        yield ElementFinding(
            "ELM-TRAILING",
            f"{name} must not end with empty components",
            number,
            len(parts),
            repetition,
        )
    previous = ""
    for at, part in enumerate(element.components):
        value = parts[at] if at < len(parts) else ""
        if not value:
            if part.usage == "R":
                yield _missing(node, element, part, repetition)
        elif part.usage == "N":
            message = f"{name_element(node, element, part)} must be empty here"
            yield ElementFinding(
                "ELM-UNUSED", message, number, part.number, repetition, classify_value(value)
            )
        else:
            for finding in check_value(name_element(node, element, part), part, value, previous):
                placed = finding._replace(
                    element=number, component=part.number, repetition=repetition
                )
                yield _with_code(node.id, placed, value)
        previous = value


def _simple(
    node: SegmentSpec, element: ElementSpec, text: str, previous: str, repetition: int
) -> Iterator[ElementFinding]:
    name = name_element(node, element)
    if ":" in text:
        yield ElementFinding("ELM-COMPONENTS", f"{name} has no components: it must not contain the component separator",
                   element.number, 2, repetition)  # fmt: skip
        return
    for finding in check_value(name, element, text, previous):
        at = finding._replace(element=element.number, repetition=repetition)
        yield _with_code(node.id, at, text)


def _with_code(segment: str, finding: ElementFinding, value: str) -> ElementFinding:
    """Return a finding about a wrong code with the code of a 999: X12 has it and the guide does not, or neither has it."""
    if finding.rule != "ELM-CODE" or not is_x12_code(
        segment, finding.element, finding.component, value.strip()
    ):
        return finding
    return finding._replace(code=NOT_USED_BY_GUIDE)


def check_value(
    name: str, part: ElementSpec, text: str, previous: str = ""
) -> Iterator[ElementFinding]:
    """Yield what is wrong with one filled value. ``previous`` is the element before: the qualifier of a period."""
    kind = classify_value(text)
    plain = plain_signs(text)
    bare = plain.strip(" ")
    if bare != plain:
        yield ElementFinding("ELM-BLANKS", f"{name} must not begin or end with blanks", kind=kind)
    for finding in _characters(name, text, 0):
        severity = Severity.INFO if _is_read_by_people(finding, part, previous) else None
        yield finding._replace(kind=kind, severity=severity)
    if part.codes:
        if bare not in part.codes:
            yield ElementFinding("ELM-CODE", f"{name} must be {_one_of(part.codes)}", kind=kind)
        return
    for rule, message in _TYPE_CHECKS.get(part.type, _text_type)(part, bare, previous):
        yield ElementFinding(rule, f"{name} {message}", kind=kind)


def _is_read_by_people(finding: ElementFinding, part: ElementSpec, previous: str) -> bool:
    """Return whether small letters were found in free text, or in a web or mail address."""
    if finding.rule != "ELM-CASE":
        return False
    return part.name in FREE_TEXT or (part.name in CONTACT_NUMBERS and previous in WEB_OR_MAIL)


def _characters(name: str, text: str, number: int) -> Iterator[ElementFinding]:
    if not _BASIC.fullmatch(text):
        bare = _NATIONAL.sub("", text)
        if bare != text:
            yield ElementFinding("ELM-NATIONAL", f"{name} should contain no letters of other languages unless the receiver agreed",
                       number, kind="text")  # fmt: skip
            text = bare
        plain = plain_signs(text)
        if plain != text:
            yield ElementFinding("ELM-SIGN", f"{name} should have plain signs: curly quotes, long dashes and the like go out as plain ones",
                       number, kind="text")  # fmt: skip
            text = plain
    if not _BASIC.fullmatch(text):
        yield ElementFinding("ELM-CHARACTER", f"{name} must contain only characters of the X12 basic and extended sets{_named_mark(text)}",
                   number, kind="text")  # fmt: skip
    if _LOWER.search(text):
        yield ElementFinding(
            "ELM-CASE", f"{name} should be in capital letters", number, kind="text"
        )


def _named_mark(text: str) -> str:
    """Return the name of the first character beyond ASCII, which has no plain equivalent; empty if there is none."""
    mark = next((one for one in text if not one.isascii()), "")
    name = unicodedata.name(mark, "").lower() if mark else ""
    return f": the character {name} has no plain equivalent" if name else ""


TypeCheck = Callable[[ElementSpec, str, str], Iterator[tuple[str, str]]]


def _text_type(part: ElementSpec, text: str, previous: str) -> Iterator[tuple[str, str]]:
    yield from _length(part, len(text), "characters")


def _length(part: ElementSpec, size: int, unit: str) -> Iterator[tuple[str, str]]:
    if size < part.min:
        yield "ELM-SHORT", f"must have at least {part.min} {unit}"
    if size > part.max:
        yield "ELM-LONG", f"must have at most {part.max} {unit}"


def _decimal_type(part: ElementSpec, text: str, previous: str) -> Iterator[tuple[str, str]]:
    match = _DECIMAL.fullmatch(text)
    if match is None or not (match[1] or match[2]):
        yield "ELM-NUMBER", "must be a plain number such as 100 or 8.25"
        return
    whole, fraction = match[1], match[2] or ""
    if len(whole) > 1 and whole[0] == "0":
        yield "ELM-ZEROS", "should have no leading zeros"
        whole = whole.lstrip("0")
    if part.max == MONEY_MAX:
        if len(fraction) > 2:
            yield "ELM-CENTS", "must have at most two decimals"
        if len(whole) + 2 > MONEY_DIGITS_MAX:
            yield "ELM-AMOUNT", f"must have at most {MONEY_DIGITS_MAX} digits, cents included"
        return
    if part.max == UNITS_MAX:
        if len(whole) + len(fraction) > UNITS_MAX or len(fraction) > UNITS_DECIMALS_MAX:
            message = f"must have at most {UNITS_MAX} digits, at most {UNITS_DECIMALS_MAX} of them decimals"
            yield "ELM-UNITS", message
        return
    yield from _length(part, len(whole) + len(fraction), "digits")


def _integer_type(part: ElementSpec, text: str, previous: str) -> Iterator[tuple[str, str]]:
    if not _INTEGER.fullmatch(text):
        yield "ELM-NUMBER", "must be a whole number"
        return
    digits = text.lstrip("-")
    if part.min == 1 and len(digits) > 1 and digits[0] == "0":
        yield "ELM-ZEROS", "should have no leading zeros"
    yield from _length(part, len(digits), "digits")


def _date_type(part: ElementSpec, text: str, previous: str) -> Iterator[tuple[str, str]]:
    short = part.max == 6 or (part.min == 6 and len(text) == 6)
    if not (is_short_date(text) if short else formats.parse_x12_date(text)):
        form = "YYMMDD" if short else "CCYYMMDD"
        yield "ELM-DATE", f"must be a day of the calendar, {form}"


def _time_type(part: ElementSpec, text: str, previous: str) -> Iterator[tuple[str, str]]:
    if not _TIME.fullmatch(text) or not part.min <= len(text) <= part.max:
        yield (
            "ELM-TIME",
            "must be a time of the day, HHMM" + ("" if part.max == 4 else " or HHMMSS"),
        )


def _period_type(part: ElementSpec, text: str, previous: str) -> Iterator[tuple[str, str]]:
    known = PERIOD_FORMS.get(previous)
    if known is None:
        yield from _text_type(part, text, previous)
    elif not known[1](text):
        yield "ELM-PERIOD", f"must be {known[0]}, as its qualifier {previous} requires"


def is_short_date(text: str) -> bool:
    """Return whether a text is a day written YYMMDD, of either century (so 29 February of either)."""
    return _SHORT_DATE.fullmatch(text) is not None and any(
        formats.parse_x12_date(century + text) for century in ("19", "20")
    )


def is_time(text: str) -> bool:
    """Return whether a text is HHMM or HHMMSS, possibly with tenths or hundredths of a second."""
    return _TIME.fullmatch(text) is not None


def _is_day(text: str) -> bool:
    return formats.parse_x12_date(text) is not None


def _is_range(text: str) -> bool:
    first, hyphen, last = text.partition("-")
    return bool(hyphen) and _is_day(first) and _is_day(last)


def _is_moment(text: str) -> bool:
    return _is_day(text[:8]) and is_time(text[8:])


def _is_moment_range(text: str) -> bool:
    first, hyphen, last = text.partition("-")
    return bool(hyphen) and _is_moment(first) and _is_moment(last)


# Date and time formats (data element 1250): in words, and how each is recognized.
PERIOD_FORMS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "D8": ("a day of the calendar, CCYYMMDD", _is_day),
    "RD8": ("two days of the calendar, CCYYMMDD-CCYYMMDD", _is_range),
    "D6": ("a day of the calendar, YYMMDD", is_short_date),
    "DT": ("a day and a time, CCYYMMDDHHMM", _is_moment),
    "RDT": ("two moments, CCYYMMDDHHMM-CCYYMMDDHHMM", _is_moment_range),
    "TM": ("a time of the day, HHMM", is_time),
}

_TYPE_CHECKS: dict[str, TypeCheck] = {
    "R": _decimal_type,
    "N0": _integer_type,
    "N2": _integer_type,
    "DT": _date_type,
    "TM": _time_type,
    "TP": _period_type,
}


def _allowed_codes(part: ElementSpec) -> str:
    return f": {_one_of(part.codes)}" if part.codes else ""


def _one_of(codes: tuple[str, ...]) -> str:
    if len(codes) == 1:
        return codes[0]
    shown = codes[:CODES_SHOWN_MAX]
    more = "" if len(codes) == len(shown) else f" ({len(codes)} codes in all)"
    return f"one of {', '.join(shown)}{more}"


CODES_SHOWN_MAX = 12
