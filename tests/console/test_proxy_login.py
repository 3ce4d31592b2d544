"""Proxy login over https: every result code and status."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.console.console_user import notice

pytestmark = [pytest.mark.group("console"), pytest.mark.one_database]
GUID = "0F8FAD5B-D9CB-469F-A165-70867728950E"
CREATE, URL, DELETE = (
    f"/api/v3/proxylogin/{name}"
    for name in ("create_instance_token", "get_url", "delete_instance_token")
)
INVALID = "The user name or token is invalid."
NO_URL = {"resultCode": 3, "errorMessage": INVALID, "url": ""}
USED = (
    "This link has been used already, has expired, or was never valid. You can still sign in here."
)
ENTERED = "Your practice software has opened this page. Sign in to continue."


class Caller:
    """A vendor's software."""

    def __init__(self, server, account, site):
        self.http = server.client(account.auth)
        self.site = site

    def call(self, path, **query):
        return self.http.post(path, params={"vendorSiteId": self.site, **query})

    def token(self, instance=GUID, name="Front context"):
        made = self.call(CREATE, instanceId=instance, instanceName=name).json()
        assert (made["resultCode"], made["errorMessage"]) == (0, "")
        return made["token"]

    def url(self, instance=GUID, token=""):
        return self.call(URL, instanceId=instance, token=token).json()

    def delete(self, instance=GUID):
        return self.call(DELETE, instanceId=instance).json()


@pytest.fixture
def acme(server, cast):
    caller = Caller(server, cast.acme, "A-1")
    yield caller
    caller.delete()
    caller.http.close()


@pytest.fixture
def acme_elsewhere(server, cast):
    caller = Caller(server, cast.acme, "A-2")
    yield caller
    caller.http.close()


@pytest.fixture
def other(server, cast):
    caller = Caller(server, cast.other, "B-1")
    yield caller
    caller.http.close()


def test_a_token_opens_a_url_and_the_url_opens_the_login_page_once(server, acme):
    token = acme.token()
    assert re.fullmatch(r"[A-Za-z0-9_-]{24,}", token)
    given = acme.url(token=token)
    assert (given["resultCode"], given["errorMessage"]) == (0, "")
    assert given["url"].startswith(server.base_url + "/console/enter/")
    with server.client() as browser:
        first, second = browser.get(given["url"]), browser.get(given["url"])
    assert (first.status_code, notice(first)) == (200, ENTERED)
    assert (second.status_code, notice(second)) == (200, USED)
    assert "<h1>Sign in</h1>" in first.text
    assert "<h1>Sign in</h1>" in second.text


def test_answers_have_the_fields_of_the_document_and_no_others(acme):
    made = acme.call(CREATE, instanceId=GUID, instanceName="Front context")
    token = made.json()["token"]
    assert list(made.json()) == ["token", "resultCode", "errorMessage"]
    assert list(acme.url(token=token)) == ["resultCode", "errorMessage", "url"]
    assert list(acme.delete()) == ["resultCode", "deleted", "errorMessage"]
    assert made.headers["cache-control"] == "no-store"


def test_a_hundred_uses_at_once_let_one_through(server, acme):
    url = acme.url(token=acme.token())["url"]
    with server.client() as browser, ThreadPoolExecutor(20) as people:
        pages = list(people.map(lambda _: browser.get(url), range(100)))
    assert {page.status_code for page in pages} == {200}
    reported = [notice(page) for page in pages]
    assert (reported.count(ENTERED), reported.count(USED)) == (1, 99)


def test_an_invented_login_url_shows_the_same_page_with_a_notice(server):
    with server.client() as browser:
        for part in ("x" * 32, "", "%00", "a/b", "é", "x" * 4_000):
            page = browser.get(f"/console/enter/{part}")
            assert (page.status_code, notice(page)) == (200, USED), part


