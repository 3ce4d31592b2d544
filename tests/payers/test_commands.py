"""`clearlane payer`, as an operator types it.

Also tests `payers/payer_json`, `cli/command/export_file`, `cli/payer/payer_client`.
"""

import json
import os
import pty
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from clearlane.cli.payer import payer
from clearlane.payers.samples import LIVE_PAYERS
from clearlane.payers.transfer import as_wire, write_csv
from tests.prepared_process import PreparedProcess

pytestmark = pytest.mark.one_database

HEADER = (
    "Type,Name,SvcPayerId,PayerId,NationalPayerId,EraAvailability,OffersEligibility,"
    "ClaimEnrollmentRequired,Aliases,Active,AcceptsClaims,Replacements,BillingZipRequired,"
    "Program,Edits,MemberIdPattern,FilingDays,CorrectedFilingDays,SecondaryFilingDays,AppealFilingDays,Attachments,"
    "InstitutionalPayerId,InquiryEnrollments\n"
)
NEW = (
    HEADER
    + "Dental,Orchard Dental,ORC9,ORC90,,Available,true,false,Orchard|OD,true,true,accepted,false,"
    "Medicaid,ndc|taxonomy,@#{8},90,365,180,120,BM|EL,ORC9I,claim_status\n"
)


@pytest.fixture
def clearlane(place, monkeypatch):
    """Run a command in this installation, in a folder of its own: ``clearlane("payer list")``."""
    monkeypatch.setenv("CLEARLANE_DATA", str(place.data))
    monkeypatch.setenv("CLEARLANE_DATABASE_URL", place.url)
    monkeypatch.chdir(place.data)

    def run(line, *, code=0, stdin=None):
        result = CliRunner().invoke(payer.app, line.split()[1:], input=stdin)
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return run


@pytest.fixture
def folder(place):
    return place.data


def shown(result):
    return json.loads(result.stdout)


def ids(result):
    return {row["payer_id"] for row in shown(result)}


def test_a_sandbox_lists_its_samples_and_test_payers(clearlane):
    assert ids(clearlane("payer list --json")) == {p.payer_id for p in LIVE_PAYERS}
    assert ids(clearlane("payer list --test --json")) == {
        "TST01",
        "TST02",
        "TST1E",
        "TST2E",
        "TST3E",
    }
    assert ids(clearlane("payer list --test --type DENTAL --json")) == {"TST02"}
    assert "Quarry Ridge Casualty" in clearlane("payer list --type medical").stdout
    assert "Quarry Ridge Casualty" not in clearlane("payer list --type dental").stdout


def test_a_file_is_imported_and_found(clearlane, folder):
    (folder / "new.csv").write_text(NEW)
    output = clearlane("payer import new.csv").stdout
    assert "1 added, 0 changed, 0 removed, 0 unchanged" in output
    (row,) = shown(clearlane("payer show orc9 --json"))
    assert (row["name"], row["aliases"], row["test"]) == (
        "Orchard Dental",
        ["Orchard", "OD"],
        False,
    )
    again = shown(clearlane("payer import new.csv --json"))
    assert (again["imported"], again["unchanged"], again["findings"]) == (True, 1, [])


def test_standard_input_is_read(clearlane):
    assert "1 added" in clearlane("payer import -", stdin=NEW).stdout
    assert "ORC90" in ids(clearlane("payer list --json"))


def test_every_bad_row_is_reported_with_line_field_and_reason_and_nothing_is_imported(
    clearlane, folder
):
    (folder / "bad.csv").write_text(
        NEW
        + "Vision,Plan,,V1,,Available,true,false,,\n"
        + "Medical,Plan,,V2,,Perhaps,maybe,false,,\n"
        + "Medical,Plan,,TST01,,Available,true,false,,\n"
        + "Dental,Orchard Again,,orc90,,Available,true,false,,\n"
        + "Medical,Copy Cat,MDW10,COPY1,,Available,true,false,,\n"
    )
    result = clearlane("payer import bad.csv", code=1)
    lines = result.stderr.splitlines()
    assert [line.split(" ")[:2] for line in lines[:-1]] == [
        ["bad.csv:3:", "Type:"],
        ["bad.csv:4:", "EraAvailability:"],
        ["bad.csv:4:", "OffersEligibility:"],
        ["bad.csv:5:", "PayerId:"],
        ["bad.csv:6:", "PayerId:"],
        ["bad.csv:7:", "SvcPayerId:"],
    ]
    assert "Nothing is imported" in lines[-1]
    output = shown(clearlane("payer import bad.csv --json", code=1))
    assert output["imported"] is False
    assert [finding["line"] for finding in output["findings"]] == [3, 4, 4, 5, 6, 7]
    assert ids(clearlane("payer list --json")) == {p.payer_id for p in LIVE_PAYERS}


