"""The HTTPS connection of CAQH CORE: one service, one login, one answer for each request.

The certificate of the service is always verified. The connection goes to the address that was
checked, whatever its name resolves to a moment later. Does not interpret answers.
"""

import asyncio
import ssl
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import httpx

from clearlane.connect import caqh_core_envelope
from clearlane.connect.address_guard import Lookup, query_name_server, resolve
from clearlane.connect.caqh_core_envelope import (
    CoreEnvelope,
    CoreLogin,
    CoreOperation,
    EnvelopeForm,
    UnreadableEnvelope,
)
from clearlane.connect.connection_check import ConnectionCheck, run_checks
from clearlane.connect.port import Denied, Presence, Unreachable
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.payers.routes import Route, RouteSecrets


@dataclass(frozen=True, slots=True)
class CoreHttpResponse:
    """An HTTP response of a CORE service."""

    status: int
    content_type: str
    body: bytes = field(repr=False)


class CoreConnection:
    """HTTPS connection to one CORE service with one login."""

    def __init__(
        self, route: Route, secrets: RouteSecrets, clock: Clock, lookup: Lookup = query_name_server
    ) -> None:
        self.route = route
        self._secrets = secrets
        self._clock = clock
        self._lookup = lookup
        self._url = httpx.URL(route.text("url"))
        self._client: httpx.AsyncClient | None = None

    async def send(
        self, operation: CoreOperation, envelope: CoreEnvelope, *, seconds: float, bytes_max: int
    ) -> CoreHttpResponse:
        """Post an envelope and return the response; one larger than ``bytes_max`` is refused."""
        try:
            kind, body = caqh_core_envelope.write(
                EnvelopeForm(self.route.text("form")),
                operation,
                envelope,
                self._login(),
                generic=operation.batch and self.route.text("actions") == "generic",
                inline=operation.batch and self.route.text("attachment") == "inline",
            )
        except UnreadableEnvelope as unfit:
            raise Denied(str(unfit)) from None
        try:
            async with asyncio.timeout(seconds):
                return await self._post(kind, body, seconds, bytes_max)
        except (httpx.HTTPError, ssl.SSLError, OSError) as fault:
            if isinstance(fault, (TimeoutError, httpx.TimeoutException)):
                raise TimeoutError from None
            raise self._connection_fault(fault) from None

    def envelope(
        self, payload_type: str, *, payload_id: str = "", payload: bytes | None = None
    ) -> CoreEnvelope:
        """Return an envelope from the route's sender to its receiver, with the time and an id."""
        route = self.route
        return CoreEnvelope(
            payload_type=payload_type,
            payload_id=payload_id or str(uuid4()),
            sender_id=route.text("core_sender") or route.text("sender_id"),
            receiver_id=route.text("core_receiver") or route.text("receiver_id"),
            time_stamp=f"{self._clock.now():%Y-%m-%dT%H:%M:%SZ}",
            payload=payload,
        )

    async def close(self) -> None:
        """Close the http client."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def check(self) -> list[ConnectionCheck]:
        """Resolve the name and make a TLS handshake; no request is sent."""

        async def address() -> str:
            found = await self._address()
            return (
                f"{found} is an address"
                if found == self._url.host
                else f"{self._url.host} is {found}"
            )

        async def tls() -> str:
            seconds = limits.CONNECT_SECONDS_MAX
            try:
                async with asyncio.timeout(seconds):
                    version = await self._shake_hands(await self._address())
            except TimeoutError:
                message = f"{self._address_text} did not answer in {seconds} seconds."
                raise Unreachable(message, Presence.ABSENT) from None
            except (ssl.SSLError, OSError) as fault:
                raise self._connection_fault(fault) from None
            # A service of the standard has no call that only logs in.
            login = (
                "; the login goes with each message, and was not tried"
                if self.route.text("username")
                else ""
            )
            return f"the certificate of {self._address_text} is trusted, {version}{login}"

        return await run_checks([("address", address), ("certificate", tls)])

    @property
    def _address_text(self) -> str:
        return f"{self._url.host}:{self._url.port or 443}"

    def _login(self) -> CoreLogin | None:
        password = self._secrets.password
        return None if password is None else CoreLogin(self.route.text("username"), password)

    async def _address(self) -> str:
        return await resolve(
            self._url.host,
            self._url.port or 443,
            allow_internal=self.route.flag("allow_internal"),
            seconds=limits.CONNECT_SECONDS_MAX,
            lookup=self._lookup,
        )

    async def _post(
        self, kind: str, body: bytes, seconds: float, bytes_max: int
    ) -> CoreHttpResponse:
        address = await self._address()
        if self._client is None:
            self._client = self._new_client()
        request = self._client.build_request(
            "POST",
            self._url.copy_with(host=address),
            headers={
                "Host": self._url.netloc.decode("ascii"),
                "Content-Type": kind,
                # A compressed answer could be a small one that grows without end.
                "Accept-Encoding": "identity",
            },
            content=body,
            extensions={"sni_hostname": self._url.host, "timeout": self._timeouts(seconds)},
        )
        response = await self._client.send(request, stream=True)
        try:
            content = await _read_bounded(response, bytes_max)
        finally:
            await response.aclose()
        return CoreHttpResponse(
            response.status_code, response.headers.get("Content-Type", ""), content
        )

    def _timeouts(self, seconds: float) -> dict[str, float]:
        """Return timeouts for httpx that end before ``seconds``: it leaves sockets open when canceled."""
        silence = float(self.route.number("seconds_max"))
        return {
            # httpx applies it to the connection and again to the handshake.
            "connect": min(silence, limits.CONNECT_SECONDS_MAX, seconds) * 0.45,
            "read": silence,
            "write": silence,
            "pool": silence,
        }

    def _new_client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            verify=self._context(), follow_redirects=False, trust_env=False, http2=False
        )

    def _context(self) -> ssl.SSLContext:
        """Return a TLS context that always verifies; a route may add an authority, never remove one."""
        context = ssl.create_default_context()
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            if authority := self.route.text("authority"):
                context.load_verify_locations(cadata=authority)
            if (certificate := self._secrets.client_certificate) is not None:
                _load_client_certificate(context, certificate)
        except (ssl.SSLError, ValueError, OSError):
            raise Denied("A certificate or key of the route cannot be read.") from None
        return context

    async def _shake_hands(self, address: str) -> str:
        _, writer = await asyncio.open_connection(
            address, self._url.port or 443, ssl=self._context(), server_hostname=self._url.host
        )
        try:
            return str(writer.get_extra_info("ssl_object").version())
        finally:
            writer.close()
            with suppress(OSError, ssl.SSLError):
                await writer.wait_closed()

    def _connection_fault(self, fault: BaseException) -> Unreachable | Denied:
        """Return the fault for an error of the connection."""
        chain = _causes(fault)
        if any(isinstance(each, ssl.SSLCertVerificationError) for each in chain):
            return Denied(f"{self._address_text} has a certificate of no trusted authority.")
        if any("ALERT" in str(getattr(each, "reason", "")) for each in chain):
            return Denied(
                f"{self._address_text} refused the TLS handshake, perhaps the client certificate."
            )
        if isinstance(fault, (httpx.ConnectError, ConnectionRefusedError)):
            return Unreachable(f"{self._address_text} cannot be reached.", Presence.ABSENT)
        return Unreachable(f"The connection to {self._address_text} was lost.")


async def _read_bounded(response: httpx.Response, bytes_max: int) -> bytes:
    content = bytearray()
    async for chunk in response.aiter_raw(limits.CHUNK_BYTES):
        content += chunk
        if len(content) > bytes_max:
            raise Unreachable(f"The answer is larger than {bytes_max} bytes.")
    return bytes(content)


def _load_client_certificate(context: ssl.SSLContext, certificate: str) -> None:
    """Load a client certificate through a private temporary file: the library reads files only."""
    with tempfile.TemporaryDirectory(prefix="clearlane-") as private:
        file = Path(private) / "client.pem"
        file.touch(mode=0o600)
        file.write_text(certificate, encoding="utf-8")
        # Without a password given here, a locked key would ask for one on the terminal.
        context.load_cert_chain(file, password=_no_password)


def _no_password() -> str:
    raise ValueError("the key is locked")


def _causes(fault: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while fault is not None and fault not in found:
        found.append(fault)
        fault = fault.__cause__ or fault.__context__
    return found
