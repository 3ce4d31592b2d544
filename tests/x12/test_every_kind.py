"""One small file of each kind: cut at every byte, fed in any chunks, streamed and read whole."""

import re
import tracemalloc
from collections.abc import Iterator
from functools import cache
from random import Random

import pytest

from clearlane.kernel import limits
from clearlane.kernel.finding import Finding, Severity
from clearlane.x12 import guides
from clearlane.x12.checker.check import check, event_findings
from clearlane.x12.checker.collector import FINDINGS_PER_SET_MAX
from clearlane.x12.reader.reader import InterchangeOpened, Reader, UnitClosed, parse, read
from clearlane.x12.writer.writer import write
from tests.cases import by_profile, every_case, fewer_in_quick, full_or_quick
from tests.x12 import samples837, samples_other
from tests.x12.findings_of import all_findings

ISA = "ISA*00*          *00*          *ZZ*SENDER         *ZZ*RECEIVER       *240501*1200*^*00501*000000017*0*T*:"
TA1 = f"{ISA}~TA1*000000005*240501*1200*A*000~IEA*0*000000017~"
# The seed that gives the smallest clean file of a kind when nothing situational is filled.
SEEDS = {"270": 28, "271": 51, "276": 59, "277": 24, "277CA": 33, "835": 24, "999": 42}
CLAIMS = ("837P", "837D", "837I")
KINDS = (*CLAIMS, *SEEDS, "TA1")
SETS = (*CLAIMS, *SEEDS)
BYTES_MAX = 1_200


@cache
def small(kind: str) -> bytes:
    """A clean file of a kind, small enough to be cut everywhere."""
    if kind == "TA1":
        text = TA1
    elif kind in CLAIMS:
        text = samples837.interchange(kind, [samples837.plain(kind)])
    else:
        rows = samples_other.made(Random(SEEDS[kind]), kind, fill=0.0)
        text = samples_other.interchange(kind, [rows])
    return text.replace("~\n", "~").replace("*000000001", "*000000017").encode()


def in_order(found: list[Finding] | Iterator[Finding]) -> list[str]:
    """Return findings sorted: a stream yields those of sets first, a tree those of envelopes."""
    return sorted(map(repr, found))


def fed(data: bytes, sizes: Iterator[int]) -> list[Finding]:
    """The findings of a streaming reader that gets its bytes in pieces."""
    reader, at, events = Reader(), 0, []
    for size in sizes:
        if at >= len(data):
            break
        events += reader.feed(data[at : at + size])
        at += size
    events += reader.finish()
    return [finding for event in events for finding in event_findings(event)]


def every(size: int) -> Iterator[int]:
    while True:
        yield size


def at_random(seed: int) -> Iterator[int]:
    rng = Random(seed)
    while True:
        yield rng.randint(1, 90)


def faulty(kind: str) -> Iterator[bytes]:
    """The file with each segment of its set left out, doubled, or behind one that nobody knows."""
    rows = small(kind).split(b"~")
    for at in range(3, len(rows) - 3):
        yield b"~".join([*rows[:at], *rows[at + 1 :]])
        yield b"~".join([*rows[:at], rows[at], *rows[at:]])
        yield b"~".join([*rows[:at], b"ZZZ*1", *rows[at:]])


@pytest.mark.parametrize("kind", KINDS)
def test_the_small_files_are_small_and_clean(kind):
    verdict = check(small(kind))
    assert len(small(kind)) < BYTES_MAX
    assert verdict.readable
    assert not verdict.errors


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_cut_at_any_byte_ends_in_findings_and_keeps_its_segments(kind):
    data = small(kind)
    header = len(ISA) + 1
    for cut in range(0, len(data), by_profile(thorough=1, usual=3, quick=5)):
        part = data[:cut]
        file = parse(part)
        assert any(f.severity is Severity.ERROR for f in all_findings(file)), cut
        # Before the terminator of the ISA there is nothing that could be kept. Blanks at a cut could be
        # the end of a file as well.
        kept = part.rstrip(b" ~") + b"~" if cut >= header else b""
        assert write(file) == kept, cut


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_file_streams_to_the_same_findings(kind):
    data = small(kind)
    for cut in range(0, len(data), full_or_quick(11, 47)):
        assert in_order(check(data[:cut]).findings) == in_order(all_findings(parse(data[:cut])))


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_change_nothing(kind):
    # Doubling a segment breaks the count, so that there is something to find; a TA1 has no set.
    whole = small(kind)
    data = whole if kind == "TA1" else list(faulty(kind))[1]
    wanted = list(check(data).findings)
    assert (wanted != []) == (kind != "TA1")
    for sizes in (every(1), every(7), every(64), at_random(1), at_random(2)):
        assert fed(data, sizes) == wanted


