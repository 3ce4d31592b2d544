"""The console's rules: set by operators with a reason; claims sent anyway by billers, and what became of them.

Also tests `console/operator/rules_page` and `console/frame/list_page`.
"""

import re
from datetime import timedelta
from html import unescape

import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.claims.rules import RULES
from clearlane.console.operator.rules_page import RULES_PER_PAGE
from clearlane.pipeline.query import claim_summary
from tests.console.sandbox_console import open_sandbox_console

pytestmark = pytest.mark.safe_default(16)


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("rules")) as made:
        yield made


def words(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def ours(sandbox):
    """Fields that break a rule of ours: an accident after the last day of service (C855)."""
    day = sandbox.installation.clock.now().date() - timedelta(days=1)
    return {"F10C_PatientCondOtherAccident": True, "F15_AccidentDate": str(day)}


async def listed(operator, path):
    """The rules of every page of a list, each of which has as many as the pages of other lists."""
    found = []
    while path:
        page = await operator.text(path)
        rules = re.findall(r'/rules/(\w+)"', page)
        assert 0 < len(rules) <= RULES_PER_PAGE
        found += rules
        more = re.search(r'<a href="/console([^"]+)" rel="next">Next</a>', page)
        path = unescape(more[1]) if more else ""
    return found


async def test_the_pages_of_found_rules_keep_what_was_searched(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    found = await listed(operator, "/rules?words=the+is")
    assert found == [
        rule
        for rule in sorted(RULES)
        if all(
            word in f"{rule} {RULES[rule].sentence} {RULES[rule].x12}".casefold()
            for word in ("the", "is")
        )
    ]
    assert len(found) > RULES_PER_PAGE
    last = await operator.text(f"/rules?start={len(RULES) - 1}")
    assert 'rel="prev">Previous</a>' in last
    assert 'rel="next"' not in last
    beyond = await operator.text(f"/rules?start={len(RULES)}")
    assert re.findall(r'/rules/(\w+)"', beyond) == sorted(RULES)[:RULES_PER_PAGE]


async def test_an_operator_finds_a_rule_sets_it_with_a_reason_and_takes_it_back(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    assert await listed(operator, "/rules") == sorted(RULES)
    found = await operator.text("/rules?words=asks+for+something")
    assert re.findall(r'/rules/(\w+)"', found) == ["C703"]
    assert "No rule is set" in await operator.text("/rules?tab=set")
    refused = await operator.ask(
        "/rules/C703", form={"severity": "error", "payer": "NOPE", "because": ""}
    )
    assert refused.status_code == 400
    assert "The payer NOPE is not in the directory" in words(refused.body.decode())
    assert "Give the reason" in words(refused.body.decode())
    form = {"severity": "error", "payer": "TST01", "for_site": "A-1", "because": "rejects them"}
    done = await operator.ask("/rules/C703", form=form)
    assert done.status_code == 303
    shown = words(await operator.text("/rules/C703?done=set"))
    assert "payer TST01, site A-1 rejects them" in shown
    assert "The rule is set." in shown
    assert "Error for payer TST01, site A-1" in words(await operator.text("/rules?tab=set"))
    assert "rule.set" in await operator.text("/audit?action=rule.set")
    nothing = {
        "F28_TotalCharge": "0.00",
        "F24_ClaimLines": [
            {
                "F24A_DateOfServiceFrom": str(
                    sandbox.installation.clock.now().date() - timedelta(days=5)
                ),
                "F24B_PlaceOfServiceCode": "11",
                "F24D_HcpcsProcedureCode": "99213",
                "F24E_DiagnosisPointers": ["A"],
                "F24F_Charges": "0.00",
            }
        ],
    }
    await sandbox.send(accepted=False, **nothing)
    await sandbox.send(site="A-2", **nothing)
    back = {"severity": "default", "payer": "TST01", "for_site": "A-1"}
    assert (await operator.ask("/rules/C703", form=back)).status_code == 303
    await sandbox.send(**nothing)


async def test_a_rule_of_the_guide_cannot_be_set_and_others_see_no_rules(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    shown = words(await operator.text("/rules/C701"))
    assert "The X12 guide requires it, and a payer would reject the file." in shown
    refused = await operator.ask("/rules/C701", form={"severity": "off", "because": "please"})
    assert "cannot be switched off" in words(refused.body.decode())
    assert (await operator.ask("/rules/NONE")).status_code == 404
    for role in (ConsoleRole.BILLER, ConsoleRole.SUPPORT, ConsoleRole.VIEWER):
        person = await sandbox.person(role)
        assert (await person.ask("/rules")).status_code == 403
        assert (await person.ask("/rules/C703", form={"severity": "off"})).status_code == 403


async def test_a_biller_sends_a_claim_anyway_and_the_operator_sees_its_fate(sandbox, monkeypatch):
    monkeypatch.setattr(claim_summary, "CAUSE_MINUTES_MAX", 0)
    biller = await sandbox.person(ConsoleRole.BILLER)
    number = await sandbox.send("1001", accepted=False, **ours(sandbox))
    viewer = await sandbox.person(ConsoleRole.VIEWER)
    assert (await viewer.ask(f"/claims/{number}/anyway")).status_code == 403
    assert f"/claims/{number}/anyway" in await biller.text(f"/claims/{number}")
    page = words(await biller.text(f"/claims/{number}/anyway"))
    assert "C855" in page
    without = await biller.ask(f"/claims/{number}/anyway", form={"do": "send", "reason": ""})
    assert "Say why it is sent although a rule stops it." in words(without.body.decode())
    sent = await biller.ask(
        f"/claims/{number}/anyway", form={"do": "send", "reason": "the payer asked for this date"}
    )
    assert sent.status_code == 303
    new = re.search(r"/claims/(\w+)", sent.headers["location"])[1]
    claim = words(await biller.text(f"/claims/{new}?done=sent-anyway"))
    assert "Sent anyway" in claim
    assert "the payer asked for this date" in await biller.text(f"/claims/{new}?show=notes")
    guides = await sandbox.send(accepted=False, F28_TotalCharge="1.00")
    refused = await biller.ask(f"/claims/{guides}/anyway")
    assert refused.status_code == 409
    assert "C701 stops it: The X12 guide requires it" in words(refused.body.decode())
    await sandbox.send(accepted=False, **ours(sandbox))
    await claim_summary.refresh_summary(
        sandbox.installation.work_context, sandbox.site("A-1"), with_causes=True
    )
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    did = words(await operator.text("/rules/C855"))
    assert "It stopped 2 claims in the last seven days" in did
    assert "People sent 1 claim anyway in the last year: 1 open." in did
    await sandbox.advance(20)
    page = await operator.text("/rules?tab=anyway")
    assert re.findall(r'/rules/(\w+)"', page) == ["C855"]
    assert re.search(r"Sent anyway 1: 1 (paid|rejected|denied)", words(page))
