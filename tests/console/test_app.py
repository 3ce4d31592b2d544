"""The console in this process: unavailable parts, faults, sessions, and where its links lead."""

import re
from types import SimpleNamespace

import pytest
import structlog
from starlette.requests import Request

from clearlane.console.app import Console
from clearlane.console.frame.forms import SESSION_COOKIE
from clearlane.store.database.database import DatabaseUnavailable
from clearlane.store.vault.vault import Vault

pytestmark = pytest.mark.one_database


@pytest.fixture
async def context(database, place, clock):
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    return context_of(database, vault, clock)


def context_of(database, vault, clock):
    work_context = SimpleNamespace(database=database, vault=vault, accounts=lambda: None)
    return SimpleNamespace(
        database=database,
        vault=vault,
        clock=clock,
        wall=clock,
        accounts=None,
        sandbox_control=None,
        work_context=work_context,
    )


async def no_delay(address, key):
    """Replaces the login throttle, which has tests of its own."""


async def ask(console, path="/console/login", *, method="GET", cookie=""):
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(b"cookie", cookie.encode())],
    }

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    return await console.answer(Request(scope, receive), "192.0.2.1", "REQUEST-1")


async def test_links_are_below_the_path_that_callers_use(context):
    for base, root in (("https://a.example", ""), ("https://a.example/claims/", "/claims")):
        page = await ask(Console(context, base, no_delay))
        assert f'action="{root}/console/login"' in page.body.decode()
        assert f'href="{root}/console/style.css"' in page.body.decode()
        moved = await ask(Console(context, base, no_delay), "/console/")
        assert moved.headers["location"] == f"{root}/console/login?say=ended"


async def test_an_unavailable_database_is_a_503_with_a_retry_time(context):
    class Away:
        def read(self, scope):
            raise DatabaseUnavailable("the database is away")

    away = context_of(Away(), context.vault, context.clock)
    page = await ask(
        Console(away, "", no_delay), "/console/", cookie=f"{SESSION_COOKIE}={'x' * 32}"
    )
    assert page.status_code == 503
    assert int(page.headers["retry-after"]) > 0
    assert "Please try again in a moment." in page.body.decode()


async def test_a_fault_shows_the_request_and_logs_no_text_of_it(context):
    class Broken:
        def read(self, scope):
            raise ValueError("MARKER ROSA ARDEN")

    broken = context_of(Broken(), context.vault, context.clock)
    with structlog.testing.capture_logs() as logged:
        page = await ask(Console(broken, "", no_delay), "/console/enter/x")
    assert page.status_code == 500
    assert "REQUEST-1" in page.body.decode()
    assert "MARKER" not in page.body.decode() + repr(logged)
    assert [line["event"] for line in logged] == ["fault in the console"]


async def test_a_path_is_never_shown_as_it_is(context):
    console = Console(context, "", no_delay)
    for path in ("/console/<script>", "/console/enter/<script>", "/console/../login"):
        page = await ask(console, path)
        assert not re.search("<script|\\.\\./login", page.body.decode())