@pytest.mark.parametrize("kind", SETS)
def test_streams_and_trees_find_the_same_faults_at_the_same_spots(kind):
    for data in faulty(kind):
        found = check(data).findings
        assert any(f.severity is Severity.ERROR for f in found)
        assert in_order(found) == in_order(all_findings(parse(data)))


def test_a_missing_segment_after_units_is_reported_where_it_was_expected():
    rows = small("999").split(b"~")
    last = next(at for at, row in enumerate(rows) if row.startswith(b"AK9"))
    data = b"~".join([*rows[:last], *rows[last + 1 :]])
    (found,) = [f for f in check(data).findings if f.rule == "SEG-MISSING"]
    # ISA and GS precede the ST, which is segment 1.
    assert (found.position.segment, found.position.file_segment) == (last - 1, last + 1)


# --- Several interchanges in one file -----------------------------------------------------------------


def swapped(data: bytes, control: bytes, separators: bytes) -> bytes:
    """The file under another control number and in other separators."""
    data = data.replace(b"000000017", control)
    return data.translate(bytes.maketrans(b"*:^~", separators))


@pytest.mark.parametrize("kind", KINDS)
def test_interchanges_of_one_file_have_separators_of_their_own(kind):
    parts = [
        small(kind),
        swapped(small(kind), b"000000018", b"|>}\n"),
        swapped(small(kind), b"000000019", b"\x1d\x1f\x1e\x1c"),
    ]
    data = b"\xef\xbb\xbf" + b" \r\n".join(parts) + b"  \n"
    file = parse(data)
    assert not any(f.severity is Severity.ERROR for f in all_findings(file))
    assert write(file) == b"".join(parts)
    assert in_order(fed(data, every(1))) == in_order(all_findings(file))


@every_case("separators", [b"|>}\n", b"~|^\n", b"\x1d\x1f\x1e\x1c"])
def test_what_separates_in_other_files_is_data_here(separators):
    whole = small("837P")
    street = whole[whole.index(b"N3*") + 3 :].split(b"~")[0]
    held = bytes(mark for mark in b"*:~" if mark not in separators)
    for mark, rules in ((held, []), (b"\x02", ["ELM-CHARACTER"])):
        data = swapped(whole, b"000000018", separators).replace(street, b"4 " + mark)
        found = {finding.rule for finding in check(data).findings}
        assert found == set(rules)


@every_case("separators", [b"*:^~", b"|>}\n", b"~|*:"])
@every_case("kind", fewer_in_quick(KINDS, 3))
@pytest.mark.slow
def test_a_file_behind_a_cut_one_is_found(kind, separators):
    second = swapped(small(kind), b"000000018", separators)
    first = small("837P")
    for cut in (300, 301, 333, 500, len(first) - 3):
        data = first[:cut] + second
        file = parse(data)
        assert [i.control for i in file.interchanges] == ["000000017", "000000018"]
        assert write(file) == first[:cut].rstrip(b" ~") + b"~" + second
        reported = [f.rule for f in file.interchanges[0].findings]
        assert ("FILE-CUT" in reported) == (not first[:cut].endswith(b"~"))
        assert "IEA-MISSING" in reported or cut > 500
        errors = [f for f in all_findings(file) if f.position.interchange == 2]
        assert not [f for f in errors if f.severity is Severity.ERROR]
        for sizes in (every(1), every(7), at_random(cut)):
            assert in_order(fed(data, sizes)) == in_order(all_findings(file))


