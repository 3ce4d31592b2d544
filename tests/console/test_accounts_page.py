"""Accounts in the console: vendors, sites, the agreement, and passwords that are shown once."""

import re

import pytest
from sqlalchemy import select

from clearlane.accounts.users import ConsoleRole
from clearlane.store.database.database import SystemScope
from clearlane.store.database.schema import audit
from clearlane.store.database.sql import Statement
from tests.console.sandbox_console import open_sandbox_console

SECRET = re.compile(r'data-copy="([A-Za-z0-9]{24,})"')
SWITCH = re.compile(r"Corrections in the console: </span>(On|Off)<.*?>Switch (on|off)<", re.DOTALL)
AUDIT = Statement(select(audit.c.action, audit.c.ids, audit.c.actor).order_by(audit.c.seq))


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
    answer = await operator.confirm("/accounts/rotate", form={"key": "NORTH", "hours": "24"})
    [second] = SECRET.findall(answer.body.decode())
    assert second != first
    assert "2 live passwords" in await operator.text("/accounts")
    for hours in ("soon", "9999"):
        answer = await operator.confirm("/accounts/rotate", form={"key": "NORTH", "hours": hours})
        assert answer.status_code == 400, hours
    answer = await operator.confirm("/accounts/rotate", form={"key": "NOBODY", "hours": "1"})
    assert answer.status_code == 409
    answer = await operator.confirm(
        "/accounts/vendor-state", form={"key": "NORTH", "to": "disabled"}
    )
    assert answer.headers["location"] == "/console/accounts?done=vendor"
    vendor = sandbox.installation.accounts.vendor("NORTH")
    assert vendor.state == "disabled"


async def test_a_site_is_added_suspended_and_its_agreement_recorded(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    new = {"key": "ACME", "id": "A-9", "name": "Juniper Clinic", "zone": "America/Chicago"}
    answer = await operator.ask("/accounts/site", form=new)
    assert answer.headers["location"] == "/console/accounts?done=site"
    assert sandbox.site("A-9").baa_accepted is False
    for path, to, seen in (
        ("baa", "accepted", lambda site: site.baa_accepted),
        ("baa", "revoked", lambda site: not site.baa_accepted),
        ("site-state", "suspended", lambda site: site.state == "suspended"),
        ("site-state", "active", lambda site: site.state == "active"),
    ):
        form = {"id": "A-9", "to": to, "confirmed": "yes"}
        answer = await operator.ask(f"/accounts/{path}", form=form)
        assert answer.headers["location"] == "/console/accounts?done=changed"
        assert seen(sandbox.site("A-9")), (path, to)
    # Days and times are those of the site's zone, so none is assumed.
    for zone in ("Nowhere", ""):
        answer = await operator.ask("/accounts/site", form=new | {"zone": zone})
        assert (answer.status_code, b"Time zone must be" in answer.body) == (409, True)
    # What was typed is there again, in the form of that vendor alone.
    form = new | {"id": "A-10", "zone": "Nowhere", "baa": "yes", "name": "<b>Juniper"}
    page = (await operator.ask("/accounts/site", form=form)).body.decode()
    assert page.count("<details open>") == 1
    for kept in (
        'value="&lt;b&gt;Juniper"',
        'value="A-10"',
        'value="Nowhere"',
        'value="yes" checked',
    ):
        assert page.count(kept) == 1, kept
    nobody = await operator.confirm("/accounts/baa", form={"id": "NONE", "to": "revoked"})
    assert nobody.status_code == 409


async def test_corrections_in_the_console_are_switched_and_shown_for_a_site(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    for to, state in (("off", "Off"), ("on", "On")):
        answer = await operator.ask("/accounts/corrections", form={"id": "A-1", "to": to})
        assert answer.headers["location"] == f"/console/accounts?done=corrections-{to}"
        assert sandbox.site("A-1").console_corrections is (to == "on")
        page = await operator.text("/accounts")
        shown = SWITCH.findall(page[page.index(">A-1<") :])[0]
        assert shown == (state, "on" if to == "off" else "off")
    async with sandbox.installation.database.read(SystemScope("a test")) as tx:
        rows = [row for row in await tx.rows(AUDIT) if row[0].startswith("site.corr")]
    assert [row[0] for row in rows] == ["site.corrections_off", "site.corrections_on"]
    assert all("A-1" in row[1] and row[2].startswith("console:operator") for row in rows), rows
    for form, status in (({"id": "A-1", "to": "maybe"}, 400), ({"id": "NONE", "to": "on"}, 409)):
        answer = await operator.ask("/accounts/corrections", form=form)
        assert answer.status_code == status, form
