"""The calls of API v1 that the OpenAPI document shows as examples, made after those of V3 in the same sandbox."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tools.docs.recording import INSTANCE, SHOWN_AS, TOKEN_SHOWN, Recording, Sandbox

RECEIVER_SHOWN = "https://practice.example/webhooks"
SECRET_SHOWN = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105  (a text that opens nothing)
DELIVERY_SECONDS_MAX = 60
REJECTED_INSURED = "3004"
"""The insured's id whose claim a test payer rejects (reference/sandbox.md)."""


def record_v1(sandbox: Sandbox) -> dict[str, Any]:
    """Make every call of API v1; return what was recorded by endpoint."""
    recording = Recording(sandbox, prefix="/clearlane/v1/", site_parameter="site")
    _unsent(recording)
    _corrected(recording)
    claim = _claims(recording)
    _payments(recording)
    _reports(recording)
    _payers(recording)
    _documents(recording, claim)
    _eligibility(recording)
    _sites(recording)
    _files(recording, number=claim["claim_number"])
    _console(recording, claim)
    _resent(recording)
    _events(recording)
    with receiver() as url:
        _webhooks(recording, url)
    return recording.endpoints


def _submit(recording: Recording, id: str, insured: str = "") -> str:
    """Send a sample claim by V3; return its number."""
    from clearlane.claims.forms import V3_MEDICAL, samples

    day = recording.sandbox.today()
    document = samples.document(V3_MEDICAL, day=day, insured_id=insured, claim_id=id)
    answer = recording.sandbox.post("/api/v3/claims/submit", document).json()
    return str(answer["ClaimResults"][0]["RequestId"])


def _unsent(recording: Recording) -> None:
    """Hold, release and cancel a claim before a batch takes it."""
    number = {"claim_number": _submit(recording, "HELD-1")}
    for name, verb in (
        ("HoldClaim", "hold"),
        ("ReleaseClaim", "release"),
        ("CancelClaim", "cancel"),
    ):
        recording.call(name, f"claims/{{claim_number}}/{verb}", "done", at=number)


def _corrected(recording: Recording) -> None:
    number = {"claim_number": _submit(recording, "REJECTED-1", REJECTED_INSURED)}
    recording.sandbox.post("/sandbox/advance", {"By": "3d"})
    recording.call("InquireClaim", "claims/{claim_number}/inquire", "rejected", at=number)
    path = "claims/{claim_number}/inquiries"
    recording.call("GetClaimInquiries", path, "asked", verb="GET", at=number)
    path, change = "claims/{claim_number}/correct", {"fields": {"F01A_InsuredId": "II4711"}}
    recording.call("CorrectClaim", path, "tried-out", change, at=number, dry_run="true")
    recording.call("CorrectClaim", path, "sent", change, at=number, dry_run="false")


def _claims(recording: Recording) -> dict[str, Any]:
    from clearlane.claims.forms import V3_MEDICAL, samples

    found = recording.call(
        "GetClaims", "claims", "complete", verb="GET", state="complete", limit=2
    )["data"]
    recording.call(
        "GetClaims",
        "claims",
        "with-patients",
        verb="GET",
        state="complete",
        include="patient,lines",
        limit=1,
    )
    number = {"claim_number": found[0]["claim_number"]}
    recording.call("GetClaim", "claims/{claim_number}", "claim", verb="GET", at=number)
    path = "claims/{claim_number}/content"
    recording.call("GetClaimContent", path, "by-fields", verb="GET", at=number)
    recording.call("GetClaimX12", "claims/{claim_number}/x12", "sent", verb="GET", at=number)
    recording.call("GetCheckpoints", "checkpoints", "checkpoints", verb="GET", limit=2)
    day = recording.sandbox.today()
    document = samples.document(V3_MEDICAL, day=day, claim_id="TRY-1")
    recording.call("ValidateClaims", "claims/validate", "accepted", document)
    return dict(found[0])


def _resent(recording: Recording) -> None:
    """Send a rejected claim again, and cancel a paid one at its payer."""
    number = {"claim_number": _submit(recording, "REJECTED-2", REJECTED_INSURED)}
    paid = {"claim_number": _submit(recording, "VOID-1")}
    recording.sandbox.post("/sandbox/advance", {"By": "14d"})
    path, why = "claims/{claim_number}/resubmit", {"reason": "The provider is enrolled now."}
    recording.call("ResubmitClaim", path, "sent", why, at=number, dry_run="false")
    path, why = "claims/{claim_number}/void", {"reason": "The visit was billed twice."}
    recording.call("VoidClaim", path, "tried-out", why, at=paid, dry_run="true")
    recording.call("VoidClaim", path, "sent", why, at=paid, dry_run="false")


