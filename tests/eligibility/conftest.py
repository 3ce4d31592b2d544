"""A running sandbox per database for all eligibility calls; its clock is theirs to advance."""

import pytest

from tests.api.service_process import ServiceProcess
from tests.databases import KINDS
from tests.eligibility.eligibility_caller import Caller


@pytest.fixture(scope="package", params=KINDS)
async def sandbox(request, new_place):
    """`clearlane serve` on a fresh database of each kind."""
    place = await new_place(request.param, served=True)
    serving = ServiceProcess(place.data / "served", place.url).start()
    yield serving
    assert serving.stop() == 0


@pytest.fixture(scope="package")
def vendor(sandbox):
    account = sandbox.add_vendor("ACME")
    for id in ("A-1", "A-2", "A-SUSPENDED"):
        sandbox.add_site(account, id, "--baa-accepted")
    sandbox.add_site(account, "A-NO-BAA")
    return account


@pytest.fixture
async def caller(sandbox, vendor):
    """Calls for the site A-1."""
    async with Caller.of(sandbox, vendor.auth, "A-1") as made:
        yield made
