"""Every page, fragment, action and download of the console: who may use it, and with which form.

Also tests `console/frame/page_row`, `console/frame/act_question`, `console/frame/frame`, `console/menu_counts`, `console/frame/frame_assets`, `console/frame/local_path`,
`console/operator/sandbox_clock`, `console/frame/page_request` and `pipeline/access/sign_in_link`.
"""

import re
from datetime import timedelta
from html import escape
from importlib import import_module
from pkgutil import walk_packages

import pytest
from sqlalchemy import select

from clearlane import console
from clearlane.accounts.users import ConsoleRole
from clearlane.console.frame import page_text
from clearlane.console.frame.local_path import local_path
from clearlane.console.frame.page_row import READ
from clearlane.console.page_table import MODULES, PAGES
from clearlane.pipeline.access import sign_in_link
from clearlane.store.database.database import SystemScope
from clearlane.store.database.schema import audit
from clearlane.store.database.sql import Statement
from tests.console.sandbox_console import open_sandbox_console
from tests.console.signed_in_console import BY, ConsolePerson

OPEN_TO_ALL = {
    "/style.css",
    "/x12.css",
    "/console.js",
    "/icon.svg",
    "/login",
    "/enter/{code...}",
    "/open/{code}",
}
AUDIT = Statement(select(audit.c.action, audit.c.ids, audit.c.detail).order_by(audit.c.seq))
HOOKS = "/accounts/ACME/webhooks"
FILLED = re.compile(r"\{\w+\}")
SIGNED_IN_PAGES = [page for page in PAGES if page.roles]


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("sandbox")) as made:
        yield made


@pytest.fixture(scope="module")
async def people(sandbox):
    return {role: await sandbox.person(role) for role in ConsoleRole}


def test_buttons_that_take_something_away_are_red_and_no_others():
    asked = [page.ask for page in PAGES if page.ask]
    questions = [one for ask in asked for one in (ask.question, *ask.questions.values()) if one]
    red = {one.button for one in questions if one.takes_away}
    assert {"Cancel the claim", "Remove the key", "Suspend the site", "Disable"} <= red
    others = {one.button for one in questions} - red
    assert {"Release it", "Resume", "Record the end", "Accept them again"} <= others


def buttons_of(page):
    """The buttons and links like buttons of a page: their classes and what they say."""
    found = re.findall(r"<(?:button|a)\b([^>]*)>((?:(?!</).)*)</(?:button|a)>", page, re.DOTALL)
    for about, inside in found:
        if " disabled" in about:
            continue
        classes = re.search(r'class="([^"]*)"', about)
        if "<button" in page and (
            "button" in (classes[1] if classes else "") or "href" not in about
        ):
            yield set(classes[1].split() if classes else ()), re.sub(r"<[^>]+>", "", inside).strip()


async def test_every_button_that_takes_something_away_is_red(sandbox, people):
    operator, biller = people[ConsoleRole.OPERATOR], people[ConsoleRole.BILLER]
    number = await sandbox.send("3001")
    added = await operator.ask(HOOKS, form={"url": "https://example.com/other"})
    webhook = re.search(rf"/console({HOOKS}/\w+)", added.body.decode())[1]
    person = max(re.findall(r'/people/(\d+)"', await operator.text("/people")), key=int)
    pages = [
        page.path
        for page in SIGNED_IN_PAGES
        if page.methods <= READ and page.menu and "{" not in page.path
    ]
    seen = set()
    for path in (
        *pages,
        webhook,
        f"/people/{person}",
        f"/claims/{number}",
        "/accounts/ACME/api-keys",
    ):
        asker = biller if path.startswith("/claims/C") else operator
        answer = await asker.ask(path)
        page = answer.body.decode(errors="replace")
        for classes, words in buttons_of(page):
            if page_text.takes_away(words):
                seen.add(words)
                assert classes & {"takes-away", "danger"}, (path, words)
    assert {"Suspend", "Revoke agreement", "Disable", "Reset", "Cancel before sending"} <= seen


def address(page):
    return FILLED.sub("X1", page.path)


def form_of(page):
    return None if page.methods <= READ else {}


def test_no_two_rows_are_the_same_page():
    rows = [(page.path, method) for page in PAGES for method in page.methods]
    assert len(rows) == len(set(rows))
    assert {page.path for page in PAGES if not page.roles} == OPEN_TO_ALL


def test_the_rows_of_every_module_are_in_the_table():
    modules = (
        import_module(one.name) for one in walk_packages(console.__path__, "clearlane.console.")
    )
    declaring = {one.__name__ for one in modules if hasattr(one, "pages")}
    assert declaring == {one.__name__ for one in MODULES}


def test_an_address_with_a_name_of_its_own_comes_before_one_with_a_variable():
    shown = next(page for page in PAGES if page.match("/eligibility/payers") is not None)
    assert shown.path == "/eligibility/payers"


