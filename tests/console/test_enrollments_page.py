"""Enrollments in the console: each sees those of its sites, operators record what payers answered."""

import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.pipeline.enrollment.enroll import enroll
from tests.console.sandbox_console import SENDER, open_sandbox_console
from tests.enrollment.invented import a_document, a_practice

HOSTILE = "<i>FERNHILL</i>"


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("enrollments")) as made:
        yield made


@pytest.fixture(scope="module")
async def ids(sandbox):
    """Enrollments of two vendors' sites."""
    found = {}
    for site, name in (("A-1", HOSTILE), ("B-1", "QUARRY STREET CLINIC")):
        receipt = await enroll(
            sandbox.installation.work_context, a_document(a_practice(PracticeName=name)),
            site=sandbox.site(site), actor=SENDER, now=sandbox.installation.clock.now(),
        )  # fmt: skip
        [result] = receipt.results
        found[site] = result.id
    return found


async def test_each_sees_the_enrollments_of_its_sites(sandbox, ids):
    operator, biller = [
        await sandbox.person(role) for role in (ConsoleRole.OPERATOR, ConsoleRole.BILLER)
    ]
    every = await operator.text("/enrollments")
    own = await biller.text("/enrollments")
    assert "QUARRY STREET CLINIC" in every
    for page in (every, own, await biller.text(f"/enrollments/{ids['A-1']}")):
        assert HOSTILE not in page
        assert "&lt;i&gt;FERNHILL" in page
    assert "QUARRY" not in own
    # A new one is an operator's to do; who sent it waits.
    assert '<span class="label act">New' in every
    assert '<span class="label wait">New' in own
    assert (await biller.ask(f"/enrollments/{ids['B-1']}")).status_code == 404
    assert "No enrollment is in this state." in await biller.text("/enrollments?state=approved")


async def test_an_operator_records_what_the_payer_answered(sandbox, ids):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    biller = await sandbox.person(ConsoleRole.BILLER)
    path = f"/enrollments/{ids['A-1']}"
    assert "Sent to the payer" in await operator.text(path)
    assert "Sent to the payer" not in await biller.text(path)
    payer = next(p for p in sandbox.installation.payers.all if p.claim_enrollment_required)
    form = {"payer": payer.payer_id, "type": payer.type, "transaction": "claims"}
    for event, reason, notice, seen in (
        ("start", "", "moved", "At the payer"),
        ("refuse", "wrong <b>TIN</b>", "moved", "wrong &lt;b&gt;TIN&lt;/b&gt;"),
        ("refuse", "", "same", "Refused"),
        ("approve", "", "moved", "Approved"),
    ):
        answer = await operator.confirm(
            f"{path}/move", form=form | {"event": event, "reason": reason}
        )
        assert answer.headers["location"] == f"/console{path}?done={notice}", event
        assert seen in await operator.text(path)
    answer = await operator.confirm(f"{path}/move", form=form | {"event": "start"})
    assert answer.status_code == 409
    live = form | {"event": "approve", "transaction": "era", "live_from": "2031-01-02"}
    assert (await operator.confirm(f"{path}/move", form=live)).status_code == 303
    assert "live from Jan 2, 2031" in await operator.text(path)
    assert (await operator.confirm(f"{path}/move", form=form | {"event": "end"})).status_code == 303
    assert "Ended by the payer" in await operator.text(path)
    for wrong in (
        {"event": "odd"},
        {"payer": "NOBODY"},
        {"transaction": "odd"},
        {"live_from": "soon"},
        {"event": "refuse", "reason": "x" * 501},
    ):
        given = {"event": "refuse", "confirmed": "yes"} | form | wrong
        answer = await operator.ask(f"{path}/move", form=given)
        assert answer.status_code == 400, wrong