def test_looking_whether_a_link_leads_somewhere_does_not_use_it_up(server, acme):
    url = acme.url(token=acme.token())["url"]
    with server.client() as browser:
        assert browser.head(url).status_code == 405
        assert browser.options(url).status_code == 405
        assert notice(browser.get(url)) == ENTERED


@pytest.mark.parametrize("form", [GUID, GUID.lower(), f"{{{GUID}}}", f" {{{GUID.lower()}}} "])
def test_an_instance_has_one_token_however_its_guid_is_written(acme, form):
    token = acme.token()
    assert acme.url(form, token)["resultCode"] == 0
    again = acme.token(form)
    assert acme.url(token=token) == NO_URL
    assert acme.url(token=again)["resultCode"] == 0
    assert acme.delete(form) == {"resultCode": 0, "deleted": True, "errorMessage": ""}


@pytest.mark.parametrize(
    "text", ["front-context", GUID[:-1], f"{{{GUID}", GUID.replace("-", ""), GUID + "0", "é" * 36]
)
def test_what_is_no_guid_is_result_code_2(acme, text):
    made, url, deleted = (
        acme.call(path, instanceId=text, token="x") for path in (CREATE, URL, DELETE)
    )
    assert {answer.status_code for answer in (made, url, deleted)} == {200}
    sentence = made.json()["errorMessage"]
    assert sentence.startswith("The instanceId is not a GUID")
    assert made.json() == {"token": "", "resultCode": 2, "errorMessage": sentence}
    assert url.json() == {"resultCode": 2, "errorMessage": sentence, "url": ""}
    assert deleted.json() == {"resultCode": 2, "deleted": False, "errorMessage": sentence}


@pytest.mark.parametrize("path", [CREATE, URL, DELETE])
@pytest.mark.parametrize("query", [{}, {"instanceId": ""}, {"instanceId": " "}])
def test_without_an_instance_no_action_is_found(acme, path, query):
    answer = acme.call(path, **query)
    assert answer.status_code == 404
    assert answer.json() == {
        "Message": "No HTTP resource was found that matches the request URI.",
        "MessageDetail": "No action was found on the controller 'ProxyLogin' that matches the request.",
    }


def test_a_wrong_missing_or_deleted_token_is_result_code_3(acme):
    token = acme.token()
    assert acme.url(token=token + "x") == NO_URL
    assert acme.url(token="é") == NO_URL
    assert acme.url(token="") == NO_URL
    assert acme.call(URL, instanceId=GUID).json() == NO_URL
    assert acme.delete()["deleted"] is True
    assert acme.url(token=token) == NO_URL


def test_a_foreign_token_is_result_code_3(acme, acme_elsewhere, other):
    token = acme.token()
    assert other.url(token=token) == NO_URL
    assert acme_elsewhere.url(token=token) == NO_URL
    assert other.delete() == {"resultCode": 0, "deleted": False, "errorMessage": ""}
    assert acme.url(token=token)["resultCode"] == 0


def test_two_clients_may_have_an_instance_of_one_guid(acme, other):
    mine, theirs = acme.token(), other.token()
    assert acme.url(token=mine)["resultCode"] == other.url(token=theirs)["resultCode"] == 0
    assert other.delete()["deleted"] is True
    assert acme.url(token=mine)["resultCode"] == 0


def test_deleting_what_is_not_there_is_no_error(acme):
    acme.delete()
    assert acme.delete() == {"resultCode": 0, "deleted": False, "errorMessage": ""}


def test_a_new_or_deleted_token_ends_the_urls_of_the_old_one(server, acme):
    url = acme.url(token=acme.token())["url"]
    acme.token()
    with server.client() as browser:
        assert notice(browser.get(url)) == USED
    url = acme.url(token=acme.token())["url"]
    acme.delete()
    with server.client() as browser:
        assert notice(browser.get(url)) == USED


