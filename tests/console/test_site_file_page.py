"""Files that sites send and fetch, in the console: listed by role, opened with claims, findings and what came back.

Also tests `console/files/file_contents`, `console/files/send_claims_page`, `console/files/shadow_page` and `pipeline/query/file_claim_list`.
"""

import asyncio
import base64
import json
import re
from datetime import timedelta
from html import unescape

import pytest
from typer.testing import CliRunner

from clearlane.accounts.users import ConsoleRole
from clearlane.claims.forms import FORMS, samples
from clearlane.cli.claim.claim import app
from clearlane.console.files import send_claims_page, site_file_page
from clearlane.kernel.client_file import FileChannel
from clearlane.pipeline.intake.files.upload import Upload
from clearlane.store.audit import audit
from tests.console.sandbox_console import SENDER, open_sandbox_console
from tests.pipeline.test_sender_responses import a_claim, a_file
from tests.waiting_files import process_waiting

LINK = re.compile(r'href="/console(/files/sites/(\w+))[?"][^>]*>([^<]+)</a>')


async def send(sandbox, content, *, name, site="A-1", shadow=False):
    """Send a file of a site, and process it; return the address of its page."""
    context = sandbox.installation.work_context
    upload = await Upload.begin(
        context,
        sandbox.site(site),
        name=name,
        channel=FileChannel.HTTPS,
        actor=SENDER,
        is_shadow=shadow,
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
        signs = content.replace(b"ARDEN", b"O\x92DELL")
        made.shadow = await send(made, signs, name="shadow.837", shadow=True)
        made.junk = await send(made, b"<html>no claims", name="junk.txt")
        made.old = await send(
            made, content.replace(b"005010X222A1", b"004010X098A1"), name="old.837"
        )
        made.of_other = await send(made, b"PK\x03\x04", name="others.zip", site="B-1")
        yield made


@pytest.fixture(scope="module")
async def biller(sandbox):
    return await sandbox.person(ConsoleRole.BILLER)


async def saved(response):
    """Return what a streamed download saves."""
    content = b"".join([piece async for piece in response.body_iterator])
    assert response.headers["content-length"] == str(len(content))
    return content


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
    assert await saved(await operator.ask(f"{sandbox.of_other}/raw")) == b"PK\x03\x04"


async def test_a_shadow_file_is_marked_and_its_claims_show_what_stops_them(sandbox, biller):
    assert re.search(r"Shadow</span>\s*</td>[^~]*?shadow\.837", await biller.text("/files"))
    page = await biller.text(sandbox.shadow)
    words = text_of(page)
    assert "Partly accepted Shadow shadow.837" in words
    # What the check of the format finds in claims that are accepted is no finding of the file.
    assert "plain signs" not in words.partition("Sets")[0]
    assert "NOBODY" in words
    assert "/files/shadow?site=A-1" in page
    report = text_of(await biller.text("/files/shadow?site=A-1&lines=all"))
    assert re.search(r"Nothing imported yet ACC-3 C\w+ Not accepted breaks C101", report), report
    assert "No difference among 3 claims" in await biller.text("/files/shadow?site=A-1")
    number = re.search(r'href="/console/claims/(\w+)', page)[1]
    claim = await biller.text(f"/claims/{number}")
    assert re.search(r'at-fault"><code>NM1\*PR', claim), "the segment is marked"
    assert f"/claims/{number}/correct" not in claim


async def test_files_are_listed_by_their_filters(sandbox, biller):
    found = await biller.text("/files?tab=sent&state=unreadable")
    assert "junk.txt" in found
    assert "claims.837" not in found
    back = await biller.text("/files?tab=fetch&type=999&not_fetched=true")
    assert {"999"} == set(re.findall(r"nowrap\">(\w+)</td>", back))
    assert 'aria-label="Remove the filter Not fetched"' in back
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
        assert part in await saved(answer)
        assert "attachment" in answer.headers["content-disposition"]
        shown = await biller.text(responses[type])
        assert "Not fetched" in shown
        assert f'href="/console{sandbox.claims_file}"' in shown
    explained = await biller.text(f"{sandbox.claims_file}/x12")
    assert "ACC-2" in explained
    assert "a claim may be accepted with findings here" in explained
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


async def test_a_rejected_set_says_why_and_home_has_files_that_were_not_taken(sandbox, biller):
    assert "Version 004010 is not taken" in text_of(await biller.text(sandbox.old))
    home = await biller.text("/")
    for state, text in (
        ("rejected", "Files of sites rejected"),
        ("unreadable", "Files of sites unreadable"),
    ):
        assert text in text_of(home)
        (link,) = re.findall(rf'href="/console(/files\?tab=sent&amp;state={state}[^"]*)"', home)
        assert ("old.837" if state == "rejected" else "junk.txt") in await biller.text(
            unescape(link)
        )
    assert "others.zip" not in home


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


def a_json(sandbox, form, **own):
    """A document of one claim, as a person pastes it."""
    day = sandbox.installation.clock.now().date() - timedelta(days=5)
    document = samples.document(form, day=day)
    document["Claims"][0] |= {"Svc_PayerId": "TST01" if form.kind != "dental" else "TST02"} | own
    return json.dumps(document, default=str)


async def test_json_claims_of_every_kind_are_sent_from_the_console(sandbox, biller):
    assert "/console/claims/send" in await biller.text("/claims")
    for at, form in enumerate(FORMS.values()):
        text = a_json(sandbox, form, Svc_VendorClaimId=f"HAND-{at}")
        answer = await biller.ask("/claims/send", form={"text": text})
        page = answer.body.decode()
        assert (answer.status_code, "1 of 1 claim accepted" in text_of(page)) == (200, True), form
        number = re.search(r'href="/console/claims/(C\w{18})', page)[1]
        assert f"HAND-{at}" in await biller.text(f"/claims/{number}")
    wrong = a_json(sandbox, form, Svc_VendorClaimId="<script>x</script>", Svc_PayerId="NOBODY")
    page = (await biller.ask("/claims/send", form={"text": wrong})).body.decode()
    assert "0 of 1 claim accepted" in text_of(page)
    assert "NOBODY" in page
    assert "<script>x" not in page


async def test_a_chosen_file_goes_the_way_of_the_file_channel(sandbox, biller):
    content = a_file([a_claim(7, payer="TST01", account="ACC-7")])
    chosen = {"content": base64.b64encode(content).decode(), "name": "mine.837"}
    answer = await biller.ask("/claims/send", form=chosen)
    place = answer.headers["location"]
    assert (answer.status_code, place.startswith("/console/files/sites/F")) == (303, True)
    path = place.removeprefix("/console").partition("?")[0]
    # Until it is read there is nothing to count, and the page looks again by itself.
    waiting = await biller.text(path)
    assert "data-look-again" in waiting
    for heading in ("Claims", "Accepted", "Holds"):
        assert f"<dt>{heading}</dt>" not in waiting, heading
    assert await process_waiting(sandbox.installation.work_context) == 1
    read = await biller.text(path)
    assert "mine.837" in read
    assert "<dt>Accepted</dt>" in read
    assert "data-look-again" not in read


async def test_a_file_that_cannot_be_read_leads_to_its_report_and_counts_no_claims(sandbox, biller):
    page = await biller.text(sandbox.junk)
    assert "<dt>Accepted</dt>" not in page
    report = re.search(r'<a href="/console(/files/sites/[^"]+)">Read the report</a>', page)[1]
    assert "junk.txt" in await biller.text(report)


async def test_what_cannot_be_sent_says_why_and_nothing_is_stored(sandbox, biller):
    support = await sandbox.person(ConsoleRole.SUPPORT)
    for form, words in (
        ({}, "Choose a file, or paste its text."),
        ({"content": "!"}, "Choose it again."),
        ({"content": "", "name": "claims.837"}, "The file is empty."),
        ({"text": "{"}, "one of MedicalClaim, DentalClaim, InstitutionalClaim is expected"),
        ({"text": '{"DocumentType": "Other"}'}, "DocumentType"),
        ({"text": '{"DocumentType": "MedicalClaim"}'}, "Claims"),
        ({"text": "x" * (send_claims_page.FILE_BYTES_MAX + 1)}, "larger than 2 MB"),
    ):
        answer = await biller.ask("/claims/send", form=form)
        assert (answer.status_code, words in text_of(answer.body.decode())) == (400, True), words
    # With several sites the person says which; another's is none of them.
    other = str(sandbox.site("B-1").id)
    for of in ("", other, "x"):
        answer = await support.ask("/claims/send", form={"site": "all", "of": of, "text": "{}"})
        assert "Choose the site" in text_of(answer.body.decode()), of
    viewer = await sandbox.person(ConsoleRole.VIEWER)
    assert (await viewer.ask("/claims/send", form={"text": "{}"})).status_code == 403
    assert "/claims/send" not in await viewer.text("/claims")
