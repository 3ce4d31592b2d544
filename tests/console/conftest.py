"""One running service per database for the tests of proxy login and the console."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest
from argon2 import PasswordHasher

from clearlane.accounts import passwords
from tests.api.service_process import ServiceProcess, VendorAccount
from tests.console.console_user import Person, add_person
from tests.databases import KINDS


@pytest.fixture(scope="package", params=KINDS)
async def server(request, new_place) -> AsyncIterator[ServiceProcess]:
    """`clearlane serve` on a fresh database of each kind."""
    place = await new_place(request.param, served=True)
    serving = ServiceProcess(place.data / "served", place.url).start()
    yield serving
    assert serving.stop() == 0


@pytest.fixture(scope="package", autouse=True)
def fast_hasher() -> Iterator[None]:
    """Hash passwords fast in this process; tests/accounts shows how the service hashes them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_HASHER", PasswordHasher(1, 8, 1))
        yield


@dataclass
class Cast:
    """Two vendors with sites, and a person who sees one of them."""

    acme: VendorAccount
    other: VendorAccount
    nora: Person


@pytest.fixture(scope="package")
def cast(server) -> Cast:
    acme, other = server.add_vendor("ACME"), server.add_vendor("OTHER")
    server.add_site(acme, "A-1", "--baa-accepted", "--name", "Fernhill Family Practice")
    server.add_site(acme, "A-2", "--name", "Larkspur Dental")
    server.add_site(other, "B-1", "--baa-accepted")
    server.add_site(acme, "A-SUSPENDED", "--baa-accepted")
    server.command("site", "suspend", "A-SUSPENDED", "--yes")
    return Cast(acme, other, add_person(server, "nora", "--vendor", "ACME", "--site", "A-1"))
