"""A sandbox for tests: one of its own is started, and the clock advances when a test says so.

With pytest, name this module in ``conftest.py``; it brings the fixture ``clearlane_sandbox``::

    pytest_plugins = ["clearlane.client.testing"]

    def test_a_claim_is_paid(clearlane_sandbox):
        number = my_program.send_claim(clearlane_sandbox.account)
        clearlane_sandbox.advance("15d")
        assert clearlane_sandbox.client.claims.get(number).state == "complete"

Without pytest, ``running_sandbox()`` does the same in a ``with`` statement. The server is needed:
``pip install 'clearlane[server]'``.
"""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from clearlane.client.account import (
    CA_FILE,
    DATA_VARIABLE,
    KEY,
    PASSWORD,
    SITE,
    URL,
    Account,
    from_sandbox,
)
from clearlane.client.sync_client import Client
from clearlane.client.testing.sandbox_control import SandboxControl

READY = "clearlane ready "
START_SECONDS_MAX, STOP_SECONDS_MAX = 120.0, 30.0
SETTINGS = "CLEARLANE_"
"""Settings of the caller's environment, which a sandbox for tests does not take over."""


class NotStarted(Exception):
    """The sandbox did not start; the text is what it said last."""


@dataclass(frozen=True, slots=True)
class TestSandbox:
    """A running sandbox, its credentials, and its clock. Simulated payers answer by the day, as the scenarios say."""

    __test__ = False  # pytest collects classes of this name otherwise

    account: Account
    client: Client
    data: Path
    """Its data directory, for commands: ``--data``."""

    def advance(self, by: str | timedelta) -> None:
        """Let time pass, such as ``15d``; returns when everything that is due then has been posted."""
        SandboxControl(self.account).advance(by)

    def set_payer(self, payer_id: str, mode: str) -> None:
        """Set the mode of a payer: up, down, slow or garbage."""
        SandboxControl(self.account).set_mode(payer_id, mode)

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables with which programs and ``clearlane`` find it."""
        return client_environment(self.account, self.data)


def client_environment(account: Account, data: Path) -> dict[str, str]:
    """Return the environment variables from which the client library and the commands take an account."""
    return {
        URL: account.base_url,
        KEY: account.key,
        PASSWORD: account.password,
        SITE: account.site or "",
        CA_FILE: account.ca_file or "",
        DATA_VARIABLE: str(data),
    }


@contextmanager
def running_sandbox(data: Path | str | None = None) -> Iterator[TestSandbox]:
    """Start a sandbox on a free port, yield it with its payers' days frozen, and stop it.

    ``data`` is its data directory, which is kept; without it a temporary one is made and removed.
    """
    with tempfile.TemporaryDirectory(prefix="clearlane-") as own:
        directory = Path(data) if data else Path(own) / "data"
        with _served(directory):
            account = from_sandbox(directory)
            SandboxControl(account).clock(Frozen=True)
            with Client(account) as client:
                yield TestSandbox(account, client, directory)


@contextmanager
def _served(directory: Path) -> Iterator[None]:
    """Run the service in a process of its own, from the time it is ready to the end."""
    options = ("--data", str(directory), "--port", "0", "--ops-port", "0")
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            [sys.executable, "-m", "clearlane", "serve", *options],
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            env=_without_settings(os.environ),
        ) as process,
    ):
        alarm = threading.Timer(START_SECONDS_MAX, process.kill)
        alarm.start()
        try:
            ready = any(line.startswith(READY) for line in process.stdout or ())
            alarm.cancel()
            if not ready:
                process.wait()
                said.seek(0)
                raise NotStarted(said.read()[-2_000:].decode(errors="replace"))
            yield
        finally:
            alarm.cancel()
            process.terminate()
            try:
                process.communicate(timeout=STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()


def _without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(SETTINGS)}


try:
    import pytest
except ModuleNotFoundError:  # `running_sandbox` needs no pytest
    pass
else:

    @pytest.fixture(scope="session")
    def clearlane_sandbox() -> Iterator[TestSandbox]:
        """A sandbox for all tests of a run: claims of one test are there in the next, so give each an id of its own."""
        with running_sandbox() as sandbox:
            yield sandbox
