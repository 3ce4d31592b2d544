"""Record the calls that the OpenAPI document shows as examples: ``python -m docs.record_examples``.

Starts a sandbox in a folder of its own, makes every call of the table below with the sample documents, and
writes requests and answers to ``examples.json`` of the API version. A test makes the same calls and compares
the form of what comes back with the file.
"""

import json
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "src" / "clearlane" / "api" / "v3" / "examples.json"
SHOWN_AS = "https://127.0.0.1:8443"
ITEMS_SHOWN_MAX = 2
INSTANCE = "5d4f8a52-7f0e-4c44-9b5e-6a1f0f6f8f11"
TOKEN_SHOWN = "PYtaq0pZzXnYvSPoD3nBqF7s0ZHn3eJ2"  # noqa: S105  (a text that opens nothing)
CALL_SECONDS_MAX = 120


class Sandbox:
    """A running sandbox and the credentials to call it."""

    def __init__(self, data: Path) -> None:
        self.facts = json.loads((data / "sandbox.json").read_text(encoding="utf-8"))
        self._client = httpx.Client(
            base_url=self.facts["base_url"],
            verify=ssl.create_default_context(cafile=str(data / "tls" / "ca.pem")),
            auth=(self.facts["vendor_key"], self.facts["vendor_password"]),
            timeout=CALL_SECONDS_MAX,
            trust_env=False,
        )

    def post(self, path: str, body: Any = None, **query: str | int) -> httpx.Response:
        """Make one call."""
        parameters = {"vendorSiteId": self.facts["vendor_site_id"], **query}
        return self._client.post(path, params=parameters, json=body)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def today(self) -> date:
        """Return the sandbox's day."""
        return date.fromisoformat(self.post("/sandbox/clock", {}).json()["Now"][:10])


@dataclass
class Recording:
    """What was recorded, by endpoint name."""

    sandbox: Sandbox
    endpoints: dict[str, Any] = field(default_factory=dict)

    def call(self, name: str, path: str, example: str, body: Any = None, **query: str | int) -> Any:
        """Make a call, keep request and answer under a name, and return the answer."""
        answer = self.sandbox.post(f"/api/v3/{path}", body, **query)
        kept = self.endpoints.setdefault(name, {"parameters": {}, "request": {}, "responses": {}})
        is_text = answer.headers["content-type"].startswith("text/")
        content = answer.text if is_text else answer.json()
        kept["responses"].setdefault(str(answer.status_code), {})[example] = self._shown(content)
        if answer.status_code == httpx.codes.OK:
            kept["parameters"] |= {"vendorSiteId": self.sandbox.facts["vendor_site_id"], **query}
            if body is not None:
                kept["request"][example] = body
        return content

    def _shown(self, content: Any) -> Any:
        """Shorten long lists, and name the usual address."""
        if isinstance(content, list):
            content = content[:ITEMS_SHOWN_MAX]
        text = json.dumps(content).replace(self.sandbox.facts["base_url"], SHOWN_AS)
        return json.loads(text)


def record(sandbox: Sandbox) -> dict[str, Any]:
    """Make every call of the table."""
    recording = Recording(sandbox)
    for step in STEPS:
        step(recording)
    kept = recording.endpoints
    for name in (
        "CreateVendorInstanceToken",
        "GetUrl",
    ):  # no secret, not even of a sandbox that is gone
        for answer in kept[name]["responses"]["200"].values():
            if answer.get("token"):
                answer["token"] = TOKEN_SHOWN
            if answer.get("url"):
                answer["url"] = f"{SHOWN_AS}/console/login/{TOKEN_SHOWN}"
    kept["GetUrl"]["parameters"]["token"] = TOKEN_SHOWN
    return kept


def _payers(recording: Recording) -> None:
    for name, path in (
        ("GetPayers", "get_list"),
        ("GetTestPayers", "get_list_of_test"),
        ("GetEligibilityPayers", "get_list_of_eligibility"),
    ):
        recording.call(name, f"payers/{path}", "payers", type="medical")


def _claims(recording: Recording) -> None:
    from clearlane.claims import samples
    from clearlane.claims.fields import ClaimKind

    today = recording.sandbox.today()
    for kind, name, path in (
        (ClaimKind.MEDICAL, "SubmitClaims", "claims/submit"),
        (ClaimKind.DENTAL, "SubmitDentalClaims", "claims/submitDental"),
    ):
        for example, full in (("required-fields", False), ("every-field", True)):
            id = f"{kind.upper()}-{'FULL' if full else 'FIRST'}-1"
            document = samples.document(kind, day=today, full=full, claim_id=id)
            recording.call(name, path, example, document)
        wrong = samples.document(kind, day=today, claim_id=f"{kind.upper()}-WRONG-1")
        wrong["Claims"][0] |= dict.fromkeys(WRONG_FIELDS[kind], "Q")
        recording.call(name, path, "not-accepted", wrong)
        recording.call(name, path, "unreadable", {**wrong, "Claims": []})


