"""Health and readiness of a node when a part of it fails; and where its log lines go.

Also tests `api/operations/metrics` and `api/operations/logs`.
"""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from clearlane.api.operations import logs
from clearlane.api.operations.logs import LOG_LINES_WAITING_MAX
from clearlane.api.operations.metrics import Metrics
from clearlane.api.operations.operations import Operations, Readiness
from clearlane.api.v3.error_responses import V3_ERRORS
from clearlane.pipeline.query.installation.measures import Measures, NodeMeasures
from clearlane.store.database.database import StoreFault
from clearlane.store.database.schema import HEAD
from clearlane.store.installation.nodes import Node
from tests.api.local_server import TWO_VENDORS, sample_payers, start_local_server
from tests.api.raw_connection import RawConnection
from tests.databases import START
from tests.patience import PATIENCE_SECONDS, wait_until


class Database:
    """A database with one part that does not do its work."""

    anchor = None
    write_fault = ""

    def __init__(self, *, fault: Exception | None = None, revision: str = HEAD, hangs=False):
        self._fault, self._revision, self._hangs = fault, revision, hangs

    async def revision(self):
        return self._revision

    @asynccontextmanager
    async def read(self, _):
        if self._hangs:
            await asyncio.Event().wait()
        if self._fault:
            raise self._fault
        yield self

    async def row(self, _):
        return (1,)


class MeasuredInstallation:
    """What is measured of an installation: as given, or the fault that measuring ends in."""

    def __init__(self, **facts):
        self.facts = facts

    async def current(self):
        if "fault" in self.facts:
            raise self.facts["fault"]
        node = Node("n1", "serve", "east", {}, (), self.facts.pop("clock", 0))
        return Measures(at=START, wall=START, nodes=(node,), node=NodeMeasures(**self.facts))


def context(**changes):
    whole = {"accounts": TWO_VENDORS, "payers": sample_payers(), "database": Database()}
    whole["measures"] = MeasuredInstallation()
    return SimpleNamespace(**(whole | changes))


