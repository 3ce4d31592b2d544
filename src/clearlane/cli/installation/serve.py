"""``clearlane serve``: run the service until it is stopped.

Reads settings, opens the installation and its listeners, and prints their addresses.
"""

import asyncio
import gc
import json
import os
import shlex
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from clearlane.kernel import limits
from clearlane.settings import InvalidSettings, Settings, load, serving_faults

if TYPE_CHECKING:
    from clearlane.accounts.credentials import Credentials
    from clearlane.api.frame.endpoint import ApiLimits
    from clearlane.api.http.certificates import CertificatePair
    from clearlane.api.service import ListenAddresses, ListenSockets, Service
    from clearlane.sftp_server.listener import SftpServer
    from clearlane.wiring import Installation

# The garbage collector of a node: new objects per collection of the first generation, collections of the first
# per one of the second, and of the second per full collection (gc.set_threshold).
GARBAGE_THRESHOLDS = (10_000, 5, 1_000)

app = typer.Typer(help="Run the service.", add_completion=False)

SANDBOX_FILE = "sandbox.json"
WILDCARD_HOSTS = {"", "0.0.0.0", "::", "*"}  # noqa: S104  (recognized, not listened on)
LOCAL_HOSTS = {"127.0.0.1", "localhost", "::1"}
LOCAL_URL_WARNING = "The URLs of proxy login work on this machine only."
LOCAL_URL_ADVICE = "Set CLEARLANE_PUBLIC_URL to the address that callers use."
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
        typer.Option(
            help="Port of the API and the console; 0 picks one.", min=0, max=limits.PORT_MAX
        ),
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address of the API and the console.")] = None,
    ops_port: Annotated[
        int | None,
        typer.Option(
            help="Port of the operations address; 0 picks one.", min=0, max=limits.PORT_MAX
        ),
    ] = None,
    sftp: Annotated[
        int | None,
        typer.Option(
            help="Port of the SFTP server, which is off without it; 0 picks one.",
            min=0,
            max=limits.PORT_MAX,
        ),
    ] = None,
) -> None:
    """Run the service until SIGTERM or SIGINT; running calls are finished first.

    SIGHUP reloads the certificate, except at a terminal, where it stops the service; a changed
    certificate file is reloaded by itself.

    Example: clearlane serve --data .data --port 8443
    """
    gc.disable()  # until the node has started: imports make a million objects and next to no garbage
    import uvloop

    from clearlane.api.http.certificates import BadCertificate
    from clearlane.api.http.server import ListenError
    from clearlane.engine.dbos_engine import EngineRefused
    from clearlane.wiring import OperationRefused

    try:
        settings = _settings(data=data, port=port, host=host, ops_port=ops_port, sftp=sftp)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run(settings))
    except (
        InvalidSettings,
        BadCertificate,
        EngineRefused,
        ListenError,
        OperationRefused,
    ) as refused:
        typer.echo(f"clearlane serve: {refused}", err=True)
        raise typer.Exit(MISUSED) from None


async def run(settings: Settings) -> None:
    """Open the service, announce it, and close it when a signal stops it."""
    from clearlane.api.http.certificates import TlsCertificate
    from clearlane.api.http.memory_release import limit_arenas
    from clearlane.api.operations import logs
    from clearlane.api.service import ListenSockets, Service
    from clearlane.wiring import open_installation
    from clearlane.wiring.faces import mount_console, open_sftp_server

    limit_arenas()  # before the first thread starts
    listeners = ListenSockets(_addresses(settings))
    sftp_listeners = _sftp_listeners(settings, listeners)
    base_url = _base_url(settings, listeners.api.getsockname()[1])
    writer = logs.configure(settings.log_level, settings.log_format)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(logs.log_loop_fault)
    logs.change_level_on_signals(loop, settings.log_level)
    stop = asyncio.Event()
    _on_signals(stop.set)
    async with open_installation(settings, role="serve") as installation:
        logs.log_start(installation.engine.node, role="serve", mode=settings.mode)
        pair, ca_file = _certificate(settings, installation.wall.now())
        credentials = await _sandbox_account(installation) if settings.sandbox else None
        service = Service(
            installation,
            listeners,
            TlsCertificate(pair, settings.tls_suites),
            limits=_limits(settings),
            trusted_proxies=settings.trusted_proxies,
            sandbox=settings.sandbox,
            base_url=base_url,
            mounted=[mount_console(installation, base_url)],
        )
        async with service.open(), open_sftp_server(installation, sftp_listeners) as sftp:
            # At a terminal SIGHUP means that the terminal was closed; elsewhere an operator sent it.
            hangup = stop.set if os.isatty(STANDARD_INPUT) else service.reload_certificate
            loop.add_signal_handler(signal.SIGHUP, hangup)
            _tune_garbage_collector()
            _announce(settings, installation, service, sftp, base_url, ca_file, credentials)
            await stop.wait()
            logs.log_stopping()
            _on_signals(service.stop_now)
    logs.log_stop(writer)


