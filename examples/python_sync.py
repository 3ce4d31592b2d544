"""Vendor API V3 from Python: payers, a claim, a refusal, the claim's states, benefits.

python examples/python_sync.py [DATA [SECONDS]]   (DATA: data directory of a running sandbox)
"""
# ruff: noqa: T201, INP001  (a script that prints, beside others)

import json
import sys
import time
from pathlib import Path
from typing import Any

from clearlane.client import Client

HERE = Path(__file__).parent
FINAL = {"Complete", "Rejected"}


def claim(id: str, day: str) -> dict[str, Any]:
    """Return the sample claim with an id of its own."""
    text = (HERE / "claim.json").read_text(encoding="utf-8")
    document = json.loads(text.replace("@CLAIM_ID@", id).replace("@DAY@", day))
    return dict(document["Claims"][0])


def follow(client: Client, id: str, day: str, seconds: float) -> str:
    """Print each state of a claim until nothing more is to come; return the last."""
    state, end = "", time.monotonic() + seconds
    while state not in FINAL and time.monotonic() < end:
        for row in client.iter_status(day, client.today()):
            if row.VendorClaimId == id and row.CurrentState != state:
                state = row.CurrentState
                print(f"state: {state} {row.PayerAction} {row.PayerAmount}".rstrip())
        time.sleep(0.5)
    return state


def main(data: str | None = None, seconds: str = "60") -> None:
    """Walk through the calls; exit with 1 if the claim is not paid or the benefits do not come."""
    id = f"SYNC-{time.time_ns()}"
    with Client.from_sandbox(data) as client:
        print("payers:", *(payer.PayerId for payer in client.test_payers("medical")))

        # The service's day: a sandbox may be ahead of this machine.
        day = client.today().isoformat()
        one = claim(id, day)
        (result,) = client.submit_medical_claims(one).ClaimResults
        print("submitted:", result.Status, result.RequestId)
        (again,) = client.submit_medical_claims(one).ClaimResults
        print("again:", again.Status, again.RequestId)

        wrong = {**one, "Svc_VendorClaimId": f"{id}-WRONG", "F28_TotalCharge": "1.00"}
        (refused,) = client.submit_medical_claims([wrong]).ClaimResults
        print("refused:", refused.Status, *(e.SupplementalInformation for e in refused.Errors))

        state = follow(client, id, day, float(seconds))

        inquiry = json.loads((HERE / "inquiry.json").read_text(encoding="utf-8"))
        answer = client.wait_for_eligibility(inquiry, seconds=60)  # raises StillWaiting
        benefits = [each for patient in answer.patients() for each in patient.get("Benefits") or ()]
        print("benefits:", answer.Status, *sorted({each["Type"] for each in benefits}))
    if state != "Complete":
        sys.exit(f"{id} is not Complete but {state or 'unknown'}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
