"""A whole service as its operator starts it: `clearlane serve` in a process of its own.

Commands run in this process, through the same command line, beside the running service.
"""

import json
import os
import signal
import ssl
import subprocess
import sys
import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import httpx
from typer.testing import CliRunner

from clearlane.cli.command.root import app
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.prepared_process import PreparedProcess

READY = "clearlane ready "
LAST = "the-last-"
ROUTINE = ('"level":"info"', '"level":"debug"')

LOGGED_FAULTS: deque[str] = deque(maxlen=50)
"""The newest lines that services logged during this test as a warning or worse; a test that fails shows them."""


@dataclass
class VendorAccount:
    """Credentials and sites of one vendor."""

    key: str
    password: str
    sites: dict[str, str] = field(default_factory=dict)

    @property
    def auth(self) -> tuple[str, str]:
        return self.key, self.password


class ServiceProcess:
    """A running service and what is needed to call it."""

    def __init__(
        self, data: Path, database_url: str = "", *, fresh: bool = False, **environment: str
    ) -> None:
        self.data = data
        self.fresh = fresh
        """Whether it is a new interpreter, as an operator starts it, and not a prepared one."""
        self.module = "clearlane"
        self.environment = {"CLEARLANE_DATABASE_URL": database_url, **environment}
        self.kind = "postgresql" if database_url else "sqlite"
        self.output_lines: list[str] = []
        self.log: deque[str] = deque(maxlen=100_000)
        self._process: PreparedProcess | subprocess.Popen[str] | None = None

    def start(self, *arguments: str) -> "ServiceProcess":
        """Start and wait until calls are accepted."""
        command = (self.module, "serve", *self._arguments(arguments))
        env, pipe = {**_bare_environment(), **self.environment}, subprocess.PIPE
        if self.fresh:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *command], env=env, cwd=self.data.parent, text=True,
                stdout=pipe, stderr=pipe,
            )  # fmt: skip
        else:
            self._process = PreparedProcess(*command, env=env, cwd=self.data.parent, text=True)
        self._gatherer = threading.Thread(target=self._read_log, daemon=True)
        self._gatherer.start()
        alarm = threading.Timer(PATIENCE_SECONDS, self.process.kill)
        alarm.start()
        self.output_lines = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output_lines.append(line)
            if line.startswith(READY):
                break
        alarm.cancel()
        if not self.output_lines or not self.output_lines[-1].startswith(READY):
            self.process.wait()
            self._close_pipes()
            raise RuntimeError("the service did not start:\n" + "".join(self.log))
        return self

    @property
    def was_started(self) -> bool:
        """Whether it has a process, which may have ended."""
        return self._process is not None

    @property
    def process(self) -> PreparedProcess | subprocess.Popen[str]:
        """The process of a service that was started."""
        assert self._process is not None, "it was not started"
        return self._process

    def _arguments(self, arguments: tuple[str, ...]) -> list[str]:
        given = ["--data", str(self.data), *arguments]
        return given if "--port" in arguments else [*given, "--port", "0"]

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line)
            if not any(level in line for level in ROUTINE):
                LOGGED_FAULTS.append(line)

    def stop(self, with_signal: int = signal.SIGTERM) -> int:
        """Tell it to stop and return its exit code."""
        self.process.send_signal(with_signal)
        return self.wait_for_exit()

    def wait_for_exit(self) -> int:
        """Wait for its end; its exit code."""
        code = self.process.wait(PATIENCE_SECONDS)
        self._close_pipes()
        return code

    def _close_pipes(self) -> None:
        self._gatherer.join(PATIENCE_SECONDS)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    @property
    def base_url(self) -> str:
        return self.output_lines[-1].removeprefix(READY).strip()

    @property
    def port(self) -> int:
        return int(self.base_url.rpartition(":")[2])

    @property
    def sandbox(self) -> dict[str, str]:
        return json.loads((self.data / "sandbox.json").read_text())

    @property
    def ca_file(self) -> Path:
        return self.data / "tls" / "ca.pem"

    @property
    def memory_bytes(self) -> int:
        """What the process holds in memory now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) * 1_024

    def client(
        self, auth: tuple[str, str] | None = None, *, address: str = "127.0.0.1", **options
    ) -> httpx.Client:
        """A client that trusts the local authority; ``address`` is where it calls from."""
        context = ssl.create_default_context(cafile=self.ca_file)
        return httpx.Client(
            base_url=self.base_url,
            transport=httpx.HTTPTransport(verify=context, local_address=address),
            auth=auth,
            timeout=PATIENCE_SECONDS,
            **options,
        )

    def logged_requests(self) -> list[dict]:
        """The log lines of requests so far, which have all come when that of a last one has."""
        last = f"{LAST}{uuid4().hex}"
        with self.client() as client:
            client.get("/nothing", headers={"X-Request-Id": last})
        wait_until(lambda: any(last in line for line in list(self.log)))
        lines = [json.loads(line) for line in list(self.log)]
        requests = [line for line in lines if line["event"] == "request"]
        return [line for line in requests if not line["request_id"].startswith(LAST)]

    def advance_to_noon(self) -> date:
        """Advance a sandbox's clock to the next noon, so that no midnight parts what a test does; return its day then."""
        facts = self.sandbox
        auth, site = (facts["vendor_key"], facts["vendor_password"]), facts["vendor_site_id"]
        with self.client(auth, params={"vendorSiteId": site}) as client:
            now = datetime.fromisoformat(client.get("/sandbox/clock").json()["Now"])
            noon = now.replace(hour=12, minute=0, second=0, microsecond=0)
            noon += timedelta(days=noon < now)
            seconds = round((noon - now).total_seconds())
            client.post("/sandbox/advance", json={"By": f"{seconds}s"}).raise_for_status()
        return noon.date()

    def command(self, *arguments: str) -> str:
        """Run a command beside the service; its output."""
        done = CliRunner().invoke(app, [*arguments, "--data", str(self.data)], env=self.environment)
        assert done.exit_code == 0, done.output
        return done.stdout

    def add_vendor(self, key: str, *arguments: str) -> VendorAccount:
        """Add a vendor and keep its password."""
        made = json.loads(self.command("vendor", "add", key, "--json", *arguments))
        return VendorAccount(key, made["password"])

    def add_site(self, account: VendorAccount, id: str, *arguments: str) -> str:
        """Add a site of a vendor."""
        self.command("site", "add", account.key, "--id", id, *arguments)
        account.sites[id] = id
        return id


def _bare_environment() -> dict[str, str]:
    """This process's environment without any setting of a service."""
    return {name: text for name, text in os.environ.items() if not name.startswith("CLEARLANE_")}
