"""A claim of a sender's file on every page and command that shows claims: no page crashes, and places are those of the file."""

import asyncio
import json
import re
from datetime import timedelta
from html import unescape

import pytest
from typer.testing import CliRunner

from clearlane.accounts.users import ConsoleRole
from clearlane.api.v3.documents import compose_documents
from clearlane.claims.forms.x12_loops import check_claim
from clearlane.cli.claim.claim import app
from clearlane.pipeline.intake.judge_file_claims import FileClaim, SeenClaims, judge_file_claims
from clearlane.pipeline.intake.store_file_claims import store_file_claims
from clearlane.pipeline.query.claim_list import list_statuses
from clearlane.pipeline.query.retrieve_documents import retrieve_documents
from clearlane.store.claims import documents
from tests.claims.file_claims import VISITS, claims_in
from tests.console.sandbox_console import SENDER, open_sandbox_console

TABS = ("form", "money", "files", "notes")


async def send(sandbox, member, account, **changed):
    """Take the first claim of the sample in as one of a file, for a member of the sandbox; return its number."""
    now = sandbox.installation.clock.now()
    day = f"{now.date() - timedelta(days=5):%Y%m%d}"
    data = VISITS.read_text()
    pairs = {
        "M10020030": member,
        "MDW10": "TST01",
        "HHP20": "TST01",
        "FB-1001": account,
        "20250211": day,
        "ABF:R51": "ABF:R519",
        **changed,
    }
    for before, after in pairs.items():
        data = data.replace(before, after)
    claim, _ = claims_in(data.encode())
    context, site = sandbox.installation.work_context, sandbox.site("A-1")
    page = [FileClaim(claim, check_claim(claim))]
    (one,) = await judge_file_claims(context, site, page, now=now, seen=SeenClaims())
    rows = [one.row]
    await context.database.write(
        site.scope, lambda tx: store_file_claims(tx, context, site, rows), actor=SENDER
    )
    return one.row.claim_number


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    data = tmp_path_factory.mktemp("sandbox")
    async with open_sandbox_console(data) as made:
        made.data = data
        made.refused = await send(made, "M1", "ACC-1", **{"SV1*HC:87880*55.5": "SV1*HC:87880*54.5"})
        made.numbers = {
            scenario: await send(made, scenario, f"ACC-{scenario}")
            for scenario in ("3016", "3017", "3004", "M555")
        }
        await made.advance(15)
        yield made


@pytest.fixture(scope="module")
async def biller(sandbox):
    return await sandbox.person(ConsoleRole.BILLER)