def _payments(recording: Recording) -> None:
    found = recording.call("GetPayments", "payments", "payments", verb="GET", limit=2)["data"]
    id = {"payment_id": str(found[0]["payment_id"])}
    for name, end, query in (
        ("GetPayment", "", {}),
        ("GetClaimPayments", "/claim_payments", {"limit": 2}),
        ("GetPaymentX12", "/x12", {}),
        ("GetPaymentCsv", "/csv", {}),
    ):
        recording.call(name, f"payments/{{payment_id}}{end}", "payment", verb="GET", at=id, **query)
    day = recording.sandbox.today().isoformat()
    for name, act, body in (
        ("DepositPayment", "deposit", {"day": day, "reference": "slip 7"}),
        ("SettlePayment", "settle", {"because": "The payer corrects it with the next check."}),
    ):
        recording.call(name, f"payments/{{payment_id}}/{act}", "payment", body, at=id)
    for name, act in (("UndoDeposit", "deposit"), ("UndoSettlement", "settle")):
        recording.call(name, f"payments/{{payment_id}}/{act}", "payment", verb="DELETE", at=id)


def _payers(recording: Recording) -> None:
    recording.call(
        "SearchPayers", "payers", "found", verb="GET", search="sandbox", type="medical", limit=2
    )
    recording.call("GetPayer", "payers/{payer_id}", "payer", verb="GET", at={"payer_id": "TST01"})
    recording.call("GetEnrollments", "enrollments", "enrollments", verb="GET", limit=2)
    alias = {"alias": "SBXMED", "payer_id": "TST01"}
    recording.call("SetPayerAlias", "payer_aliases", "alias", alias)
    recording.call("GetPayerAliases", "payer_aliases", "aliases", verb="GET", limit=2)
    recording.call(
        "RemovePayerAlias", "payer_aliases/{alias}", "gone", verb="DELETE", at={"alias": "SBXMED"}
    )


def _documents(recording: Recording, claim: dict[str, Any]) -> None:
    id = {"document_id": claim["document_id"]}
    recording.call("GetDocument", "documents/{document_id}", "document", verb="GET", at=id)
    recording.call("GetDocumentX12", "documents/{document_id}/x12", "document", verb="GET", at=id)


def _reports(recording: Recording) -> None:
    for name, report, by in (
        ("GetClaimsReport", "claims", "month,label"),
        ("GetDenialsReport", "denials", "payer,reason"),
        ("GetAgingReport", "aging", "payer"),
        ("GetPaymentsReport", "payments", "month,reason"),
    ):
        recording.call(name, f"reports/{report}", "summed", verb="GET", by=by)


def _eligibility(recording: Recording) -> None:
    question = {
        "payer_id": "TST01",
        "provider": {"npi": "1234567893", "name": "Fernhill Family Practice"},
        "subscriber": {
            "member_id": "II4711",
            "last_name": "Arden",
            "first_name": "Rosa",
            "birth_date": "1986-11-28",
        },
        "service_types": ["98"],
    }
    asked = recording.call("AskEligibility", "eligibility", "answered", question)
    recording.call("GetEligibilityRequests", "eligibility", "asked", verb="GET", limit=2)
    id = {"eligibility_request_id": asked["id"]}
    path = "eligibility/{eligibility_request_id}"
    recording.call("GetEligibilityRequest", path, "answered", verb="GET", at=id)


def _sites(recording: Recording) -> None:
    recording.call("GetSites", "sites", "sites", verb="GET", limit=2)
    id = {"site_id": recording.sandbox.site}
    recording.call("GetSite", "sites/{site_id}", "site", verb="GET", at=id)


def _files(recording: Recording, number: str) -> None:
    """Send the 837 of a claim as a practice system would, and fetch what comes back."""
    x12 = recording.sandbox.request("GET", f"/clearlane/v1/claims/{number}/x12").content
    sent = recording.call("SendFile", "files", "stored", x12, name="claims.837", channel="https")
    id = {"file_id": str(sent["id"])}
    end = time.monotonic() + DELIVERY_SECONDS_MAX
    while time.monotonic() < end:
        file = recording.sandbox.request("GET", f"/clearlane/v1/files/{sent['id']}").json()
        if file["state"] != "received":
            break
        time.sleep(0.2)
    recording.call("GetFile", "files/{file_id}", "processed", verb="GET", at=id)
    recording.call("GetFiles", "files", "files", verb="GET", limit=2)
    recording.call("GetShadowReport", "shadow_report", "compared", verb="GET", limit=2)
    answer = {"file_id": str(file["responses"][0]["id"])}
    recording.call(
        "GetFileContent", "files/{file_id}/content", "acknowledgement", verb="GET", at=answer
    )


