"""The doctor finds what is wrong, one thing after the other, and changes nothing.

Also tests `cli/doctor/doctor_checks`, `cli/doctor/doctor_installation` and `cli/doctor/doctor_network`.
"""

import asyncio
import json
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from typer.testing import CliRunner

from clearlane.cli.command.root import app
from clearlane.cli.doctor.doctor_checks import DoctorVerdict
from clearlane.cli.doctor.doctor_network import certificate_expiry, clock_skew, sandbox_time
from clearlane.cli.installation.serve import has_local_url_only
from clearlane.settings import Settings
from tests.client.scripted_service import KEY, PASSWORD, SITE, Reply

NOW = datetime(2024, 3, 5, 12, 0, tzinfo=UTC)


@pytest.fixture
def examine(service, monkeypatch, tmp_path):
    """The doctor of a vendor who has the client alone; the checks by name."""
    monkeypatch.chdir(tmp_path)

    def look(*replies, **changed):
        service.answer(*replies or [Reply(body=[])])
        facts = {
            "URL": service.base_url, "KEY": KEY, "PASSWORD": PASSWORD, "SITE": SITE,
            "CA_FILE": str(service.ca_file), **changed,
        }  # fmt: skip
        environment = {f"CLEARLANE_CLIENT_{name}": text for name, text in facts.items()}
        done = CliRunner().invoke(app, ["doctor", "--json"], env=environment)
        assert PASSWORD not in done.output
        checks = {check["name"]: check for check in json.loads(done.stdout)}
        broken = any(check["verdict"] == "fault" for check in checks.values())
        assert done.exit_code == int(broken)
        return checks

    return look


def test_a_service_in_order_has_nothing_to_do(examine, tmp_path):
    checks = examine(Reply(body=[{}]))
    assert checks["installation"]["verdict"] == "skipped"
    assert {c["verdict"] for n, c in checks.items() if n != "installation"} == {"fine"}
    assert not any(check["do"] for check in checks.values())
    assert list(tmp_path.iterdir()) == []


FAULTS = [
    ([Reply(401, "101: Unknown.")], "credentials", "CLEARLANE_CLIENT_PASSWORD"),
    ([Reply(400, {"Message": "Invalid VendorSiteId"})], "site", "--site"),
    ([Reply(body=[]), Reply(401, "201: No BAA.")], "baa", "baa-accept"),
    ([Reply(503, {"Message": "Away."})], "service", "later"),
    ([Reply(body=[]), Reply(500)], "service", "later"),
]


@pytest.mark.parametrize(("replies", "name", "word"), FAULTS)
def test_a_fault_is_named_with_what_to_do(examine, replies, name, word):
    check = examine(*replies)[name]
    assert check["verdict"] == "fault"
    assert word in check["do"]


def test_a_call_the_service_lacks_is_passed_over(examine):
    checks = examine(Reply(body=[]), Reply(404, {"Message": "No."}), Reply(body=[]))
    assert checks["baa"]["verdict"] == "skipped"
    assert checks["payers"]["verdict"] == "warning"


def test_a_certificate_nobody_trusts_is_named_before_anything_is_sent(examine, service):
    checks = examine(CA_FILE="")
    assert "--ca-file" in checks["certificate"]["do"]
    assert not service.received


def test_a_missing_authority_is_named(examine):
    assert examine(CA_FILE="/no/such/file")["certificate"]["verdict"] == "fault"


def test_a_service_that_is_not_there_is_named(examine):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        checks = examine(URL=f"https://127.0.0.1:{unused.getsockname()[1]}")
    assert "clearlane serve" in checks["connection"]["do"]


def test_an_address_without_tls_is_refused(examine):
    assert examine(URL="http://127.0.0.1:1")["address"]["verdict"] == "fault"


def test_without_any_service_the_doctor_explains_how_to_name_one(examine):
    assert "--url" in examine(URL="")["address"]["do"]


