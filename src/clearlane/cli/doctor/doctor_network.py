"""Checks of ``clearlane doctor`` over the network, as a vendor's program calls the service."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeAlias
from urllib.parse import urlsplit

from clearlane.claims.kinds import JSON_KINDS
from clearlane.cli.command.client_command import ServiceOptions, advice
from clearlane.cli.command.output import counted
from clearlane.cli.doctor.doctor_checks import DoctorCheck, DoctorVerdict, judge
from clearlane.client import (
    Account,
    BaaMissing,
    BadCredentials,
    ClearlaneError,
    Client,
    HttpTransport,
    InvalidRequest,
    NotFound,
    Request,
    Response,
    Retry,
    service_time,
)
from clearlane.client.https import proxy_for
from clearlane.kernel.clock import SystemClock

CONNECT_SECONDS = 10
SKEW_SECONDS_MAX = 60
CERTIFICATE_DAYS_MIN = 14
ONCE = Retry(attempts_max=1)

NetworkCheck: TypeAlias = Callable[[Client, "RecordingTransport"], Iterator[DoctorCheck]]


class RecordingTransport:
    """A transport that records the times that the last response gives."""

    def __init__(self, transport: HttpTransport) -> None:
        self._transport = transport
        self.date = ""
        self.service_time = ""

    def send(self, request: Request) -> Response:
        response = self._transport.send(request)
        self.date = response.headers.get("date", "")
        self.service_time = response.headers.get(service_time.HEADER, "")
        return response

    def close(self) -> None:
        self._transport.close()


def network_checks(options: ServiceOptions) -> Iterator[DoctorCheck]:
    """Yield the checks from the address to the payers; stop if later ones depend on a failed one."""
    try:
        account = options.account()
    except FileNotFoundError as fault:
        yield DoctorCheck(
            "address",
            DoctorVerdict.SKIPPED,
            "No service was named.",
            f"{fault} A service that was just started needs some seconds for it. Or give --url, --key and --site.",
        )
        return
    except (ValueError, OSError) as fault:
        yield DoctorCheck("address", DoctorVerdict.FAULT, "The account cannot be used.", str(fault))
        return
    yield judge("address", f"{account.base_url}, vendor {account.key}, site {account.site}")
    reached = False
    for check in certificate(account):
        yield check
        reached = check.verdict is not DoctorVerdict.FAULT
    if not reached:
        return
    transport = RecordingTransport(HttpTransport(account.ca_file))
    with Client(account, transport=transport, retry=ONCE) as client:
        for network_check in NETWORK_CHECKS:
            found = list(_run_check(network_check, client, transport))
            yield from found
            if any(check.verdict is DoctorVerdict.FAULT for check in found):
                return


def _run_check(
    check: NetworkCheck, client: Client, transport: RecordingTransport
) -> Iterator[DoctorCheck]:
    """Run one check; report a call that fails unexpectedly."""
    try:
        yield from check(client, transport)
    except ClearlaneError as fault:
        yield DoctorCheck(
            "service", DoctorVerdict.FAULT, fault.message, advice(fault) or "Try again later."
        )


def certificate(account: Account) -> Iterator[DoctorCheck]:
    """Check that the service can be reached, and that its certificate is trusted and not about to expire."""
    if proxy_for(account.base_url):
        yield DoctorCheck(
            "certificate", DoctorVerdict.SKIPPED, "A proxy is in between (HTTPS_PROXY)."
        )
        return
    parts = urlsplit(account.base_url)
    host, port = parts.hostname or "", parts.port or 443
    try:
        context = ssl.create_default_context(cafile=account.ca_file)
        with (
            socket.create_connection((host, port), timeout=CONNECT_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=host) as secure,
        ):
            shown = secure.getpeercert() or {}
    except ssl.SSLCertVerificationError as fault:
        yield DoctorCheck(
            "certificate",
            DoctorVerdict.FAULT,
            f"Not trusted: {fault.verify_message}.",
            "Give the file of the service's authority with --ca-file (a sandbox keeps it in DATA/tls/ca.pem).",
        )
    except ssl.SSLError as fault:
        yield DoctorCheck(
            "certificate", DoctorVerdict.FAULT, f"TLS fails: {fault.reason}.", "Is this https?"
        )
    except FileNotFoundError:
        yield DoctorCheck(
            "certificate",
            DoctorVerdict.FAULT,
            f"There is no file {account.ca_file}.",
            "Correct --ca-file.",
        )
    except OSError as fault:
        yield DoctorCheck(
            "connection",
            DoctorVerdict.FAULT,
            f"{host}:{port} cannot be reached: {fault.strerror or fault}.",
            "Start the service (clearlane serve), or correct the address or the firewall.",
        )
    else:
        yield judge("connection", f"{host}:{port} answers.")
        yield certificate_expiry(shown, SystemClock().now())


def certificate_expiry(shown: object, now: datetime) -> DoctorCheck:
    """Check when a certificate expires."""
    until = shown.get("notAfter") if isinstance(shown, dict) else None
    if not isinstance(until, str):
        return judge("certificate", "Trusted.")
    ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(until), UTC)
    says = f"Trusted, until {ends:%Y-%m-%d}."
    ending = (ends - now).days < CERTIFICATE_DAYS_MIN
    return judge("certificate", says, "Renew the certificate." if ending else "")


def credentials(client: Client, transport: RecordingTransport) -> Iterator[DoctorCheck]:
    """Check that the service knows the vendor and the site."""
    failed: DoctorCheck | None = None
    try:
        client.payers()
    except BadCredentials as fault:
        failed = DoctorCheck("credentials", DoctorVerdict.FAULT, fault.message, advice(fault))
    except InvalidRequest as fault:
        failed = DoctorCheck(
            "site",
            DoctorVerdict.FAULT,
            fault.message,
            "Give the vendor site id you were assigned with --site; operators: clearlane site list.",
        )
    yield clock_skew(transport.date, SystemClock().now())
    yield from sandbox_time(transport.date, transport.service_time)
    if failed is None or failed.name == "site":
        yield judge("credentials", "The service knows the vendor key and its password.")
    yield failed or judge("site", "The site is the vendor's.")


def clock_skew(date: str, now: datetime) -> DoctorCheck:
    """Check how far this machine's clock is from the service's."""
    try:
        off = (now - parsedate_to_datetime(date)).total_seconds()
    except (ValueError, TypeError):
        return DoctorCheck("clock", DoctorVerdict.SKIPPED, "The service sends no time.")
    says = (
        f"{counted(round(abs(off)), 'second')} {'ahead of' if off > 0 else 'behind'} the service."
    )
    too_far = abs(off) > SKEW_SECONDS_MAX
    return judge("clock", says, "Set this machine's clock (NTP)." if too_far else "")


def sandbox_time(date: str, service_time: str) -> Iterator[DoctorCheck]:
    """Say how far a sandbox's clock is ahead of real time; nothing if the service's time is the real one."""
    try:
        moment = datetime.fromisoformat(service_time)
        ahead = int((moment - parsedate_to_datetime(date)).total_seconds())
    except (ValueError, TypeError):
        return
    if ahead <= SKEW_SECONDS_MAX:
        return
    days, hours, minutes = ahead // 86_400, ahead % 86_400 // 3_600, ahead % 3_600 // 60
    says = f"Its day is {moment:%Y-%m-%d}, {counted(days, 'day')} {hours:02}:{minutes:02} ahead of real time."
    yield judge("sandbox", f"{says} To start over: clearlane sandbox reset.")


def agreement(client: Client, transport: RecordingTransport) -> Iterator[DoctorCheck]:
    """Check that patient data may be sent for this site, with a call that reads nothing."""
    try:
        # A service that refuses the empty list has checked the agreement before the body.
        with suppress(InvalidRequest):
            client.payer_documents([])
    except BaaMissing as fault:
        yield DoctorCheck("baa", DoctorVerdict.FAULT, fault.message, advice(fault))
    except NotFound:
        yield DoctorCheck(
            "baa", DoctorVerdict.SKIPPED, "The service does not have the call for this check."
        )
    else:
        yield judge("baa", "The client has accepted the agreement.")


def payers(client: Client, transport: RecordingTransport) -> Iterator[DoctorCheck]:
    """Check that there are payers."""
    found = {kind: len(client.payers(kind)) + len(client.test_payers(kind)) for kind in JSON_KINDS}
    says = ", ".join(f"{count} {kind}" for kind, count in found.items())
    do = "" if any(found.values()) else "Operators: clearlane payer import FILE."
    yield judge("payers", says, do)


NETWORK_CHECKS: tuple[NetworkCheck, ...] = (credentials, agreement, payers)
