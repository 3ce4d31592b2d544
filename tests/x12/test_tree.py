"""Trees: loops, their segments and positions."""

from clearlane.x12 import tree
from clearlane.x12.delimiters import Delimiters
from clearlane.x12.tree import DroppedLoops, Loop
from tests.x12.toy import BODY, file, read


def claim() -> tree.Loop:
    (found,) = next(read(file()).sets()).root.descendants("2300")
    return found


def test_segments_are_found_by_id_and_qualifier():
    loop = claim()
    assert [s[1] for s in loop.segments("DTP")] == ["431", "472"]
    assert loop.segment("DTP", "472")[2] == "RD8"
    assert loop.segment("DTP", "999") is None
    assert loop.segment("CLM", "Y", at=6) is not None
    assert loop.segment("CLM", "Y", at=60) is None


def test_values_are_empty_where_there_is_none():
    loop = claim()
    assert loop.value("CLM", 1) == "A1"
    assert loop.value("CLM", 5, component=3) == "1"
    assert loop.value("CLM", 5, component=9) == ""
    assert loop.value("CLM", 50) == loop.value("ZZZ", 1) == ""
    assert loop.value("DTP", 3, "431") == "20240420"


def test_loops_are_found_by_id():
    loop = claim()
    assert loop.id == "2300"
    assert [child.id for child in loop.loops()] == ["2310B", "2400", "2400"]
    assert loop.loop("2400").value("LX", 1) == "1"
    assert loop.loop("9999") is None
    assert len(list(next(read(file()).sets()).root.descendants("2400", "2310B"))) == 3


def test_a_walk_gives_every_segment_in_order():
    set = next(read(file()).sets())
    assert ["*".join(s) for s in set.all_segments()][1:-1] == BODY
    assert set.root.size() == len(BODY) + 2
    assert (set.control, set.header[0], set.number) == ("0001", "ST", 1)


def test_positions_count_from_the_header():
    set = next(read(file()).sets())
    for position, segment in enumerate(set.all_segments(), 1):
        found = set.root.find(segment)
        assert found is not None
        assert found[0] == position
    assert set.root.find(["REF"]) is None


def test_what_was_dropped_still_counts():
    root = next(read(file()).sets()).root
    subscriber = root.loop("2000A").loop("2000B")
    after = ["K3", "X"]
    subscriber.items.append(after)
    position = subscriber.find(after)[0]
    claim_loop = subscriber.loop("2300")
    size, index = claim_loop.size(), subscriber.items.index(claim_loop)
    del subscriber.items[-1]
    subscriber.drop_last(size)
    subscriber.items.append(after)
    assert subscriber.find(after)[0] == position
    # The same loop again adds to the same entry.
    subscriber.items[-1:] = [Loop(claim_loop.node)]
    subscriber.drop_last(1)
    subscriber.items.append(after)
    assert subscriber.find(after)[0] == position + 1
    # Another loop, or another index, gets an entry of its own.
    other = subscriber.loop("2010BA").node
    subscriber.items[-1:] = [Loop(other)]
    subscriber.drop_last(2)
    subscriber.items += [after, Loop(other)]
    subscriber.drop_last(4)
    assert subscriber.find(after)[0] == position + 3
    assert subscriber.dropped == [
        DroppedLoops(index, size + 1, claim_loop.node),
        DroppedLoops(index, 2, other),
        DroppedLoops(index + 1, 4, other),
    ]
    assert subscriber.size() == position + 3 - subscriber.position + 5


def test_loops_are_equal_by_what_they_hold():
    first, second = claim(), claim()
    assert first == second
    second.items[0][1] = "OTHER"
    assert first != second
    assert first != first.items


def test_a_loop_shows_its_shape_and_never_its_content():
    assert repr(claim()) == "Loop(2300, 10 items)"


def test_parts_of_a_file_know_their_numbers():
    group = next(read(file()).sets()).group
    assert (group.control, group.version[:6]) == ("1", "009990")
    assert group.interchange.control == "000000001"
    other = tree.Interchange(1, ["ISA"], Delimiters("|", ">", "!", "'"))
    assert other.to_original("A|B*C") == "A*B|C"
    assert other.control == ""


def test_parts_of_an_element():
    assert tree.split_components("HC:99213") == ["HC", "99213"]
    assert tree.split_repetitions("30^35") == ["30", "35"]
    assert tree.get_element(["A", "B"], 1) == "B"
    assert tree.get_element(["A"], 1) == ""
