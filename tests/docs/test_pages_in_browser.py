"""`/docs/` and `/reference` in a real browser, right after the start: search, copying, a phone, bearable length.

Nothing comes from another host. Runs where a browser is installed.
"""

import pytest

from clearlane.api.pages import documentation, reference_viewer
from tests.api.service_process import ServiceProcess
from tests.cases import IS_THOROUGH
from tests.console import chromium
from tests.docs.test_reference_viewer import Visit
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.group("reference")
PAGE_PIXELS_MAX = 10_000
# One of every kind, and the longest of each.
PAGES = (
    "/",
    "/docs/",
    "/docs/tutorial/1-a-paid-claim/",
    "/docs/search?q=payment",
    "/docs/reference/claim-rules/claim-rules-2/",
    "/docs/reference/x12-findings/found-by-rules-over-several-segments/",
    "/docs/reference/answers/",
    "/docs/project/changelog/for-vendors/",
    "/reference",
    "/reference/GetEvents",
    "/reference/GetClaims",
    "/reference/SendFile",
    "/reference/shapes/MedicalClaim",
)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    if reference_viewer.BUILT.is_file() or (documentation.SITE / "index.html").is_file():
        pytest.skip(
            "`make docs` has built a site or a viewer, which is served in place of these pages"
        )
    serving = ServiceProcess(tmp_path_factory.mktemp("pages") / "data").start()
    yield serving
    assert serving.stop() == 0


@pytest.fixture(scope="module")
async def browser():
    async with chromium.launched() as opened:
        yield opened


async def opened(browser, service, width: int) -> Visit:
    context = await browser.new_context(
        ignore_https_errors=True, viewport={"width": width, "height": 800}
    )
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(PATIENCE_SECONDS * 1_000)
    return Visit(await context.new_page(), service.base_url)


# No script of these pages looks at the width: a page that is made narrower is laid out as one that was opened so.
@pytest.mark.parametrize("widths", [(1280,), (360,)] if IS_THOROUGH else [(1280, 360)], ids=str)
async def test_every_kind_of_page_fits_and_is_not_endless(browser, service, widths):
    seen = await opened(browser, service, widths[0])
    for path in PAGES:
        await seen.page.set_viewport_size({"width": widths[0], "height": 800})
        answer = await seen.page.goto(f"{service.base_url}{path}")
        assert answer.status == 200, path
        for width in widths:
            await seen.page.set_viewport_size({"width": width, "height": 800})
            size = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
            across, down = await seen.page.evaluate(size)
            assert across <= width, path
            assert down <= PAGE_PIXELS_MAX, path
    assert (seen.elsewhere, seen.complaints) == ([], [])
    await seen.page.context.close()


async def test_one_searches_goes_there_and_copies_a_command(browser, service):
    seen = await opened(browser, service, 1280)
    page = seen.page
    await page.goto(f"{service.base_url}/docs/")
    await page.keyboard.press("/")
    await page.keyboard.type("make a claim and send")
    await page.locator("#found").get_by_text("Make a claim and send it").click()
    await page.wait_for_url("**/docs/tutorial/1-a-paid-claim/#make-a-claim-and-send-it")
    code = page.locator("div.code").filter(has_text="> scratch/paid.json")
    await code.hover()
    await code.get_by_role("button", name="Copy").click()
    await code.get_by_role("button", name="Copied").wait_for()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines()[-1] == "clearlane claim submit scratch/paid.json"
    assert (seen.elsewhere, seen.complaints) == ([], [])
    await page.context.close()


async def test_on_a_phone_the_list_of_pages_opens_when_it_is_asked_for(browser, service):
    seen = await opened(browser, service, 360)
    page = seen.page
    await page.goto(f"{service.base_url}/reference")
    pages = page.get_by_role("navigation", name="Pages")
    assert not await pages.is_visible()
    await page.get_by_role("link", name="All pages").click()
    await pages.get_by_text("Webhooks", exact=True).click()
    await pages.get_by_role("link", name="PingWebhookEndpoint").click()
    await page.get_by_role("heading", name="PingWebhookEndpoint").wait_for()
    await page.context.close()
