"""SFTP against a real server: who it is, who we are, and what happens when it fails."""

import asyncio
import time
from datetime import UTC, datetime

import asyncssh
import pytest

from clearlane.connect.factory import check_route, open_mailbox
from clearlane.connect.port import Denied, FileChanged, Presence, Unreachable
from clearlane.connect.sftp import SMALL_FILE_BYTES_MAX, _SftpCall
from clearlane.payers.routes import RouteSecrets
from tests.connect import sftp_server as there
from tests.connect.invented import interchange, route
from tests.manual_clock import ManualClock
from tests.patience import PATIENCE_SECONDS

CLOCK = ManualClock(datetime(2024, 3, 5, 12, 0, tzinfo=UTC))
FILE = interchange(filler=400_000)
LOGIN = RouteSecrets(password=there.PASSWORD)
PUBLIC = there.HOST_KEY.export_public_key().decode().strip()


@pytest.fixture
async def payer(tmp_path):
    async with there.sftp_payer(tmp_path) as started:
        yield started


def mailbox(port, secrets=LOGIN, **options):
    return open_mailbox(*settled(port, secrets, **options), clock=CLOCK)


def settled(port, secrets=LOGIN, **options):
    given = {
        "host": "127.0.0.1", "port": port, "username": there.USER, "inbox": "/out",
        "outbox": "/in", "host_key": there.HOST_KEY.get_fingerprint(), "allow_internal": "yes",
        "seconds_max": PATIENCE_SECONDS,
    }  # fmt: skip
    return route("sftp", secrets, **(given | options))


@pytest.mark.parametrize(
    "pin",
    [there.HOST_KEY.get_fingerprint(), PUBLIC, f"SHA256:{'A' * 43},{PUBLIC}"],
    ids=["fingerprint", "key", "one of two"],
)
async def test_a_pinned_host_key_is_accepted(payer, pin):
    box = mailbox(payer.port, host_key=pin)
    assert await box.waiting() == []
    await box.close()


@pytest.mark.parametrize(
    "pin",
    [there.OTHER_KEY.get_fingerprint(), there.OTHER_KEY.export_public_key().decode()],
    ids=["fingerprint", "key"],
)
async def test_another_host_key_ends_it_before_the_login(payer, pin):
    box = mailbox(payer.port, host_key=pin)
    with pytest.raises(Denied, match="not the pinned one") as refused:
        await box.put("A1.837", FILE)
    assert there.HOST_KEY.get_fingerprint() in str(refused.value)
    assert not list((payer.root / "in").iterdir())


async def test_a_private_key_opens_with_and_without_a_passphrase(payer):
    plain = there.CLIENT_KEY.export_private_key().decode()
    locked = there.CLIENT_KEY.export_private_key("pkcs8-pem", passphrase="birch").decode()
    for secrets in (
        RouteSecrets(private_key=plain),
        RouteSecrets(private_key=locked, passphrase="birch"),
    ):
        box = mailbox(payer.port, secrets)
        assert await box.waiting() == []
        await box.close()


BAD_LOGINS = {
    "wrong password": RouteSecrets(password="wrong"),
    "another key": RouteSecrets(private_key=there.OTHER_KEY.export_private_key().decode()),
    "no key at all": RouteSecrets(private_key="nonsense"),
    "wrong passphrase": RouteSecrets(
        private_key=there.CLIENT_KEY.export_private_key("pkcs8-pem", passphrase="birch").decode(),
        passphrase="fenn",
    ),
}


@pytest.mark.parametrize("secrets", BAD_LOGINS.values(), ids=BAD_LOGINS)
async def test_a_failed_login_is_denied_and_shows_no_secret(payer, secrets):
    with pytest.raises(Denied) as refused:
        await mailbox(payer.port, secrets).waiting()
    assert not any(held in str(refused.value) for held in secrets.filled().values())


