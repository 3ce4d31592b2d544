"""Checks that no regular expression can make: syntax notes, external code lists, check digits, formats payers require.

``compile_quick_check`` makes the fast test that runs on every segment that matched its expression; ``check_values`` is
the exact check that names what is wrong. Knows guide nodes, code lists and value formats; knows no file and no position.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from clearlane.kernel import formats
from clearlane.x12 import codes, pattern
from clearlane.x12.checker.findings import ElementFinding, classify_value, name_element
from clearlane.x12.grammar import ElementSpec, SegmentSpec
from clearlane.x12.pattern import SyntaxNote

QUALIFIERS_REMEMBERED_MAX = 4_096


class ValueCheck(NamedTuple):
    """A format of one element that a payer may require: a warning."""

    rule: str
    element: int
    passes: Callable[[str], bool]
    message: str
    when: tuple[int, tuple[str, ...]] = (0, ())
    """(element, codes): check only if that element has one of these codes."""


# The same providers and places recur in claim after claim, so results are cached.
is_npi = lru_cache(QUALIFIERS_REMEMBERED_MAX)(formats.is_npi)
is_zip = lru_cache(QUALIFIERS_REMEMBERED_MAX)(formats.is_zip)
is_phone = lru_cache(QUALIFIERS_REMEMBERED_MAX)(formats.is_phone)
is_taxonomy = lru_cache(QUALIFIERS_REMEMBERED_MAX)(formats.is_taxonomy)


def _is_nine_digits(text: str) -> bool:
    return not is_zip(text) or len(text) == 9


_NPI = "must be an NPI: ten digits with a right check digit"
_BANK = "must be a bank's routing number: nine digits with a right check digit"
_PHONE = "should be ten digits without punctuation, the first neither 0 nor 1, if it is of the United States or Canada"
_TAXONOMY = "must be a taxonomy code: ten characters, the last an X"
_AT_HOME = (4, ("", "US"))
LIST_TITLES = {"carc": "claim adjustment reasons", "rarc": "remittance remarks"}
"""What people call the lists whose names do not tell."""

# By segment: checks that apply wherever the segment occurs.
VALUE_CHECKS: dict[str, tuple[ValueCheck, ...]] = {
    "NM1": (ValueCheck("VAL-NPI", 9, is_npi, _NPI, (8, ("XX",))),),
    "PRV": (ValueCheck("VAL-TAXONOMY", 3, is_taxonomy, _TAXONOMY, (2, ("PXC",))),),
    "PER": tuple(
        ValueCheck("VAL-PHONE", at, is_phone, _PHONE, (at - 1, ("TE", "FX"))) for at in (4, 6, 8)
    ),
    "BPR": tuple(
        ValueCheck("VAL-BANK", at, formats.is_bank_number, _BANK, (at - 1, ("01",))) for at in (7, 13)
    ),
    "N4": (
        ValueCheck(
            "VAL-ZIP", 3, is_zip, "must be five or nine digits in the United States",
            _AT_HOME,
        ),
    ),
}  # fmt: skip
# By loop and segment: what an 837 requires of the billing provider and the place of service.
VALUE_CHECKS_IN_LOOP: dict[tuple[str, str], tuple[ValueCheck, ...]] = {
    ("2010AA", "N3"): (
        ValueCheck(
            "VAL-STREET", 1, lambda t: not formats.is_po_box(t), "must be a street, not a box"
        ),
        ValueCheck(
            "VAL-STREET", 2, lambda t: not formats.is_po_box(t), "must be a street, not a box"
        ),
    ),
    **{
        (loop, "N4"): (
            ValueCheck("VAL-ZIP4", 3, _is_nine_digits, "must have nine digits here", _AT_HOME),
        )
        for loop in ("2010AA", "2310C")
    },
}


def check_values(node: SegmentSpec, loop: str, segment: list[str]) -> Iterator[ElementFinding]:
    """Yield what no expression can find: broken syntax notes, unlisted codes, wrong formats and check digits."""
    for note in pattern.open_syntax_notes(node):
        yield from _check_note(node, note, segment)
    size = len(segment)
    for check in (*VALUE_CHECKS.get(node.id, ()), *VALUE_CHECKS_IN_LOOP.get((loop, node.id), ())):
        text = segment[check.element] if check.element < size else ""
        at, wanted = check.when
        if not text or (at and (segment[at] if at < size else "") not in wanted):
            continue
        if not check.passes(text):
            name = name_element(node, node.elements[check.element - 1])
            yield ElementFinding(
                check.rule, f"{name} {check.message}", check.element, kind=classify_value(text)
            )
    for element in node.elements[: size - 1]:
        yield from _check_lists(node, element, segment[element.number])


def compile_quick_check(node: SegmentSpec, loop: str) -> Callable[[list[str]], bool] | None:
    """Return a fast test whether ``check_values`` must run on a segment whose expression matched.

    The test may be true once too often, never once too few. Return None if there is nothing to check.
    """
    tests = [
        *(_quick_note_check(note) for note in pattern.unmatched_syntax_notes(node)),
        *(_quick_value_check(one) for one in (*VALUE_CHECKS.get(node.id, ()), *VALUE_CHECKS_IN_LOOP.get((loop, node.id), ()))),
        *_quick_list_checks(node),
    ]  # fmt: skip
    if len(tests) < 2:
        return tests[0] if tests else None

    def any_test(segment: list[str]) -> bool:
        for test in tests:  # noqa: SIM110 - a generator would cost more than the tests
            if test(segment):
                return True
        return False

    return any_test


def _check_lists(node: SegmentSpec, element: ElementSpec, text: str) -> Iterator[ElementFinding]:
    if element.code_list and text:
        for repetition, value in enumerate(text.split("^"), 1):
            if not is_in_list(element.code_list, value):
                yield _unlisted_code(node, element, None, value, repetition if "^" in text else 0)
    if any(part.code_list for part in element.components):
        for repetition, occurrence in enumerate(text.split("^"), 1):
            for part, value in zip(element.components, occurrence.split(":"), strict=False):
                if part.code_list and value and not is_in_list(part.code_list, value):
                    yield _unlisted_code(
                        node, element, part, value, repetition if "^" in text else 0
                    )


QuickCheck = Callable[[list[str]], bool]


def _quick_value_check(check: ValueCheck) -> QuickCheck:
    at, passes = check.element, check.passes
    when, wanted = check.when
    if not when:
        return lambda segment: len(segment) > at and not passes(segment[at])
    if when < at:
        return lambda segment: (
            len(segment) > at and segment[when] in wanted and not passes(segment[at])
        )
    return lambda segment: (
        len(segment) > at
        and (len(segment) <= when or segment[when] in wanted)
        and not passes(segment[at])
    )


def _quick_list_checks(node: SegmentSpec) -> Iterator[QuickCheck]:
    for element in node.elements:
        known = codes.load(element.code_list) if element.code_list else None
        if known:
            yield _quick_list_check(element.number, known)
        if any(part.code_list for part in element.components):
            yield _quick_component_check(node, element)


def _quick_list_check(number: int, known: Mapping[str, str]) -> QuickCheck:
    return lambda segment: (
        len(segment) > number and bool(text := segment[number]) and text not in known
    )


def _quick_component_check(node: SegmentSpec, element: ElementSpec) -> QuickCheck:
    number = element.number
    return lambda segment: (
        len(segment) > number and any(_check_lists(node, element, segment[number]))
    )


def _quick_note_check(note: SyntaxNote) -> QuickCheck:
    # The note can only be broken by a segment with more than this many elements.
    in_order = sorted(note.elements)
    reach = {"R": 0, "P": in_order[0], "E": in_order[1]}.get(note.kind, note.elements[0])
    return lambda segment: len(segment) > reach and _is_broken(note, segment)


def _is_broken(note: SyntaxNote, segment: list[str]) -> bool:
    size = len(segment)
    present = [n for n in note.elements if n < size and segment[n]]
    match note.kind:
        case "P":
            return 0 < len(present) < len(note.elements)
        case "R":
            return not present
        case "E":
            return len(present) > 1
        case "C":
            return note.elements[0] in present and len(present) < len(note.elements)
        case _:
            return present == [note.elements[0]]


def _unlisted_code(
    node: SegmentSpec, element: ElementSpec, part: ElementSpec | None, value: str, repetition: int
) -> ElementFinding:
    list_name = (part or element).code_list
    title = LIST_TITLES.get(list_name, list_name.replace("_", " "))
    message = f"{name_element(node, element, part)} must be a code of the list of {title}"
    return ElementFinding(
        "ELM-LIST",
        message,
        element.number,
        part.number if part else 0,
        repetition,
        classify_value(value),
    )


def is_in_list(name: str, code: str) -> bool:
    """Return whether an external list has a code; a list that is not available has every code."""
    known = codes.load(name)
    return not known or code in known


def _check_note(
    node: SegmentSpec, note: SyntaxNote, segment: list[str]
) -> Iterator[ElementFinding]:
    if not _is_broken(note, segment):
        return
    first, *others = note.elements
    present = [n for n in note.elements if n < len(segment) and segment[n]]
    absent = [n for n in note.elements if n not in present]
    names, own = _names(node, note.elements), f"{node.id}{first:02}"
    match note.kind:
        case "P":
            yield ElementFinding("SYN-P", f"{names} must be all present or all empty", absent[0])
        case "R":
            yield ElementFinding("SYN-R", f"One of {names} is required", first)
        case "E":
            yield ElementFinding("SYN-E", f"Only one of {names} may be present", present[1])
        case "C":
            yield ElementFinding("SYN-C", f"{own} requires {_names(node, absent)} too", absent[0])
        case _:
            yield ElementFinding(
                "SYN-L", f"{own} requires one of {_names(node, others)} too", others[0]
            )


def _names(node: SegmentSpec, elements: Iterable[int]) -> str:
    return " and ".join(f"{node.id}{number:02}" for number in elements)
