"""``clearlane claim``: ``check`` and ``sample`` offline, ``x12`` and ``explain`` on stored claims.

Also tests `cli/claim/claim`, `cli/claim/claim_check`, `cli/claim/claim_admin`, `cli/claim/claim_show`, `cli/claim/claim_output` and `pipeline/find_claim`.
"""

import asyncio
import json
from datetime import UTC, date, datetime, timedelta

import pytest
from typer.testing import CliRunner

from clearlane.claims.forms import FORMS, V3_DENTAL, V3_MEDICAL, field_at, samples
from clearlane.claims.kinds import JSON_KINDS
from clearlane.cli.claim.claim import app
from clearlane.cli.command.root import app as every_command
from clearlane.kernel.finding import Severity
from clearlane.pipeline.intake.submit import SubmissionReceipt, submit
from clearlane.settings import load
from clearlane.store.database.database import Actor
from clearlane.wiring import open_installation
from clearlane.x12.checker.check import check

RUN = CliRunner()
DAY = date(2025, 3, 14)


def write(folder, document):
    file = folder / "claims.json"
    file.write_text(
        document if isinstance(document, str) else json.dumps(document), encoding="utf-8"
    )
    return str(file)


@pytest.mark.parametrize("kind", FORMS.values())
@pytest.mark.parametrize("full", [[], ["--full"]])
def test_a_sample_is_accepted_by_check(tmp_path, kind, full):
    sample = RUN.invoke(app, ["sample", "--kind", kind.kind, "--scenario", "3003", *full])
    assert sample.exit_code == 0
    assert "3003" in sample.stdout
    checked = RUN.invoke(app, ["check", write(tmp_path, sample.stdout), "--json"])
    assert checked.exit_code == 0
    answer = json.loads(checked.stdout)
    assert [result["Status"] for result in answer["ClaimResults"]] == ["Accepted"]
    assert answer["DocumentLevelErrors"] == []
    assert {row["Rule"] for row in answer["NotChecked"]} >= {"C101", "C106", "C107"}


def test_a_claim_that_breaks_rules_is_refused_with_every_error(tmp_path):
    document = samples.document(V3_MEDICAL, day=DAY)
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
    document = samples.document(V3_DENTAL, day=DAY)
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
    document = samples.document(V3_MEDICAL, day=DAY)
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


def test_the_answer_has_the_servers_shape_and_more(tmp_path):
    document = samples.document(V3_MEDICAL, day=DAY)
    document["Claims"][0] |= {"F05_PatientState": "XX", "F33_BillingProviderZip": "78701"}
    checked = RUN.invoke(app, ["check", write(tmp_path, document), "--json"])
    answer = json.loads(checked.stdout)
    assert list(answer) == ["ClaimResults", "DocumentLevelErrors", "NotChecked", "IgnoredFields"]
    (result,) = answer["ClaimResults"]
    assert list(result) == ["VendorClaimId", "Status", "Errors", "RequestId", "Warnings", "Repairs"]
    (error,) = result["Errors"]
    assert list(error) == ["Type", "Code", "Location", "SupplementalInformation"]
    assert {"Field": "F33_BillingProviderZip", "Kind": "completed"} in result["Repairs"]
    assert "Claims[0].F33A_BillingProviderNpi" in {one["Location"] for one in result["Warnings"]}
    assert result["RequestId"] is None


def test_what_is_not_checked_says_what_it_would_need():
    document = json.dumps(samples.document(V3_DENTAL, day=DAY))
    answer = json.loads(RUN.invoke(app, ["check", "-", "--json"], input=document).stdout)
    needs = {row["Needs"] for row in answer["NotChecked"]}
    assert needs == {"the payer directory", "the provider's enrollments", "the claims sent before"}
    assert all(row["Says"].endswith(".") for row in answer["NotChecked"])
    shown = RUN.invoke(app, ["check", "-"], input=document, env={"COLUMNS": "200"}).stdout
    assert (
        f"Not checked here: rules that need {', '.join(dict.fromkeys(row['Needs'] for row in answer['NotChecked']))}."
        in shown
    )


def test_one_bad_claim_of_several_makes_the_exit_code(tmp_path):
    document = samples.document(V3_MEDICAL, day=DAY)
    good = document["Claims"][0]
    document["Claims"] = [good, {**good, "F28_TotalCharge": 5}]
    checked = RUN.invoke(app, ["check", write(tmp_path, document), "--json"])
    statuses = [one["Status"] for one in json.loads(checked.stdout)["ClaimResults"]]
    assert (checked.exit_code, statuses) == (1, ["Accepted", "NotAccepted"])


