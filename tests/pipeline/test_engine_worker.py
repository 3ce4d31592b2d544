"""The command `clearlane worker`, as an operator starts it.

Also tests `cli/installation/worker`, `engine/backlog` and `api/operations/operations_server`.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import asynccontextmanager

import httpx

from tests.patience import PATIENCE_SECONDS
from tests.prepared_process import PreparedProcess


@asynccontextmanager
async def command(place, *more, fresh=False, **given):
    """The command, in a new interpreter or in a process that has imported the product."""
    given |= {"CLEARLANE_DATA": str(place.data), "CLEARLANE_DATABASE_URL": place.url}
    env = {**os.environ, "CLEARLANE_WORKER_OPERATIONS_PORT": "0", **given}
    arguments = ("clearlane", "worker", *more)
    if fresh:
        process = subprocess.Popen(  # noqa: ASYNC220  (it takes no time)
            [sys.executable, "-m", *arguments], env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    else:
        process = await asyncio.to_thread(PreparedProcess, *arguments, env=env, text=True)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
        process.stderr.close()


async def line_of(process):
    """The words of the next line that a command prints."""
    return (await asyncio.to_thread(process.stdout.readline)).split()


async def ended(process):
    """The exit code of a command and what it said, on standard output and error."""
    said, faults = await asyncio.to_thread(process.communicate)
    return process.returncode, said, faults


async def test_a_worker_reports_that_it_is_ready_and_stops_on_a_signal(new_place):
    async with command(await new_place("postgresql"), fresh=True) as worker:
        ready, operations = await line_of(worker), await line_of(worker)
        assert ready[:3] == ["clearlane", "worker", "ready"]
        assert operations[0] == "operations"
        async with httpx.AsyncClient(base_url=operations[1].removesuffix("/healthz")) as operator:
            assert (await operator.get("/healthz")).json() == {"status": "alive"}
            assert (await operator.get("/readyz")).json()["status"] == "ready"
            metrics = (await operator.get("/metrics")).text
            assert 'clearlane_nodes{role="worker"} 1.0' in metrics
            assert "clearlane_engine_backlog_oldest_seconds" in metrics
        worker.send_signal(signal.SIGTERM)
        code, _, faults = await ended(worker)
        assert code == 0
        lines = [json.loads(line) for line in faults.splitlines()]
        events = [line["event"] for line in lines if line["level"] == "info"]
        assert events == ["node started", "node stopping", "node stopped"]
        assert {line["node"] for line in lines} == {ready[3]}


async def test_a_worker_whose_operations_port_is_taken_says_which_setting_chooses_another(
    new_place,
):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        place = await new_place("sqlite")
        async with command(place, CLEARLANE_WORKER_OPERATIONS_PORT=port) as worker:
            code, said, faults = await ended(worker)
            assert (code, said) == (2, "")
            assert "CLEARLANE_WORKER_OPERATIONS_PORT" in faults


async def test_on_sqlite_one_process_does_all_the_work_and_can_be_checked_from_beside(new_place):
    place = await new_place("sqlite")
    async with command(place) as worker:
        node = (await line_of(worker))[-1]
        async with command(place, "--self-check") as check, command(place) as beside:
            code, said, faults = await ended(check)
            assert (code, faults) == (0, "")
            assert said.startswith("The engine works: 3 steps in ")
            assert said.endswith(f" done by {node}.\n")
            code, said, faults = await ended(beside)
            assert (code, said) == (2, "")
            assert "Another process uses" in faults
            assert "With SQLite one process does all the work" in faults
        worker.send_signal(signal.SIGINT)
        code, _, faults = await ended(worker)
        assert (code, "Traceback" in faults) == (0, False)


async def test_a_worker_in_production_wants_its_tables_first(new_place):
    place = await new_place("postgresql", upgraded=False)
    async with command(place, CLEARLANE_MODE="production") as worker:
        code, _, faults = await ended(worker)
        assert (code, "CLEARLANE_SUBMITTER_NAME" in faults) == (2, True)
    named = {"CLEARLANE_SUBMITTER_NAME": "FERNHILL", "CLEARLANE_SUBMITTER_PHONE": "5125550142"}
    async with command(place, CLEARLANE_MODE="production", **named) as worker:
        code, _, faults = await ended(worker)
        assert code == 2
        assert "Run: clearlane db upgrade" in faults