def _console(recording: Recording, claim: dict[str, Any]) -> None:
    answer = recording.sandbox.request(
        "GET", f"/clearlane/v1/claims/{claim['claim_number']}", site=recording.sandbox.site
    )
    id = {"request_id": answer.headers["x-request-id"]}
    recording.call("GetCall", "calls/{request_id}", "call", verb="GET", at=id)
    body = {"user": "nora", "claim_number": claim["claim_number"]}
    recording.call("CreateConsoleLink", "console_links", "no-such-user", body)
    kept = recording.endpoints["CreateConsoleLink"]
    # A sandbox has no console users of a vendor; what is answered then is written here.
    kept["request"]["claim"] = body
    link = {"url": f"{SHOWN_AS}/console/open/{TOKEN_SHOWN}", "expires_at": "2026-01-15T09:31:00Z"}
    kept["responses"]["201"] = {"claim": link}
    kept["parameters"] |= {"site": recording.sandbox.site, "Idempotency-Key": INSTANCE}


def _events(recording: Recording) -> None:
    page = recording.call("GetEvents", "events", "events", verb="GET", types="claim.*", limit=2)
    recording.endpoints["GetEvents"]["parameters"]["after"] = page["data"][0]["id"]


def _webhooks(recording: Recording, url: str) -> None:
    recording.shown_as[url] = RECEIVER_SHOWN
    path = "webhook_endpoints"
    added = recording.call(
        "AddWebhookEndpoint", path, "claims", {"url": url, "types": ["claim.*"], "sites": []}
    )
    id = {"endpoint_id": added["id"]}
    one = f"{path}/{{endpoint_id}}"
    rotated = recording.call("RotateWebhookSecret", f"{one}/rotate_secret", "rotated", at=id)
    for name, answer in (("AddWebhookEndpoint", added), ("RotateWebhookSecret", rotated)):
        for status in recording.endpoints[name]["responses"].values():
            for shown in status.values():
                shown["secret"] = SECRET_SHOWN
        recording.shown_as[answer["secret"]] = SECRET_SHOWN
    recording.call("GetWebhookEndpoints", path, "all", verb="GET", limit=2)
    recording.call("GetWebhookEndpoint", one, "one", verb="GET", at=id)
    change = {"types": ["claim.*", "payment.*"]}
    recording.call("ChangeWebhookEndpoint", one, "types", change, verb="PATCH", at=id)
    recording.call("PingWebhookEndpoint", f"{one}/ping", "sent", at=id)
    _wait_for_delivery(recording, added["id"])
    deliveries = f"{one}/deliveries"
    page = recording.call(
        "GetWebhookDeliveries", deliveries, "delivered", verb="GET", at=id, limit=1
    )
    event = {**id, "event_id": page["data"][0]["event_id"]}
    recording.call("ResendWebhook", f"{deliveries}/{{event_id}}/resend", "sent", at=event)
    since = {"since_at": "2026-01-15T00:00:00Z"}
    recording.call("ReplayWebhookEndpoint", f"{one}/replay", "since-a-moment", since, at=id)
    recording.call("EnableWebhookEndpoint", f"{one}/enable", "enabled", {"replay": True}, at=id)
    recording.call("RemoveWebhookEndpoint", one, "removed", verb="DELETE", at=id)


def _wait_for_delivery(recording: Recording, id: str) -> None:
    """Wait until the receiver has got something."""
    end = time.monotonic() + DELIVERY_SECONDS_MAX
    while time.monotonic() < end:
        address = f"/clearlane/v1/webhook_endpoints/{id}/deliveries"
        page = recording.sandbox.request("GET", address).json()
        if any(each["state"] == "delivered" for each in page["data"]):
            return
        time.sleep(0.2)
    raise TimeoutError("no webhook was delivered")


class _Receiver(BaseHTTPRequestHandler):
    """Answers every webhook with 200."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *values: object) -> None:
        """Say nothing."""


@contextmanager
def receiver() -> Iterator[str]:
    """Receive webhooks on this machine; give the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Receiver)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/webhooks"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
