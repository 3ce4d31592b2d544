"""Slow down repeated failed logins, and limit them.

Valid vendor credentials are always served, and a call without any, of a client that waits for the challenge, is no
failure. A failure counts against the caller's address and the key or name that was
tried: beyond a few free ones each further failure waits longer, and beyond a limit it is refused at once, so that it
holds no connection. Sign-in to the console, with passwords that people choose, takes from the limit before the password
is looked at. Memory and the number of waiting requests are bounded; every count is of this node. Knows no HTTP.
"""

import asyncio
from collections import OrderedDict
from ipaddress import ip_network
from math import ceil

from clearlane.accounts.api_keys import read_bearer
from clearlane.accounts.credentials import read_basic

FAILED_LOGINS_FREE_PER_KEY = 4
FAILED_LOGINS_FREE_PER_ADDRESS = 100
FAILED_LOGIN_SECONDS_FIRST = 0.05
FAILED_LOGIN_SECONDS_MAX = 1.0
FAILED_LOGIN_FORGIVEN_PER_KEY_SECONDS = 2.0
FAILED_LOGIN_FORGIVEN_PER_ADDRESS_SECONDS = 0.2
FAILED_LOGIN_SOURCES_MAX = 20_000
FAILED_LOGINS_WAITING_MAX = 500
# Wrong vendor credentials per minute: for a key from one address, and for one address.
FAILED_LOGINS_PER_KEY_MAX, FAILED_LOGINS_PER_ADDRESS_MAX = 10, 100
FAILED_LOGINS_LIMIT_SECONDS = 60.0
# Tries to sign in to the console: for a name from one address, and for one address. One is regained a minute, and one
# every six seconds.
SIGN_INS_PER_NAME_MAX, SIGN_INS_PER_NAME_LIMIT_SECONDS = 10, 600.0
SIGN_INS_PER_ADDRESS_MAX, SIGN_INS_PER_ADDRESS_LIMIT_SECONDS = 50, 300.0
FAILED_SIGN_INS_LIMIT_SECONDS = 600.0


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


class TryLimit:
    """A limit of tries by source (GCRA): all at once at first, then regained evenly over the limit's seconds."""

    def __init__(self, tries_max: int, seconds: float) -> None:
        self._interval = seconds / tries_max
        self._seconds = seconds
        # When each source's tries so far are all regained. The one least recently used is dropped first.
        self._regained_at: OrderedDict[int, float] = OrderedDict()

    def take(self, source: object, now: float) -> int:
        """Take one try; return 0, or the whole seconds to wait if there is none left."""
        key = hash(source)
        regained_at = max(now, self._regained_at.pop(key, now))
        seconds = regained_at + self._interval - now - self._seconds
        if seconds <= 1e-6:
            regained_at += self._interval
        self._regained_at[key] = regained_at
        if len(self._regained_at) > FAILED_LOGIN_SOURCES_MAX:
            self._regained_at.popitem(last=False)
        return max(1, ceil(seconds)) if seconds > 1e-6 else 0

    def is_empty(self, source: object, now: float) -> bool:
        """Return whether a source has no try left; takes none."""
        regained_at = max(now, self._regained_at.get(hash(source), now))
        return regained_at + self._interval - now - self._seconds > 1e-6

    def give_back(self, source: object) -> None:
        """Give back one try."""
        key = hash(source)
        if key in self._regained_at:
            self._regained_at[key] -= self._interval

    def __len__(self) -> int:
        return len(self._regained_at)


class LoginThrottle:
    """Delays failed logins by address and by key, and limits them."""

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
        self._key_limit = TryLimit(FAILED_LOGINS_PER_KEY_MAX, FAILED_LOGINS_LIMIT_SECONDS)
        self._address_limit = TryLimit(FAILED_LOGINS_PER_ADDRESS_MAX, FAILED_LOGINS_LIMIT_SECONDS)
        self.waiting = 0

    async def delay_vendor_failure(self, address: str, authorization: str | None) -> int:
        """Record a failure of a vendor's credentials and sleep for its delay.

        Return 0; beyond the limit, at once, the seconds after which the next failure is within it again.
        """
        key = tried_key(authorization)
        now, network = asyncio.get_running_loop().time(), client_network(address)
        seconds = self._key_limit.take((network, key), now) or self._address_limit.take(
            network, now
        )
        if not seconds:
            await self.delay_failure(address, key)
        return seconds

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


class SignInThrottle:
    """Delays failed sign-ins to the console like failed logins, and limits all tries before the password is looked at.

    The limits are of a name from one network and of one network, so that no one elsewhere is locked out. SFTP has keys
    too, of which one connection may try several: there the failures of a network are limited by ``failures_max``, 0 for
    no limit.
    """

    def __init__(self, *, failures_max: int = 0) -> None:
        self._network_failures = (
            TryLimit(failures_max, FAILED_SIGN_INS_LIMIT_SECONDS) if failures_max else None
        )
        self._failures = LoginThrottle()
        self._name_tries = TryLimit(SIGN_INS_PER_NAME_MAX, SIGN_INS_PER_NAME_LIMIT_SECONDS)
        self._network_tries = TryLimit(SIGN_INS_PER_ADDRESS_MAX, SIGN_INS_PER_ADDRESS_LIMIT_SECONDS)

    def take(self, address: str, name: bytes) -> int:
        """Take one try; return 0, or the seconds to wait if there is none left."""
        now, network = asyncio.get_running_loop().time(), client_network(address)
        # The name first: one that is out of tries uses up none of its network, where others may sign in.
        return self._name_tries.take((network, name), now) or self._network_tries.take(network, now)

    def give_back(self, address: str, name: bytes) -> None:
        """Give back the try of a sign-in that succeeded."""
        network = client_network(address)
        self._network_tries.give_back(network)
        self._name_tries.give_back((network, name))

    async def delay_failure(self, address: str, key: bytes | None) -> None:
        """Sleep before a failure is answered."""
        await self._failures.delay_failure(address, key)

    def network(self, address: str) -> str:
        """Return the network that counts as one client."""
        return client_network(address)

    def take_failure(self, address: str) -> bool:
        """Count a connection that failed to sign in; return whether its network has no failure left now."""
        if self._network_failures is None:
            return False
        self._network_failures.take(client_network(address), asyncio.get_running_loop().time())
        return self.is_blocked(address)

    def forgive_failure(self, address: str) -> None:
        """Count a failure no more: the connection signed in after it."""
        if self._network_failures is not None:
            self._network_failures.give_back(client_network(address))

    def is_blocked(self, address: str) -> bool:
        """Return whether a network has no failure left."""
        now = asyncio.get_running_loop().time()
        limit = self._network_failures
        return limit is not None and limit.is_empty(client_network(address), now)


def has_credentials(authorization: str | None) -> bool:
    """Return whether an Authorization header carries credentials, right or wrong: something after its scheme."""
    return bool((authorization or "").strip().partition(" ")[2])


def tried_key(authorization: str | None) -> bytes | None:
    """Return the vendor key of Basic credentials, or the id of an API key, in lower case; None if neither can be read."""
    pair = read_basic(authorization) or read_bearer(authorization)
    return None if pair is None else pair[0].lower()


def client_network(address: str) -> str:
    """Return the network that counts as one client: an IPv6 client owns a whole /64."""
    if ":" not in address:
        return address
    try:
        return str(ip_network((address.partition("%")[0], IPV6_CLIENT_NETWORK_BITS), strict=False))
    except ValueError:
        return address
