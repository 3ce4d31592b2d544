"""Delay the responses to repeated failed logins.

Valid credentials are never delayed. A failure counts against the caller's address and the key that was
tried; beyond a few free ones each further failure waits longer. Memory and the number of waiting
requests are bounded. Knows no HTTP.
"""

import asyncio
from collections import OrderedDict
from ipaddress import ip_network

from clearlane.accounts.credentials import read_basic

FAILED_LOGINS_FREE_PER_KEY = 4
FAILED_LOGINS_FREE_PER_ADDRESS = 100
FAILED_LOGIN_SECONDS_FIRST = 0.05
FAILED_LOGIN_SECONDS_MAX = 1.0
FAILED_LOGIN_FORGIVEN_PER_KEY_SECONDS = 2.0
FAILED_LOGIN_FORGIVEN_PER_ADDRESS_SECONDS = 0.2
FAILED_LOGIN_SOURCES_MAX = 20_000
FAILED_LOGINS_WAITING_MAX = 500


IPV6_CLIENT_NETWORK_BITS = 64


class FailedLogins:
    """Recent failures by source; the least recently failed source is dropped first."""

    def __init__(self, *, free: int, forgiven_seconds: float) -> None:
        """Leave ``free`` failures undelayed and forget one every ``forgiven_seconds``."""
        self._free = free
        self._forgiven_seconds = forgiven_seconds
        # A source's failures and the time of the last one.
        self._seen: OrderedDict[int, tuple[float, float]] = OrderedDict()

    def count(self, source: str | bytes, now: float) -> float:
        """Record one failure and return the seconds by which to delay its response."""
        # Python's salted hash instead of the text: a long key takes no more memory than a short one.
        key = hash(source)
        failures, since = self._seen.pop(key, (0.0, now))
        forgiven = (now - since) / self._forgiven_seconds
        failures = max(0.0, failures - forgiven) + 1
        self._seen[key] = (failures, now)
        if len(self._seen) > FAILED_LOGIN_SOURCES_MAX:
            self._seen.popitem(last=False)
        return delay_seconds(failures - self._free)

    def __len__(self) -> int:
        return len(self._seen)


def delay_seconds(failures_beyond_free: float) -> float:
    """Return 0 while failures are free; then each doubles the delay, up to a limit."""
    if failures_beyond_free <= 0:
        return 0.0
    # The exponent is capped so that the power never overflows.
    wait = FAILED_LOGIN_SECONDS_FIRST * 2 ** (min(failures_beyond_free, 64.0) - 1)
    return float(min(wait, FAILED_LOGIN_SECONDS_MAX))


class LoginThrottle:
    """Delays failed logins by address and by key."""

    def __init__(self) -> None:
        # Many vendors may share one address, so an address has more free failures than a key.
        self._addresses = FailedLogins(
            free=FAILED_LOGINS_FREE_PER_ADDRESS,
            forgiven_seconds=FAILED_LOGIN_FORGIVEN_PER_ADDRESS_SECONDS,
        )
        self._keys = FailedLogins(
            free=FAILED_LOGINS_FREE_PER_KEY,
            forgiven_seconds=FAILED_LOGIN_FORGIVEN_PER_KEY_SECONDS,
        )
        self.waiting = 0

    async def delay_basic_failure(self, address: str, authorization: str | None) -> None:
        """Record a failure of Basic credentials and sleep for its delay."""
        pair = read_basic(authorization)
        await self.delay_failure(address, None if pair is None else pair[0].lower())

    async def delay_failure(self, address: str, key: bytes | None) -> None:
        """Record a failure of the address, and of the key if one was given, and sleep for its delay.

        If too many requests wait already, return at once: waiting must not become a way to exhaust
        the server.
        """
        now = asyncio.get_running_loop().time()
        seconds = self._addresses.count(client_network(address), now)
        if key is not None:
            seconds = max(seconds, self._keys.count(key, now))
        if not seconds or self.waiting >= FAILED_LOGINS_WAITING_MAX:
            return
        self.waiting += 1
        try:
            await asyncio.sleep(seconds)
        finally:
            self.waiting -= 1


def client_network(address: str) -> str:
    """Return the network that counts as one client: an IPv6 client owns a whole /64."""
    if ":" not in address:
        return address
    try:
        return str(ip_network((address.partition("%")[0], IPV6_CLIENT_NETWORK_BITS), strict=False))
    except ValueError:
        return address
