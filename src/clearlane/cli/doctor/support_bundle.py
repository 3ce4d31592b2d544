"""``clearlane support-bundle``: one file for whoever helps an operator, without patient data.

Made of what names no patient by its own rules: settings without secrets, checks, measures, conditions, numbers of rows, metrics
and log lines. Whatever cannot be gathered is named in the manifest, so that a bundle of a broken installation is made too.
"""

import asyncio
import io
import json
import platform
import re
import sqlite3
import sys
import zipfile
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

from clearlane import __version__
from clearlane.cli.command.client_command import AsJson
from clearlane.cli.command.export_file import STANDARD
from clearlane.cli.command.output import show_change
from clearlane.cli.command.progress import progress
from clearlane.cli.command.storage_command import MISUSED, Data, operator, refuse
from clearlane.cli.doctor.doctor_installation import installation_checks
from clearlane.cli.doctor.installation_measures import measure_installation
from clearlane.cli.doctor.status import as_facts
from clearlane.cli.installation.serve import SANDBOX_FILE, server_url
from clearlane.cli.installation.settings import HIDDEN, shown_settings
from clearlane.kernel.build_commit import build_commit
from clearlane.kernel.clock import SystemClock, moment_text
from clearlane.kernel.faults import raised_at
from clearlane.pipeline.query.installation.conditions import raised_conditions
from clearlane.settings import Settings, check_settings, read_settings
from clearlane.store.database import migrate
from clearlane.store.database.database import StoreFault, SystemScope, write_audit
from clearlane.store.database.schema import HEAD
from clearlane.store.installation.table_counts import count_rows
from clearlane.store.vault.private_files import write_private
from clearlane.wiring import open_installation

LOG_LINES_MAX = 5_000
# A node under load answers late, and that is when its answer is wanted.
NODE_SECONDS_MAX = 60
FORMAT = 1
SCOPE = SystemScope("a support bundle is about the installation")
METRICS_OF_NODE = "metrics.txt of the node"
OF_DATABASE = ("schema.json", "status.json", "metrics.txt", "rows.json")
NOT_SHOWN = ("master_key_command",)
"""Settings that are no secret to an operator, but may hold one in an argument."""
TEXT_LINE = re.compile(r"\d\d:\d\d:\d\d\.\d{3} (debug|info|warning|error) ", re.ASCII)
PACKAGES_OF = "clearlane"

app = typer.Typer(add_completion=False)


class SupportBundle:
    """The files of a bundle, and what could not be gathered."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.missing: dict[str, str] = {}

    def add_json(self, name: str, value: object) -> None:
        """Add a file of JSON."""
        self.files[name] = json.dumps(value, indent=2, default=str).encode() + b"\n"

    def gather(self, name: str, find: Callable[[], object]) -> None:
        """Add what a function returns; a fault of it is named in its place."""
        try:
            self.add_json(name, find())
        except Exception as fault:  # noqa: BLE001  (a bundle is needed most if something is broken)
            self.miss(name, fault)

    def miss(self, name: str, fault: BaseException) -> None:
        """Name what could not be gathered: our own sentence, or type and place, since other texts may quote values."""
        own = isinstance(fault, StoreFault)
        self.missing[name] = str(fault) if own else f"{type(fault).__name__} at {raised_at(fault)}"

    def pack(self) -> bytes:
        """Return the bundle as a zip file."""
        manifest = {
            "format": FORMAT,
            "made_at": moment_text(SystemClock().now()),
            "clearlane": __version__,
            "files": sorted(self.files),
            "missing": self.missing,
        }
        self.add_json("manifest.json", manifest)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in sorted(self.files.items()):
                archive.writestr(name, content)
        return out.getvalue()


@app.command()
def support_bundle(
    out: Annotated[Path, typer.Option("-o", "--out", help="The file to write, a zip file.")],
    log: Annotated[
        str,
        typer.Option(
            help=f"Add the last {LOG_LINES_MAX:,} lines of this log of the service; - is standard input."
        ),
    ] = "",
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Write one file for whoever helps: versions, settings without secrets, doctor, status, counts, metrics; no patient data.

    Works beside running nodes, and for an installation that does not start.

    Examples: clearlane support-bundle -o support.zip; journalctl -u clearlane -o cat | clearlane support-bundle -o a.zip --log -
    """
    if out.exists():
        refuse(f"{out} exists already: name another file.", MISUSED)
    bundle = SupportBundle()
    settings, _ = read_settings(overrides={"data": data})
    if log:
        lines, left_out = _log_lines(log)
        bundle.files["log.txt"] = "".join(f"{line}\n" for line in lines).encode()
        bundle.add_json("log.json", {"lines": len(lines), "not_of_clearlane": left_out})
    with progress("Gathering"):
        bundle.gather("versions.json", _versions)
        bundle.gather("settings.json", lambda: _settings(settings, data))
        bundle.gather("doctor.json", lambda: [asdict(one) for one in installation_checks(data)])
        _ask_node(bundle, settings)
        try:
            asyncio.run(_look_inside(bundle, settings))
        except Exception as fault:  # noqa: BLE001  (the rest of the bundle says why)
            for name in OF_DATABASE:
                if name not in bundle.files:
                    bundle.miss(name, fault)
    content = bundle.pack()
    try:
        write_private(out, content, over=False)
    except OSError as fault:
        refuse(f"{out} cannot be written: {fault.strerror}.", MISUSED)
    not_found = "".join(f"\nNot gathered: {name}: {why}" for name, why in bundle.missing.items())
    show_change(
        f"{out}: {', '.join(sorted(bundle.files))}.{not_found}\n"
        "It has no patient data and no secrets. Look through it before you send it.",
        as_json=as_json,
        file=str(out),
        files=sorted(bundle.files),
        missing=bundle.missing,
    )


