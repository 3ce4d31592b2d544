"""What must hold for every guide that is data: one place a node, and no two ways to read a segment.

Also tests `x12/guides/g270`, `x12/guides/g271`, `x12/guides/g276`, `x12/guides/g277`, `x12/guides/g277ca`,
`x12/guides/g835`, `x12/guides/g999` and `x12/guides/ta1`.
"""

import pytest

from clearlane.kernel.finding import Severity
from clearlane.x12.grammar import Guide, LoopSpec, SegmentSpec
from clearlane.x12.guides import KINDS, by_kind, by_version
from clearlane.x12.reader.reader import parse
from tests.x12 import samples_other
from tests.x12.findings_of import all_findings

EARLIER = [
    ("270", "005010X279"),
    ("271", "005010X279"),
    ("835", "005010X221"),
    ("999", "005010X231"),
]


@pytest.fixture(params=KINDS)
def guide(request) -> Guide:
    return by_kind(request.param)


def nodes(loop: LoopSpec):
    for child in loop.children:
        yield child
        if isinstance(child, LoopSpec):
            yield from nodes(child)


def loops(guide: Guide):
    yield guide.root
    yield from (node for node in nodes(guide.root) if isinstance(node, LoopSpec))


def test_a_node_is_at_one_place_only(guide):
    found = list(nodes(guide.root))
    assert len({id(node) for node in found}) == len(found)


def test_siblings_of_one_id_are_distinguished_by_their_qualifiers(guide):
    for loop in loops(guide):
        seen: dict[str, set[str]] = {}
        for child in loop.children:
            if not isinstance(child, SegmentSpec):
                continue
            codes = set(child.qualifiers)
            assert child.id not in seen or (codes and seen[child.id]), (loop.id, child.name)
            assert not seen.get(child.id, set()) & codes, (loop.id, child.name)
            seen[child.id] = seen.get(child.id, set()) | codes


def test_a_set_begins_with_st_and_ends_with_se(guide):
    first, last = guide.root.children[0], guide.root.children[-1]
    assert (first.id, last.id) == ("ST", "SE")
    assert first.elements[0].codes == (guide.transaction,)
    version = first.elements[2]
    if guide.kind == "835":
        assert version.usage == "N"
    else:
        assert set(version.codes) == set(guide.all_ids)


def test_the_unit_is_a_loop_of_the_guide(guide):
    assert guide.unit in {loop.id for loop in loops(guide)}


def test_every_element_that_is_used_has_a_length_and_a_name(guide):
    for node in nodes(guide.root):
        for element in node.elements if isinstance(node, SegmentSpec) else ():
            assert element.name
            assert element.components or 0 < element.min <= element.max, (node.id, element)


@pytest.mark.parametrize(("kind", "version"), EARLIER)
def test_an_earlier_errata_name_is_read_as_the_guide_with_an_information(kind, version):
    guide = by_kind(kind)
    assert by_version(guide.transaction, version) is guide
    rows = samples_other.made(samples_other.Random(1), kind)
    text = samples_other.interchange(kind, [rows]).replace(guide.id, version)
    found = list(all_findings(parse(text.encode())))
    assert [(f.rule, f.severity) for f in found] == [("ST-EARLIER", Severity.INFO)]


def test_an_835_names_its_guide_in_the_group_only():
    rows = samples_other.made(samples_other.Random(1), "835")
    rows[0] = [*rows[0], "005010X221A1"]
    found = list(all_findings(parse(samples_other.interchange("835", [rows]).encode())))
    assert [(f.rule, f.position.segment_id, f.position.element) for f in found] == [
        ("ELM-UNUSED", "ST", 3)
    ]
