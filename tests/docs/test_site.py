"""The built documentation in a real browser, under a policy that allows nothing of other hosts and nothing inline.

Runs where ``make docs`` has built the site and a browser is installed.
"""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.console import chromium
from tests.patience import PATIENCE_SECONDS
from tools.docs.site import SITE

POLICY = "default-src 'self'; img-src 'self' data:"
pytestmark = pytest.mark.group("reference")


class Files(SimpleHTTPRequestHandler):
    """The files of the site, each with the policy."""

    def end_headers(self):
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, format, *values):
        pass


@pytest.fixture
def base_url():
    if not (SITE / "index.html").is_file():
        pytest.skip("the site is not built: `make docs` builds it")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(SITE)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_the_site_is_searched_without_another_host(base_url):
    playwright = pytest.importorskip(
        "playwright.async_api", reason="no playwright: `make install` brings it"
    )
    path = chromium.find()
    if path is None:
        pytest.skip(chromium.HOW)
    elsewhere, complaints = [], []
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=path, args=chromium.arguments(), chromium_sandbox=False
        )
        page = await browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(PATIENCE_SECONDS * 1_000)
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((base_url, "data:"))
                else elsewhere.append(request.url)
            ),
        )
        page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else 0)
        await page.goto(f"{base_url}/tutorial/1-a-paid-claim/")
        await page.locator("button.md-clipboard, button[title*='Copy']").first.wait_for(
            state="attached"
        )
        await page.locator("input.md-search__input").fill("coinsurance")
        await page.locator(".md-search-result__link", has_text="Glossary").first.click()
        await page.get_by_role("heading", name="Glossary").first.wait_for()
        await page.set_viewport_size({"width": 390, "height": 844})
        assert await page.evaluate("document.documentElement.scrollWidth") <= 390
        await browser.close()
    assert [text for text in complaints if "favicon" not in text] == []
    assert elsewhere == []
