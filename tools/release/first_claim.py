"""Install the wheel as a stranger would, outside of the tree, and take a claim from its submission to its payment."""

import io
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.release.programs import ROOT, UV, bare_environment, run

READY = "clearlane ready "
START_SECONDS_MAX = 240
"""An environment that was just installed compiles every module at its first start."""
STOP_SECONDS_MAX = 120
CLAIM = "RELEASE-1"


def install_wheel(wheel: Path, environment: Path) -> Path:
    """Install the wheel with its server, at the versions that were tested, and return the directory of programs."""
    run(UV, "venv", "--quiet", "--python", sys.executable, environment)
    binaries = environment / "bin"
    run(
        UV, "pip", "install", "--quiet", "--python", binaries / "python",
        "--constraint", ROOT / "requirements.txt", f"clearlane[server] @ {wheel.as_uri()}",
    )  # fmt: skip
    return binaries


def use_installation(binaries: Path, place: Path, version_text: str) -> Iterator[str]:
    """Make a first claim with an installed service. Yields what was seen."""
    place.mkdir()
    command = binaries / "clearlane"
    shown = run(command, "--version", cwd=place).strip()
    if shown != version_text:
        sys.exit(f"release: --version says {shown!r} and not {version_text!r}")
    yield f"installed: {shown}"
    claim = place / "claim.json"
    claim.write_text(run(command, "claim", "sample", "--id", CLAIM, cwd=place), encoding="utf-8")
    with sandbox(binaries, place):
        submitted = run(command, "claim", "submit", claim, cwd=place)
        final = run(command, "listen", CLAIM, "--until-final", cwd=place)
    if "1 claim: 1 accepted." not in submitted or "Complete" not in final:
        sys.exit(f"release: the first claim was not paid:\n{submitted}{final}")
    yield f"used: claim {CLAIM} was accepted and paid"


def run_alone(wheel: Path, version_text: str) -> str:
    """Run a command from the wheel with nothing installed, as the documentation shows."""
    shown = run(
        UV,
        "tool",
        "run",
        "--from",
        f"clearlane[server] @ {wheel.as_uri()}",
        "clearlane",
        "--version",
    )
    if shown.strip() != version_text:
        sys.exit(f"release: the wheel alone says {shown!r}")
    return "run from the wheel alone, with uvx"


@contextmanager
def sandbox(binaries: Path, place: Path, **environment: str) -> Iterator[None]:
    """Serve a sandbox in a directory, on free ports, and stop it as an operator does."""
    with (place / "service.log").open("wb") as log:
        process = subprocess.Popen(
            [binaries / "clearlane", "serve", "--data", ".data", "--port", "0", "--ops-port", "0"],
            cwd=place, env=bare_environment(**environment), stdout=subprocess.PIPE, stderr=log,
            text=True, start_new_session=True,
        )  # fmt: skip
        try:
            reader = _wait_until_ready(process, place)
        except SystemExit:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                code = process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise
            reader.join()
    if code:
        sys.exit(f"release: the service ended with status {code}: {place / 'service.log'}")


def _wait_until_ready(process: "subprocess.Popen[str]", place: Path) -> threading.Thread:
    """Return, as soon as calls are accepted, the thread that reads what the service prints until its end."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        with process.stdout or io.StringIO() as printed:
            for line in printed:
                lines.put(line)
        lines.put("")

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    with suppress(queue.Empty):
        while line := lines.get(timeout=START_SECONDS_MAX):
            if line.startswith(READY):
                return reader
    log = (place / "service.log").read_text(encoding="utf-8")
    sys.exit(f"release: the service did not start within {START_SECONDS_MAX} seconds:\n{log}")
