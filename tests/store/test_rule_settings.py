"""Settings of rules in the database and by command: stored whole or not at all, audited, followed by every node.

Also tests `store/installation/rule_settings`, `pipeline/operator/rule_admin`, `cli/payer/rule` and `cli/x12/x12_site`.
"""

import json
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from clearlane.accounts.directory import AccountDirectory
from clearlane.cli.account import site, vendor
from clearlane.cli.codes import codes_command
from clearlane.cli.payer import rule
from clearlane.cli.x12.x12 import app as x12_app
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.pipeline.operator.rule_admin import RuleRequest, set_rule
from clearlane.store.database import schema
from clearlane.store.database.database import Actor
from clearlane.store.database.sql import Statement
from clearlane.store.installation import code_lists
from clearlane.store.installation.nodes import NodeRegistration
from clearlane.store.installation.rule_settings import REVISION, SCOPE, load_rule_settings
from tests.claims.test_file_findings import medical, outgoing, written

NORA = Actor("operator", "nora")
NOW = datetime(2026, 11, 18, tzinfo=UTC)
PAYERS = PayerDirectory([Payer("Medical", "Meadow Mutual", "MM010", "MDW10")], sandbox=False)
ACCOUNTS = AccountDirectory(pepper=b"x", vendors=[], secrets={}, sites=[])
AUDIT = Statement(
    select(schema.audit.c.action, schema.audit.c.ids, schema.audit.c.detail).order_by(
        schema.audit.c.seq
    )
)


async def put(database, rule="C703", severity="error", **request):
    wanted = RuleRequest(rule=rule, severity=severity, **{"reason": "rejects it", **request})
    return await set_rule(database, wanted, payers=PAYERS, accounts=ACCOUNTS, actor=NORA, now=NOW)


async def stored(database):
    loaded = await load_rule_settings(database)
    return [(one.rule, one.payer_id, one.site, one.severity) for one in loaded.all]


async def test_a_setting_is_stored_replaced_and_removed_with_an_audit_entry_each(database):
    assert (await put(database, "c703", payer="mm010")).before == "default"
    assert await stored(database) == [("C703", "MDW10", "", "error")]
    assert (await put(database, payer="MDW10", severity="off")).before == "error"
    assert await stored(database) == [("C703", "MDW10", "", "off")]
    assert (await put(database, payer="MDW10", severity="default", reason="")).before == "off"
    assert await stored(database) == []
    assert (await put(database, severity="default")).revision is None
    async with database.read(SCOPE) as tx:
        entries = await tx.rows(AUDIT)
    assert [(action, json.loads(ids)) for action, ids, _ in entries] == [("rule.set", ["C703"])] * 3
    assert entries[0][2] == "default -> error for payer MDW10: rejects it"


async def test_what_cannot_be_set_is_refused_with_every_fault_and_nothing_is_stored(database):
    found = await put(database, "C701", "off", payer="NOPE", site="NOPE", reason="")
    assert [one.location for one in found] == ["severity", "because", "payer", "site"]
    assert "The X12 guide requires it" in found[0].message
    assert await stored(database) == []


async def test_every_node_follows_a_setting_without_a_restart(database):
    loaded = []

    async def load():
        loaded.append(await load_rule_settings(database))

    keys = type("Keys", (), {"ids": ()})()
    node = NodeRegistration(database, id="n1", role="serve", heartbeat_seconds=5, keys=keys)
    await node.watch(REVISION, load)
    await put(database)
    assert await node.reload_changed() == [REVISION]
    assert [len(one.all) for one in loaded] == [0, 1]


@pytest.fixture
def clearlane(place, monkeypatch):
    monkeypatch.setenv("CLEARLANE_DATA", str(place.data))
    monkeypatch.setenv("CLEARLANE_DATABASE_URL", place.url)

    def run(*arguments, code=0):
        result = CliRunner().invoke(rule.app, list(arguments))
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return run


def test_an_operator_sets_a_rule_and_sees_it(clearlane):
    because = ["--because", "rejects zero charges"]
    said = clearlane("set", "C703", "--payer", "TST01", "--severity", "error", *because).stdout
    assert said == "C703 is set to error (before: default).\n"
    rows = json.loads(clearlane("list", "--json").stdout)
    (changed,) = json.loads(clearlane("list", "--set", "--json").stdout)
    assert changed in rows
    assert (changed["rule"], changed["severity"]) == ("C703", "warning")
    assert changed["sent_anyway"] == dict.fromkeys(
        ("sent", "paid", "rejected", "denied", "open"), 0
    )
    (own,) = changed["settings"]
    assert (own["payer"], own["severity"], own["reason"]) == ("TST01", "error", because[1])
    assert "rejects zero charges" in clearlane("show", "C703").stdout
    clearlane("set", "C703", "--payer", "TST01", "--severity", "default")
    assert json.loads(clearlane("list", "--set", "--json").stdout) == []


def test_a_rule_of_the_guide_and_one_that_is_unknown_are_refused_in_words(clearlane):
    said = clearlane("set", "C701", "--severity", "off", "--because", "please", code=1).output
    assert "C701 is an error and cannot be switched off: The X12 guide requires it" in said
    assert "no claim rule Z1" in clearlane("show", "Z1", code=1).output
    assert "The X12 guide requires it" in clearlane("show", "C701").stdout


def test_a_file_is_checked_as_claims_of_a_site(clearlane, tmp_path, monkeypatch):
    claim = medical(F28_TotalCharge="0.00", F33_BillingProviderPhoneNumber="5125550142")
    path = tmp_path / "claims.837"
    content = written([outgoing(claim)])
    # A telephone number is checked by the engine, for the claim rule about such values.
    path.write_bytes(content.replace(b"*TE*5125550142", b"*TE*512555014"))

    def found(*options, code=1):
        answer = CliRunner().invoke(x12_app, ["check", "--json", *options, str(path)])
        assert answer.exit_code == code, answer.output
        return {one["rule"] for one in json.loads(answer.stdout)["findings"]} if code < 2 else set()

    assert CliRunner().invoke(vendor.app, ["add", "ACME"]).exit_code == 0
    assert CliRunner().invoke(site.app, ["add", "ACME", "--id", "LARK-1"]).exit_code == 0
    assert {"C703", "C701", "C307"} <= found()
    for rule_id in ("C703", "C307"):
        clearlane("set", rule_id, "--severity", "off", "--because", "few payers want it")
    assert found("--site", "LARK-1") >= {"C701"}
    assert {"C703", "C307"}.isdisjoint(found("--site", "LARK-1"))
    # The code lists in force count as well: one in memory, and one that is asked for the codes of each claim.
    monkeypatch.setattr(code_lists, "CODES_IN_MEMORY_MAX", 1)
    (tmp_path / "cpt2026.txt").write_text("99999\n")
    (tmp_path / "mue.csv").write_text(
        "HCPCS/CPT Code,Practitioner Services MUE Values,MUE Adjudication Indicator\n99213,0,3\n99999,0,3\n"
    )
    for name in ("cpt2026.txt", "mue.csv"):
        line = ["import", str(tmp_path / name), "--from", "2020-01-01", "--to", "2029-12-31"]
        done = CliRunner().invoke(codes_command.app, line)
        assert done.exit_code == 0, done.output
    assert {"C667", "C665"}.isdisjoint(found())
    assert {"C667", "C665"} <= found("--site", "LARK-1")
