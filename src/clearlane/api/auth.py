"""Slow down whoever keeps failing to log in, and nobody else.

Right credentials never come here. A failure is remembered by the caller's address and by the key
that was tried; beyond a few free ones each further failure waits longer before its answer. What is
remembered, and how many wait at once, is bounded. Knows no HTTP; is told the time.
"""

import asyncio
from collections import OrderedDict
from ipaddress import ip_network

from clearlane.accounts.credentials import read_basic
from clearlane.kernel import limits

IPV6_HOUSEHOLD_BITS = 64


class Failures:
    """Recent failures of many sources; the longest untouched source is forgotten first."""

    def __init__(self, *, free: int, forgiven_seconds: float) -> None:
        """So many are free, and one is forgiven each time that so many seconds have passed."""
        self._free = free
        self._forgiven_seconds = forgiven_seconds
        # A source's failures and when they were last counted.
        self._seen: OrderedDict[int, tuple[float, float]] = OrderedDict()

    def count(self, source: str | bytes, now: float) -> float:
        """Remember one failure; the seconds its answer must wait."""
        # The salted hash stands for the source, so that a long key costs no more than a short one.
        key = hash(source)
        failures, since = self._seen.pop(key, (0.0, now))
        forgiven = (now - since) / self._forgiven_seconds
        failures = max(0.0, failures - forgiven) + 1
        self._seen[key] = (failures, now)
        if len(self._seen) > limits.FAILED_LOGIN_SOURCES_MAX:
            self._seen.popitem(last=False)
        return delay(failures - self._free)

    def __len__(self) -> int:
        return len(self._seen)


def delay(beyond_free: float) -> float:
    """Nothing while failures are free; then each doubles the wait, up to its limit."""
    if beyond_free <= 0:
        return 0.0
    # The exponent is held down so that the power never overflows.
    wait = limits.FAILED_LOGIN_SECONDS_FIRST * 2 ** (min(beyond_free, 64.0) - 1)
    return float(min(wait, limits.FAILED_LOGIN_SECONDS_MAX))


class Slowdown:
    """The waiting room of failed logins."""

    def __init__(self) -> None:
        # Many vendors may stand behind one address, so an address has more patience than a key.
        self._addresses = Failures(
            free=limits.FAILED_LOGINS_FREE_PER_ADDRESS,
            forgiven_seconds=limits.FAILED_LOGIN_FORGIVEN_PER_ADDRESS_SECONDS,
        )
        self._keys = Failures(
            free=limits.FAILED_LOGINS_FREE_PER_KEY,
            forgiven_seconds=limits.FAILED_LOGIN_FORGIVEN_PER_KEY_SECONDS,
        )
        self.waiting = 0

    async def failed(self, address: str, authorization: str | None) -> None:
        """Remember a failure of Basic credentials and wait as long as it deserves."""
        pair = read_basic(authorization)
        await self.wait(address, None if pair is None else pair[0])

    async def wait(self, address: str, key: bytes | None) -> None:
        """Remember a failure of this address, and of the key where one was given, and wait.

        Where too many wait already, the answer is given at once: the waiting room must not become
        the way to exhaust the door.
        """
        now = asyncio.get_running_loop().time()
        seconds = self._addresses.count(household(address), now)
        if key is not None:
            seconds = max(seconds, self._keys.count(key, now))
        if not seconds or self.waiting >= limits.FAILED_LOGINS_WAITING_MAX:
            return
        self.waiting += 1
        try:
            await asyncio.sleep(seconds)
        finally:
            self.waiting -= 1


def household(address: str) -> str:
    """Whom an address stands for: an IPv6 caller has a whole network of them (a /64)."""
    if ":" not in address:
        return address
    try:
        return str(ip_network((address.partition("%")[0], IPV6_HOUSEHOLD_BITS), strict=False))
    except ValueError:
        return address