def text_of(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


async def test_every_tab_and_list_shows_claims_of_files(sandbox, biller):
    for number in (sandbox.refused, *sandbox.numbers.values()):
        for tab in TABS:
            page = await biller.text(f"/claims/{number}?show={tab}")
            assert number in page
    form = text_of(await biller.text(f"/claims/{sandbox.numbers['M555']}?show=form"))
    assert "read from an 837 file" in form
    assert "12 ELM STREET" in form
    assert "NM1*85*2*FERNHILL FAMILY PRACTICE*****XX*1234567893" in form
    listed = await biller.text("/claims?show=all")
    assert sandbox.numbers["3016"] in listed
    found = await biller.ask("/search?q=ACC-3016")
    assert found.headers["location"].endswith(f"/claims/{sandbox.numbers['3016']}")


async def test_a_finding_is_shown_at_its_segment_and_corrected_there(sandbox, biller):
    page = text_of(await biller.text(f"/claims/{sandbox.refused}"))
    assert "The total is 205.50, the lines add up to 204.50" in page
    assert "It came in an 837P file: segments 27 to 38." in page
    path = f"/claims/{sandbox.refused}/correct"
    assert "2300/CLM02 (segment 27)" in text_of(await biller.text(path))
    form = {"f.2300/CLM02 (segment 27)": "204.5"}
    asked = text_of((await biller.ask(path, form={**form, "do": "send"})).body.decode())
    assert "Say why you are changing what was billed." in asked
    why = {"reason": "A typing mistake.", "authority": "The provider"}
    shown = await biller.ask(path, form={**form, **why, "do": "review"})
    review = text_of(shown.body.decode())
    assert "Send to Sandbox Medical" in review
    sent = await biller.ask(path, form={**form, **why, "do": "send"})
    assert sent.status_code == 303, text_of(sent.body.decode())
    new = re.search(r"/claims/(\w+)\?", sent.headers["location"])[1]
    assert "204.50" in text_of(await biller.text(f"/claims/{new}"))
    assert f"Replaced by {new}" in text_of(await biller.text(f"/claims/{sandbox.refused}"))


async def test_the_box_of_a_faulty_diagnosis_is_marked(sandbox, biller):
    number = await send(sandbox, "M2", "ACC-2", **{"ABF:R519": "ABF:R51"})
    page = await biller.text(f"/claims/{number}")
    assert re.search(
        r'<div class="wide fault"><dt>21 .*<span class="under reason">see <a href="#why-1"', page
    )
    assert re.search(r'id="why-1">\s*<p class="field"><span class="reason-number">1</span>', page)
    assert text_of(page).count("The ICD-10-CM") == 1, "said once, at the top"
    assert text_of(page).count("see 1") == 3, "box, segment and history point to it"
    # What only X12 has stands below the table of lines, which would be wider than a page of 1280 pixels.
    lines = page[page.index("<caption>Service lines") : page.index("</table>")]
    assert "Line item control number" not in lines
    assert "Line 2: Line item control number 1001-2" in text_of(page)


async def test_a_payers_complaint_names_the_element_of_the_senders_file(sandbox, biller):
    number = sandbox.numbers["3016"]
    page = await biller.text(f"/claims/{number}")
    rejected = text_of(page)
    assert "Correct patient birth and sex: birth date" in rejected
    segment = "26 2010CA DMG*D8*20150304*M Patient birth and sex"
    assert f"{segment} see 1" in rejected
    said = "The payer says the patient's birth date is invalid."
    assert rejected.count(said) == 1, "said once, at the top"
    assert re.search(rf'id="why-1">(?:(?!</div>).)*{re.escape(said[:14])}', page, re.DOTALL)
    assert 'href="#why-1" aria-label="Reason 1, at the top of the page"' in page
    links = re.findall(r'href="/console(/worklists/fix\?[^"]+)"', await biller.text("/worklists"))
    assert links
    for link in links:
        await biller.text(unescape(link))
    sent = await biller.ask(
        f"/claims/{number}/correct",
        form={"f.2010CA/DMG02 (segment 26)": "20150305", "do": "send"},
    )
    assert sent.status_code == 303, text_of(sent.body.decode())


async def test_v3_has_their_status_rows_and_documents(sandbox):
    context, site = sandbox.installation.work_context, sandbox.site("A-1")
    today = context.clock.now().date()
    pages = list_statuses(
        context.database,
        context.vault,
        today - timedelta(days=40),
        today,
        scope=site.scope,
        actor=SENDER,
    )
    statuses = {one.claim_number: one async for page in pages for one in page}
    paid = statuses[sandbox.numbers["M555"]]
    assert (paid.vendor_claim_id, paid.total_cents) == ("ACC-M555", 20_550)
    async with context.database.read(site.scope) as tx:
        rows = await documents.list_for_claims(tx, list(sandbox.numbers.values()))
    found = await retrieve_documents(
        context.database,
        context.vault,
        [row.document_id for row in rows],
        site=site,
        actor=SENDER,
        at=context.clock.now(),
    )
    body = json.loads(b"".join([piece async for piece in compose_documents(found)]))
    ids = {one["VendorClaimId"] for several in body.values() for one in several}
    assert ids == {f"ACC-{scenario}" for scenario in sandbox.numbers}
    fields = [
        field["Location"]
        for one in body["PayerClaimStatuses"]
        for explanation in one["Explanations"]
        for field in explanation["Fields"]
    ]
    assert "2010CA/DMG02 (segment 26)" in fields


async def test_commands_show_and_explain_a_claim_of_a_file(sandbox):
    run = CliRunner()
    for number in (sandbox.refused, *sandbox.numbers.values()):
        for command in ("show", "explain", "x12"):
            words = [command, number, "--data", str(sandbox.data)]
            done = await asyncio.to_thread(run.invoke, app, words)
            assert isinstance(done.exception, SystemExit | None), (command, done.exception)
            assert done.output


async def test_a_denied_claim_is_replaced_under_the_payers_number(sandbox, biller):
    number = sandbox.numbers["3017"]
    path = f"/claims/{number}/correct"
    form = {"f.2010AA/N301 (segment 11)": "14 ELM STREET"}
    shown = text_of((await biller.ask(path, form={**form, "do": "review"})).body.decode())
    assert "Replacement" in shown
    sent = await biller.ask(path, form={**form, "do": "send"})
    assert sent.status_code == 303, text_of(sent.body.decode())
    new = re.search(r"/claims/(\w+)\?", sent.headers["location"])[1]
    files = text_of(await biller.text(f"/claims/{new}?show=files"))
    assert "N3*14 ELM STREET*SUITE 5" in files
    assert re.search(r"REF\*F8\*\w+", files)
    assert "CLM*ACC-3017*205.5***11:B:7*" in files
