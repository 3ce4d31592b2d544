"""In a real browser, as a person: correct a rejected claim and see it paid, fix nine at once; all pages can be used by all."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.console.frame.page_row import READ
from clearlane.console.page_table import PAGES
from tests.api.service_process import ServiceProcess
from tests.cases import IS_THOROUGH
from tests.console import axe, chromium
from tests.console.console_user import add_person
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.group("console")
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
LOOKS = (("light", WIDE), ("dark", NARROW))
FRAGMENTS = ("/eligibility/payers", "/payers/find")
"""Parts of a page, which are looked at where they stand."""
ROWS_BEYOND_THE_FIRST = "tbody > tr:nth-child(n + 9), .seg:nth-of-type(n + 4)"
"""Of a table and of a part of a file: each is made as those before it, and axe takes its time for every one."""
RUNS_OUT = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LENGTH = "document.documentElement.scrollHeight"
PAGE_PIXELS_MAX = 10_000
WHY_PIXELS_MIN = 215
SHORT_PAGES = (
    "/accounts/ACME/api-keys", "/accounts/ACME/webhooks", "/enrollments", "/payers", "/payers/new",
    "/claims/new", "/claims/send", "/people", "/me", "/search?q=zzz", "/rules/C101",
)  # fmt: skip
REMOVED = "rows => document.querySelectorAll(rows).forEach(row => row.remove())"
CHANGED_TEN_TIMES = """for (let at = 0; at < 10; at += 1)
    document.getElementById("new-claim").dispatchEvent(new Event("change"))"""
HOSTILE = "<script>document.title='run'</script>"
GROUP_CLAIMS = 9
OTHER_INSURANCE = {
    "F09_OtherInsuredNameLast": "Lund", "F09_OtherInsuredNameFirst": "Ivo", "F09A_OtherInsuredGroupNum": "GRP300",
    "F09_PatientRelationshipToInsured": "Child", "F11D_OtherPlan": True, "X12_OtherPayerName": "HARBOR HEALTH PLAN",
    "F33A_BillingProviderNpi": "1234567893", "F33_BillingProviderZip": "787011234",
}  # fmt: skip
GOOD_NPI = samples.npi(123_456_780)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A sandbox with a site, a biller, and claims of several scenarios."""
    made = ServiceProcess(tmp_path_factory.mktemp("story") / "served").start()
    account = made.add_vendor("ACME")
    made.add_site(account, "A-1", "--baa-accepted", "--name", "Fernhill Family Practice")
    made.biller = add_person(made, "tessa", "--vendor", "ACME", "--site", "A-1")
    day = datetime.now(UTC).date() - timedelta(days=5)
    document = samples.document(V3_MEDICAL, day=day, full=False)
    [claim] = document["Claims"]
    # The payer refuses all claims of 3004 for one reason: a billing NPI that it does not know.
    members = ("3016", "3001", "3002", "3003", "3004", "3025", *["3004"] * (GROUP_CLAIMS - 1))
    claims = [
        claim
        | {"Svc_VendorClaimId": f"{member}-{at}{HOSTILE}", "F01A_InsuredId": member}
        | (OTHER_INSURANCE if member == "3002" else {})
        for at, member in enumerate(members)
    ]
    results = []
    with made.client(account.auth, params={"vendorSiteId": "A-1"}) as client:
        # The first file holds one claim: axe looks at every element of a file that a page shows.
        for sent, later in ((claims[:1], "0d"), (claims[1:], "15d")):
            body = json.dumps(document | {"Claims": sent}, default=str)
            answer = client.post("/api/v3/claims/submit", json=json.loads(body))
            results += answer.json()["ClaimResults"]
            client.post("/sandbox/advance", json={"By": later}).raise_for_status()
    assert {result["Status"] for result in results} == {"Accepted"}
    made.numbers = dict(zip(members, (one["RequestId"] for one in results), strict=True))
    with made.client(account.auth) as client:
        hook = {"url": f"https://hooks.example/{HOSTILE}"}
        made.endpoint = client.post("/clearlane/v1/webhook_endpoints", json=hook).json()["id"]
    yield made
    assert made.stop() == 0


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator:
    async with chromium.launched() as opened:
        yield opened


@pytest.fixture(scope="module")
async def signed_in(service, browser):
    """The cookies of an operator who opened the one-time address that a command printed."""
    printed = await asyncio.to_thread(service.command, "console", "open", "--json")
    context = await browser.new_context(ignore_https_errors=True)
    context.set_default_timeout(PATIENCE_SECONDS * 1_000)
    page = await context.new_page()
    await page.goto(json.loads(printed)["url"])
    await page.wait_for_url("**/console/")
    yield await context.storage_state()
    await context.close()


