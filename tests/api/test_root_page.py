"""`/` says what this is, in a sandbox how far it is ahead, and gives nothing away."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from starlette.requests import Request

from clearlane.api.pages.root_page import RootPage, first_call
from clearlane.api.v3.error_responses import V3_ERRORS
from tests.manual_clock import ManualClock

NOW = datetime(2031, 5, 5, 12, tzinfo=UTC)
BASE = "https://claims.example.org"


def a_request(
    path: str, method: str = "GET", host: str = "claims.example.org", accept: str = "*/*"
) -> Request:
    return Request(
        {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(b"host", host.encode()), (b"accept", accept.encode())],
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
        (timedelta(0), False, "2031-05-05, as in real time. The payers&#39; days last 2 seconds."),
        (timedelta(days=45, hours=3), False, "45 days 3 h ahead of real time."),
        (
            timedelta(days=1),
            True,
            "1 day 0 h ahead of real time. The payers&#39; days are frozen.",
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
