"""`/` says what this is, and `/docs/` is the documentation; neither gives away anything or leaves its directory.

Also tests `api/pages/documentation`.
"""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from starlette.requests import Request

from clearlane.api.pages.documentation import Documentation, page_policy
from clearlane.api.pages.root_page import RootPage, first_call
from clearlane.api.v3.error_responses import V3_ERRORS
from tests.manual_clock import ManualClock

NOW = datetime(2031, 5, 5, 12, tzinfo=UTC)
BASE = "https://claims.example.org"


def a_request(path: str, method: str = "GET", host: str = "claims.example.org") -> Request:
    return Request(
        {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(b"host", host.encode())],
        }
    )


def a_context(advanced=None, *, frozen=False):
    state = SimpleNamespace(advanced=advanced, day_seconds=2.0, frozen=frozen)
    control = SimpleNamespace(simulator=SimpleNamespace(clock=SimpleNamespace(state=state)))
    return SimpleNamespace(
        clock=ManualClock(NOW), sandbox_control=None if advanced is None else control
    )


async def home(context, *, sandbox=True, base_url=BASE, **asked):
    page = RootPage(context, V3_ERRORS, sandbox=sandbox, base_url=base_url)
    return await page.answer(a_request(**{"path": "/", **asked}), "127.0.0.1", "id")


@pytest.mark.parametrize(
    ("advanced", "frozen", "words"),
    [
        (timedelta(0), False, "2031-05-05, as in real time. The payers&#x27; days last 2 seconds."),
        (timedelta(days=45, hours=3), False, "45 days 3 h ahead of real time."),
        (
            timedelta(days=1),
            True,
            "1 day 0 h ahead of real time. The payers&#x27; days are frozen.",
        ),
    ],
)
async def test_a_sandbox_tells_its_state_and_a_first_call(advanced, frozen, words):
    answer = await home(a_context(advanced, frozen=frozen))
    page = answer.body.decode()
    assert answer.status_code == 200
    assert words in page
    for path in ("/console/", "/reference", "/docs/", "/openapi.json"):
        assert f'href="{path}"' in page
    assert f"{BASE}/api/v3/payers/get_list_of_test?vendorSiteId=SANDBOX-1" in page
    assert "<script" not in page
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_an_installation_in_production_tells_nothing_of_itself():
    page = (await home(a_context(), sandbox=False)).body.decode()
    assert "sandbox" not in page.lower()
    assert "SANDBOX" not in first_call(BASE, sandbox=False)
    assert "2031" not in page


@pytest.mark.parametrize(
    ("asked", "status"),
    [({"path": "//x"}, 404), ({"method": "POST"}, 405), ({"method": "HEAD"}, 200)],
)
async def test_nothing_else_is_there(asked, status):
    assert (await home(a_context(timedelta(0)), **asked)).status_code == status


async def test_a_host_that_the_caller_invents_is_text():
    answer = await home(a_context(timedelta(0)), base_url="", host='"><script>alert(1)</script>')
    assert b"<script>" not in answer.body


@pytest.fixture
def places(tmp_path):
    site, checkout = tmp_path / "site", tmp_path / "checkout"
    (checkout / "docs" / "tutorial").mkdir(parents=True)
    (checkout / "docs" / "glossary.md").write_text("# Glossary\n")
    (checkout / "docs" / "tutorial" / "1-first.md").write_text("# First\n")
    (checkout / "pyproject.toml").write_text("secret = 1\n")
    return site, checkout


def built(site):
    (site / "tutorial" / "1-first").mkdir(parents=True)
    (site / "index.html").write_text("<script>start()</script><script src='a.js'></script>")
    (site / "tutorial" / "1-first" / "index.html").write_text("<h1>First</h1>")
    (site / "a.js").write_text("1")
    (site.parent / "outside.txt").write_text("secret")
    (site / "away").symlink_to(site.parent / "outside.txt")


async def read(places, path, method="GET"):
    site, checkout = places
    pages = Documentation(V3_ERRORS, site=site, checkout=checkout)
    return await pages.answer(a_request(path, method), "127.0.0.1", "id")


@pytest.mark.parametrize(
    ("path", "status", "media_type", "content"),
    [
        ("/docs/", 200, "text/html", b"start()"),
        ("/docs/a.js", 200, "text/javascript", b"1"),
        ("/docs/tutorial/1-first/", 200, "text/html", b"<h1>First"),
        ("/docs/tutorial/1-first", 308, "", b""),
        ("/docs", 308, "", b""),
        ("/docs/none", 404, "application/json", b"No HTTP resource"),
        ("/docs/away", 404, "application/json", b"No HTTP resource"),
        ("/docs/../outside.txt", 404, "application/json", b"No HTTP resource"),
        ("/docs/\x00", 404, "application/json", b"No HTTP resource"),
        ("/docs/" + "x" * 9_000, 404, "application/json", b"No HTTP resource"),
    ],
)
async def test_the_built_site_is_served_and_nothing_beside_it(
    places, path, status, media_type, content
):
    built(places[0])
    answer = await read(places, path)
    assert answer.status_code == status
    assert answer.headers.get("content-type", "").startswith(media_type)
    assert content in answer.body


@pytest.mark.parametrize(
    ("path", "status", "content"),
    [
        ("/docs/", 200, b'href="/docs/tutorial/1-first.md"'),
        ("/docs/tutorial/1-first.md", 200, b"# First"),
        ("/docs/tutorial/1-first", 200, b"# First"),
        ("/docs/../pyproject.toml", 404, b"No HTTP resource"),
        ("/docs/none.md", 404, b"No HTTP resource"),
    ],
)
async def test_a_checkout_without_the_site_serves_its_markdown(places, path, status, content):
    answer = await read(places, path)
    assert (answer.status_code, content in answer.body) == (status, True)


async def test_an_installation_without_either_says_so(places):
    (places[1] / "pyproject.toml").unlink()
    assert b"does not hold the documentation" in (await read(places, "/docs/")).body


async def test_the_documentation_is_read_only(places):
    assert (await read(places, "/docs/", "POST")).status_code == 405


def test_a_page_runs_its_own_scripts_and_no_others():
    policy = page_policy(b"<script>a</script><script src='x'>b</script><SCRIPT type=t>c</SCRIPT>")
    assert policy.count("'sha256-") == 2
    assert "'unsafe-inline'" not in policy.partition("script-src")[2]