async def sign_in(page, biller):
    await page.get_by_label("User name").fill(biller.name)
    await page.get_by_label("Password").fill(biller.password)
    await page.get_by_label("Code").fill(biller.code())
    await page.get_by_role("button", name="Sign in").click()


@pytest.fixture(scope="module")
async def biller_signed_in(service, browser):
    """The cookies of a biller who signed in with password and code."""
    context = await browser.new_context(ignore_https_errors=True, base_url=service.base_url)
    context.set_default_timeout(PATIENCE_SECONDS * 1_000)
    page = await context.new_page()
    await page.goto("/console/login")
    await sign_in(page, service.biller)
    await page.wait_for_url("**/console/")
    yield await context.storage_state()
    await context.close()


@pytest.fixture
async def biller_page(service, browser, biller_signed_in):
    """A page of a biller who has signed in."""
    context = await browser.new_context(
        ignore_https_errors=True, base_url=service.base_url, viewport=WIDE,
        storage_state=biller_signed_in,
    )  # fmt: skip
    context.set_default_timeout(PATIENCE_SECONDS * 1_000)
    yield await context.new_page()
    await context.close()


async def test_a_person_finds_a_rejected_claim_corrects_it_and_sees_it_paid(service, biller_page):
    page = biller_page
    # Find a rejected claim by the patient's last name and birth date.
    await page.goto(f"/console/claims/{service.numbers['3016']}")
    name = (await page.get_by_role("heading", level=1).inner_text()).partition(",")[0]
    born = re.search(r"born (\w+ \d+, \d+)", await page.locator("main").inner_text())[1]
    await page.keyboard.press("/")
    await page.keyboard.type(f"{name} {born}")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/console/search?*")
    rejected = page.get_by_role("row").filter(has_text="birth date is invalid")
    await rejected.get_by_role("link").click()
    await page.wait_for_url(re.compile("/console/claims/C"))

    # Read why.
    why = page.locator("section.why")
    assert "birth date" in await why.inner_text()

    # Correct it, send. A field is checked when it is left, also if the page's script comes after that.
    await page.get_by_role("link", name="Correct and resubmit", exact=True).first.click()
    asked = []
    page.on("request", lambda request: asked.append(request.method))
    await page.wait_for_url("**/correct?*")
    assert "POST" not in asked
    script_may_come = asyncio.Event()

    async def hold(route):
        await script_may_come.wait()
        await route.continue_()

    await page.route("**/console.js", hold)
    await page.reload(wait_until="commit")
    await page.get_by_label("Box 3: Patient's birth date").fill("2999-01-01")
    await page.keyboard.press("Tab")
    script_may_come.set()
    await page.get_by_role("button", name=re.compile(r"\d things? to fix")).wait_for()
    assert await page.locator("[data-finding]:visible").count() > 0
    await page.get_by_label("Box 3: Patient's birth date").fill("1980-05-05")
    await page.get_by_label("Box 11a: Insured's birth date").fill("1980-05-05")
    await page.get_by_role("button", name="Review").click()
    await page.get_by_text("New claim: the payer never took the first one in.").wait_for()
    await page.get_by_role("button", name=re.compile("^Send to ")).click()
    assert "leaves with the next file" in await page.get_by_role("status").inner_text()

    # Advance the clock, see it paid and the payment balanced.
    await page.get_by_role("button", name="Advance 14 days").click()
    await page.get_by_role("button", name="Advance 1 day").click()
    await page.locator(".claim-head .label.good", has_text="Paid").wait_for()
    await page.get_by_role("link", name="Lines and money").click()
    await page.locator("main").get_by_role("row").last.wait_for()
    await page.get_by_role("table").last.get_by_role("link").first.click()
    await page.get_by_text("Balanced").first.wait_for()