def _versions() -> dict[str, object]:
    required = [
        re.split(r"[^A-Za-z0-9._-]", one, maxsplit=1)[0]
        for one in metadata.requires(PACKAGES_OF) or ()
    ]
    installed: dict[str, str | None] = {}
    for name in sorted(set(required)):
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            installed[name] = None
    return {
        "clearlane": __version__,
        "commit": build_commit(),
        "schema": HEAD,
        "python": sys.version,
        "system": platform.platform(),
        "sqlite": sqlite3.sqlite_version,
        "packages": installed,
    }


def _settings(settings: Settings, data: Path | None) -> dict[str, object]:
    shown: dict[str, Any] = shown_settings(settings)
    hidden = {name: HIDDEN for name in NOT_SHOWN if shown[name]}
    faults = [str(one) for one in check_settings(overrides={"data": data})]
    return {"settings": shown | hidden, "faults": faults}


def _ask_node(bundle: SupportBundle, settings: Settings) -> None:
    """Add what the node of this machine says of itself, if one runs here."""
    address = server_url("http", settings.operations_host, settings.operations_port)
    try:
        if settings.sandbox:
            found = json.loads((settings.data / SANDBOX_FILE).read_bytes())
            address = str(found["operations_url"])
        with httpx.Client(trust_env=False, timeout=NODE_SECONDS_MAX) as client:
            for path, name in (("metrics", "metrics.txt"), ("readyz", "readyz.json")):
                bundle.files[name] = client.get(f"{address}/{path}").content
    except (FileNotFoundError, httpx.ConnectError):
        bundle.missing[METRICS_OF_NODE] = "no node runs on this machine."
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, KeyError) as fault:
        bundle.miss(METRICS_OF_NODE, fault)


async def _look_inside(bundle: SupportBundle, settings: Settings) -> None:
    """Add what the database knows, unless its schema is not the one of this version."""
    state = await migrate.schema_status(url=settings.session_url, sqlite_file=settings.sqlite_file)
    bundle.add_json(
        "schema.json",
        {"schema": state.revision, "state": state.state, "sentence": state.sentence},
    )
    if not state.is_usable:
        return
    async with open_installation(settings, role="command") as installation:
        measures = await measure_installation(installation)
        bundle.add_json("status.json", as_facts(measures, raised_conditions(measures)))
        if "metrics.txt" not in bundle.files:
            from clearlane.api.operations.metrics import Metrics

            bundle.files["metrics.txt"] = Metrics().text(measures)
        async with installation.database.read(SCOPE) as tx:
            bundle.add_json("rows.json", await count_rows(tx))
        await write_audit(installation.database, SCOPE, "support.bundle", actor=operator())


def _log_lines(log: str) -> tuple[list[str], int]:
    """Return the last lines that a node wrote, and how many others there were: what is no line of ours may hold anything."""
    try:
        if log == STANDARD:
            return _own_lines(sys.stdin.buffer)
        with Path(log).open("rb") as opened:
            return _own_lines(opened)
    except OSError as fault:
        refuse(f"{log} cannot be read: {fault.strerror}.", MISUSED)


def _own_lines(lines: Iterable[bytes]) -> tuple[list[str], int]:
    kept: deque[str] = deque(maxlen=LOG_LINES_MAX)
    left_out = 0
    for line in lines:
        if own := _own_line(line.decode(errors="replace").strip()):
            kept.append(own)
        else:
            left_out += bool(line.strip())
    return list(kept), left_out


def _own_line(line: str) -> str:
    """Return the part of a line that a node wrote, after what the system's log puts before it; empty if none."""
    if found := TEXT_LINE.search(line):
        return line[found.start() :]
    start = line.find("{")
    try:
        fields = json.loads(line[start:]) if start >= 0 else None
    except ValueError:
        return ""
    known = isinstance(fields, dict) and {"timestamp", "level", "event"} <= fields.keys()
    return line[start:] if known else ""
