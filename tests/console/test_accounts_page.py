"""Accounts in the console: vendors, sites, the agreement, and passwords that are shown once."""

import re

import pytest

from clearlane.accounts.users import ConsoleRole
from tests.console.sandbox_console import open_sandbox_console

SECRET = re.compile(r'data-copy="([A-Za-z0-9]{24,})"')


@pytest.fixture
async def sandbox(tmp_path):
    async with open_sandbox_console(tmp_path / "data") as made:
        yield made


async def test_a_vendor_is_added_gets_another_password_and_is_revoked(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    form = {"key": "NORTH", "name": "<b>North</b> Software"}
    answer = await operator.ask("/accounts/vendor", form=form)
    [first] = SECRET.findall(answer.body.decode())
    page = await operator.text("/accounts")
    assert first not in page
    assert "<b>North" not in page
    assert "&lt;b&gt;North" in page
    answer = await operator.ask("/accounts/vendor", form=form)
    assert (answer.status_code, b"There is a vendor NORTH already" in answer.body) == (409, True)
    answer = await operator.ask("/accounts/rotate", form={"key": "NORTH", "hours": "24"})
    [second] = SECRET.findall(answer.body.decode())
    assert second != first
    assert "2 live passwords" in await operator.text("/accounts")
    for hours in ("soon", "9999"):
        answer = await operator.ask("/accounts/rotate", form={"key": "NORTH", "hours": hours})
        assert answer.status_code == 400, hours
    answer = await operator.ask("/accounts/rotate", form={"key": "NOBODY", "hours": "1"})
    assert answer.status_code == 409
    answer = await operator.ask("/accounts/vendor-state", form={"key": "NORTH", "to": "disabled"})
    assert answer.headers["location"] == "/console/accounts?done=vendor"
    vendor = sandbox.installation.accounts.vendor("NORTH")
    assert vendor.state == "disabled"


async def test_a_site_is_added_suspended_and_its_agreement_recorded(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    form = {"key": "ACME", "id": "A-9", "name": "Juniper Clinic", "zone": "America/Chicago"}
    answer = await operator.ask("/accounts/site", form=form)
    assert answer.headers["location"] == "/console/accounts?done=site"
    assert sandbox.site("A-9").baa_accepted is False
    for path, to, seen in (
        ("baa", "accepted", lambda site: site.baa_accepted),
        ("baa", "revoked", lambda site: not site.baa_accepted),
        ("site-state", "suspended", lambda site: site.state == "suspended"),
        ("site-state", "active", lambda site: site.state == "active"),
    ):
        answer = await operator.ask(f"/accounts/{path}", form={"id": "A-9", "to": to})
        assert answer.headers["location"] == "/console/accounts?done=changed"
        assert seen(sandbox.site("A-9")), (path, to)
    answer = await operator.ask("/accounts/site", form=form | {"zone": "Nowhere"})
    assert (answer.status_code, b"Time zone must be" in answer.body) == (409, True)
    assert (await operator.ask("/accounts/baa", form={"id": "NONE"})).status_code == 409
