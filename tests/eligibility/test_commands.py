"""`clearlane eligibility`, as people type it beside a running service.

Also tests `cli/eligibility/eligibility_client` and `pipeline/inquiry/eligibility_details`.
"""

import json
import re

import pytest
from typer.testing import CliRunner

from clearlane.api.v1.eligibility import EligibilityDetailsJson
from clearlane.cli.command.root import app
from tests.api.service_process import ServiceProcess

CHECK = ("check", "--first", "ROSA", "--last", "ARDEN", "--birth", "1980-01-01")


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shown")
    running = ServiceProcess(folder / "data", CLEARLANE_ELIGIBILITY_X12="on").start()
    yield running
    assert running.stop() == 0


@pytest.fixture
def run(serving):
    def run(*words, code=0):
        line = ["eligibility", *words, "--data", str(serving.data)]
        done = CliRunner().invoke(app, line, env=serving.environment)
        assert done.exit_code == code, (done.output, done.exception)
        return done

    return run


def test_check_prints_a_benefits_table(run):
    shown = run(*CHECK, "--payer", "TST01", "--member", "2001").stdout
    assert re.search(r"Request \d+: ResultsComplete", shown)
    assert re.search(r"patient +ARDEN, ROSA", shown)
    header = next(line for line in shown.splitlines() if line.startswith("SERVICE"))
    words = "SERVICE NETWORK LEVEL COPAY COINSURANCE"
    for amount in ("DEDUCTIBLE", "OUT OF POCKET"):
        words += f" {amount} {amount} LEFT"
    assert " ".join(header.split()) == words
    plan = next(line for line in shown.splitlines() if line.startswith("Health benefit plan"))
    total, left, most, unspent = re.findall(r"[\d,]+\.\d\d", plan)
    # What is left is said first, as the console says it.
    assert re.search(r"coverage +Active", shown)
    for name, text in (
        ("Deductible", f"{left} of {total}"),
        ("Out of pocket", f"{unspent} of {most}"),
    ):
        assert re.search(rf"left +{name}, individual, in network: {text}", shown)


def test_check_asks_about_a_dependent_and_about_services(run):
    more = ("--dependent-first", "MILO", "--dependent-birth", "2015-03-04", "--service", "98")
    body = json.loads(run(*CHECK, "--payer", "TST2E", "--member", "2001", *more, "--json").stdout)
    subscriber = body["Responses"][0]["Payers"][0]["Payees"][0]["Subscribers"][0]
    [dependent] = subscriber["Dependents"]
    assert dependent["FirstName"] == "MILO"
    assert {name for benefit in dependent["Benefits"] for name in benefit["TypesOfService"]} >= {
        "ProfessionalPhysicianVisitOffice"
    }


@pytest.mark.parametrize(
    ("member", "text"),
    [("1002", "T4 "), ("1006", "999: "), ("1004", "72 ")],
)
def test_check_shows_refusals_and_exits_with_1(run, member, text):
    assert text in run(*CHECK, "--payer", "TST02", "--member", member, code=1).stdout


def test_check_shows_why_a_patient_could_not_be_asked_about(run):
    shown = run(*CHECK, "--payer", "NOBODY", "--member", "2001", code=1).stdout
    assert "AllInvalid" in shown
    assert "PayerId" in shown


def test_show_lists_the_payers_asked_and_their_answers(run):
    made = json.loads(run(*CHECK, "--payer", "TST01", "--member", "2001", "--json").stdout)
    id = str(made["RequestId"])
    shown = run("show", id).stdout
    assert re.search(r"1 +TST01 +Answered +271 +1", shown)
    assert "Health benefit plan coverage" in shown
    stored = json.loads(run("show", id, "--json").stdout)
    assert stored.keys() == {*EligibilityDetailsJson.model_fields, "inquiries"}
    assert (stored["eligibility_request_id"], stored["state"]) == (made["RequestId"], "complete")
    [inquiry] = stored["inquiries"]
    assert (inquiry["payer_id"], inquiry["attempts"], stored["problems"]) == ("TST01", 1, [])
    [answer] = stored["answers"]
    assert "ROSA" in answer["patient_name"]
    assert answer["verdict"] == stored["verdict"] == "active"
    x12 = run("show", id, "--x12").stdout
    assert x12.startswith("ISA*")
    assert re.search(r"^TRN\*2\*\d+-1\*9CLEARLANE~$", x12, re.MULTILINE)
    assert run("show", id, "--vendor", "sandbox", "--x12").stdout == x12
    assert "no eligibility request" in run("show", id, "--vendor", "nobody", code=1).stderr


def test_show_of_what_is_not_there_is_a_sentence(run):
    assert "There is no eligibility request 12." in run("show", "12", code=1).stderr


def test_the_vendors_commands_stand_beside_them(run, tmp_path):
    made = json.loads(run(*CHECK, "--payer", "TST01", "--member", "2001", "--json").stdout)
    again = json.loads(run("responses", str(made["RequestId"]), "--json").stdout)
    assert again == made


def test_the_setting_puts_the_raw_271_into_every_response(run):
    made = json.loads(run(*CHECK, "--payer", "TST01", "--member", "2001", "--json").stdout)
    [response] = made["Responses"]
    assert response["X12Document"].startswith("ISA*")
    assert "-1*9CLEARLANE~" in response["X12Document"]
    refused = json.loads(
        run(*CHECK, "--payer", "TST01", "--member", "1006", "--json", code=1).stdout
    )
    assert "ST*999*" in refused["ErrorResponses"][0]["X12Document"]
