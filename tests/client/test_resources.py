"""Claims, payments and payers of Clearlane's own API through the library and the commands, against a real service.

Also tests `client/v1_calls`, `client/v1_models`, `cli/claim/claim_service` and `cli/claim/claim_ids`.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator
from datetime import date, timedelta
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from clearlane.api.v1.endpoints import V1
from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.cli.command.root import app
from clearlane.client import AsyncClient, Client, InvalidRequest, NotFound
from clearlane.client.v1_calls import query_of, segment
from clearlane.kernel.clock import SystemClock
from tests.api.service_process import ServiceProcess
from tests.client.test_webhooks import ACCOUNT, ENDPOINT, OneAnswer

pytestmark = pytest.mark.group("client resources")

DAY = SystemClock().now().date() - timedelta(days=3)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    """A sandbox that gathers claims for a day, so that none is sent meanwhile."""
    data = tmp_path_factory.mktemp("resources") / "data"
    serving = ServiceProcess(data, CLEARLANE_SANDBOX_WINDOW_SECONDS="86400").start()
    yield serving
    assert serving.stop() == 0


@pytest.fixture
def client(sandbox):
    with Client.from_sandbox(sandbox.data) as made:
        yield made


def document(count=1):
    claim = samples.minimal_claim(V3_MEDICAL, DAY)
    claims = [
        {**claim, "Svc_VendorClaimId": f"R-{uuid4().hex[:12]}", "Svc_PayerId": "TST01"}
        for _ in range(count)
    ]
    return json.loads(json.dumps({"DocumentType": "MedicalClaim", "Claims": claims}, default=str))


def submit(client, count=1):
    return [one.RequestId for one in client.submit_document(document(count)).ClaimResults]


def test_claims_are_found_held_corrected_and_canceled(client):
    first, second, third = submit(client, 3)
    listed = [one.claim_number for one in client.claims.find(limit=1)]
    assert {first, second, third} <= set(listed)
    assert len(listed) == len(set(listed))
    assert client.claims.hold(first).state == "held"
    assert [one.claim_number for one in client.claims.find(state="held")] == [first]
    assert client.claims.release(first).state == "received"
    changed = {"F26_PatientAcctNumber": "LIB-1"}
    dry = client.claims.correct(first, changed, dry_run=True)
    assert (dry.claim_number, dry.sent_as) == (None, "new")
    assert "LIB-1" in dry.x12
    done = client.claims.correct(first, changed)
    assert client.claims.get(first).successor == done.claim_number
    assert "LIB-1" in client.claims.x12(done.claim_number)
    assert client.claims.cancel(second).state == "canceled"
    events = [entry.event for entry in client.claims.get(second).history]
    assert events[-1].startswith("Canceled")
    with pytest.raises(InvalidRequest) as refused:
        client.claims.correct(third, {"Nope": 1})
    assert "Nope" in refused.value.faults
    with pytest.raises(NotFound):
        client.claims.get("C000")
    assert list(client.payments.find()) == []


def test_a_document_is_validated_and_payers_are_searched(client):
    result = client.claims.validate(document(2))
    assert (result.accepted, len(result.claims)) == (2, 2)
    best = next(client.payer_directory.search("sandbx medcal", type="medical"))
    assert (best.payer_id, best.accepts_claims) == ("TST01", True)


async def test_the_same_for_asyncio(sandbox):
    async with AsyncClient.from_sandbox(sandbox.data) as client:
        numbers = [
            one.RequestId for one in (await client.submit_document(document(2))).ClaimResults
        ]
        found = [one.claim_number async for one in client.claims.find(limit=1)]
        assert set(numbers) <= set(found)
        assert (await client.claims.hold(numbers[0])).state == "held"
        assert (await client.claims.release(numbers[0])).state == "received"
        done = await client.claims.correct(numbers[0], {"F26_PatientAcctNumber": "AIO"})
        assert (await client.claims.get(numbers[0])).state == "canceled"
        assert "AIO" in await client.claims.x12(done.claim_number)
        assert (await client.claims.cancel(numbers[1])).state == "canceled"
        assert (await client.claims.validate(document())).accepted == 1
        assert [one async for one in client.payments.find()] == []
        assert (await anext(client.payer_directory.search("TST01"))).payer_id == "TST01"


EVERY_CALL = {
    "SendFile": lambda client: client.files.send(b"ISA", name="claims.837"),
    "GetFiles": lambda client: client.files.find(direction="out"),
    "GetFile": lambda client: client.files.get("F1"),
    "GetFileContent": lambda client: client.files.content("F1"),
    "GetShadowReport": lambda one: one.files.shadow_report(differences=True),
    "GetClaims": lambda one: one.claims.find(state="sent"),
    "GetClaim": lambda one: one.claims.get("C1"),
    "PostClaims": lambda one: one.claims.submit({}),
    "ValidateClaims": lambda one: one.claims.validate({}),
    "HoldClaim": lambda one: one.claims.hold("C1"),
    "ReleaseClaim": lambda one: one.claims.release("C1"),
    "CancelClaim": lambda one: one.claims.cancel("C1"),
    "CorrectClaim": lambda one: one.claims.correct("C1", {}),
    "VoidClaim": lambda one: one.claims.void("C1", reason="x"),
    "ResubmitClaim": lambda one: one.claims.resubmit("C1", dry_run=True),
    "GetSecondaryClaim": lambda one: one.claims.secondary("C1"),
    "BillNextPayer": lambda one: one.claims.bill_next_payer("C1", {}, dry_run=True),
    "SendClaimAnyway": lambda one: one.claims.send_anyway("C1", user="nora", reason="x"),
    "InquireClaim": lambda one: one.claims.ask("C1"),
    "GetClaimInquiries": lambda one: one.claims.inquiries("C1"),
    "GetClaimX12": lambda one: one.claims.x12("C1"),
    "GetClaimContent": lambda one: one.claims.content("C1"),
    "GetClaimForm": lambda one: one.claims.form("C1"),
    "GetClaimFormPdf": lambda one: one.claims.form_pdf("C1", sheet="plain"),
    "GetClaimProof": lambda one: one.claims.proof("C1"),
    "GetClaimProofEvidence": lambda one: one.claims.evidence("C1"),
    "GetCheckpoints": lambda one: one.claims.checkpoints(limit=5),
    "CreateConsoleLink": lambda one: one.claims.console_link("nora"),
    "GetPayments": lambda one: one.payments.find(),
    "GetPayment": lambda one: one.payments.get("P1"),
    "GetClaimPayments": lambda one: one.payments.claim_payments("P1"),
    "GetPaymentX12": lambda one: one.payments.x12("P1"),
    "GetPaymentCsv": lambda one: one.payments.csv("P1"),
    "DepositPayment": lambda one: one.payments.deposit("P1", day=date(2026, 12, 3)),
    "UndoDeposit": lambda one: one.payments.undo_deposit("P1"),
    "SettlePayment": lambda one: one.payments.settle("P1", because="x"),
    "UndoSettlement": lambda one: one.payments.undo_settlement("P1"),
    "GetClaimsReport": lambda one: one.reports.claims("month,payer", from_="2026-01-01"),
    "GetDenialsReport": lambda one: one.reports.denials(),
    "GetAgingReport": lambda one: one.reports.aging("payer"),
    "GetPaymentsReport": lambda one: one.reports.payments(reason="CO-45"),
    "SearchPayers": lambda one: one.payer_directory.search("x"),
    "GetPayer": lambda one: one.payer_directory.get("TST01"),
    "GetEnrollments": lambda one: one.payer_directory.enrollments(state="pending"),
    "GetEnrollment": lambda one: one.payer_directory.enrollment("E1"),
    "GetPayerAliases": lambda one: one.payer_directory.aliases(),
    "SetPayerAlias": lambda one: one.payer_directory.set_alias("OURS", "TST01"),
    "RemovePayerAlias": lambda one: one.payer_directory.remove_alias("OURS"),
    "GetDocument": lambda one: one.payer_directory.document("D1"),
    "GetDocumentX12": lambda one: one.payer_directory.document_x12("D1"),
    "AnswerX12": lambda one: one.payer_directory.ask("ISA*"),
    "AskEligibility": lambda one: one.eligibility.ask({}),
    "GetEligibilityRequests": lambda one: one.eligibility.find(),
    "GetEligibilityRequest": lambda one: one.eligibility.get("1"),
    "GetSites": lambda one: one.sites.find(),
    "GetSite": lambda one: one.sites.get("S1"),
    "GetEvents": lambda one: one.events.page(),
    "GetCall": lambda one: one.audited_calls.get("r1"),
    "GetWebhookEndpoints": lambda one: one.webhook_endpoints.list(),
    "AddWebhookEndpoint": lambda one: one.webhook_endpoints.add("https://example.com"),
    "GetWebhookEndpoint": lambda one: one.webhook_endpoints.get("W1"),
    "ChangeWebhookEndpoint": lambda one: one.webhook_endpoints.change("W1", sites=["S1"]),
    "RemoveWebhookEndpoint": lambda one: one.webhook_endpoints.remove("W1"),
    "RotateWebhookSecret": lambda one: one.webhook_endpoints.rotate_secret("W1"),
    "EnableWebhookEndpoint": lambda one: one.webhook_endpoints.enable("W1"),
    "PingWebhookEndpoint": lambda one: one.webhook_endpoints.ping("W1"),
    "ReplayWebhookEndpoint": lambda one: one.webhook_endpoints.replay("W1", since_at="2026-11-14"),
    "GetWebhookDeliveries": lambda one: one.webhook_endpoints.deliveries("W1"),
    "ResendWebhook": lambda one: one.webhook_endpoints.resend("W1", "E1"),
}
"""Every call of the API as the library makes it."""


class AsyncOneAnswer(OneAnswer):
    async def send(self, request):
        return super().send(request)

    async def close(self):
        pass


async def test_every_call_of_the_api_is_in_the_library_and_can_be_repeated():
    assert EVERY_CALL.keys() == {endpoint.name for endpoint in V1.endpoints}
    answer = {"data": [], "next": None, "cursor": "E1", **ENDPOINT}
    for endpoint in V1.endpoints:
        make = EVERY_CALL[endpoint.name]
        requests = []
        for service in (OneAnswer(200, answer), AsyncOneAnswer(200, answer)):
            is_async = isinstance(service, AsyncOneAnswer)
            result = make((AsyncClient if is_async else Client)(ACCOUNT, transport=service))
            if isinstance(result, AsyncIterator):
                assert [one async for one in result] == []
            elif is_async:
                await result
            elif isinstance(result, Iterator):
                assert list(result) == []
            requests.append(service.request)
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(endpoint.path))
        for request in requests:
            assert (request.name, request.verb) == (endpoint.name, *endpoint.verbs)
            assert re.fullmatch(pattern, urlsplit(request.url).path)
            assert ("Idempotency-Key" in request.headers) is endpoint.takes_idempotency_key


def test_values_of_paths_and_queries_are_escaped():
    assert segment("a/b ?") == "a%2Fb%20%3F"
    with pytest.raises(ValueError, match="id"):
        segment("")
    assert query_of({"a": None, "b": True, "c": 5}) == {"b": "true", "c": "5"}


@pytest.fixture
def run(sandbox):
    """Run a command as a vendor with url and password."""
    account = sandbox.sandbox
    environment = {
        "CLEARLANE_CLIENT_URL": sandbox.base_url,
        "CLEARLANE_CLIENT_KEY": account["vendor_key"],
        "CLEARLANE_CLIENT_PASSWORD": account["vendor_password"],
        "CLEARLANE_CLIENT_SITE": account["vendor_site_id"],
        "CLEARLANE_CLIENT_CA_FILE": str(sandbox.ca_file),
    }

    def invoke(*arguments, code=0, given=None, **variables):
        done = CliRunner().invoke(app, arguments, env=environment | variables, input=given)
        assert done.exit_code == code, done.output
        return done.output

    return invoke


def test_a_claim_is_found_by_any_of_its_numbers_and_by_its_patient(run, client, sandbox):
    given = document()
    claim = given["Claims"][0]
    claim |= {"F26_PatientAcctNumber": "FIND-26", "F01A_InsuredId": "FND-4471"}
    claim |= {"F02_PatientNameLast": "Fendrake", "F03_PatientDob": "1986-11-22"}
    claim |= {"F04_InsuredNameLast": "Fendrake", "F11A_InsuredDob": "1986-11-22"}
    number = client.submit_document(given).ClaimResults[0].RequestId

    def find(*words, code=0):
        return run("claim", "find", *words, "--data", str(sandbox.data), code=code)

    own = (number.lower(), claim["Svc_VendorClaimId"], "FIND-26", "fnd 4471", "Fendrake", "fen")
    for text in (*own, "Fendrake 11/22/1986", "Fendrake, Nov 22 1986"):
        found = json.loads(find(*text.split(), "--json"))
        assert [one["claim_number"] for one in found] == [number], text
    for text in ("Fendrake 1986-11-23", "fe", "FIND-2"):
        assert find(*text.split()).startswith("No claims. Give a whole number"), text
    assert number in run("claim", "search", "fendrake", "--data", str(sandbox.data))
    assert "There is no site" in find("fendrake", "--site", "NONE", code=1)


def test_a_claim_is_named_by_either_of_its_ids(run, client):
    [number] = submit(client)
    own_id = client.claims.get(number).vendor_claim_id
    assert run("claim", "hold", own_id) == f"{number} is held.\n"
    assert run("claim", "release", own_id) == f"{number} is received.\n"
    assert number in run("claim", "show", own_id)
    run("claim", "correct", own_id, "F26_PatientAcctNumber=CLI-3")
    successor = client.claims.get(number).successor
    assert "is never sent" in run("claim", "cancel", own_id, code=2)
    assert run("claim", "cancel", own_id, "--yes") == f"{successor} is canceled.\n"  # the newest
    for unknown in ("NOBODYS-1", " "):
        assert "There is no claim with the claim number or vendor claim id" in run(
            "claim", "hold", unknown, code=2
        )


def test_a_claim_is_voided_and_a_rejected_one_sent_again(run, client, sandbox):
    numbers = []
    for insured in ("3001", "3004"):
        made = document()
        made["Claims"][0]["F01A_InsuredId"] = insured
        [result] = client.submit_document(made).ClaimResults
        numbers.append(result.RequestId)
    paid, rejected = numbers
    why = ("--because", "billed twice")
    assert "cancel it before it is sent" in run("claim", "void", paid, *why, "--yes", code=2)
    run("sandbox", "advance", "20d", "--data", str(sandbox.data))
    assert "Give the reason" in run("claim", "void", paid, "--because", " ", code=2)
    assert "Nothing was done. Give --yes" in run("claim", "void", paid, *why, code=2)
    dry = run("claim", "void", paid, *why, "--dry-run", COLUMNS="80")
    assert "Sent as: void. The payer's number was taken from" in " ".join(dry.split())
    assert client.claims.get(paid).successor is None
    assert f"takes over from {paid}" in run("claim", "void", paid, *why, "--yes")
    [waiting] = submit(client)
    assert "It leaves with the next file." in run("claim", "resubmit", waiting, code=2)
    sent = json.loads(run("claim", "resubmit", rejected, "--json"))
    assert (sent["predecessor"], sent["sent_as"]) == (rejected, "new")
    lines = [one for one in dry.splitlines() if not one.endswith("~")]
    assert [one for one in lines if len(one) > 80] == []


def test_a_claim_with_one_for_the_next_payer_is_the_one_that_has_the_id(run, client, sandbox):
    made = document()
    made["Claims"][0] |= {
        "F01A_InsuredId": "3002", "F33A_BillingProviderNpi": "1234567893", "F33_BillingProviderZip": "787011234",
    }  # fmt: skip
    [result] = client.submit_document(made).ClaimResults
    own_id = made["Claims"][0]["Svc_VendorClaimId"]
    run("sandbox", "advance", "20d", "--data", str(sandbox.data))
    known = "payer_id=HHP20 member_id=3001 relationship=18 last_name=Quill first_name=Tessa"
    sent = run("claim", "secondary", own_id, *known.split(), "--send")
    assert f"bills the payer after that of {result.RequestId}" in sent
    assert run("claim", "secondary", own_id).startswith(sent.split(maxsplit=1)[0])


def test_everything_but_x12_is_readable_in_eighty_columns(run, client):
    [number] = submit(client)
    bad = document()
    bad["Claims"][0] |= {"F03_PatientSex": "Q", "F28_TotalCharge": 1}
    printed = [
        run("claim", "correct", number, "F26_PatientAcctNumber=CLI-4", "--dry-run", COLUMNS="80"),
        run("claim", "correct", number, "F26_PatientAcctNumber=CLI-5", COLUMNS="80"),
        run("claim", "show", number, COLUMNS="80"),
        run("claim", "check", "-", "--service", given=json.dumps(bad), code=1, COLUMNS="80"),
    ]
    lines = [line for text in printed for line in text.splitlines() if not line.endswith("~")]
    assert [line for line in lines if len(line) > 80] == []


def test_the_commands_of_a_vendor(run, client, tmp_path):
    number, other, released = submit(client, 3)
    for each in (number, other, released):  # at once: a batch takes what is not held
        assert run("claim", "hold", each) == f"{each} is held.\n"
    assert json.loads(run("claim", "release", released, "--json"))["state"] == "received"
    shown = run("claim", "show", number)
    assert "Held: it is not sent until it is released" in shown
    assert json.loads(run("claim", "show", number, "--json"))["claim_number"] == number
    dry = run("claim", "correct", number, "F26_PatientAcctNumber=CLI-1", "--dry-run")
    assert "Sent as: new" in dry
    # Each sentence is said once.
    said = " ".join(dry.split())
    assert said.count(f"takes over from {number}") <= 1
    for sentence in re.findall(r"[A-Z][^.:]{30,}\.", said):
        assert said.count(sentence) == 1, sentence
    assert "CLI-1" in dry
    file = tmp_path / "changes.json"
    file.write_text('{"F26_PatientAcctNumber": "CLI-2"}')
    done = json.loads(run("claim", "correct", number, "--file", str(file), "--json"))
    assert done["predecessor"] == number
    assert f"takes over from {number}" in run("claim", "show", done["claim_number"])
    for verb, *more in (("hold",), ("cancel", "--yes")):
        assert done["claim_number"] in run("claim", verb, number, *more, code=2)
    assert run("claim", "cancel", other, "--yes") == f"{other} is canceled.\n"
    for wrong in (["x"], ["=1"], []):
        run("claim", "correct", other, *wrong, code=2)
    good = json.dumps(document())
    assert "would be accepted" in run("claim", "check", "-", "--service", given=good)
    bad = document()
    bad["Claims"][0]["Svc_PayerId"] = "NOPAYER"
    printed = run("claim", "check", "-", "--service", given=json.dumps(bad), code=1)
    assert "Svc_PayerId" in printed
    assert "TST01" in run("payer", "search", "sandbx", "medcal")
    assert json.loads(run("payer", "search", "TST01", "--json"))[0]["payer_id"] == "TST01"
    run("payer", "search", "zzzzzzzzzz", code=1)
