"""The audit trail in the console: found by person, claim and action, and verified.

Also tests `store/audit/audit_search`.
"""

import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.console.operator.audit_page import action_words
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
    await biller.text(f"/claims/{number}")
    for query, seen in (
        (f"id={number}&action=claim.read", "biller"),
        ("person=biller", "claim.read"),
        ("action=site.add", "A-1"),
    ):
        page = await operator.text(f"/audit?{query}")
        assert seen in page, query
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


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("claim.read", "Claim looked at"),
        ("console.sign_in", "Signed in"),
        ("console.claims_csv", "Claims as CSV"),
        ("inbox.statements.read", "Inbox statements looked at"),
        ("batch.in_doubt_after_restore", "Batch in doubt after restore"),
    ],
)
def test_an_action_is_named_in_words(action, words):
    assert action_words(action) == words
