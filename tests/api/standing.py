"""A front door that stands in this process: real TLS, real protocol, accounts and payers from memory.

For everything that needs no database. It runs on an event loop of its own, in a thread, so that
tests may block.
"""

import asyncio
import ssl
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import httpx
import uvloop

from clearlane.accounts.credentials import hash_password
from clearlane.accounts.directory import Accounts, Secret
from clearlane.accounts.model import Site, SiteState, Vendor, VendorState
from clearlane.api.app import FrontDoor
from clearlane.api.certificates import Seal, local_pair
from clearlane.api.endpoint import Limits, Row
from clearlane.api.metrics import Metrics
from clearlane.api.protocol import Guard
from clearlane.api.proxies import Proxies
from clearlane.api.public_pages import pages
from clearlane.api.server import Door, listen
from clearlane.api.v3.routes import TABLE
from clearlane.kernel.clock import SystemClock
from clearlane.payers.directory import Payers
from clearlane.payers.model import Payer
from tests.patience import PATIENCE_SECONDS

PEPPER = b"p" * 32
PASSWORD = "S3cret-of-24-characters-or-more"


def account(*vendors: Vendor, sites: Iterable[Site] = ()) -> Accounts:
    """A directory in which every vendor has the same password."""
    secret = Secret(hash_password(PEPPER, PASSWORD.encode()))
    return Accounts(
        pepper=PEPPER,
        vendors=vendors,
        secrets={vendor.id: [secret] for vendor in vendors},
        sites=sites,
    )


def invented_payers(count: int = 3) -> Payers:
    return Payers(
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


TWO_VENDORS = account(
    Vendor(id=1, key="ACME", name="Acme"),
    Vendor(id=2, key="OTHER", name="Other"),
    Vendor(id=3, key="GONE", name="Gone", state=VendorState.DISABLED),
    Vendor(id=4, key="SLOW", name="Slow", rate_per_minute=3),
    sites=[
        Site(1, 1, "ACME-1", "C1", "One", baa_accepted=True),
        Site(2, 1, "ACME-2", "C2", "Two", baa_accepted=False),
        Site(3, 2, "OTHER-1", "C3", "Three", baa_accepted=True),
        Site(4, 1, "ACME-3", "C4", "Four", state=SiteState.SUSPENDED, baa_accepted=True),
        Site(5, 4, "SLOW-1", "C5", "Five", baa_accepted=True),
    ],
)


@dataclass
class Standing:
    """A running front door and everything needed to call it."""

    door: Door
    loop: asyncio.AbstractEventLoop
    metrics: Metrics
    seal: Seal | None
    ca_file: Path | None
    finished: "asyncio.Future[None]" = field(repr=False, default=None)

    @property
    def base_url(self) -> str:
        return f"{'https' if self.seal else 'http'}://127.0.0.1:{self.door.port}"

    def client(self, **options) -> httpx.Client:
        options.setdefault("auth", ("ACME", PASSWORD))
        verify = ssl.create_default_context(cafile=self.ca_file) if self.ca_file else False
        return httpx.Client(
            base_url=self.base_url, verify=verify, timeout=PATIENCE_SECONDS, **options
        )

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.door.stop)
        ended = asyncio.wait_for(self.finished, PATIENCE_SECONDS)
        asyncio.run_coroutine_threadsafe(ended, self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)


def stand(
    directory: Path,
    *,
    accounts: Accounts = TWO_VENDORS,
    payers: Payers | None = None,
    rows: tuple[Row, ...] = TABLE,
    limits: Limits | None = None,
    tls: bool = True,
    proxies: tuple[str, ...] = (),
    **guard,
) -> Standing:
    """Open a front door on a free port."""
    limits = limits or Limits()
    metrics = Metrics()
    desk = SimpleNamespace(
        accounts=accounts,
        payers=payers or invented_payers(),
        clock=SystemClock(),
        wall=SystemClock(),
    )
    app = FrontDoor(
        desk,
        rows,
        pages(),
        limits=limits,
        metrics=metrics,
        proxies=Proxies(proxies),
        sandbox=True,
    )
    seal, ca_file = None, None
    if tls:
        pair, ca_file = local_pair(directory / "tls", [], datetime.now(UTC))
        seal = Seal(pair)
    guard = Guard(
        **{
            "header_bytes_max": limits.header_bytes_max,
            "header_seconds_max": limits.header_seconds_max,
            "connections_max": 100,
            "metrics": metrics,
            **guard,
        }
    )
    loop = uvloop.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    async def open_door() -> Standing:
        door = Door(
            app,
            listen("127.0.0.1", 0, "test"),
            guard,
            tls=seal.context if seal else None,
            stop_seconds_max=limits.stop_seconds_max,
        )
        running = asyncio.get_running_loop().create_task(door.serve())
        await door.opened.wait()
        return Standing(door, loop, metrics, seal, ca_file, running)

    return asyncio.run_coroutine_threadsafe(open_door(), loop).result(PATIENCE_SECONDS)
