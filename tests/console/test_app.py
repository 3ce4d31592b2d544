"""The console in this process: what it says when a part is away, and where its links lead."""

import re
from types import SimpleNamespace

import pytest
import structlog
from starlette.requests import Request

from clearlane.console.app import SCREENS, Console
from clearlane.console.forms import SESSION
from clearlane.store.database import Unavailable
from clearlane.store.vault import Vault


@pytest.fixture
async def desk(database, place, clock):
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    return SimpleNamespace(database=database, vault=vault, clock=clock, wall=clock, accounts=None)


async def nobody_waits(address, key):
    """Stands in for the waiting room, which has tests of its own."""


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


async def test_links_stand_under_the_path_that_callers_use(desk):
    for base, root in (("https://a.example", ""), ("https://a.example/claims/", "/claims")):
        page = await ask(Console(desk, base, nobody_waits))
        assert f'action="{root}/console/login"' in page.body.decode()
        assert f'href="{root}/console/style.css"' in page.body.decode()
        moved = await ask(Console(desk, base, nobody_waits), "/console/")
        assert moved.headers["location"] == f"{root}/console/login?say=ended"


async def test_a_part_that_is_away_is_told_with_when_to_try_again(desk):
    class Away:
        def read(self, scope):
            raise Unavailable("the database is away")

    away = SimpleNamespace(**vars(desk) | {"database": Away()})
    page = await ask(Console(away, "", nobody_waits), "/console/", cookie=f"{SESSION}={'x' * 32}")
    assert page.status_code == 503
    assert int(page.headers["retry-after"]) > 0
    assert "Please try again in a moment." in page.body.decode()


async def test_a_fault_shows_the_request_and_logs_no_text_of_it(desk):
    class Broken:
        def read(self, scope):
            raise ValueError("MARKER ROSA ARDEN")

    broken = SimpleNamespace(**vars(desk) | {"database": Broken()})
    with structlog.testing.capture_logs() as logged:
        page = await ask(Console(broken, "", nobody_waits), "/console/enter/x")
    assert page.status_code == 500
    assert "REQUEST-1" in page.body.decode()
    assert "MARKER" not in page.body.decode() + repr(logged)
    assert [line["event"] for line in logged] == ["fault in the console"]


async def test_every_screen_below_login_wants_a_session(desk):
    open_to_all = {"/login", "/enter/*", "/style.css"}
    assert {screen.path for screen in SCREENS if not screen.signed_in} == open_to_all
    console = Console(desk, "", nobody_waits)
    for screen in SCREENS:
        if screen.signed_in:
            (method,) = screen.methods & {"GET", "POST"}
            answer = await ask(console, f"/console{screen.path}", method=method)
            assert answer.headers["location"] == "/console/login?say=ended"


async def test_a_path_is_never_shown_as_it_is(desk):
    console = Console(desk, "", nobody_waits)
    for path in ("/console/<script>", "/console/enter/<script>", "/console/../login"):
        page = await ask(console, path)
        assert not re.search("<script|\\.\\./login", page.body.decode())
