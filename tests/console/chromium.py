"""Where the browser is, and how it comes where it is missing.

A superuser of a Debian-like system gets it installed, once; ``CLEARLANE_TEST_INSTALL=0`` forbids that.
Everyone else is reported how to get it, and the browser's tests are skipped.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW = "no browser: `apt-get install chromium`, or name one in CLEARLANE_TEST_CHROMIUM"
# Nothing of the machine is used or called that a page does not need.
ARGUMENTS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--no-first-run",
)
INSTALL_SECONDS_MAX = 120


def find() -> str | None:
    """The path of a browser; None where there is none and none may be installed."""
    return _present() or (_installed() if _may_install() else None)


def arguments() -> list[str]:
    """How it is started. Its sandbox cannot be had by the superuser."""
    return [*ARGUMENTS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]


@asynccontextmanager
async def launched() -> AsyncIterator:
    """A browser; where there is none, the tests that ask for it are skipped."""
    playwright = pytest.importorskip(
        "playwright.async_api", reason="no playwright: `make install` brings it"
    )
    path = find()
    if path is None:
        pytest.skip(HOW)
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=path, args=arguments(), chromium_sandbox=False
        )
        yield browser
        await browser.close()


def _present() -> str | None:
    return next(filter(None, map(shutil.which, _named() or NAMES)), None)


def _named() -> tuple[str, ...]:
    """The browser that was chosen, and then no other."""
    given = os.environ.get("CLEARLANE_TEST_CHROMIUM")
    return (given,) if given else ()


def _may_install() -> bool:
    forbidden = bool(_named()) or os.environ.get("CLEARLANE_TEST_INSTALL") == "0"
    return os.geteuid() == 0 and shutil.which("apt-get") is not None and not forbidden


def _installed() -> str | None:
    # Two test processes must not install at the same time.
    with (Path(tempfile.gettempdir()) / "clearlane-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _present() is None:
            _run("apt-get", "update")
            _run("apt-get", "install", "-y", "--no-install-recommends", "chromium")
    return _present()


def _run(*command: str) -> None:
    try:
        subprocess.run(
            command,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True,
            check=False,
            timeout=INSTALL_SECONDS_MAX,
        )
    except subprocess.TimeoutExpired:
        return  # no network: the tests are skipped as where nothing may be installed