async def test_a_person_finds_a_payer_by_typing_asks_it_and_reads_the_sheet(
    service, browser, signed_in
):
    script = axe.source()
    context = await browser.new_context(
        ignore_https_errors=True, base_url=service.base_url, storage_state=signed_in, viewport=NARROW
    )  # fmt: skip
    context.set_default_timeout(PATIENCE_SECONDS * 1_000)
    page = await context.new_page()
    await page.goto("/console/eligibility?site=A-1")
    payer = page.get_by_role("radio", name="Sandbox Medical Medical, TST01", exact=True)
    typed = page.get_by_role("searchbox", name="Payer")
    await typed.press_sequentially("sandbx medica")
    await page.get_by_role("group", name="fit “sandbx medica”").wait_for()
    await payer.check()
    # What is found for the last letter comes after the choice, and leaves it.
    await typed.press("End")
    await typed.press_sequentially("l")
    await page.get_by_role("group", name="fit “sandbx medical”").wait_for()
    assert await payer.is_checked()
    # A list that comes while the pointer is pressed waits until it is let go.
    pressed = asyncio.Event()

    async def answer_when_pressed(route):
        await pressed.wait()
        await route.continue_()

    await page.route("**/eligibility/payers?*", answer_when_pressed)
    async with page.expect_response("**/eligibility/payers?*"):
        await typed.press("Backspace")
        await page.get_by_text("Medical, TST01", exact=True).hover()
        await page.mouse.down()
        pressed.set()
    assert await page.get_by_role("group", name="fit “sandbx medical”").count() == 1
    await page.mouse.up()
    await page.get_by_role("group", name="fit “sandbx medica”").wait_for()
    assert await payer.is_checked()
    assert not (script and await axe.violations(page, script))
    for label, value in (
        ("Provider's NPI", "1234567893"), ("Member ID", "XJ-4471"), ("Last name", "Arden"),
        ("First name", "Ruth"), ("Birth date", "1986-11-22"),
    ):  # fmt: skip
        await page.get_by_label(label).fill(value)
    await page.get_by_role("button", name="Ask the payer").click()
    await page.get_by_role("heading", name="Benefits").wait_for()
    await page.wait_for_load_state()
    sheet = await page.locator("main").inner_text()
    assert "Physician visit, office: " in sheet
    assert " in network" in sheet
    assert "XJ-4471" in sheet
    assert await page.get_by_role("progressbar").count() > 0
    assert not (script and await axe.violations(page, script))
    await context.close()


def addresses(service):
    """Every page that can be opened without knowing an id, and those of some claims."""
    plain = [row.path for row in PAGES if row.roles and row.methods <= READ and "{" not in row.path]
    shown = [path for path in plain if not path.endswith((".csv", "/fix", *FRAGMENTS))]
    rejected, denied = service.numbers["3004"], service.numbers["3003"]
    return [
        *shown,
        "/claims?tab=rejected&group=0",
        "/claims?tab=next_payer",
        f"/claims/{service.numbers['3002']}",
        f"/claims/{service.numbers['3002']}/next",
        "/search?q=zzz",
        "/people/1",
        "/accounts/ACME/webhooks",
        f"/accounts/ACME/webhooks/{service.endpoint}",
        "/files/out/1/x12",
        f"/claims/{rejected}",
        f"/claims/{rejected}/correct",
        f"/claims/{rejected}/again",
        f"/claims/{denied}/void",
        *(f"/claims/{denied}?show={part}" for part in ("money", "files", "notes")),
    ]


async def test_axe_finds_nothing_on_any_page_and_no_text_runs_in_light_and_dark_wide_and_narrow(
    service, browser, signed_in
):
    script = axe.source()
    if script is None:
        pytest.skip(axe.HOW)
    context = await browser.new_context(
        ignore_https_errors=True, base_url=service.base_url, storage_state=signed_in,
        reduced_motion="reduce",  # colors change at once
    )  # fmt: skip
    context.set_default_timeout(PATIENCE_SECONDS * 1_000)
    page = await context.new_page()
    await page.set_content("<img src='x'>")
    assert await axe.violations(page, script), "axe finds what there is"
    wrong = {}
    for number, path in enumerate(addresses(service)):
        answer = await page.goto(f"/console{path}")
        assert answer.status in {200, 303}, path
        await page.evaluate(script)
        # No script of the console looks at colors or sizes: what changes is what the style sheet says of them. All
        # pages have one, so `make test` looks at every other page in light and wide, and at the rest in dark and narrow.
        for color_scheme, size in LOOKS if IS_THOROUGH else [LOOKS[number % len(LOOKS)]]:
            await page.emulate_media(color_scheme=color_scheme)
            await page.set_viewport_size(size)
            assert await page.evaluate(RUNS_OUT) == 0, path
            assert await page.evaluate(LENGTH) <= PAGE_PIXELS_MAX, path
            if not IS_THOROUGH:
                await page.evaluate(REMOVED, ROWS_BEYOND_THE_FIRST)
            if found := await axe.violations_again(page):
                wrong[path, color_scheme] = found
        assert await page.title() != "run", path
    assert wrong == {}
    await context.close()


