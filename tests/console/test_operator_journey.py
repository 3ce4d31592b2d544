"""In a real browser, as an operator: a route goes down, files wait, Home says so, the route comes back."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from tests.api.service_process import ServiceProcess
from tests.connect import sftp_server
from tests.console import axe, chromium
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.group("console")


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A sandbox with one site."""
    made = ServiceProcess(tmp_path_factory.mktemp("operator") / "served").start()
    account = made.add_vendor("ACME")
    made.add_site(account, "A-1", "--baa-accepted", "--name", "Fernhill Family Practice")
    yield made
    assert made.stop() == 0


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator:
    async with chromium.launched() as opened:
        yield opened


@pytest.fixture
async def page(service, browser) -> AsyncIterator:
    """A page of an operator who opened the one-time address that a command printed."""
    printed = await asyncio.to_thread(service.command, "console", "open", "--json")
    context = await browser.new_context(
        ignore_https_errors=True, base_url=service.base_url,
        viewport={"width": 1280, "height": 900},
    )  # fmt: skip
    context.set_default_timeout(PATIENCE_SECONDS * 1_000)
    opened = await context.new_page()
    await opened.goto(json.loads(printed)["url"])
    await opened.wait_for_url("**/console/")
    yield opened
    await context.close()


async def test_a_route_goes_down_files_wait_home_says_so_and_the_route_comes_back(page):
    main = page.locator("main")

    # A payer of the sandbox goes down.
    await page.goto("/console/sandbox?site=A-1")
    await page.get_by_role("button", name="Down: Sandbox Medical, Medical", exact=True).click()
    await page.get_by_text("It cannot be reached: files wait").first.wait_for()

    # A claim for it is accepted, and its file waits.
    await page.get_by_role("button", name="Send this claim: Paid in full").click()
    await page.get_by_role("button", name="Advance 1 day").click()

    # Home says so.
    await page.goto("/console/")
    await main.get_by_text("Route down").first.wait_for()
    await page.goto("/console/payers")
    await main.get_by_text("1 claim, $100.00 waiting").wait_for()
    assert "1 route down: Sandbox Medical since" in await main.inner_text()
    if script := axe.source():
        assert await axe.violations(page, script) == []
    await page.get_by_role("link", name="Sandbox Medical", exact=True).first.click()
    await main.get_by_text("This payer is simulated and set to be down.").wait_for()

    # The payer is up again; what waited goes out, and the route works.
    await page.get_by_role("link", name="Sandbox", exact=True).first.click()
    await page.get_by_role("button", name="Up: Sandbox Medical, Medical", exact=True).click()
    await page.get_by_role("button", name="Advance 1 day").click()
    await page.goto("/console/payers")
    await main.get_by_text("The route works.").wait_for()
    await page.goto("/console/")
    assert "Route down" not in await main.inner_text()

    # The file that waited is there, in sentences and with every element explained.
    await page.goto("/console/files?tab=out")
    await main.get_by_role("link", name="837P").first.click()
    await main.get_by_text("1 claim, charged 100.00.").wait_for()
    await page.get_by_role("link", name="Every element explained").click()
    await page.get_by_role("heading", name="File 1 out").wait_for()


async def test_a_connection_is_added_tested_step_by_step_and_removed_with_what_it_would_stop(
    page, tmp_path
):
    main = page.locator("main")
    await page.goto("/console/payers")
    await page.get_by_role("link", name="Add a connection").first.click()

    # Whom, and how.
    await page.get_by_label("SFTP").check()
    await page.get_by_label("Payer", exact=True).press_sequentially("sandbox den")
    await page.get_by_label("Sandbox Dental").check()
    if script := axe.source():
        assert await axe.violations(page, script) == []
    await page.get_by_role("button", name="Continue").click()
    await page.get_by_role("heading", name="Connect Sandbox Dental").wait_for()

    async with sftp_server.sftp_payer(tmp_path) as payer:
        # Settings with help.
        await main.get_by_text("Who we are to this payer (ISA06).").wait_for()
        for label, text in (
            ("Sender id", "CLEARLANE"), ("Receiver id", "MEADOW"), ("Host required", "127.0.0.1"), ("Port", str(payer.port)),
            ("Username", sftp_server.USER), ("Outbox required", "/in"), ("Inbox required", "/out"),
        ):  # fmt: skip
            await main.get_by_label(label).fill(text)
        await main.get_by_label("Allow internal").select_option("yes")

        # The host key is fetched, and a person confirms it.
        await page.get_by_role("button", name="Fetch the server's host key").click()
        shown = main.get_by_role("status").filter(has_text=sftp_server.HOST_KEY.get_fingerprint())
        # It covers neither the words above it nor the field beside it.
        shown_box, field = (
            await shown.bounding_box(),
            await main.get_by_label("Outbox required").bounding_box(),
        )
        above = await main.get_by_text("It is shown here.").bounding_box()
        assert above["y"] + above["height"] <= shown_box["y"]
        assert shown_box["x"] + shown_box["width"] <= field["x"] or field["y"] > shown_box["y"]
        assert await shown.evaluate("it => it.scrollWidth - it.clientWidth") == 0

        # A key of our own, whose public half can be copied.
        await page.get_by_role("button", name="Make a key").click()
        await main.get_by_text("Public key for the payer").wait_for()
        await page.get_by_role("button", name="Test", exact=True).click()
        await main.get_by_text("then tick the box").wait_for()
        await main.get_by_label("I compared it with the fingerprint").check()

        # The test goes step by step; the payer does not know our key, but knows our password.
        await page.get_by_role("button", name="Test", exact=True).click()
        await main.get_by_text("refused the login").wait_for()
        await main.get_by_label("Password").fill(sftp_server.PASSWORD)
        await page.get_by_role("button", name="Test", exact=True).click()
        await main.get_by_text("The connection works; nothing was sent.").wait_for()
        if script:
            assert await axe.violations(page, script) == []
        await page.get_by_role("button", name="Add the connection").click()
        await main.get_by_text("The connection works and is in use.").wait_for()

        # Edit.
        await main.get_by_text("Change the settings").click()
        await main.get_by_label("Window seconds").fill("300")
        await page.get_by_role("button", name="Test and store").click()
        await main.get_by_text("window_seconds from default to 300").wait_for(state="attached")

    # Remove, with what it would stop.
    await main.get_by_role("link", name="Stop or remove route").click()
    await main.get_by_text("Files are no longer collected from its mailbox.").wait_for()
    await page.get_by_role("button", name="Remove it for good").click()
    await main.get_by_text("The route is removed, and its secrets are forgotten.").wait_for()
