"""In a real browser, as an operator: a route goes down, files wait, Home says so, the route comes back."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from tests.api.service_process import ServiceProcess
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


@pytest.fixture
async def page(service) -> AsyncIterator:
    """A page of an operator who opened the one-time address that a command printed."""
    printed = await asyncio.to_thread(service.command, "console", "open", "--json")
    async with chromium.launched() as browser:
        context = await browser.new_context(
            ignore_https_errors=True, base_url=service.base_url,
            viewport={"width": 1280, "height": 900},
        )  # fmt: skip
        context.set_default_timeout(PATIENCE_SECONDS * 1_000)
        opened = await context.new_page()
        await opened.goto(json.loads(printed)["url"])
        await opened.wait_for_url("**/console/")
        yield opened


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
