"""An operator at an installation of production, with no service beside it."""

import asyncio
import json

import pytest
from typer.testing import CliRunner

from clearlane.cli.command.root import app
from tests.databases import START
from tests.manual_clock import ManualClock
from tests.pipeline.flowing import Flow


@pytest.fixture
def clearlane(place, monkeypatch):
    """Run a command on this installation."""
    monkeypatch.setenv("CLEARLANE_DATA", str(place.data))
    monkeypatch.setenv("CLEARLANE_DATABASE_URL", place.url)
    monkeypatch.setenv("CLEARLANE_MODE", "production")
    monkeypatch.chdir(place.data)

    def run(line, code=0):
        result = CliRunner().invoke(app, line.split())
        assert result.exit_code == code, (result.output, result.exception)
        return json.loads(result.stdout) if "--json" in line else result.output

    return run


@pytest.fixture
def within(place):
    """Do something with the installation while no command runs."""

    def do(work):
        async def opened():
            database = await place.open(ManualClock(START))
            try:
                return await work(await Flow.open(place, database, ManualClock(START)))
            finally:
                await database.close()

        return asyncio.run(opened())

    return do
