"""The vendor's commands against the scripted service: output and exit status.

Also tests `cli/claim/claim_client`, `cli/command/client_command`, `cli/claim/listen` and `cli/command/output`.
"""

import json
from dataclasses import fields
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from clearlane.cli.command.root import app
from clearlane.client import ClaimInfo
from tests.client import sample_calls
from tests.client.scripted_service import DROPPED, KEY, PASSWORD, SITE, Reply

ACCEPTED = {"ClaimResults": [sample_calls.SUBMISSION["ClaimResults"][0]], "DocumentLevelErrors": []}
SUSPENDED = {
    "ClaimResults": [],
    "DocumentLevelErrors": [
        {"Type": "System", "Code": "InvalidSourceDocument", "Location": "Document",
         "SupplementalInformation": "Unknown client SITE-1."}
    ],
}  # fmt: skip
MODEL = {
    "Message": "The request is invalid.",
    "ModelState": {"Claims[0].F28_TotalCharge": ["Bad."]},
}
DOCUMENT = {"DocumentType": "MedicalClaim", "Claims": [{"Svc_VendorClaimId": "A-1"}]}
LATE = {**sample_calls.ELIGIBILITY, "Status": "ResultsIncomplete", "Responses": []}


@pytest.fixture
def run(service, monkeypatch):
    """Run a command as a vendor who has the client alone."""
    environment = {
        "CLEARLANE_CLIENT_URL": service.base_url,
        "CLEARLANE_CLIENT_KEY": KEY,
        "CLEARLANE_CLIENT_PASSWORD": PASSWORD,
        "CLEARLANE_CLIENT_SITE": SITE,
        "CLEARLANE_CLIENT_CA_FILE": str(service.ca_file),
    }
    monkeypatch.setattr("time.sleep", lambda _: None)

    def invoke(*arguments, given=None, reply=None, **changed):
        if reply is not None:
            service.answer(*reply if isinstance(reply, list) else [reply])
        text = given if given is None or isinstance(given, str) else json.dumps(given)
        done = CliRunner().invoke(app, arguments, input=text, env={**environment, **changed})
        assert PASSWORD not in done.output
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    return invoke


# Command, what it reads, the service's answer, exit status, and words that must be shown.
ENDS = [
    (["payer", "available"], None, Reply(body=[sample_calls.PAYER]), 0, ["TST01", "Meadow Mutual"]),
    (["payer", "available", "dental", "--test"], None, Reply(body=[]), 0, ["No payers."]),
    (["payer", "available", "veterinary"], None, None, 2, ["'medical', 'dental'"]),
    (["payer", "available", "--test", "--eligibility"], None, None, 2, ["two lists"]),
    (["claim", "submit", "-"], DOCUMENT, Reply(body=ACCEPTED), 0, ["A-1", "Accepted", "R1"]),
    (["claim", "submit", "-"], DOCUMENT, Reply(body=sample_calls.SUBMISSION), 1, ["NotAccepted", "is wrong"]),
    (["claim", "submit", "-"], DOCUMENT, Reply(body=SUSPENDED), 1, ["(document)", "Unknown client"]),
    (["claim", "submit", "-"], DOCUMENT, Reply(400, MODEL), 2, ["Claims[0].F28_TotalCharge", "Bad."]),
    (["claim", "submit", "-"], "{", None, 2, ["is not JSON"]),
    (["claim", "submit", "-"], {"DocumentType": "x"}, None, 2, ["MedicalClaim or DentalClaim"]),
    (["claim", "submit", "-"], [{}], None, 2, ["--kind"]),
    (["claim", "submit", "-", "--kind", "dental"], [{}], Reply(body=ACCEPTED), 0, ["Accepted"]),
    (["claim", "submit", "no-such-file"], None, None, 2, ["cannot be read"]),
    (["claim", "submit", "-"], DOCUMENT, Reply(401, "101: Unknown."), 3, ["CLEARLANE_CLIENT_PASSWORD"]),
    (["claim", "submit", "-"], DOCUMENT, Reply(401, "201: BAA."), 3, ["baa-accept"]),
    (["claim", "submit", "-"], DOCUMENT, Reply(503, {"Message": "Later."}), 3, ["Later."]),
    (["claim", "submit", "-"], DOCUMENT, Reply(204), 3, ["send the same file again"]),
    (["claim", "submit", "-"], DOCUMENT, [DROPPED, Reply(body=ACCEPTED)], 0, ["Accepted"]),
    (["claim", "status", "--from", "2024-03-05", "--to", "2024-03-05"], None,
     Reply(body=[sample_calls.STATUS]), 0, ["Complete", "ProcessedAsPrimary", "100.10", "80.00"]),
    (["claim", "status", "--from", "2024-03-06", "--to", "2024-03-05"], None, None, 2, ["after"]),
    (["claim", "status", "--from", "5/3/24"], None, None, 2, []),
    (["documents", "get", "D1"], None, Reply(body=sample_calls.DOCUMENTS), 0, ["DocumentId: D1"]),
    (["documents", "get", "D1", "D2"], None, Reply(body=sample_calls.DOCUMENTS), 1, ["no document D2"]),
    (["eligibility", "submit", "-"], {}, Reply(body=sample_calls.ELIGIBILITY), 0, ["ROSA", "CoInsurance"]),
    (["eligibility", "submit", "-"], {}, Reply(body=LATE), 1, ["ResultsIncomplete", "responses 41"]),
    (["eligibility", "submit", "-", "--wait", "60"], {}, [Reply(body=LATE), Reply(body=sample_calls.ELIGIBILITY)],
     0, ["ResultsComplete"]),
    (["eligibility", "submit", "-"], [], None, 2, ["no object"]),
    (["eligibility", "responses", "41"], None, Reply(404, {"Message": "No such request."}), 1,
     ["No such request."]),
    (["enrollment", "submit", "-"], {}, Reply(body=sample_calls.ENROLLED), 1, ["already exists", "Timeout"]),
    (["enrollment", "submit", "-"], {}, Reply(400, {"Message": "Bad.", "Errors": [
        {"Key": "Enrollments[0].Npi", "Value": ["Ten digits."]}]}), 2, ["Enrollments[0].Npi", "Ten digits."]),
]  # fmt: skip


