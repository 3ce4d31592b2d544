"""A file is followed in order, its loops as the tree has them, in constant memory."""

import tracemalloc
from random import Random

from clearlane.x12 import tree
from clearlane.x12.reader import reader
from clearlane.x12.reader.outline import LoopClosed, LoopOpened, OutlineSegment, iter_outline
from tests.cases import every_case, fewer_in_quick, full_or_quick
from tests.corpus import corpus_files
from tests.x12 import samples837
from tests.x12.views.test_conservation import CLAIM_KINDS, OTHER_KINDS, random_file


def rows_of_tree(data):
    """What the outline of a file must be, from its whole tree."""

    def loop_rows(loop, position):
        for item in loop.items:
            if isinstance(item, tree.Loop):
                yield "open", item.node.id, item.position
                yield from loop_rows(item, item.position - 1)
                position = item.position + item.size() - 1
                yield "close", item.node.id, 0
            else:
                position += 1
                yield item, loop.node.id, position

    for set in reader.parse(data, check=False).sets():
        yield from loop_rows(set.root, 0)


def rows_of_outline(source):
    for event in iter_outline(source):
        match event:
            case OutlineSegment(segment, loop, _, position) if loop is not None:
                yield segment, loop.node.id, position
            case LoopOpened(loop):
                yield "open", loop.node.id, loop.position
            case LoopClosed(loop):
                yield "close", loop.node.id, 0


@every_case("kind", fewer_in_quick([*CLAIM_KINDS, *OTHER_KINDS], 3))
@every_case("size", [1, 97, 65_536])
def test_loops_and_segments_are_those_of_the_tree_whatever_the_chunks(kind, size):
    data = random_file(kind, 3)
    chunks = (data[at : at + size] for at in range(0, len(data), size))
    assert list(rows_of_outline(chunks)) == list(rows_of_tree(data))


@every_case("sample", fewer_in_quick(corpus_files(), 3))
def test_loops_and_segments_of_public_files_are_those_of_the_tree(sample):
    data = sample.path.read_bytes()
    assert list(rows_of_outline(data)) == list(rows_of_tree(data))


def test_sets_and_groups_are_let_go_once_they_are_closed():
    rows = [samples837.claims(Random(n), "837P", number=n) for n in (1, 2, 3)]
    held = []
    for event in iter_outline(samples837.interchange("837P", rows).encode()):
        match event:
            case reader.SetClosed(set):
                held.append(len(set.group.sets))
            case reader.GroupClosed(group):
                held.append(len(group.interchange.groups))
    assert held == [0, 0, 0, 0]


def test_a_large_set_is_never_held_as_a_whole():
    rows = samples837.claims(Random(1), "837P", subscribers=full_or_quick(200, 40))
    data = samples837.interchange("837P", [rows]).encode()
    chunks = [data[at : at + 4_096] for at in range(0, len(data), 4_096)]
    assert list(iter_outline(chunks))  # what is remembered of the guide is no part of the file
    tracemalloc.start()
    for _ in iter_outline(chunks):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Its tree would take more than ten times the bytes of the file.
    assert peak < 3 * len(data)
