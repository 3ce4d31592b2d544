"""The scripted service, and clients of it that do not really wait."""

import pytest

from clearlane.client import AsyncClient, Client, Retry
from tests.client.scripted_service import KEY, PASSWORD, SITE, Service


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    """One scripted service for all tests."""
    running = Service(tmp_path_factory.mktemp("service"))
    yield running
    running.stop()


@pytest.fixture
def pauses() -> list[float]:
    """The pauses a client would have made."""
    return []


@pytest.fixture
def client(service, pauses):
    """A client of the scripted service."""
    with Client(
        service.base_url, key=KEY, password=PASSWORD, site=SITE, ca_file=service.ca_file,
        retry=Retry(random=lambda: 1.0), sleep=pauses.append,
    ) as made:  # fmt: skip
        yield made


@pytest.fixture
async def async_client(service, pauses):
    """The same for the event loop."""

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async with AsyncClient(
        service.base_url, key=KEY, password=PASSWORD, site=SITE, ca_file=service.ca_file,
        retry=Retry(random=lambda: 1.0), sleep=sleep,
    ) as made:  # fmt: skip
        yield made
