"""Files become trees: whatever the chunks, whatever the faults, and in little memory.

Also tests `x12/reader/loop_parser`, `x12/checker/collector`, `x12/reader/reader_events` and `x12/reader/envelope_state`.
"""

import io
import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearlane.kernel import limits
from clearlane.kernel.finding import Finding, Severity
from clearlane.x12 import guides
from clearlane.x12.checker.check import check, event_findings, iter_findings
from clearlane.x12.checker.collector import FINDINGS_PER_SET_MAX
from clearlane.x12.reader import reader
from clearlane.x12.reader.lexer import InterchangeHeader, Lexer, SegmentChunk
from clearlane.x12.reader.reader import (
    FileClosed,
    GroupClosed,
    GroupOpened,
    InterchangeClosed,
    InterchangeOpened,
    ParentClosed,
    Reader,
    SetClosed,
    SetOpened,
    UnitClosed,
    iter_chunks,
    parse,
    read,
)
from clearlane.x12.writer.writer import write
from tests.cases import by_profile, every_case, fewer_in_quick, full_or_quick
from tests.corpus import Sample, corpus_files
from tests.x12 import samples837
from tests.x12.findings_of import all_findings
from tests.x12.toy import (
    BODY,
    CLAIM,
    GUIDE,
    ISA,
    SUBSCRIBER,
    choose,
    file,
    findings_in,
    replaced,
    set_of,
    wrap,
)


def streamed(data: bytes, size: int = 0) -> list[Finding]:
    """The findings of a streaming reader fed in chunks."""
    fed = Reader(choose_guide=choose)
    events = []
    step = size or len(data) or 1
    for at in range(0, len(data), step):
        events += fed.feed(data[at : at + step])
    events += fed.finish()
    return [finding for event in events for finding in event_findings(event)]


def whole(data: bytes) -> list[Finding]:
    return list(all_findings(parse(data, choose_guide=choose)))


def segments(data: bytes) -> list[list[str]]:
    """The bare segments of a file."""
    lexer = Lexer()
    out = []
    for token in [*lexer.feed(data), *lexer.finish()]:
        if isinstance(token, InterchangeHeader):
            out.append(token.segment)
        elif isinstance(token, SegmentChunk):
            out += token.segments
    return out


def in_order(found: list[Finding]) -> list[tuple[object, ...]]:
    return sorted((f.rule, f.message, f.severity, str(f.position)) for f in found)


MANY = [*BODY, *(row.replace("HL*2", "HL*3") for row in SUBSCRIBER), *CLAIM, *CLAIM]


def test_a_clean_file_has_no_findings():
    assert findings_in(file()) == []


def test_events_come_in_file_order():
    events = list(read(file(MANY), choose_guide=choose))
    assert [type(event) for event in events] == [
        InterchangeOpened, GroupOpened, SetOpened, UnitClosed, ParentClosed, UnitClosed, UnitClosed,
        ParentClosed, ParentClosed, SetClosed, GroupClosed, InterchangeClosed, FileClosed,
    ]  # fmt: skip
    closed = [event for event in events if isinstance(event, ParentClosed)]
    assert [one.loop.id for one in closed] == ["2000B", "2000B", "2000A"]
    assert [loop.id for loop in closed[0].parents] == ["TOY", "2000A"]


def test_a_unit_comes_with_the_loops_around_it():
    units = [
        event for event in read(file(MANY), choose_guide=choose) if isinstance(event, UnitClosed)
    ]
    assert [unit.loop.id for unit in units] == ["2300"] * 3
    assert [loop.id for loop in units[0].parents] == ["TOY", "2000A", "2000B"]
    assert units[0].parent("2000A").loop("2010AA").value("NM1", 3) == "FERNHILL FAMILY PRACTICE"
    assert units[0].parent("2000B") is not units[1].parent("2000B")
    assert units[1].parent("2000B") is units[2].parent("2000B")
    assert units[0].parent("2010BA") is None
    assert units[0].set.guide is GUIDE


def test_units_are_dropped_once_they_are_reported():
    (closed,) = [e for e in read(file(MANY), choose_guide=choose) if isinstance(e, SetClosed)]
    assert [loop.id for loop in closed.set.root.loops()] == ["1000A"]
    assert closed.set.group.sets == []
    assert closed.set.root.size() == len(MANY) + 2


def test_a_whole_tree_keeps_everything_and_yields_no_units():
    events = list(read(file(MANY), stream=False, choose_guide=choose))
    assert not [event for event in events if isinstance(event, UnitClosed)]
    (set,) = parse(file(MANY), choose_guide=choose).sets()
    assert len(list(set.root.descendants("2300"))) == 3


def test_streaming_and_whole_trees_find_the_same():
    for old in BODY:
        for new in ([], [old, old], ["ZZZ*1"], [old + "*"], [old.lower()]):
            data = file(replaced(old, *new))
            assert in_order(streamed(data)) == in_order(whole(data))


@pytest.mark.parametrize("size", [1, 3, 17, 200])
def test_chunking_does_not_change_what_is_found(size):
    data = file(replaced("HL*2*1*22*0", "HL*3*9*22*1", "QQQ*1")) + b"junk" + file()
    assert streamed(data, size) == streamed(data)


