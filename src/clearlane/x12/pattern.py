"""One regular expression per place of a guide: does the whole text of a segment have nothing wrong?

The expression may be stricter than the guide (it does not know that 2024 has a 29th of February): a text that does
not match is checked element by element in ``element``, which decides. It is never laxer, except for what
``value_checks`` tests afterward.

The expression is linear in the number of elements, because trailing elements are nested optional groups:
``*A(?:*B(?:*C|)|)``. Alternatives that repeat the tail would be exponential (one CAS took 40 seconds to compile).

Knows the nodes of a guide; knows no file and no finding.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from clearlane.x12.grammar import ElementSpec, SegmentSpec

MONEY_MAX = 18
"""The X12 length of a monetary amount (data element 782), the only number of that length."""
MONEY_DIGITS_MAX = 10
"""HIPAA: at most ten digits in an amount, cents included, written or not."""

UNITS_MAX = 8
"""HIPAA: the units of a professional line have at most eight digits; no other number has that length."""
UNITS_DECIMALS_MAX = 3

# X12's basic and extended character sets, without the separators and without lower case, which is reported.
VISIBLE = r"A-Z0-9!\"&'()+,\-./;?=%@\[\]_{}\\|<>#$"
TEXT = VISIBLE + " "

_MONTH_DAY = (
    r"(?:(?:0[13578]|1[02])(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)(?:0[1-9]|[12]\d|30)"
    r"|02(?:0[1-9]|1\d|2[0-8]))"
)
_DAY = r"(?:19|20)\d\d" + _MONTH_DAY
_CLOCK = r"(?:[01]\d|2[0-3])[0-5]\d"

# Date and time formats (data element 1250) that the guides name, as expressions.
PERIODS = {
    "D8": _DAY,
    "RD8": f"{_DAY}-{_DAY}",
    "D6": r"\d\d" + _MONTH_DAY,
    "DT": _DAY + _CLOCK,
    "TM": _CLOCK,
}
NEVER = r"(?!)"
PLACES_REMEMBERED_MAX = 8_192


class SyntaxNote(NamedTuple):
    """A syntax note of the X12 dictionary, such as P0304."""

    kind: str
    """P paired, R one required, E at most one, C if the first then all, L if the first then one more."""
    elements: tuple[int, ...]


def compile_pattern(node: SegmentSpec) -> re.Pattern[str]:
    """Compile the expression of a place."""
    return re.compile(build_expression(node), re.ASCII)


def build_expression(node: SegmentSpec) -> str:
    """Return the text of the expression of a place."""
    # A segment without required elements still needs one element: otherwise it must be left out itself.
    something = "" if any(e.usage == "R" for e in node.elements) else r"(?=\*)"
    return node.id + something + _sequence(node.elements, r"\*", _pairs(node)) + r"(?<![*:^])"


@lru_cache(maxsize=PLACES_REMEMBERED_MAX)
def open_syntax_notes(node: SegmentSpec) -> tuple[SyntaxNote, ...]:
    """Return the syntax notes that the usage of elements in the guide does not decide already."""
    usage = {element.number: element.usage for element in node.elements}
    notes = (
        SyntaxNote(text[0], tuple(int(text[at : at + 2]) for at in range(1, len(text), 2)))
        for text in node.syntax
    )
    return tuple(
        note for note in notes if _is_open(note, [usage.get(n, "N") for n in note.elements])
    )


def unmatched_syntax_notes(node: SegmentSpec) -> tuple[SyntaxNote, ...]:
    """Return the open notes that the expression does not check itself."""
    pairs = _pairs(node)
    return tuple(
        note
        for note in open_syntax_notes(node)
        if not (note.kind == "P" and len(note.elements) == 2 and note.elements[0] in pairs)
    )


def _is_open(note: SyntaxNote, usage: list[str]) -> bool:
    first, *others = usage
    if note.kind == "P":
        return len(set(usage)) > 1 or first == "S"
    if note.kind == "R":
        return "R" not in usage
    if note.kind == "E":
        return len(usage) - usage.count("N") > 1
    if note.kind == "C":
        return first != "N" and set(others) != {"R"}
    return first != "N" and "R" not in others


def _pairs(node: SegmentSpec) -> frozenset[int]:
    """Return elements that the expression pairs with the next one: adjacent, both situational, without repetition."""
    elements = {element.number: element for element in node.elements}
    found = set()
    for note in open_syntax_notes(node):
        first, second = note.elements[0], note.elements[-1]
        if note.kind == "P" and len(note.elements) == 2 and second == first + 1:
            usages = {elements[n].usage for n in note.elements if n in elements}
            repeats = {elements[n].repeat for n in note.elements if n in elements}
            if usages == {"S"} and repeats == {1}:
                found.add(first)
    return frozenset(found)


def _sequence(elements: tuple[ElementSpec, ...], separator: str, pairs: frozenset[int]) -> str:
    """Return the expression of elements, each after its separator, the dispensable tail optional."""
    slots: list[tuple[str, str, str]] = []
    at = 0
    while at < len(elements):
        element = elements[at]
        follower = elements[at + 1] if at + 1 < len(elements) else None
        if (
            follower is not None
            and follower.type == "TP"
            and follower.usage == element.usage != "N"
        ):
            slots.append((element.usage, _period_pair(element, follower, separator), separator))
            at += 2
        elif follower is not None and element.number in pairs:
            both = _value(element) + separator + _value(follower)
            slots.append((element.usage, both, separator))
            at += 2
        else:
            slots.append((element.usage, "" if element.usage == "N" else _value(element), ""))
            at += 1
    return _optional_tail(slots, separator)


def _optional_tail(slots: list[tuple[str, str, str]], separator: str) -> str:
    while slots and slots[-1][0] == "N":
        slots.pop()
    needed = max((at for at, slot in enumerate(slots) if slot[0] == "R"), default=-1)
    out = ""
    for at in range(len(slots) - 1, -1, -1):
        usage, full, empty = slots[at]
        if usage == "R":
            own = full
        elif empty:
            own = f"(?:{full}|{empty})"
        else:
            own = f"(?:{full}|)" if full else ""
        out = separator + own + out
        if at > needed:
            # An empty alternative is a fifth faster than a question mark after the group.
            out = f"(?:{out}|)"
    return out


def _value(element: ElementSpec) -> str:
    one = _composite(element) if element.components else _simple_value(element)
    if element.repeat == 1:
        return one
    return rf"{one}(?:\^{one}){{0,{element.repeat - 1}}}"


def _composite(element: ElementSpec) -> str:
    # The first component has no separator before it, so it is built apart from the others. The lookahead keeps
    # an empty composite from matching, the lookbehind one that ends with a separator.
    first, *rest = element.components
    tail = _sequence(tuple(rest), ":", frozenset()) if rest else ""
    if first.usage == "R":
        head = _value(first)
    else:
        head = f"(?=[^*^])(?:{_value(first)}|)" if first.usage == "S" else "(?=:)"
    follower = rest[0] if rest else None
    if follower is not None and follower.type == "TP":
        return NEVER  # no guide begins a composite with a period; ``element`` would decide
    return head + tail + "(?<!:)"


def _simple_value(element: ElementSpec) -> str:
    if element.codes:
        return _any_code(sorted(element.codes))
    low, high = element.min, element.max
    match element.type:
        case "R":
            return _decimal(high) if low == 1 else NEVER
        case "DT":
            return PERIODS["D8"] if low == high == 8 else PERIODS["D6"] if high == 6 else NEVER
        case "TM":
            return _CLOCK if high == 4 else _CLOCK + r"(?:[0-5]\d(?:\d\d?)?)?"
        case "ID":
            return f"[{VISIBLE}]{{{low},{high}}}"
        case "AN":
            return _text(low, high)
        case _ if element.type[0] == "N":
            return rf"(?:0|[1-9]\d{{0,{high - 1}}})" if low == 1 else rf"\d{{{low},{high}}}"
        case _:
            return NEVER


def _text(low: int, high: int) -> str:
    """Return the expression of a text without blanks at its ends."""
    if high < 3:
        return f"[{VISIBLE}]{{{low},{high}}}"
    if low > 1:
        return f"[{VISIBLE}][{TEXT}]{{{low - 2},{high - 2}}}[{VISIBLE}]"
    return f"[{VISIBLE}](?:[{TEXT}]{{0,{high - 2}}}[{VISIBLE}]|)"


def _decimal(high: int) -> str:
    if high == MONEY_MAX:
        whole, fraction = MONEY_DIGITS_MAX - 2, 2
    elif high == UNITS_MAX:
        whole, fraction = UNITS_MAX - UNITS_DECIMALS_MAX, UNITS_DECIMALS_MAX
    else:
        fraction = min(4, high // 2)
        whole = high - fraction
    part = rf"\.\d{{1,{fraction}}}"
    return rf"-?(?:(?:0|[1-9]\d{{0,{whole - 1}}})(?:{part})?|{part})"


def _period_pair(qualifier: ElementSpec, period: ElementSpec, separator: str) -> str:
    if qualifier.repeat != 1 or period.repeat != 1 or not qualifier.codes:
        return NEVER
    forms = [
        f"{re.escape(code)}{separator}{PERIODS[code]}"
        for code in qualifier.codes
        if code in PERIODS
    ]
    return f"(?:{'|'.join(forms)})" if forms else NEVER


def _any_code(codes: list[str]) -> str:
    """Return an expression for any of these codes, as a prefix tree, so that a long list matches fast."""
    branches: dict[str, list[str]] = {}
    for code in filter(None, codes):
        branches.setdefault(code[0], []).append(code[1:])
    leaves = [c for c, rest in branches.items() if rest == [""]]
    parts = [re.escape(c) + _any_code(rest) for c, rest in branches.items() if rest != [""]]
    if leaves:
        parts.append(f"[{''.join(map(re.escape, leaves))}]")
    body = parts[0] if len(parts) == 1 and "" not in codes else f"(?:{'|'.join(parts)})"
    return body + ("?" if "" in codes else "")
