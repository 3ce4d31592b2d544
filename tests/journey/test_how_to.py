"""The how-to pages that speak of production are run; `test_one_sandbox` runs those that a sandbox can follow."""

import asyncio

import pytest

from tests.api.service_process import ServiceProcess
from tests.connect.sftp_server import HOST_KEY, PASSWORD, SftpPayer
from tests.journey.follower import ROOT, Follower, steps
from tests.journey.newcomer import checkout
from tests.journey.prepared_command import prepared_command
from tests.journey.test_one_sandbox import IN_A_SANDBOX

pytestmark = pytest.mark.group("how-to")

HOW_TO = ROOT / "docs" / "how-to"
FOLLOWED = {"production", "sftp-payer", "postgresql", *IN_A_SANDBOX}
# Examples in Python, which `tests/x12` runs.
LIBRARY = {"x12-library"}


def page(name: str) -> str:
    return (HOW_TO / f"{name}.md").read_text(encoding="utf-8")


def at_terminal(directory, **names) -> Follower:
    follower = Follower(directory, **names)
    follower.type(f'export PATH="{prepared_command(directory)}:$PWD/.venv/bin:$PATH"')
    return follower


def test_every_page_with_commands_is_followed():
    pages = {file.stem for file in HOW_TO.glob("*.md") if steps(page(file.stem))}
    assert pages - LIBRARY == FOLLOWED


async def test_an_installation_is_made_for_production_and_reaches_a_payer(tmp_path):
    directory = checkout(tmp_path)
    (directory / "payer").mkdir()
    (directory / "password.txt").write_text(PASSWORD)
    payer = await SftpPayer(directory / "payer").start()
    names = {
        "/var/lib/clearlane": str(directory / "var"),
        "sftp.meadow.example": "127.0.0.1",
        "port=22": f"port={payer.port}",
        "SHA256:fingerprint-from-the-payer": HOST_KEY.get_fingerprint(),
        "--kind sftp": "--kind sftp --allow-internal",
    }

    def follow():
        with at_terminal(directory, **names) as operator:
            operator.follow(page("production"))
            operator.follow(page("sftp-payer"))

    try:
        await asyncio.to_thread(follow)
    finally:
        await payer.stop()
    named = {"CLEARLANE_SUBMITTER_NAME": "FERNHILL", "CLEARLANE_SUBMITTER_PHONE": "5125550142"}
    serving = ServiceProcess(directory / "var", CLEARLANE_MODE="production", **named).start()
    assert await asyncio.to_thread(serving.stop) == 0


async def test_an_installation_is_made_on_postgresql(tmp_path, new_place):
    place = await new_place("postgresql", upgraded=False)
    directory = checkout(tmp_path)
    names = {
        "/var/lib/clearlane": str(directory / "var"),
        "postgresql://clearlane@db.example/clearlane": place.url,
    }

    def follow():
        with at_terminal(directory, **names) as operator:
            operator.follow(page("postgresql"))

    await asyncio.to_thread(follow)
