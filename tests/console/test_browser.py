"""In a real browser: from a vendor's software through proxy login to the claims, and out again."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from clearlane.console.frame.forms import SESSION_COOKIE
from tests.console import chromium
from tests.console.console_user import Person, add_person
from tests.patience import PATIENCE_SECONDS

pytestmark = [pytest.mark.group("console"), pytest.mark.one_database]
GUID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
USED = "This link has been used already, has expired, or was never valid."


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator:
    async with chromium.launched() as opened:
        yield opened


class Watched:
    """A page, and everything that must not happen on it."""

    def __init__(self, page):
        self.page = page
        self.referrers = []
        self.elsewhere = []
        self.complaints = []
        page.on("request", self._request)
        page.on("console", lambda line: self.complaints.append(line.text))
        page.on("pageerror", lambda fault: self.complaints.append(str(fault)))

    def _request(self, request):
        self.referrers.append(request.headers.get("referer"))
        self.elsewhere.append(request.url)


@pytest.fixture
async def watched(server, browser) -> AsyncIterator[Watched]:
    context = await browser.new_context(
        ignore_https_errors=True,  # the authority is the service's own
        base_url=server.base_url,
        http_credentials=None,
    )
    context.set_default_timeout(PATIENCE_SECONDS * 1_000)
    yield Watched(await context.new_page())
    await context.close()


def login_url(server, account) -> str:
    """What a vendor's software does before it opens a browser."""
    with server.client(account.auth, params={"vendorSiteId": "A-1"}) as client:
        token = client.post(
            "/api/v3/proxylogin/create_instance_token",
            params={"instanceId": GUID, "instanceName": "Front context"},
        ).json()["token"]
        return client.post(
            "/api/v3/proxylogin/get_url", params={"instanceId": GUID, "token": token}
        ).json()["url"]


async def new_person(server, name) -> Person:
    """A command has an event loop of its own, so it runs in a thread."""
    sees = ("--vendor", "ACME", "--site", "A-1")
    return await asyncio.to_thread(add_person, server, name, *sees)


async def sign_in(page, person) -> None:
    await page.get_by_label("User name").fill(person.name)
    await page.get_by_label("Password").fill(person.password)
    await page.get_by_label("Code").fill(person.code())
    await page.get_by_role("button", name="Sign in").click()


async def test_from_a_vendors_software_to_the_claims_and_out_again(server, cast, watched):
    page, url = watched.page, await asyncio.to_thread(login_url, server, cast.acme)
    person = await new_person(server, "milo")

    await page.set_content(f'<a href="{url}">Open the console</a>')  # another place than ours
    await page.get_by_role("link").click()
    await page.wait_for_url(url)
    assert await page.title() == "Sign in · Clearlane"
    assert "has opened this page" in await page.get_by_role("status").inner_text()
    await sign_in(page, person)

    await page.wait_for_url("**/console/")
    await page.get_by_role("link", name="Claims").first.wait_for()
    switch = page.get_by_label("Site", exact=True)
    assert await switch.locator("option:checked").inner_text() == "Fernhill Family Practice"
    cookies = {cookie["name"]: cookie for cookie in await page.context.cookies()}
    session = cookies[SESSION_COOKIE]
    assert (session["secure"], session["httpOnly"], session["sameSite"]) == (True, True, "Strict")

    await page.goto("/console/claims?label=held")  # a list of no claims
    await page.get_by_text("More filters").click()
    card = await page.get_by_role("region", name="Claims").bounding_box()
    button = await page.get_by_role("button", name="Show").bounding_box()
    assert button["y"] + button["height"] < card["y"] + card["height"]

    await page.get_by_role("button", name="Sign out").click()
    await page.wait_for_url("**/console/login?say=out")
    assert await page.get_by_role("status").inner_text() == "You are signed out."
    await page.goto("/console/")
    await page.wait_for_url("**/console/login?say=ended")

    await page.goto(url)
    assert USED in await page.get_by_role("alert").inner_text()

    assert not any(watched.referrers)
    assert all(each.startswith(server.base_url) for each in watched.elsewhere)
    assert not [line for line in watched.complaints if "favicon" not in line]


async def test_a_wrong_code_is_reported_and_the_right_one_signs_in(server, cast, watched):
    page = watched.page
    person = await new_person(server, "tessa")
    await page.goto("/console/login")
    await page.get_by_label("User name").fill(person.name)
    await page.get_by_label("Password").fill(person.password)
    await page.get_by_label("Code").fill("000000")
    await page.get_by_role("button", name="Sign in").click()
    assert "is wrong" in await page.get_by_role("alert").inner_text()
    assert await page.get_by_label("Password").input_value() == ""
    await sign_in(page, person)
    await page.wait_for_url("**/console/")


async def test_the_login_page_works_with_the_keyboard_alone_and_on_a_small_screen(
    server, cast, watched
):
    page = watched.page
    person = await new_person(server, "rosa")
    await page.set_viewport_size({"width": 320, "height": 600})
    await page.goto("/console/login")
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert await page.evaluate(wide) == 0
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for text in (person.name, person.password, person.code()):
        await page.keyboard.press("Tab")
        await page.keyboard.type(text)
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/console/")
    assert await page.evaluate(wide) == 0


async def test_no_foreign_page_can_frame_the_console(server, cast, watched):
    page = watched.page
    async with page.expect_response("**/console/login") as answer:
        await page.set_content(f'<iframe src="{server.base_url}/console/login"></iframe>')
    assert (await answer.value).status == 200
    await page.wait_for_load_state("networkidle")
    for frame in page.frames[1:]:
        assert await frame.locator("form").count() == 0
