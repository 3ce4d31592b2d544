"""A server with one site and one account, on SQLite unless a test asks for both databases."""

import pytest

from tests.sftp_server.openssh import add_test_account, add_test_site, open_node, serve_sftp


@pytest.fixture
async def installation(tmp_path):
    async with open_node(tmp_path / "data") as opened:
        await add_test_site(opened)
        await add_test_account(opened)
        yield opened


@pytest.fixture
async def sftp(installation, tmp_path):
    async with serve_sftp(installation, tmp_path) as place:
        yield place