async def test_a_page_with_little_on_it_fits_the_window_and_reasons_have_a_wide_column(
    service, browser, signed_in
):
    context = await browser.new_context(
        ignore_https_errors=True, base_url=service.base_url, storage_state=signed_in,
        viewport={"width": 1280, "height": 820},
    )  # fmt: skip
    page = await context.new_page()
    lengths = {}
    for path in SHORT_PAGES:
        assert (await page.goto(f"/console{path}")).status == 200, path
        lengths[path] = await page.evaluate(LENGTH)
    assert lengths == dict.fromkeys(SHORT_PAGES, 820)
    await page.goto("/console/claims?tab=rejected&group=0")
    why = await page.locator("td.why-cell").first.bounding_box()
    assert why["width"] >= WHY_PIXELS_MIN
    await context.close()


async def test_a_person_asks_the_payer_and_bills_the_next_one(service, biller_page):
    page, number = biller_page, service.numbers["3002"]
    await page.goto("/console/claims?tab=next_payer")
    await page.get_by_role("row").filter(has_text="Bill the next payer").get_by_role("link").click()
    await page.wait_for_url(f"**/console/claims/{number}?*")
    await page.get_by_text("More", exact=True).click()
    await page.get_by_role("button", name="Ask the payer").click()
    assert "The payer was asked" in await page.get_by_role("status").inner_text()
    assert "asked" in await page.locator(".timeline").first.inner_text()

    # What the first payer paid is beside what is asked; nothing goes out before the review.
    await page.locator("header").get_by_role("link", name="Bill the next payer").last.click()
    paid = page.get_by_role("region", name="What Sandbox Medical paid")
    assert "24.00" in await paid.inner_text()
    await page.get_by_role("button", name="Review").click()
    assert "member id" in await page.locator("[data-finding]:visible").inner_text()
    await page.get_by_label("Member id of the insured").fill("3001")
    await page.get_by_role("button", name="Review").click()
    await page.get_by_text("The claim as X12").click()
    assert "AMT*D*24~" in await page.locator("pre").inner_text()
    await page.get_by_role("button", name="Send to HARBOR HEALTH PLAN").click()
    assert "next payer is accepted" in await page.get_by_role("status").inner_text()
    await page.get_by_role("button", name="Advance 14 days").click()

    # All payers are one view, and the patient owes what the last one left.
    chain = page.get_by_role("region", name="All payers, in order", exact=True)
    await chain.get_by_text("56.00").first.wait_for()
    text = " ".join((await chain.inner_text()).split())
    assert re.search(r"Primary Sandbox Medical C\w+ Paid 100.00 24.00 56.00", text), text
    assert re.search(r"Secondary Harbor Health Plan this one Paid 100.00 56.00 0.00", text), text
    assert "After the payers that decided, the patient owes 0.00." in text


async def test_a_biller_writes_a_claim_by_hand_for_a_known_patient_and_sends_it(
    service, biller_page
):
    page, main = biller_page, biller_page.locator("main")
    await page.goto("/console/claims")
    await page.get_by_role("link", name="New claim").click()
    await page.get_by_role("button", name="Medical (CMS-1500)").click()

    # The payer is found while it is typed; provider and patient are those of earlier claims.
    await page.get_by_label("Find the payer").press_sequentially("sandbox medical")
    await main.get_by_role("button", name="Sandbox Medical TST01").click()
    assert await page.get_by_label("Payer id").input_value() == "TST01"
    await page.get_by_label("Billing providers of earlier claims").press("Enter")
    await main.get_by_role("button", name="FERNHILL FAMILY PRACTICE").first.click()
    await page.get_by_label("Find the patient in earlier claims").fill("3001")
    await page.keyboard.press("Enter")
    # Another test bills the next payer for an insured person of this id, whose patient is a child.
    await main.get_by_role("button", name="member 3001 · Sandbox Medical").first.click()
    assert await page.get_by_label("Box 1a: Insured's member id").input_value() == "3001"

    # What was done is stated; a field is checked when it is left.
    day = (datetime.now(UTC).date() - timedelta(days=4)).isoformat()
    for box, text in (
        ("Box 21: Diagnosis codes", "J02.9"), ("Box 28: Total charge", "130.00"),
        ("Box 24A, line 1: First day of service", day), ("Box 24D, line 1: Procedure code", "99213"),
        ("Box 24E, line 1: Diagnosis pointers", "A"), ("Box 24F, line 1: Charge", "120.00"),
    ):  # fmt: skip
        await page.get_by_label(box).fill(text)
    for box, code in (
        ("Box 12: Release of information", "Y"), ("Box 21: ICD version", "10"),
        ("Box 31: Provider's signature", "yes"), ("Box 24B, line 1: Place of service", "11"),
    ):  # fmt: skip
        await page.get_by_label(box).select_option(code)
    await page.get_by_role("button", name=re.compile(r"\d things? to fix")).wait_for()
    # Whatever changes while a check runs is checked after it, and a check that got no answer is made again.
    await page.evaluate(CHANGED_TEN_TIMES)
    await page.route("**/claims/new/**", lambda route: route.abort(), times=1)
    await page.get_by_label("Box 28: Total charge").fill("120.00")
    await page.keyboard.press("Tab")
    await page.get_by_text("Nothing is left to fix.").wait_for()
    script = axe.source()
    assert not (script and await axe.violations(page, script))

    # Nothing goes out before the review.
    await page.get_by_role("button", name="Review").click()
    await page.get_by_role("heading", name="Review: ").wait_for()
    await page.get_by_role("button", name="Send to Sandbox Medical").dblclick()
    await page.get_by_role("status").get_by_text("leaves with the next file").wait_for()
    assert "HAND-" in await main.inner_text()