@pytest.mark.parametrize(("command", "given", "reply", "status", "words"), ENDS)
def test_a_command_shows_and_ends_as_promised(run, command, given, reply, status, words):
    done = run(*command, given=given, reply=reply)
    assert done.exit_code == status, done.output
    assert not [word for word in words if word not in done.output]


NAMES = [one.name for one in fields(ClaimInfo) if one.name != "raw"]
CLAIM = dict.fromkeys(NAMES, "x") | {"created_at": "2026-12-01T17:12:37.741263Z", "paid": None}
CLAIMS = Reply(body={"data": [CLAIM, CLAIM], "next": None})
NO_SITE = {"CLEARLANE_CLIENT_SITE": ""}


def test_claim_list_asks_for_the_claims_of_the_site(run, service):
    for site, changed in ((SITE, {}), ("S2", {"CLEARLANE_CLIENT_SITE": "S2"}), (None, NO_SITE)):
        assert run("claim", "list", reply=CLAIMS, **changed).exit_code == 0
        assert service.received[-1].query.get("site") == site


def test_a_call_of_v3_without_a_site_is_refused(run, service):
    calls = len(service.received)
    done = run("claim", "submit", "-", given=DOCUMENT, **NO_SITE)
    assert done.exit_code == 2
    assert "--site" in done.output
    assert len(service.received) == calls


def test_a_list_that_was_cut_says_so_and_only_then(run):
    for form, said in (
        ((), "1 claim, more with --limit."),
        (("--csv",), "Only the first 1 claim"),
        (("--json",), "Only the first 1 claim"),
    ):
        assert said in run("claim", "list", "--limit", "1", *form, reply=CLAIMS).output
        whole = run("claim", "list", "--limit", "2", *form, reply=CLAIMS)
        assert "--limit" not in whole.output
        assert whole.stderr == ""


def test_a_csv_of_no_claims_has_its_heading(run):
    done = run("claim", "list", "--csv", reply=Reply(body={"data": [], "next": None}))
    assert done.stdout.splitlines() == [",".join(NAMES)]


def test_tables_have_minutes_and_machine_forms_the_whole_moment(run):
    shown = run("claim", "list", "--wide", reply=CLAIMS).output
    assert "2026-12-01 17:12 " in shown
    assert "17:12:37" not in shown
    assert CLAIM["created_at"] in run("claim", "list", "--csv", reply=CLAIMS).output


JSON = [
    (["payer", "available"], None, [sample_calls.PAYER]),
    (["claim", "submit", "-"], DOCUMENT, ACCEPTED),
    (
        ["claim", "status", "--from", "2024-03-05", "--to", "2024-03-05"],
        None,
        [sample_calls.STATUS],
    ),
    (["documents", "get", "D1"], None, sample_calls.DOCUMENTS),
    (["eligibility", "submit", "-"], {}, sample_calls.ELIGIBILITY),
    (["enrollment", "submit", "-"], {}, sample_calls.ENROLLED),
]


@pytest.mark.parametrize(("command", "given", "answer"), JSON)
def test_json_is_what_the_service_returned(run, command, given, answer):
    done = run(*command, "--json", given=given, reply=Reply(body=answer))
    assert json.loads(done.stdout) == answer


def test_a_refusal_is_json_too(run):
    done = run("claim", "submit", "-", "--json", given=DOCUMENT, reply=Reply(400, MODEL))
    assert json.loads(done.stdout)["ModelState"] == MODEL["ModelState"]
    assert done.exit_code == 2


def test_ignored_fields_are_shown(run):
    reply = Reply(body=ACCEPTED, headers={"X-Ignored-Fields": "Claims[0].Typo"})
    assert "Claims[0].Typo" in run("claim", "submit", "-", given=DOCUMENT, reply=reply).output