async def test_a_server_that_is_away_is_unreachable_and_nothing_has_arrived(payer):
    await payer.stop()
    with pytest.raises(Unreachable, match="connection refused") as away:
        await mailbox(payer.port).put("A1.837", FILE)
    assert away.value.arrival is Presence.ABSENT


async def test_a_black_hole_is_given_up():
    async with there.black_hole() as port:
        with pytest.raises(Unreachable, match="did not answer in 1 seconds"):
            await mailbox(port, seconds_max=1).put("A1.837", FILE)


async def test_a_slow_server_is_given_up(payer):
    box = mailbox(payer.port, seconds_max=2)
    await box.waiting()
    payer.delay = 600
    began = time.monotonic()
    with pytest.raises(Unreachable, match="silent for 2 seconds") as slow:
        await box.put("A1.837", FILE)
    assert time.monotonic() - began < payer.delay
    assert slow.value.arrival is Presence.ABSENT
    payer.delay = 0
    await box.put("A1.837", FILE)
    assert (payer.root / "in" / "A1.837").read_bytes() == FILE
    await box.close()


async def test_a_server_restarted_in_mid_upload_gets_the_file_once_and_whole(payer):
    box = mailbox(payer.port, seconds_max=5)
    payer.break_after = 100_000
    with pytest.raises(Unreachable) as broken:
        await box.put("A1.837", FILE)
    assert broken.value.arrival is Presence.ABSENT
    assert [(f.name, f.stat().st_size) for f in (payer.root / "in").iterdir()] == [
        ("A1.837.part", 100_000)
    ]
    payer.break_after = None
    await payer.start()
    assert await box.look("A1.837") is Presence.ABSENT
    await box.put("A1.837", FILE)
    assert {file.name for file in (payer.root / "in").iterdir()} == {"A1.837"}
    assert (payer.root / "in" / "A1.837").read_bytes() == FILE
    await box.close()


async def test_a_server_restarted_with_another_key_is_refused(payer):
    box = mailbox(payer.port)
    await box.waiting()
    await payer.stop()
    await payer.start(there.OTHER_KEY)
    with pytest.raises((Denied, Unreachable)):
        await box.waiting()
    with pytest.raises(Denied, match="not the pinned one"):
        await box.waiting()


async def test_what_is_no_ssh_is_unreachable():
    async def greet(reader, writer):
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\nROSA ARDEN")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    with pytest.raises(Unreachable) as refused:
        await mailbox(server.sockets[0].getsockname()[1]).waiting()
    assert "ARDEN" not in str(refused.value)
    server.close()


async def test_an_internal_address_is_refused_unless_the_route_allows_it(payer):
    with pytest.raises(Denied, match="internal network"):
        await mailbox(payer.port, allow_internal="no").waiting()


async def test_the_address_that_was_judged_is_the_one_connected_to(payer):
    """The first answer of the name server counts; a second, internal one is never asked for."""
    asked = []

    async def lookup(host, port):
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    made, secrets = settled(payer.port, host="payer.example")
    box = open_mailbox(made, secrets, clock=CLOCK, lookup=lookup)
    assert await box.waiting() == []
    assert asked == ["payer.example"]
    await box.close()


async def test_a_connection_test_reports_each_step_and_sends_nothing(payer):
    made, secrets = settled(payer.port)
    checks = await check_route(made, secrets, clock=CLOCK)
    assert [(check.name, check.passed) for check in checks] == [
        ("login", True), ("outbox", True), ("inbox", True),
    ]  # fmt: skip
    (payer.root / "in").rmdir()
    *_, last = await check_route(made, secrets, clock=CLOCK)
    assert (last.name, last.passed) == ("outbox", False)
    made, secrets = settled(payer.port, RouteSecrets(password="wrong"))
    (only,) = await check_route(made, secrets, clock=CLOCK)
    assert (only.name, only.passed, only.message) == (
        "login", False, f"127.0.0.1:{payer.port} refused the login.",
    )  # fmt: skip
    assert not list((payer.root / "out").iterdir())


