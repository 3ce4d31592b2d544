"""Content for everybody is sent once, in the form that the caller accepts."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.api.http.static_content import COMPRESSED_BYTES_MIN, accepts_gzip, static_response

LONG = b"{}" * COMPRESSED_BYTES_MIN
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "accept_encoding",
    ["gzip", "GZIP", "deflate, gzip;q=1.0", "*", "gzip;q=0.1", "br;q=1, *;q=0.5", "x-gzip",
     "gzip, identity;q=0.5", "identity;q=0, gzip"],
)  # fmt: skip
def test_gzip_is_sent_where_it_is_accepted(accept_encoding):
    assert accepts_gzip(accept_encoding)


@pytest.mark.parametrize(
    "accept_encoding",
    ["", "identity", "gzip;q=0", "gzip; q=0.0", "*;q=0", "br", "*;q=1, gzip;q=0", "gzipped",
     "gzip;q=0.2, identity;q=0.9", "gzip;q=x"],
)  # fmt: skip
def test_gzip_is_not_sent_where_it_is_not_accepted(accept_encoding):
    assert not accepts_gzip(accept_encoding)


@given(st.text(max_size=60))
def test_any_accept_encoding_is_survived(accept_encoding):
    assert accepts_gzip(accept_encoding) in {True, False}


def test_each_form_has_its_tag_and_is_not_sent_to_whom_has_it():
    plain = static_response(LONG, JSON, {})
    packed = static_response(LONG, JSON, {"accept-encoding": "br, gzip"})
    assert plain.body == gzip.decompress(packed.body) == LONG
    assert (plain.headers.get("content-encoding"), packed.headers["content-encoding"]) == (
        None,
        "gzip",
    )
    assert plain.headers["etag"] != packed.headers["etag"]
    assert len(packed.body) < len(LONG) / 20
    for asked, first in (({}, plain), ({"accept-encoding": "gzip"}, packed)):
        tag = first.headers["etag"]
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = static_response(LONG, JSON, {**asked, "if-none-match": known})
            assert (again.status_code, again.body) == (304, b"")
            assert {name: again.headers[name] for name in ("etag", "vary", "cache-control")} == {
                "etag": tag,
                "vary": "Accept-Encoding",
                "cache-control": "no-cache",
            }
        other = static_response(LONG, JSON, {**asked, "if-none-match": '"other"'})
        assert other.status_code == 200


@pytest.mark.parametrize(
    ("content", "headers"),
    [
        (b"{}", JSON),
        (LONG, {"Content-Type": "image/png"}),
        (LONG, {"Content-Type": "text/javascript", "Content-Encoding": "gzip"}),
    ],
)
def test_what_is_short_or_compressed_already_has_one_form(content, headers):
    answer = static_response(content, headers, {"accept-encoding": "gzip"})
    assert answer.body == content
    assert answer.headers.get("content-encoding") == headers.get("Content-Encoding")
    assert "vary" not in answer.headers
    known = {"if-none-match": answer.headers["etag"]}
    assert static_response(content, headers, known).status_code == 304


def test_a_page_may_say_how_long_it_is_kept():
    answer = static_response(LONG, {"Cache-Control": "public, max-age=300"}, {})
    assert answer.headers["cache-control"] == "public, max-age=300"
