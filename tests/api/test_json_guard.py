"""The JSON guard checks a text before it is parsed, whatever the chunking."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.api.http import json_guard
from clearlane.api.http.json_guard import (
    JSON_DEPTH_MAX,
    NOT_UTF8,
    NUMBER_OUT_OF_RANGE,
    TOO_DEEP,
    JsonScanner,
    UnreadableJson,
)
from tests.cases import every_case


def judge(*chunks: bytes) -> str | None:
    scan = JsonScanner()
    try:
        for chunk in chunks:
            scan.feed(chunk)
        scan.finish()
    except UnreadableJson as why:
        return str(why)
    return None


def whole(text: bytes) -> str | None:
    try:
        json_guard.check_json(text)
    except UnreadableJson as why:
        return str(why)
    return None


def by_drops(text: bytes) -> str | None:
    return judge(*(text[at : at + 1] for at in range(len(text))))


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


DEEPEST = JSON_DEPTH_MAX
PASS = [
    b"",
    b"{}",
    b"not json at all",  # the parser's business
    nested(DEEPEST),
    nested(DEEPEST) * 3,
    b'{"a": "' + b"[" * 500 + b'"}',
    b'{"a": "\\"' + b"[" * 500 + b'"}',
    b'{"a": "\\\\", "b": "' + b"{" * 500 + b'"}',
    b'["' + b'\\"[' * 500 + b'"]',
    b"]" * 500,
    '{"name": "Rosa Ardén"}'.encode(),
    b"[1e308, 1E+10, 1e-400, 12e5, 1e100]",
    b'["1e400", "1E999"]',
    b'{"id": "3e4005", "x": "\\"1e400"}',
]
FAIL = [
    (nested(DEEPEST + 1), TOO_DEEP),
    (b"[" * 100_000, TOO_DEEP),
    (b'{"a":' * (DEEPEST + 1), TOO_DEEP),
    (b'["x", ' + nested(DEEPEST) + b"]", TOO_DEEP),
    (b'["\\\\"' + nested(DEEPEST) + b"]", TOO_DEEP),
    (b'{"a": "\xff"}', NOT_UTF8),
    (b'{"a": "\xc3', NOT_UTF8),
    (b'{"a": "\xed\xa0\x80"}', NOT_UTF8),
    ('{"a": "é"}'.encode("utf-16"), NOT_UTF8),
    (b'{"a": 1e400}', NUMBER_OUT_OF_RANGE),
    (b"[-1.5E+999]", NUMBER_OUT_OF_RANGE),
    (b'["1e400", 1e400]', NUMBER_OUT_OF_RANGE),
    (b"[1e0000400]", NUMBER_OUT_OF_RANGE),
    (b"1e99999", NUMBER_OUT_OF_RANGE),
]


@every_case("text", PASS)
def test_what_a_parser_may_see_passes_whole_and_in_drops(text):
    assert judge(text) is None
    assert by_drops(text) is None


@every_case(("text", "why"), FAIL)
def test_what_no_parser_may_see_is_refused_whole_and_in_drops(text, why):
    assert judge(text) == why
    if len(text) < 10_000:
        assert by_drops(text) == why


def test_a_fault_is_raised_before_the_rest_has_come():
    scan = JsonScanner()
    with pytest.raises(UnreadableJson):
        scan.feed(b"[" * (DEEPEST + 1))


def depth_of(value) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='[]{}"\\aé,:'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='[{"\\x'), inner),
    max_leaves=30,
)


@given(JSON, st.integers(min_value=0, max_value=DEEPEST + 3), st.data())
def test_depth_is_counted_as_the_parser_counts_it(value, around, data):
    text = b"[" * around + json.dumps(value).encode() + b"]" * around
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    too_deep = depth_of(value) + around > DEEPEST
    assert judge(text) == (TOO_DEEP if too_deep else None)
    assert judge(*pieces) == judge(text)


@given(st.binary(max_size=200), st.integers(0, 200))
def test_any_bytes_are_judged_the_same_in_any_two_pieces(text, cut):
    assert judge(text[:cut], text[cut:]) == judge(text) == by_drops(text)


@every_case("text", [*PASS, *(text for text, _ in FAIL)], ids=range(len(PASS) + len(FAIL)))
def test_a_whole_text_is_judged_as_its_pieces_are(text):
    assert whole(text) == judge(text)
