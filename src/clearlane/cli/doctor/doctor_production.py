"""Checks of ``clearlane doctor`` on what production needs: submitter, certificate, addresses, TLS, memory, disk, descriptors, time.

Each row of ``docs/how-to/production.md`` has its check here. They look at settings and at this machine; a sandbox
needs none of them. Nothing is changed.
"""

import ctypes
import os
import resource
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qs, unquote

from clearlane.cli.doctor.doctor_checks import DoctorCheck, DoctorVerdict, judge
from clearlane.kernel.clock import Clock, SystemClock
from clearlane.settings import InvalidSettings, Settings, require_submitter

# As measured: see docs/how-to/production.md.
MEMORY_BYTES_MIN = 1_000_000_000
CLAIM_BYTES = 9_000
DISK_CLAIMS_MIN = 100_000
OPEN_FILES_MIN = 65_536
CERTIFICATE_DAYS_MIN = 21
TIME_ERROR = 5
"""What adjtimex(2) returns while nothing keeps the clock."""

MEMORY_FILES = (Path("/sys/fs/cgroup/memory.max"), Path("/proc/meminfo"))
PROCESSES = Path("/proc")


def production_checks(settings: Settings, clock: Clock | None = None) -> Iterator[DoctorCheck]:
    """Yield the checks of a production installation; none for a sandbox."""
    if settings.sandbox:
        return
    yield submitter(settings)
    yield served_certificate(settings, (clock or SystemClock()).now())
    yield operations_address(settings)
    yield plain_address(settings)
    if settings.on_postgresql:
        yield database_tls(settings)
    yield memory(memory_bytes())
    if not settings.on_postgresql:
        yield disk(shutil.disk_usage(settings.data).free)
    yield open_files(service_open_files())
    yield time_source(kernel_clock_state())
    yield anchor_place(settings)


def submitter(settings: Settings) -> DoctorCheck:
    """Check that payers get the operator's own name and telephone number."""
    try:
        require_submitter(settings)
    except InvalidSettings as fault:
        return DoctorCheck("submitter", DoctorVerdict.FAULT, "It is not set.", str(fault))
    return judge("submitter", f"{settings.submitter_name}, {settings.submitter_phone}")


def served_certificate(settings: Settings, now: datetime) -> DoctorCheck:
    """Check the certificate that is served: that callers can know it, and how long it lasts."""
    if not settings.tls_certificate:
        if settings.plain_port and settings.trusted_proxies:
            return judge("served certificate", "A proxy ends TLS.")
        return judge(
            "served certificate",
            "It is of this installation's own authority, which no vendor's machine knows.",
            "Bring one: CLEARLANE_TLS_CERTIFICATE and CLEARLANE_TLS_KEY, or a proxy that ends TLS.",
        )
    from cryptography import x509

    try:
        found = x509.load_pem_x509_certificate(Path(settings.tls_certificate).read_bytes())
    except (OSError, ValueError):
        return DoctorCheck(
            "served certificate",
            DoctorVerdict.FAULT,
            f"{settings.tls_certificate} cannot be read as a PEM certificate.",
            "Correct CLEARLANE_TLS_CERTIFICATE.",
        )
    days = (found.not_valid_after_utc - now.astimezone(UTC)).days
    says = f"Until {found.not_valid_after_utc:%Y-%m-%d}."
    if found.issuer == found.subject:
        do = "Bring one of an authority that vendors' machines know."
        return judge("served certificate", f"It is self-signed. {says}", do)
    do = "Renew it; it is loaded by itself." if days < CERTIFICATE_DAYS_MIN else ""
    return judge("served certificate", says, do)


def operations_address(settings: Settings) -> DoctorCheck:
    """Check who can reach health and metrics, which speak plain http."""
    at = f"{settings.operations_host}:{settings.operations_port}"
    if _is_loopback(settings.operations_host):
        return judge("operations address", f"{at}, this machine alone.")
    return judge(
        "operations address",
        f"{at} can be reached from other machines, without TLS.",
        "Let your firewall admit only your monitoring.",
    )


def plain_address(settings: Settings) -> DoctorCheck:
    """Check that plain http is for a proxy alone."""
    if not settings.plain_port:
        return judge("plain http", "Off.")
    if settings.trusted_proxies:
        return judge("plain http", f"Port {settings.plain_port}, for the proxies that are trusted.")
    return judge(
        "plain http",
        f"Port {settings.plain_port} is open, and no proxy is trusted.",
        "Set CLEARLANE_TRUSTED_PROXIES to the proxy's address, or CLEARLANE_PLAIN_PORT=0.",
    )


