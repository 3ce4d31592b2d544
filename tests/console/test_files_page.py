"""Files in the console: what came in and went out, in sentences, explained, replayed and sent again.

Also tests `console/files/file_page`, `console/frame/path_number`, `console/frame/list_filters` and `store/delivery/file_query`.
"""

import re
from html import unescape

import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.connect.loopback_connections import loopback_route
from clearlane.console.files import files_page
from clearlane.console.frame.path_number import read_number
from clearlane.pipeline.inbound.post import post_file
from clearlane.pipeline.inbound.receive import receive
from clearlane.pipeline.operator import batch_admin
from clearlane.settings import load
from clearlane.store.audit import audit
from clearlane.wiring import open_installation
from tests.claims.answers import paid, payment
from tests.console.incoming_files import arrive
from tests.console.sandbox_console import open_sandbox_console
from tests.console.signed_in_console import BY, sign_in_as

HOSTILE = "<SCRIPT>ALERT(1)</SCRIPT>"


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("files")) as made:
        yield made


@pytest.fixture(scope="module")
async def operator(sandbox):
    return await sandbox.person(ConsoleRole.OPERATOR)


@pytest.fixture(scope="module")
async def claim(sandbox):
    number = await sandbox.send("3004")
    await sandbox.advance(2)
    return number


async def trail(sandbox):
    rows = audit.read_between(sandbox.installation.database, audit.BEFORE_ALL, 1 << 62)
    return [(row["action"], row["actor"]) async for row in rows]


async def test_what_went_out_and_came_in_is_reported_in_sentences(sandbox, operator, claim):
    out = unescape(await operator.text("/files?tab=out"))
    assert "Delivered" in out
    assert "Sandbox Medical<span" in out
    page = unescape(await operator.text("/files/out/1"))
    assert "837P" in page
    assert "1 claim, charged 100.00." in page
    assert claim in page
    came = unescape(await operator.text("/files"))
    assert "277CA" in came
    id = re.findall(r"/files/in/(\d+)", came)[0]
    page = unescape(await operator.text(f"/files/in/{id}"))
    assert "Applied" in page
    for side, number in (("in", id), ("out", 1)):
        explained = await operator.ask(f"/files/{side}/{number}/x12")
        # It stands in the frame, with the policy of every page: the style sheet of its contents comes from us.
        page = unescape(explained.body.decode())
        assert re.search(
            r'<nav class="side".*<a href="/console/files"[^>]* aria-current', page, re.DOTALL
        )
        assert "<strong>operator" in page
        assert page.count("<h1>") == page.count("<main ") == page.count("</html>") == 1
        assert f"<h1>File {number} {side}, explained</h1>" in page
        assert "<style" not in page
        assert '<link rel="stylesheet" href="/console/x12.css">' in page
        assert "style-src 'self'" in explained.headers["content-security-policy"]
        assert (b"from F28_TotalCharge (box 28)" in explained.body) is (side == "out")
        raw = await operator.ask(f"/files/{side}/{number}/raw")
        assert raw.body.startswith(b"ISA*")
    who = {action for action, actor in await trail(sandbox) if "operator" in str(actor)}
    assert {"inbox.read", "batch.read", "inbox.statements.read"} <= who


def row_with_age(words: str) -> str:
    """The row of Home with these words, and how old the oldest of it is."""
    return rf'{words}</span></th>.*<td class="num hide-narrow">(?:today|\d+ days?)</td>'


async def test_a_file_that_is_not_understood_is_replayed_or_put_aside(sandbox, operator, claim):
    file = await arrive(sandbox.installation, b"<html>" + HOSTILE.encode(), name=HOSTILE)
    assert file.state == "quarantined"
    for path in ("/files?tab=review", f"/files/in/{file.id}"):
        page = await operator.text(path)
        assert "Not understood" in page
        assert HOSTILE not in page
    home = await operator.text("/")
    assert re.search(row_with_age("Files not understood"), home)
    assert 'href="/console/files?tab=review"' in home
    assert "This is not an X12 file." in await operator.text(f"/files/in/{file.id}")
    assert (await operator.ask(f"/files/in/{file.id}/x12")).status_code == 409
    for verb, notice in (("replay", "replayed"), ("discard", "discarded")):
        answer = await operator.ask(f"/files/in/{file.id}/{verb}", form={"confirmed": "yes"})
        assert answer.headers["location"] == f"/console/files/in/{file.id}?done={notice}"
    assert "Put aside" in await operator.text(f"/files/in/{file.id}?done=discarded")
    answer = await operator.confirm(f"/files/in/{file.id}/accept", form={})
    assert (answer.status_code, b"no sender to accept" in answer.body) == (409, True)


async def test_payments_and_unknown_claims_of_a_file_are_shown(sandbox, operator, claim):
    content = payment(paid(HOSTILE, "1", "100", "80", "CAS*CO*45*20"))
    file = await arrive(sandbox.installation, content)
    page = await operator.text(f"/files/in/{file.id}")
    assert "1 payment in this file" in page
    assert "Payment (835)" in page
    assert HOSTILE not in page
    assert HOSTILE in unescape(page)
    explained = (await operator.ask(f"/files/in/{file.id}/x12?site=A-1")).body.decode()
    assert HOSTILE in unescape(explained)
    assert HOSTILE not in explained
    # It leads back to the file, and writes days as every page does.
    assert f'<a href="/console/files/in/{file.id}?site=A-1">' in explained
    assert re.search(r'<dd class="m">[A-Z][a-z]{2} \d+, 20\d\d</dd>', explained)
    assert not re.search(r'<dd class="m">[^<]*\d{4}-\d\d-\d\d', explained)