def test_a_source_may_be_bytes_a_file_or_chunks():
    data = file()
    expected = [type(e) for e in read(data, choose_guide=choose)]
    assert [type(e) for e in read(io.BytesIO(data), choose_guide=choose)] == expected
    assert [type(e) for e in read([data[:50], data[50:]], choose_guide=choose)] == expected
    assert b"".join(iter_chunks(data * 100)) == data * 100


def test_a_reader_counts_segments():
    fed = Reader(choose_guide=choose)
    fed.feed(file())
    assert fed.segments == len(segments(file()))


def test_an_interchange_number_is_used_once_by_each_sender():
    first, other = file(), file().replace(b"*SENDER ", b"*ANOTHER")
    assert len(first) == len(other)
    assert first != other
    both = {f.rule for f in all_findings(parse(first + other, choose_guide=choose))}
    again = {f.rule for f in all_findings(parse(first + first, choose_guide=choose))}
    assert again - both == {"ISA-TWICE"}


def test_without_checks_the_order_is_still_reported():
    data = file(replaced("REF*G1*AUTH", "REF*G1*", "QQQ*1", "DTP*431*D8*1"))
    found = [f.rule for f in all_findings(parse(data, check=False, choose_guide=choose))]
    assert found == ["SEG-UNKNOWN", "SEG-ORDER", "SEG-REPEAT"]


# --- Writing back -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        file(),
        file(MANY).replace(b"*", b"|").replace(b":", b">").replace(b"~", b"\n"),
        wrap(["TA1*000000001*240501*1200*A*000", "K3*STRAY", *set_of(BODY), "K3*STRAY", *set_of(["QQQ*1"])]),
        wrap(set_of(BODY, version="005010X999"), version="005010X999"),
        wrap(set_of(BODY)[:-1]),
        wrap(["K3*STRAY"]),
        ISA.encode() + b"~TA1*000000001*240501*1200*A*000~K3*X~IEA*0*000000001~",
        ISA.encode() + b"~GS*HC~ST*837~",
        ISA.encode() + b"~GS*HC~GE*0~",
        file() + file(),
    ],
)  # fmt: skip
def test_writing_an_unchanged_tree_gives_the_same_bytes(data):
    assert write(parse(data, choose_guide=choose)) == data


@given(st.data())
@settings(max_examples=full_or_quick(60, 6))
def test_mutated_files_keep_every_segment(data):
    rows = list(MANY)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(rows) - 1))
        match data.draw(st.integers(0, 4)):
            case 0:
                del rows[at]
            case 1:
                rows.insert(at, data.draw(st.sampled_from(rows)))
            case 2:
                rows[at] = rows[at] + "*"
            case 3:
                rows[at] = data.draw(st.text("AB1*:^ \t", min_size=1, max_size=12)).strip() or "X"
            case _:
                rows[at], rows[0] = rows[0], rows[at]
    mutated = file(rows)
    tree = parse(mutated, choose_guide=choose)
    assert segments(write(tree)) == segments(mutated)
    assert in_order(streamed(mutated)) == in_order(list(all_findings(tree)))


def test_a_file_cut_at_any_byte_is_read_and_written_back():
    data = file()
    assert len(data) < 1_200
    for cut in range(0, len(data), by_profile(thorough=1, usual=3, quick=5)):
        part = data[:cut]
        tree = parse(part, choose_guide=choose)
        assert segments(write(tree)) == segments(part)
        assert any(f.severity is Severity.ERROR for f in all_findings(tree))


@pytest.mark.parametrize("kind", ["837P", "837D", "837I"])
def test_a_claim_of_each_kind_cut_at_any_byte_is_read(kind):
    data = samples837.interchange(kind, [samples837.plain(kind)]).encode()[:1_200]
    for cut in range(0, len(data), by_profile(thorough=1, usual=3, quick=5)):
        assert not check(data[:cut]).readable or cut > 100


@given(st.binary(max_size=600))
def test_garbage_ends_in_findings(data):
    verdict = check(data)
    assert verdict.errors
    assert not verdict.readable


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"<html><body>Not found</body></html>", b"{}", b"PK\x03\x04" * 99, b"\xff\xfe" * 50, b"ISA"],
)  # fmt: skip
def test_what_is_no_x12_is_reported(data):
    verdict = check(data)
    assert not verdict.readable
    assert verdict.findings[0].rule in {"FILE-EMPTY", "FILE-JUNK", "FILE-HEADER"}
    assert list(iter_findings(data)) == list(verdict.findings)


@given(st.binary(max_size=300), st.integers(0, 1_000))
def test_garbage_inside_a_file_does_not_stop_it(garbage, at):
    data = file()
    at %= len(data)
    mixed = data[:at] + garbage + data[at:]
    assert in_order(streamed(mixed, 64)) == in_order(whole(mixed))


# --- Limits -----------------------------------------------------------------------------------------


