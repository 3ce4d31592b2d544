"""Our 835 and 999 guides against the maps of pyx12: an independent reading of the same guides.

Both trees are listed as rows (loops and segments in order, then elements) and compared one by one.
Where we differ on purpose the difference is in a table with its reason, and a reason that
nothing needs any more fails the test too.
"""

import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import pytest
import pyx12

from clearlane.x12.grammar import ElementSpec, LoopSpec, SegmentSpec
from clearlane.x12.guides import by_kind

MAPS = Path(pyx12.__file__).parent / "map"
MAP_OF = {"835": "835.5010.X221.A1.xml", "999": "999.5010X231.A1.xml"}
WRAPPERS = {"ISA_LOOP", "GS_LOOP", "ST_LOOP", "HEADER", "DETAIL", "FOOTER"}
ENVELOPE = {"ISA", "IEA", "GS", "GE", "TA1"}
UNLIMITED = ">1"

_POSITION = "X12 005010 gives a position ten digits; the witness has the six of 004010."
_FURTHER = (
    "Every adjustment of a PLB has a reason of the same list; the witness lists it for the first."
)
# What we do otherwise: guide, place, what -> why.
ACCEPTED = {
    **{("835", f"PLB:/{at:02}-1", "codes"): _FURTHER for at in (5, 7, 9, 11, 13)},
    ("999", "ST:/03", "codes"): "We read the earlier errata name too.",
    ("999", "2000/2100/IK3:/02", "form"): _POSITION,
    ("999", "2000/2100/CTX:SITUATIONAL TRIGGER/03", "form"): _POSITION,
    ("999", "2000/2100/2110/CTX:SITUATIONAL TRIGGER/03", "form"): _POSITION,
    ("999", "2000/2100/CTX:BUSINESS/05", "usage"): "A business unit has a name and a value only.",
    ("999", "2000/2100/2110/IK4:", "row"): "The segment that opens a loop is required in it.",
}


@pytest.fixture(params=sorted(MAP_OF))
def kind(request) -> str:
    return request.param


def test_loops_and_segments_are_in_the_same_order_with_the_same_usage_and_repeats(kind):
    own, theirs = [row for row, _ in own_rows(kind)], [row for row, _ in their_rows(kind)]
    different = {(kind, a[0], "row") for a, b in zip(own, theirs, strict=True) if a != b}
    assert [row[0] for row in own] == [row[0] for row in theirs]
    assert different == {place for place in ACCEPTED if place[0] == kind and place[2] == "row"}


def test_elements_are_used_alike_or_the_difference_has_a_reason(kind):
    found = set()
    for (row, mine), (_, theirs) in zip(own_rows(kind), their_rows(kind), strict=True):
        for number, (a, b) in enumerate(zip(mine, theirs, strict=False), 1):
            found |= {
                (kind, f"{row[0]}/{number:02}{part}", what) for part, what in differences(a, b)
            }
        # The witness writes out every element it knows, so an element of our own beyond them would be invented.
        assert all(e["usage"] == "N" for e in mine[len(theirs) :]), row
        assert len(mine) >= len(theirs), row
    assert found == {place for place in ACCEPTED if place[0] == kind and place[2] != "row"}


def test_syntax_notes_are_the_same(kind):
    theirs = {}
    for row, node in segments_of_witness(kind):
        notes = {(n.text or "").strip() for n in node.findall("syntax")}
        if notes:
            theirs[row] = notes
    mine = {row: set(node.syntax) for row, node in our_segments(kind)}
    assert {row: mine[row] for row in theirs} == theirs


