"""One running service per database for all tests of the API."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from tests.api.service_process import ServiceProcess, VendorAccount
from tests.databases import KINDS, Place


@asynccontextmanager
async def served(place: Awaitable[Place], **environment: str) -> AsyncIterator[ServiceProcess]:
    """`clearlane serve` on a fresh database."""
    fresh = await place
    serving = ServiceProcess(fresh.data / "served", fresh.url, fresh=False, **environment).start()
    yield serving
    assert serving.stop() == 0


@pytest.fixture(scope="package", params=KINDS)
async def server(request, new_place) -> AsyncIterator[ServiceProcess]:
    """A service on each kind of database."""
    async with served(new_place(request.param, upgraded=False)) as serving:
        yield serving


@dataclass
class Parties:
    """Two vendors with two sites each, and accounts that must be distinguished from them."""

    acme: VendorAccount
    other: VendorAccount
    gone: VendorAccount
    limited: VendorAccount


@pytest.fixture(scope="package")
def parties(server) -> Parties:
    """The same cast on every service."""
    acme, other = server.add_vendor("ACME"), server.add_vendor("OTHER")
    gone, limited = server.add_vendor("GONE"), server.add_vendor("LIMITED", "--limit", "5")
    for account, name in ((acme, "A"), (other, "B")):
        server.add_site(account, f"{name}-1", "--baa-accepted")
        server.add_site(account, f"{name}-2")
    server.add_site(acme, "A-SUSPENDED", "--baa-accepted")
    server.add_site(gone, "GONE-1", "--baa-accepted")
    server.add_site(limited, "LIMITED-1", "--baa-accepted")
    server.command("site", "suspend", "A-SUSPENDED", "--yes")
    server.command("vendor", "disable", "GONE", "--yes")
    return Parties(acme, other, gone, limited)