def test_a_dry_run_reports_and_changes_nothing(clearlane, folder):
    (folder / "new.csv").write_text(NEW)
    output = clearlane("payer import new.csv --replace --dry-run").stdout
    assert f"1 added, 0 changed, {len(LIVE_PAYERS)} removed" in output
    assert shown(clearlane("payer import new.csv --dry-run --json"))["imported"] is False
    assert ids(clearlane("payer list --json")) == {p.payer_id for p in LIVE_PAYERS}


def test_replacing_leaves_the_file_and_the_test_payers(clearlane, folder):
    (folder / "new.csv").write_text(NEW)
    clearlane("payer import new.csv --replace")
    assert ids(clearlane("payer list --json")) == {"ORC90"}
    assert len(ids(clearlane("payer list --test --json"))) == 5


@pytest.mark.parametrize("name", ["all.csv", "all.json"])
def test_an_export_imports_as_it_was(clearlane, folder, name):
    clearlane(f"payer export {name}")
    (folder / "new.csv").write_text(NEW)
    clearlane("payer import new.csv --replace")
    output = clearlane(f"payer import {name} --replace").stdout
    assert f"{len(LIVE_PAYERS)} added, 0 changed, 1 removed" in output
    assert ids(clearlane("payer list --json")) == {p.payer_id for p in LIVE_PAYERS}


def test_an_export_goes_to_standard_output_in_either_format(clearlane):
    assert clearlane("payer export").stdout.startswith(HEADER)
    rows = shown(clearlane("payer export --format json --type dental"))
    assert {row["Type"] for row in rows} == {"Dental"}
    exported = {row["PayerId"] for row in shown(clearlane("payer export - --json"))}
    assert exported == ids(clearlane("payer list --json"))
    assert list(rows[0]) == list(as_wire(LIVE_PAYERS[0]))


def test_a_search_forgives_and_narrows(clearlane):
    best = shown(clearlane("payer search medow mutal --json"))[0]
    assert (best["payer_id"], best["match"]) == ("MDW10", "fuzzy")
    assert ids(clearlane("payer search meadow --type dental --json")) == {"MDW1D"}
    assert ids(clearlane("payer search sandbox --test --limit 2 --json")) <= {
        "TST01",
        "TST02",
        "TST1E",
    }
    assert "Meadow Mutual" in clearlane("payer search MMIC").stdout
    assert shown(clearlane("payer search qqqqqq --json")) == []
    assert "No payer" in clearlane("payer search qqqqqq", code=1).stderr


def test_a_payer_is_shown_by_any_id_for_each_type(clearlane):
    assert len(shown(clearlane("payer show 7900000205 --json"))) == 2
    assert len(shown(clearlane("payer show hhp20 --type dental --json"))) == 1
    assert "Harbor Health Plan" in clearlane("payer show HHP20").stdout
    missing = clearlane("payer show HHP21", code=1).stderr
    assert "There is no payer HHP21. Did you mean HHP20" in missing


def test_files_that_cannot_be_read_or_written_are_named(clearlane):
    assert "nowhere.csv cannot be read" in clearlane("payer import nowhere.csv", code=2).stderr
    assert "cannot be read" in clearlane("payer import .", code=2).stderr
    assert "cannot be written" in clearlane("payer export nowhere/all.csv", code=2).stderr


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_production_installation_has_no_test_payers(clearlane, monkeypatch):
    clearlane("payer list")  # a sandbox made the keys
    monkeypatch.setenv("CLEARLANE_MODE", "production")
    assert shown(clearlane("payer list --test --json")) == []
    clearlane("payer show TST01", code=1)


def drained(terminal):
    """All that was written to a terminal until its other end closed."""
    drawn = b""
    try:
        while part := os.read(terminal, 4_096):
            drawn += part
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(terminal)
    return drawn.decode()


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_large_import_shows_its_progress_on_a_terminal_only(place, folder):
    rows = (f"Medical,Plan {n},,P{n},,Available,true,false,,\n" for n in range(20_000))
    (folder / "large.csv").write_text(HEADER + "".join(rows))
    environment = os.environ | {"CLEARLANE_DATA": str(place.data), "TERM": "xterm"}
    command = [sys.executable, "-m", "clearlane", "payer", "import", "large.csv"]
    seen, screen = pty.openpty()
    running = subprocess.Popen(
        command, env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=screen
    )
    os.close(screen)
    drawn = drained(seen)
    output, _ = running.communicate()
    assert b"20000 added" in output
    assert "Reading" in drawn or "Storing" in drawn
    quiet = PreparedProcess(*command[2:], env=environment, cwd=folder)
    output, faults = quiet.communicate()
    assert b"20000 unchanged" in output
    assert (quiet.returncode, faults) == (0, b"")


def test_the_samples_are_a_file_one_can_start_from(clearlane, folder):
    (folder / "samples.csv").write_text(write_csv(LIVE_PAYERS))
    assert "14 unchanged" in clearlane("payer import samples.csv --replace").stdout