def database_tls(settings: Settings) -> DoctorCheck:
    """Check that a connection to PostgreSQL on another machine is encrypted, and its server known."""
    addresses = {
        "CLEARLANE_DATABASE_URL": settings.database_url,
        "CLEARLANE_DATABASE_DIRECT_URL": settings.database_direct_url,
    }
    remote = [name for name, address in addresses.items() if _is_remote(address)]
    if not remote:
        return judge("database tls", "PostgreSQL is on this machine.")
    bare = [name for name in remote if _parameters(addresses[name]).get("sslmode") != "verify-full"]
    if not bare:
        return judge("database tls", "The server's certificate is checked.")
    return judge(
        "database tls",
        "PostgreSQL is on another machine, and its certificate is not checked.",
        f"End {' and '.join(bare)} with ?sslmode=verify-full&sslrootcert=FILE.",
    )


def memory(found: int | None) -> DoctorCheck:
    """Check the memory of the machine, or of the container."""
    if found is None:
        return DoctorCheck("memory", DoctorVerdict.SKIPPED, "It cannot be read here.")
    do = f"Give it {MEMORY_BYTES_MIN / 1e9:g} GB." if found < MEMORY_BYTES_MIN else ""
    return judge("memory", f"{found / 1e9:.1f} GB.", do)


def disk(free: int) -> DoctorCheck:
    """Check the space for claims in the data directory."""
    claims = free // CLAIM_BYTES
    says = f"{free / 1e9:.1f} GB free, for about {claims:,} claims with their answers."
    return judge("disk", says, "Make space, or give it more." if claims < DISK_CLAIMS_MIN else "")


def open_files(found: int) -> DoctorCheck:
    """Check how many files and connections a node may have open."""
    do = f"Allow {OPEN_FILES_MIN:,}: LimitNOFILE of the unit, or ulimits of the container."
    return judge("open files", f"{found:,} at once.", do if found < OPEN_FILES_MIN else "")


def time_source(state: int | None) -> DoctorCheck:
    """Check that something keeps this machine's clock."""
    if state is None:
        return DoctorCheck("time", DoctorVerdict.SKIPPED, "The kernel does not say.")
    if state == TIME_ERROR:
        return judge(
            "time",
            "The kernel says that nothing keeps the clock set.",
            "Run an NTP client, such as systemd-timesyncd or chrony.",
        )
    return judge("time", "The clock is kept.")


def anchor_place(settings: Settings) -> DoctorCheck:
    """Check that the anchor of the audit chain has a second place."""
    if settings.anchor_copy:
        return judge("anchor copy", settings.anchor_copy)
    return judge(
        "anchor copy",
        "The anchor of the audit chain is only in the data directory.",
        "Set CLEARLANE_ANCHOR_COPY to a place on another machine.",
    )


def memory_bytes() -> int | None:
    """Return the memory of this container, or of this machine; None if neither can be read."""
    limit, total = MEMORY_FILES
    try:
        text = limit.read_text().strip()
        if text.isdecimal():
            return int(text)
    except OSError:
        pass
    try:
        return int(total.read_text().split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return None


def service_open_files() -> int:
    """Return the limit of a node on this machine, or of this session if none can be seen."""
    found = [
        limit
        for process in PROCESSES.glob("[0-9]*")
        if (limit := _node_open_files(process)) is not None
    ]
    return min(found) if found else resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def kernel_clock_state() -> int | None:
    """Return what adjtimex(2) says of the clock; None if it cannot be asked."""
    # The structure is smaller than this on every platform; zero modes change nothing.
    buffer = ctypes.create_string_buffer(512)
    try:
        state = int(ctypes.CDLL(None, use_errno=True).adjtimex(buffer))
    except (OSError, AttributeError):
        return None
    return None if state < 0 else state


def _node_open_files(process: Path) -> int | None:
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
        runs = any(word.endswith(b"clearlane") for word in words)
        if not runs or not {b"serve", b"worker"} & set(words) or int(process.name) == os.getpid():
            return None
        lines = (process / "limits").read_text().splitlines()
    except OSError:  # it has ended, or is another user's
        return None
    row = next((line for line in lines if line.startswith("Max open files")), "")
    soft = row.removeprefix("Max open files").split()[:1]
    return int(soft[0]) if soft and soft[0].isdecimal() else None


def _is_remote(address: str) -> bool:
    """Return whether a server of this address is on another machine; a path names a socket of this one."""
    # By hand: a password may have a bracket, which the standard library takes for that of an IPv6 address.
    place = address.partition("://")[2].partition("?")[0].partition("/")[0].rpartition("@")[2]
    named = _parameters(address).get("host", place)
    hosts = [_without_port(unquote(one)) for one in named.split(",")]
    return any(host and not host.startswith("/") and not _is_loopback(host) for host in hosts)


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host if host.count(":") > 1 else host.partition(":")[0]


def _parameters(address: str) -> dict[str, str]:
    """Return the parameters of an address; of one that is given twice, the last."""
    return {name: values[-1] for name, values in parse_qs(address.partition("?")[2]).items()}


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
