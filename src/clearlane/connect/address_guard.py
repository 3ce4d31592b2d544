"""Which addresses we connect to: resolve a name once, judge what came, connect to exactly that.

A name that resolves to an internal address is refused unless the route allows it, so that a
payer's name cannot be turned into a door to this network. The caller connects to the address that
was judged, never to the name again: a second answer of the name server would be another one.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from clearlane.connect.port import Denied, Presence, Unreachable

Address = IPv4Address | IPv6Address
Lookup = Callable[[str, int], Awaitable[list[str]]]
"""Name and port to the addresses that answer for them."""

# Networks set aside that some versions of the library do not know (the registries of RFC 6890), and
# the address at which one cloud answers questions about the machine itself.
SET_ASIDE = tuple(
    map(
        ip_network,
        ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32", "64:ff9b:1::/48", "2001:2::/48",
         "2001:10::/28", "2001:20::/28", "3fff::/20", "5f00::/16", "100::/64", "fec0::/10"),
    )
)  # fmt: skip
# IPv6 addresses that carry an IPv4 address in their last bits (RFC 6052, RFC 4291).
CARRIERS = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))


async def ask_name_server(host: str, port: int) -> list[str]:
    """The addresses of a host, as this machine resolves names."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(row[4][0]) for row in found]


async def resolve(
    host: str,
    port: int,
    *,
    allow_internal: bool,
    seconds: float,
    lookup: Lookup = ask_name_server,
) -> str:
    """The address to connect to.

    One internal address among several refuses them all: no payer's name has such a mixture.
    """
    try:
        async with asyncio.timeout(seconds):
            found = await lookup(host, port)
    except TimeoutError:
        raise Unreachable(
            f"The name {host} was not resolved in {seconds:g} seconds.", Presence.ABSENT
        ) from None
    except (OSError, UnicodeError):
        raise Unreachable(f"The name {host} cannot be resolved.", Presence.ABSENT) from None
    if not found:
        raise Unreachable(f"The name {host} has no address.", Presence.ABSENT)
    if not allow_internal and any(is_internal(each) for each in found):
        raise Denied(
            f"{host} lies in an internal network. A route that may go there says so with "
            "allow_internal=yes."
        )
    return found[0]


def is_internal(text: str) -> bool:
    """Whether an address is anything but a public one of a single machine."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return True
    return any(map(_not_public, (address, *_carried(address))))


def _not_public(address: Address) -> bool:
    set_aside = any(address in network for network in SET_ASIDE)
    return not address.is_global or address.is_multicast or set_aside


def _carried(address: Address) -> list[IPv4Address]:
    """The IPv4 addresses hidden in an IPv6 one."""
    if isinstance(address, IPv4Address):
        return []
    hidden = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in CARRIERS):
        hidden.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in hidden if each is not None]
