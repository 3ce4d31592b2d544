"""Who calls, and whether the way was encrypted, when proxies stand before the door.

A header that anyone can send counts only from an address the operator named. Knows no route.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from starlette.types import Scope

Network = IPv4Network | IPv6Network


class Proxies:
    """The proxies an operator trusts."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks = tuple(ip_network(text, strict=False) for text in networks)
        self._trusted = lru_cache(maxsize=1_024)(self._is_trusted)

    def encrypted(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        """Whether the caller spoke https: to us, or to a proxy we trust."""
        if scope["scheme"] == "https":
            return True
        # A proxy appends to what it was sent, so only the last word is its own.
        said = headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower()
        return said == "https" and self._trusted(peer(scope))

    def client(self, scope: Scope, headers: Mapping[str, str]) -> str:
        """The caller's address: the last hop that is not one of our proxies."""
        address = peer(scope)
        hops = headers.get("x-forwarded-for", "").split(",")
        while hops and self._trusted(address):
            hop = hops.pop().strip()
            if not hop:
                break
            address = hop
        return address

    def _is_trusted(self, address: str) -> bool:
        try:
            number = ip_address(address)
        except ValueError:
            return False
        number = getattr(number, "ipv4_mapped", None) or number
        return any(number in network for network in self._networks)


def peer(scope: Scope) -> str:
    """The address at the other end of the connection."""
    client = scope.get("client")
    return str(client[0]) if client else ""
