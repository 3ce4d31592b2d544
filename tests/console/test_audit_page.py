"""The audit trail in the console: found by day, person, any id and action, and verified.

Also tests `store/audit/audit_search` and `pipeline/operator/audit_trail`.
"""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.kernel.clock import from_micros
from clearlane.pipeline.operator.audit_trail import service_clock
from clearlane.store.audit import audit_search
from tests.console.sandbox_console import open_sandbox_console


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("audit")) as made:
        yield made


async def test_rows_are_found_by_person_claim_and_action_and_the_chain_is_whole(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    biller = await sandbox.person(ConsoleRole.BILLER)
    number = await sandbox.send("3001")
    claim = await biller.text(f"/claims/{number}")
    own = re.search(r'data-copy="(TEST-\d+)"', claim)[1]
    for query, seen in (
        (f"id={number}&action=claim.read", "biller"),
        (f"id={number.lower()}&action=claim.read", "biller"),
        ("person=biller", "claim.read"),
        ("action=site.add", "A-1"),
        ("action=a+site+was", "A-1"),
        (f"id={number}&changes=true", "Claims were submitted"),
        (f"id={own}&changes=true", "Claims were submitted"),
        ("id=REQUEST-1&person=biller", "A claim was looked at"),
    ):
        page = await operator.text(f"/audit?{query}")
        assert seen in page, query
    assert "looked at" not in await operator.text(f"/audit?id={number}&changes=true")
    assert "No row matches." in await operator.text("/audit?id=NOTHING")
    assert "<script>" not in await operator.text("/audit?person=%3Cscript%3E")
    page = await operator.text("/audit?verify=yes")
    assert "The chain is whole" in page
    # Who searched is in the trail too.
    assert "audit.search" in await operator.text("/audit?action=audit.search")


async def test_a_search_ends_and_says_where_to_go_on(sandbox, monkeypatch):
    monkeypatch.setattr(audit_search, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(audit_search, "ROWS_SEARCHED_MAX", 4)
    database = sandbox.installation.database
    length = await audit_search.trail_length(database)
    nothing = audit_search.AuditSearch(id="NOWHERE")
    page = await audit_search.search_trail(database, nothing, before=audit_search.NEWEST, limit=50)
    assert (page.rows, page.next_before) == ([], length - 3)
    everything, before, pages = [], audit_search.NEWEST, 0
    while before is not None:
        page = await audit_search.search_trail(
            database, audit_search.AuditSearch(), before=before, limit=3
        )
        everything += [row.seq for row in page.rows]
        before, pages = page.next_before, pages + 1
    assert everything == list(range(length, 0, -1))


async def test_days_are_those_of_the_site_and_a_bad_one_is_named(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    today = datetime.now(UTC).date()
    tomorrow, yesterday = today + timedelta(days=2), today - timedelta(days=2)
    inside = await operator.text(f"/audit?day_from={yesterday}&day_to={tomorrow}")
    assert "site.add" in inside
    for query in (f"day_from={tomorrow}", f"day_to={yesterday}", "day_to=0001-01-01"):
        assert "No row matches." in await operator.text(f"/audit?{query}"), query
    assert "site.add" in await operator.text("/audit?day_from=0001-01-01&day_to=9999-12-31")
    page = await operator.text("/audit?day_from=soon&person=nora")
    assert "From: A day such as 2026-01-31 is expected." in page
    # The filters that can be used are kept, and can be removed.
    assert "Person: nora" in page


async def test_the_audit_of_a_claim_is_one_click_away_for_operators_only(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    biller = await sandbox.person(ConsoleRole.BILLER)
    number = await sandbox.send("3001")
    link = f'href="/console/audit?id={number}"'
    assert link in await operator.text(f"/claims/{number}")
    assert "Audit of this claim" not in await biller.text(f"/claims/{number}")
    assert (await biller.ask(f"/audit?id={number}")).status_code == 403


async def test_the_payers_number_of_a_claim_finds_its_rows_and_a_sandbox_shows_both_clocks(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    number = await sandbox.send("3001")
    await sandbox.advance(14)
    claim = await operator.text(f"/claims/{number}")
    payers = re.search(r"Payer's number</dt><dd>.*?data-copy=\"([^\"]+)\"", claim)[1]
    page = unescape(await operator.text(f"/audit?id={payers}&changes=true"))
    assert number in page
    # Written before the clock was advanced; what was written since shows both.
    await operator.text(f"/claims/{number}")
    page = await operator.text(f"/audit?id={number}&action=claim.read")
    assert "sandbox: " in page


def test_a_sandbox_clock_is_traced_back_through_its_rows():
    def row(at, detail, action="sandbox.clock"):
        return audit_search.AuditRow(
            1, at, None, None, "console:nora", action, "", (), None, detail
        )

    rows = [
        row(40, "freeze"),
        row(30, "advance 14 days, 1:00:00"),
        row(20, "advance 2:00:00.500000"),
        row(10, "", "sandbox.reset"),
        row(5, "advance 3 days, 0:00:00"),
    ]
    second, third = timedelta(hours=2, milliseconds=500), timedelta(days=14, hours=1)
    clock = service_clock(rows, second + third)
    shown = [clock.at(from_micros(at)) - from_micros(at) for at in (12, 20, 29, 30, 99)]
    assert shown == [timedelta(0), second, second, second + third, second + third]