@pytest.mark.parametrize("role", ConsoleRole)
async def test_a_role_uses_exactly_the_pages_that_its_rows_name(people, role):
    wrong = []
    for page in SIGNED_IN_PAGES:
        if page.path == "/logout":
            continue
        answer = await people[role].ask(address(page), form=form_of(page))
        refused = answer.status_code == 403
        if refused is (role in page.roles) or answer.status_code == 500:
            wrong.append((page.path, sorted(page.methods), answer.status_code))
        if refused:
            assert b"Your role does not include this page." in answer.body
    assert wrong == []


async def test_without_a_session_every_page_leads_to_sign_in(sandbox, people):
    somebody = people[ConsoleRole.OPERATOR]
    stranger = ConsolePerson(sandbox.installation, somebody.console, "y" * 32)
    for page in SIGNED_IN_PAGES:
        answer = await stranger.ask(address(page), form=form_of(page))
        assert answer.status_code == 303, page.path
        assert answer.headers["location"].startswith("/console/login?say=ended"), page.path


async def test_no_action_is_done_without_the_token_of_its_form(people):
    operator = people[ConsoleRole.OPERATOR]
    for page in SIGNED_IN_PAGES:
        if page.methods <= READ:
            continue
        for token in ("", "0" * 64):
            answer = await operator.ask(address(page), form={}, token=token)
            assert answer.status_code == 403, page.path
            assert b"nothing was done" in answer.body


@pytest.mark.safe_default(17)
def test_every_action_declares_its_question_or_why_it_has_none():
    for page in SIGNED_IN_PAGES:
        declared = [bool(getattr(page, name, "")) for name in ("ask", "unasked")]
        assert sorted(declared) == [False, not page.methods <= READ], page.path


@pytest.fixture
async def acts(sandbox, people):
    """Acts that others feel or that cannot be undone, each with its form and words of its question."""
    operator = people[ConsoleRole.OPERATOR]
    added = await operator.ask(HOOKS, form={"url": "https://example.com/hook"})
    webhook = re.search(rf"/console({HOOKS}/\w+)", added.body.decode())[1]
    sent = [await sandbox.send("3001") for _ in range(2)]
    await people[ConsoleRole.BILLER].ask(f"/claims/{sent[1]}/hold", form={})
    site, someone = {"id": "A-2", "called": "Larkspur <b>Dental"}, {"name": "viewer-1-1"}
    person = re.search(r'/people/(\d+)"', await operator.text("/people"))[1]
    return [
        ("/accounts/site-state", site | {"to": "suspended"}, "Suspend Larkspur &lt;b&gt;Dental?"),
        ("/accounts/baa", site | {"to": "revoked"}, "Revoke the agreement of"),
        ("/accounts/baa", site | {"to": "accepted"}, "Record the agreement of"),
        ("/accounts/vendor-state", {"key": "OTHER", "to": "disabled"}, "Every call of this vendor"),
        ("/accounts/rotate", {"key": "OTHER", "hours": "5"}, "are refused after 5 hours"),
        ("/people/state", someone | {"to": "disabled"}, "cannot sign in any more"),
        ("/people/reset", someone, "all open sessions end"),
        (f"/people/{person}/sessions", {}, "signed out everywhere"),
        ("/me/sessions", {}, "signed out everywhere else"),
        (f"{webhook}/disable", {}, "until it is enabled again"),
        (f"{webhook}/rotate", {}, "The new secret is shown once"),
        ("/payers/medical/TST01/pause", {}, "until someone resumes it"),
        ("/files/in/1/accept", {}, "cannot be undone"),
        ("/files/in/1/discard", {}, "no one is asked about it again"),
        ("/files/out/1/resend", {}, "once more"),
        ("/files/out/1/delivered", {}, "is never sent again"),
        (f"/claims/{sent[0]}/cancel", {}, "is never sent, and this cannot be undone"),
        (f"/claims/{sent[1]}/release", {}, "goes to its payer with the next file"),
        ("/claims/C1/correct", {"do": "discard"}, "cannot be brought back"),
        ("/enrollments/E1/move", {"event": "approve", "payer": "X"}, "Record that X approved?"),
    ]  # fmt: skip


@pytest.mark.safe_default(17)
async def test_nothing_irreversible_is_done_before_it_was_asked(sandbox, people, acts):
    operator, database = people[ConsoleRole.OPERATOR], sandbox.installation.database

    async def audited():
        async with database.read(SystemScope("a test")) as tx:
            return await tx.rows(AUDIT)

    before = await audited()
    for path, form, words in acts:
        asked = await operator.ask(path, form={"site": "all", **form})
        page = asked.body.decode()
        assert (asked.status_code, words in page) == (200, True), (path, asked.status_code)
        assert f'action="/console{path}"' in page, path
        for name, value in form.items():
            assert f'name="{name}" value="{escape(value)}"' in page, path
        assert 'name="confirmed" value="yes"' in page, path
        assert await audited() == before, path
    # What the form of the question carries does it; no other value of the field that says what to do counts.
    path, form, _ = acts[0]
    odd = await operator.ask(path, form={**form, "to": "gone", "confirmed": "yes"})
    assert (odd.status_code, await audited()) == (400, before)
    done = await operator.ask(path, form={**form, "confirmed": "yes"})
    assert (done.status_code, sandbox.site("A-2").state) == (303, "suspended")


