"""The code lists: each names its source, reads once, and agrees with the guides that use it.

Also tests `x12/codes/element_lists` and `x12/codes/short_lists`.
"""

import xml.etree.ElementTree as ET
from functools import cache
from importlib import resources
from pathlib import Path

import pytest
import pyx12

from clearlane.x12 import codes
from clearlane.x12.grammar import ElementSpec, LoopSpec, SegmentSpec
from clearlane.x12.guides import KINDS, by_kind, g270, ta1
from tests.cases import every_case

LISTS = codes.list_names()


@every_case("name", LISTS)
def test_a_list_names_its_source_and_has_each_code_once_with_words(name):
    text = (resources.files("clearlane.x12.codes") / "lists" / f"{name}.txt").read_text(
        encoding="utf-8"
    )
    lines = text.splitlines()
    comments = [line for line in lines if line.startswith("#")]
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    assert any(line.startswith("# Source: ") for line in comments)
    assert lines[: len(comments)] == comments, "comments stand first"
    assert len({row[0] for row in rows}) == len(rows)
    assert all(row[0].strip() == row[0] and row[1].strip() for row in rows)
    assert text.isascii()


def test_an_unknown_list_is_empty():
    assert dict(codes.load("no-such-list")) == {}
    assert codes.find_meaning("XYZ", 1, "A") == ""


def test_a_list_cannot_be_changed():
    with pytest.raises(TypeError):
        codes.load("states")["ZZ"] = "Nowhere"


def test_a_list_of_categories_has_the_meaning_of_a_code_by_its_category():
    revenue = codes.load("revenue_codes")
    assert revenue["0301"] == revenue["030x"] == "Laboratory"
    assert revenue["0023"].startswith("Home health")
    assert "0029" not in revenue
    assert len(revenue) == len(list(revenue)) >= 90


def test_an_open_list_holds_every_code_of_its_form():
    remarks = codes.load("rarc")
    assert "N130" in remarks
    assert "N9999" in remarks
    assert remarks["N9999"] == ""
    assert not codes.is_listed("rarc", "N9999")
    assert codes.is_listed("rarc", "N130")
    assert "X1" not in remarks
    assert 17 not in remarks
    with pytest.raises(KeyError):
        remarks["X1"]
    assert len(remarks) == len(list(remarks)) >= 150


@pytest.mark.parametrize(
    ("segment", "element", "code", "component", "words"),
    [
        ("CLP", 2, "22", 0, "Reversal of an earlier payment"),
        ("CAS", 8, "45", 0, "Charge is above the fee schedule or contracted amount"),
        ("STC", 10, "A7", 1, "Rejected: information is invalid"),
        ("STC", 1, "562", 2, "Entity's NPI"),
        ("PLB", 5, "WO", 1, "Overpayment recovery"),
        ("TA1", 5, "025", 0, "Control number was used before"),
        ("AAA", 3, "75", 0, "Subscriber was not found"),
        ("SV2", 1, "0129", 0, "Semi-private room"),
        ("SV2", 1, "0023", 0, "Home health rate (HIPPS)"),
        ("SVC", 4, "0050", 0, ""),
    ],
)
def test_a_code_has_a_meaning(segment, element, code, component, words):
    assert codes.find_meaning(segment, element, code, component) == words


def test_every_list_that_a_guide_or_an_element_names_is_there():
    named = {e.code_list for kind in KINDS for _, e in elements(kind) if e.code_list}
    assert named | set(codes.LISTS.values()) <= set(LISTS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_code_of_a_guide_has_a_meaning(kind):
    """Where a list explains an element, it explains each code that the guide admits there."""
    silent = {
        (place, code)
        for place, e in elements(kind)
        if place in codes.LISTS
        for code in e.codes
        if code not in codes.load(codes.LISTS[place])
    }
    assert silent == set()


def test_the_guides_admit_the_lists_in_full():
    assert set(g270.SERVICE_TYPES.split("|")) == set(codes.load("service_types"))
    assert set(ta1.NOTES.split("|")) == set(codes.load("ta1_notes"))


def test_lists_hold_what_the_witness_knows():
    """pyx12 carries some of the lists; what it has and we have not has a reason."""
    own_lists = {
        "states": "states",
        "country": "countries",
        "pos": "places_of_service",
        "claim_status_cat": "status_categories",
    }
    missing = {
        theirs: set(witness_codes(theirs)) - set(codes.load(mine))
        for theirs, mine in own_lists.items()
    }
    assert missing == {
        "states": set(),
        "country": {"AN", "TP", "YU"},  # Countries that are no more.
        "pos": set(),
        "claim_status_cat": set(),
    }
    assert {
        code for code in witness_codes("remark_code") if code not in codes.load("rarc")
    } == set()


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("carc", 400),
        ("rarc", 800),
        ("statuses", 680),
        ("states", 59),
        ("countries", 249),
        ("places_of_service", 50),
    ],
)
def test_the_large_lists_are_as_large_as_they_should_be(name, least):
    assert len(codes.load(name)) >= least


def test_reason_codes_know_their_groups_and_remarks():
    groups, remarks, withdrawn = (codes.load_column("carc", at) for at in (2, 3, 4))
    assert groups["23"] == "OA"
    assert set(" ".join(groups.values()).split()) <= set(codes.load("adjustment_groups"))
    assert {"16", "96", "A1"} <= set(remarks)
    assert set(withdrawn.values()) == {"withdrawn"}
    assert "45" not in withdrawn


def elements(kind: str):
    """Every element and component of a guide with its place."""

    def walk(node: LoopSpec):
        for child in node.children:
            if isinstance(child, SegmentSpec):
                for e in child.elements:
                    yield (child.id, e.number, 0), e
                    for part in e.components:
                        yield (child.id, e.number, part.number), part
            else:
                yield from walk(child)

    found: list[tuple[tuple[str, int, int], ElementSpec]] = [
        row for row in walk(by_kind(kind).root) if row[1].usage != "N"
    ]
    return found


@cache
def witness_codes(name: str) -> list[str]:
    root = ET.parse(Path(pyx12.__file__).parent / "map" / "codes.xml").getroot()
    found = next(node for node in root.iter("codeset") if node.findtext("id") == name)
    return [code.text for code in found.iter("code")]
