"""A request body is read within limits and decoded."""

import asyncio
import json

import msgspec
import pytest

from clearlane.api.frame.errors import ClientGone, RequestRefusal
from clearlane.api.http.body import Body, BodyBudget, decode, read_charset
from clearlane.api.v3.error_responses import V3_ERRORS
from tests.patience import PATIENCE_SECONDS

JSON_TYPE = {"content-type": "application/json", "transfer-encoding": "chunked"}


def receiving(*chunks: bytes, gone: bool = False):
    events = [
        {"type": "http.request", "body": chunk, "more_body": gone or at < len(chunks) - 1}
        for at, chunk in enumerate(chunks)
    ]
    waiting = iter([*events, {"type": "http.disconnect"}])

    async def receive():
        return next(waiting)

    return receive


def body(*chunks: bytes, headers=JSON_TYPE, gone=False, budget=None, bytes_max=1_000_000) -> Body:
    receive = receiving(*(chunks or (b"",)), gone=gone)
    return Body(
        headers,
        receive,
        budget or BodyBudget(),
        V3_ERRORS,
        bytes_max=bytes_max,
        seconds_max=PATIENCE_SECONDS,
    )


async def refusal(reading) -> tuple[int, dict]:
    with pytest.raises(RequestRefusal) as refused:
        await reading
    return refused.value.response.status_code, json.loads(refused.value.response.body)


async def test_a_document_comes_whole_without_its_byte_order_mark():
    assert await body(b'\xef\xbb\xbf{"a"', b":1}").read_document() == b'{"a":1}'


@pytest.mark.parametrize("text", [b"", b"  \r\n"])
async def test_an_empty_document_is_refused(text):
    status, reported = await refusal(body(text).read_document())
    assert (status, list(reported["ModelState"])) == (400, ["Document"])


async def test_more_bytes_than_allowed_are_refused_as_they_come():
    status, reported = await refusal(body(b"[1,", b"2]", bytes_max=4).read_document())
    assert status == 413
    assert "4 bytes" in reported["Message"]


async def test_a_declared_length_beyond_the_limit_is_refused_unread():
    headers = JSON_TYPE | {"content-length": str(10**15)}
    read = body(b"{}", headers=headers)
    assert (await refusal(read.read_document()))[0] == 413


async def test_a_short_declared_length_does_not_help():
    headers = JSON_TYPE | {"content-length": "1"}
    status, _ = await refusal(body(b"[1,", b"2]", headers=headers, bytes_max=4).read_document())
    assert status == 413


async def test_a_caller_that_left_is_not_answered():
    with pytest.raises(ClientGone):
        await body(b'{"a":', gone=True).read_document()


async def test_a_body_that_never_ends_is_cut_off_in_time():
    async def never():
        await asyncio.Event().wait()

    read = Body(JSON_TYPE, never, BodyBudget(), V3_ERRORS, bytes_max=10, seconds_max=0.05)
    assert (await refusal(read.read_document()))[0] == 408


async def test_bodies_share_one_budget_and_give_it_back():
    budget = BodyBudget(10)
    first = body(b"[1,2,3]", budget=budget)
    await first.read_document()
    assert budget.used_bytes == 7
    second = body(b"[1,2,3]", budget=budget)
    assert (await refusal(second.read_document()))[0] == 503
    second.release()
    first.release()
    assert budget.used_bytes == 0


BAD_JSON = [b"{", b'{"a":NaN}', b'{"a":-Infinity}', b'{"a":"\\ud800"}', b'{"a":"\\udc00x"}']
BAD_JSON += [b"{'a':1}", b'{"a":01}', b'{"a":"\x01"}', b"{}{}", b"\x00", b'{"a":1e400}']


@pytest.mark.parametrize("text", BAD_JSON)
async def test_what_is_not_json_is_refused_under_document(text):
    with pytest.raises(RequestRefusal) as refused:
        decode(await body(text).read_document(), dict[str, msgspec.Raw], V3_ERRORS)
    response = refused.value.response
    status, reported = response.status_code, json.loads(response.body)
    assert (status, list(reported["ModelState"])) == (400, ["Document"])
    assert text.decode() not in reported["ModelState"]["Document"][0]


def test_of_a_key_given_twice_the_last_counts():
    assert decode(b'{"a": 1, "a": 2}', dict[str, int], V3_ERRORS) == {"a": 2}


