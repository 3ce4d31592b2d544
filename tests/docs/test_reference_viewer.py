"""The reference in a real browser: nothing comes from another host, search finds, an example is sent, a phone fits.

Runs where ``make docs`` has built the viewer and a browser is installed.
"""

import re

import pytest

from clearlane.api.pages import reference_viewer
from clearlane.api.pages.public_pages import build_pages
from clearlane.api.v3.endpoints import V3
from tests.api.service_process import ServiceProcess
from tests.console import chromium
from tests.patience import PATIENCE_SECONDS
from tools.docs import viewer

NOT_BUILT = "the viewer is not built: `make docs` builds it where npm is installed"
pytestmark = pytest.mark.group("reference")


def policy(page) -> dict[str, str]:
    text = dict(page.headers)["Content-Security-Policy"]
    return {
        name: rest for name, _, rest in (part.strip().partition(" ") for part in text.split(";"))
    }


def test_a_clone_without_the_build_leaves_the_reference_to_its_own_pages(tmp_path):
    pages = build_pages(V3, viewer=tmp_path / "nothing")
    assert [page.path for page in pages] == ["/openapi.json"]


def test_the_built_page_names_its_script_by_content_and_its_start_by_hash(tmp_path):
    built = tmp_path / "viewer.js.gz"
    built.write_bytes(b"one")
    _, page, script = build_pages(V3, viewer=built)
    assert script.path.encode() in page.content.made()
    assert "immutable" in dict(script.headers)["Cache-Control"]
    built.write_bytes(b"two")
    assert build_pages(V3, viewer=built)[2].path != script.path
    rules = policy(page)
    assert rules["default-src"] == "'none'"
    assert rules["connect-src"] == "'self'"
    assert re.fullmatch(r"'self' 'sha256-[^']+'", rules["script-src"])
    assert len(re.findall(rb"<script", page.content.made())) == 2


def test_another_package_than_the_pinned_one_is_refused():
    with pytest.raises(viewer.WrongPackage, match="hash"):
        viewer.check(b"something else")


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    if not reference_viewer.BUILT.is_file():
        pytest.skip(NOT_BUILT)
    serving = ServiceProcess(tmp_path_factory.mktemp("reference") / "data").start()
    yield serving
    assert serving.stop() == 0


@pytest.fixture(scope="module")
async def browser():
    async with chromium.launched() as opened:
        yield opened


class Visit:
    """A page that is looked at, what it asked for and what it complained about."""

    def __init__(self, page, base_url):
        self.page = page
        self.base_url = base_url
        self.elsewhere, self.complaints = [], []
        page.on("request", self._request)
        page.on("console", self._console)
        page.on("pageerror", lambda fault: self.complaints.append(str(fault)))

    def _request(self, request):
        if not request.url.startswith((self.base_url, "data:", "blob:")):
            self.elsewhere.append(request.url)

    def _console(self, line):
        if line.type == "error" and "favicon" not in line.location.get("url", ""):
            self.complaints.append(line.text)


async def visit(browser, service, width: int, height: int) -> Visit:
    context = await browser.new_context(
        ignore_https_errors=True, viewport={"width": width, "height": height}
    )
    context.set_default_timeout(PATIENCE_SECONDS * 1_000)
    seen = Visit(await context.new_page(), service.base_url)
    await seen.page.goto(f"{service.base_url}/reference")
    await seen.page.get_by_role("heading", name=V3.title).first.wait_for()
    return seen


async def test_search_finds_a_call_and_its_example_is_sent_to_the_sandbox(browser, service):
    seen = await visit(browser, service, 1280, 900)
    page, path = seen.page, "/api/v3/payers/get_list_of_test"
    await page.get_by_role("button", name="Search").first.click()
    await page.keyboard.type("test payers")
    await page.get_by_role("dialog").get_by_text(path).click()
    await page.locator("button.show-api-client-button", has_text=path).click()
    await page.locator("[contenteditable=true]:not([aria-label]):visible").last.click()
    await page.keyboard.type(service.sandbox["vendor_key"])
    await page.get_by_placeholder("********").last.fill(service.sandbox["vendor_password"])
    async with page.expect_response(lambda answer: path in answer.url) as waited:
        await page.get_by_role("button", name=re.compile("^Send")).first.click()
    answer = await waited.value
    # The site and the type come from the example.
    assert answer.status == 200
    assert answer.url.startswith(f"{service.base_url}{path}?vendorSiteId=SANDBOX-1&type=medical")
    assert "TST01" in await answer.text()
    assert (seen.elsewhere, seen.complaints) == ([], [])
    await page.context.close()


async def test_the_reference_fits_a_phone(browser, service):
    seen = await visit(browser, service, 390, 844)
    assert await seen.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert await seen.page.get_by_role(
        "button", name=re.compile("menu|sidebar", re.IGNORECASE)
    ).first.is_visible()
    assert (seen.elsewhere, seen.complaints) == ([], [])
    await seen.page.context.close()