def test_settings_that_cannot_be_used_are_reported(examine, monkeypatch):
    monkeypatch.setenv("CLEARLANE_PORT", "many")
    assert "CLEARLANE_PORT" in examine()["settings"]["do"]


def test_a_database_of_another_version_is_reported(examine, monkeypatch, tmp_path):
    monkeypatch.setenv("CLEARLANE_DATA", str(tmp_path))
    (tmp_path / "clearlane.db").touch()
    assert "clearlane db upgrade" in examine()["database"]["do"]


async def test_an_operator_without_a_sandbox_sees_the_installation(new_place, monkeypatch):
    place = await new_place("sqlite")
    await (await place.open()).close()
    monkeypatch.setenv("CLEARLANE_MODE", "production")

    async def examined():
        return await asyncio.to_thread(
            CliRunner().invoke, app, ["doctor", "--json", "--data", str(place.data)]
        )

    done = await examined()
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert (done.exit_code, checks["submitter"]["verdict"]) == (1, "fault")
    monkeypatch.setenv("CLEARLANE_SUBMITTER_NAME", "FERNHILL BILLING")
    monkeypatch.setenv("CLEARLANE_SUBMITTER_PHONE", "5125550142")
    done = await examined()
    assert done.exit_code == 0, done.output
    assert checks["address"]["verdict"] == "skipped"
    assert checks["database"]["verdict"] == "fine"
    assert "clearlane serve" in checks["nodes"]["do"]
    assert "clearlane route add" in checks["routes"]["do"]
    assert "CLEARLANE_PUBLIC_URL" in checks["public url"]["do"]


@pytest.mark.parametrize(
    ("settings", "reported"),
    [
        ({"mode": "production"}, True),
        ({"mode": "production", "host": "0.0.0.0"}, True),
        ({"mode": "production", "host": "::1"}, True),
        ({"mode": "production", "host": "10.1.2.3"}, False),
        ({"mode": "production", "public_url": "https://claims.example.org"}, False),
        ({"mode": "sandbox", "host": "0.0.0.0"}, False),
    ],
)
def test_an_address_that_leads_nobody_here_is_reported(settings, reported):
    assert has_local_url_only(Settings(**settings)) is reported


@pytest.mark.parametrize(
    ("seconds", "verdict"),
    [
        (0, DoctorVerdict.FINE),
        (59, DoctorVerdict.FINE),
        (-61, DoctorVerdict.WARNING),
        (3_600, DoctorVerdict.WARNING),
    ],
)
def test_a_clock_that_is_off_is_reported(seconds, verdict):
    assert (
        clock_skew(format_datetime(NOW - timedelta(seconds=seconds), usegmt=True), NOW).verdict
        is verdict
    )
    assert clock_skew("", NOW).verdict is DoctorVerdict.SKIPPED


@pytest.mark.parametrize(
    ("day", "verdict"), [(10, DoctorVerdict.WARNING), (25, DoctorVerdict.FINE)]
)
def test_a_certificate_that_ends_soon_is_reported(day, verdict):
    assert certificate_expiry({"notAfter": f"Mar {day} 12:00:00 2024 GMT"}, NOW).verdict is verdict
    assert certificate_expiry({}, NOW).verdict is DoctorVerdict.FINE


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (timedelta(days=45, hours=3), "45 days 03:00 ahead of real time"),
        (timedelta(days=1), "1 day 00:00 ahead of real time"),
        (timedelta(seconds=1), ""),
        (timedelta(days=-2), ""),
        (None, ""),
    ],
)
def test_a_sandbox_that_is_ahead_is_no_problem_and_is_said(offset, expected):
    time = "" if offset is None else (NOW + offset).isoformat()
    checks = list(sandbox_time(format_datetime(NOW, usegmt=True), time))
    assert [check.verdict for check in checks] == [DoctorVerdict.FINE] * bool(expected)
    assert all(expected in check.says and "sandbox reset" in check.says for check in checks)
