"""The vocabulary of guides, the registry of guides, and the registry of rules.

Also tests `x12/guides/dictionary` and `x12/guides/common`.
"""

import pytest

from clearlane.kernel.finding import Severity
from clearlane.x12 import guides, rules, tree
from clearlane.x12.grammar import Guide, LoopSpec, apply_usage, dictionary_segment, loop, make_seg
from clearlane.x12.guides.dictionary import DICTIONARY, seg
from clearlane.x12.path import parse_path
from tests.cases import every_case

THING = dictionary_segment(
    "A thing",
    """
Kind: ID 2-3
Parts: C
  First: ID 2-2
  Second: AN 1-48
Name: AN 1-60
""",
    syntax="P0203 R0103",
    key=(2, 1),
)


def test_a_dictionary_row_is_read_from_its_lines():
    kind, parts, name = THING.elements
    assert (kind.number, kind.name, kind.type, kind.min, kind.max) == (1, "Kind", "ID", 2, 3)
    assert [(p.number, p.name, p.max) for p in parts.components] == [
        (1, "First", 2),
        (2, "Second", 48),
    ]
    assert (name.number, parts.type) == (3, "C")
    assert THING.syntax == ("P0203", "R0103")


def test_a_pattern_narrows_the_dictionary():
    kind, parts, name = apply_usage(THING.elements, "R=85|87 S(R=HC R<5)*3 S=@names<20>2")
    assert (kind.usage, kind.codes) == ("R", ("85", "87"))
    assert (parts.usage, parts.repeat) == ("S", 3)
    assert (parts.components[0].codes, parts.components[1].max) == (("HC",), 5)
    assert (name.code_list, name.codes, name.max, name.min) == ("names", (), 20, 2)


def test_elements_after_the_last_token_are_not_used():
    assert [e.usage for e in apply_usage(THING.elements, "R")] == ["R", "N", "N"]
    assert [e.usage for e in apply_usage(THING.elements, "R - S")] == ["R", "N", "S"]


def test_malformed_patterns_are_refused():
    with pytest.raises(ValueError, match="not understood"):
        apply_usage(THING.elements, "R Q")
    with pytest.raises(ValueError, match="more than 3"):
        apply_usage(THING.elements, "R R R R")


def test_a_segment_knows_its_qualifiers():
    thing = make_seg({"XX": THING})
    assert thing("XX", "A", "R", 1, "R S(R=A|B R)").qualifiers == ("A", "B")
    assert thing("XX", "A", "R", 1, "R=85", key=(1, 0)).qualifiers == ("85",)
    assert thing("XX", "A", "R", 1, "R", key=(0, 0)).qualifiers == ()


def test_a_loop_knows_what_opens_it():
    head = seg("HL", "Level", "R", 1, "R")
    inner = loop("2", "Inner", "R", 1, head)
    assert loop("1", "Outer", "R", 1, inner).head is head


@pytest.mark.parametrize("kind", guides.KINDS)
def test_every_guide_is_found_by_kind_and_version(kind):
    guide = guides.by_kind(kind)
    assert isinstance(guide, Guide)
    assert guide.kind == kind
    assert guides.by_version(guide.transaction, guide.id) is guide
    for name in guide.all_ids:
        assert guides.by_version(guide.transaction, name) is guide


def test_unknown_versions_have_no_guide():
    assert guides.by_version("837", "005010X999") is None
    assert guides.by_version("837", "005010X222A9") is None
    assert guides.by_version("835", "005010X222A1") is None
    assert guides.by_version("", "") is None


def test_control_segments_are_in_the_dictionary():
    assert {"ISA", "GS", "ST", "SE", "GE", "IEA", "TA1"} <= DICTIONARY.keys()


@pytest.fixture
def registry():
    before = dict(rules.RULES)
    yield rules.RULES
    rules.RULES.clear()
    rules.RULES.update(before)


def test_a_rule_is_registered_with_its_sentence(registry):
    @rules.rule("T-1", loop="2300", kinds=("X",), snip=3, severity=Severity.WARNING, needs=("CLM",))
    def check(loop, ctx):
        """What must
        be true."""
        yield from ()

    found = registry["T-1"]
    assert found.sentence == "What must be true."
    assert (found.loops, found.kinds, found.snip, found.needs) == (("2300",), ("X",), 3, ("CLM",))
    assert rules.rules_for("X", "2300") == (found,)
    assert rules.rules_for("X", "2400") == rules.rules_for("Y", "2300") == ()


def test_a_rule_without_a_sentence_or_with_a_used_id_is_refused(registry):
    def silent(loop, ctx):
        yield from ()

    with pytest.raises(ValueError, match="needs a docstring"):
        rules.rule("T-2", loop="2300", kinds=("X",), snip=3)(silent)
    silent.__doc__ = "A sentence."
    rules.rule("T-2", loop=("1", "2"), kinds=("X",), snip=3)(silent)
    with pytest.raises(ValueError, match="defined twice"):
        rules.rule("T-2", loop="2300", kinds=("X",), snip=3)(silent)


def test_the_places_of_a_rule_are_in_its_guides():
    for kind in guides.KINDS:
        rules.rules_for(kind, rules.SET)
    for rule in rules.RULES.values():
        for place in rule.places:
            where = parse_path(place)
            nodes = [
                child
                for kind in rule.kinds
                for loop in loops_of(guides.by_kind(kind).root)
                if loop.id == where.loop
                for child in loop.children
                if child.id == where.id and where.qualifier in {"", *child.qualifiers}
            ]
            used = [node.elements[where.element - 1].usage for node in nodes]
            assert {"R", "S"} & {*used}, (rule.id, place)


def loops_of(loop):
    yield loop
    for child in loop.children:
        if isinstance(child, LoopSpec):
            yield from loops_of(child)


@every_case(
    ("text", "amount"),
    [
        ("0", 0), ("100", 10_000), ("8.2", 820), ("8.25", 825), ("-1.5", -150), (".5", 50),
        ("1.2500", 125), ("-.5", -50), ("1.255", None), ("", None), ("-", None), (".", None),
        ("-.", None), ("1,0", None), ("1E3", None), ("٣", None), ("9" * 30, None), ("5.", 500),
        ("--5", None),
    ],
)  # fmt: skip
def test_amounts_in_cents(text, amount):
    assert rules.parse_cents(text) == amount


def test_elements_of_each_segment():
    holder = tree.Loop(loop("1", "One", "R", 1))
    holder.items = [["REF", "A", "1"], ["REF", "B"], ["DTP", "C"]]
    assert [values for _, values in rules.each(holder, "REF", 1, 2)] == [("A", "1"), ("B", "")]
