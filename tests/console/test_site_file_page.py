"""Files that sites send and fetch, in the console: listed by role, opened with claims, findings and what came back.

Also tests `console/files/file_contents`.
"""

import asyncio
import re
from datetime import timedelta
from html import unescape

import pytest
from typer.testing import CliRunner

from clearlane.accounts.users import ConsoleRole
from clearlane.cli.claim.claim import app
from clearlane.console.files import site_file_page
from clearlane.kernel.client_file import FileChannel
from clearlane.pipeline.intake.files.file_work import process_waiting
from clearlane.pipeline.intake.files.upload import Upload
from clearlane.store.audit import audit
from tests.console.sandbox_console import SENDER, open_sandbox_console
from tests.pipeline.test_sender_responses import a_claim, a_file

LINK = re.compile(r'href="/console(/files/sites/(\w+))[?"][^>]*>([^<]+)</a>')


async def send(sandbox, content, *, name, site="A-1"):
    """Send a file of a site, and process it; return the address of its page."""
    context = sandbox.installation.work_context
    upload = await Upload.begin(
        context, sandbox.site(site), name=name, channel=FileChannel.HTTPS, actor=SENDER
    )
    await upload.write(content)
    file = await upload.finish(name)
    assert await process_waiting(context) == 1
    return f"/files/sites/{file.file_id}"


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    data = tmp_path_factory.mktemp("files")
    async with open_sandbox_console(data) as made:
        made.data = data
        day = f"{made.installation.clock.now().date() - timedelta(days=20):%Y%m%d}".encode()
        claims = [a_claim(at, payer="TST01", account=f"ACC-{at}") for at in (1, 2)]
        claims.append(a_claim(3, payer="NOBODY", account="ACC-3"))
        content = a_file(claims).replace(b"20240211", day)
        made.claims_file = await send(made, content, name="<b>claims.837")
        made.junk = await send(made, b"<html>no claims", name="junk.txt")
        made.of_other = await send(made, b"PK\x03\x04", name="others.zip", site="B-1")
        yield made


@pytest.fixture(scope="module")
async def biller(sandbox):
    return await sandbox.person(ConsoleRole.BILLER)


def text_of(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


async def test_people_see_the_files_of_their_sites_and_operators_all(sandbox, biller):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    sent = await biller.text("/files")
    assert "&lt;b&gt;claims.837" in sent
    assert "<b>claims" not in sent
    for words in ("Partly accepted", "3 claims: 2 accepted, 1 not.", "Unreadable", "by https"):
        assert words in text_of(sent), words
    for hidden in ("others.zip", "From payers", "To payers"):
        assert hidden not in sent
    everything = await operator.text("/files?tab=sent")
    assert "others.zip" in everything
    assert "Quarry Street Clinic" in everything
    assert "From payers" in everything
    for path in (sandbox.of_other, f"{sandbox.of_other}/raw", "/files/sites/..", "/files/in/1"):
        assert (await biller.ask(path)).status_code in {403, 404}, path
    assert (await operator.ask(f"{sandbox.of_other}/raw")).body == b"PK\x03\x04"


async def test_files_are_listed_by_their_filters(sandbox, biller):
    found = await biller.text("/files?tab=sent&state=unreadable")
    assert "junk.txt" in found
    assert "claims.837" not in found
    back = await biller.text("/files?tab=fetch&type=999&not_fetched=true")
    assert {"999"} == set(re.findall(r"nowrap\">(\w+)</td>", back))
    assert "Not fetched: true" in back
    wrong = text_of(await biller.text("/files?tab=sent&state=x"))
    assert "State: One of" in wrong


async def test_a_file_opens_with_sets_claims_findings_and_responses(sandbox, biller):
    page = await biller.text(sandbox.claims_file)
    words = text_of(page)
    assert "Partly accepted" in words
    assert "Set 1" in words
    # What was not accepted comes first, with the place in the file.
    assert "ACC-3" in words
    assert "ACC-1" not in words
    assert re.search(r"2010BB/NM109 \(segment \d+\)", words), words
    every = text_of(await biller.text(f"{sandbox.claims_file}?claims=all"))
    assert "ACC-1" in every
    assert "ACC-3" in every
    types = {"999": b"IK5*E", "277CA": b"STC*A3"}
    responses = {name.rpartition(".")[2].upper(): path for path, _, name in LINK.findall(page)}
    for type, part in types.items():
        answer = await biller.ask(f"{responses[type]}/raw")
        assert part in answer.body
        assert "attachment" in answer.headers["content-disposition"]
        shown = await biller.text(responses[type])
        assert "Not fetched" in shown
        assert f'href="/console{sandbox.claims_file}"' in shown
    explained = await biller.text(f"{sandbox.claims_file}/x12")
    assert "ACC-2" in explained
    report = LINK.findall(await biller.text(sandbox.junk))[-1][0]
    assert "No X12 interchange was found" in await biller.text(report)
    rows = audit.read_between(sandbox.installation.database, audit.BEFORE_ALL, 1 << 62)
    looks = {
        (row["action"], re.split(r"\W", str(row["detail"]))[0])
        async for row in rows
        if "biller" in str(row["actor"])
    }
    assert {("console.file", use) for use in ("page", "download", "explained")} <= looks
    assert "console.file.claims" in {action for action, _ in looks}


async def test_claims_of_a_file_are_turned_page_by_page(sandbox, biller, monkeypatch):
    monkeypatch.setattr(site_file_page, "CLAIMS_PER_PAGE", 2)
    first = await biller.text(f"{sandbox.claims_file}?claims=all")
    assert "ACC-3" not in first
    (after,) = re.findall(r"after=([\d%A-F]+)", first)
    last = await biller.text(f"{sandbox.claims_file}?claims=all&after={after}")
    assert "ACC-3" in last
    assert "ACC-1" not in last


async def test_a_claim_names_the_file_that_it_came_in(sandbox, biller):
    page = await biller.text(f"{sandbox.claims_file}?claims=all")
    number = re.findall(r"/claims/(C\w+)", page)[1]
    claim = await biller.text(f"/claims/{number}")
    assert (
        f'<a href="/console{sandbox.claims_file}">&lt;b&gt;claims.837</a>, set 1, claim 2' in claim
    )
    file_id = sandbox.claims_file.rpartition("/")[2]
    where = f"<b>claims.837 (file {file_id}), set 1, claim 2"
    assert f"It came in {where}: segments" in text_of(claim)
    shown = await asyncio.to_thread(
        CliRunner().invoke, app, ["show", number, "--data", str(sandbox.data)]
    )
    assert f"came in {where}" in " ".join(shown.output.split()), shown.output
