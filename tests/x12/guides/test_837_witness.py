"""Our 837P and 837I guides against the maps of pyx12: an independent reading of the same guides.

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
MAP_OF = {"837P": "837.5010.X222.A1.xml", "837I": "837Q3.I.5010.X223.A1.xml"}
WRAPPERS = {"ISA_LOOP", "GS_LOOP", "ST_LOOP", "HEADER", "DETAIL", "FOOTER"}
ENVELOPE = {"ISA", "IEA", "GS", "GE", "TA1"}

# What we do otherwise: guide, place, what -> why. A place may end in * for "all below".
ACCEPTED = {
    ("837P", "ST/03", "usage"): "ST03 is required in every 837; the witness lets it be absent.",
    ("837P", "ST/03", "codes"): "We read the earlier errata names too.",
    ("837I", "ST/03", "codes"): "We read the earlier errata names too.",
    (
        "837P",
        "BHT/06",
        "codes",
    ): "Subrogation demands (31) are part of the guide; the witness forgets them.",
    **{
        ("837P", f"2000A/2000B/{level}2300/2400/SV1/04", "form"): (
            "The guide's note limits the units to eight digits, three of them decimals."
        )
        for level in ("", "2000C/")
    },
    **{
        (kind, place, what): reason
        for kind in ("837P", "837I")
        for place, what, reason in (
            ("BHT/03", "form", "The guide's note limits the batch number to 30 characters."),
            *(
                (
                    f"2000A/2000B/{level}2300/REF:D9/02",
                    "form",
                    "The guide's note limits the trace number to 20 positions.",
                )
                for level in ("", "2000C/")
            ),
            *(
                (
                    f"2000A/2000B/{level}2300/{ref}/02",
                    "codes",
                    "The guide lists the codes in a note.",
                )
                for level in ("", "2000C/")
                for ref in ("REF:4N", "2320/2330B/REF:T4", *(["REF:F5"] if kind == "837P" else []))
            ),
        )
    },
    ("837P", "1000A/PER/03", "codes"): "ED was a 4010 code; 5010 lists e-mail, fax and telephone.",
    ("837P", "1000A/PER/05", "codes"): "ED was a 4010 code.",
    ("837P", "1000A/PER/07", "codes"): "ED was a 4010 code.",
    ("837P", "2000A/2000B/2010BA/NM1:IL/08", "usage"): (
        "The first errata made it situational: an organization that is the insured has no number."
    ),
    ("837P", "2000A/2000B/2010BA/NM1:IL/09", "usage"): "The same.",
    (
        "837I",
        "2000A/2000B/2300/CRC:ZZ/04",
        "codes",
    ): "The further conditions are from the same list.",
    ("837I", "2000A/2000B/2300/CRC:ZZ/05", "codes"): "The same.",
    ("837I", "2000A/2000B/2000C/2300/CRC:ZZ/04", "codes"): "The same.",
    ("837I", "2000A/2000B/2000C/2300/CRC:ZZ/05", "codes"): "The same.",
}

Row = tuple[str, str, int]


@pytest.fixture(scope="module", params=sorted(MAP_OF))
def kind(request) -> str:
    return request.param


def test_loops_and_segments_are_in_the_same_order_with_the_same_usage_and_repeats(kind):
    own = [row for row, _ in own_rows(kind)]
    theirs = [row for row, _ in their_rows(kind)]
    assert own == theirs


def test_elements_are_used_alike_or_the_difference_has_a_reason(kind):
    found = set()
    for (row, mine), (_, theirs) in zip(own_rows(kind), their_rows(kind), strict=True):
        for number, (a, b) in enumerate(zip(mine, theirs, strict=False), 1):
            found |= {
                (kind, f"{row[0]}/{number:02}{part}", what) for part, what in differences(a, b)
            }
        # The witness writes out every element it knows, so an element of our own beyond them would be invented.
        assert len(mine) >= len(theirs), row
        assert all(e["usage"] == "N" for e in mine[len(theirs) :]), row
    assert found == {place for place in ACCEPTED if place[0] == kind}


def differences(mine: dict, theirs: dict) -> set[tuple[str, str]]:
    """What differs between two elements: (component, what)."""
    different = set()
    if mine["usage"] != theirs["usage"]:
        different.add(("", "usage"))
    if theirs["usage"] == "N" or mine["usage"] == "N":
        return different
    if theirs["codes"] != mine["codes"] and not (mine["list"] and not theirs["codes"]):
        different.add(("", "codes"))
    if mine["form"] != theirs["form"]:
        different.add(("", "form"))
    for number, (a, b) in enumerate(zip(mine["parts"], theirs["parts"], strict=False), 1):
        different |= {(f"-{number}", what) for _, what in differences(a, b)}
    return different


@cache
def own_rows(kind: str) -> list[tuple[Row, list[dict]]]:
    rows = []

    def walk(node: LoopSpec, path: str) -> None:
        for child in node.children:
            if isinstance(child, SegmentSpec):
                place = (
                    path
                    + child.id
                    + ("" if not child.qualifiers else ":" + "|".join(child.qualifiers))
                )
                place = place if child.id != "PWK" else path + child.id
                rows.append(((place, child.usage, child.repeat), [own(e) for e in child.elements]))
            else:
                rows.append(((path + child.id, child.usage, child.repeat), []))
                walk(child, f"{path}{child.id}/")

    walk(by_kind(kind).root, "")
    return rows


def own(e: ElementSpec) -> dict:
    kind = "AN" if e.type == "TP" else e.type
    return {
        "usage": e.usage,
        "codes": tuple(sorted(e.codes)),
        "list": e.code_list,
        "form": (kind, e.min, e.max) if not e.components else "composite",
        "parts": [own(part) for part in e.components],
    }


@cache
def element_forms() -> dict[str, tuple[str, int, int]]:
    return {
        row.get("ele_num"): (row.get("data_type"), int(row.get("min_len")), int(row.get("max_len")))
        for row in ET.parse(MAPS / "dataele.xml").getroot()
    }


KEYS = {
    "NM1": "01",
    "REF": "01",
    "DTP": "01",
    "AMT": "01",
    "HL": "03",
    "CRC": "01",
    "NTE": "01",
    "QTY": "01",
}


@cache
def their_rows(kind: str) -> list[tuple[Row, list[dict]]]:
    rows = []

    def walk(node: ET.Element, path: str) -> None:
        for child in node:
            if child.tag == "loop" and child.get("xid") in WRAPPERS:
                walk(child, path)
            elif child.tag == "loop":
                name = child.get("xid")
                rows.append(((path + name, child.findtext("usage"), repeat(child, "repeat")), []))
                walk(child, f"{path}{name}/")
            elif child.tag == "segment" and child.get("xid") not in ENVELOPE:
                parts = [theirs(e) for e in child if e.tag in {"element", "composite"}]
                place = path + child.get("xid") + their_key(child.get("xid"), parts)
                rows.append(((place, child.findtext("usage"), repeat(child, "max_use")), parts))

    walk(ET.parse(MAPS / MAP_OF[kind]).getroot(), "")
    return rows


def their_key(id: str, parts: list[dict]) -> str:
    if id == "HI":
        codes = parts[0]["parts"][0]["codes"]
    elif id in KEYS:
        codes = parts[int(KEYS[id]) - 1]["codes"]
    else:
        codes = ()
    return ":" + "|".join(codes) if codes else ""


def repeat(node: ET.Element, tag: str) -> int:
    text = node.findtext(tag)
    return 0 if text == ">1" else int(text)


def theirs(e: ET.Element) -> dict:
    codes = tuple(sorted(code.text for code in e.findall("valid_codes/code")))
    parts = [theirs(part) for part in e.findall("element")]
    form = "composite" if e.tag == "composite" else element_forms()[e.findtext("data_ele")]
    return {"usage": e.findtext("usage"), "codes": codes, "list": "", "form": form, "parts": parts}
