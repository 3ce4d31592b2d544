"""The console over https: sign in, look, sign out, and everything that must not work.

Also tests `console/home_page`, `console/frame/rendering` and `console/frame/page_request`.
"""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from clearlane.api.frame.auth import SIGN_INS_PER_NAME_MAX
from clearlane.console.frame.forms import CSRF_COOKIE, SESSION_COOKIE
from tests.console.console_user import add_person, csrf_token, notice, sign_in
from tests.patience import wait_until

pytestmark = [pytest.mark.group("console"), pytest.mark.one_database]
WRONG = "User name, password or code is wrong, or the code was used before."
HOME = "/console/"


@pytest.fixture
def browser(server, cast):
    with server.client() as client:
        yield client


@pytest.fixture(scope="module")
def new_person(server, cast):
    """People of their own for tests that sign in more than once."""
    made = iter(range(1_000))

    def make(*arguments):
        sees = arguments or ("--vendor", "ACME", "--site", "A-1")
        return add_person(server, f"person{next(made)}", *sees)

    return make


def signed_in(browser, person):
    answer = sign_in(browser, **person.credentials(code=person.code()))
    assert (answer.status_code, answer.headers["location"]) == (303, HOME)
    return browser


def is_signed_in(browser):
    return browser.get(HOME).status_code == 200


# ---- every page ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/console/login", "/console/enter/x", "/console/nowhere", HOME])
def test_every_answer_carries_the_headers_that_hold_it_safe(browser, path):
    headers = browser.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-request-id"]