def test_a_name_that_ends_like_a_header_is_a_name():
    (person,) = re.findall(rb"NM1\*IL\*1\*\w+\*(\w+)", small("837P"))
    data = small("837P").replace(b"*" + person + b"*", b"*LISA*")
    assert b"*LISA*" in data
    assert not check(data).errors
    ends = data.replace(b"*LISA*", b"*DORTIEA*")
    assert check(ends) == check(data)
    cut = data[: data.index(b"CLM*")] + b"NTE*ADD*VISA"
    assert write(parse(cut)) == cut + b"~"
    # Separators at the positions of a header do not make a header of other text.
    like = ISA.replace("ISA", "XISA").replace("*T*:", "*T*A") + "~"
    assert len(parse(data[:400] + like.encode() + b"K3*X~").interchanges) == 1


@pytest.mark.slow
def test_many_cut_files_take_no_more_memory_than_one():
    part = small("837P")[:-40]
    copies = 120

    def sent() -> Iterator[bytes]:
        for number in range(copies):
            yield part.replace(b"000000017", f"{number:09}".encode())

    list(read([part]))
    tracemalloc.start()
    seen = sum(isinstance(event, InterchangeOpened) for event in read(sent()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seen == copies
    assert peak < 512 * 1024


# --- Names of guides ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SETS)
def test_an_unknown_version_is_kept_and_checked_for_its_envelope(kind):
    version = guides.by_kind(kind).id.encode()
    data = small(kind).replace(version, b"005010X999")
    file = parse(data)
    (reported,) = [f for f in all_findings(file) if f.severity is Severity.ERROR]
    assert reported.rule == "ST-GUIDE"
    assert write(file) == data
    assert not [event for event in read(data) if isinstance(event, UnitClosed)]


@pytest.mark.parametrize(
    ("kind", "earlier"),
    [(kind, name) for kind in SETS for name in guides.by_kind(kind).earlier_ids],
)
def test_an_earlier_name_is_information_and_nothing_else(kind, earlier):
    now = guides.by_kind(kind).id
    data = small(kind).replace(now.encode(), earlier.encode())
    found = [f for f in check(data).findings if f not in check(small(kind)).findings]
    assert {(f.rule, f.severity) for f in found} == {("ST-EARLIER", Severity.INFO)}


@pytest.mark.safe_default(10)
@every_case(
    ("kind", "later"),
    [("837P", "005010X222A2"), ("837I", "005010X223A3"), ("837D", "005010X224A3")],
)
def test_a_later_erratum_is_not_called_earlier(kind, later):
    now = guides.by_kind(kind).id
    data = small(kind).replace(now.encode(), later.encode())
    (found,) = [f for f in check(data).findings if f not in check(small(kind)).findings]
    assert (found.rule, found.severity) == ("ST-LATER", Severity.INFO)
    assert "earlier" not in found.message


@pytest.mark.parametrize("name", ["005010X222", "005010X222A2", "005010X224A1", "005010X223A3"])
def test_the_names_seen_in_the_wild_are_known(name):
    assert guides.by_version("837", name) is not None


def test_an_835_with_a_version_in_its_header_is_read_and_reported():
    data = small("835").replace(b"ST*835*0001~", b"ST*835*0001*005010X221A1~")
    file = parse(data)
    (reported,) = [f for f in all_findings(file) if f.severity is Severity.WARNING]
    assert (reported.rule, reported.position.segment_id, reported.position.element) == (
        "ELM-UNUSED",
        "ST",
        3,
    )
    assert [set.guide.kind for set in file.sets()] == ["835"]
    assert write(file) == data


# --- Hostile sizes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SETS)
def test_sizes_of_a_hostile_file_are_limited(kind):
    rows = small(kind).split(b"~")
    long = b"REF*" + b"9" * limits.SEGMENT_BYTES_MAX
    many = [b"QQQ*"] * (FINDINGS_PER_SET_MAX + 20)
    data = b"~".join([*rows[:4], long, *many, *rows[4:]])
    found = check(data).findings
    rules = [f.rule for f in found]
    assert rules.count("FILE-LONG") == 1
    assert rules.count("LIMIT-FINDINGS") == 1
    errors = sum(f.severity is Severity.ERROR for f in found)
    assert errors <= FINDINGS_PER_SET_MAX + 10
    assert in_order(found) == in_order(all_findings(parse(data)))
