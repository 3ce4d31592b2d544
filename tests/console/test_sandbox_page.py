"""The sandbox in the console: its clock, its scenarios, and payers that misbehave."""

import re

import pytest

from clearlane.accounts.users import ConsoleRole
from tests.console.sandbox_console import open_sandbox_console


@pytest.fixture
async def sandbox(tmp_path):
    async with open_sandbox_console(tmp_path / "data") as made:
        yield made


async def test_scenarios_are_sent_payers_changed_and_days_stopped(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    page = await operator.text("/sandbox")
    assert "Denied, by its reasons alone" in page
    assert "only <em>Advance</em> lets days pass" in page
    answer = await operator.ask("/sandbox/send", form={"member": "3018", "site": "A-1"})
    assert re.match(r"/console/claims/C\w{18}\?", answer.headers["location"])
    assert (await operator.ask("/sandbox/send", form={"member": "9"})).status_code == 400
    answer = await operator.ask("/sandbox/payer", form={"payer": "TST01", "mode": "down"})
    assert answer.headers["location"] == "/console/sandbox?done=mode"
    assert "It cannot be reached" in await operator.text("/sandbox?done=mode")
    for form in ({"payer": "TST01", "mode": "odd"}, {"payer": "NOBODY", "mode": "up"}):
        assert (await operator.ask("/sandbox/payer", form=form)).status_code == 400
    answer = await operator.ask("/sandbox/clock", form={"days": "run", "pace": "60"})
    assert answer.headers["location"] == "/console/sandbox?done=clock"
    assert "A day of the payers lasts 60 seconds." in await operator.text("/sandbox")
    for pace in ("0", "soon", "99999"):
        answer = await operator.ask("/sandbox/clock", form={"pace": pace})
        assert answer.status_code == 400, pace