async def ask(operations, path, method="GET"):
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": [], "query_string": b""}
    scope |= {"server": ("127.0.0.1", 1), "scheme": "http", "root_path": ""}
    await operations(scope, None, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


@pytest.mark.parametrize(
    ("broken", "part"),
    [
        ({"database": Database(fault=ConnectionError("secret text"))}, "database"),
        ({"database": Database(revision="0000")}, "schema"),
        ({"accounts": None}, "accounts"),
        ({"payers": None}, "payers"),
    ],
)
async def test_a_node_that_is_not_ready_names_the_part(broken, part):
    status, reported = await ask(
        Operations(Metrics(), Readiness(context(**broken)), V3_ERRORS), "/readyz"
    )
    assert (status, list(reported["parts"])) == (503, [part])
    assert "secret" not in json.dumps(reported)


async def test_a_database_that_hangs_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("clearlane.api.operations.operations.READY_SECONDS_MAX", 0.05)
    operations = Operations(Metrics(), Readiness(context(database=Database(hangs=True))), V3_ERRORS)
    status, reported = await ask(operations, "/readyz")
    assert (status, reported["parts"]["database"]) == (503, "does not answer (TimeoutError)")
    assert (await ask(operations, "/healthz"))[0] == 200


async def test_a_whole_node_is_ready():
    assert (await ask(Operations(Metrics(), Readiness(context()), V3_ERRORS), "/readyz"))[0] == 200


@pytest.mark.parametrize(
    ("facts", "condition", "words"),
    [
        ({"clock": -90_000_000}, "node-clock", "node n1 is 90 seconds behind the database's"),
        ({"anchor_fault": "No space."}, "audit-not-anchored", "is not anchored: No space."),
        ({"reserve_warning": "there is no reserve"}, "disk-reserve", "there is no reserve"),
        ({"fault": StoreFault("secret text")}, "measures", "could not be measured"),
    ],
)
async def test_a_condition_is_a_warning_of_a_ready_node(facts, condition, words):
    measured = context(measures=MeasuredInstallation(**facts))
    status, reported = await ask(Operations(Metrics(), Readiness(measured), V3_ERRORS), "/readyz")
    assert (status, reported["status"], list(reported["warnings"])) == (200, "ready", [condition])
    assert words in reported["warnings"][condition]
    assert "secret" not in json.dumps(reported)


async def test_a_database_that_cannot_be_written_makes_a_node_unready_until_it_can():
    database = Database()
    operations = Operations(Metrics(), Readiness(context(database=database)), V3_ERRORS)
    database.write_fault = "SQLite: the disk is full"
    status, reported = await ask(operations, "/readyz")
    assert (status, reported["parts"]) == (
        503,
        {"database": "cannot be written: SQLite: the disk is full"},
    )
    database.write_fault = ""
    assert await ask(operations, "/readyz") == (200, {"status": "ready"})


def test_log_lines_arrive_whole_and_in_order(tmp_path):
    reading, writing = os.pipe()
    writer = logs.LogWriter(writing)
    for number in range(500):
        writer.write(b"line %d\n" % number)
    writer.flush()
    assert os.read(reading, 65_536).splitlines() == [b"line %d" % n for n in range(500)]


@pytest.mark.slow
def test_a_reader_that_stops_reading_costs_lines_never_time():
    reading, writing = os.pipe()
    writer = logs.LogWriter(writing)
    for _ in range(LOG_LINES_WAITING_MAX + 5_000):
        writer.write(b"x" * 100 + b"\n")
    writer.flush()
    received = b""
    while b"log lines dropped" not in received or not received.endswith(b"\n"):
        received += os.read(reading, 1 << 20)
    lines = received.splitlines()
    # Several reports if this reader fell behind again while it read.
    reports = [json.loads(line) for line in lines if line.startswith(b"{")]
    assert {report["event"] for report in reports} == {"log lines dropped"}
    assert 0 < sum(report["count"] for report in reports) <= 5_000
    assert {line for line in lines if not line.startswith(b"{")} == {b"x" * 100}


def test_a_reader_that_left_does_not_matter():
    reading, writing = os.pipe()
    os.close(reading)
    writer = logs.LogWriter(writing)
    for _ in range(2):
        writer.write(b"to nobody\n")
        writer.flush()
        assert not writer._lines  # taken from the queue, by a thread that still runs


PROGRAM = """
import asyncio, os, signal, sys
from clearlane.api.operations import logs
import structlog

async def run():
    writer = logs.configure(sys.argv[1], sys.argv[2])
    logs.change_level_on_signals(asyncio.get_running_loop(), sys.argv[1])
    log = structlog.get_logger()
    log.info("before the node has a name")
    logs.log_start("east-1", role="serve", mode="production")
    log.debug("not seen")
    for name in (signal.SIGUSR1, signal.SIGUSR2):
        os.kill(os.getpid(), name)
        await asyncio.sleep(0.05)
        log.debug("seen by signal", payer="MM001", reason="The line is dead.", empty=None)
    log.warning("bad\\x1b[31m", value=Exception("secret"))
    logs.log_stopping()
    logs.log_stop(writer)

asyncio.run(run())
"""


def logged_by(level, format):
    """The log lines of a process."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, level, format], capture_output=True, text=True, check=True
    )
    return done.stderr.splitlines()


def test_log_lines_name_the_node_and_signals_change_their_level():
    lines = [json.loads(line) for line in logged_by("info", "auto")]
    assert [line["event"] for line in lines] == [
        "before the node has a name", "node started", "log level changed", "seen by signal",
        "log level changed", "bad\x1b[31m", "node stopping", "node stopped",
    ]  # fmt: skip
    assert "node" not in lines[0]
    assert {line["node"] for line in lines[1:]} == {"east-1"}
    assert (lines[1]["role"], lines[1]["mode"]) == ("serve", "production")
    assert [line["to"] for line in lines if "to" in line] == ["debug", "info"]
    few = [json.loads(line)["event"] for line in logged_by("error", "json")]
    assert few == ["log level changed", "seen by signal", "log level changed"]


def test_a_command_changes_the_level_of_a_running_node_and_back(server):
    def changes():
        return [json.loads(line)["to"] for line in list(server.log) if "log level changed" in line]

    server.command("log-level", "warning", "--for", "60")
    assert wait_until(changes)[-1] == "warning"
    server.command("log-level", "default")
    wait_until(lambda: changes()[-1] == "info")


def test_log_lines_for_people_are_readable():
    lines = logged_by("info", "text")
    [seen] = [line for line in lines if "seen by signal" in line]
    assert re.fullmatch(
        r'\d\d:\d\d:\d\d\.\d{3} debug   seen by signal +payer=MM001 reason="The line is dead\."',
        seen,
    )
    assert not any("\x1b" in line for line in lines)


def test_a_handshake_that_does_not_come_is_cut_off(tmp_path, monkeypatch):
    monkeypatch.setattr("clearlane.api.http.server.HANDSHAKE_SECONDS_MAX", 2)
    local_server = start_local_server(tmp_path)
    try:
        address = ("127.0.0.1", local_server.server.port)
        with socket.create_connection(address, timeout=PATIENCE_SECONDS) as silent:
            assert silent.recv(100) == b""
        with RawConnection(local_server.server.port, local_server.ca_file):
            pass
    finally:
        local_server.stop()
