"""Answers of v1 are compressed as their callers like it best, and are the same when they are opened."""

import gzip
import random

import pytest
import zstandard
from starlette.responses import Response, StreamingResponse

from clearlane.api.http.compressed_answers import (
    IN_LINE_BYTES_MAX,
    choose_coding,
    compress_answer,
)
from clearlane.api.http.static_content import COMPRESSED_BYTES_MIN
from tests.cases import every_case

OPEN = {"gzip": gzip.decompress, "zstd": zstandard.decompress, "": bytes}


@every_case(
    ("accepted", "coding"),
    [
        ("gzip", "gzip"), ("zstd", "zstd"), ("gzip, deflate, br, zstd", "zstd"), ("*", "gzip"), ("", ""),
        ("gzip;q=1, zstd;q=0.5", "gzip"), ("GZIP", "gzip"), ("br", ""), ("identity", ""), ("gzip;q=0", ""),
        ("identity, gzip;q=0.5", ""), ("gzip;q=x", ""), ("zstd;q=0, gzip;q=0.1", "gzip"), (",;,=", ""),
    ],
)  # fmt: skip
def test_the_coding_is_the_one_that_a_caller_likes_best(accepted, coding):
    assert choose_coding(accepted) == coding


@pytest.mark.parametrize("size", [COMPRESSED_BYTES_MIN, IN_LINE_BYTES_MAX * 2])
@pytest.mark.parametrize("coding", ["gzip", "zstd", ""])
async def test_a_compressed_answer_is_the_same_when_it_is_opened(size, coding):
    content = b"x" * size
    answer = await compress_answer(Response(content, 200, {"Content-Type": "text/csv"}), coding)
    assert OPEN[coding](answer.body) == content
    assert answer.headers.get("content-encoding", "") == coding
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert answer.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    "answer",
    [
        Response(b"{}", 200, {"Content-Type": "application/json"}),
        Response(b"%PDF" * 1_000, 200, {"Content-Type": "application/pdf"}),
        Response(b"x" * 4_000, 200, {"Content-Type": "text/csv", "Content-Encoding": "br"}),
        StreamingResponse(iter([b"x" * 4_000]), 200, {"Content-Type": "text/csv"}),
    ],
)
async def test_what_is_short_streamed_or_compressed_already_stays_as_it_is(answer):
    before = dict(answer.headers)
    assert dict((await compress_answer(answer, "gzip")).headers) == before


@pytest.mark.one_database
def test_a_list_of_v1_comes_as_its_caller_likes_it(server):
    account = server.add_vendor(f"ZIP{random.getrandbits(32):X}")
    server.add_site(account, f"{account.key}-1", "--baa-accepted")
    with server.client(account.auth) as client:
        plain = client.get("/clearlane/v1/payers", headers={"Accept-Encoding": "identity"})
        assert plain.headers["vary"] == "Accept-Encoding"
        for coding in ("gzip", "zstd"):
            asked = {"headers": {"Accept-Encoding": coding}}
            with client.stream("GET", "/clearlane/v1/payers", **asked) as answer:
                assert answer.headers["content-encoding"] == coding
                packed = b"".join(answer.iter_raw())
            assert OPEN[coding](packed) == plain.content
            assert len(packed) < len(plain.content) / 4
            head = client.head("/clearlane/v1/payers", **asked)
            assert (head.status_code, head.content) == (200, b"")
