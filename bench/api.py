"""The front door: payer lists over https against a bare route with the same bytes; one login check.

The service runs as its operator starts it, the peer is a bare Starlette route under uvicorn with the
same certificate, and the load comes from a process of its own, so that none slows the other.
"""

import asyncio
import contextlib
import hmac
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import cast

from bench.harness import Measure, bench, side_by_side

PAYERS = 20_000
CONNECTIONS = 16
SECONDS = 2.0
ROUNDS = 3
VENDORS = 1_000
CHECKS = 20_000


@bench("v3.payers")
def payer_lists() -> Iterator[Measure]:
    """Requests a second for the list of 20,000 payers, as most clients ask for it and uncompressed."""
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "data"
        with serving(data) as facts:
            import_payers(data)
            for name, accepted in (("v3.payers", "gzip"), ("v3.payers.uncompressed", "identity")):
                yield compare(name, facts, data, accepted)


def compare(name: str, facts: dict, data: Path, accepted: str) -> Measure:
    ours = {"port": int(facts["base_url"].rpartition(":")[2]), "ca_file": facts["ca_file"]}
    ours["request"] = first_call(facts, accepted)
    body = data / "body"
    body.write_bytes(load({**ours, "keep": True, "seconds": 0})["body"])
    headers = {"content-encoding": "gzip"} if accepted == "gzip" else {}
    with peer(data, body, headers) as port:
        rates: tuple[list[float], list[float]] = ([], [])
        for _ in range(ROUNDS):
            for kept, target in zip(rates, (ours, ours | {"port": port}), strict=True):
                kept.append(run_load(target))
    return Measure(
        name, median(rates[0]), "requests/s", median(rates[0]) / median(rates[1]), "starlette"
    )


@bench("auth")
def login_check() -> Measure:
    """Microseconds from an Authorization header to its vendor, among a thousand vendors."""
    from clearlane.accounts.credentials import SecretHash, hash_password
    from clearlane.accounts.directory import AccountDirectory
    from clearlane.accounts.model import Vendor
    from clearlane.kernel.ids import VendorId

    pepper, password, now = os.urandom(32), b"x" * 32, datetime.now(UTC)
    kept = hash_password(pepper, password)
    vendors = [Vendor(id=VendorId(at), key=f"VENDOR{at}", name="x") for at in range(VENDORS)]
    accounts = AccountDirectory(
        pepper=pepper,
        vendors=vendors,
        secrets={vendor.id: [SecretHash(kept)] for vendor in vendors},
        sites=[],
    )
    header = "Basic " + b64encode(b"VENDOR500:" + password).decode()

    def ours() -> None:
        for _ in range(CHECKS):
            assert accounts.authenticate(header, now) is not None

    def bare() -> None:
        for _ in range(CHECKS):
            assert hmac.compare_digest(hmac.digest(pepper, password, "sha256"), kept)

    seconds, minimum = side_by_side(ours, bare)
    return Measure("auth", seconds / CHECKS * 1e6, "us", minimum / seconds, "bare-hmac")


# The service.