def test_the_library_still_knows_what_we_sort_by():
    assert issubclass(asyncssh.SFTPNoSuchFile, asyncssh.SFTPError)
    assert not issubclass(asyncssh.PermissionDenied, asyncssh.SFTPError)


async def test_files_that_are_never_collected_are_counted_and_reported_by_the_test_of_a_route(
    payer,
):
    for name in ("one.835", ".hidden", "a\nb", "later.part"):
        (payer.root / "out" / name).write_bytes(FILE)
    box = mailbox(payer.port)
    assert [one.name for one in await box.waiting()] == ["a%0Ab", "one.835"]
    assert box.passed_over == 1  # one that is still being written will be collected
    messages = " ".join(each.message for each in await box.check())
    assert "2 files to collect, 1 with names that are not collected" in messages
    await box.close()


@pytest.mark.safe_default(13)
async def test_silence_is_counted_from_block_to_block_of_64_kilobytes(payer, monkeypatch):
    """A transfer of one MiB that goes on, however slowly, tells 16 times that the server answers, each way."""
    box, answers = mailbox(payer.port), []
    restart = _SftpCall.answered
    monkeypatch.setattr(_SftpCall, "answered", lambda call: (answers.append(1), restart(call)))
    content = interchange(filler=1024 * 1024)
    (payer.root / "out" / "B1.835").write_bytes(content)
    blocks = -(-len(content) // 65_536)
    assert blocks > 15
    await box.put("B1.837", content)
    assert len(answers) >= blocks
    answers.clear()
    assert await box.take("B1.835") == content
    assert len(answers) >= blocks
    assert (payer.root / "in" / "B1.837").read_bytes() == content
    await box.close()


async def test_many_files_are_read_and_removed_side_by_side_on_one_connection(payer):
    box = mailbox(payer.port)
    contents = {f"A{number:02}.835": interchange(filler=number) for number in range(40)}
    for name, content in contents.items():
        (payer.root / "out" / name).write_bytes(content)
    waiting = await box.waiting()
    taken = await asyncio.gather(*(box.take(one.name) for one in waiting))
    assert {one.name: content for one, content in zip(waiting, taken, strict=True)} == contents
    await asyncio.gather(*(box.drop(one.name, one) for one in waiting))
    assert not list((payer.root / "out").iterdir())
    assert len(payer.connections) == 1
    await box.close()


async def test_calls_side_by_side_after_a_lost_connection_make_one_new_connection(payer):
    box = mailbox(payer.port)
    for number in range(20):
        (payer.root / "out" / f"A{number:02}.835").write_bytes(interchange())
    waiting = await box.waiting()
    for connection in payer.connections:
        connection.abort()
    lost = await asyncio.gather(*(box.take(one.name) for one in waiting), return_exceptions=True)
    payer.connections.clear()
    assert any(isinstance(one, Unreachable) for one in lost)
    taken = await asyncio.gather(*(box.take(one.name) for one in waiting))
    assert taken == [interchange()] * 20
    assert len(payer.connections) <= 1
    await box.close()


@pytest.mark.parametrize("size", [0, 1, SMALL_FILE_BYTES_MAX, SMALL_FILE_BYTES_MAX + 1, 70_000])
async def test_a_file_of_any_size_is_read_whole_and_noticed_if_it_grew_since_it_was_listed(
    payer, size
):
    box, file = mailbox(payer.port), payer.root / "out" / "A.835"
    file.write_bytes(b"x" * size)
    await box.waiting()
    assert await box.take("A.835") == b"x" * size
    file.write_bytes(b"x" * (size + 1))
    with pytest.raises(FileChanged):
        await box.take("A.835")
    await box.waiting()
    assert len(await box.take("A.835")) == size + 1
    await box.close()
