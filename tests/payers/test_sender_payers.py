"""Payer aliases of vendors by command: set, listed, imported and removed; an id of the directory counts first.

Also tests `cli/payer/payer_alias`.
"""

import json

from typer.testing import CliRunner

from clearlane.cli.account import vendor
from clearlane.cli.payer.payer import app
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.payers.sender_payers import SenderPayers, read_aliases

MEADOW = Payer("Medical", "Meadow Mutual", "MM010", "MDW10", aliases=("Old Meadow",))
HARBOR = Payer("Medical", "Harbor Health", "HH020", "HHP20")
DIRECTORY = PayerDirectory([MEADOW, HARBOR], sandbox=False)


def test_the_directory_counts_first_then_the_vendor_then_aliases_of_the_directory():
    payers = SenderPayers(DIRECTORY, {"m-1": "HHP20", "mdw10": "HHP20", "old meadow": "HHP20"})
    assert payers.find(" M-1", "Medical") == HARBOR
    assert payers.find("MDW10", "Medical") == MEADOW
    assert payers.find("Old Meadow", "Medical") == HARBOR
    assert SenderPayers(DIRECTORY).find("Old Meadow", "Medical") == MEADOW
    assert payers.find("M-1", "Dental") is None


def test_a_file_of_aliases_is_read_to_its_end():
    rows, findings = read_aliases(b"Payer;ID\nMDW10;M-1\n\nHHP20\nHHP20; H-2 ;x\n")
    assert [(row.line, row.alias, row.payer_id) for row in rows] == [(2, "M-1", "MDW10")]
    assert [one.line for one in findings] == [4, 5]
    assert "id,payer" in read_aliases(b"")[1][0].finding.message


def test_aliases_are_set_listed_imported_and_removed(tmp_path):
    runner = CliRunner()
    data = ["--data", str(tmp_path / "data")]

    def run(*words, app=app, code=0, input=None):
        done = runner.invoke(app, [*words, *data], input=input)
        assert done.exit_code == code, done.output
        return done.output

    payers = (
        "Type,Name,SvcPayerId,PayerId,EraAvailability,OffersEligibility,ClaimEnrollmentRequired\n"
        "Medical,Meadow Mutual,MM010,MDW10,Available,true,false\n"
    )
    run("add", "ACME", "--name", "Acme", app=vendor.app)
    run("import", "-", input=payers)
    assert "M-1 in files of vendor ACME" in run("alias", "set", "ACME", "M-1", "mm010")
    assert "2 aliases set, 1 new" in run(
        "alias", "import", "ACME", "-", input="id,payer\nM-1,MDW10\nM-2,MDW10\n"
    )
    refused = run("alias", "import", "ACME", "-", input="id,payer\nMDW10,MDW10\n", code=1)
    assert "-:2: MDW10 is an id of Meadow Mutual (MDW10) in the directory" in refused
    run("import", "-", input=payers.replace("MM010,MDW10", "MM020,M-2"))
    listed = json.loads(run("alias", "list", "ACME", "--json"))
    assert [(one["id"], one["payer"], one["counts"][:3]) for one in listed] == [
        ("M-1", "MDW10", "yes"),
        ("M-2", "MDW10", "no:"),
    ]
    assert "no longer" in run("alias", "remove", "ACME", "m-1")
    assert "There is no alias" in run("alias", "remove", "ACME", "m-1", code=1)
