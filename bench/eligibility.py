"""Eligibility over https: one caller against the bare payer, two thousand calls that wait, ten thousand patients.

The payer is the sandbox's, which answers at once or, for ``1008``, after the call.
"""

import asyncio
import json
import sqlite3
import ssl
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from urllib.parse import urlencode, urlsplit

import httpx

from bench.api import serving
from bench.harness import Measure, bench
from clearlane.connect.loopback import LoopbackRealtime
from clearlane.eligibility import rules, write_270
from clearlane.kernel.clock import SystemClock
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.samples import TEST_PAYERS
from clearlane.sandbox.clock import SandboxClock
from clearlane.sandbox.eligibility import EligibilityPayer
from clearlane.sandbox.model import Profile
from tests.eligibility.invented import check_request, decode_request

SUBMIT, PAYERS = "/api/v3/eligibility/submit", "/api/v3/payers/get_list_of_eligibility"
ASKED = 1_000
WAITING = 2_000
PATIENTS = 10_000
LISTED = 400
CONNECTING_AT_ONCE = 50


def request(*members: str) -> dict:
    """A request about some subscribers of one provider."""
    subscribers = [
        {
            "CommonName": "Arden", "FirstName": "Rosa", "BirthDate": "1980/02/29",
            "Gender": "Female", "MemberId": member,
            "PayeeTraceNumber": {"Number": f"visit {at}", "OriginatorID": "9FERNHILL1"},
            "RequestedBenefits": [{"IsFamilyBenefit": False, "Type": ["HealthBenefitPlanCoverage"]}],
        }
        for at, member in enumerate(members, start=1)
    ]  # fmt: skip
    payee = {
        "Type": "Facility", "EntityType": "Individual", "CommonName": "Fenn", "FirstName": "Oskar",
        "NationalProviderId": "1234567893", "Subscribers": subscribers,
    }  # fmt: skip
    payer = {"Type": "Payer", "PayerId": "TST01", "CommonName": "Sandbox", "Payees": [payee]}
    return {"IsTest": True, "BenefitInquiries": [{"RequestType": "Request", "Payers": [payer]}]}


def client_of(facts: dict) -> httpx.Client:
    """A client of V3 as the sandbox's vendor."""
    return httpx.Client(
        base_url=facts["base_url"],
        verify=ssl.create_default_context(cafile=facts["ca_file"]),
        auth=(facts["vendor_key"], facts["vendor_password"]),
        params={"vendorSiteId": facts["vendor_site_id"]},
        timeout=300,
    )


def v1_client_of(facts: dict) -> httpx.Client:
    """A client of v1 as the same vendor: it takes no parameter that it does not know."""
    client = client_of(facts)
    client.params = httpx.QueryParams()
    return client


