"""Shapes that need no server to be wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.api.v3 import wire


@pytest.mark.parametrize(
    "said",
    ["gzip", "GZIP", "deflate, gzip;q=1.0", "*", "gzip;q=0.1", "br;q=1, *;q=0.5", "x-gzip",
     "gzip, identity;q=0.5", "identity;q=0, gzip"],
)  # fmt: skip
def test_gzip_is_sent_where_it_is_accepted(said):
    assert wire.accepts_gzip(said)


@pytest.mark.parametrize(
    "said",
    ["", "identity", "gzip;q=0", "gzip; q=0.0", "*;q=0", "br", "*;q=1, gzip;q=0", "gzipped",
     "gzip;q=0.2, identity;q=0.9", "gzip;q=x"],
)  # fmt: skip
def test_gzip_is_not_sent_where_it_is_not_accepted(said):
    assert not wire.accepts_gzip(said)


@given(st.text(max_size=60))
def test_any_accept_encoding_is_survived(said):
    assert wire.accepts_gzip(said) in {True, False}


@given(st.lists(st.text(max_size=300), max_size=40))
def test_ignored_fields_never_break_their_header(paths):
    value = wire.ignored_fields(paths)
    assert all(" " <= character <= "~" for character in value)
    assert len(value.split(", ")) <= 20


def test_ignored_fields_are_named_once_and_in_order():
    assert wire.ignored_fields(["Claims[0].x", "b c", "Claims[0].x", "é"]) == (
        "Claims[0].x, b%20c, %C3%A9"
    )


def test_no_result_has_its_message_in_a_header_and_no_body():
    answer = wire.no_result("The claims could\nnot be imported.")
    assert (answer.status_code, answer.body) == (204, b"")
    assert answer.headers["X-Message"] == "The claims could?not be imported."


def test_a_long_value_is_quoted_in_part():
    assert len(wire.shown("x" * 10_000)) < 100
