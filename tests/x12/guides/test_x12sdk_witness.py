"""Our 270, 271, 276, 277 and 835 guides, and the loops of 837P, against the models of x12sdk: a second independent reading.

Its models say less than a guide: one field for all segments of an id in a loop, and codes for some elements. What they say
is compared; where we differ on purpose the difference is in a table with its reason, and a reason that nothing
needs any more fails the test too.
"""

from collections import defaultdict
from functools import cache

import pytest

from clearlane.x12.grammar import LoopSpec, SegmentSpec
from clearlane.x12.guides import by_kind
from tests.x12.guides.x12sdk_models import elements, is_required, transaction_model, walk

# The models are imported by their names, which tests/server_marker.py cannot see.
pytestmark = pytest.mark.witness

KINDS = ("270", "271", "276", "277", "835")
STRUCTURE_KINDS = (*KINDS, "837P")

_OPENER = "It opens its loop, so it is required there."
_BASE = "Its base model of the segment allows it; the guide does not use the element."
_SEX = "The guide has an unknown sex."
_SLIP = "A slip in the model's list."
_LISTED = "Kept as text here: the place of service is checked as a code list by the rules."
_SUBSCRIBER = "The model uses the subscriber's list for the dependent."
_CONTACT = "Every remittance names a technical contact."
_C, _D = "2000A/2000B/2000C/2100C/", "2000A/2000B/2000C/2000D/2100D/"

# What we do otherwise: kind, path, what -> why. What is a loop or segment that only one side has, its being
# required, or an element whose codes differ.
ACCEPTED: dict[tuple[str, str, str], str] = {
    ("270", _D + "2110D/AMT", "only theirs"): "Spend-down amounts are the subscriber's alone.",
    ("270", _C + "2110C/EQ", "required"): _OPENER,
    ("270", _D + "2110D/EQ", "required"): _OPENER,
    **{
        (kind, path + place, "codes"): reason
        for kind in ("270", "271")
        for path in (_C, _D)
        for place, reason in (("DMG/03", _SEX), ("DMG/10", _BASE), ("INS/10", _BASE))
    },
    **{(kind, _D + "NM1/02", "codes"): "A dependent is a person." for kind in ("270", "271")},
    **{(kind, _D + "REF/01", "codes"): _SUBSCRIBER for kind in ("270", "271")},
    **{
        ("270", path + place, "codes"): reason
        for path, line in ((_C, "2110C/"), (_D, "2110D/"))
        for place, reason in (("PRV/01", _SLIP), (line + "III/02", _LISTED), (line + "III/03", _BASE))
    },
    ("271", "2000A/2100A/PER", "only ours"): "The payer's contact; the model takes a PRV for it.",
    ("271", "2000A/2100A/PRV", "only theirs"): "The same.",
    ("271", "BHT/06", "codes"): "Spend-down is asked for in a 270; a response has no such code.",
    ("271", "2000A/HL/04", "codes"): "A response that refuses the whole inquiry has no level below.",
    **{
        ("271", path + place, "codes"): _SLIP
        for path, line in ((_C, "C"), (_D, "D"))
        for place in (
            "AAA/03", "MPI/01", f"2110{line}/EB/04", f"2110{line}/REF/01", f"2110{line}/2120{line}/NM1/01",
        )
    },
    ("271", _C + "REF/01", "codes"): "The model leaves out identifiers of the subscriber.",
    **{
        (kind, "2000A/2000B/2000C/2000D/2000E/2200E", "required"): (
            "A dependent is named for the sake of its claims."
        )
        for kind in ("276", "277")
    },
    **{
        (kind, "2000A/2000B/2000C/2000D/2100D/NM1/02", "codes"): (
            "An organization may be the insured (workers' compensation)."
        )
        for kind in ("276", "277")
    },
    ("276", "2000A/2000B/2000C/2000D/DMG/10", "codes"): _BASE,
    ("276", "2000A/2000B/2000C/2000D/2000E/DMG/10", "codes"): _BASE,
    ("277", "2000A/2000B/2200B/STC", "required"): "A tracking number without a status says nothing.",
    ("277", "2000A/2000B/2000C/2200C/STC", "required"): "The same.",
    ("277", "2000A/2100A/PER/03", "codes"): "An extension follows a telephone number, it does not lead.",
    ("835", "2000", "required"): "A payment may consist of provider adjustments alone.",
    ("835", "1000A/PER", "required"): _CONTACT,
    ("835", "2000/2100/MIA/01", "codes"): "Covered days are a number.",
    ("835", "2000/2100/2110/REF/01", "codes"): "The model forgets identifiers of the rendering provider.",
}  # fmt: skip
NESTED_BY_MISTAKE = ("2115C/", "2115D/")
"""The model of the 271 has the loops 2120 also below 2115, where the guide has them below 2110 alone."""