def test_a_disabled_instance_stays_disabled_until_an_operator_enables_it(server, acme, other):
    token, _ = acme.token(), other.token()
    url = acme.url(token=token)["url"]
    server.command("instance", "disable", GUID, "--site", "A-1")
    assert acme.url(token=token) == NO_URL
    with server.client() as browser:
        assert notice(browser.get(url)) == USED
    assert acme.delete()["deleted"] is True
    assert acme.delete()["deleted"] is False
    token = acme.token()
    assert acme.url(token=token) == NO_URL
    server.command("instance", "enable", GUID, "--site", "A-1")
    assert acme.url(token=token)["resultCode"] == 0
    other.delete()


def test_a_vendor_without_proxy_login_gets_no_token_and_no_url(server, acme):
    token = acme.token()
    url = acme.url(token=token)["url"]
    server.command("vendor", "proxy-login", "off", "ACME")
    try:
        assert acme.url(token=token) == NO_URL
        refused = acme.call(CREATE, instanceId=GUID).json()
        assert refused == {"token": "", "resultCode": 3, "errorMessage": INVALID}
        with server.client() as browser:
            assert notice(browser.get(url)) == USED
    finally:
        server.command("vendor", "proxy-login", "on", "ACME")
    assert acme.url(token=token)["resultCode"] == 0


@pytest.mark.parametrize("path", [CREATE, URL, DELETE])
def test_bad_credentials_are_a_404_that_begins_with_101(server, cast, path):
    with server.client(("ACME", "wrong")) as client:
        answer = client.post(path, params={"vendorSiteId": "A-1", "instanceId": GUID})
    assert answer.status_code == 404
    assert answer.text.startswith("101:")
    assert answer.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("path", [CREATE, URL, DELETE])
def test_the_checks_of_every_call_hold_here_too(server, cast, path):
    with server.client(cast.acme.auth) as client:
        query = {"instanceId": GUID}
        assert client.get(path, params=query | {"vendorSiteId": "A-1"}).status_code == 405
        assert client.post(path, params=query).status_code == 404
        foreign = client.post(path, params=query | {"vendorSiteId": "B-1"})
        assert (foreign.status_code, foreign.json()) == (400, {"Message": "Invalid VendorSiteId"})


def test_neither_a_missing_baa_nor_a_suspended_site_prevents_it(server, cast):
    for site in ("A-2", "A-SUSPENDED"):
        caller = Caller(server, cast.acme, site)
        assert caller.url(token=caller.token())["resultCode"] == 0
        assert caller.delete()["deleted"] is True
        caller.http.close()


def test_path_and_query_are_read_in_any_case(acme):
    token = acme.token()
    answer = acme.http.post(
        "/API/V3/ProxyLogin/Get_Url",
        params={"VENDORSITEID": "A-1", "InstanceID": GUID, "Token": token},
    )
    assert answer.json()["resultCode"] == 0


def test_the_url_comes_from_the_settings_never_from_the_caller(server, acme):
    token = acme.token()
    answer = acme.http.post(
        URL,
        params={"vendorSiteId": "A-1", "instanceId": GUID, "token": token},
        headers={
            "Host": "elsewhere.example",
            "X-Forwarded-Host": "elsewhere.example",
            "X-Forwarded-Proto": "https",
        },
    )
    assert answer.json()["url"].startswith(server.base_url + "/console/enter/")


def test_the_label_is_free_text_and_optional(server, acme):
    acme.token(name="Front\ndesk é 漢 \x00" + "x" * 500)
    assert acme.call(CREATE, instanceId=GUID).json()["resultCode"] == 0


def test_nothing_secret_is_logged(server, acme):
    token = acme.token()
    url = acme.url(token=token)["url"]
    with server.client() as browser:
        page = browser.get(url)
    assert page.headers["referrer-policy"] == "no-referrer"
    logged = server.logged_requests()
    assert {"GetUrl", "Console"} <= {line["endpoint"] for line in logged}
    text = "".join(server.log)
    assert token not in text
    assert url.rpartition("/")[2] not in text
    assert "/console" not in text
