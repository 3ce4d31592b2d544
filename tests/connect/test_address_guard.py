"""Which addresses are internal, and what is done about them."""

import asyncio

import pytest

from clearlane.connect.address_guard import is_internal, resolve
from clearlane.connect.port import Denied, Presence, Unreachable
from tests.cases import every_case
from tests.patience import PATIENCE_SECONDS

INTERNAL = [
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "169.254.169.254", "169.254.0.1", "100.64.0.1", "100.100.100.200", "168.63.129.16",
    "192.0.0.192", "198.18.0.1", "192.0.2.7", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "2002:a00:1::", "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe", "2001:db8::1", "fec0::1", "not an address",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "192.169.0.1", "2606:4700::1111", "64:ff9b::808:808"]


@every_case("address", INTERNAL)
def test_an_internal_address_is_known_in_every_disguise(address):
    assert is_internal(address)


@pytest.mark.safe_default(13)
def test_an_ipv4_translated_address_is_internal():
    for address in ("::ffff:0:7f00:1", "::ffff:0:127.0.0.1", "::ffff:0:a00:1", "::ffff:0:808:808"):
        assert is_internal(address), address


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_not_internal(address):
    assert not is_internal(address)


def answering(*addresses):
    async def lookup(host, port):
        return list(addresses)

    return lookup


async def found(host, lookup=None, *, allow_internal=False, seconds=PATIENCE_SECONDS):
    more = {"lookup": lookup} if lookup else {}
    return await resolve(host, 443, allow_internal=allow_internal, seconds=seconds, **more)


async def test_one_internal_address_among_public_ones_refuses_the_name():
    with pytest.raises(Denied, match="internal network"):
        await found("payer.example", answering("8.8.8.8", "10.0.0.1"))
    assert await found("payer.example", answering("8.8.8.8", "1.1.1.1")) == "8.8.8.8"


async def test_a_route_may_allow_them():
    mixed = answering("10.0.0.1", "8.8.8.8")
    assert await found("payer.example", mixed, allow_internal=True) == "10.0.0.1"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "::1"])
async def test_every_notation_of_a_local_address_is_refused(host):
    with pytest.raises(Denied, match="internal network"):
        await found(host)


async def test_a_name_without_address_is_unreachable():
    async def fails(host, port):
        raise OSError

    for lookup in (fails, answering()):
        with pytest.raises(Unreachable) as away:
            await found("payer.example", lookup)
        assert away.value.arrival is Presence.ABSENT
    with pytest.raises(Unreachable):
        await found("a" * 70 + ".example")


async def test_a_silent_name_server_is_given_up():
    async def silent(host, port):
        await asyncio.Event().wait()

    with pytest.raises(Unreachable, match=r"not resolved in 0\.05 seconds"):
        await found("payer.example", silent, seconds=0.05)
