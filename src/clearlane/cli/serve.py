"""``clearlane serve``: the service in this process, until it is told to stop.

Turns settings into values, opens the house and its doors, and tells people where they are.
"""

import asyncio
import gc
import json
import os
import shlex
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from clearlane.kernel import limits
from clearlane.settings import BadSettings, Settings, load

if TYPE_CHECKING:
    from clearlane.accounts.credentials import Credentials
    from clearlane.api.certificates import Pair
    from clearlane.api.endpoint import Limits
    from clearlane.api.service import Addresses, Service
    from clearlane.wiring import House

app = typer.Typer(help="Run the service.", add_completion=False)

SANDBOX_FILE = "sandbox.json"
ANYWHERE = {"", "0.0.0.0", "::", "*"}  # noqa: S104  (recognised, not listened on)
THIS_MACHINE = {"127.0.0.1", "localhost", "::1"}
HERE_ALONE = "The URLs of proxy login lead to this machine alone."
DO = "Set CLEARLANE_PUBLIC_URL to the address that callers use."
MISUSED = 2
STANDARD_INPUT = 0
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@app.command()
def serve(
    data: Annotated[
        Path | None, typer.Option(help="Directory of the database, keys and certificates.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(help="Port of the front door; 0 picks one.", min=0, max=limits.PORT_MAX),
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address of the front door.")] = None,
    ops_port: Annotated[
        int | None,
        typer.Option(
            help="Port of the operations address; 0 picks one.", min=0, max=limits.PORT_MAX
        ),
    ] = None,
) -> None:
    """Run the service until SIGTERM or SIGINT; running calls are finished first.

    SIGHUP loads the certificate anew, except at a terminal, whose end it is; a changed
    certificate file is loaded by itself.

    Example: clearlane serve --data .data --port 8443
    """
    import uvloop

    from clearlane.api.certificates import BadCertificate
    from clearlane.api.server import PortTaken
    from clearlane.engine.dbos_engine import EngineRefused
    from clearlane.wiring import Refused

    try:
        settings = _settings(data=data, port=port, host=host, ops_port=ops_port)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run(settings))
    except (BadSettings, BadCertificate, EngineRefused, PortTaken, Refused) as refused:
        typer.echo(f"clearlane serve: {refused}", err=True)
        raise typer.Exit(MISUSED) from None


async def run(settings: Settings) -> None:
    """Open everything, say so, wait for the end, close everything."""
    from clearlane.api import logs
    from clearlane.api.certificates import Seal
    from clearlane.api.service import Listeners, Service
    from clearlane.wiring import console, open_house

    listeners = Listeners(_addresses(settings))
    base_url = _base_url(settings, listeners.front.getsockname()[1])
    writer = logs.configure(settings.log_level)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(logs.on_loop_fault)
    stop = asyncio.Event()
    _on_signals(stop.set)
    async with open_house(settings, role="serve") as house:
        pair, ca_file = _certificate(settings, house.wall.now())
        credentials = await _sandbox_account(house) if settings.sandbox else None
        service = Service(
            house,
            listeners,
            Seal(pair),
            limits=_limits(settings),
            trusted_proxies=settings.trusted_proxies,
            sandbox=settings.sandbox,
            base_url=base_url,
            mounted=[console(house, base_url)],
        )
        async with service.open():
            # At a terminal the signal means that the terminal is gone; elsewhere it is an operator's.
            hangup = stop.set if os.isatty(STANDARD_INPUT) else service.reload_certificate
            loop.add_signal_handler(signal.SIGHUP, hangup)
            _keep_what_is_loaded()
            _tell(settings, service, base_url, ca_file, credentials)
            await stop.wait()
            _on_signals(service.stop_now)
    writer.flush()


def _settings(
    *, data: Path | None, port: int | None, host: str | None, ops_port: int | None
) -> Settings:
    overrides = {"data": data, "port": port, "host": host, "operations_port": ops_port}
    settings = load(overrides=overrides)
    if settings.port == 0 and settings.operations_port == Settings().operations_port:
        settings = load(overrides=overrides | {"operations_port": 0})
    if bool(settings.tls_certificate) != bool(settings.tls_key):
        raise BadSettings("CLEARLANE_TLS_CERTIFICATE and CLEARLANE_TLS_KEY go together: give both.")
    return settings


def _addresses(settings: Settings) -> "Addresses":
    from clearlane.api.service import Addresses

    return Addresses(
        host=settings.host,
        port=settings.port,
        operations_host=settings.operations_host,
        operations_port=settings.operations_port,
        plain_port=settings.plain_port,
    )


def _limits(settings: Settings) -> "Limits":
    from clearlane.api.endpoint import Limits

    return Limits(
        body_bytes_max=settings.body_bytes_max,
        body_seconds_max=settings.body_seconds_max,
        header_bytes_max=settings.header_bytes_max,
        header_seconds_max=settings.header_seconds_max,
        stop_seconds_max=settings.stop_seconds_max,
        claims_per_document_max=settings.claims_per_document_max,
        write_seconds_max=settings.write_seconds_max,
        eligibility_x12=settings.eligibility_x12 == "on",
    )


def _certificate(settings: Settings, now: datetime) -> tuple["Pair", Path | None]:
    """The operator's own certificate, checked, or one of the local authority and its file."""
    from clearlane.api.certificates import Pair, check, local_pair

    if settings.tls_certificate:
        own = Pair(Path(settings.tls_certificate).expanduser(), Path(settings.tls_key).expanduser())
        check(own, now)
        return own, None
    named = {settings.host, urlsplit(settings.public_url).hostname or ""} - ANYWHERE
    return local_pair(settings.data / "tls", sorted(named), now)


def _keep_what_is_loaded() -> None:
    """Let the garbage collector pass over what start-up has loaded, and look seldom at what is old.

    Each look at everything would hold all calls up for a quarter of a second while a large document
    is read, and find next to nothing: nearly all of our objects die without it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*limits.GARBAGE_THRESHOLDS)


def _on_signals(then: Callable[[], None]) -> None:
    for name in STOP_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(name, then)


async def _sandbox_account(house: "House") -> "Credentials":
    """The credentials a sandbox starts with: those of the last start while they are known."""
    from clearlane.store.accounts import AccountRefused, ensure_sandbox_account, rotate_secret
    from clearlane.store.database import Actor

    known = _known_password(house.settings.data / SANDBOX_FILE)
    now = house.wall.now()
    found = await ensure_sandbox_account(house.database, house.pepper, now, known)
    if found.password is None and known is None:
        # The file is lost. Another node may still have its own, so old passwords stay a while.
        for hours in (limits.OVERLAP_HOURS_MAX, 0):
            try:
                done = await rotate_secret(
                    house.database,
                    pepper=house.pepper,
                    key=found.vendor_key,
                    overlap=timedelta(hours=hours),
                    now=now,
                    actor=Actor("node", "sandbox"),
                )
            except AccountRefused:
                continue
            assert done.credentials is not None
            found = replace(found, password=done.credentials.password)
            break
    await house.refresh()
    return found


def _known_password(file: Path) -> str | None:
    try:
        password = json.loads(file.read_bytes())["vendor_password"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return password if isinstance(password, str) else None


def _base_url(settings: Settings, port: int) -> str:
    """Where callers reach the service. What a request says of it is never asked."""
    return settings.public_url.rstrip("/") or _url("https", settings.host, port)


def is_known_here_alone(settings: Settings) -> bool:
    """Whether the login URLs that a production installation gives away lead to this machine alone."""
    host = urlsplit(_base_url(settings, settings.port)).hostname
    return not settings.sandbox and host in THIS_MACHINE


def _tell(
    settings: Settings,
    service: "Service",
    base_url: str,
    ca_file: Path | None,
    credentials: "Credentials | None",
) -> None:
    """Say where the service is and how to call it; the last line is for programs."""
    operations_url = _url("http", settings.operations_host, service.operations.port)
    if credentials is not None:
        _write_sandbox_file(settings, base_url, operations_url, ca_file, credentials)
    lines = [
        f"Clearlane {settings.mode} at {base_url}",
        f"  operations  {operations_url}/healthz /readyz /metrics",
        f"  reference   {base_url}/reference",
        f"  console     {base_url}/console/",
        f"  data        {settings.data}",
        "  stop        Ctrl+C, or SIGTERM: running calls are finished first",
        *_first_call(base_url, ca_file, credentials),
        *([f"  warning     {HERE_ALONE} {DO}"] if is_known_here_alone(settings) else []),
        f"clearlane ready {base_url}",
    ]
    typer.echo("\n".join(lines))
    sys.stdout.flush()


def _first_call(
    base_url: str, ca_file: Path | None, credentials: "Credentials | None"
) -> list[str]:
    if credentials is None:
        return [
            "  first steps `clearlane vendor add`, `clearlane site add`, `clearlane payer import`"
        ]
    if credentials.password is None:
        return [f"  the password of {credentials.vendor_key} was changed by an operator"]
    query = f"vendorSiteId={credentials.vendor_site_id}&type=medical"
    words = [
        "curl",
        *(["--cacert", str(ca_file)] if ca_file else []),
        *("-u", f"{credentials.vendor_key}:{credentials.password}"),
        *("-X", "POST", "-H", "Content-Length: 0"),
        f"{base_url}/api/v3/payers/get_list?{query}",
    ]
    return ["", "A first call:", "", f"  {shlex.join(words)}", ""]


def _write_sandbox_file(
    settings: Settings,
    base_url: str,
    operations_url: str,
    ca_file: Path | None,
    credentials: "Credentials",
) -> None:
    from clearlane.store.private_files import write_private

    facts = {
        "base_url": base_url,
        "ca_file": str(ca_file.resolve()) if ca_file else None,
        "vendor_key": credentials.vendor_key,
        "vendor_password": credentials.password,
        "vendor_site_id": credentials.vendor_site_id,
        "operations_url": operations_url,
    }
    write_private(settings.data / SANDBOX_FILE, json.dumps(facts, indent=2).encode() + b"\n")


def _url(scheme: str, host: str, port: int) -> str:
    host = "127.0.0.1" if host in ANYWHERE else host
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
