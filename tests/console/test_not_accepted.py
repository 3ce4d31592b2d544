"""Claims that were not accepted, as the console shows them: on Home, in lists, by search, and with the correction form.

Also tests `console/home_page`, `console/claims/search_page` and `console/claims/resend_page`.
"""

import re
from html import unescape

import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.pipeline.query import claim_summary
from tests.console.sandbox_console import open_sandbox_console
from tests.console.test_claims_page import shown

NPI = "F33A_BillingProviderNpi"
WRONG, RIGHT = "1234567890", "1234567893"
PATIENT = {"F02_PatientNameLast": "Quillfeather", "F04_InsuredNameLast": "Quillfeather"}

pytestmark = pytest.mark.safe_default(16)


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("sandbox")) as made:
        wrong = {NPI: WRONG, "accepted": False}
        made.npi = await made.send(
            Svc_VendorClaimId="WRONG-1",
            F26_PatientAcctNumber="ACC-WRONG-1",
            F01A_InsuredId="XJ4471",
            **wrong,
            **PATIENT,
        )
        made.same = await made.send(**wrong)
        made.payer = await made.send(Svc_PayerId="NOBODY", accepted=False)
        made.total = await made.send(F28_TotalCharge="1.00", accepted=False)
        made.good = await made.send("3001", Svc_VendorClaimId="GOOD-1")
        made.in_use = await made.send(
            "3001", Svc_VendorClaimId="GOOD-1", F05_PatientCity="Elm Park", accepted=False
        )
        await claim_summary.refresh_summary(
            made.installation.work_context, made.site("A-1"), with_causes=True
        )
        yield made


@pytest.fixture(scope="module")
async def biller(sandbox):
    return await sandbox.person(ConsoleRole.BILLER)


def words(page):
    """The text of a page."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


async def test_home_and_lists_show_it_as_work_by_rule(sandbox, biller):
    refused = {sandbox.npi, sandbox.same, sandbox.payer, sandbox.total, sandbox.in_use}
    home = words(await biller.text("/"))
    assert re.search(r"5 claims need you: \$[\d,.]+ waiting", home)
    count, money = re.search(
        r"Not accepted by us (\d+) claims ([\d,.]+) (?:today|\d+ days?)", home
    ).groups()
    every = await biller.text("/claims")
    labels = {number: label for number, (_, label, _) in shown(every).items()}
    assert labels == dict.fromkeys(refused, "Not accepted") | {sandbox.good: "Received"}
    assert {kind for kind, label, _ in shown(every).values() if label == "Not accepted"} == {"act"}
    assert re.findall(r">(All|Needs you) <span>(\d+)", every) == [("All", "6"), ("Needs you", "5")]
    page = await biller.text("/worklists?label=not_accepted")
    assert f"{count} claims, charged {money}, paid on claims 0.00" in words(page)
    groups = {
        unescape(text): (unescape(under), "Fix this cause" in rest)
        for text, under, rest in re.findall(
            r'scope="rowgroup".*?<strong>([^<]+)</strong>\s*<span[^>]*>([^<]+)(.*?)</tr>', page, re.DOTALL
        )
    }  # fmt: skip
    assert len(groups) == 4
    [(npi, may_fix)] = [value for text, value in groups.items() if text.endswith("(box 33a)")]
    assert (npi.startswith("Sandbox Medical"), "2 claims" in npi, may_fix) == (True, True, True)
    [(total, _)] = [value for text, value in groups.items() if text.endswith("(box 28)")]
    assert "1 claim, $1.00" in total
    flat = shown(await biller.text("/worklists?label=not_accepted&group=0"))
    assert flat.keys() == refused
    assert sandbox.good in flat[sandbox.in_use][2]


@pytest.mark.parametrize("text", ["WRONG-1", "ACC-WRONG-1", "XJ4471", "Quillfeather", "quil"])
async def test_it_is_found_as_other_claims_are(sandbox, biller, text):
    answer = await biller.ask(f"/search?q={text}")
    found = answer.headers.get("location", "") + answer.body.decode()
    assert f"/claims/{sandbox.npi}" in found


async def test_its_page_says_why_and_what_would_pass(sandbox, biller):
    page = words(await biller.text(f"/claims/{sandbox.npi}"))
    assert "Not accepted by us" in page
    assert f"Box 33a: Billing provider's NPI {WRONG} " in page
    assert re.search(r"Our rule C\d+ · seen on 1 other claim this week", page)
    assert "Correct and resubmit" in page
    assert "none yet" in page
    total = words(await biller.text(f"/claims/{sandbox.total}"))
    assert "Box 28" in total
    assert "the lines add up to" in total
    assert "make them equal" in total
    again = words(await biller.text(f"/claims/{sandbox.npi}/again"))
    assert "Clearlane did not accept it as it is" in again
    for part in ("money", "files", "notes"):
        await biller.text(f"/claims/{sandbox.npi}?show={part}")


async def test_it_is_corrected_by_the_same_form(sandbox, biller):
    path = f"/claims/{sandbox.same}/correct"
    form = words(await biller.text(path))
    assert "Fix these (1)" in form
    assert f"Given: {WRONG}" in form
    still = await biller.ask(path, form={f"f.{NPI}": "1234567891", "do": "review"})
    assert "1 thing to fix" in words(still.body.decode())
    assert "1234567891" in words(still.body.decode())
    assert sandbox.same in shown(await biller.text("/worklists?label=not_accepted&group=0"))
    review = await biller.ask(path, form={f"f.{NPI}": RIGHT, "do": "review"})
    assert "the first one was not accepted and was never sent" in words(review.body.decode())
    sent = await biller.ask(path, form={f"f.{NPI}": RIGHT, "do": "send"})
    new = re.search(r"/claims/(\w+)", sent.headers["location"])[1]
    page = words(await biller.text(sent.headers["location"].removeprefix("/console")))
    assert "Take back" in page
    assert "Next not accepted claim: 1 of 4" in page
    old = words(await biller.text(f"/claims/{sandbox.same}"))
    assert f"Replaced by {new}" in old
    assert sandbox.same not in shown(await biller.text("/claims"))
    assert shown(await biller.text("/claims"))[new][1] == "Received"


async def test_an_unknown_payer_is_corrected_here(sandbox, biller):
    path = f"/claims/{sandbox.payer}/correct"
    assert "Correct payer id" in words(await biller.text(f"/claims/{sandbox.payer}"))
    assert "Given: NOBODY" in words(await biller.text(path))
    review = await biller.ask(path, form={"f.Svc_PayerId": "TST01", "do": "review"})
    assert "Send to Sandbox Medical" in words(review.body.decode())
    sent = await biller.ask(path, form={"f.Svc_PayerId": "TST01", "do": "send"})
    assert sent.status_code == 303
    # A claim that was accepted keeps its payer.
    assert "Svc_PayerId" not in await biller.text(f"/claims/{sandbox.good}/correct")


async def test_another_claim_that_has_the_id_stops_its_correction(sandbox, biller):
    path = f"/claims/{sandbox.in_use}/correct"
    page = await biller.text(f"/claims/{sandbox.in_use}")
    assert re.search(
        r'<a class="button main" href="/console/search\?q=GOOD-1">Find the first', page
    )
    for form in (None, {"f.F05_PatientCity": "Elm Grove", "do": "review"}):
        refused = await biller.ask(path, form=form)
        assert refused.status_code == 409
        assert "A correction does not resolve this." in words(refused.body.decode())
        assert sandbox.good in refused.body.decode()
