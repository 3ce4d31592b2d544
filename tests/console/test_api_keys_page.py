"""API keys of a vendor in the console: made and shown once, rotated, disabled, removed."""

import re

import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.kernel.clock import SystemClock
from tests.console.sandbox_console import open_sandbox_console

LIST = "/accounts/ACME/api-keys"
KEY = re.compile(r'data-copy="(clearlane_(\w+)_\w+)"')


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("keys")) as made:
        yield made


@pytest.fixture(scope="module")
async def operator(sandbox):
    return await sandbox.person(ConsoleRole.OPERATOR)


def issued(answer):
    """The key that a page shows once, and its id."""
    assert answer.status_code == 200
    [(api_key, id)] = KEY.findall(answer.body.decode())
    return api_key, id


async def test_a_key_is_made_shown_once_rotated_disabled_and_removed(sandbox, operator):
    def opens(api_key):
        accounts = sandbox.installation.accounts
        return accounts.authenticate_key(f"Bearer {api_key}", SystemClock().now()) is not None

    assert "0 API keys" in await operator.text("/accounts")
    form = {
        "name": "<b>Export",
        "scopes": ["read", "files"],
        "sites": "A-1",
        "expires": "2099-06-30",
    }
    api_key, id = issued(await operator.ask(LIST, form=form))
    assert opens(api_key)
    page = await operator.text(LIST)
    for words in (
        "&lt;b&gt;Export",
        "files, read",
        "Fernhill Family Practice",
        "Jul 1, 2099",
        "never",
    ):
        assert words in page, words
    assert api_key not in page
    assert "1 API key<" in await operator.text("/accounts")
    new, _ = issued(await operator.confirm(f"{LIST}/{id}/rotate", form={"hours": "24"}))
    assert opens(api_key)
    assert opens(new)
    answer = await operator.confirm(f"{LIST}/{id}/state", form={"to": "disabled"})
    assert answer.headers["location"] == f"/console{LIST}?done=disabled"
    assert not opens(new)
    assert "Disabled" in await operator.text(LIST)
    await operator.ask(f"{LIST}/{id}/state", form={"to": "active"})
    assert opens(new)
    await operator.confirm(f"{LIST}/{id}/rotate", form={"hours": "0"})
    assert not opens(new)
    answer = await operator.confirm(f"{LIST}/{id}/remove", form={})
    assert answer.headers["location"] == f"/console{LIST}?done=removed"
    assert "No API key yet" in await operator.text(LIST)
    assert "api_key.remove" in await operator.text("/audit?action=api_key")


async def test_what_cannot_be_is_refused_with_every_reason(sandbox, operator):
    answer = await operator.ask(LIST, form={"name": "x", "sites": "B-1"})
    page = answer.body.decode()
    assert answer.status_code == 409
    assert "Give one or more of" in page
    assert "is not a site of this vendor" in page
    answer = await operator.ask(LIST, form={"name": "x", "scopes": "read", "expires": "soon"})
    assert (answer.status_code, b"such as 2027-06-30" in answer.body) == (400, True)
    _, id = issued(await operator.ask(LIST, form={"name": "x", "scopes": "read"}))
    answer = await operator.confirm(f"{LIST}/{id}/rotate", form={"hours": "soon"})
    assert answer.status_code == 400
    for path in ("/accounts/NOBODY/api-keys", "/accounts/%3Cb%3E/api-keys"):
        assert (await operator.ask(path)).status_code == 404, path
    # Another vendor's key is not there, whatever is done with it.
    for verb in ("rotate", "state", "remove"):
        form = {"confirmed": "yes", "to": "disabled", "hours": "1"}
        answer = await operator.ask(f"/accounts/OTHER/api-keys/{id}/{verb}", form=form)
        assert answer.status_code == 404, verb
