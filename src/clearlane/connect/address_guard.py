"""Resolve a payer's host name and refuse internal addresses.

A name that resolves to an internal address is refused unless the route allows it, so that a
payer's name cannot be used to reach this network. The caller connects to the address that was
checked, never to the name again: the name server could answer differently the second time.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from clearlane.connect.port import Denied, Presence, Unreachable

Address = IPv4Address | IPv6Address
Lookup = Callable[[str, int], Awaitable[list[str]]]
"""Resolves a host name and port to addresses."""

# Reserved networks that some versions of the library do not know (the registries of RFC 6890), and
# the metadata address of one cloud provider.
RESERVED_NETWORKS = tuple(
    map(
        ip_network,
        ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32", "64:ff9b:1::/48", "2001:2::/48",
         "2001:10::/28", "2001:20::/28", "3fff::/20", "5f00::/16", "100::/64", "fec0::/10",
         # IPv4-translated (RFC 2765): a host may take it for the IPv4 address in its last bits.
         "::ffff:0:0:0/96"),
    )
)  # fmt: skip
# Names of this machine, which every resolver answers by itself (RFC 6761) or /etc/hosts has.
LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"})
LOCAL_SUFFIXES = (".localhost",)
# IPv6 addresses that carry an IPv4 address in their last bits (RFC 6052, RFC 4291).
IPV4_CARRIERS = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))


async def query_name_server(host: str, port: int) -> list[str]:
    """Return the addresses of a host, as this machine resolves names."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(row[4][0]) for row in found]


async def resolve(
    host: str,
    port: int,
    *,
    allow_internal: bool,
    seconds: float,
    lookup: Lookup = query_name_server,
) -> str:
    """Return the address to connect to.

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
            f"{host} is in an internal network. To allow it, set allow_internal=yes on the route."
        )
    return found[0]


def is_internal_host(host: str) -> bool:
    """Return whether a host is internal as it is written; what other names resolve to is seen when they are used.

    Besides whole addresses, the short and the octal, hexadecimal and decimal forms that resolvers read as IPv4.
    """
    plain = host.strip("[]").rstrip(".").lower()
    if plain in LOCAL_NAMES or plain.endswith(LOCAL_SUFFIXES):
        return True
    try:
        ip_address(plain.partition("%")[0])
    except ValueError:
        try:
            return is_internal(socket.inet_ntoa(socket.inet_aton(plain)))
        except (OSError, UnicodeError):
            return False
    return is_internal(plain)


def is_internal(text: str) -> bool:
    """Return whether an address is anything but a public unicast address."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return True
    return any(map(_not_public, (address, *_embedded_ipv4(address))))


def _not_public(address: Address) -> bool:
    set_aside = any(address in network for network in RESERVED_NETWORKS)
    return not address.is_global or address.is_multicast or set_aside


def _embedded_ipv4(address: Address) -> list[IPv4Address]:
    """Return the IPv4 addresses embedded in an IPv6 address."""
    if isinstance(address, IPv4Address):
        return []
    hidden = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in IPV4_CARRIERS):
        hidden.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in hidden if each is not None]
