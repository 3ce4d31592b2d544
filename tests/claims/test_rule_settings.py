"""Settings of rules: what counts for which claims, what the guide fixes, and the same verdict for JSON and files.

Also tests `claims/rule_settings` and `claims/rules/settings`.
"""

import pytest

from clearlane.claims.rule_settings import NO_SETTINGS, RuleSetting, RuleSettings
from clearlane.claims.rules import RULES, RuleInputs, repair_and_check
from clearlane.claims.rules.file_findings import FileFindings
from clearlane.claims.rules.settings import refusal, setting_findings, with_payer
from clearlane.kernel.finding import Severity
from clearlane.payers.model import Payer
from clearlane.x12.checker.check import check
from tests.cases import every_case
from tests.claims.test_file_findings import TODAY, medical, outgoing, written

ERROR, WARNING = Severity.ERROR, Severity.WARNING
PAYER = Payer("Medical", "Meadow Mutual", "T1", "TST01", has_route=True)


def settings(*rows):
    """Return settings of a rule by payer, site and severity."""
    return RuleSettings(
        RuleSetting(rule=rule, payer_id=payer, site=site, severity=severity)
        for rule, payer, site, severity in rows
    )


def test_the_closer_setting_counts():
    found = settings(
        ("C703", "", "", "off"),
        ("C703", "TST01", "", "error"),
        ("C703", "", "S1", "warning"),
        ("C703", "tst01", "S2", "error"),
        ("C411", "OTHER", "", "off"),
    )
    assert found.severities(None, "S9") == {"C703": None}
    assert found.severities(PAYER, "S9") == {"C703": ERROR}
    assert found.severities(PAYER, "S1") == {"C703": WARNING}
    assert found.severities(PAYER, "S2") == {"C703": ERROR}
    assert NO_SETTINGS.severities(PAYER, "S1") == {}


@pytest.fixture(scope="module")
def free_claim():
    """A claim with a warning (C703: it asks for nothing) and an error of ours (C855: an accident after it)."""
    return medical(
        F28_TotalCharge="0.00",
        F24_ClaimLines=[{**LINE, "F24F_Charges": "0.00"}],
        F10C_PatientCondOtherAccident=True,
        F15_AccidentDate="2025-03-19",
    )


LINE = {
    "F24A_DateOfServiceFrom": "2025-03-14",
    "F24B_PlaceOfServiceCode": "11",
    "F24D_HcpcsProcedureCode": "99213",
    "F24E_DiagnosisPointers": ["A"],
}


@every_case(
    ("rows", "expected"),
    [
        ([], {"C703": WARNING, "C855": ERROR}),
        ([("C703", "TST01", "", "error")], {"C703": ERROR, "C855": ERROR}),
        ([("C703", "", "", "off"), ("C855", "", "S1", "warning")], {"C855": WARNING}),
        ([("C703", "OTHER", "", "off")], {"C703": WARNING, "C855": ERROR}),
    ],
)
def test_a_setting_gives_json_and_files_the_same_verdict(free_claim, rows, expected):
    inputs = RuleInputs(today=TODAY, available=frozenset())
    known = with_payer(inputs, PAYER, settings(*rows), "S1")
    data = written([outgoing(free_claim)])
    found = FileFindings(TODAY, lambda *_: known)
    for findings in (
        repair_and_check(free_claim, known).findings,
        check(data, findings_of=found).findings,
    ):
        assert {
            one.rule: one.severity for one in findings if one.rule in {"C703", "C855"}
        } == expected


def test_a_file_is_checked_for_what_its_payer_wants():
    payer = Payer("Medical", "M", "T1", "TST01", member_id_pattern="#", edits=("taxonomy",))
    data = written([outgoing(medical())])

    def known(inputs, view):
        return with_payer(inputs, payer, NO_SETTINGS, "S1")

    found = {one.rule for one in check(data, findings_of=FileFindings(TODAY, known)).findings}
    assert found >= {"C152", "C154"}
    assert not {one.rule for one in check(data, findings_of=FileFindings(TODAY)).findings} & {
        "C152",
        "C154",
    }


def test_rules_of_the_guide_are_neither_lowered_nor_switched_off():
    for rule in RULES.values():
        for severity in ("warning", "off"):
            if rule.severity is ERROR:
                assert bool(refusal(rule, severity)) is bool(rule.fixed), rule.id
        assert refusal(rule, "error") == ""
    assert "The X12 guide requires it" in refusal(RULES["C701"], "off")
    assert "cannot send" in refusal(RULES["C101"], "warning")
    assert {rule.id for rule in RULES.values() if not rule.fixed} >= {"C503", "C703", "C106"}


@every_case(
    ("rule", "severity", "reason", "at"),
    [
        ("C703", "error", "rejects it", []),
        ("C703", "default", "", []),
        ("C703", "error", "", ["because"]),
        ("C703", "error", "x" * 500, []),
        ("C703", "error", "x" * 501, ["because"]),
        ("C701", "off", "please", ["severity"]),
        ("X837-TOTAL", "loud", "", ["ID", "severity", "because"]),
    ],
)
def test_every_fault_of_a_setting_is_found_at_once(rule, severity, reason, at):
    assert [one.location for one in setting_findings(rule, severity, reason)] == at