@contextlib.contextmanager
def serving(data: Path) -> Iterator[dict]:
    """`clearlane serve` on a fresh sandbox; what its sandbox file says, and its process."""
    command = [sys.executable, "-m", "clearlane", "serve", "--data", str(data), "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("clearlane ready "):
                break
        yield json.loads((data / "sandbox.json").read_text()) | {"pid": process.pid}
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def import_payers(data: Path) -> None:
    rows = [
        {
            "Type": "Medical",
            "Name": f"Meadow Mutual of County {at}",
            "SvcPayerId": f"S{at:05}",
            "PayerId": f"MM{at:05}",
            "NationalPayerId": str(7_000_000_000 + at * 37) if at % 3 else "",
            "EraAvailability": ("Available", "RequiresEnrollment", "NotAvailable")[at % 3],
            "OffersEligibility": at % 2 == 0,
            "ClaimEnrollmentRequired": at % 5 == 0,
        }
        for at in range(PAYERS)
    ]
    file = data.parent / "payers.json"
    file.write_text(json.dumps(rows))
    command = [sys.executable, "-m", "clearlane", "payer", "import", str(file), "--data", str(data)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def first_call(facts: dict, accepted: str) -> str:
    credentials = b64encode(f"{facts['vendor_key']}:{facts['vendor_password']}".encode()).decode()
    query = f"vendorSiteId={facts['vendor_site_id']}&type=medical"
    return (
        f"POST /api/v3/payers/get_list?{query} HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Basic {credentials}\r\nAccept-Encoding: {accepted}\r\n"
        "Content-Length: 0\r\n\r\n"
    )


# The peer.


@contextlib.contextmanager
def peer(data: Path, body: Path, headers: dict[str, str]) -> Iterator[int]:
    """A bare Starlette route in a process of its own; its port."""
    setup = json.dumps({"tls": str(data / "tls"), "body": str(body), "headers": headers})
    command = [sys.executable, "-m", "bench.api", "peer", setup]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(10)


def run_peer(setup: dict) -> None:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    body, tls = Path(setup["body"]).read_bytes(), Path(setup["tls"])

    async def answer(_: object) -> Response:
        return Response(body, media_type="application/json", headers=setup["headers"])

    app = Starlette(routes=[Route("/api/v3/payers/get_list", answer, methods=["POST"])])
    config = uvicorn.Config(
        app,
        port=0,
        http="httptools",
        loop="uvloop",
        log_config=None,
        access_log=False,
        ssl_certfile=tls / "server.pem",
        ssl_keyfile=tls / "server.key",
    )
    listener = config.bind_socket()
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(config).run([listener])


# The load.


class Caller(asyncio.Protocol):
    """One connection that asks again as soon as it is answered, and reads no more than it must."""

    def __init__(self, request: bytes, *, keep: bool) -> None:
        self._request = request
        self._keep = keep
        self._missing = 0
        self._head = b""
        self.answers = 0
        self.body = b""
        self.first = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The transport of uvloop's TLS has the methods of asyncio's and not its type.
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if not self._missing:
            self._head += data
            head, found, data = self._head.partition(b"\r\n\r\n")
            if not found:
                return
            assert head.startswith(b"HTTP/1.1 200"), head[:100]
            self._missing = int(head.lower().partition(b"content-length:")[2].split()[0])
            self._head = b""
        self._missing -= len(data)
        if self._keep:
            self.body += data
        if not self._missing:
            self.answers += 1
            if not self.first.done():
                self.first.set_result(None)
            if not self._keep:
                self._transport.write(self._request)


async def call_all(setup: dict) -> dict:
    """Call from several connections for a while."""
    loop, request = asyncio.get_running_loop(), setup["request"].encode()
    context = ssl.create_default_context(cafile=setup["ca_file"])
    count = 1 if setup.get("keep") else CONNECTIONS
    opened = [
        await loop.create_connection(
            lambda: Caller(request, keep=bool(setup.get("keep"))),
            "127.0.0.1",
            setup["port"],
            ssl=context,
            server_hostname="127.0.0.1",
        )
        for _ in range(count)
    ]
    callers = [caller for _, caller in opened]
    await asyncio.gather(*(caller.first for caller in callers))
    before, began = sum(caller.answers for caller in callers), perf_counter()
    await asyncio.sleep(setup["seconds"])
    answers, seconds = sum(caller.answers for caller in callers) - before, perf_counter() - began
    for transport, _ in opened:
        transport.abort()
    return {"rate": answers / seconds, "body": callers[0].body}


def load(setup: dict) -> dict:
    import uvloop

    return uvloop.run(call_all(setup))


def run_load(target: dict) -> float:
    """The load in a process of its own; answers a second."""
    setup = json.dumps(target | {"seconds": SECONDS})
    done = subprocess.run(
        [sys.executable, "-m", "bench.api", "load", setup],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


if __name__ == "__main__":
    roles = {"peer": run_peer, "load": lambda setup: print(load(setup)["rate"])}
    roles[sys.argv[1]](json.loads(sys.argv[2]))
