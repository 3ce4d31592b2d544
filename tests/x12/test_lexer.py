"""Bytes become the same segments whatever the chunking, and nothing is lost in silence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.kernel.limits import SEGMENT_BYTES_MAX
from clearlane.x12.reader.lexer import (
    ByteOrderMark,
    EmptySegments,
    IndentedSegments,
    InterchangeHeader,
    Junk,
    Lexer,
    OverlongSegment,
    SegmentChunk,
    UnterminatedSegment,
)
from tests.cases import every_case
from tests.x12.toy import ISA, file, wrap


def tokens(data: bytes, size: int = 0, *, decode: bool = False) -> list[object]:
    """Every token, batches joined: where they are cut depends on the chunks."""
    lexer = Lexer(decode=decode)
    out = []
    for at in range(0, len(data), size or len(data) or 1):
        out += lexer.feed(data[at : at + (size or len(data))])
    out += lexer.finish()
    joined: list[object] = []
    for token in out:
        if isinstance(token, SegmentChunk):
            assert [text.split("*") for text in token.texts] == token.segments
            if joined and isinstance(joined[-1], list):
                joined[-1] += token.texts
                continue
            joined.append(list(token.texts))
        else:
            joined.append(token)
    return joined


def rows(data: bytes) -> list[str]:
    return [text for token in tokens(data) if isinstance(token, list) for text in token]


ODDITIES = {
    "plain": file(),
    "newline after the terminator": wrap(["ST*1", "SE*2"], ending="\n"),
    "carriage return and newline": wrap(["ST*1", "SE*2"], ending="\r\n"),
    "blanks and blank lines": wrap(["ST*1", "SE*2"], ending=" \r\n\n\t"),
    "newline as terminator": wrap(["ST*1", "SE*2"]).replace(b"~", b"\n"),
    "carriage return as terminator": wrap(["ST*1", "SE*2"]).replace(b"~", b"\r") + b"\n",
    "other separators": wrap(["ST*a|b", "SE*2"]).translate(bytes.maketrans(b"*:^~|", b"|>!'*")),
    "other separators, longer": file().translate(bytes.maketrans(b"*:^~|", b"|>!'*")),
    "empty segments": wrap(["ST*1", "", "", "SE*2"]),
    "empty segments first": b"~~".join(wrap(["ST*1"]).split(b"~", 1)),
    "two interchanges": wrap(["ST*1"]) + b"\n\n" + wrap(["ST*2"]).replace(b"*", b"|"),
    "junk around": b"hello " + wrap(["ST*1"]) + b"-- between --" + wrap(["ST*2"]) + b"after",
    "padding around": b"\x00" + wrap(["ST*1"]) + b"\x1a\x00",
    "no trailer": wrap(["ST*1"])[: len(ISA) + 1] + b"GS*1~" + wrap(["ST*2"]),
    "header upon header": ISA.encode() + b"~" + wrap(["ST*1"]),
    "byte order mark": b"\xef\xbb\xbf" + file(),
    "cut in a segment": wrap(["ST*1", "SE*2"])[:-3],
    "cut in the trailer": wrap(["ST*1", "SE*2"])[:-1],
    "cut in the header": ISA.encode()[:60],
    "short file": ISA.encode() + b"~IEA*0*1~",
    "false headers": b"VISA CARD ISA ISA*1 ISAISA " + wrap(["ST*1"]),
    "mark alone": b"\xef\xbb\xbf",
    "half a mark": b"\xef\xbb",
    "nothing": b"",
    "blanks": b" \n\n ",
    "ids that look like edges": wrap(["ISAX*1", "IEA1*2", "SE*1"]),
    "a long segment": wrap(["ST*1", "K3*" + "X" * SEGMENT_BYTES_MAX, "SE*2"]),
    "two long segments": wrap(["K3*" + "X" * 70_000, "A*1", "L4*" + "Y" * 70_000, "B*2"]),
    "a long last segment": wrap(["ST*1"])[:-1] + b"X" * 70_000,
    "a long unfinished segment": wrap(["ST*1"])[:-16] + b"K3*" + b"X" * 140_000,
    "a long segment and no other": wrap([])[:-16] + b"K3*" + b"X" * 70_000 + b"~",
    "just under the limit": wrap(["ST*1", "K3*" + "X" * (SEGMENT_BYTES_MAX - 3), "SE*2"]),
}  # fmt: skip


@every_case("name", ODDITIES)
@every_case("size", [1, 2, 3, 7, 100, 1_000, 59_999])
def test_chunking_does_not_matter(name, size):
    data = ODDITIES[name]
    if size < 100 and len(data) > 10_000:
        pytest.skip("small chunks are tried on small files")
    assert tokens(data, size) == tokens(data)


@pytest.mark.parametrize(
    "name",
    [
        "newline after the terminator",
        "carriage return and newline",
        "blanks and blank lines",
        "newline as terminator",
        "carriage return as terminator",
        "empty segments",
    ],
)
def test_blanks_between_segments_are_no_data(name):
    assert rows(ODDITIES[name]) == rows(wrap(["ST*1", "SE*2"]))


def test_other_separators_are_swapped_and_their_data_kept():
    header, *batches = tokens(ODDITIES["other separators"])
    assert batches[0][1].translate(header.delimiters.from_canonical()) == "ST|a*b"
    assert batches[0][1].split("*")[0] == "ST"


@pytest.mark.parametrize("size", [0, 1, 2, 3, 107])
def test_a_segment_of_utf_8_is_read_as_that_and_any_other_as_latin_1(size):
    name = "MU\u00d1OZ"
    data = wrap(["N1*UTF", "N2*OLD", "N3*LAST"]).replace(b"UTF", name.encode())
    data = data.replace(b"OLD", name.encode("latin-1")).replace(b"LAST", "\u0141".encode())
    _, found = tokens(data, size, decode=True)
    assert found[1:4] == [f"N1*{name}", f"N2*{name}", "N3*\u0141"]
    _, raw = tokens(data, size)
    assert raw[1] == "N1*MU\u00c3\u0091OZ"
    # The end of the file may cut a segment.
    assert tokens(data[: data.index(b"~N2")], size, decode=True)[-1] == [f"N1*{name}"]
    # A separator that is a byte of a character leaves nothing to decode.
    odd = wrap(["N1*A\u00c3|\u0080"]).translate(bytes.maketrans(b"*", b"\xb1"))
    assert tokens(odd, size, decode=True) == tokens(odd, size)


def test_empty_segments_are_counted_where_the_terminator_is_visible():
    assert EmptySegments(2) in tokens(ODDITIES["empty segments"])
    assert EmptySegments(1) in tokens(ODDITIES["empty segments first"])
    assert not any(isinstance(t, EmptySegments) for t in tokens(ODDITIES["blanks and blank lines"]))


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        ("~", 0), ("~\r\n", 0), ("~\n\n", 0), ("~ ", 2), ("~\t", 2), ("~\r\n  \t", 2), ("~ \n", 2), ("~ ~", 0),
        ("~ ~ ", 2), ("~\n ~\n", 0),
    ],
)  # fmt: skip
def test_segments_with_blanks_before_their_id_are_counted(between, expected):
    data = wrap(["ST*1", "K3*A", "SE*2"]).replace(b"~K3", b"?K3").replace(b"~SE", b"?SE")
    data = data.replace(b"?", between.encode())
    found = [t.segments for t in tokens(data) if isinstance(t, IndentedSegments)]
    assert found == ([expected] if expected else [])
    for size in (1, 2, 3, 5):
        assert tokens(data, size) == tokens(data)


def test_each_interchange_has_its_own_separators():
    headers = [t for t in tokens(ODDITIES["two interchanges"]) if isinstance(t, InterchangeHeader)]
    assert [h.delimiters.element for h in headers] == ["*", "|"]
    assert headers[0].segment == headers[1].segment == ISA.split("*")


def test_junk_is_counted_without_its_blanks():
    found = [t for t in tokens(ODDITIES["junk around"]) if isinstance(t, Junk)]
    assert found == [
        Junk(5, broken_header=False), Junk(11, broken_header=False), Junk(5, broken_header=False),
    ]  # fmt: skip
    assert not any(isinstance(t, Junk) for t in tokens(ODDITIES["padding around"]))


def test_headers_that_are_none_are_junk_and_reported():
    (junk,) = [t for t in tokens(ODDITIES["false headers"]) if isinstance(t, Junk)]
    assert junk.broken_header
    assert tokens(ODDITIES["cut in the header"]) == [Junk(31, broken_header=True)]


def test_an_interchange_without_an_end_ends_at_the_next():
    assert sum(isinstance(t, InterchangeHeader) for t in tokens(ODDITIES["no trailer"])) == 2
    assert (
        sum(isinstance(t, InterchangeHeader) for t in tokens(ODDITIES["header upon header"])) == 2
    )


def test_a_file_that_ends_in_a_segment_gives_its_beginning():
    found = tokens(ODDITIES["cut in a segment"])
    assert found[-2:] == [UnterminatedSegment(), ["IEA*1*0000000"]]


def test_overlong_segments_are_left_out_and_reported():
    found = tokens(ODDITIES["a long segment"])
    assert OverlongSegment("K3") in found
    assert rows(ODDITIES["a long segment"]) == rows(wrap(["ST*1", "SE*2"]))
    assert tokens(ODDITIES["two long segments"]).count(OverlongSegment("K3")) == 1
    assert tokens(ODDITIES["two long segments"]).count(OverlongSegment("L4")) == 1
    assert tokens(ODDITIES["a long unfinished segment"])[-2:] == [
        UnterminatedSegment(),
        OverlongSegment("K3"),
    ]


def test_nothing_gives_nothing():
    assert tokens(b"") == tokens(b" \n ") == []
    assert tokens(b"\xef\xbb\xbf") == [ByteOrderMark()]
    assert tokens(b"\xef\xbb") == [Junk(2, broken_header=False)]


@given(st.binary(max_size=400), st.integers(1, 50))
def test_garbage_is_read_the_same_whatever_the_chunking(data, size):
    assert tokens(data, size) == tokens(data)


@given(
    st.lists(
        st.sampled_from([*ODDITIES["two interchanges"].split(b"*"), b"~", b"*", b"ISA", b"\n"])
    ),
    st.integers(1, 40),
)
def test_shuffled_pieces_are_read_the_same_whatever_the_chunking(pieces, size):
    data = b"*".join(pieces)
    assert tokens(data, size) == tokens(data)


def test_many_small_interchanges_in_one_chunk_do_not_recurse():
    data = (ISA.encode() + b"~IEA*0*000000001~\n") * 2_000
    assert sum(isinstance(t, InterchangeHeader) for t in tokens(data)) == 2_000