WRONG_FIELDS = {
    "medical": ("F03_PatientSex", "F06_PatientRelationshipToInsured"),
    "dental": ("F22_PatientSex", "F18_PatientRelationship"),
}


def _statuses(recording: Recording) -> None:
    today = recording.sandbox.today().isoformat()
    recording.sandbox.post("/sandbox/advance", {"By": "30d"})
    answer = recording.call(
        "GetClaimStatusByDate",
        "claims/status/get_by_date",
        "statuses",
        startDate=today,
        endDate=today,
    )
    recording.call(
        "GetClaimStatusByDate",
        "claims/status/get_by_date",
        "no-date",
        startDate="yesterday",
        endDate=today,
    )
    ids = [row["RelatedDocumentId"] for row in answer if row["RelatedDocumentId"]]
    path = "claims/responses/get_by_doc_id"
    recording.call("GetPayerResponseDocuments", path, "documents", ids[:1])
    recording.call("GetPayerResponseDocuments", path, "unreadable", {"Id": ids[0]})


def _eligibility(recording: Recording) -> None:
    text = (ROOT / "examples" / "inquiry.json").read_text(encoding="utf-8")
    name, path = "SubmitEligibilityRequests", "eligibility/submit"
    answer = recording.call(name, path, "subscriber", json.loads(text))
    unknown = json.loads(text)
    unknown["BenefitInquiries"][0]["Payers"][0]["PayerId"] = "NOSUCH"
    recording.call(name, path, "unknown-payer", unknown)
    recording.call(name, path, "unreadable", {"BenefitInquiries": 1})
    name, path = "GetEligibilityResponses", "eligibility/get_responses"
    recording.call(name, path, "unknown-request", requestId=1)
    recording.call(name, path, "no-number", requestId="first")
    recording.call(name, path, "responses", requestId=answer["RequestId"])


PROVIDER = {
    "RequestId": "FERNHILL",
    "Npi": "1234567893",
    "NpiType": "Organization",
    "Tin": "123456789",
    "PracticeName": "Fernhill Family Practice",
    "Address1": "12 Fernhill Road",
    "City": "Austin",
    "State": "TX",
    "Zip": "78701",
    "PrimaryContactLastName": "Birch",
    "PrimaryContactFirstName": "Nora",
    "PrimaryContactEmail": "nora.birch@example.com",
    "PrimaryContactPhoneNumber": "5125550142",
}


def _enrollment(recording: Recording) -> None:
    name, path = "SubmitEnrollments", "enrollment/submit"
    recording.call(name, path, "organization", {"Version": 1, "Enrollments": [PROVIDER]})
    recording.call(name, path, "submitted-before", {"Version": 1, "Enrollments": [PROVIDER]})
    wrong = {**PROVIDER, "Npi": "12", "Zip": "787"}
    recording.call(name, path, "not-submitted", {"Version": 1, "Enrollments": [wrong]})


def _proxy_login(recording: Recording) -> None:
    made = recording.call(
        "CreateVendorInstanceToken",
        "proxylogin/create_instance_token",
        "token",
        instanceId=INSTANCE,
        instanceName="Front desk",
    )
    path = "proxylogin/get_url"
    recording.call("GetUrl", path, "url", instanceId=INSTANCE, token=made["token"])
    path = "proxylogin/delete_instance_token"
    recording.call("DeleteVendorInstanceToken", path, "deleted", instanceId=INSTANCE)


STEPS: tuple[Callable[[Recording], None], ...] = (
    _payers,
    _claims,
    _statuses,
    _eligibility,
    _enrollment,
    _proxy_login,
)


def form_of(value: Any) -> Any:
    """Return what a value is made of: names and types, without what it holds."""
    if isinstance(value, dict):
        return {name: form_of(each) for name, each in value.items()}
    if isinstance(value, list):
        return [form_of(each) for each in value]
    return type(value).__name__


@contextmanager
def running_sandbox(data: Path) -> Iterator[Sandbox]:
    """Start a sandbox, give it, and stop it."""
    command = [sys.executable, "-m", "clearlane", "serve", "--data", str(data), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            for line in process.stdout or ():
                if line.startswith("clearlane ready "):
                    break
            with closing(Sandbox(data)) as sandbox:
                yield sandbox
        finally:
            process.terminate()
            process.wait()


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        running_sandbox(Path(folder) / "data") as sandbox,
    ):
        kept = record(sandbox)
    TARGET.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}: {len(kept)} endpoints")


if __name__ == "__main__":
    main()