def test_findings_are_limited_and_the_limit_is_reported():
    many = FINDINGS_PER_SET_MAX + 10
    data = file([*BODY, *["QQQ*1"] * many])
    found = all_findings(parse(data, choose_guide=choose))
    rules = [f.rule for f in found]
    assert rules.count("SEG-UNKNOWN") == FINDINGS_PER_SET_MAX
    assert rules.count("LIMIT-FINDINGS") == 1


def test_elements_are_not_looked_at_once_the_limit_is_reached():
    many = FINDINGS_PER_SET_MAX + 1
    for version in ("009990X001A1", "005010X999"):
        rows = set_of([*BODY, *["QQQ*"] * many, "K3*late", "REF*6R*late"], version=version)
        found = [f.rule for f in whole(wrap(rows, version=version))]
        assert "LIMIT-FINDINGS" in found
        assert "ELM-CASE" not in found


def test_many_warnings_do_not_hide_an_error():
    many = FINDINGS_PER_SET_MAX + 10
    rows = list(BODY)
    for number in range(3, many):
        rows += [f"HL*{number}*1*22*0", "SBR*P", "NM1*IL*1*arden"]
    rows.append("QQQ*1")
    rules = [(f.rule, f.severity) for f in all_findings(parse(file(rows), choose_guide=choose))]
    assert ("SEG-UNKNOWN", Severity.ERROR) in rules
    assert ("LIMIT-FINDINGS", Severity.WARNING) in rules


def test_a_long_segment_is_left_out_and_counted():
    long = "K3*" + "X" * limits.SEGMENT_BYTES_MAX
    body = replaced("REF*G1*AUTH", "REF*G1*AUTH", long)
    assert findings_in(file(body)) == [("FILE-LONG", BODY.index("REF*G1*AUTH") + 3, 0, 0)]
    unknown = wrap(set_of([long], version="005010X999"), version="005010X999")
    assert ("FILE-LONG", 2, 0, 0) in findings_in(unknown)
    outside = wrap([long, *set_of(BODY)])
    assert [rule for rule, *_ in findings_in(outside)] == ["FILE-LONG"]


def test_numbers_beyond_the_limit_are_not_remembered(monkeypatch):
    monkeypatch.setattr(reader, "CONTROL_NUMBERS_REMEMBERED_MAX", 0)
    data = wrap([*set_of(BODY), *set_of(BODY)], sets=2)
    assert findings_in(data + data) == []


def test_an_endless_unit_is_not_held(monkeypatch):
    monkeypatch.setattr(limits, "SEGMENTS_HELD_MAX", 50)
    rows = [*BODY, *(f"NTE*ADD*N{n}" for n in range(500)), "K3*LAST"]
    data = file(rows)
    pieces = [data[at : at + 500] for at in range(0, len(data), 500)]
    events = list(read(pieces, choose_guide=choose))
    (closed,) = [e for e in events if isinstance(e, SetClosed)]
    assert "FILE-MEMORY" in [f.rule for f in closed.set.findings]
    (unit,) = [e for e in events if isinstance(e, UnitClosed)]
    assert len(unit.loop.items) < 100
    assert unit.loop.size() == len(CLAIM) + 501
    position = next(
        f.position.segment for f in closed.set.findings if f.position.segment_id == "K3"
    )
    assert position == len(rows) + 1


def test_a_large_file_takes_little_memory():
    count = 3_000
    body = list(BODY)
    for number in range(3, count):
        body += [f"HL*{number}*1*22*0", *SUBSCRIBER[1:], *CLAIM]
    data = file(body)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    units = sum(isinstance(event, UnitClosed) for event in read(data, choose_guide=choose))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert units == count - 2
    assert grown * 1024 < 40 * 1024 * 1024


def test_an_endless_set_of_an_unknown_guide_is_not_held(monkeypatch):
    monkeypatch.setattr(limits, "SEGMENTS_HELD_MAX", 50)
    data = wrap(set_of(["QQQ*1"] * 500, version="005010X999"), version="005010X999")
    pieces = [data[at : at + 999] for at in range(0, len(data), 999)]
    (closed,) = [e for e in read(pieces, choose_guide=choose) if isinstance(e, SetClosed)]
    assert len(closed.set.root.items) < 100
    assert closed.set.root.size() == 502


# --- The corpus -------------------------------------------------------------------------------------


@every_case("sample", fewer_in_quick(corpus_files(), 3))
def test_every_public_sample_is_read_and_written_back(sample: Sample):
    data = sample.path.read_bytes()
    tree = parse(data)
    assert segments(write(tree)) == segments(data)
    assert in_order(list(iter_findings(data))) == in_order(list(all_findings(tree)))
    if sample.clean:
        assert not [f.rule for f in all_findings(tree) if f.severity is Severity.ERROR]


def test_verdicts_count():
    verdict = check(file(replaced("REF*EI*911234567", "REF*EI*abc", "QQQ*1")), choose_guide=choose)
    assert (verdict.readable, verdict.errors, verdict.warnings) == (True, 1, 1)


def test_the_default_guides_are_the_real_ones():
    assert Reader()._choose_guide is guides.by_version
