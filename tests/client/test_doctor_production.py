"""What the doctor says of a production installation: every row of the page has its check."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from clearlane.cli.doctor import doctor_production
from clearlane.cli.doctor.doctor_checks import DoctorVerdict
from clearlane.settings import Settings

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
SETTINGS = Settings(
    mode="production", submitter_name="FERNHILL BILLING", submitter_phone="5125550142"
)
FINE, WARNING, FAULT = DoctorVerdict.FINE, DoctorVerdict.WARNING, DoctorVerdict.FAULT


def certificate(file: Path, *, days=90, issuer="An authority"):
    """Write a certificate of an authority, or of itself."""
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, one)]) for one in ("us", issuer)]
    key = ec.generate_private_key(ec.SECP256R1())
    made = (
        x509.CertificateBuilder()
        .subject_name(names[0])
        .issuer_name(names[1])
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(NOW - timedelta(days=1))
        .not_valid_after(NOW + timedelta(days=days))
        .sign(key, hashes.SHA256())
    )
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return str(file)


@pytest.mark.parametrize(
    ("made", "changes", "verdict"),
    [
        (None, {}, WARNING),
        (None, {"plain_port": 8080, "trusted_proxies": ("10.0.0.1",)}, FINE),
        ({}, {}, FINE),
        ({"days": 10}, {}, WARNING),
        ({"issuer": "us"}, {}, WARNING),
        (None, {"tls_certificate": "/nowhere.pem"}, FAULT),
    ],
)
def test_the_certificate_that_is_served(tmp_path, made, changes, verdict):
    if made is not None:
        changes = changes | {"tls_certificate": certificate(tmp_path / "tls.pem", **made)}
    assert (
        doctor_production.served_certificate(replace(SETTINGS, **changes), NOW).verdict is verdict
    )


@pytest.mark.parametrize(
    ("check", "changes", "verdict"),
    [
        (doctor_production.submitter, {}, FINE),
        (doctor_production.submitter, {"submitter_phone": Settings().submitter_phone}, FAULT),
        (doctor_production.operations_address, {}, FINE),
        (doctor_production.operations_address, {"operations_host": "localhost"}, FINE),
        (doctor_production.operations_address, {"operations_host": "10.0.0.7"}, WARNING),
        (doctor_production.plain_address, {}, FINE),
        (doctor_production.plain_address, {"plain_port": 80}, WARNING),
        (
            doctor_production.plain_address,
            {"plain_port": 80, "trusted_proxies": ("10.0.0.1",)},
            FINE,
        ),
        (doctor_production.anchor_place, {}, WARNING),
        (doctor_production.anchor_place, {"anchor_copy": "/mnt/other/anchor"}, FINE),
    ],
)
def test_settings(check, changes, verdict):
    found = check(replace(SETTINGS, **changes))
    assert found.verdict is verdict
    assert bool(found.do) == (verdict is not FINE)


CHECKED = "?sslmode=verify-full&sslrootcert=/etc/clearlane/db-ca.pem"


@pytest.mark.parametrize(
    ("url", "direct_url", "verdict"),
    [
        ("postgresql://clearlane@localhost/clearlane", "", FINE),
        ("postgresql://clearlane@127.0.0.1:5432/clearlane", "", FINE),
        ("postgresql://clearlane@[::1]:5432/clearlane", "", FINE),
        ("postgresql:///clearlane", "", FINE),
        ("postgresql:///clearlane?host=/var/run/postgresql", "", FINE),
        ("postgresql:///clearlane?host=db.example", "", WARNING),
        ("postgresql://%2Fvar%2Frun%2Fpostgresql/clearlane", "", FINE),
        ("postgresql://clearlane:a[b@db.example/clearlane", "", WARNING),
        ("postgresql://clearlane@db.example/clearlane", "", WARNING),
        ("postgresql://clearlane:a%40b@[2001:db8::7]:5432/clearlane", "", WARNING),
        ("postgresql://clearlane@localhost,db.example:5433/clearlane", "", WARNING),
        ("postgresql://clearlane@db.example/clearlane?sslmode=require", "", WARNING),
        (f"postgresql://clearlane@db.example/clearlane{CHECKED}", "", FINE),
        ("postgresql://localhost:6432/c", "postgresql://clearlane@db.example/c", WARNING),
        ("postgresql://localhost:6432/c", f"postgresql://clearlane@db.example/c{CHECKED}", FINE),
    ],
)
def test_a_database_on_another_machine_is_to_be_checked(url, direct_url, verdict):
    found = doctor_production.database_tls(
        replace(SETTINGS, database_url=url, database_direct_url=direct_url)
    )
    assert found.verdict is verdict
    wrong = "CLEARLANE_DATABASE_DIRECT_URL" if direct_url else "CLEARLANE_DATABASE_URL"
    assert found.do == (
        "" if verdict is FINE else f"End {wrong} with ?sslmode=verify-full&sslrootcert=FILE."
    )
    assert "example" not in found.says + found.do


@pytest.mark.parametrize(
    ("check", "found", "verdict"),
    [
        (doctor_production.memory, 2_000_000_000, FINE),
        (doctor_production.memory, 500_000_000, WARNING),
        (doctor_production.memory, None, DoctorVerdict.SKIPPED),
        (doctor_production.disk, 100_000_000_000, FINE),
        (doctor_production.disk, 100_000_000, WARNING),
        (doctor_production.open_files, 65_536, FINE),
        (doctor_production.open_files, 1_024, WARNING),
        (doctor_production.time_source, 0, FINE),
        (doctor_production.time_source, 5, WARNING),
        (doctor_production.time_source, None, DoctorVerdict.SKIPPED),
    ],
)
def test_the_machine(check, found, verdict):
    assert check(found).verdict is verdict


def test_only_a_postgresql_installation_is_asked_about_its_address(tmp_path):
    settings = replace(SETTINGS, data=tmp_path, database_url="postgresql://localhost/clearlane")
    names = {check.name for check in doctor_production.production_checks(settings)}
    assert "database tls" in names
    assert "disk" not in names


def test_this_machine_can_be_examined(tmp_path):
    checks = list(doctor_production.production_checks(replace(SETTINGS, data=tmp_path)))
    assert {check.name for check in checks} == {
        "submitter", "served certificate", "operations address", "plain http", "memory", "disk", "open files", "time",
        "anchor copy",
    }  # fmt: skip
    assert list(doctor_production.production_checks(replace(SETTINGS, mode="sandbox"))) == []


def test_the_limit_of_a_running_node_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor_production, "PROCESSES", tmp_path)
    for pid, words in (("10", "python\0-m\0clearlane\0serve\0"), ("11", "editor\0serve\0")):
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "cmdline").write_text(words)
        (tmp_path / pid / "limits").write_text(
            f"Limit  Soft  Hard\nMax open files   {pid}24   524288  files\n"
        )
    assert doctor_production.service_open_files() == 1_024


@pytest.mark.parametrize(
    ("limit", "total", "expected"),
    [
        ("536870912\n", "MemTotal: 2048 kB", 536_870_912),
        ("max\n", "MemTotal: 2048 kB", 2_097_152),
        (None, "MemTotal: 2048 kB", 2_097_152),
        (None, "", None),
    ],
)
def test_memory_is_that_of_the_container(tmp_path, monkeypatch, limit, total, expected):
    files = (tmp_path / "memory.max", tmp_path / "meminfo")
    if limit is not None:
        files[0].write_text(limit)
    files[1].write_text(total)
    monkeypatch.setattr(doctor_production, "MEMORY_FILES", files)
    assert doctor_production.memory_bytes() == expected
