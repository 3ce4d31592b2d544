"""The HTTP side of webhooks: which addresses are allowed, and one POST with one short answer.

The same guard as for payers: the name is resolved and checked, and the connection goes to the address that was
checked. Redirects are not followed, and of an answer only its status and first kilobyte are read.
"""

import asyncio
import importlib.util
import ipaddress
import ssl
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from clearlane.connect.address_guard import Lookup, is_internal_host, query_name_server, resolve
from clearlane.connect.port import Denied, Unreachable

# httpx brings what takes a tenth of a second and six megabytes: functions import it, so that a node without webhooks, and
# its start, do without.
if TYPE_CHECKING:
    import httpx

# httpx's transport tries to import sniffio nine times a request, and Python searches every folder again for a module that
# is not installed: half of the time of a delivery. None in sys.modules says at once that there is none.
if importlib.util.find_spec("sniffio") is None:
    sys.modules["sniffio"] = None  # type: ignore[assignment]  # as the import system documents it

WEBHOOK_SECONDS_MAX = 10
ADDRESS_SECONDS, ADDRESSES_KEPT_MAX = 10.0, 1_000
WEBHOOK_ANSWER_BYTES_MAX = 1_024
IDLE_SECONDS, IDLE_CLIENTS_MAX = 5.0, 100
WEBHOOK_URL_CHARACTERS_MAX = 2_000
SUCCESS = range(200, 300)
# httpx applies its limit to the connection and again to the handshake, and leaves sockets open when canceled: so its
# own limits end first.
TIMEOUTS = {"connect": WEBHOOK_SECONDS_MAX * 0.45, "read": 9.5, "write": 9.5, "pool": 9.5}


@dataclass(frozen=True, slots=True)
class WebhookAnswer:
    """What an endpoint answered; a fault if it did not."""

    status: int | None = None
    body: bytes = field(default=b"", repr=False)
    fault: str = ""

    @property
    def is_success(self) -> bool:
        return self.status in SUCCESS


def address_fault(url: str, *, sandbox: bool) -> str:
    """Return why webhooks cannot be sent to an address, and what would pass; empty if they can."""
    if len(url) > WEBHOOK_URL_CHARACTERS_MAX:
        return f"It has more than {WEBHOOK_URL_CHARACTERS_MAX} characters."
    import httpx

    try:
        parsed = httpx.URL(url)
        port = parsed.port
    except (httpx.InvalidURL, ValueError):
        return "It is not a web address: give one such as https://example.com/hook."
    if not parsed.host:
        return "It names no host: give an address such as https://example.com/hook."
    if parsed.userinfo:
        return "It holds a user name or password: give it without, webhooks are signed."
    if port is not None and not 0 < port < 65_536:
        return "Its port must be a number from 1 to 65535."
    if parsed.scheme == "http" and sandbox and _is_loopback(parsed.host):
        return ""
    if parsed.scheme != "https":
        local = ", or http://127.0.0.1 on this machine" if sandbox else ""
        return f"It must begin with https://{local}."
    if is_internal_host(parsed.host) and not (sandbox and _is_loopback(parsed.host)):
        return "It is in an internal network: give an address that is reached over the internet."
    return ""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_Origin = tuple[str, str, int | None, str]
"""Scheme, host, port, and the address that was checked."""


class _IdleClient(NamedTuple):
    """A client with its open connection, if the other side kept it."""

    origin: _Origin
    client: "httpx.AsyncClient"
    since: float