def test_what_was_done_with_the_claims_is_shown(run):
    reply = Reply(body=ACCEPTED, headers={"X-Notes": "Claims[0]: It takes over from C1."})
    shown = run("claim", "submit", "-", given=DOCUMENT, reply=reply).output
    assert "Claims[0]: It takes over from C1." in shown


def test_text_of_a_service_cannot_control_the_terminal(run):
    reply = Reply(body=[{**sample_calls.PAYER, "Name": "\x1b[2JMeadow"}])
    assert "\x1b" not in run("payer", "available", reply=reply).output


def test_a_document_can_be_had_as_x12(run):
    answer = {"RemittanceAdvices": [{"DocumentId": "D1", "X12Document": "ISA*00~GS*HP~"}]}
    done = run("documents", "get", "D1", "--x12", reply=Reply(body=answer))
    assert done.stdout == "ISA*00~\nGS*HP~\n"


def test_a_password_is_never_an_option(run):
    assert run("payer", "available", "--password", "x").exit_code == 2
    done = run("payer", "available", CLEARLANE_CLIENT_PASSWORD="")
    assert done.exit_code == 2
    assert "CLEARLANE_CLIENT_PASSWORD" in done.output


def test_without_any_service_both_ways_are_shown(run, tmp_path):
    done = run("payer", "available", CLEARLANE_CLIENT_URL="", CLEARLANE_DATA=str(tmp_path))
    assert done.exit_code == 2
    assert "clearlane serve" in done.output
    assert "--url" in done.output


def test_an_authority_that_is_no_file_is_reported(run):
    done = run("payer", "available", CLEARLANE_CLIENT_CA_FILE="/no/such/file")
    assert done.exit_code == 2


# --- listen ---------------------------------------------------------------------------------------


def states(*named):
    return Reply(body=[{**sample_calls.STATUS, "CurrentState": state} for state in named])


def test_each_change_is_shown_once(run, service):
    script = [
        states("Received"),
        states("Received"),
        states("Sent"),
        states("Sent"),
        states("Complete"),
    ]
    done = run("listen", "--json", "--until-final", reply=script)
    reported = [json.loads(line)["CurrentState"] for line in done.stdout.splitlines()]
    assert reported == ["Received", "Sent", "Complete"]
    assert done.exit_code == 0


def test_only_the_named_claims_are_followed(run):
    done = run("listen", "A-1", "--until-final", reply=states("Complete"))
    assert "A-1" in done.output
    assert done.exit_code == 0


@pytest.mark.parametrize("command", [["listen", "A-1", "--until-final"], ["claim", "status"]])
def test_a_sandbox_that_is_ahead_is_asked_for_its_own_days(run, service, command):
    ahead = {"X-Service-Time": "2031-05-05T12:00:00Z"}
    before = datetime.now(UTC).date()
    run(*command, reply=Reply(body=states("Complete").body, headers=ahead))
    days = [one.query for one in service.received if "startDate" in one.query]
    days_of_run = (before, datetime.now(UTC).date())  # two of them at midnight
    weeks_ago = {str(day - timedelta(days=7)) for day in days_of_run}
    assert min(one["startDate"] for one in days) in weeks_ago
    assert max(one["endDate"] for one in days) == "2031-05-06"


def test_an_unknown_claim_is_named_and_not_waited_for(run, monkeypatch):
    done = run("listen", "A-1", "B-7", "--until-final", reply=states("Sent"))
    assert done.exit_code == 1
    assert "The service has no accepted claim B-7 since" in done.output

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", interrupted)
    done = run("listen", "B-7", reply=states("Sent"))
    assert (done.exit_code, "no accepted claim B-7" in done.output) == (0, True)


def test_a_service_that_is_away_for_a_while_is_waited_for(run):
    away = Reply(503, {"Message": "Away."})
    done = run(
        "listen", "--until-final", reply=[states("Sent"), away, away, away, states("Complete")]
    )
    assert done.exit_code == 0
    assert "Away." in done.output
    assert "Complete" in done.output


def test_listening_ends_with_a_key(run, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", interrupted)
    assert run("listen", reply=states("Sent")).exit_code == 0


def test_listening_with_wrong_credentials_ends(run):
    assert run("listen", reply=Reply(401, "101: Unknown.")).exit_code == 3


# --- completion and help --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shell", "word"),
    [("bash", "complete -o"), ("zsh", "#compdef"), ("fish", "complete --command")],
)
def test_completion_scripts_are_printed_for_the_shell_that_is_named(run, shell, word):
    done = run("--show-completion", shell)
    assert done.exit_code == 0
    assert word in done.stdout


HELPED = [
    "payer available", "claim submit", "claim status", "claim sample", "documents get", "listen", "doctor",
    "eligibility submit", "eligibility responses", "enrollment submit",
]  # fmt: skip


@pytest.mark.parametrize("command", HELPED)
def test_help_has_an_example(run, command):
    done = run(*command.split(), "--help")
    assert done.exit_code == 0
    assert "Example" in done.output
    assert f"clearlane {command}" in done.output
