"""Failed sign-ins are recorded with address and hashed name, on both databases, however many there are."""

from types import SimpleNamespace

import pytest
import structlog
from sqlalchemy import select

from clearlane.pipeline.access import failed_sign_ins
from clearlane.pipeline.access.failed_sign_ins import FailedSignIns, hash_name
from clearlane.store.database.schema import audit
from clearlane.store.database.sql import Statement, SystemScope
from clearlane.store.vault.vault import Vault
from tests.patience import until

ROWS = Statement(
    select(audit.c.actor, audit.c.request_id, audit.c.count, audit.c.detail)
    .where(audit.c.action == failed_sign_ins.ACTION)
    .order_by(audit.c.seq),
    system=True,
)


@pytest.fixture
async def context(place, database, clock):
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    return SimpleNamespace(database=database, vault=vault)


async def recorded(context, count):
    """The rows of failed sign-ins, once there are so many."""

    async def rows():
        async with context.database.read(SystemScope("test")) as tx:
            found = await tx.rows(ROWS)
        return found if len(found) >= count else None

    return await until(rows)


async def test_the_first_is_recorded_at_once_and_further_ones_together(context, monkeypatch):
    monkeypatch.setattr(failed_sign_ins, "COUNTED_SECONDS", 0.5)
    failures = FailedSignIns(context.database, context.vault, "vendor")
    for number in range(40):
        failures.record(b"ACME", "192.0.2.7", f"r{number}")
    failures.record(None, "192.0.2.8", "r40")
    hashed = hash_name(context.vault, b" acme ")
    nothing = hash_name(context.vault, b"")
    rows = await recorded(context, 3)
    assert sorted(rows) == sorted(
        [
            ("unknown:vendor", "r0", 1, f"name {hashed}; from 192.0.2.7"),
            ("unknown:vendor", "r40", 1, f"name {nothing}; from 192.0.2.8"),
            ("unknown:vendor", "", 39, f"name {hashed}; from 192.0.2.7"),
        ]
    )


async def test_many_sources_are_recorded_up_to_a_limit_and_the_others_counted(context, monkeypatch):
    monkeypatch.setattr(failed_sign_ins, "COUNTED_SECONDS", 0.5)
    monkeypatch.setattr(failed_sign_ins, "SOURCES_RECORDED_PER_MINUTE_MAX", 5)
    failures = FailedSignIns(context.database, context.vault, "console")
    for number in range(200):
        failures.record(b"%d" % number, "192.0.2.7", "r")
    rows = await recorded(context, 6)
    assert [count for _, _, count, _ in rows] == [1, 1, 1, 1, 1, 195]
    assert rows[-1][3] == "name others; from other addresses"


async def test_a_database_that_is_closed_does_not_matter_to_the_caller(context):
    await context.database.close()
    failures = FailedSignIns(context.database, context.vault, "vendor")
    with structlog.testing.capture_logs() as logged:
        failures.record(b"ACME", "192.0.2.7", "r")
        await until(lambda: not failures._tasks)
    assert [(line["event"], line["log_level"]) for line in logged] == [
        ("sign-in failed", "warning"),
        ("failed sign-in not audited", "warning"),
    ]
    assert "ACME" not in repr(logged)
