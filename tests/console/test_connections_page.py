"""Connections in the console: what is down comes first, and an operator pauses, resumes, tries and changes.

Also tests `console/operator/connection_page`.
"""

from datetime import date
from html import unescape

import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.console.operator.connection_page import day_square
from clearlane.payers.routes import Route, RouteKind, RouteSecrets
from clearlane.pipeline.query.installation.route_states import RouteDay
from clearlane.store.audit import audit
from clearlane.store.delivery.routes import add_route, load_route
from tests.console.sandbox_console import open_sandbox_console
from tests.console.signed_in_console import BY

PATH = "/payers/medical/TST01"


@pytest.fixture
async def sandbox(tmp_path):
    async with open_sandbox_console(tmp_path / "data") as made:
        yield made


async def actions(sandbox):
    rows = audit.read_between(sandbox.installation.database, audit.BEFORE_ALL, 1 << 62)
    return [row["action"] async for row in rows if str(row["action"]).startswith("route.")]


async def test_a_route_goes_down_is_paused_and_comes_back(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    empty = await operator.text("/payers")
    assert "A sandbox sends everything to its own payers" in empty
    assert "route add" not in empty
    await sandbox.send("3001")
    await sandbox.advance(1)
    page = await operator.text("/payers")
    assert "The route works." in page
    await sandbox.control.set_mode("TST01", "down")
    await sandbox.send("3002")
    await sandbox.advance(1)
    page = unescape(await operator.text("/payers"))
    for text in (
        "1 route down: Sandbox Medical since",
        "1 claim, $100.00 waiting",
        "This payer is simulated and set to be down.",
        "Try now",
    ):
        assert text in page, text
    one = unescape(await operator.text(PATH))
    assert "failed tr" in one
    asked = unescape((await operator.ask(f"{PATH}/pause", form={})).body.decode())
    for figure in (
        "1 claim, $100.00: waiting to be sent.",
        "1 file: written, and not delivered.",
        "files: delivered, and not answered.",
        "0 questions: asked, and not answered.",
    ):
        assert figure in asked, figure
    answer = await operator.confirm(f"{PATH}/pause", form={"back": "list"})
    assert answer.headers["location"] == "/console/payers?done=paused"
    assert "Claims are accepted and wait." in await operator.text("/payers?done=paused")
    await sandbox.control.set_mode("TST01", "up")
    await sandbox.advance(1)
    assert "Paused" in await operator.text(PATH)
    for verb, notice in (("try", "tried"), ("resume", "resumed")):
        answer = await operator.ask(f"{PATH}/{verb}", form={"confirmed": "yes"})
        assert answer.headers["location"] == f"/console{PATH}?done={notice}"
    await sandbox.advance(1)
    assert "The route works." in await operator.text("/payers")
    assert await actions(sandbox) == ["route.pause", "route.try_now", "route.resume"]
    for path in ("/payers/medical/NOBODY", "/payers/nonsense/TST01"):
        assert (await operator.ask(path)).status_code == 404
    assert (await operator.ask(f"{PATH}/test/7", form={})).status_code == 404


async def test_a_hop_is_shown_with_its_payers_and_its_reports(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    number = await sandbox.send("3001", Svc_PayerId="BLU31")
    await sandbox.advance(1)
    assert "Eastgate Clearing" in await operator.text("/payers")
    page = await operator.text("/payers/hop/EASTGATE")
    for text in ("upstream clearinghouse", "Copper Basin Employees Fund", "60177", "/files/out/1"):
        assert text in page, text
    report = await operator.text("/files/in/3")
    for text in ("A report in words. It is shown at 1 claim", f"{number}", "ACCEPTED BY CLEAR"):
        assert text in report, text
    assert "Taken by EASTGATE CLEARING" in await operator.text(f"/claims/{number}")


async def test_a_stored_route_is_tested_and_changed(sandbox, tmp_path):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    installation = sandbox.installation
    out, inbox = tmp_path / "out", tmp_path / "in"
    out.mkdir()
    inbox.mkdir()
    route = Route(
        payer_id="TST01", type="Medical", kind=RouteKind.FOLDER,
        options={"outbox": str(out), "inbox": str(inbox), "sender_id": "US", "receiver_id": "MEADOW"},
    )  # fmt: skip
    done = await add_route(
        installation.database, installation.vault, route, RouteSecrets(),
        now=installation.clock.now(), actor=BY,
    )  # fmt: skip
    id = done.route.id
    answer = await operator.ask(f"{PATH}/test/{id}", form={})
    assert b"The connection works; nothing was sent." in answer.body
    # The route is below its files: the top of the page says how it went, and leads there.
    above, _, route = answer.body.decode().partition(f'id="route-{id}"')
    assert f"Route {id} works." in above
    assert f'<a href="#route-{id}">Each step of the test</a>' in above
    assert f'/test/{id}#route-{id}"' in route
    wrong = {"route-window_seconds": "soon", "route-outbox": str(out)}
    answer = await operator.ask(f"{PATH}/change/{id}", form=wrong)
    assert (answer.status_code, b"give a whole number" in answer.body) == (409, True)
    assert b'value="soon"' in answer.body
    assert f'Route {id} was not changed. <a href="#route-{id}">' in answer.body.decode()
    answer = await operator.ask(
        f"{PATH}/change/{id}", form={"route-outbox": str(tmp_path / "gone")}
    )
    assert (answer.status_code, b"The connection does not work" in answer.body) == (409, True)
    assert f"Route {id} was tested and does not work." in answer.body.decode()
    answer = await operator.ask(f"{PATH}/change/{id}", form={"route-window_seconds": "120"})
    assert answer.headers["location"] == f"/console{PATH}?done=changed"
    stored = await load_route(installation.database, installation.vault, id)
    assert stored.route.options["window_seconds"] == 120
    page = await operator.text(PATH)
    assert "window_seconds from default to 120" in page
    await operator.ask(f"{PATH}/change/{id}", form={"route-answer_days": "14"})
    assert "<dt>Answer days</dt><dd>14</dd>" in await operator.text(PATH)
    answer = await operator.ask(f"{PATH}/change/{id}", form={"route-window_seconds": "120"})
    assert answer.headers["location"] == f"/console{PATH}?done=unchanged"
    answer = await operator.ask(f"{PATH}/change/{id}", form={"route-window_seconds": ""})
    assert answer.headers["location"] == f"/console{PATH}?done=changed"


@pytest.mark.parametrize(
    ("counts", "kind", "words"),
    [
        ((0, 0, 0), "done", "no files"),
        ((3, 2, 0), "good", "3 files out, 2 in"),
        ((1, 0, 2), "late", "2 failed tries, then 1 file out, 0 in"),
        ((0, 1, 1), "act", "1 failed try, 0 files out, 1 in"),
    ],
)
def test_a_day_is_a_square_with_words(counts, kind, words):
    assert day_square(RouteDay(date(2026, 12, 2), *counts)) == (kind, words)
