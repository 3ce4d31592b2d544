"""The whole way of a claim in a sandbox: from its acceptance over https to the 835 that is posted.

One process does everything: it accepts, writes and delivers 837 files, is the payer that reads, decides and
answers them (999, 277CA, 835), and posts the answers. Every claim is decided by the plan and has a member of its own.
"""

import json
import ssl
import time
from collections.abc import Iterator

import httpx

from bench.harness import Measure, bench
from bench.submit import MARK, a_claim, postgresql, serving

CLAIMS = 2_000
PER_DOCUMENT = 50
LONGEST_SECONDS = 500
MEMBERS_FROM = 10_000_000
"""Insured ids of eight digits steer nothing."""
DAYS = 14
"""Days after which a payer has paid."""


def documents() -> list[bytes]:
    """All claims, 50 a document."""
    claim = a_claim()
    found = []
    for start in range(0, CLAIMS, PER_DOCUMENT):
        claims = [
            {**claim, "Svc_VendorClaimId": f"L{at}", "F01A_InsuredId": str(MEMBERS_FROM + at)}
            for at in range(start, start + PER_DOCUMENT)
        ]
        found.append(json.dumps({"DocumentType": "MedicalClaim", "Claims": claims}, default=str))
    assert MARK.decode() not in found[0]
    return [text.encode() for text in found]


def looped(facts: dict) -> tuple[float, float]:
    """Seconds until every claim is accepted, and until every one of them is paid."""
    context = ssl.create_default_context(cafile=facts["ca_file"])
    with httpx.Client(
        base_url=facts["base_url"],
        verify=context,
        auth=(facts["vendor_key"], facts["vendor_password"]),
        params={"vendorSiteId": facts["vendor_site_id"]},
        headers={"Content-Type": "application/json"},
        timeout=LONGEST_SECONDS,
    ) as client:

        def post(path: str, content: object, **query: str) -> httpx.Response:
            text = content if isinstance(content, bytes) else json.dumps(content).encode()
            answer = client.post(path, content=text, params=query)
            assert answer.status_code == 200, answer.text[:300]
            return answer

        post("/sandbox/clock", {"Frozen": True})
        sent = documents()
        began = time.perf_counter()
        for document in sent:
            assert b"NotAccepted" not in post("/api/v3/claims/submit", document).content
        accepted = time.perf_counter() - began
        ahead = post("/sandbox/advance", {"By": f"{DAYS}d"}).json()
        taken = time.perf_counter() - began
        day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86_400))
        rows = post(
            "/api/v3/claims/status/get_by_date", b"", startDate=day, endDate=ahead["Now"][:10]
        ).json()
        states = [row["CurrentState"] for row in rows]
        assert states == ["Complete"] * CLAIMS, {state: states.count(state) for state in states}
    return accepted, taken


@bench("loop.claims")
def loop_claims() -> Iterator[Measure]:
    """Claims a second from acceptance to posted 835 against acceptance alone, in the same run."""
    with serving(answering=True) as facts:
        accepted, taken = looped(facts)
        yield Measure(
            "loop.claims", CLAIMS / taken, "claims/s", accepted / taken, "acceptance-alone"
        )
    with postgresql() as url, serving(url, answering=True) as facts:
        accepted, taken = looped(facts)
        yield Measure(
            "loop.claims.postgresql",
            CLAIMS / taken,
            "claims/s",
            accepted / taken,
            "acceptance-alone",
        )
