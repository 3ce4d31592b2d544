"""The SFTP server as a whole: host keys and their rotation, limits, many connections, the command line.

Also tests `sftp_server/host_keys`.
"""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncssh
import pytest

from clearlane.sftp_server.host_keys import choose_host_keys, ensure_host_keys, make_host_keys
from clearlane.sftp_server.listener import SftpLimits
from clearlane.store.installation.sftp_host_keys import add_host_keys, load_host_keys
from tests.cases import by_profile
from tests.databases import KINDS
from tests.patience import until
from tests.sftp_server.openssh import (
    BY,
    HOST,
    add_test_account,
    add_test_site,
    needs_openssh,
    open_node,
    run,
    serve_sftp,
)

CONNECTIONS = by_profile(thorough=200, usual=80, quick=80)
SITES = ("LARK-1", "LARK-2", "LARK-3", "LARK-4")


@pytest.mark.parametrize("database_kind", KINDS)
async def test_nodes_that_start_at_once_share_their_host_keys(place):
    async with (
        open_node(place.data, place.url) as first,
        open_node(place.data, place.url) as second,
    ):
        now = first.wall.now()
        made = await asyncio.gather(
            *(ensure_host_keys(each.database, each.vault, now) for each in (first, second))
        )
        assert made[0] == made[1]
        assert [key.algorithm for key in made[0]].count("ssh-ed25519") == 1
        assert len(made[0]) == 2


def test_the_next_host_key_is_announced_until_it_takes_over():
    now = datetime(2026, 3, 5, tzinfo=UTC)
    old, new = make_host_keys(now), make_host_keys(now + timedelta(days=30))
    before = choose_host_keys([*old, *new], now)
    assert (set(before.proving), set(before.announced)) == (set(old), set(new))
    after = choose_host_keys([*old, *new], now + timedelta(days=31))
    assert (set(after.proving), after.announced) == (set(new), ())


@needs_openssh
async def test_openssh_learns_the_next_host_key_before_it_takes_over(installation, tmp_path):
    database, vault = installation.database, installation.vault
    async with serve_sftp(installation, tmp_path, watch_seconds=0.05) as place:
        now = installation.wall.now()
        await place.ssh_options()  # the keys that are known
        next_keys = await asyncio.to_thread(make_host_keys, now + timedelta(seconds=30))
        await add_host_keys(database, vault, next_keys, now=now, actor=BY)
        await until(lambda: len(place.server._host_keys.announced) == 2)
        place.options = ["-o", "UpdateHostKeys=yes", "-o", "BatchMode=no"]
        options = await place.ssh_options()
        await run("sftp", *options, f"{place.name}@{HOST}", text="ls\n!sleep 1\n", folder=tmp_path)
        known = (tmp_path / "known_hosts").read_text()
        assert all(key.public_key.split()[1] in known for key in next_keys)
        stored = await load_host_keys(database, vault)
        assert {key.fingerprint for key in stored} >= {key.fingerprint for key in next_keys}


async def test_idle_connections_end_and_their_number_is_limited(installation, tmp_path):
    few = SftpLimits(connections_max=3, connections_per_account_max=2, idle_seconds_max=1)
    await add_test_account(installation, "second")
    async with serve_sftp(installation, tmp_path, limits=few, watch_seconds=0.1) as place:
        first, other = await place.connect(), await place.connect()
        with pytest.raises((asyncssh.Error, OSError)):
            await (await place.connect()).start_sftp_client()
        await until(lambda: place.server.connections == 2)
        third = await place.connect(username="second")
        with pytest.raises((asyncssh.Error, OSError)):
            await place.connect(username="second")
        for each in (first, other, third):
            await asyncio.wait_for(each.wait_closed(), 60)
        await until(lambda: place.server.connections == 0)
        (await place.connect()).close()


async def test_one_address_cannot_take_all_places_without_signing_in(installation, tmp_path):
    few = SftpLimits(waiting_per_address_max=2)
    async with serve_sftp(installation, tmp_path, limits=few) as place:
        signed_in = [await place.connect() for _ in range(3)]
        waiting = [await asyncio.open_connection(HOST, place.server.port) for _ in range(2)]
        await until(lambda: place.server.connections == 5)
        with pytest.raises((asyncssh.Error, OSError)):
            await place.connect()
        for _, writer in waiting:
            writer.close()
        await until(lambda: place.server.connections == 3)
        signed_in.append(await place.connect())
        for each in signed_in:
            each.close()


@pytest.mark.slow
async def test_many_connections_at_once_send(installation, tmp_path):
    """Two hundred by `make thorough`."""
    for number, site in enumerate(SITES):
        if number:
            await add_test_site(installation, site, f"VENDOR-{number}")
        await add_test_account(installation, f"account{number}", site)
    content = bytes(50_000)
    async with serve_sftp(installation, tmp_path) as place:
        connections = await asyncio.gather(
            *(place.connect(username=f"account{at % len(SITES)}") for at in range(CONNECTIONS))
        )
        assert place.server.connections == CONNECTIONS

        async def send(number, connection):
            client = await connection.start_sftp_client()
            async with client.open(f"in/{number}.837", "wb") as file:
                await file.write(content)
            connection.close()

        await asyncio.gather(*(send(*pair) for pair in enumerate(connections)))
        files = [file for site in SITES for file in await place.files(site=site)]
    assert sorted(file.name for file in files) == sorted(f"{at}.837" for at in range(CONNECTIONS))
    assert {file.bytes for file in files} == {len(content)}