async def test_a_file_in_doubt_waits_for_a_person(sandbox, operator, monkeypatch):
    await sandbox.control.set_mode("TST01", "down")
    await sandbox.send("3001")
    await sandbox.advance(1)
    id = re.findall(r"/files/out/(\d+)", await operator.text("/files?tab=out"))[0]
    await batch_admin.mark_in_doubt_after_restore(sandbox.installation.work_context, actor=BY)
    # Also while the route is down, Home says that a delivery is in doubt, and the payer's page does.
    home = unescape(await operator.text("/"))
    assert re.search(row_with_age("Route down: Sandbox Medical"), home)
    assert re.search(row_with_age("Delivery in doubt: Sandbox Medical"), home)
    assert "Delivery in doubt" in await operator.text("/payers/medical/TST01")
    page = await operator.text(f"/files/out/{id}")
    assert "Its delivery is unconfirmed." in page
    # It is listed however many files were written since.
    await sandbox.send("3001")
    await sandbox.advance(1)
    assert f"/files/out/{int(id) + 1}" in await operator.text("/files?tab=out")
    monkeypatch.setattr(files_page, "REVIEW_MAX", 1)
    assert f"/files/out/{id}" in await operator.text("/files?tab=review")
    answer = await operator.confirm(f"/files/out/{id}/resend", form={})
    assert answer.headers["location"] == f"/console/files/out/{id}?done=resent"
    answer = await operator.confirm(f"/files/out/{id}/delivered", form={})
    assert answer.headers["location"] == f"/console/files/out/{id}?done=delivered"
    answer = await operator.confirm(f"/files/out/{id}/resend", form={})
    assert (answer.status_code, b"is delivered" in answer.body) == (409, True)


@pytest.mark.parametrize("path", ["in/77", "out/77", "in/x", "out/-1", "in/77/raw", "out/77/x12"])
async def test_a_file_that_is_not_there_is_not_found(operator, path):
    assert (await operator.ask(f"/files/{path}")).status_code == 404


@pytest.mark.parametrize(("text", "number"), [("7", 7), ("", None), ("٣", None), ("1" * 16, None)])
def test_a_number_is_digits_only(text, number):
    assert read_number(text) == number


@pytest.mark.safe_default(18)
async def test_a_test_file_in_production_is_posted_when_the_operator_confirms(new_place):
    place = await new_place("sqlite")
    place.keys().wrapping_key()
    settings = load(
        environ={},
        overrides={"data": place.data, "mode": "production", "submitter_name": "FERNHILL BILLING"},
    )
    async with open_installation(settings, role="command") as installation:
        operator = await sign_in_as(installation, ConsoleRole.OPERATOR)
        content = payment(paid("QUILL77", "1", "100", "80", "CAS*CO*45*20"), usage="T")
        route = loopback_route("Medical", "MM001", window_seconds=0)
        id = (await receive(installation.work_context, route, "remit", content)).id
        await post_file(installation.work_context, id)
        for path in ("/files?tab=review", "/files", f"/files/in/{id}"):
            assert "Test file</span>" in await operator.text(path)
        assert "Test files" in await operator.text("/")
        page = await operator.text(f"/files/in/{id}")
        assert "0 payments" not in page
        assert "1 payment in this file" not in page
        # It asks, and says what will happen, before it is done.
        asked = await operator.ask(f"/files/in/{id}/accept-test", form={})
        assert "stays marked as a test" in bytes(asked.body).decode()
        assert "1 payment in this file" not in await operator.text(f"/files/in/{id}")
        answer = await operator.ask(f"/files/in/{id}/accept-test", form={"confirmed": "yes"})
        assert answer.headers["location"] == f"/console/files/in/{id}?done=test-accepted"
        page = await operator.text(f"/files/in/{id}?done=test-accepted")
        assert "1 payment in this file" in page
        for path in ("/files", f"/files/in/{id}"):
            assert "Test file</span>" in await operator.text(path)
        answer = await operator.ask(f"/files/in/{id}/accept-test", form={"confirmed": "yes"})
        assert answer.status_code == 409
        rows = audit.read_between(installation.database, audit.BEFORE_ALL, 1 << 62)
        assert "inbox.accept_test_file" in [row["action"] async for row in rows]


async def test_files_are_listed_by_the_filters_of_every_face(sandbox, operator, claim):
    found = unescape(await operator.text("/files?tab=out&payer=TST01&state=delivered"))
    assert "/files/out/1" in found
    assert "State: Delivered" in found
    none = unescape(await operator.text("/files?payer=OTHER"))
    assert "No file fits these filters." in none
    wrong = unescape(await operator.text("/files?tab=out&type=x&state=x"))
    for sentence in ("Type of payer: One of", "State: One of ready, sending"):
        assert f'<p class="fault" role="alert">{sentence}' in wrong
    assert "/files/out/1" in wrong
