"""The sandbox endpoints and commands: clock and payers, over https."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from typer.testing import CliRunner

from clearlane.api.sandbox_endpoints import read_duration, sandbox_endpoints
from clearlane.api.v3.error_responses import V3_ERRORS
from clearlane.claims.forms import V3_DENTAL, V3_FORMS, V3_MEDICAL, samples
from clearlane.cli.command.root import app
from tests.api.local_server import start_local_server
from tests.api.service_process import ServiceProcess
from tests.databases import KINDS
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.one_database

DAY = 86_400


@pytest.fixture(scope="module", params=KINDS)
async def sandbox(request, new_place) -> AsyncIterator[ServiceProcess]:
    """A service of its own: its time is moved."""
    place = await new_place(request.param, served=True)
    serving = ServiceProcess(place.data / "served", place.url).start()
    yield serving
    assert serving.stop() == 0


@pytest.fixture
def client(sandbox) -> AsyncIterator[httpx.Client]:
    facts = sandbox.sandbox
    auth = (facts["vendor_key"], facts["vendor_password"])
    with sandbox.client(auth, params={"vendorSiteId": facts["vendor_site_id"]}) as made:
        yield made
        made.post("/sandbox/clock", json={"Frozen": False, "SecondsPerDay": 2})


def clock(answer: httpx.Response) -> dict:
    assert answer.status_code == 200, answer.text
    return answer.json()


def faults(answer: httpx.Response) -> dict:
    assert answer.status_code == 400, answer.text
    return answer.json()["ModelState"]


def test_the_clock_is_shown_as_the_wall_plus_what_was_advanced(client):
    before = datetime.now(UTC)
    found = clock(client.get("/sandbox/clock"))
    after = datetime.now(UTC)
    wall = datetime.fromisoformat(found["Now"]) - timedelta(seconds=found["AdvancedSeconds"])
    rounding = timedelta(seconds=1)
    assert before - rounding <= wall <= after + rounding
    assert (found["SecondsPerDay"], found["Frozen"]) == (2, False)


def test_the_clock_is_frozen_paced_and_let_run(client):
    assert clock(client.post("/sandbox/clock", json={"Frozen": True}))["Frozen"]
    paced = clock(client.post("/sandbox/clock", json={"SecondsPerDay": 0.5}))
    assert (paced["SecondsPerDay"], paced["Frozen"]) == (0.5, True)
    run = clock(client.post("/sandbox/clock", json={"Frozen": False, "SecondsPerDay": 10}))
    assert (run["SecondsPerDay"], run["Frozen"]) == (10, False)
    assert clock(client.get("/sandbox/clock"))["SecondsPerDay"] == 10


def test_an_advance_moves_the_time_of_everything_that_is_written(client):
    before = clock(client.get("/sandbox/clock"))
    after = clock(client.post("/sandbox/advance", json={"By": "1d12h"}))
    assert after["AdvancedSeconds"] - before["AdvancedSeconds"] == DAY * 3 // 2
    document = samples.document(
        V3_MEDICAL, day=datetime.now(UTC).date() - timedelta(days=9), claim_id=after["Now"]
    )
    content = json.dumps(document, default=str)
    header = {"Content-Type": "application/json"}
    assert client.post("/api/v3/claims/submit", content=content, headers=header).status_code == 200
    day = datetime.fromisoformat(after["Now"]).date()
    days = {"startDate": day, "endDate": day + timedelta(days=1)}  # midnight may have been since
    rows = client.post("/api/v3/claims/status/get_by_date", params=days).json()
    assert [row["VendorClaimId"] for row in rows] == [after["Now"]]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("clock", {"SecondsPerDay": 0}, "SecondsPerDay"),
        ("clock", {"SecondsPerDay": 86_401}, "SecondsPerDay"),
        ("clock", {"SecondsPerDay": "soon"}, "SecondsPerDay"),
        ("clock", {"Frozen": 1}, "Frozen"),
        ("clock", [], "Document"),
        ("advance", {}, "By"),
        ("advance", {"By": "a fortnight"}, "By"),
        ("advance", {"By": "-1d"}, "By"),
        ("advance", {"By": "999999d"}, "By"),
        ("advance", {"By": 14}, "By"),
        ("payers", {"PayerId": "NOBODY", "Mode": "down"}, "PayerId"),
        ("payers", {"PayerId": "TST01", "Mode": "sideways"}, "Mode"),
        ("payers", {}, "Mode"),
    ],
)
def test_what_cannot_be_is_refused_by_field_and_changes_nothing(client, path, body, field):
    before = clock(client.get("/sandbox/clock"))
    assert field in faults(client.post(f"/sandbox/{path}", json=body))
    after = clock(client.get("/sandbox/clock"))
    assert {**after, "Now": ""} == {**before, "Now": ""}


def test_unknown_fields_are_named(client):
    answer = client.post("/sandbox/clock", json={"frozen": True})
    assert answer.headers["X-Ignored-Fields"] == "frozen"
    assert not clock(answer)["Frozen"]


def test_payers_are_made_to_do_something_else_and_listed(client):
    modes = {one["PayerId"]: one["Mode"] for one in client.get("/sandbox/payers").json()}
    assert modes.keys() >= {"TST01", "TST02", "TST1E", "TST2E", "TST3E"}
    for mode in ("down", "slow", "garbage", "up"):
        listed = client.post("/sandbox/payers", json={"PayerId": "tst02", "Mode": mode}).json()
        assert {one["PayerId"]: one["Mode"] for one in listed}["TST02"] == mode
    both = client.post("/sandbox/payers", json={"PayerId": "HHP20", "Mode": "down"}).json()
    assert [one["Type"] for one in both if one["PayerId"] == "HHP20"] == ["Dental", "Medical"]
    client.post("/sandbox/payers", json={"PayerId": "HHP20", "Mode": "up"})


@pytest.mark.parametrize(
    "endpoint", sandbox_endpoints(V3_ERRORS), ids=lambda endpoint: endpoint.name
)
def test_the_calls_pass_the_same_checks_as_all_others(sandbox, client, endpoint):
    verb = endpoint.verbs[0]
    with sandbox.client() as stranger:
        assert stranger.request(verb, endpoint.path).status_code == 401
        assert stranger.request(verb, endpoint.path, auth=("NOBODY", "wrong")).status_code == 401
    site = {"vendorSiteId": "NOT-MINE"}
    assert client.request(verb, endpoint.path, params=site).status_code == 400
    assert client.request(verb, endpoint.path, params={"vendorSiteId": ""}).status_code == 404
    refused = client.request("DELETE", endpoint.path)
    assert (refused.status_code, refused.headers["Allow"]) == (405, ", ".join(endpoint.verbs))


def test_a_payer_down_for_thirty_days_gets_everything_when_it_is_up(client):
    clock(client.post("/sandbox/clock", json={"Frozen": True}))
    client.post("/sandbox/payers", json={"PayerId": "TST02", "Mode": "down"})
    day = datetime.now(UTC).date() - timedelta(days=9)
    for number in range(3):
        document = samples.document(
            V3_DENTAL, day=day, insured_id="3001", claim_id=f"down-{number}"
        )
        client.post(
            "/api/v3/claims/submitDental", json=json.loads(json.dumps(document, default=str))
        )
        clock(client.post("/sandbox/advance", json={"By": "10d"}, timeout=PATIENCE_SECONDS))
    assert set(states(client).values()) == {"Received"}
    client.post("/sandbox/payers", json={"PayerId": "TST02", "Mode": "up"})
    # However long the pauses have become, nobody waits for their end.
    clock(client.post("/sandbox/advance", json={"By": "0d"}, timeout=PATIENCE_SECONDS))
    assert set(states(client).values()) == {"Sent"}
    clock(client.post("/sandbox/advance", json={"By": "20d"}, timeout=PATIENCE_SECONDS))
    assert set(states(client).values()) == {"Complete"}


def states(client) -> dict[str, str]:
    today = datetime.now(UTC).date()
    rows = client.post(
        "/api/v3/claims/status/get_by_date",
        params={"startDate": str(today), "endDate": str(today + timedelta(days=99))},
    ).json()
    return {
        row["VendorClaimId"]: row["CurrentState"]
        for row in rows
        if row["VendorClaimId"].startswith("down-")
    }


def test_production_knows_no_such_path(tmp_path):
    # The table of a production installation is the interface alone.
    local_server = start_local_server(tmp_path)
    try:
        with local_server.client() as client:
            for endpoint in sandbox_endpoints(V3_ERRORS):
                answer = client.request(endpoint.verbs[0], f"{endpoint.path}?vendorSiteId=ACME-1")
                unknown = client.get("/no/such/path?vendorSiteId=ACME-1")
                assert (answer.status_code, answer.json()) == (404, unknown.json())
    finally:
        local_server.stop()


# The commands.


def command(sandbox: ServiceProcess, *arguments: str):
    given = ["sandbox", *arguments, "--data", str(sandbox.data)]
    return CliRunner().invoke(app, given, env=sandbox.environment)


def test_the_clock_command_shows_freezes_paces_and_lets_run(sandbox, client):
    frozen = command(sandbox, "clock", "--freeze", "--pace", "5", "--json")
    assert frozen.exit_code == 0, frozen.output
    reported = json.loads(frozen.stdout)
    assert (reported["Frozen"], reported["SecondsPerDay"]) == (True, 5)
    assert "frozen" in command(sandbox, "clock").stdout
    assert "last 5 seconds" in command(sandbox, "clock", "--unfreeze").stdout


def test_the_advance_command_returns_with_the_new_time(sandbox, client):
    before = clock(client.get("/sandbox/clock"))["AdvancedSeconds"]
    reported = command(sandbox, "advance", "2d", "--json")
    assert reported.exit_code == 0, reported.output
    assert json.loads(reported.stdout)["AdvancedSeconds"] == before + 2 * DAY
    assert "ahead of real time" in command(sandbox, "advance", "1h").stdout


def test_the_payer_command_shows_and_sets(sandbox, client):
    assert "TST01" in command(sandbox, "payer").stdout
    reported = command(sandbox, "payer", "--slow", "TST2E", "--json")
    modes = {one["PayerId"]: one["Mode"] for one in json.loads(reported.stdout)}
    assert modes["TST2E"] == "slow"
    assert command(sandbox, "payer", "--up", "TST2E").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["clock", "--freeze", "--unfreeze"], "not both"),
        (["clock", "--pace", "0"], "SecondsPerDay"),
        (["advance", "soon"], "such as 14d"),
        (["payer", "--down", "--up", "TST01"], "Give one mode"),
        (["payer", "--down"], "Give a payer and its mode"),
        (["payer", "TST01"], "Give a payer and its mode"),
        (["payer", "--down", "NOBODY"], "PayerId"),
    ],
)
def test_bad_arguments_are_refused_with_what_is_expected(sandbox, arguments, sentence):
    reported = command(sandbox, *arguments)
    assert reported.exit_code == 2
    assert sentence in reported.output


def test_without_a_running_sandbox_the_command_fails_with_a_reason(tmp_path):
    absent = CliRunner().invoke(app, ["sandbox", "clock", "--data", str(tmp_path)])
    assert absent.exit_code == 2
    assert "clearlane serve" in absent.output
    facts = {
        "base_url": "https://127.0.0.1:9", "ca_file": None, "vendor_key": "K",
        "vendor_password": "P", "vendor_site_id": "S",
    }  # fmt: skip
    (tmp_path / "sandbox.json").write_text(json.dumps(facts))
    stopped = CliRunner().invoke(app, ["sandbox", "clock", "--data", str(tmp_path)])
    assert stopped.exit_code == 3
    assert "cannot be reached" in stopped.output


def test_a_service_that_is_no_sandbox_is_reported_by_the_command(tmp_path):
    local_server = start_local_server(tmp_path)
    try:
        facts = {
            "base_url": local_server.base_url, "ca_file": str(local_server.ca_file), "vendor_key": "ACME",
            "vendor_password": "S3cret-of-24-characters-or-more", "vendor_site_id": "ACME-1",
        }  # fmt: skip
        (tmp_path / "sandbox.json").write_text(json.dumps(facts))
        reported = CliRunner().invoke(app, ["sandbox", "clock", "--data", str(tmp_path)])
    finally:
        local_server.stop()
    assert reported.exit_code == 2
    assert "not a sandbox" in reported.output


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("14d", timedelta(days=14)),
        ("1d12h", timedelta(days=1.5)),
        (" 2H 30m ", timedelta(hours=2.5)),
        ("0.5d", timedelta(hours=12)),
        ("90s", timedelta(seconds=90)),
        ("0d", timedelta(0)),
        ("", None),
        ("14", None),
        ("d", None),
        ("1w", None),
        ("-1d", None),
        ("999999999d" * 9, None),
    ],
)
def test_lengths_are_read_as_people_write_them(text, length):
    assert read_duration(text) == length


@pytest.mark.parametrize("kind", V3_FORMS)
def test_the_full_sample_is_accepted_and_paid(client, kind):
    path = {V3_MEDICAL: "submit", V3_DENTAL: "submitDental"}[kind]
    today = datetime.fromisoformat(clock(client.get("/sandbox/clock"))["Now"]).date()
    document = samples.document(
        kind, day=today - timedelta(days=3), full=True, claim_id=f"FULL-{kind}"
    )
    answer = client.post(f"/api/v3/claims/{path}", json=document)
    (result,) = answer.json()["ClaimResults"]
    assert result["Status"] == "Accepted", result
    clock(client.post("/sandbox/advance", json={"By": "30d"}))
    days = {"startDate": today.isoformat(), "endDate": (today + timedelta(days=31)).isoformat()}
    rows = client.post("/api/v3/claims/status/get_by_date", params=days).json()
    (row,) = [row for row in rows if row["VendorClaimId"] == f"FULL-{kind}"]
    assert row["CurrentState"] == "Complete"
    assert row["PayerAmount"] > 0
