"""Every command of the how-to pages is run, on an installation like the one its page speaks of."""

import asyncio
import json

import pytest

from docs.library import SAMPLE
from tests.api.service_process import ServiceProcess
from tests.connect.sftp_server import HOST_KEY, PASSWORD, SftpPayer
from tests.enrollment.invented import a_request, an_enrollment
from tests.journey.follower import ROOT, Follower
from tests.journey.newcomer import checkout, sandbox_at

pytestmark = pytest.mark.xdist_group("how-to")

HOW_TO = ROOT / "docs" / "how-to"
FOLLOWED = {
    "production", "sftp-payer", "postgresql", "moving", "enrollment", "keys", "undelivered", "backup",
    "inbox", "console", "payments", "events", "webhooks", "corrections",
    "monitoring",
}  # fmt: skip
# Examples in Python, which `tests/x12` runs.
LIBRARY = {"x12-library"}


def page(name: str) -> str:
    return (HOW_TO / f"{name}.md").read_text(encoding="utf-8")


def at_terminal(directory, **names) -> Follower:
    follower = Follower(directory, **names)
    follower.type('export PATH="$PWD/.venv/bin:$PATH"')
    return follower


def test_every_page_is_followed():
    assert {file.stem for file in HOW_TO.glob("*.md")} == FOLLOWED | LIBRARY


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


@pytest.fixture
def operator(tmp_path):
    """Somebody at a terminal beside a fresh sandbox."""
    directory = checkout(tmp_path)
    (directory / "backups").mkdir()
    with (
        sandbox_at(directory),
        at_terminal(directory, **{"/backups": str(directory / "backups")}) as somebody,
    ):
        yield somebody


def test_a_vendor_moves_in_and_its_keys_are_changed(operator):
    operator.type("clearlane claim sample --id SAMPLE-20260131093000 > claims.json")
    operator.follow(page("moving"))
    operator.type("clearlane vendor add ACME")
    operator.follow(page("keys"))


def test_a_provider_is_enrolled(operator, tmp_path):
    (tmp_path / "providers.json").write_text(json.dumps(a_request(an_enrollment())))
    operator.type("clearlane enrollment submit providers.json")
    (waiting,) = json.loads(operator.type("clearlane enrollment list --json"))
    operator.names[" ID"] = f" {waiting['id']}"
    operator.follow(page("enrollment"))


def test_a_file_that_does_not_go_out_is_carried_and_everything_is_restored(operator):
    operator.follow(page("undelivered"))
    operator.follow(page("backup"))


def test_the_installation_is_watched_the_inbox_is_read_and_people_sign_in(operator):
    operator.follow(page("monitoring"))
    operator.follow(page("inbox"))
    operator.follow(page("payments"))
    operator.follow(page("console"))


def test_claims_are_checked_and_corrected(operator):
    operator.follow(page("corrections"))


def test_events_are_followed_and_webhooks_are_added(operator):
    operator.follow(page("events"))
    operator.follow(page("webhooks"))


def test_the_samples_of_the_reference_run(operator):
    operator.follow((ROOT / "docs" / "reference" / "sandbox.md").read_text(encoding="utf-8"))
    said = operator.type(f"python3 <<'END'\n{SAMPLE}\nEND")
    assert "TST01" in said
    assert "required" in said