async def test_reading_works_without_a_script(service, browser, signed_in):
    context = await browser.new_context(
        ignore_https_errors=True, base_url=service.base_url, storage_state=signed_in,
        java_script_enabled=False,
    )  # fmt: skip
    context.set_default_timeout(PATIENCE_SECONDS * 1_000)
    page = await context.new_page()
    await page.goto("/console/claims")
    await page.get_by_label("Kind").select_option("dental")
    await page.locator(".filters").get_by_role("button", name="Show").last.click()
    await page.locator("main").get_by_text("No claim fits").wait_for()
    await page.get_by_label("Search").fill(service.numbers["3003"])
    await page.get_by_label("Search").press("Enter")
    await page.get_by_role("link", name="Lines and money").click()
    await page.locator("main").get_by_text("Net paid").first.wait_for()
    await context.close()


async def end_session_elsewhere(context):
    """End the session of a window from another one, which leaves the window's cookie as it is."""
    other = await context.browser.new_context(
        ignore_https_errors=True,
        base_url=context.pages[0].url,
        storage_state=await context.storage_state(),
    )
    await sign_out(await other.new_page())
    await other.close()


async def sign_out(page):
    await page.goto("/console/")
    await page.get_by_role("button", name="Sign out").click()
    await page.wait_for_url("**/console/login*")


# Last in this file: it corrects claims whose pages are looked at above.
async def test_a_person_takes_many_claims_at_once_and_closes_a_payment(service, biller_page):
    page, main = biller_page, biller_page.locator("main")
    await page.goto("/console/worklists")
    bar, boxes = main.locator(".work-bar"), main.locator('input[name="claim"]')
    selected = bar.locator("[data-selected]")
    assert not await bar.is_visible()

    # One row is ticked, then those up to another with shift; then the whole group.
    await boxes.first.check()
    assert re.match(r"1 selected, \$[\d,]+\.\d\d", await selected.inner_text())
    await boxes.nth(3).click(modifiers=["Shift"])
    assert (await selected.inner_text()).startswith("4 selected, $")
    for box in await boxes.all():
        await box.uncheck()
    assert not await bar.is_visible()
    cause = main.get_by_role("row").filter(has_text=f"{GROUP_CLAIMS} claims")
    await cause.get_by_role("checkbox").check()
    assert (await selected.inner_text()).startswith(f"{GROUP_CLAIMS} selected, $")

    # On a phone the bar is at the window's edge too.
    await page.set_viewport_size(NARROW)
    await page.evaluate("scrollTo(0, 0)")
    box = await bar.bounding_box()
    assert box["y"] + box["height"] <= NARROW["height"] + 1
    assert await page.evaluate(RUNS_OUT) <= 0
    await page.set_viewport_size(WIDE)

    # All that fit the filter are asked about with their number and their money.
    await bar.get_by_role("checkbox", name="that fit the filter").check()
    chosen = re.match(r"(\d+) selected, (\$[\d,.]+)", await selected.inner_text())
    await bar.get_by_role("button", name="Assign to me").click()
    await page.get_by_role(
        "heading", name=f"Assign to me: {chosen[1]} claims, {chosen[2]}?"
    ).wait_for()
    await page.get_by_role("button", name=f"Assign to me: {chosen[1]} claims").click()
    await page.get_by_role("status").get_by_text("are assigned to you").wait_for()

    # A payment is deposited with a dollar less, which is shown, and that is undone.
    await page.goto("/console/payments?tab=deposit")
    await main.get_by_role("table").get_by_role("link").first.click()
    amount = page.get_by_role("textbox", name="Amount")
    stated = float((await amount.input_value()).replace(",", ""))
    await amount.fill(f"{stated - 1:.2f}")
    await page.get_by_role("textbox", name="Reference").fill("slip 7")
    await page.get_by_role("button", name="Deposited").click()
    await main.get_by_role("heading", name="1.00 less than stated").wait_for()
    await page.get_by_role("textbox", name="Settled because").fill("The bank took a dollar")
    await page.get_by_role("button", name="Settled", exact=True).click()
    await main.get_by_text("The bank took a dollar").wait_for()
    await page.get_by_role("button", name="Undo: it is not settled").click()
    await page.get_by_role("button", name="Undo the deposit").click()
    await main.get_by_role("heading", name="Not deposited yet").wait_for()


