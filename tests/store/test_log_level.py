"""The log level of all nodes in the database: set, replaced, over after its time, and followed by a process.

Also tests `api/operations/process_log_level` and `cli/installation/log_level_command`.
"""

import json

import pytest
from sqlalchemy import BigInteger, bindparam, select, update
from typer.testing import CliRunner

from clearlane.api.operations import logs
from clearlane.api.operations.process_log_level import ProcessLogLevel
from clearlane.cli.command.root import app
from clearlane.store.database import schema
from clearlane.store.database.database import Actor
from clearlane.store.database.sql import Statement, database_now
from clearlane.store.installation.log_level import (
    SCOPE,
    clear_log_level,
    load_log_level,
    set_log_level,
)
from tests.patience import until

NORA = Actor("operator", "nora")
AUDIT = Statement(select(schema.audit.c.detail).where(schema.audit.c.action == "log_level.set"))
END = Statement(
    update(schema.log_level).values(until=database_now() + bindparam("micros", type_=BigInteger))
)


@pytest.fixture
def process_level(database):
    """What a process with the setting `info` writes, as it was before when the test is over."""
    before = logs.level_written()
    following = ProcessLogLevel(database, "info")
    yield following
    following.close()
    logs.change_level(before)


async def end_in(database, micros):
    await database.write(SCOPE, lambda tx: tx.run(END, micros=micros), actor=NORA)


async def test_a_level_is_set_replaced_and_cleared_with_an_audit_entry_each(
    database, process_level
):
    async def followed():
        await process_level.load()
        return logs.level_written()

    assert await load_log_level(database) is None
    assert await clear_log_level(database, actor=NORA) is None
    assert await set_log_level(database, "debug", minutes=0, actor=NORA) == 1
    stored = await load_log_level(database)
    assert (stored.level, stored.until, stored.seconds_left) == ("debug", None, None)
    assert await followed() == "debug"
    assert await set_log_level(database, "warning", minutes=30, actor=NORA) == 2
    stored = await load_log_level(database)
    assert 0 < stored.seconds_left <= 1_800
    assert (stored.level, stored.until is not None) == ("warning", True)
    assert await followed() == "warning"
    assert await clear_log_level(database, actor=NORA) == 3
    assert await followed() == "info"
    async with database.read(SCOPE) as tx:
        assert [detail for (detail,) in await tx.rows(AUDIT)] == [
            "debug until it is changed", "warning for 30 minutes", "the setting of each node",
        ]  # fmt: skip


async def test_a_process_goes_back_to_its_setting_when_the_time_is_over(database, process_level):
    await set_log_level(database, "debug", minutes=60, actor=NORA)
    await process_level.load()
    assert logs.level_written() == "debug"
    await end_in(database, 1_000_000)
    await process_level.load()  # the level is changed by a timer from here on
    await until(lambda: logs.level_written() == "info")
    await end_in(database, -1)
    assert await load_log_level(database) is None


@pytest.mark.one_database
def test_the_command_shows_sets_and_refuses(tmp_path):
    def run(*words, code=0):
        done = CliRunner().invoke(app, ["log-level", *words, "--data", str(tmp_path)])
        assert done.exit_code == code, done.output
        return done.output

    assert (
        CliRunner().invoke(app, ["vendor", "add", "ACME", "--data", str(tmp_path)]).exit_code == 0
    )
    assert json.loads(run("--json")) == {"level": "default", "until": None}
    assert json.loads(run("debug", "--for", "90", "--json"))["changed"]
    shown = json.loads(run("--json"))
    assert (shown["level"], shown["until"][-1]) == ("debug", "Z")
    assert json.loads(run("default", "--json"))["changed"]
    assert not json.loads(run("default", "--json"))["changed"]
    assert "--for needs a level" in run("default", "--for", "5", code=2)
    assert "loud" in run("loud", code=2)
