"""The client and its commands against the real service over TLS, as a vendor would use them.

Also tests `client/async_client`, `client/async_resources`, `client/async_transport` and `client/sync_client`.
"""

import asyncio
import json
import signal
import subprocess
import sys
from datetime import timedelta
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from clearlane import client as library
from clearlane.claims.forms import V3_DENTAL, V3_MEDICAL, samples
from clearlane.cli.command.root import app
from clearlane.client import AsyncClient, Client, eligibility_request
from clearlane.kernel.clock import SystemClock
from tests.api.service_process import ServiceProcess
from tests.patience import PATIENCE_SECONDS, wait_until

pytestmark = pytest.mark.group("client against service")

TODAY = SystemClock().now().date()
DAYS = TODAY - timedelta(days=1), TODAY + timedelta(days=1)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    """A fresh sandbox, started as its operator starts it."""
    serving = ServiceProcess(tmp_path_factory.mktemp("client") / "data").start()
    yield serving
    assert serving.stop() == 0


@pytest.fixture
def client(sandbox):
    """A client that knows the data directory and nothing else."""
    with Client.from_sandbox(sandbox.data) as made:
        yield made


def claim(kind=V3_MEDICAL, **changed):
    made = samples.minimal_claim(kind, TODAY - timedelta(days=3))
    return {**made, "Svc_VendorClaimId": f"T-{uuid4().hex[:12]}", **changed}


def enrollment(**changed):
    return {
        "RequestId": "1", "Npi": "1679576722", "NpiType": "Individual", "Tin": "123456789",
        "ProviderLastName": "FENN", "ProviderFirstName": "OSKAR", "Address1": "12 Fernhill Road",
        "City": "Austin", "State": "TX", "Zip": "78701", "PrimaryContactLastName": "BIRCH",
        "PrimaryContactFirstName": "NORA", "PrimaryContactEmail": "nora@larkspur.example",
        "PrimaryContactPhoneNumber": "5125550142", **changed,
    }  # fmt: skip


def test_the_test_payers_are_listed(client):
    assert "TST01" in {payer.PayerId for payer in client.test_payers()}
    assert "TST02" in {payer.PayerId for payer in client.test_payers("dental")}
    assert all(payer.OffersEligibility for payer in client.eligibility_payers())
    assert client.payers("dental")


def test_a_claim_is_accepted_and_answered_the_same_again(client):
    one = claim()
    first, again = client.submit_medical_claims(one), client.submit_medical_claims([one])
    assert first.accepted
    assert first.ClaimResults[0].RequestId == again.ClaimResults[0].RequestId


def test_good_and_bad_claims_are_distinguished(client):
    good, bad = claim(V3_DENTAL), claim(V3_DENTAL, Svc_PayerId="NOBODY")
    answer = client.submit_dental_claims([good, bad])
    assert [result.Status for result in answer.ClaimResults] == ["Accepted", "NotAccepted"]
    assert answer.ClaimResults[1].Errors[0].Location == "Claims[1].Svc_PayerId"


def test_a_malformed_claim_is_reported_field_by_field(client):
    with pytest.raises(library.InvalidRequest) as reported:
        client.submit_medical_claims(claim(F03_PatientDob="1/2/1990", F28_TotalCharge=None))
    assert set(reported.value.model_state) == {
        "Claims[0].F03_PatientDob",
        "Claims[0].F28_TotalCharge",
    }
    assert "1/2/1990" not in str(reported.value)
    assert reported.value.request_id


def test_a_typing_mistake_is_reported(client):
    answer = client.submit_medical_claims(claim(F03_PatientBirthday="1990-01-02"))
    assert answer.ignored_fields == ("Claims[0].F03_PatientBirthday",)