def test_a_folder_cannot_be_read_as_a_document(tmp_path):
    assert RUN.invoke(app, ["check", str(tmp_path)]).exit_code == 2


@pytest.mark.parametrize("kind", FORMS.values())
def test_a_sample_takes_an_id_and_its_services_are_recent(kind):
    made = RUN.invoke(app, ["sample", "--kind", kind.kind, "--id", "MY-7", "--scenario", "3007"])
    (claim,) = json.loads(made.stdout)["Claims"]
    assert claim["Svc_VendorClaimId"] == "MY-7"
    assert claim[kind.locate("subscriber.member_id")] == "3007"
    assert claim["Svc_PayerId"] == samples.TEST_PAYERS[kind]
    (line,) = claim[kind.lines_field]
    day = date.fromisoformat(line[field_at(kind, "lines[].first_day")])
    assert timedelta(0) < datetime.now(UTC).date() - day < timedelta(days=31)


def test_a_sample_of_a_type_of_bill():
    made = RUN.invoke(
        app, ["sample", "--kind", "institutional", "--bill-type", "111", "--count", "2"]
    )
    claims = json.loads(made.stdout)["Claims"]
    assert [claim["FL04_TypeOfBill"] for claim in claims] == ["111", "111"]
    checked = RUN.invoke(app, ["check", "-"], input=made.stdout)
    assert (checked.exit_code, "2 would be accepted" in checked.stdout) == (0, True)
    for words in (["--kind", "institutional", "--bill-type", "991"], ["--bill-type", "111"]):
        refused = RUN.invoke(app, ["sample", *words])
        assert (refused.exit_code, "111" in refused.output or "--kind" in refused.output) == (
            2,
            True,
        )


def test_the_fullest_sample_holds_every_field():
    made = RUN.invoke(app, ["sample", "--kind", "dental", "--full"])
    few = RUN.invoke(app, ["sample", "--kind", "dental"])
    (full,), (few,) = (json.loads(one.stdout)["Claims"] for one in (made, few))
    assert full.keys() > few.keys()


def test_a_sample_of_an_unknown_kind_or_scenario_is_refused_with_the_known_ones():
    kind = RUN.invoke(app, ["sample", "--kind", "veterinary"])
    assert kind.exit_code == 2
    assert all(word in kind.output for word in JSON_KINDS)
    scenario = RUN.invoke(app, ["sample", "--scenario", "1234"])
    assert scenario.exit_code == 2
    assert all(id in scenario.output for id in ("3001", "3003", "3015"))


def test_standard_input_and_a_given_kind():
    document = json.dumps(samples.document(V3_MEDICAL, day=DAY))
    assert RUN.invoke(app, ["check", "-"], input=document).exit_code == 0
    assert RUN.invoke(app, ["check", "-", "--kind", "dental"], input=document).exit_code == 1


# --- stored claims --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The data directory of a sandbox with one site."""
    folder = tmp_path_factory.mktemp("installation") / "data"
    for words in (
        ["vendor", "add", "ACME"],
        ["site", "add", "ACME", "--id", "A-1", "--baa-accepted"],
    ):
        done = RUN.invoke(every_command, [*words, "--data", str(folder)])
        assert done.exit_code == 0, done.output
    return folder


def stored(data, kind, **changes):
    """Submit a sample claim as the server does; its answer."""
    today = datetime.now(UTC)
    document = samples.document(kind, day=today.date() - timedelta(days=3), full=True)
    document["Claims"][0] |= {"Svc_VendorClaimId": f"{kind}-{len(changes)}", **changes}

    async def work():
        async with open_installation(
            load(environ={}, overrides={"data": data}), role="command"
        ) as installation:
            return await submit(
                installation.work_context,
                json.dumps(document, default=str).encode(),
                kind,
                site=installation.accounts.any_site("A-1"),
                actor=Actor("vendor", "ACME"),
                now=today,
            )

    receipt = asyncio.run(work())
    assert isinstance(receipt, SubmissionReceipt), receipt
    (answer,) = receipt.results
    return answer


def command(data, *words):
    done = RUN.invoke(every_command, ["claim", *words, "--data", str(data)], env={"COLUMNS": "250"})
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("kind", FORMS.values())
def test_a_stored_claim_is_printed_as_a_clean_interchange(data, kind):
    answer = stored(data, kind)
    assert answer.accepted
    printed = command(data, "x12", answer.claim_number)
    rows = [row.strip() for row in printed.split("~")]
    assert rows[0].startswith("ISA*00*")
    assert f"REF*D9*{answer.claim_number}" in rows
    errors = [f for f in check(printed.encode()).findings if f.severity is Severity.ERROR]
    assert errors == []