def _settings(
    *,
    data: Path | None,
    port: int | None,
    host: str | None,
    ops_port: int | None,
    sftp: int | None,
) -> Settings:
    overrides = {
        "data": data,
        "port": port,
        "host": host,
        "operations_port": ops_port,
        "sftp_port": None if sftp is None else str(sftp),
    }
    settings = load(overrides=overrides)
    if faults := serving_faults(settings):
        raise InvalidSettings("\n".join(map(str, faults)))
    return settings


def _addresses(settings: Settings) -> "ListenAddresses":
    from clearlane.api.service import ListenAddresses

    return ListenAddresses(
        host=settings.host,
        port=settings.port,
        operations_host=settings.operations_host,
        operations_port=settings.operations_port,
        plain_port=settings.plain_port,
    )


def _sftp_listeners(settings: Settings, others: "ListenSockets") -> list[socket.socket]:
    """Return the sockets of the SFTP server: none if it is off, a second one for older algorithms."""
    from clearlane.api.http.server import ListenError, listen

    ports = {
        "--sftp or CLEARLANE_SFTP_PORT": settings.sftp_port,
        "CLEARLANE_SFTP_OLDER_PORT": settings.sftp_older_port if settings.sftp_port else "",
    }
    host = settings.sftp_host or settings.host
    own = {
        one.getsockname()[1]: words
        for one, words in (
            (others.api, "the service"),
            (others.operations, "the operations of this service"),
            (others.plain, "the plain listener of this service"),
        )
        if one is not None
    }
    found: list[socket.socket] = []
    for name, port in ports.items():
        if not port:
            continue
        try:
            found.append(listen(host, int(port), "The SFTP address", name))
        except ListenError:
            if int(port) not in own:
                raise
            wrong = f"The SFTP address: {port} is the port of {own[int(port)]}. Choose another by {name}."
            raise ListenError(wrong) from None
    return found


def _limits(settings: Settings) -> "ApiLimits":
    from clearlane.api.frame.endpoint import ApiLimits

    return ApiLimits(
        body_bytes_max=settings.body_bytes_max,
        documents_per_call_max=settings.documents_per_call_max,
        body_seconds_max=settings.body_seconds_max,
        header_bytes_max=settings.header_bytes_max,
        header_seconds_max=settings.header_seconds_max,
        stop_seconds_max=settings.stop_seconds_max,
        calls_per_minute_max=settings.calls_per_minute_max,
    )


def _certificate(settings: Settings, now: datetime) -> tuple["CertificatePair", Path | None]:
    """Return the operator's certificate, checked, or one of the local authority and the authority's file."""
    from clearlane.api.http.certificates import CertificatePair, check_pair, ensure_local_pair

    if settings.tls_certificate:
        own = CertificatePair(
            Path(settings.tls_certificate).expanduser(), Path(settings.tls_key).expanduser()
        )
        check_pair(own, now)
        return own, None
    named = {settings.host, urlsplit(settings.public_url).hostname or ""} - WILDCARD_HOSTS
    return ensure_local_pair(settings.data / "tls", sorted(named), now)


