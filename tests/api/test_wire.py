"""Wire shapes of V3 that can be tested without a server.

Also tests `api/v3/wire_errors`.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.api.v3 import wire


@pytest.mark.parametrize(
    "accept_encoding",
    ["gzip", "GZIP", "deflate, gzip;q=1.0", "*", "gzip;q=0.1", "br;q=1, *;q=0.5", "x-gzip",
     "gzip, identity;q=0.5", "identity;q=0, gzip"],
)  # fmt: skip
def test_gzip_is_sent_where_it_is_accepted(accept_encoding):
    assert wire.accepts_gzip(accept_encoding)


@pytest.mark.parametrize(
    "accept_encoding",
    ["", "identity", "gzip;q=0", "gzip; q=0.0", "*;q=0", "br", "*;q=1, gzip;q=0", "gzipped",
     "gzip;q=0.2, identity;q=0.9", "gzip;q=x"],
)  # fmt: skip
def test_gzip_is_not_sent_where_it_is_not_accepted(accept_encoding):
    assert not wire.accepts_gzip(accept_encoding)


@given(st.text(max_size=60))
def test_any_accept_encoding_is_survived(accept_encoding):
    assert wire.accepts_gzip(accept_encoding) in {True, False}


def test_no_result_has_its_message_in_a_header_and_no_body():
    answer = wire.no_result("The claims could\nnot be imported.")
    assert (answer.status_code, answer.body) == (204, b"")
    assert answer.headers["X-Message"] == "The claims could?not be imported."


def test_a_long_value_is_quoted_in_part():
    assert len(wire.shortened("x" * 10_000)) < 100
