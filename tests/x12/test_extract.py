"""A part of a file is a complete interchange with the loops around it, and nothing about others."""

import pytest

from clearlane.x12.reader import reader
from clearlane.x12.reader.extract import ExtractSpec, UnitExtractor, extract_loops, extract_ta1
from clearlane.x12.reader.lexer import read_as_utf8
from tests.x12.views.test_views import file

SPEC = ExtractSpec(
    repeated=frozenset({"2000A", "2000B", "2000C", "2000D", "2200D"}),
    sums=frozenset({"QTY", "AMT"}),
    sum_elements={"STC": 4},
)
HEAD = (
    "BHT*0085*08*77*20240501*0900*TH", "HL*1**20*1", "NM1*PR*2*MEADOW MUTUAL*****PI*MM001", "TRN*1*9",
    "DTP*050*D8*20240501", "DTP*009*D8*20240501", "HL*2*1*21*1", "NM1*41*2*CLEARLANE*****46*CL0001", "TRN*2*B17",
    "STC*A1:19:PR*20240501*WQ*300", "QTY*90*2", "AMT*YU*300", "HL*3*2*19*1",
    "NM1*85*2*FERNHILL FAMILY PRACTICE*****XX*1234567893", "TRN*1*0", "STC*A1:19:PR**WQ*300*20240501",
)  # fmt: skip
FIRST = ("NM1*QC*1*ARDEN*ROSA****MI*M1", "TRN*2*C1", "STC*A2:20:PR*20240501*WQ*100")
SECOND = ("NM1*QC*1*LUND*IVO****MI*M2", "TRN*2*C2", "STC*A2:20:PR*20240501*WQ*150")
THIRD = ("TRN*2*C3", "STC*A2:20:PR*20240501*WQ*50")
STATUSES = file("277CA", *HEAD, "HL*4*3*PT", *FIRST, "HL*5*3*PT*0", *SECOND, *THIRD)


def units(data):
    return [event for event in reader.read(data) if isinstance(event, reader.UnitClosed)]


def rows(part):
    return part.decode().split("~")


def test_a_unit_comes_with_the_loops_around_it_and_without_its_neighbors():
    first, second = units(STATUSES)
    around = [
        *HEAD[:9], "STC*A1:19:PR*20240501*WQ", *HEAD[12:15], "STC*A1:19:PR**WQ**20240501",
    ]  # fmt: skip
    part = rows(UnitExtractor(SPEC).extract(first))
    assert part[:3] == rows(STATUSES)[:3]
    # The level does not say that none follows, and is left so.
    assert part[3:-4] == [*around, "HL*4*3*PT", *FIRST]
    assert part[-4:] == [f"SE*{len(part) - 5}*0001", "GE*1*17", "IEA*1*000000017", ""]
    inner = second.loop.position + 4
    for position, kept in ((inner - 1, SECOND), (inner, (SECOND[0], *THIRD))):
        part = rows(UnitExtractor(SPEC).extract(second, position))
        assert part[3:-4] == [*around, "HL*4*3*PT*0", *kept]


@pytest.mark.safe_default(13)
@pytest.mark.parametrize(
    "name", ["MEADOW ÉCOLE".encode(), b"MEADOW \xc9COLE", "MEADOW — Ł".encode()]
)
def test_a_part_of_a_file_with_other_letters_shows_them(name):
    content = STATUSES.replace(b"MEADOW MUTUAL", name)
    first, _ = (
        event for event in reader.read(content, check=False) if isinstance(event, reader.UnitClosed)
    )
    part = UnitExtractor(SPEC).extract(first)
    shown = read_as_utf8(name.decode("latin-1"))
    assert shown in read_as_utf8(part.decode("latin-1"))
    # The part is read again as the file was.
    assert [shown] == [
        segment[3]
        for segment in next(reader.parse(part, check=False).sets()).all_segments()
        if segment[:2] == ["NM1", "PR"]
    ]


def test_a_segment_that_ends_before_its_sum_stays_as_it_is():
    short = STATUSES.replace(b"STC*A1:19:PR*20240501*WQ*300", b"STC*A1:19:PR*20240501")
    part = rows(UnitExtractor(SPEC).extract(units(short)[0]))
    assert "STC*A1:19:PR*20240501" in part


def test_a_part_may_be_the_loops_around_alone():
    first, _ = units(STATUSES)
    part = rows(extract_loops(first.set, first.parents[:3], (), SPEC))
    assert [row for row in part if row.startswith("HL")] == ["HL*1**20*1", "HL*2*1*21*0"]


def test_closing_segments_follow_the_part():
    rejected = ("AK2*837*0001", "IK5*R*5")
    data = file("999", "AK1*HC*17*005010X222A1", *rejected, "AK2*837*0002", "IK5*A", "AK9*P*2*2*1")
    spec = ExtractSpec(repeated=frozenset({"2000"}), closing=frozenset({"AK9"}))
    [set] = reader.parse(data).sets()
    loop = set.root.loop("2000")
    part = rows(extract_loops(set, (set.root,), loop.all_segments(), spec))
    assert part[3:-4] == ["AK1*HC*17*005010X222A1", *rejected, "AK9*P*2*2*1"]


@pytest.mark.parametrize("separators", ["*~", "|\n"])
def test_one_ta1_is_an_interchange_of_its_own(separators):
    element, end = separators
    lines = rows(file("835"))
    text = "~".join([lines[0], "TA1*000000021*240501*1200*R*001", *lines[1:]])
    data = text.replace("*", element).replace("~", end).encode()
    [interchange] = reader.parse(data).interchanges
    part = extract_ta1(interchange, interchange.stray[0][1]).decode().split(end)
    assert [row.split(element)[:2] for row in part[1:]] == [
        ["TA1", "000000021"],
        ["IEA", "0"],
        [""],
    ]