def test_the_status_of_a_claim_is_found_by_its_day(client):
    one = claim()
    client.submit_medical_claims(one)
    rows = {row.VendorClaimId: row for row in client.iter_status(*DAYS)}
    row = rows[one["Svc_VendorClaimId"]]
    assert row.TotalClaimAmount == 100
    assert row.CurrentState
    assert row.PaymentEffectiveDate is None or row.CurrentState == "Complete"


def test_documents_that_do_not_exist_are_left_out(client):
    assert list(client.payer_documents(["no-such-document"])) == []


def test_what_a_payer_wrote_is_found_by_the_status(client, sandbox):
    one = claim()
    client.submit_medical_claims(one)

    def related():
        rows = {row.VendorClaimId: row for row in client.iter_status(*DAYS, days=3)}
        return rows[one["Svc_VendorClaimId"]].RelatedDocumentId

    id = wait_until(related)  # the test payer acknowledges by itself
    (document,) = client.payer_documents([id])
    assert document["DocumentId"] == id
    assert document["VendorClaimId"] == one["Svc_VendorClaimId"]
    shown = run(sandbox, "documents", "get", id)
    assert (shown.exit_code, id in shown.stdout) == (0, True)
    assert run(sandbox, "documents", "get", id, "--x12").stdout.startswith("ISA*")


def test_an_enrollment_is_submitted_once(client):
    first, again = (
        client.submit_enrollments(enrollment()),
        client.submit_enrollments([enrollment()]),
    )
    assert first.submitted
    assert not first.EnrollmentResults[0].already_exists
    assert again.EnrollmentResults[0].already_exists
    assert again.submitted


def test_a_wrong_enrollment_is_reported_by_key_and_value(client):
    with pytest.raises(library.InvalidRequest) as reported:
        client.submit_enrollments(enrollment(Npi="12", Zip="7"))
    assert {"Enrollments[0].Npi", "Enrollments[0].Zip"} <= set(reported.value.faults)


def test_the_three_calls_of_proxy_login(client, sandbox):
    sandbox.command("vendor", "proxy-login", "on", client.account.key)
    instance = uuid4()
    token = client.create_instance_token(instance, "Front context")
    assert (token.resultCode, bool(token.token)) == (0, True)
    assert client.login_url(instance, token.token).url.startswith("https://")
    assert client.login_url(instance, "wrong").resultCode == 3
    assert client.delete_instance_token(instance).deleted
    assert not client.delete_instance_token(instance).deleted


def test_wrong_credentials_a_wrong_site_and_no_agreement_are_distinguished(client, sandbox):
    facts = {
        "key": client.account.key,
        "site": client.account.site,
        "ca_file": client.account.ca_file,
    }
    with Client(client.account.base_url, password="wrong", **facts) as stranger:
        with pytest.raises(library.BadCredentials):
            stranger.payers()
        with pytest.raises(library.BadCredentials) as reported:
            stranger.delete_instance_token(uuid4())
    assert reported.value.status == 404
    with pytest.raises(library.InvalidRequest, match="Invalid VendorSiteId"):
        client.at_site("NOWHERE").payers()
    sandbox.command("site", "add", client.account.key, "--id", "NO-BAA")
    without = client.at_site("NO-BAA")
    assert without.payers()
    with pytest.raises(library.BaaMissing):
        without.submit_medical_claims(claim())


def inquiry(member_id):
    return eligibility_request(
        payer_id="TST01", npi="1234567893", provider="Fernhill Family Practice",
        member_id=member_id, last_name="ARDEN", first_name="ROSA", birth_date="1990-01-02",
        trace="T-1", test=True,
    )  # fmt: skip


def test_benefits_are_asked_for_and_waited_for(client):
    answer = client.wait_for_eligibility(inquiry("7000"), seconds=PATIENCE_SECONDS)
    assert answer.Status == "ResultsComplete"
    (patient,) = answer.patients()
    assert patient["PayeeTraceNumber"]["Number"] == "T-1"
    assert patient["Benefits"]
    assert client.eligibility_responses(answer.RequestId).Status == "ResultsComplete"