def test_pages_hold_no_script_and_no_style_of_their_own(browser, new_person):
    pages = [browser.get("/console/login"), signed_in(browser, new_person()).get(HOME)]
    for page in pages:
        own = page.text.replace('<script src="/console/console.js" defer></script>', "")
        assert "<script" not in own
        assert "<style" not in own
        assert not re.search(r"\son\w+=|\sstyle=", own)
        links = set(re.findall(r'(?:href|src|action)="([^"]*)"', page.text))
        assert all(each.startswith("/console/") for each in links - {"#main"})
    for name, media_type in (
        ("style.css", "text/css; charset=utf-8"),
        ("x12.css", "text/css; charset=utf-8"),
        ("console.js", "text/javascript; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ):
        assert browser.get(f"/console/{name}").headers["content-type"] == media_type


def test_the_login_page_can_be_used_without_seeing_it(browser):
    page = browser.get("/console/login").text
    assert '<html lang="en">' in page
    assert "<title>Sign in" in page
    fields = set(re.findall(r'<input id="(\w+)"', page))
    assert fields == set(re.findall(r'<label for="(\w+)"', page)) == {"name", "password", "code"}
    assert 'autocomplete="one-time-code"' in page
    assert 'autocomplete="current-password"' in page
    assert '<main id="main"' in page


def test_cookies_are_the_hosts_own_and_out_of_reach_of_scripts(browser, new_person):
    person = new_person()
    page = browser.get("/console/login")
    answer = sign_in(browser, **person.credentials(code=person.code()))
    for given, name, site in ((page, CSRF_COOKIE, "lax"), (answer, SESSION_COOKIE, "strict")):
        reported, _, rest = given.headers["set-cookie"].partition("=")
        assert reported == name
        assert name.startswith("__Host-")
        attributes = {part.strip().lower() for part in rest.split(";")[1:]}
        assert attributes == {"path=/", "secure", "httponly", f"samesite={site}"}


def test_other_paths_and_verbs_are_refused_with_a_page(browser):
    assert browser.get("/console/nowhere").status_code == 404
    assert browser.get("/console/logout").status_code == 405
    assert browser.put("/console/login").headers["allow"] == "GET, HEAD, POST"
    assert browser.get("/consolery").json() == {
        "Message": "No HTTP resource was found that matches the request URI."
    }


# ---- signing in ---------------------------------------------------------------------------------


def test_a_person_signs_in_with_both_factors_and_out_again(browser, new_person):
    person = new_person()
    signed_in(browser, person)
    session = browser.cookies[SESSION_COOKIE]
    assert session != browser.cookies[CSRF_COOKIE]
    page = browser.get(HOME)
    assert f"<strong>{person.name}</strong>" in page.text
    assert browser.get("/console/login").headers["location"] == HOME
    out = browser.post("/console/logout", data={"form": csrf_token(page)})
    assert (out.status_code, out.headers["location"]) == (303, "/console/login?say=out")
    assert notice(browser.get(out.headers["location"])) == "You are signed out."
    browser.cookies.set(SESSION_COOKIE, session)
    assert browser.get(HOME).status_code == 303, "the session has ended on the server too"


def test_a_login_link_opened_beside_a_session_leaves_the_session_alone(browser, new_person):
    signed_in(browser, new_person())
    assert "<h1>Sign in</h1>" in browser.get("/console/enter/x").text
    assert is_signed_in(browser)


def test_a_session_of_before_the_sign_in_is_not_taken_over(browser, new_person):
    planted = "A" * 32
    browser.cookies.set(SESSION_COOKIE, planted)
    person = new_person()
    answer = sign_in(browser, **person.credentials(code=person.code()))
    assert f"{SESSION_COOKIE}={planted}" not in answer.headers["set-cookie"]
    with_planted = {"Cookie": f"{SESSION_COOKIE}={planted}"}
    browser.cookies.clear()
    assert browser.get(HOME, headers=with_planted).status_code == 303


def test_names_are_read_in_any_case(browser, new_person):
    person = new_person()
    typed = person.credentials(name=f" {person.name.upper()} ", code=person.code())
    assert sign_in(browser, **typed).status_code == 303


def test_which_credential_was_wrong_is_not_shown(browser, new_person):
    person = new_person()
    right = person.credentials(code=person.code())
    wrong = [
        right | {"name": "nobody"},
        right | {"password": "wrong"},
        right | {"code": "000000"},
        right | {"code": ""},
        right | {"code": "é"},
        {},
    ]
    for typed in wrong:
        answer = sign_in(browser, **typed)
        assert (answer.status_code, notice(answer)) == (403, WRONG)
        assert not is_signed_in(browser)
    assert sign_in(browser, **right).status_code == 303


def test_a_name_that_nobody_can_have_is_wrong_like_any_other(browser):
    answer = sign_in(browser, name="no\0ra", password="a quiet evening", code="000000")
    assert (answer.status_code, notice(answer)) == (403, WRONG)


def test_a_code_is_good_once_also_when_used_many_times_at_once(server, new_person):
    person = new_person()
    typed = person.credentials(code=person.code())

    def attempt(_):
        with server.client() as browser:
            return sign_in(browser, **typed).status_code

    with ThreadPoolExecutor(8) as people:
        codes = list(people.map(attempt, range(8)))
    assert sorted(codes) == [303, *[403] * 7]


def test_a_disabled_user_is_out_at_once_and_stays_out(server, browser, new_person):
    person = new_person()
    signed_in(browser, person)
    server.command("user", "disable", person.name, "--yes")
    assert not is_signed_in(browser)
    typed = person.credentials(code=person.code())
    assert sign_in(browser, **typed).status_code == 403
    server.command("user", "enable", person.name)
    assert sign_in(browser, **typed).status_code == 303


def test_users_of_a_disabled_vendor_stay_out(server, browser):
    account = server.add_vendor("LEAVING")
    person = add_person(server, "leaver", "--vendor", "LEAVING", "--all-sites")
    signed_in(browser, person)
    server.command("vendor", "disable", account.key, "--yes")
    assert not is_signed_in(browser)
    assert sign_in(browser, **person.credentials(code=person.code())).status_code == 403


def test_failures_are_slowed_and_right_credentials_are_not(server, new_person):
    person = new_person()

    def seconds(**typed):
        with server.client() as browser:
            word = csrf_token(browser.get("/console/login"))
            began = time.perf_counter()
            answer = browser.post("/console/login", data={"form": word, **typed})
            return time.perf_counter() - began, answer.status_code

    wrong = person.credentials(password="wrong", code="000000")
    tried = [seconds(**wrong) for _ in range(SIGN_INS_PER_NAME_MAX - 1)]
    assert [status for _, status in tried] == [403] * len(tried)
    assert tried[-1][0] > 0.5
    assert seconds(**person.credentials(code=person.code()))[1] == 303


def test_beyond_the_limit_of_a_name_and_an_address_no_password_is_looked_at(server, new_person):
    person = new_person()

    def attempt(address, **typed):
        with server.client(address=address) as browser:
            return sign_in(browser, **typed)

    def guess(number):
        return attempt("127.0.8.1", **person.credentials(password=f"wrong{number}", code="000000"))

    with ThreadPoolExecutor(20) as people:
        statuses = [answer.status_code for answer in people.map(guess, range(25))]
    assert (statuses.count(403), statuses.count(429)) == (SIGN_INS_PER_NAME_MAX, 15)
    right = person.credentials(code=person.code())
    refused = attempt("127.0.8.1", **right)
    assert (refused.status_code, refused.headers["connection"]) == (429, "close")
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert attempt("127.0.8.2", **right).status_code == 303


def test_a_failed_sign_in_is_in_the_audit_trail_with_its_address_and_hashed_name(server, cast):
    for name in ("NOBODYHERE", "NOBODYHERE", "SOMEBODYELSE"):
        with server.client(address="127.0.8.7") as browser:
            sign_in(browser, name=name, password="MARKERPASSWORD", code="314159")

    def rows():
        trail = [json.loads(line) for line in server.command("audit", "export").splitlines()]
        found = [row for row in trail if row["detail"].endswith("from 127.0.8.7")]
        # The first failure of each name: further ones are counted for a minute, which may pass here.
        firsts: dict[str, dict] = {}
        for row in found:
            firsts.setdefault(row["detail"].split()[1], row)
        return list(firsts.values())

    wait_until(lambda: len(rows()) == 2)
    first, second = rows()
    assert (first["actor"], first["action"]) == ("unknown:console", "sign-in.failed")
    assert re.fullmatch(r"name [0-9a-f]{16}; from 127\.0\.8\.7", first["detail"])
    assert first["detail"] != second["detail"]
    server.logged_requests()
    logged = [json.loads(line) for line in server.log if '"sign-in failed"' in line]
    hashes = {line["name_hash"] for line in logged if line["address"] == "127.0.8.7"}
    assert hashes == {row["detail"].split()[1].rstrip(";") for row in (first, second)}
    assert not {"nobodyhere", "markerpassword"} & set("".join(server.log).lower().split('"'))


def test_a_failed_sign_in_is_logged_without_what_was_typed(server, browser, new_person):
    person = new_person()
    sign_in(browser, name="MARKERNAME", password="MARKERPASSWORD", code="314159")
    signed_in(browser, person)
    server.logged_requests()
    text = "".join(server.log)
    assert '"sign-in failed"' in text
    for secret in ("MARKER", person.password, browser.cookies[SESSION_COOKIE], "314159"):
        assert secret not in text


# ---- forms --------------------------------------------------------------------------------------


def test_a_form_without_its_csrf_token_or_with_anothers_signs_nobody_in(
    server, browser, new_person
):
    person = new_person()
    code = person.code()
    with server.client() as stranger:
        anothers = csrf_token(stranger.get("/console/login"))
    browser.get("/console/login")
    for word in ("", anothers, "é"):
        answer = browser.post("/console/login", data=person.credentials(code=code, form=word))
        assert answer.status_code == 403
        assert notice(answer).startswith("The form was too old")
    browser.cookies.clear()
    assert (
        browser.post(
            "/console/login", data=person.credentials(code=code, form=anothers)
        ).status_code
        == 403
    )
    assert sign_in(browser, **person.credentials(code=code)).status_code == 303


def test_another_site_can_neither_sign_in_nor_out(browser, new_person):
    person = new_person()
    foreign = {"Sec-Fetch-Site": "cross-site"}
    word = csrf_token(browser.get("/console/login"))
    typed = person.credentials(code=person.code(), form=word)
    assert browser.post("/console/login", data=typed, headers=foreign).status_code == 403
    assert browser.post("/console/login", data=typed).status_code == 303
    word = csrf_token(browser.get(HOME))
    assert browser.post("/console/logout", data={"form": word}, headers=foreign).status_code == 403
    assert browser.post("/console/logout", data={"form": "x"}).status_code == 403
    assert is_signed_in(browser)


def test_a_session_of_ones_own_making_is_none(browser):
    for word in ("x" * 32, "0" * 32, "é", "", "x" * 5_000):
        browser.headers["Cookie"] = f"{SESSION_COOKIE}={word}".encode().decode("latin-1")
        assert browser.get(HOME).headers["location"] == "/console/login?say=ended"


@pytest.mark.parametrize(
    ("media_type", "content"),
    [
        ("application/json", b"{}"),
        ("application/x-www-form-urlencoded", b"a=" + b"x" * 60_000),
        ("application/x-www-form-urlencoded", b"&".join([b"a=1"] * 50)),
        ("application/x-www-form-urlencoded", b"a=%ff"),
        ("application/x-www-form-urlencoded", b"\xff=1"),
        ("multipart/form-data; boundary=x", b"--x--"),
    ],
)
def test_a_form_that_cannot_be_read_is_a_400_with_a_page(browser, media_type, content):
    answer = browser.post("/console/login", content=content, headers={"Content-Type": media_type})
    assert answer.status_code == 400
    assert "The form cannot be read." in answer.text


# ---- the audit trail ----------------------------------------------------------------------------


def test_a_sign_in_and_out_is_in_the_audit_trail(server, browser, new_person):
    person = new_person()
    page = signed_in(browser, person).get(HOME)
    browser.post("/console/logout", data={"form": csrf_token(page)})
    trail = [json.loads(line) for line in server.command("audit", "export").splitlines()]
    mine = [
        line
        for line in trail
        if person.name in json.dumps(line["actor"]) and line["action"].startswith("console.")
    ]
    assert [line["action"] for line in mine] == [
        "console.sign_in",
        "console.sign_out",
    ]
    assert all(line["detail"].endswith("from 127.0.0.1") for line in mine)
