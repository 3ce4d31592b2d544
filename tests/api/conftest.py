"""One running service per database for all tests of the front door."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from tests.api.serving import Account, Serving
from tests.databases import KINDS


@pytest.fixture(scope="package", params=KINDS)
async def server(request, new_place) -> AsyncIterator[Serving]:
    """`clearlane serve` on a fresh database of each kind."""
    place = await new_place(request.param, upgraded=False)
    serving = Serving(place.data / "served", place.url).start()
    yield serving
    assert serving.stop() == 0


@dataclass
class Parties:
    """Two vendors with two sites each, and everyone who must be told apart from them."""

    acme: Account
    other: Account
    gone: Account
    limited: Account


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
    server.command("site", "suspend", "A-SUSPENDED")
    server.command("vendor", "disable", "GONE")
    return Parties(acme, other, gone, limited)
