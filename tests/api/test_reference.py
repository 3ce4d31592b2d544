"""`/reference` is rendered from the OpenAPI document: a page for each call and shape, whose links lead somewhere.

Also tests `api/pages/reference_calls`.
"""

import json
import re
from html import unescape

import pytest

from clearlane.api.http.static_content import StaticContent
from clearlane.api.pages.reference import Reference
from clearlane.api.pages.reference_calls import SHAPE_FIELDS_MAX, shape_title, type_words
from clearlane.api.v3.error_responses import V3_ERRORS
from tests.api.openapi_document import openapi_content
from tests.api.test_root_page import a_request

DOCUMENT = json.loads(openapi_content())
SHAPES = DOCUMENT["components"]["schemas"]


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference(StaticContent(openapi_content), V3_ERRORS, sandbox=True, base_url="")


async def read(reference, path, method="GET", **more):
    return await reference.answer(a_request(path, method, **more), "127.0.0.1", "id")


async def test_every_call_has_a_page_whose_links_lead_somewhere(reference):
    rows = [call for item in DOCUMENT["paths"].values() for call in item.values()]
    calls = {call["operationId"] for call in rows if isinstance(call, dict)}
    assert {each.name for each in reference.names} == calls
    pages = {"/reference": (await read(reference, "/reference")).body.decode()}
    for each in reference.names:
        answer = await read(reference, each.address)
        assert answer.status_code == 200, each
        pages[each.address] = answer.body.decode()
        assert each.path in pages[each.address]
        assert f'href="{each.address}"' in pages["/reference"]
    linked = {
        link
        for page in pages.values()
        for link in re.findall(r'href="(/reference[^"#]*)"', page)
        if link not in pages
    }
    assert linked <= {f"/reference/shapes/{name}" for name in SHAPES}


@pytest.mark.parametrize(
    "name", ["ClaimJson", next(name for name in SHAPES if name.startswith("Page_")), "OtherPayer"]
)
async def test_a_shape_has_a_page_with_its_fields_and_who_uses_it(reference, name):
    page = unescape((await read(reference, f"/reference/shapes/{name}")).body.decode())
    assert f"<h1>{shape_title(name)}</h1>" in page
    assert all(f"<code>{field}</code>" in page for field in SHAPES[name].get("properties", {}))
    assert 'id="used"' in page


async def test_a_large_shape_has_several_pages(reference):
    fields = list(SHAPES["MedicalClaim"]["properties"])
    for number in (1, 2, 3):
        page = (await read(reference, f"/reference/shapes/MedicalClaim/{number}")).body.decode()
        start = (number - 1) * SHAPE_FIELDS_MAX
        assert re.findall(r'<tr id="(\w+)">', page) == fields[start : start + SHAPE_FIELDS_MAX]
    assert (await read(reference, "/reference/shapes/MedicalClaim/4")).status_code == 404


async def test_a_call_shows_its_command_body_answers_and_examples(reference):
    page = unescape((await read(reference, "/reference/CorrectClaim")).body.decode())
    assert "curl https://claims.example.org/clearlane/v1/claims/C" in page
    assert "--data-binary @body.json" in page
    assert "an API key with the scope correct (Bearer)" in page
    assert 'href="/reference/shapes/CorrectionRequest"' in page
    assert '"predecessor": ' in page
    assert 'id="status-409"' in page
    old = (await read(reference, "/reference/GetUrl")).body.decode()
    assert "Deprecated" in old
    assert "Content-Length: 0" in old


async def test_a_host_that_the_caller_invents_is_text(reference):
    answer = await read(reference, "/reference/GetClaim", host='"><script>alert(1)</script>')
    assert b"<script>alert" not in answer.body
    assert "unsafe" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/reference/", "GET", 200),
        ("/reference/getclaim", "GET", 200),
        ("/reference", "HEAD", 200),
        ("/reference", "POST", 405),
        ("/reference/Nothing", "GET", 404),
        ("/reference/shapes/Nothing", "GET", 404),
        ("/reference/shapes/ClaimJson/0", "GET", 404),
        ("/reference/../docs", "GET", 404),
        ("/reference/x\x00", "GET", 404),
    ],
)
async def test_nothing_else_is_there(reference, path, method, status):
    assert (await read(reference, path, method)).status_code == status


@pytest.mark.parametrize(
    "path", ["/reference/Claim", "/reference/shapes/Claim", "/reference/a/b/claim"]
)
async def test_a_browser_gets_a_page_with_calls_that_may_be_meant(reference, path):
    answer = await read(reference, path, accept="text/html,*/*;q=0.8")
    assert answer.status_code == 404
    assert b"There is no page at this address" in answer.body
    assert b'<li><a href="/reference/' in answer.body


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "array", "items": {"$ref": "#/x/Page_A_"}}, "list of Page of A"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string or null"),
        (
            {"anyOf": [{"enum": ["a", "b"]}, {"type": "array", "items": {"enum": ["a", "b"]}}]},
            "a or b, or several",
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
            "string or list of integer",
        ),
        ({"enum": list(range(15))}, " or ".join(map(str, range(12))) + " and 3 others"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "map of text to integer"),
        ({}, "any"),
    ],
)
def test_a_type_is_shown_in_words(schema, words):
    assert "".join(word.text for word in type_words(schema)) == words
