"""The doctor's look from outside: everything between a vendor's program and its first claim."""

import socket
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeAlias
from urllib.parse import urlsplit

from clearlane.cli.client_command import Where, advice
from clearlane.cli.doctor import Check, Verdict, fine
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
)
from clearlane.client.https import proxy_of
from clearlane.kernel.clock import SystemClock

CONNECT_SECONDS = 10
SKEW_SECONDS_MAX = 60
CERTIFICATE_DAYS_MIN = 14
ONCE = Retry(attempts_max=1)

Look: TypeAlias = Callable[[Client, "Witness"], Iterator[Check]]


class Witness:
    """A transport that remembers the headers of the last answer."""

    def __init__(self, line: HttpTransport) -> None:
        self._line = line
        self.date = ""

    def send(self, request: Request) -> Response:
        response = self._line.send(request)
        self.date = response.headers.get("date", "")
        return response

    def close(self) -> None:
        self._line.close()


def network_checks(where: Where) -> Iterator[Check]:
    """From the address to the payers; what needs an earlier step is not tried without it."""
    try:
        account = where.account()
    except FileNotFoundError as fault:
        yield Check(
            "address",
            Verdict.SKIPPED,
            "No service was named.",
            f"{fault} Or give --url, --key and --site.",
        )
        return
    except (ValueError, OSError) as fault:
        yield Check("address", Verdict.FAULT, "The account cannot be used.", str(fault))
        return
    yield fine("address", f"{account.base_url}, vendor {account.key}, site {account.site}")
    reached = False
    for check in certificate(account):
        yield check
        reached = check.verdict is not Verdict.FAULT
    if not reached:
        return
    witness = Witness(HttpTransport(account.ca_file))
    with Client(account, transport=witness, retry=ONCE) as client:
        for look in LOOKS:
            found = list(_looked(look, client, witness))
            yield from found
            if any(check.verdict is Verdict.FAULT for check in found):
                return


def _looked(look: Look, client: Client, witness: Witness) -> Iterator[Check]:
    """One look; a call that fails unforeseen ends it."""
    try:
        yield from look(client, witness)
    except ClearlaneError as fault:
        yield Check("service", Verdict.FAULT, fault.message, advice(fault) or "Try again later.")


def certificate(account: Account) -> Iterator[Check]:
    """Whether the service can be reached, and shows a certificate that is trusted and lasts."""
    if proxy_of(account.base_url):
        yield Check("certificate", Verdict.SKIPPED, "A proxy stands between (HTTPS_PROXY).")
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
        yield Check(
            "certificate",
            Verdict.FAULT,
            f"Not trusted: {fault.verify_message}.",
            "Give the file of the service's authority with --ca-file (a sandbox keeps it in DATA/tls/ca.pem).",
        )
    except ssl.SSLError as fault:
        yield Check("certificate", Verdict.FAULT, f"TLS fails: {fault.reason}.", "Is this https?")
    except FileNotFoundError:
        yield Check(
            "certificate",
            Verdict.FAULT,
            f"There is no file {account.ca_file}.",
            "Correct --ca-file.",
        )
    except OSError as fault:
        yield Check(
            "connection",
            Verdict.FAULT,
            f"{host}:{port} cannot be reached: {fault.strerror or fault}.",
            "Start the service (clearlane serve), or correct the address or the firewall.",
        )
    else:
        yield fine("connection", f"{host}:{port} answers.")
        yield lasting(shown, SystemClock().now())


def lasting(shown: object, now: datetime) -> Check:
    """How long a certificate still lasts."""
    until = shown.get("notAfter") if isinstance(shown, dict) else None
    if not isinstance(until, str):
        return fine("certificate", "Trusted.")
    ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(until), UTC)
    says = f"Trusted, until {ends:%Y-%m-%d}."
    if (ends - now).days < CERTIFICATE_DAYS_MIN:
        return Check("certificate", Verdict.WARNING, says, "Renew the certificate.")
    return fine("certificate", says)


def credentials(client: Client, witness: Witness) -> Iterator[Check]:
    """Whether the service knows the vendor and the site."""
    said: Check | None = None
    try:
        client.payers()
    except BadCredentials as fault:
        said = Check("credentials", Verdict.FAULT, fault.message, advice(fault))
    except InvalidRequest as fault:
        said = Check(
            "site",
            Verdict.FAULT,
            fault.message,
            "Give the vendor site id you were assigned with --site; operators: clearlane site list.",
        )
    yield skew(witness.date, SystemClock().now())
    if said is None or said.name == "site":
        yield fine("credentials", "The service knows the vendor key and its password.")
    yield said or fine("site", "The site is the vendor's.")


def skew(date: str, now: datetime) -> Check:
    """How far this machine's clock is from the service's."""
    try:
        off = (now - parsedate_to_datetime(date)).total_seconds()
    except (ValueError, TypeError):
        return Check("clock", Verdict.SKIPPED, "The service does not tell its time.")
    says = f"{abs(off):.0f} seconds {'ahead of' if off > 0 else 'behind'} the service."
    if abs(off) > SKEW_SECONDS_MAX:
        return Check("clock", Verdict.WARNING, says, "Set this machine's clock (NTP).")
    return fine("clock", says)


def agreement(client: Client, witness: Witness) -> Iterator[Check]:
    """Whether patient data may be sent for this site: asked by a call that reads nothing."""
    try:
        client.payer_documents([])
    except BaaMissing as fault:
        yield Check("baa", Verdict.FAULT, fault.message, advice(fault))
    except NotFound:
        yield Check("baa", Verdict.SKIPPED, "The service lacks the call that would tell.")
    except InvalidRequest:  # the agreement is looked at before the body is
        yield fine("baa", "The client has accepted the agreement.")
    else:
        yield fine("baa", "The client has accepted the agreement.")


def payers(client: Client, witness: Witness) -> Iterator[Check]:
    """Whether there is anybody to send claims to."""
    found = {
        kind: len(client.payers(kind)) + len(client.test_payers(kind))
        for kind in ("medical", "dental")
    }
    says = ", ".join(f"{count} {kind}" for kind, count in found.items())
    if any(found.values()):
        yield fine("payers", says)
    else:
        yield Check("payers", Verdict.WARNING, says, "Operators: clearlane payer import FILE.")


LOOKS: tuple[Look, ...] = (credentials, agreement, payers)
