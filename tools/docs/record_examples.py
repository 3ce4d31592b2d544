"""Record the calls that the OpenAPI document shows as examples: ``python -m tools.docs.record_examples``.

Starts a sandbox in a folder of its own, makes the calls of each API version with the sample documents, and
writes requests and answers to the version's ``examples.json``. A test makes the same calls and compares the form
of what comes back with the files. Here are the calls of V3; those of V1 are in ``record_v1``, and what both use is in ``recording``.
"""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.docs.record_v1 import record_v1
from tools.docs.recording import (
    INSTANCE,
    SHOWN_AS,
    TOKEN_SHOWN,
    Recording,
    Sandbox,
    running_sandbox,
)

ROOT = Path(__file__).resolve().parents[2]
API = ROOT / "src" / "clearlane" / "api"


def record(sandbox: Sandbox) -> dict[str, dict[str, Any]]:
    """Make every call of every version; return what was recorded by version and endpoint."""
    recording = Recording(sandbox)
    for step in STEPS:
        step(recording)
    _hide_secrets(recording.endpoints)
    return {"v3": recording.endpoints, "v1": record_v1(sandbox)}


def _hide_secrets(kept: dict[str, Any]) -> None:
    """Show no token, not even of a sandbox that is gone."""
    for name in ("CreateVendorInstanceToken", "GetUrl"):
        for answer in kept[name]["responses"]["200"].values():
            if answer.get("token"):
                answer["token"] = TOKEN_SHOWN
            if answer.get("url"):
                answer["url"] = f"{SHOWN_AS}/console/login/{TOKEN_SHOWN}"
    kept["GetUrl"]["parameters"]["token"] = TOKEN_SHOWN


def _payers(recording: Recording) -> None:
    for name, path in (
        ("GetPayers", "get_list"),
        ("GetTestPayers", "get_list_of_test"),
        ("GetEligibilityPayers", "get_list_of_eligibility"),
    ):
        recording.call(name, f"payers/{path}", "payers", type="medical")


def _claims(recording: Recording) -> None:
    from clearlane.claims.forms import V3_DENTAL, V3_MEDICAL, samples

    today = recording.sandbox.today()
    for kind, name, path in (
        (V3_MEDICAL, "SubmitClaims", "claims/submit"),
        (V3_DENTAL, "SubmitDentalClaims", "claims/submitDental"),
    ):
        for example, full in (("required-fields", False), ("every-field", True)):
            id = f"{kind.kind.upper()}-{'FULL' if full else 'FIRST'}-1"
            document = samples.document(kind, day=today, full=full, claim_id=id)
            recording.call(name, path, example, document)
        wrong = samples.document(kind, day=today, claim_id=f"{kind.kind.upper()}-WRONG-1")
        wrong["Claims"][0] |= dict.fromkeys(WRONG_FIELDS[kind.kind], "Q")
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
        instanceName="Reception",
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


def same_form(one: Any, other: Any) -> bool:
    """Compare what two values are made of, names and types; how many elements a list has may differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            same_form(value, other[name]) for name, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return not one or not other or same_form(one[0], other[0])
    return one is None or other is None or type(one) is type(other)


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        running_sandbox(Path(folder) / "data") as sandbox,
    ):
        kept = record(sandbox)
    for version, endpoints in kept.items():
        target = API / version / "examples.json"
        text = json.dumps(endpoints, indent=1, ensure_ascii=False)
        target.write_text(text + "\n", encoding="utf-8")
        print(f"wrote {target.relative_to(ROOT)}: {len(endpoints)} endpoints")


if __name__ == "__main__":
    main()