# The very last: it ends the session that the tests above share.
async def test_a_person_fixes_nine_claims_of_one_cause_at_once(service, biller_page):
    page, main = biller_page, biller_page.locator("main")

    # Nine claims were refused for one reason.
    await page.goto("/console/worklists")
    # Done asks for its reason before anything is sent, whatever day is left beside it, and what is ticked stays ticked.
    await main.get_by_role("checkbox", name="Choose ").nth(1).check()
    await page.get_by_label("Snooze until").first.fill("2020-01-01")
    reason = page.get_by_label("Done, because")
    await page.get_by_role("button", name="Done", exact=True).click()
    assert await reason.evaluate("field => field.validity.valueMissing && field.matches(':focus')")
    assert await main.locator('input[name="claim"]:checked').count() == 1
    cause = main.get_by_role("row").filter(has_text=f"{GROUP_CLAIMS} claims")
    await cause.get_by_role("link", name="Fix this cause").click()
    await page.get_by_role("heading", name="Box 33a").wait_for()
    assert await page.get_by_role("checkbox", checked=True).count() == 0
    for box in await page.get_by_role("checkbox").all():
        await box.check()

    # A value that is wrong is refused under the claims, and nothing can be sent.
    await page.get_by_label("The right value for all ticked claims").fill("123")
    await page.get_by_role("button", name="Check").click()
    await page.locator("td .act-text").nth(GROUP_CLAIMS - 1).wait_for()
    send = page.get_by_role("button", name=f"Send {GROUP_CLAIMS} corrections")
    assert await send.count() == 0

    # The right one is checked for all, reviewed before and after, and sent.
    # The session has ended meanwhile: what was typed is there again after signing in, and nothing was sent.
    await page.get_by_label("The right value for all ticked claims").fill(GOOD_NPI)
    await end_session_elsewhere(page.context)
    await page.get_by_role("button", name="Check").click()
    assert "What you typed is kept" in await page.get_by_role("status").inner_text()
    await sign_in(page, service.biller)
    await send.wait_for()
    assert (
        await page.get_by_label("The right value for all ticked claims").input_value() == GOOD_NPI
    )
    assert await page.get_by_role("row").filter(has_text=GOOD_NPI).count() == GROUP_CLAIMS
    if script := axe.source():
        assert await axe.violations(page, script) == []
    await send.click()
    await page.get_by_role("status").get_by_text(f"{GROUP_CLAIMS} corrections are kept").wait_for()
    await page.get_by_role("link", name="Back to the worklist").click()
    await page.wait_for_url("**/console/worklists*")
    assert "box 33a" not in await main.inner_text()

    # Each is a claim of its own that goes its way.
    await page.goto(f"/console/claims/{service.numbers['3004']}")
    await main.get_by_text("Replaced by").first.wait_for()

    # Who signs out in another tab leaves nothing behind.
    await page.goto(f"/console/claims/{service.numbers['3001']}?show=notes")
    await page.get_by_label("A note for people").fill("Called the payer")
    await sign_out(await page.context.new_page())
    await page.get_by_role("button", name="Keep the note").click()
    assert (
        "What you typed is not kept after signing out"
        in await page.get_by_role("status").inner_text()
    )
    assert "Called the payer" not in await page.content()
