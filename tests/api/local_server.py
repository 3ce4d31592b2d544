"""The API server in this process: real TLS, real protocol, accounts and payers in memory.

For everything that needs no database. It runs on an event loop of its own, in a thread, so that
tests may block.
"""

import asyncio
import ssl
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import httpx
import uvloop

from clearlane.accounts.credentials import SecretHash, hash_password
from clearlane.accounts.directory import AccountDirectory
from clearlane.accounts.model import Site, SiteState, Vendor, VendorState
from clearlane.api.frame.app import ApiApplication, PublicPage
from clearlane.api.frame.endpoint import ApiLimits, Endpoint
from clearlane.api.http.certificates import TlsCertificate, ensure_local_pair
from clearlane.api.http.protocol import ConnectionPolicy
from clearlane.api.http.proxies import TrustedProxies
from clearlane.api.http.server import HttpServer, listen
from clearlane.api.operations.metrics import Metrics
from clearlane.api.pages.public_pages import build_pages
from clearlane.api.v3.endpoints import ENDPOINTS, V3
from clearlane.api.versions import VERSIONS
from clearlane.kernel.clock import SystemClock
from clearlane.kernel.ids import SiteId, VendorId
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.store.database.group_commit import DatabaseUnavailable
from tests.patience import PATIENCE_SECONDS

NO_VIEWER = "no viewer"
"""The viewer of the reference is not served, also where `make docs` built it."""
PEPPER = b"p" * 32
PASSWORD = "S3cret-of-24-characters-or-more"


def accounts_of(*vendors: Vendor, sites: Iterable[Site] = ()) -> AccountDirectory:
    """A directory in which every vendor has the same password."""
    secret = SecretHash(hash_password(PEPPER, PASSWORD.encode()))
    return AccountDirectory(
        pepper=PEPPER,
        vendors=vendors,
        secrets={vendor.id: [secret] for vendor in vendors},
        sites=sites,
    )


def sample_payers(count: int = 3) -> PayerDirectory:
    return PayerDirectory(
        [
            Payer(
                type=type,
                name=f"Meadow Mutual {number}",
                svc_payer_id=f"{number:05}",
                payer_id=f"MM{number:03}",
                offers_eligibility=number % 2 == 0,
                is_test=number == 0,
            )
            for type in ("Medical", "Dental")
            for number in range(count)
        ],
        sandbox=True,
    )


TWO_VENDORS = accounts_of(
    Vendor(id=VendorId(1), key="ACME", name="Acme"),
    Vendor(id=VendorId(2), key="OTHER", name="Other"),
    Vendor(id=VendorId(3), key="GONE", name="Gone", state=VendorState.DISABLED),
    Vendor(id=VendorId(4), key="SLOW", name="Slow", rate_per_minute=3),
    sites=[
        Site(SiteId(1), VendorId(1), "ACME-1", "C1", "One", baa_accepted=True),
        Site(SiteId(2), VendorId(1), "ACME-2", "C2", "Two", baa_accepted=False),
        Site(SiteId(3), VendorId(2), "OTHER-1", "C3", "Three", baa_accepted=True),
        Site(
            SiteId(4),
            VendorId(1),
            "ACME-3",
            "C4",
            "Four",
            state=SiteState.SUSPENDED,
            baa_accepted=True,
        ),
        Site(SiteId(5), VendorId(4), "SLOW-1", "C5", "Five", baa_accepted=True),
    ],
)


@dataclass
class LocalServer:
    """A running server and everything needed to call it."""

    server: HttpServer
    loop: asyncio.AbstractEventLoop
    metrics: Metrics
    certificate: TlsCertificate | None
    ca_file: Path | None
    finished: "asyncio.Future[None]" = field(repr=False)

    @property
    def base_url(self) -> str:
        return f"{'https' if self.certificate else 'http'}://127.0.0.1:{self.server.port}"

    def client(self, **options) -> httpx.Client:
        options.setdefault("auth", ("ACME", PASSWORD))
        verify = ssl.create_default_context(cafile=self.ca_file) if self.ca_file else False
        return httpx.Client(
            base_url=self.base_url, verify=verify, timeout=PATIENCE_SECONDS, **options
        )

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.server.stop)
        ended = asyncio.wait_for(self.finished, PATIENCE_SECONDS)
        asyncio.run_coroutine_threadsafe(ended, self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)


async def _refuse_write(*_, **__):
    raise DatabaseUnavailable("there is no database here")


@cache
def _plain_pages() -> tuple[PublicPage, ...]:
    """Return the public pages without the viewer of the reference."""
    return build_pages(*VERSIONS, viewer=Path(__file__).parent / NO_VIEWER)


def start_local_server(
    directory: Path,
    *,
    accounts: AccountDirectory = TWO_VENDORS,
    payers: PayerDirectory | None = None,
    endpoints: tuple[Endpoint, ...] = ENDPOINTS,
    limits: ApiLimits | None = None,
    tls: bool = True,
    proxies: tuple[str, ...] = (),
    **policy,
) -> LocalServer:
    """Start a server on a free port."""
    limits = limits or ApiLimits()
    metrics = Metrics()
    context = SimpleNamespace(
        accounts=accounts,
        payers=payers or sample_payers(),
        clock=SystemClock(),
        wall=SystemClock(),
        vault=SimpleNamespace(fingerprint=lambda *words: bytes(32)),
        database=SimpleNamespace(write=_refuse_write),
    )
    app = ApiApplication(
        context,
        endpoints,
        _plain_pages(),
        errors=V3.errors,
        limits=limits,
        metrics=metrics,
        proxies=TrustedProxies(proxies),
        sandbox=True,
        shapes={version.prefix: version.errors for version in VERSIONS},
    )
    certificate, ca_file = None, None
    if tls:
        pair, ca_file = ensure_local_pair(directory / "tls", [], datetime.now(UTC))
        certificate = TlsCertificate(pair)
    connection_policy = ConnectionPolicy(
        **{
            "header_bytes_max": limits.header_bytes_max,
            "header_seconds_max": limits.header_seconds_max,
            "connections_max": 100,
            "metrics": metrics,
            "errors": V3.errors,
            **policy,
        }
    )
    loop = uvloop.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    async def open_server() -> LocalServer:
        server = HttpServer(
            app,
            listen("127.0.0.1", 0, "test"),
            connection_policy,
            tls=certificate.context if certificate else None,
            stop_seconds_max=limits.stop_seconds_max,
        )
        running = asyncio.get_running_loop().create_task(server.serve())
        await server.ready.wait()
        return LocalServer(server, loop, metrics, certificate, ca_file, running)

    return asyncio.run_coroutine_threadsafe(open_server(), loop).result(PATIENCE_SECONDS)
