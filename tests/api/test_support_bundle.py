"""A support bundle of a running service: what it holds, and that nothing of a patient is in it.

Also tests `cli/doctor/support_bundle` and `store/installation/table_counts`.
"""

import json
import zipfile

import pytest
from typer.testing import CliRunner

from clearlane.cli.command.root import app
from clearlane.store.database.schema import metadata
from tests.api.test_claims import a_document, post, results

pytestmark = pytest.mark.one_database

PATIENT = {
    "Svc_VendorClaimId": "QVX-VENDORCLAIM",
    "F01A_InsuredId": "QVX3001",
    "F02_PatientNameLast": "Qvxlast",
    "F02_PatientNameFirst": "Qvxfirst",
    "F05_PatientAddress1": "7 Qvx Road",
    "F05_PatientPhone": "5125550199",
    "F03_PatientDob": "1949-10-30",
    "F04_InsuredNameLast": "Qvxlast",
    "F04_InsuredNameFirst": "Qvxfirst",
    "F07_InsuredAddress1": "7 Qvx Road",
    "F11A_InsuredDob": "1949-10-30",
    "F26_PatientAcctNumber": "QVXACCOUNT",
}
MARKS = (b"qvx", b"5125550199", b"1949-10-30", b"19491030")
ALWAYS = {
    "doctor.json", "manifest.json", "metrics.txt", "readyz.json", "rows.json", "schema.json", "settings.json",
    "status.json", "versions.json",
}  # fmt: skip


def contents(file):
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_bundle_says_how_an_installation_is_and_nothing_of_its_patients(
    server, parties, tmp_path
):
    with server.client(parties.acme.auth, params={"vendorSiteId": "A-1"}) as client:
        [accepted] = results(post(client, a_document(**PATIENT)))
        [kept] = results(post(client, a_document(**PATIENT, F28_TotalCharge="1.00")))
        assert not accepted["Errors"]
        assert (accepted["Status"], kept["Status"]) == ("Accepted", "NotAccepted")
        client.get("/api/v3/nothing", params={"name": "Qvxlast"})
    log = tmp_path / "log"
    ours = '{"timestamp":"2026-01-01T00:00:00Z","level":"info","event":"node started"}'
    log.write_text(
        f"Jan 01 host clearlane[7]: {ours}\n"
        "10:00:00.123 warning batch not delivered          attempt=2\n"
        "NM1*IL*1*QVXLAST*QVXFIRST~\n"
        '{"patient": "Qvxlast"}\n{"Qvxlast\n\n'
    )
    file = tmp_path / "support.zip"
    server.command("support-bundle", "-o", str(file), "--log", str(log))
    found = contents(file)
    assert found.keys() == ALWAYS | {"log.json", "log.txt"}
    assert [
        (name, mark) for name, content in found.items() for mark in MARKS if mark in content.lower()
    ] == []
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(found["manifest.json"])["missing"] == {}
    assert json.loads(found["rows.json"])["claims"] >= 1
    assert json.loads(found["rows.json"]).keys() == metadata.tables.keys()
    assert json.loads(found["schema.json"])["state"] == "current"
    assert b"clearlane_requests_total" in found["metrics.txt"]
    assert json.loads(found["log.json"]) == {"lines": 2, "not_of_clearlane": 3}
    assert found["log.txt"].decode().splitlines()[0] == ours
    trail = json.loads(server.command("audit", "search", "--action", "support.bundle", "--json"))
    assert trail[0]["actor"].startswith("operator:")


def test_a_bundle_of_what_does_not_start_has_no_secrets_and_says_what_is_missing(tmp_path):
    data, file = tmp_path / "data", tmp_path / "support.zip"
    data.mkdir()
    (data / "clearlane.db").write_bytes(b"no database")
    environment = {
        "CLEARLANE_MASTER_KEY_COMMAND": "vault --token very-secret",
        "CLEARLANE_MASTER_KEY": "very-secret",
        "CLEARLANE_PROT": "1",
    }

    def made(*words, code=0):
        arguments = ["support-bundle", "-o", str(file), "--data", str(data), "--json", *words]
        done = CliRunner().invoke(app, arguments, env=environment)
        assert done.exit_code == code, done.output
        return done.output

    missing = json.loads(made())["missing"]
    assert missing.keys() == {
        "metrics.txt of the node", "schema.json", "status.json", "metrics.txt", "rows.json",
    }  # fmt: skip
    assert missing["metrics.txt of the node"] == "no node runs on this machine."
    found = contents(file)
    assert b"very-secret" not in b"".join(found.values())
    assert "CLEARLANE_PROT" in json.loads(found["settings.json"])["faults"][0]
    assert {one["verdict"] for one in json.loads(found["doctor.json"])} >= {"fault"}
    assert "exists already" in made(code=2)
    file.unlink()
    assert "cannot be read" in made("--log", str(tmp_path / "nowhere"), code=2)
    assert not file.exists()
