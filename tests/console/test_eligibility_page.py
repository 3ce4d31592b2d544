"""Eligibility in the console: the form, the sheet, and what each may see."""

import pytest

from clearlane.accounts.users import ConsoleRole
from tests.console.sandbox_console import open_sandbox_console


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("eligibility")) as made:
        yield made


async def test_the_form_offers_payers_and_viewers_only_read(sandbox):
    biller, viewer = [
        await sandbox.person(role) for role in (ConsoleRole.BILLER, ConsoleRole.VIEWER)
    ]
    page = await biller.text("/eligibility")
    assert "Sandbox Medical (TST01)" in page
    assert "Nobody has asked yet" in page
    assert "Ask the payer" not in await viewer.text("/eligibility")
    assert (await viewer.ask("/eligibility/ask", form={})).status_code == 403
    for id in ("77", "x"):
        assert (await biller.ask(f"/eligibility/{id}")).status_code == 404
    # This process is no node that asks payers.
    assert (await biller.ask("/eligibility/ask", form={"payer": "TST01"})).status_code == 503
