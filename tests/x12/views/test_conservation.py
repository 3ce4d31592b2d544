"""Nothing is lost on the way into a view: every value of a file is in a field or in ``other``."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from clearlane.x12 import guides, views
from clearlane.x12.automaton import LoopPlan, compile_guide
from clearlane.x12.delimiters import Delimiters
from clearlane.x12.reader import reader
from clearlane.x12.show.reformat import reformat
from clearlane.x12.views.original import SeparatorRestorer
from tests.cases import every_case, fewer_in_quick, full_or_quick
from tests.corpus import corpus_files
from tests.x12 import samples837, samples_other
from tests.x12.views.leaves import file_values, segments, separators, view_values

OTHER_KINDS = ["270", "271", "276", "277", "277CA", "835", "999"]
CLAIM_KINDS = ["837P", "837D", "837I"]


def random_file(kind, seed, sets=2):
    """A valid file, richly filled."""
    rng = Random(seed)
    if kind in CLAIM_KINDS:
        rows = [samples837.claims(rng, kind, number=n + 1) for n in range(sets)]
        return samples837.interchange(kind, rows).encode()
    rows = [samples_other.made(rng, kind, number=n + 1) for n in range(sets)]
    return samples_other.interchange(kind, rows).encode()


def lost(data):
    """What is in the file and not in its views."""
    inner = separators(data)
    found = list(views.read_views(data))
    return file_values(data) - view_values(found, *inner)


def lost_in_stream(data):
    """The same while streaming, the envelopes left out."""
    inside = [row for row in segments(data) if row[0] not in {"ISA", "GS", "GE", "IEA", "TA1"}]
    component, repetition = separators(data)
    header = next(segments(data))
    body = header[0] + "*" + "*".join(header[1:])
    plain = body + "~" + "~".join("*".join(row) for row in inside) + "~"
    wanted = file_values(plain.encode("latin-1"))
    wanted -= file_values((body + "~").encode("latin-1"))
    pieces = [[piece.part, piece.unit, piece.view] for piece in views.stream_views(data)]
    return wanted - view_values(pieces, component, repetition)


@every_case("kind", fewer_in_quick([*CLAIM_KINDS, *OTHER_KINDS], 2))
@every_case("seed", range(full_or_quick(3, 1)))
def test_every_value_of_a_random_file_is_in_its_view(kind, seed):
    data = random_file(kind, seed)
    assert not lost(data)
    assert not lost_in_stream(data)


@every_case("sample", fewer_in_quick(corpus_files(), 3))
def test_every_value_of_a_public_file_is_in_its_view(sample):
    data = sample.path.read_bytes()
    if list(reader.parse(data, check=False).findings):
        pytest.skip("characters outside any interchange are in no view")
    if len(list(views.read_views(data))) == 1:
        assert not lost(data)


def units_of(set):
    """The views of the units in a set that was read as a whole."""
    if set.guide is None:
        return []
    restorer = SeparatorRestorer(set.group.interchange.delimiters)

    def found(loop, builder):
        for child in loop.loops(*builder.loops):
            inner = builder.loops[child.node.id].builder
            if child.node.id == set.guide.unit:
                yield restorer.restore(inner(child))
            else:
                yield from found(child, inner)

    return found(set.root, views.BUILDERS[set.guide.kind])


def without_units(one):
    """The view of a set as a stream ends it: without its units and the loops around them."""
    if not one.kind:
        return one.view
    root = compile_guide(guides.by_kind(one.kind)).root
    around = {c.node.id for c in root.children if isinstance(c, LoopPlan) and c.holds_unit}
    loops = views.BUILDERS[one.kind].loops
    return replace(one.view, **{loops[id].field: () for id in around})


@every_case("sample", fewer_in_quick(corpus_files(), 3))
def test_a_streamed_file_yields_the_same_views_as_a_whole_one(sample):
    data = sample.path.read_bytes()
    whole = [one for file in views.read_views(data) for one in file.sets]
    pieces = list(views.stream_views(data))
    ends = [(p.kind, p.control, p.view) for p in pieces if p.view is not None]
    assert ends == [(one.kind, one.control, without_units(one)) for one in whole]
    sets = reader.parse(data, check=False).sets()
    units = [p.unit for p in pieces if p.unit is not None]
    assert units == [unit for set in sets for unit in units_of(set)]
    streamed = view_values([[p.part, p.unit, p.view] for p in pieces])
    assert not view_values([one.view for one in whole]) - streamed


@pytest.mark.parametrize("kind", [*CLAIM_KINDS, *OTHER_KINDS])
def test_a_view_is_the_same_whatever_the_separators(kind):
    data = random_file(kind, 10, sets=1)
    for target in (Delimiters("|", ">", "!", "\x1c"), Delimiters(":", "*", "~", "^", "\r\n")):
        again = b"".join(reformat(data, target))
        assert [one.view for one in next(views.read_views(again)).sets] == [
            one.view for one in next(views.read_views(data)).sets
        ]
        assert list(views.stream_views(again)) == list(views.stream_views(data))


def test_data_that_was_swapped_inside_comes_back():
    # A file that separates with | may hold a * in its data.
    data = random_file("835", 7, sets=1)
    again = b"".join(reformat(data, Delimiters("|", ">", "!", "\n")))
    again = again.replace(b"N1|PR|", b"N1|PR|A*B:C^D~E ", 1)
    payer = next(next(views.read_views(again)).sets).view.payer
    assert payer.name.startswith("A*B:C^D~E ")
    streamed = [p.view for p in views.stream_views(again) if p.view is not None]
    assert streamed[0].payer.name == payer.name
    assert payer.role_words == "Payer"


def test_segments_in_other_come_back_in_the_files_own_separators():
    data = random_file("835", 7, sets=1)
    again = b"".join(reformat(data, Delimiters("|", ">", "!", "\n")))
    again = again.replace(b"\nLX|", b"\nZZ1|A>B|*\nLX|", 1)
    view = next(next(views.read_views(again)).sets).view
    assert ["ZZ1", "A>B", "*"] in [*view.other, *view.payee.other]


@settings(max_examples=full_or_quick(60, 6), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_shuffled_and_broken_sets_lose_nothing(data):
    kind = data.draw(st.sampled_from([*CLAIM_KINDS, *OTHER_KINDS]))
    rows = list(segments(random_file(kind, data.draw(st.integers(0, 3)), sets=1)))
    body = rows[3:-3]
    order = data.draw(st.permutations(range(len(body)))) if len(body) < 120 else range(len(body))
    dropped = data.draw(st.sets(st.integers(0, len(body) - 1), max_size=5))
    mixed = [body[at] for at in order if at not in dropped]
    text = "".join("*".join(row) + "~" for row in [*rows[:3], *mixed, *rows[-3:]])
    assert not lost(text.encode("latin-1"))
    assert not lost_in_stream(text.encode("latin-1"))