@contextmanager
def sandbox() -> Iterator[tuple[dict, httpx.Client]]:
    """A running sandbox, and a client of it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder) / "data") as facts,
        client_of(facts) as client,
    ):
        yield facts | {"data": f"{folder}/data"}, client


def times_of(work, count: int) -> list[float]:
    taken = []
    for _ in range(count):
        began = perf_counter()
        work()
        taken.append(perf_counter() - began)
    return sorted(taken)


def at(taken: list[float], share: float) -> float:
    return taken[min(int(len(taken) * share), len(taken) - 1)]


def bare() -> list[float]:
    """The same question, written, asked of the payer in this process, and its bytes taken."""
    read = decode_request(json.dumps(request("2001")).encode())
    find = PayerDirectory(TEST_PAYERS, sandbox=True).find
    facts = rules.InquiryFacts(find=find, sandbox=True, today=datetime.now(UTC).date())
    assert read.request is not None
    [inquiry] = check_request(read.request, facts).inquiries
    clock = SandboxClock(SystemClock())
    payer = LoopbackRealtime(EligibilityPayer(Profile("TST01", "Sandbox Medical"), clock), clock)
    loop = asyncio.new_event_loop()

    def ask() -> None:
        envelope = write_270.Envelope(
            sender="CLEARLANE", receiver="TST01", control=17, moment=datetime.now(UTC), usage="T"
        )
        payload = b"".join(write_270.write_inquiries([(inquiry, "17-1")], envelope))
        reply = loop.run_until_complete(payer.ask(payload, payload_type="270", seconds=20))
        assert b"EB" in reply.payload

    times_of(ask, 50)
    taken = times_of(ask, ASKED)
    loop.close()
    return taken


@bench("eligibility.rtt")
def rtt() -> Iterator[Measure]:
    """From the submission of one patient to its answer, with a payer that answers at once."""
    with sandbox() as (_, client):

        def ask() -> None:
            answer = client.post(SUBMIT, json=request("2001"))
            assert answer.json()["Status"] == "ResultsComplete", answer.text

        times_of(ask, 50)
        taken = times_of(ask, ASKED)
    minimum = bare()
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        ours, payers = at(taken, share), at(minimum, share)
        yield Measure(f"eligibility.rtt.{name}", ours * 1e3, "ms", ours / payers, "bare-payer-call")


@bench("eligibility.hold")
def hold() -> Iterator[Measure]:
    """What a waiting call costs in memory, and whether others feel that two thousand wait."""
    with sandbox() as (facts, client):

        def listed() -> None:
            assert client.post(PAYERS, params={"type": "medical"}).status_code == 200

        # Every connection is made once and let go, so that what is measured is the waiting.
        asyncio.run(held(facts, lambda: None, member="2001"))
        times_of(listed, 50)
        before, idle = memory(facts["pid"]), at(times_of(listed, LISTED), 0.99)
        found: dict[str, float] = {}

        def look() -> None:
            found["bytes"] = memory(facts["pid"])
            found["p99"] = at(times_of(listed, LISTED), 0.99)
            client.post("/sandbox/advance", json={"By": "55s"}).raise_for_status()

        asyncio.run(held(facts, look, member="1008"))
    yield Measure(
        "eligibility.hold.memory", (found["bytes"] - before) / WAITING / 1_024, "KiB/call"
    )
    yield Measure(
        "eligibility.hold.list.p99", found["p99"] * 1e3, "ms", found["p99"] / idle, "idle"
    )


async def held(facts: dict, look, *, member: str) -> None:
    """Many calls on connections of their own, a look in between, and all their answers."""
    where = urlsplit(facts["base_url"])
    context = ssl.create_default_context(cafile=facts["ca_file"])
    gate = asyncio.Semaphore(CONNECTING_AT_ONCE)
    login = b64encode(f"{facts['vendor_key']}:{facts['vendor_password']}".encode()).decode()
    body = json.dumps(request(member)).encode()
    query = urlencode({"vendorSiteId": facts["vendor_site_id"]})
    head = (
        f"POST {SUBMIT}?{query} HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Basic {login}\r\n"
        f"Content-Type: application/json\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()

    async def call() -> asyncio.StreamReader:
        async with gate:
            reader, writer = await asyncio.open_connection(
                where.hostname, where.port, ssl=context, server_hostname=where.hostname
            )
            writer.write(head + body)
            await writer.drain()
            writers.append(writer)
            return reader

    writers: list[asyncio.StreamWriter] = []
    readers = await asyncio.gather(*(call() for _ in range(WAITING)))
    if member == "1008":
        await asyncio.sleep(10)  # until the last of them waits
    await asyncio.to_thread(look)
    answers = await asyncio.gather(*(reader.read() for reader in readers))
    assert all(answer.startswith(b"HTTP/1.1 200") for answer in answers)
    for writer in writers:
        writer.close()


def memory(pid: int) -> float:
    """What a process holds in memory now, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return float(line.split()[1]) * 1_024


@bench("eligibility.batch")
def batch() -> Measure:
    """Patients a second for one document of ten thousand, from its submission to the last response."""
    members = [f"{20_000 + number}" for number in range(PATIENTS)]
    with sandbox() as (facts, client):
        client.post(SUBMIT, json=request("2001")).raise_for_status()
        answer = client.post(SUBMIT, json=request(*members)).json()
        seconds = answered(Path(facts["data"]), answer["RequestId"])
        params = {"requestId": answer["RequestId"]}
        answer = client.post("/api/v3/eligibility/get_responses", params=params).json()
    assert answer["Status"] == "ResultsComplete"
    assert len(answer["Responses"]) == PATIENTS
    rate = PATIENTS / seconds
    return Measure(
        "eligibility.batch", rate, "patients/s", rate * at(bare(), 0.5), "bare-payer-calls"
    )


def answered(data: Path, inquiry_request_id: int) -> float:
    """Seconds from a request to its last response, by what the service noted itself."""
    connection = sqlite3.connect(f"file:{data / 'clearlane.db'}?mode=ro", uri=True)
    sql = (
        "SELECT sum(state <> 'Answered'), max(answered_at), min(created_at)"
        " FROM inquiries JOIN inquiry_requests ON id = inquiry_request_id WHERE id = ?"
    )
    while (row := connection.execute(sql, (inquiry_request_id,)).fetchone())[0]:
        time.sleep(0.5)
    connection.close()
    return (row[1] - row[2]) / 1e6