def _tune_garbage_collector() -> None:
    """Exclude everything loaded so far from garbage collection, and collect old objects rarely.

    A full collection would block all calls for a quarter of a second while a large document is read,
    and find next to nothing: nearly all objects are freed by their reference counts. So it does at the end of a start: of 400,000
    objects 1,400 are garbage.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(*GARBAGE_THRESHOLDS)


def _on_signals(callback: Callable[[], None]) -> None:
    for name in STOP_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(name, callback)


async def _sandbox_account(installation: "Installation") -> "Credentials":
    """Return the credentials of a sandbox: those of the last start while they are known."""
    from clearlane.store.accounts.accounts import AccountRefused, rotate_secret
    from clearlane.store.database.database import Actor
    from clearlane.store.installation.sandbox_account import ensure_sandbox_account

    known = _known_password(installation.settings.data / SANDBOX_FILE)
    now = installation.wall.now()
    found = await ensure_sandbox_account(installation.database, installation.pepper, now, known)
    if found.password is None and known is None:
        # The file is lost. Another node may still have its own, so old passwords stay valid a while.
        for hours in (limits.OVERLAP_HOURS_MAX, 0):
            try:
                done = await rotate_secret(
                    installation.database,
                    pepper=installation.pepper,
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
    await installation.refresh()
    return found


def _known_password(file: Path) -> str | None:
    try:
        password = json.loads(file.read_bytes())["vendor_password"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return password if isinstance(password, str) else None


def _base_url(settings: Settings, port: int) -> str:
    """Return the URL for callers, from the settings alone, never from a request."""
    return settings.public_url.rstrip("/") or server_url("https", settings.host, port)


def has_local_url_only(settings: Settings) -> bool:
    """Return whether the login URLs of a production installation work on this machine only."""
    host = urlsplit(_base_url(settings, settings.port)).hostname
    return not settings.sandbox and host in LOCAL_HOSTS


def _announce(
    settings: Settings,
    installation: "Installation",
    service: "Service",
    sftp: "SftpServer | None",
    base_url: str,
    ca_file: Path | None,
    credentials: "Credentials | None",
) -> None:
    """Print the service's addresses and a first call; the last line is for programs."""
    operations_url = server_url("http", settings.operations_host, service.operations_server.port)
    if credentials is not None:
        _write_sandbox_file(settings, base_url, operations_url, ca_file, credentials)
    lines = [
        f"Clearlane {settings.mode} at {base_url}",
        f"  operations  {operations_url}/healthz /readyz /metrics",
        f"  reference   {base_url}/reference",
        f"  console     {base_url}/console/",
        *([f"  sftp        port {sftp.port}"] if sftp else []),
        f"  data        {settings.data}",
        "  stop        Ctrl+C, or SIGTERM: running calls are finished first",
        *_first_call(base_url, ca_file, credentials),
        *(
            [f"  warning     {LOCAL_URL_WARNING} {LOCAL_URL_ADVICE}"]
            if has_local_url_only(settings)
            else []
        ),
        *_set_back_lines(installation),
        f"clearlane ready {base_url}",
    ]
    typer.echo("\n".join(lines))
    sys.stdout.flush()


def _set_back_lines(installation: "Installation") -> list[str]:
    found = installation.set_back
    if found is None:
        return []
    counted = f"{found.batches} batches and {found.claims} claims that waited are in doubt"
    return [f"  warning     {found.sentence} {counted}: see `clearlane batch list`."]


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
    command = [
        "curl",
        *(["--cacert", str(ca_file)] if ca_file else []),
        *("-u", f"{credentials.vendor_key}:{credentials.password}"),
        *("-X", "POST", "-H", "Content-Length: 0"),
        f"{base_url}/api/v3/payers/get_list?{query}",
    ]
    return ["", "A first call:", "", f"  {shlex.join(command)}", ""]


def _write_sandbox_file(
    settings: Settings,
    base_url: str,
    operations_url: str,
    ca_file: Path | None,
    credentials: "Credentials",
) -> None:
    from clearlane.store.vault.private_files import write_private

    facts = {
        "base_url": base_url,
        "ca_file": str(ca_file.resolve()) if ca_file else None,
        "vendor_key": credentials.vendor_key,
        "vendor_password": credentials.password,
        "vendor_site_id": credentials.vendor_site_id,
        "operations_url": operations_url,
    }
    write_private(settings.data / SANDBOX_FILE, json.dumps(facts, indent=2).encode() + b"\n")


def server_url(scheme: str, host: str, port: int) -> str:
    """Return the URL of a listening address, as a client on this machine calls it."""
    host = "127.0.0.1" if host in WILDCARD_HOSTS else host
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
