"""What no expression can see of a segment: syntax notes, outside lists, check digits, forms a payer wants.

``watch`` is the quick test that runs on every flawless segment, ``looks`` the exact one that names faults.
Knows guide nodes, code lists and kinds of values; knows no file, no loop instance and no position.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from clearlane.kernel import formats
from clearlane.kernel.limits import QUALIFIERS_REMEMBERED_MAX
from clearlane.x12 import codes, pattern
from clearlane.x12.findings import Flaw, designate, value_kind
from clearlane.x12.grammar import Element, Segment
from clearlane.x12.pattern import Note


class Look(NamedTuple):
    """A value whose form a payer may refuse: a warning."""

    rule: str
    element: int
    passes: Callable[[str], bool]
    message: str
    when: tuple[int, tuple[str, ...]] = (0, ())
    """(element, codes): look only where that element holds one of these."""


# The same providers and places stand in claim after claim.
is_npi = lru_cache(QUALIFIERS_REMEMBERED_MAX)(formats.is_npi)
is_zip = lru_cache(QUALIFIERS_REMEMBERED_MAX)(formats.is_zip)
is_phone = lru_cache(QUALIFIERS_REMEMBERED_MAX)(formats.is_phone)
is_taxonomy = lru_cache(QUALIFIERS_REMEMBERED_MAX)(formats.is_taxonomy)


def _is_nine_digits(text: str) -> bool:
    return not is_zip(text) or len(text) == 9


_NPI = "must be an NPI: ten digits with a right check digit"
_PHONE = "must be ten digits without punctuation, as numbers in the United States have"
_TAXONOMY = "must be a taxonomy code: ten characters, the last an X"

# By segment: the values that have a role wherever the segment stands.
LOOKS: dict[str, tuple[Look, ...]] = {
    "NM1": (Look("VAL-NPI", 9, is_npi, _NPI, (8, ("XX",))),),
    "PRV": (Look("VAL-TAXONOMY", 3, is_taxonomy, _TAXONOMY, (2, ("PXC",))),),
    "PER": tuple(
        Look("VAL-PHONE", at, is_phone, _PHONE, (at - 1, ("TE", "FX"))) for at in (4, 6, 8)
    ),
    "N4": (
        Look(
            "VAL-ZIP", 3, is_zip, "must be five or nine digits in the United States",
            (4, ("", "US")),
        ),
    ),
}  # fmt: skip
# By loop and segment: what an 837 asks of the billing provider and the place of service.
LOOKS_IN_LOOP: dict[tuple[str, str], tuple[Look, ...]] = {
    ("2010AA", "N3"): (
        Look("VAL-STREET", 1, lambda t: not formats.is_po_box(t), "must be a street, not a box"),
        Look("VAL-STREET", 2, lambda t: not formats.is_po_box(t), "must be a street, not a box"),
    ),
    **{
        (loop, "N4"): (Look("VAL-ZIP4", 3, _is_nine_digits, "must have nine digits here"),)
        for loop in ("2010AA", "2310C")
    },
}


def looks(node: Segment, loop: str, segment: list[str]) -> Iterator[Flaw]:
    """What no expression can see: syntax notes, outside lists, check digits."""
    for note in pattern.syntax(node):
        yield from _note(node, note, segment)
    size = len(segment)
    for look in (*LOOKS.get(node.id, ()), *LOOKS_IN_LOOP.get((loop, node.id), ())):
        text = segment[look.element] if look.element < size else ""
        at, wanted = look.when
        if not text or (at and (segment[at] if at < size else "") not in wanted):
            continue
        if not look.passes(text):
            name = designate(node, node.elements[look.element - 1])
            yield Flaw(look.rule, f"{name} {look.message}", look.element, kind=value_kind(text))
    for element in node.elements[: size - 1]:
        yield from _listed(node, element, segment[element.number])


def watch(node: Segment, loop: str) -> Callable[[list[str]], bool] | None:
    """A quick test whether ``looks`` is worth calling on a segment whose expression has matched.

    It may call once too often, never once too few. None where there is nothing to look at.
    """
    tests = [
        *(_watch_note(note) for note in pattern.notes(node)),
        *(_watch_look(one) for one in (*LOOKS.get(node.id, ()), *LOOKS_IN_LOOP.get((loop, node.id), ()))),
        *_watch_lists(node),
    ]  # fmt: skip
    if len(tests) < 2:
        return tests[0] if tests else None

    def any_test(segment: list[str]) -> bool:
        for test in tests:  # noqa: SIM110 - a generator would cost more than the tests
            if test(segment):
                return True
        return False

    return any_test


def _listed(node: Segment, element: Element, text: str) -> Iterator[Flaw]:
    if element.list and text:
        for nth, value in enumerate(text.split("^"), 1):
            if not in_list(element.list, value):
                yield _unlisted(node, element, None, value, nth if "^" in text else 0)
    if any(part.list for part in element.components):
        for nth, occurrence in enumerate(text.split("^"), 1):
            for part, value in zip(element.components, occurrence.split(":"), strict=False):
                if part.list and value and not in_list(part.list, value):
                    yield _unlisted(node, element, part, value, nth if "^" in text else 0)


Watch = Callable[[list[str]], bool]


def _watch_look(look: Look) -> Watch:
    at, passes = look.element, look.passes
    when, wanted = look.when
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


def _watch_lists(node: Segment) -> Iterator[Watch]:
    for element in node.elements:
        known = codes.load(element.list) if element.list else None
        if known:
            yield _watch_list(element.number, known)
        if any(part.list for part in element.components):
            yield _watch_components(node, element)


def _watch_list(number: int, known: Mapping[str, str]) -> Watch:
    return lambda segment: (
        len(segment) > number and bool(text := segment[number]) and text not in known
    )


def _watch_components(node: Segment, element: Element) -> Watch:
    number = element.number
    return lambda segment: len(segment) > number and any(_listed(node, element, segment[number]))


def _watch_note(note: Note) -> Watch:
    # How far a segment must reach before the note can be broken.
    in_order = sorted(note.elements)
    reach = {"R": 0, "P": in_order[0], "E": in_order[1]}.get(note.kind, note.elements[0])
    return lambda segment: len(segment) > reach and _is_broken(note, segment)


def _is_broken(note: Note, segment: list[str]) -> bool:
    size = len(segment)
    there = [n for n in note.elements if n < size and segment[n]]
    match note.kind:
        case "P":
            return 0 < len(there) < len(note.elements)
        case "R":
            return not there
        case "E":
            return len(there) > 1
        case "C":
            return note.elements[0] in there and len(there) < len(note.elements)
        case _:
            return there == [note.elements[0]]


def _unlisted(node: Segment, element: Element, part: Element | None, value: str, nth: int) -> Flaw:
    named = (part or element).list
    message = f"{designate(node, element, part)} must be a code of the list {named!r}"
    return Flaw(
        "ELM-LIST", message, element.number, part.number if part else 0, nth, value_kind(value)
    )


def in_list(name: str, code: str) -> bool:
    """Whether an outside list has a code; a list that is not there has every code."""
    known = codes.load(name)
    return not known or code in known


def _note(node: Segment, note: Note, segment: list[str]) -> Iterator[Flaw]:
    if not _is_broken(note, segment):
        return
    first, *others = note.elements
    there = [n for n in note.elements if n < len(segment) and segment[n]]
    absent = [n for n in note.elements if n not in there]
    names, own = _names(node, note.elements), f"{node.id}{first:02}"
    match note.kind:
        case "P":
            yield Flaw("SYN-P", f"{names} must be all there or all empty", absent[0])
        case "R":
            yield Flaw("SYN-R", f"One of {names} is required", first)
        case "E":
            yield Flaw("SYN-E", f"Only one of {names} may be there", there[1])
        case "C":
            yield Flaw("SYN-C", f"{own} requires {_names(node, absent)} too", absent[0])
        case _:
            yield Flaw("SYN-L", f"{own} requires one of {_names(node, others)} too", others[0])


def _names(node: Segment, elements: Iterable[int]) -> str:
    return " and ".join(f"{node.id}{number:02}" for number in elements)