@cache
def own_rows(kind: str) -> dict[str, list[LoopSpec | SegmentSpec]]:
    rows = defaultdict(list)

    def collect(node: LoopSpec, path: str) -> None:
        for child in node.children:
            rows[path + child.id].append(child)
            if isinstance(child, LoopSpec):
                collect(child, f"{path}{child.id}/")

    collect(by_kind(kind).root, "")
    return rows


@cache
def their_rows(kind: str) -> dict[str, list]:
    rows = defaultdict(list)
    for path, id, field in walk(transaction_model(kind)):
        row = path + id
        if row in own_rows(kind) or not any(loop in row for loop in NESTED_BY_MISTAKE):
            rows[row].append(field)
    return rows


def structure_differences(kind: str) -> set[tuple[str, str, str]]:
    own, theirs = own_rows(kind), their_rows(kind)
    found = {(kind, row, "only ours") for row in own.keys() - theirs.keys()}
    return found | {(kind, row, "only theirs") for row in theirs.keys() - own.keys()}


def code_differences(kind: str) -> set[tuple[str, str, str]]:
    own, theirs = own_rows(kind), their_rows(kind)
    found = set()
    for row in own.keys() & theirs.keys():
        required = any(node.usage == "R" for node in own[row])
        if required != any(map(is_required, theirs[row])):
            found.add((kind, row, "required"))
        if isinstance(own[row][0], SegmentSpec):
            for number, codes in their_codes(theirs[row]).items():
                if codes != own_codes(own[row], number):
                    found.add((kind, f"{row}/{number:02}", "codes"))
    return found


def their_codes(fields) -> dict[int, set[str]]:
    """The codes of elements that every model of a segment restricts."""
    models = [elements(field) for field in fields]
    numbers = set().union(*models)
    return {
        number: set().union(*(model[number][0] for model in models))
        for number in numbers
        if all(number in model and model[number][0] for model in models)
    }


def own_codes(nodes: list[SegmentSpec], number: int) -> set[str] | None:
    """The codes that we allow; None if any text is allowed."""
    used = [node.elements[number - 1] for node in nodes if number <= len(node.elements)]
    used = [element for element in used if element.usage != "N"]
    return None if any(not e.codes for e in used) else {code for e in used for code in e.codes}


@pytest.mark.parametrize("kind", STRUCTURE_KINDS)
def test_loops_and_segments_are_the_same_or_the_difference_has_a_reason(kind):
    wanted = {row for row in ACCEPTED if row[0] == kind and row[2].startswith("only")}
    assert structure_differences(kind) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_required_and_the_codes_are_the_same_or_the_difference_has_a_reason(kind):
    wanted = {row for row in ACCEPTED if row[0] == kind and row[2] in {"required", "codes"}}
    assert code_differences(kind) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_the_comparison_compares_much(kind):
    compared = sum(
        len(their_codes(fields))
        for row, fields in their_rows(kind).items()
        if isinstance(own_rows(kind)[row][0] if own_rows(kind).get(row) else None, SegmentSpec)
    )
    assert compared >= 30
