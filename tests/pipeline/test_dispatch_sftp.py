"""Batches over a real SFTP server that goes away in the middle: one file arrives, whole."""

import pytest

from clearlane.claims.batch_lifecycle import BatchState
from clearlane.connect.factory import open_mailbox
from clearlane.payers.routes import RouteSecrets
from tests.connect import sftp_server as there
from tests.connect.invented import route
from tests.pipeline.outbound import MemoryConnections, outbound

pytestmark = pytest.mark.one_database


class SftpConnections(MemoryConnections):
    """Lines whose mailboxes are opened anew each time, as routes are."""

    def __init__(self, **options):
        super().__init__()
        self.options = options

    def open_mailbox(self, _):
        given = {
            "host": "127.0.0.1", "username": there.USER, "inbox": "/out", "outbox": "/in",
            "host_key": there.HOST_KEY.get_fingerprint(), "allow_internal": "yes", "seconds_max": 5,
        }  # fmt: skip
        made = route("sftp", RouteSecrets(password=there.PASSWORD), **(given | self.options))
        return open_mailbox(*made, clock=None)


@pytest.fixture
async def payer(tmp_path):
    async with there.sftp_payer(tmp_path) as started:
        yield started


def files(payer):
    return {file.name: file.read_bytes() for file in (payer.root / "in").iterdir()}


@pytest.mark.parametrize("stays", ["yes", "no"])
async def test_a_server_restarted_in_mid_upload_has_one_whole_file_in_the_end(
    place, clock, payer, stays
):
    connections = SftpConnections(port=payer.port, uploads_stay=stays)
    async with outbound(place, clock, connections=connections) as out:
        connections.add()
        await out.submit(30)
        payer.break_after = 5_000
        assert await out.go(minutes=1) == 0
        [batch] = await out.batches()
        assert batch.state == BatchState.READY  # it never had its name
        payer.break_after = None
        assert await out.go(minutes=1) == 0  # still away
        await payer.start()
        assert await out.go(minutes=5) == 1
        [batch] = await out.batches()
        assert files(payer) == {batch.name: await out.content(batch)}
        assert batch.state == BatchState.DELIVERED


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("stays", "renamed", "state"),
    [
        ("yes", False, BatchState.DELIVERED),
        ("yes", True, BatchState.DELIVERED),
        ("no", True, BatchState.DELIVERED),
        ("no", False, BatchState.IN_DOUBT),
    ],
)
async def test_a_server_that_goes_away_at_the_rename_is_asked_and_gets_no_second_file(
    place, clock, payer, stays, renamed, state
):
    connections = SftpConnections(port=payer.port, uploads_stay=stays)
    async with outbound(place, clock, connections=connections) as out:
        connections.add()
        await out.submit(2)
        payer.at_rename = "after" if renamed else "before"
        assert await out.go(minutes=1) == 0
        [batch] = await out.batches()
        assert batch.state == BatchState.SENDING
        if state == BatchState.IN_DOUBT:  # the payer tidies up what has no name yet
            [part] = (payer.root / "in").iterdir()
            part.unlink()
        payer.at_rename = None
        await payer.start()
        await out.go(minutes=1)
        [batch] = await out.batches()
        assert batch.state == state
        assert len(files(payer)) == (state == BatchState.DELIVERED)