async def test_the_menu_shows_what_the_role_may_open(people):
    pages = [await people[role].text("/") for role in (ConsoleRole.VIEWER, ConsoleRole.OPERATOR)]
    viewer, operator = (page[: page.index("</nav>")] for page in pages)
    entries = re.compile(r'<a href="/console(/\w*)"')
    common = ["/", "/claims", "/payments", "/eligibility", "/enrollments"]
    assert [p for p in entries.findall(viewer) if p in common] == common
    assert "/audit" not in entries.findall(viewer)
    assert {"/payers", "/files", "/accounts", "/people", "/audit", "/sandbox"} <= set(
        entries.findall(operator)
    )
    assert "Advance 14 days" in operator
    assert "Advance 14 days" not in viewer


async def test_the_site_switch_offers_the_sites_of_the_user(people):
    seen = {role: await person.text("/") for role, person in people.items()}
    for role, page in seen.items():
        assert ("Larkspur Dental" in page) is (role in {ConsoleRole.SUPPORT, ConsoleRole.OPERATOR})
        assert ("Quarry Street Clinic" in page) is (role is ConsoleRole.OPERATOR)
        sees_several = role in {ConsoleRole.SUPPORT, ConsoleRole.OPERATOR}
        assert ("All sites" in page) is sees_several
        # Who never chose a site begins with all of them; a biller with their own.
        chosen = re.findall(r"<option[^>]* selected>([^<]+)", page[: page.index("</header>")])
        assert chosen == ["All sites" if sees_several else "Fernhill Family Practice"]


@pytest.mark.parametrize("site", ["B-1", "NONE", "all", "%3Cscript%3E"])
async def test_a_site_that_is_not_ones_own_is_not_there(people, site):
    answer = await people[ConsoleRole.BILLER].ask(f"/?site={site}")
    assert answer.status_code == 404
    assert b"There is no such site among yours." in answer.body
    assert b"<script>" not in answer.body


async def test_what_is_not_there_is_said_inside_the_frame_with_the_requests_number(people):
    for path, status in (("/nowhere", 404), ("/claims/C1", 404), ("/audit", 403)):
        answer = await people[ConsoleRole.BILLER].ask(path)
        assert answer.status_code == status, path
        for part in (b'<nav class="side"', b"Request REQUEST-1"):
            assert part in answer.body, path


async def test_the_sandbox_band_lets_days_pass_and_comes_back(sandbox, people):
    biller = people[ConsoleRole.BILLER]
    before = sandbox.installation.clock.now()
    answer = await biller.ask("/sandbox/advance", form={"days": "1", "back": "/claims?tab=paid"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/claims?tab=paid")
    assert sandbox.installation.clock.now() - before >= timedelta(days=1)
    # Two clocks that differ are both shown.
    assert "; the machine's is " in await biller.text("/claims?tab=paid")
    assert (await biller.ask("/sandbox/advance", form={"days": "900"})).status_code == 400


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/claims?tab=paid&after=1%2F2", "/claims?tab=paid&after=1%2F2"),
        ("/", "/"),
        ("", "/"),
        ("//evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("/x\r\nSet-Cookie: a=b", "/"),
        ("/" + "x" * 3_000, "/"),
    ],
)
def test_nobody_is_sent_elsewhere(text, path):
    assert local_path(text) == path


async def test_a_one_time_address_signs_the_operator_in_once(sandbox, people):
    context, now = sandbox.installation.work_context, sandbox.installation.wall.now()
    user = await sign_in_link.ensure_sandbox_operator(context, now=now, actor=BY)
    assert await sign_in_link.ensure_sandbox_operator(context, now=now, actor=BY) == user
    code = await sign_in_link.create_sign_in_link(context, user, now=now, actor=BY)
    stranger = ConsolePerson(
        sandbox.installation, people[ConsoleRole.VIEWER].console, session="z" * 32
    )
    first = await stranger.ask(f"/open/{code}")
    assert "__Host-clearlane-session=" in first.headers["set-cookie"]
    assert "refresh" in first.body.decode()
    again = await stranger.ask(f"/open/{code}")
    assert (again.status_code, "has been used already" in again.body.decode()) == (403, True)
    late = await sign_in_link.create_sign_in_link(context, user, now=now, actor=BY)
    after = now + timedelta(seconds=sign_in_link.SIGN_IN_LINK_SECONDS_MAX)
    assert await sign_in_link.open_sign_in_link(context, late, now=after, actor=BY) is None
