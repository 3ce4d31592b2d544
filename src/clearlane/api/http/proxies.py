"""Find the caller's address and whether it used https, behind trusted proxies.

Forwarding headers count only if the peer is a proxy that the operator named. Knows no endpoint.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from starlette.types import Scope

Network = IPv4Network | IPv6Network


class TrustedProxies:
    """The proxies that an operator trusts."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks = tuple(ip_network(text, strict=False) for text in networks)
        self._trusted = lru_cache(maxsize=1_024)(self._is_trusted)

    def is_encrypted(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        """Return whether the caller used https, to this server or to a trusted proxy."""
        if scope["scheme"] == "https":
            return True
        # A proxy appends to the header it received, so only the last value is its own.
        scheme = headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower()
        return scheme == "https" and self._trusted(peer_address(scope))

    def client_address(self, scope: Scope, headers: Mapping[str, str]) -> str:
        """Return the caller's address: the last hop that is not a trusted proxy."""
        address = peer_address(scope)
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


def peer_address(scope: Scope) -> str:
    """Return the address at the other end of the connection."""
    client = scope.get("client")
    return str(client[0]) if client else ""