def test_an_unknown_request_is_not_found(client):
    with pytest.raises(library.NotFound):
        client.eligibility_responses(999_999)


async def test_many_calls_at_once_over_one_client(sandbox):
    claims = [claim() for _ in range(10)]
    async with AsyncClient.from_sandbox(sandbox.data) as client:
        answers = await asyncio.gather(*(client.submit_medical_claims(one) for one in claims))
        assert all(answer.accepted for answer in answers)
        seen = {row.VendorClaimId async for row in client.iter_status(*DAYS, days=3)}
    assert {one["Svc_VendorClaimId"] for one in claims} <= seen


# --- commands -------------------------------------------------------------------------------------


def run(sandbox, *arguments, given=""):
    return CliRunner().invoke(app, [*arguments, "--data", str(sandbox.data)], input=given)


@pytest.mark.parametrize("kind", ["medical", "dental"])
@pytest.mark.parametrize("full", [[], ["--full"]])
def test_a_sample_is_submitted_and_listed(sandbox, kind, full):
    made = CliRunner().invoke(app, ["claim", "sample", "--kind", kind, "--scenario", "3003", *full])
    done = run(sandbox, "claim", "submit", "-", "--json", given=made.stdout)
    assert done.exit_code == 0, done.output
    (result,) = json.loads(done.stdout)["ClaimResults"]
    assert result["VendorClaimId"] in run(sandbox, "claim", "status").stdout
    assert result["VendorClaimId"] in run(sandbox, "claim", "status", "--json").stdout


def test_two_samples_are_two_claims(sandbox):
    ids = set()
    for _ in range(2):
        made = CliRunner().invoke(app, ["claim", "sample", "--scenario", "3003"])
        (one,) = json.loads(made.stdout)["Claims"]
        assert (one["F01A_InsuredId"], one["Svc_PayerId"]) == ("3003", "TST01")
        ids.add(one["Svc_VendorClaimId"])
    assert len(ids) == 2


def test_listening_in_a_terminal_ends_with_ctrl_c(sandbox, client):
    one = claim()
    client.submit_medical_claims(one)
    listening = subprocess.Popen(
        [sys.executable, "-m", "clearlane", "listen", one["Svc_VendorClaimId"], "--json",
         "--data", str(sandbox.data)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # Whoever runs the tests in the background has made them deaf to it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )  # fmt: skip
    first = json.loads(listening.stdout.readline())
    listening.send_signal(signal.SIGINT)
    _, said = listening.communicate(timeout=PATIENCE_SECONDS)
    assert first["VendorClaimId"] == one["Svc_VendorClaimId"]
    assert (listening.returncode, said) == (0, "")


def test_the_doctor_finds_nothing_in_the_way(sandbox):
    done = run(sandbox, "doctor", "--json")
    checks = {check["name"]: check["verdict"] for check in json.loads(done.stdout)}
    assert done.exit_code == 0
    assert set(checks.values()) == {"fine"}
    assert {"certificate", "clock", "credentials", "site", "baa", "payers"} <= checks.keys()
    assert {"database", "nodes", "routes"} <= checks.keys()


def test_the_doctor_names_what_is_wrong(sandbox, monkeypatch):
    done = run(sandbox, "doctor", "--site", "NOWHERE")
    assert done.exit_code == 1
    assert "--site" in done.stdout
    monkeypatch.setenv("CLEARLANE_CLIENT_PASSWORD", "wrong")
    done = run(sandbox, "doctor", "--key", "STRANGER")
    assert done.exit_code == 1
    assert "CLEARLANE_CLIENT_PASSWORD" in done.stdout
    sandbox.command("site", "add", sandbox.sandbox["vendor_key"], "--id", "NEW")
    done = run(sandbox, "doctor", "--site", "NEW")
    assert done.exit_code == 1
    assert "baa-accept" in done.stdout