def test_a_stored_claim_is_explained_field_by_field(data):
    answer = stored(data, V3_MEDICAL)
    shown = json.loads(command(data, "explain", answer.claim_number, "--json"))
    assert (shown["claim_number"], shown["state"]) == (answer.claim_number, "received")
    fields = {row["field"]: row for row in shown["fields"]}
    charge = fields["F24_ClaimLines[0].F24F_Charges"]
    assert (charge["form"], charge["given"], charge["sent"]) == (
        "24F",
        "100",
        [{"place": "2400/SV1/02", "value": "100"}],
    )
    zip_code = fields["F33_BillingProviderZip"]
    assert (zip_code["given"], zip_code["repaired"]) == ("78701", "787019998")
    assert {"field": "F33_BillingProviderZip", "repair": "completed"} in shown["repairs"]
    table = command(data, "explain", answer.claim_number)
    assert f"{answer.claim_number} ({shown['vendor_claim_id']}): medical, received" in table
    assert "given 78701, repaired to 787019998, sent in 2010AA/N4/03" in table
    assert "F33_BillingProviderZip was completed with 9998." in table


@pytest.mark.parametrize(
    ("field", "value"),
    [("F05_PatientState", "XX"), ("F02_PatientNameLast", "\u674e~*"), ("F28_TotalCharge", 1)],
)
def test_a_claim_that_was_not_accepted_is_explained_with_its_findings(data, field, value):
    answer = stored(data, V3_MEDICAL, **{field: value})
    assert not answer.accepted
    shown = json.loads(command(data, "explain", answer.claim_number, "--json"))
    assert shown["state"] == "not_accepted"
    found = {row["field"]: row for row in shown["fields"]}
    assert found[field]["findings"]
    assert found[field]["sent"]
    assert {one["value"] for row in found.values() for one in row["sent"]} <= {""}
    table = command(data, "explain", answer.claim_number)
    assert "not_accepted" in table
    refused = RUN.invoke(every_command, ["claim", "x12", answer.claim_number, "--data", str(data)])
    assert refused.exit_code == 1
    assert "was not accepted" in refused.stderr
    assert "claim explain" in refused.stderr


@pytest.mark.parametrize("verb", ["x12", "explain"])
@pytest.mark.parametrize("unknown", ["C0000000000000000AA", "'; --", ""])
def test_an_unknown_id_is_a_sentence(data, verb, unknown):
    done = RUN.invoke(every_command, ["claim", verb, unknown, "--data", str(data)])
    assert done.exit_code == 1
    expected = f"There is no claim with the claim number or vendor claim id {unknown}.\n"
    assert done.stderr == expected
    assert done.stdout == ""


@pytest.mark.parametrize("verb", ["show", "explain", "x12"])
def test_a_claim_is_named_by_the_vendors_id_too(data, verb):
    answer = stored(data, V3_MEDICAL, Svc_VendorClaimId="LARK 7/a")
    assert command(data, verb, "LARK 7/a") == command(data, verb, answer.claim_number)
    assert answer.claim_number in command(data, verb, "LARK 7/a")


def test_the_newest_claim_under_a_vendors_id_is_meant(data):
    first = stored(data, V3_MEDICAL, Svc_VendorClaimId="LARK-8", F28_TotalCharge=1)
    second = stored(data, V3_MEDICAL, Svc_VendorClaimId="LARK-8")
    assert not first.accepted
    shown = json.loads(command(data, "show", "LARK-8", "--json"))
    assert shown["claim_number"] == second.claim_number
    assert shown["vendor_claim_id"] == "LARK-8"


@pytest.mark.parametrize("verb", ["show", "explain"])
def test_a_claim_is_readable_in_eighty_columns(data, verb):
    answer = stored(data, V3_MEDICAL)
    arguments = ["claim", verb, answer.claim_number, "--data", str(data)]
    lines = RUN.invoke(every_command, arguments, env={"COLUMNS": "80"}).stdout.splitlines()
    assert max(map(len, lines)) <= 80


def test_every_look_at_a_claim_is_audited(data):
    answer = stored(data, V3_DENTAL)
    command(data, "x12", answer.claim_number)
    command(data, "explain", answer.claim_number)
    exported = RUN.invoke(
        every_command, ["audit", "export", "--format", "jsonl", "--data", str(data)]
    )
    lines = [
        json.loads(line) for line in exported.stdout.splitlines() if answer.claim_number in line
    ]
    looks = [line for line in lines if line["action"] == "claim.read"]
    assert len(looks) >= 2
    assert all(line["actor"].startswith("operator:") for line in looks)
    assert "claims.submit" in {line["action"] for line in lines}
