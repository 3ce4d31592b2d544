"""``clearlane claim check`` and ``sample``: offline, with exit codes."""

import json
from datetime import date

import pytest
from typer.testing import CliRunner

from clearlane.claims import samples
from clearlane.claims.fields import ClaimKind
from clearlane.cli.claim import app

RUN = CliRunner()
DAY = date(2025, 3, 14)


def write(folder, document):
    file = folder / "claims.json"
    file.write_text(
        document if isinstance(document, str) else json.dumps(document), encoding="utf-8"
    )
    return str(file)


@pytest.mark.parametrize("kind", ClaimKind)
@pytest.mark.parametrize("full", [[], ["--full"]])
def test_a_sample_is_accepted_by_check(tmp_path, kind, full):
    sample = RUN.invoke(app, ["sample", "--kind", kind, "--scenario", "3003", *full])
    assert sample.exit_code == 0
    assert "3003" in sample.stdout
    checked = RUN.invoke(app, ["check", write(tmp_path, sample.stdout), "--json"])
    assert checked.exit_code == 0
    answer = json.loads(checked.stdout)
    assert [result["Status"] for result in answer["ClaimResults"]] == ["Accepted"]
    assert answer["DocumentLevelErrors"] == []
    assert {row["Rule"] for row in answer["NotChecked"]} >= {"C101", "C106", "C107"}


def test_a_claim_that_breaks_rules_is_refused_with_every_error(tmp_path):
    document = samples.document(ClaimKind.MEDICAL, day=DAY)
    document["Claims"][0] |= {"F28_TotalCharge": 5, "F05_PatientState": "XX", "Odd": 1}
    checked = RUN.invoke(app, ["check", write(tmp_path, document), "--json"])
    assert checked.exit_code == 1
    answer = json.loads(checked.stdout)
    (result,) = answer["ClaimResults"]
    assert result["Status"] == "NotAccepted"
    assert {error["Location"] for error in result["Errors"]} == {
        "Claims[0].F28_TotalCharge",
        "Claims[0].F05_PatientState",
    }
    assert {(error["Type"], error["Code"]) for error in result["Errors"]} == {
        ("Validation", "Validation")
    }
    assert answer["IgnoredFields"] == ["Claims[0].Odd"]


def test_a_document_of_the_wrong_shape_shows_the_model_state(tmp_path):
    document = samples.document(ClaimKind.DENTAL, day=DAY)
    del document["Claims"][0]["F03_PayerName"]
    checked = RUN.invoke(app, ["check", write(tmp_path, document), "--json"])
    assert checked.exit_code == 1
    answer = json.loads(checked.stdout)
    assert answer["Message"] == "The request is invalid."
    assert answer["ModelState"] == {
        "Claims[0].F03_PayerName": ["The F03_PayerName field is required."]
    }
    table = RUN.invoke(app, ["check", write(tmp_path, document)])
    assert "400" in table.stdout


def test_the_table_names_field_rule_and_what_is_not_checked(tmp_path):
    document = samples.document(ClaimKind.MEDICAL, day=DAY)
    document["Claims"][0] |= {"F28_TotalCharge": 5, "Odd": 1}
    shown = RUN.invoke(app, ["check", write(tmp_path, document)], env={"COLUMNS": "200"}).stdout
    assert "Claims[0].F28_TotalCharge" in shown
    assert "C701" in shown
    assert "Claims[0].Odd" in shown
    assert "NotAccepted" in shown
    assert "Not checked here" in shown


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"DocumentType": 5, "Claims": [{}]}', '{"DocumentType": "X"}']
)
def test_what_is_no_document_is_refused(tmp_path, text):
    assert RUN.invoke(app, ["check", write(tmp_path, text)]).exit_code == 1


def test_a_file_that_is_not_there_cannot_be_read(tmp_path):
    checked = RUN.invoke(app, ["check", str(tmp_path / "none.json")])
    assert checked.exit_code == 2
    assert "none.json" in checked.stderr


def test_standard_input_and_a_given_kind():
    document = json.dumps(samples.document(ClaimKind.MEDICAL, day=DAY))
    assert RUN.invoke(app, ["check", "-"], input=document).exit_code == 0
    assert RUN.invoke(app, ["check", "-", "--kind", "dental"], input=document).exit_code == 1
