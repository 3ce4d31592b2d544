"""Webhooks go to allowed addresses alone, follow no redirect, and read little of an answer."""

import asyncio

import pytest

from clearlane.connect import webhook_http
from clearlane.connect.webhook_http import WEBHOOK_ANSWER_BYTES_MAX, WebhookSender, address_fault
from tests.patience import until
from tests.pipeline.webhook_receiver import WebhookReceiver


@pytest.mark.parametrize(
    ("url", "sandbox", "fault"),
    [
        ("https://example.com/hook", False, ""),
        ("https://example.com:8443/hook?a=b", False, ""),
        ("http://127.0.0.1:3000/hook", True, ""),
        ("http://localhost:3000/hook", True, ""),
        ("http://[::1]:3000/", True, ""),
        ("http://127.0.0.1:3000/hook", False, "https://"),
        ("http://example.com/hook", True, "https://"),
        ("http://127.0.0.1.example.com/", True, "https://"),
        ("ftp://example.com/hook", False, "https://"),
        ("https://127.0.0.1:3000/hook", True, ""),
        ("https://10.0.0.8/hook", True, "internal network"),
        ("https://127.0.0.1/hook", False, "internal network"),
        ("https://localhost/hook", False, "internal network"),
        ("https://[fd00::1]/hook", False, "internal network"),
        ("https://8.8.8.8/hook", False, ""),
        ("https:///hook", False, "no host"),
        ("hook", False, "no host"),
        ("https://nora:secret@example.com/", False, "password"),
        ("https://example.com:99999/", False, "port"),
        ("https://example.com/" + "a" * 2_000, False, "characters"),
    ],
)
def test_addresses(url, sandbox, fault):
    found = address_fault(url, sandbox=sandbox)
    assert fault in found
    assert bool(found) is bool(fault)


SHORT_FORMS = [
    "127.1", "127.0.1", "0", "0.0", "2130706433", "0x7f.1", "0x7f000001", "017700000001",
    "[::]", "[::ffff:0:7f00:1]", "[::ffff:127.0.0.1]", "localhost.", "LocalHost", "127.0.0.1.", "hook.localhost",
    "localhost.localdomain", "10.1", "192.168.257", "169.254.43518",
]  # fmt: skip


@pytest.mark.safe_default(13)
def test_short_forms_of_internal_addresses_are_refused_when_an_endpoint_is_added():
    for host in SHORT_FORMS:
        for scheme in ("https", "http"):
            assert address_fault(f"{scheme}://{host}/hook", sandbox=False), host
        assert "internal network" in address_fault(f"https://{host}/hook", sandbox=False), host
    for host in ("8.8", "134744072", "hook.example.com", "1.example"):
        assert not address_fault(f"https://{host}/hook", sandbox=False), host


@pytest.fixture
async def receiver():
    async with WebhookReceiver() as receiver:
        yield receiver


@pytest.fixture
async def sender():
    sender = WebhookSender(sandbox=True)
    yield sender
    await sender.close()


async def test_a_message_arrives_as_it_was_signed(receiver, sender):
    answer = await sender.post(receiver.url, {"webhook-id": "E1"}, b'{"a":1}')
    assert (answer.status, answer.body, answer.fault, answer.is_success) == (200, b"ok", "", True)
    [message] = receiver.messages
    assert message.body == b'{"a":1}'
    assert message.headers["webhook-id"] == "E1"
    assert message.headers["content-type"] == "application/json"


async def test_of_a_long_answer_a_kilobyte_is_kept(receiver, sender):
    receiver.answer(500, b"x" * 1_000_000)
    answer = await sender.post(receiver.url, {}, b"{}")
    assert (answer.status, len(answer.body)) == (500, WEBHOOK_ANSWER_BYTES_MAX)
    assert not answer.is_success


async def test_a_redirect_is_not_followed(receiver, sender):
    receiver.answer(307, b"", headers={"Location": receiver.url})
    answer = await sender.post(receiver.url, {}, b"{}")
    assert (answer.status, answer.is_success) == (307, False)
    assert len(receiver.messages) == 1


async def test_an_endpoint_that_does_not_answer_or_is_not_there_is_a_fault(
    receiver, sender, monkeypatch
):
    monkeypatch.setitem(webhook_http.TIMEOUTS, "read", 0.2)
    receiver.hang()
    answer = await sender.post(receiver.url, {}, b"{}")
    assert "did not answer" in answer.fault
    await receiver.close()
    answer = await sender.post(receiver.url, {}, b"{}")
    assert answer.fault == "It cannot be reached."
    assert answer.status is None


@pytest.fixture
async def keeper():
    """A server that keeps its connections open, and hangs when a test says so; yields its address and both."""
    opened, hangs = [], asyncio.Event()

    async def serve(reader, writer):
        opened.append(writer)
        try:
            while True:
                await reader.readuntil(b"{}")
                if hangs.is_set():
                    return await reader.read()
                writer.write(b"HTTP/1.1 204 x\r\n\r\n")
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/hook", opened, hangs


async def test_a_connection_is_used_by_one_message_at_a_time_and_by_the_next(sender, keeper):
    url, opened, _ = keeper
    for _ in range(3):
        assert (await sender.post(url, {}, b"{}")).status == 204
    assert len(opened) == 1
    answers = await asyncio.gather(*(sender.post(url, {}, b"{}") for _ in range(4)))
    assert [one.status for one in answers] == [204] * 4
    assert len(opened) == 4


async def test_a_connection_that_was_closed_or_cut_off_holds_up_no_later_message(
    sender, keeper, monkeypatch
):
    url, opened, hangs = keeper
    assert (await sender.post(url, {}, b"{}")).status == 204
    opened[0].close()
    await opened[0].wait_closed()
    assert (await sender.post(url, {}, b"{}")).status == 204
    monkeypatch.setitem(webhook_http.TIMEOUTS, "read", 0.2)
    hangs.set()
    assert "did not answer" in (await sender.post(url, {}, b"{}")).fault
    hangs.clear()
    assert (await sender.post(url, {}, b"{}")).status == 204
    assert len(opened) == 3


async def test_idle_connections_over_the_limit_are_closed(sender, keeper, monkeypatch):
    url, opened, _ = keeper
    monkeypatch.setattr(webhook_http, "IDLE_CLIENTS_MAX", 2)
    await asyncio.gather(*(sender.post(url, {}, b"{}") for _ in range(5)))
    assert len(opened) == 5
    await until(lambda: sum(one.is_closing() for one in opened) == 3)


@pytest.mark.parametrize("address", ["10.0.0.8", "127.0.0.1", "169.254.169.254", "::1"])
async def test_a_name_that_leads_inside_is_refused(address):
    async def lookup(host, port):
        return [address]

    sender = WebhookSender(sandbox=True, lookup=lookup)
    answer = await asyncio.wait_for(sender.post("https://example.com/hook", {}, b"{}"), 30)
    assert "internal" in answer.fault
    await sender.close()