class WebhookSender:
    """Posts webhooks, any number of them at a time; each has its own limits."""

    def __init__(self, *, sandbox: bool, lookup: Lookup = query_name_server) -> None:
        self._sandbox = sandbox
        self._lookup = lookup
        self._idle: list[_IdleClient] = []
        """Those used longest ago first."""
        self._tls: ssl.SSLContext | None = None
        self._addresses: dict[tuple[str, int], tuple[str, float]] = {}
        """Checked addresses by host and port, each with the time until which it is used without another look."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> WebhookAnswer:
        """Post one message; never raises for what the endpoint does."""
        if fault := address_fault(url, sandbox=self._sandbox):
            return WebhookAnswer(fault=fault)
        import httpx

        try:
            async with asyncio.timeout(WEBHOOK_SECONDS_MAX):
                return await self._post(httpx.URL(url), headers, body)
        except (TimeoutError, httpx.TimeoutException):
            fault = f"It did not answer in {WEBHOOK_SECONDS_MAX} seconds."
        except Denied:
            fault = "Its name leads to an internal network, which is not allowed."
        except Unreachable as unreachable:
            fault = str(unreachable)
        except (httpx.HTTPError, ssl.SSLError, OSError) as error:
            fault = _connection_fault(error)
        return WebhookAnswer(fault=fault)

    async def close(self) -> None:
        """Close every connection."""
        idle, self._idle = self._idle, []
        for one in idle:
            await one.client.aclose()

    async def _post(
        self, url: "httpx.URL", headers: Mapping[str, str], body: bytes
    ) -> WebhookAnswer:
        address = await self._address(url)
        origin = (url.scheme, url.host, url.port, address)
        client = self._take(origin)
        try:
            answer = await self._post_over(client, url, address, headers, body)
        except BaseException:
            # What was cut off may hold the only place of its client.
            await client.aclose()
            raise
        await self._give_back(origin, client)
        return answer

    def _take(self, origin: "_Origin") -> "httpx.AsyncClient":
        """Return a client that was used for the same origin, the latest one, or a new one.

        Each has one connection. A pool of many looks at every idle one several times a request, which is a quarter of a
        delivery.
        """
        for at in range(len(self._idle) - 1, -1, -1):
            if self._idle[at].origin == origin:
                return self._idle.pop(at).client
        import httpx

        if self._tls is None:
            self._tls = httpx.create_ssl_context(trust_env=False)
        return httpx.AsyncClient(
            follow_redirects=False,
            trust_env=False,
            verify=self._tls,
            limits=httpx.Limits(max_connections=1),
        )

    async def _give_back(self, origin: "_Origin", client: "httpx.AsyncClient") -> None:
        """Keep a client for the next message, and close those that were not used for some seconds or are too many."""
        now = asyncio.get_running_loop().time()
        self._idle.append(_IdleClient(origin, client, now))
        # Others may take clients while one is closed.
        while self._idle and (
            len(self._idle) > IDLE_CLIENTS_MAX or self._idle[0].since < now - IDLE_SECONDS
        ):
            await self._idle.pop(0).client.aclose()

    async def _post_over(
        self,
        client: "httpx.AsyncClient",
        url: "httpx.URL",
        address: str,
        headers: Mapping[str, str],
        body: bytes,
    ) -> WebhookAnswer:
        import httpx

        request = client.build_request(
            "POST",
            url.copy_with(host=address),
            headers={
                **headers,
                "Host": url.netloc.decode("ascii"),
                "Content-Type": "application/json",
                "User-Agent": "Clearlane-Webhooks",
                # A compressed answer could be a small one that grows without end.
                "Accept-Encoding": "identity",
            },
            content=body,
            extensions={"sni_hostname": url.host, "timeout": TIMEOUTS},
        )
        try:
            response = await client.send(request, stream=True)
        except (httpx.HTTPError, OSError):
            self._addresses.clear()
            raise
        try:
            return WebhookAnswer(response.status_code, await _first_bytes(response))
        finally:
            await response.aclose()

    async def _address(self, url: "httpx.URL") -> str:
        """Return the address of a host, checked; one look is good for some seconds, as its owner may move it."""
        port = url.port or (443 if url.scheme == "https" else 80)
        now = asyncio.get_running_loop().time()
        address, until = self._addresses.get((url.host, port), ("", 0.0))
        if now >= until:
            address = await resolve(
                url.host,
                port,
                allow_internal=self._sandbox and _is_loopback(url.host),
                seconds=WEBHOOK_SECONDS_MAX,
                lookup=self._lookup,
            )
            if len(self._addresses) >= ADDRESSES_KEPT_MAX:
                self._addresses.clear()
            self._addresses[url.host, port] = (address, now + ADDRESS_SECONDS)
        return address


async def _first_bytes(response: "httpx.Response") -> bytes:
    """Return the beginning of an answer; the rest is not read."""
    content = b""
    async for chunk in response.aiter_raw(WEBHOOK_ANSWER_BYTES_MAX):
        content += chunk
        if len(content) >= WEBHOOK_ANSWER_BYTES_MAX:
            break
    return content[:WEBHOOK_ANSWER_BYTES_MAX]


def _connection_fault(error: BaseException) -> str:
    import httpx

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return "Its certificate was not accepted, or the TLS handshake failed."
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, (httpx.ConnectError, ConnectionRefusedError)):
        return "It cannot be reached."
    return "The connection was lost."