def differences(mine: dict, theirs: dict) -> set[tuple[str, str]]:
    """What differs between two elements: (component, what)."""
    different = set()
    if mine["usage"] != theirs["usage"]:
        different.add(("", "usage"))
    if "N" in {theirs["usage"], mine["usage"]}:
        return different
    different |= {("", what) for what in ("codes", "form", "repeat") if mine[what] != theirs[what]}
    if mine["list"]:
        different -= {("", "codes")} if not theirs["codes"] else set()
    for number, (a, b) in enumerate(zip(mine["parts"], theirs["parts"], strict=False), 1):
        different |= {(f"-{number}", what) for _, what in differences(a, b)}
    return different


def our_segments(kind: str):
    def walk(node: LoopSpec, path: str):
        for child in node.children:
            if isinstance(child, SegmentSpec):
                yield path + child.id + ":" + mark(child.qualifiers), child
            else:
                yield from walk(child, f"{path}{child.id}/")

    yield from walk(by_kind(kind).root, "")


@cache
def own_rows(kind: str) -> list:
    rows = []

    def walk(node: LoopSpec, path: str) -> None:
        for child in node.children:
            if isinstance(child, SegmentSpec):
                place = path + child.id + ":" + mark(child.qualifiers)
                rows.append(((place, child.usage, child.repeat), [own(e) for e in child.elements]))
            else:
                rows.append(((path + child.id, child.usage, child.repeat), []))
                walk(child, f"{path}{child.id}/")

    walk(by_kind(kind).root, "")
    return rows


def mark(codes: tuple[str, ...]) -> str:
    """What distinguishes a use of a segment, short where there are many names."""
    return "BUSINESS" if "CLM01" in codes else "|".join(sorted(codes))


def own(e: ElementSpec) -> dict:
    return {
        "usage": e.usage,
        "codes": tuple(sorted(e.codes)),
        "list": e.code_list,
        "form": None if e.components else ("AN" if e.type == "TP" else e.type, e.min, e.max),
        "repeat": e.repeat,
        "parts": [own(part) for part in e.components],
    }


@cache
def dictionary() -> dict[str, tuple[str, int, int]]:
    root = ET.parse(MAPS / "dataele.xml").getroot()
    return {
        e.get("ele_num"): (e.get("data_type"), int(e.get("min_len")), int(e.get("max_len")))
        for e in root.iter("data_ele")
    }


def theirs_of(node: ET.Element) -> dict:
    parts = [theirs_of(part) for part in node.findall("element")] if node.tag == "composite" else []
    codes = node.find("valid_codes")
    return {
        "usage": node.findtext("usage"),
        "codes": tuple(sorted(c.text for c in codes.findall("code"))) if codes is not None else (),
        "form": None if node.tag == "composite" else dictionary()[node.findtext("data_ele")],
        "repeat": int(node.findtext("repeat") or 1),
        "parts": parts,
    }


def segments_of_witness(kind: str):
    keyed = {place.split(":")[0] for place, node in our_segments(kind) if node.key[0]}

    def walk(node: ET.Element, path: str):
        for child in node:
            if child.tag == "segment" and child.get("xid") not in ENVELOPE:
                place = path + child.get("xid")
                yield place + ":" + (key_of(child) if place in keyed else ""), child
            elif child.tag == "loop":
                id = child.get("xid")
                if id in WRAPPERS:
                    yield from walk(child, path)
                else:
                    yield path + id, child
                    yield from walk(child, f"{path}{id}/")

    yield from walk(ET.parse(MAPS / MAP_OF[kind]).getroot(), "")


def key_of(segment: ET.Element) -> str:
    first = next(e for e in segment if e.tag in {"element", "composite"})
    first = first if first.tag == "element" else first.find("element")
    return mark(tuple(c.text for c in first.find("valid_codes").findall("code")))


@cache
def their_rows(kind: str) -> list:
    rows = []
    for place, node in segments_of_witness(kind):
        text = node.findtext("max_use" if node.tag == "segment" else "repeat")
        elements = [theirs_of(e) for e in node if e.tag in {"element", "composite"}]
        usage = node.findtext("usage")
        rows.append(((place, usage, 0 if text == UNLIMITED else int(text)), elements))
    return rows