def test_a_wrong_type_inside_is_named_by_its_path():
    shape = msgspec.defstruct("Shape", [("Claims", list[int])])
    with pytest.raises(RequestRefusal) as refused:
        decode(b'{"Claims": [1, {}]}', shape, V3_ERRORS)
    reported = json.loads(refused.value.response.body)["ModelState"]
    assert reported == {"Claims[1]": ["A whole number is expected, not an object."]}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": ""},
        {"content-type": "application/json"},
        {"content-type": "APPLICATION/JSON;charset=UTF-8"},
        {"content-type": 'application/json; charset="utf-8"; odata=verbose'},
        {"content-type": "application/json", "content-encoding": "identity"},
        {"content-type": "text/json"},
        {"content-type": "application/vnd.vendor.claims+json"},
    ],
)
def test_a_body_declared_as_json_or_not_at_all_is_json(headers):
    assert read_charset(headers) == "utf-8"


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "application/json, text/plain"},
        {"content-type": "application/json; charset=utf-32"},
        {"content-type": "application/json; charset=windows-1252"},
        {"content-type": "application/json; charset=utf-8; charset=utf-16"},
        {"content-type": "/json"},
        {"content-type": "application/jsonx"},
    ],
)
def test_anything_else_is_not_json(headers):
    assert read_charset(headers) is None


TEXT = '{"Name": "Zoë Ångström"}'
ASCII = '{"Name": "Zoe"}'


@pytest.mark.parametrize(
    ("charset", "content", "text"),
    [
        ("", b"\xef\xbb\xbf" + TEXT.encode(), TEXT),
        ("", TEXT.encode("utf-16"), TEXT),
        ("", b"\xfe\xff" + TEXT.encode("utf-16-be"), TEXT),
        ("utf-16", TEXT.encode("utf-16-le"), TEXT),
        ("UTF-16", TEXT.encode("utf-16-be"), TEXT),
        ("utf-16", TEXT.encode("utf-16"), TEXT),
        ("iso-8859-1", TEXT.encode("latin-1"), TEXT),
        ("iso-8859-1", b"\xef\xbb\xbf" + TEXT.encode(), TEXT),
        ("us-ascii", ASCII.encode(), ASCII),
    ],
)
async def test_a_body_is_read_in_its_charset_or_by_its_mark(charset, content, text):
    parameter = f"; charset={charset}" if charset else ""
    headers = JSON_TYPE | {"content-type": f"application/json{parameter}"}
    whole = await body(content, headers=headers).read_document()
    pieces = [content[at : at + 1] for at in range(len(content))]
    assert whole == await body(*pieces, headers=headers).read_document() == text.encode()


@pytest.mark.parametrize(
    ("charset", "content"),
    [
        ("utf-16", TEXT.encode("utf-16-le")[:-1]),
        ("utf-16", "{".encode("utf-16-le") + b"\x00\xd8"),
        ("us-ascii", TEXT.encode("latin-1")),
        ("utf-8", TEXT.encode("latin-1")),
    ],
)
async def test_a_body_that_is_not_in_its_charset_is_refused(charset, content):
    headers = JSON_TYPE | {"content-type": f"application/json; charset={charset}"}
    status, reported = await refusal(body(content, headers=headers).read_document())
    assert (status, list(reported["ModelState"])) == (400, ["Document"])


async def test_a_body_that_grows_in_utf_8_stays_within_the_limit():
    headers = JSON_TYPE | {"content-type": "application/json; charset=iso-8859-1"}
    content = b'"' + b"\xe9" * 900 + b'"'
    status, _ = await refusal(body(content, headers=headers, bytes_max=1_000).read_document())
    assert status == 413


async def streamed(reading, bytes_max=10):
    return [chunk async for chunk in reading.stream(bytes_max)]


async def test_a_streamed_body_is_handed_on_as_it_comes_whatever_its_type():
    plain = {"content-type": "image/png"}
    assert await streamed(body(b"ab", b"", b"c", headers=plain)) == [b"ab", b"c"]
    assert await streamed(body(b"", headers={})) == []
    budget = BodyBudget(bytes_max=1)  # none of it is kept
    assert await streamed(body(b"abc", budget=budget, bytes_max=1)) == [b"abc"]


async def test_a_streamed_body_has_limits_of_its_own():
    assert (await refusal(streamed(body(b"0123456789", b"0"))))[0] == 413
    declared = {"content-length": "11"}
    assert (await refusal(streamed(body(b"x", headers=declared))))[0] == 413
    assert (await refusal(streamed(body(b"x", headers={"content-encoding": "gzip"}))))[0] == 415
    with pytest.raises(ClientGone):
        await streamed(body(b"ab", gone=True))

    async def never():
        await asyncio.Event().wait()

    read = Body({}, never, BodyBudget(), V3_ERRORS, bytes_max=10, seconds_max=0.05)
    assert (await refusal(streamed(read)))[0] == 408
